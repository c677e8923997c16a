"""Changing one field in a text: the data is what was asked for, and every other character stays."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import parse_document
from impel.studio.text import REMOVED, with_value

SCENE = """\
# A hop.
impel: 1
world: {seconds: 5}   # short
bodies:
  # what it stands on
  ground: {shape: {plane: {}}, fixed: true, color: "#d9d4c7"}

  ball:
    shape: {sphere: 0.2}
    mass: 1   # kg
    at: [-2, 0, 0.2]

# the wish
actors:
  ball:
    move:
      keys:
        - [-2, 0, 0.2]     # start
        - {at: [0, 0, 1],  # high
           time: 1}
        - at: [2, 0, 0.2]
          time: 2
      speed: 2.5
# the end
"""


def changed(data: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """The slow, plain way."""
    data = copy.deepcopy(data)
    here = data
    for k, part in enumerate(path[:-1]):
        if isinstance(here, dict) and part not in here:
            here[part] = [] if isinstance(path[k + 1], int) else {}
        here = here[part]
    if value is REMOVED:
        del here[path[-1]]
    elif isinstance(here, list) and path[-1] == len(here):
        here.append(value)
    else:
        here[path[-1]] = value
    return data


def pruned(data: Any, path: tuple[str | int, ...]) -> Any:
    """Without the mappings that became empty on the way."""
    for depth in range(len(path) - 1, 0, -1):
        here = data
        for part in path[: depth - 1]:
            here = here[part]
        if isinstance(here, dict) and here.get(path[depth - 1]) == {}:
            del here[path[depth - 1]]
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("bodies", "ball", "mass"), 2.5),
        (("bodies", "ball", "at"), [0, 1, 2]),
        (("bodies", "ball", "at", 2), 0.5),
        (("bodies", "ball", "color"), "#ff0000"),
        (("bodies", "ground", "color"), "#000000"),
        (("bodies", "crate"), {"shape": {"box": [1, 1, 1]}, "mass": 2}),
        (("world", "fps"), 24),
        (("world", "seconds"), 7),
        (("camera",), {"follow": "ball"}),
        (("pushes", 0), {"body": "ball", "force": [1, 0, 0]}),
        (("actors", "ball", "move", "keys", 0), [1, 2, 3]),
        (("actors", "ball", "move", "keys", 1, "time"), 1.25),
        (("actors", "ball", "move", "keys", 1, "hold"), 0.5),
        (("actors", "ball", "move", "keys", 2, "at"), [9, 9, 9]),
        (("actors", "ball", "move", "keys", 2, "hold"), 0.5),
        (("actors", "ball", "move", "keys", 3), [4, 4, 4]),
        (("actors", "ball", "turn"), {"keys": [{"euler": [0, 0, 90]}]}),
        (("bodies", "a b: c"), {"shape": {"sphere": 1}}),
        (("actors", "ball", "move", "strength"), "60 %"),
        (("bodies", "ball", "mass"), REMOVED),
        (("bodies", "ball"), REMOVED),
        (("bodies", "ground", "fixed"), REMOVED),
        (("bodies", "ground", "color"), REMOVED),
        (("world", "seconds"), REMOVED),
        (("actors", "ball", "move", "keys", 0), REMOVED),
        (("actors", "ball", "move", "keys", 1), REMOVED),
        (("actors", "ball", "move", "keys", 2), REMOVED),
        (("actors", "ball", "move", "keys", 2, "at"), REMOVED),
        (("actors", "ball", "move", "keys", 1, "time"), REMOVED),
        (("actors", "ball", "move", "speed"), REMOVED),
        (("actors",), REMOVED),
    ],
)
def test_a_field_is_changed_and_all_comments_of_others_stay(path, value):
    text = with_value(SCENE, path, value)
    expected = pruned(changed(parse_document(SCENE, "scene"), path, value), path)
    assert parse_document(text, "scene") == expected
    for comment in ("# A hop.", "# short", "# what it stands on", "# the wish", "# the end"):
        assert comment in text or (value is REMOVED and comment == "# short" and path[0] == "world")


def test_what_is_not_changed_stays_to_the_letter():
    text = with_value(SCENE, ("bodies", "ball", "mass"), 2)
    assert text == SCENE.replace("mass: 1 ", "mass: 2 ")
    assert with_value(text, ("bodies", "ball", "mass"), 1) == SCENE


def test_what_another_name_stands_for_is_written_out_before_it_is_changed():
    text = "a: &one {x: 1, y: [1, 2]}\nb: *one\nc: [*one, 3]\n"
    assert parse_document(with_value(text, ("b", "x"), 5), "t") == {
        "a": {"x": 1, "y": [1, 2]}, "b": {"x": 5, "y": [1, 2]}, "c": [{"x": 1, "y": [1, 2]}, 3],
    }  # fmt: skip
    assert parse_document(with_value(text, ("c", 0, "y", 1), 7), "t")["c"] == [{"x": 1, "y": [1, 7]}, 3]


def test_json_stays_json():
    import json

    text = json.dumps({"impel": 1, "bodies": {"ball": {"shape": {"sphere": 0.2}}}}, indent=2)
    text = with_value(text, ("bodies", "ball", "mass"), 2, as_json=True)
    text = with_value(text, ("world",), {"seconds": 3}, as_json=True)
    assert json.loads(text) == {
        "impel": 1, "bodies": {"ball": {"shape": {"sphere": 0.2}, "mass": 2}}, "world": {"seconds": 3},
    }  # fmt: skip


names = st.sampled_from(["a", "b", "c", "d e", "f:g", "é"])
leaves = st.one_of(
    st.integers(-9, 9), st.floats(-1e3, 1e3).map(lambda x: float(f"{x:.9g}")), st.booleans(),
    st.sampled_from(["word", "two words", "60 %", "#ff0000", "yes", "a, b", "[x", "- y", "q: r", "it's"]),
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(names, inner, min_size=1, max_size=3),
    max_leaves=8,
)  # fmt: skip
documents = st.dictionaries(names, values, min_size=1, max_size=4)


@st.composite
def edits(draw: Any) -> tuple[Any, tuple[str | int, ...], Any]:
    data = draw(documents)
    path: list[str | int] = []
    here = data
    while isinstance(here, dict | list):
        part = draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        path.append(part)
        here = here[part]
        if draw(st.booleans()):
            break
    new = draw(st.one_of(values, st.just(REMOVED)))
    return data, tuple(path), new


@settings(max_examples=300, deadline=None)
@given(edits(), st.sampled_from([None, False, True]))
def test_any_field_of_any_document_can_be_changed(edit, style):
    import yaml

    data, path, value = edit
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=style, allow_unicode=True)
    data = parse_document(text, "t")
    expected = changed(data, path, value)
    if value is REMOVED:
        expected = pruned(expected, path)
    if not expected:
        return
    assert parse_document(with_value(text, path, value), "t") == expected


@pytest.mark.parametrize("file", sorted(Path("examples").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_number_of_the_examples_can_be_changed_alone(file):
    text = file.read_text(encoding="utf-8")
    data = parse_document(text, "scene")

    def places(here: Any, path: tuple[str | int, ...] = ()) -> Any:
        if isinstance(here, dict | list):
            for part, inner in here.items() if isinstance(here, dict) else enumerate(here):
                yield from places(inner, (*path, part))
        elif isinstance(here, int | float) and not isinstance(here, bool):
            yield path

    for path in list(places(data))[::7]:
        other = with_value(text, path, 123.5)
        assert parse_document(other, "scene") == changed(data, path, 123.5)
        assert other.count("\n") == text.count("\n")
        assert other.count("#") == text.count("#")


def test_a_key_more_or_less_leaves_the_comments_of_the_others() -> None:
    path = ("actors", "ball", "move", "keys")
    keys = parse_document(SCENE, "scene")["actors"]["ball"]["move"]["keys"]
    more = with_value(SCENE, path, [keys[0], [-1, 0, 0.5], *keys[1:]])
    assert more == SCENE.replace("# start\n", "# start\n        - [-1, 0, 0.5]\n")
    assert with_value(more, path, keys) == SCENE


@pytest.mark.parametrize("block", [True, False])
@given(keys=st.lists(st.sampled_from([[0, 0, 1], {"at": [1, 0, 2], "time": 0.8}, [2, 0, 1], [3, 1, 1]]), min_size=1))
def test_any_list_of_keys_takes_the_place_of_another(keys: list[Any], block: bool) -> None:
    rows = ["[0, 0, 1]", "{at: [1, 0, 2], time: 0.8}", "[2, 0, 1]"]
    text = "keys:\n  - " + "\n  # why\n  - ".join(rows) if block else "keys: [" + ", # why\n  ".join(rows) + "]"
    text += "   # the way\nspeed: 2  # m/s\n"
    new = with_value(text, ("keys",), keys)
    assert parse_document(new, "scene") == {"keys": keys, "speed": 2}
    assert new.endswith("speed: 2  # m/s\n")
