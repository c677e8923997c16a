"""Figures are data: the built-in ones are sound, broken ones are refused with one plain line per mistake."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import Problem, read_document, write_document
from impel.takes.pieces import painted_mesh
from impel.toys.figure import FIGURES, built_in_figures, figure_from, load_figure, read_figure
from impel.toys.looks import looks_of

LUXO = read_document(FIGURES / "luxo.yaml")


def luxo():
    return copy.deepcopy(LUXO)


@pytest.mark.parametrize("name", ["bounder", "cheetah", "kangaroo", "luxo", "worm"])
def test_built_in_figures_load_and_are_trees(name):
    figure = load_figure(name)
    assert name in built_in_figures()
    parents = figure.parents()
    assert next(iter(parents)) == next(iter(figure.links))
    assert set(parents) == set(figure.links)
    assert len(figure.joints) == len(figure.links) - 1
    assert len(figure.ranges()) == len(figure.active) >= 2


def test_notes_inertias_are_kept():
    figure = load_figure("luxo")
    assert figure.links["arm"].moment() == pytest.approx(0.03 * 0.12**2 / 12)
    assert figure.links["head"].moment() == pytest.approx(0.07 * 0.12**2 / 12 + 2e-5)
    assert sum(link.mass for link in load_figure("cheetah").links.values()) == pytest.approx(
        sum(link.mass for link in load_figure("bounder").links.values())
    )


def _loop(d):
    d["joints"]["back"] = {"links": ["base", "head"], "at": [0, 0], "stiffness": 1, "damping": 0, "range": [-1, 1]}


def _away(d):
    d["links"]["p"] = d["links"]["q"] = dict(d["links"]["arm"])
    for name, pair in (("u", ["p", "q"]), ("v", ["q", "p"])):
        d["joints"][name] = {"links": pair, "at": [0, 0], "stiffness": 1, "damping": 0, "range": [-1, 1]}


def _set(*path, value):
    def change(d):
        for key in path[:-1]:
            d = d[key]
        if value is ...:
            del d[path[-1]]
        else:
            d[path[-1]] = value

    return change


BROKEN = {
    "loop": (_loop, "joints.back.links: closes a loop"),
    "loop away from the root": (_away, "links.p: closes a loop"),
    "joint to itself": (_set("joints", "elbow", "links", value=["arm", "arm"]), "elbow.links: ties arm to itself"),
    "towards the root": (_set("joints", "ankle", "links", value=["arm", "base"]), "ankle.links: base is the root"),
    "zero mass": (_set("links", "arm", "mass", value=0), "links.arm.mass: must be greater than 0, got 0"),
    "negative mass": (_set("links", "arm", "mass", value=-1), "links.arm.mass: must be greater than 0, got -1"),
    "nan mass": (_set("links", "arm", "mass", value=math.nan), "links.arm.mass: must be a finite number"),
    "nan point": (_set("links", "arm", "to", value=[0, math.nan]), "links.arm.to.1: must be a finite number"),
    "infinite gain": (_set("joints", "ankle", "stiffness", value=math.inf), "joints.ankle.stiffness: must be a finite"),
    "no length": (_set("links", "arm", "to", value=[0, 0]), "links.arm: has no length"),
    "range outside": (_set("joints", "ankle", "range", value=[-90, 60]), "ankle.range: must lie within the limits"),
    "range reversed": (_set("joints", "ankle", "range", value=[60, -60]), "joints.ankle.range: must be [low, high]"),
    "no range": (_set("joints", "ankle", "range", value=...), "joints.ankle.range: is missing"),
    "no contacts": (_set("contacts", value={}), "contacts: needs at least one point"),
    "contact on nothing": (_set("contacts", "heel", "link", value="leg"), "heel.link: there is no link named"),
    "joint on nothing": (_set("joints", "ankle", "links", value=["base", "leg"]), "there is no link named 'leg'"),
    "loose link": (_set("links", "loose", value={"from": [0, 0], "to": [1, 0], "mass": 1}), "links.loose: is not tied"),
    "unknown field": (_set("links", "arm", "wieght", value=3), "links.arm.wieght: is not a known field"),
    "text for a number": (_set("links", "arm", "mass", value="heavy"), "links.arm.mass: must be a number"),
    "missing": (_set("links", "arm", "mass", value=...), "links.arm.mass: is missing"),
    "no links": (_set("links", value={}), "links:"),
    "start beyond limits": (_set("start", value={"ankle": 100}), "start.ankle: must lie within the limits"),
    "profile goes back": (_set("ground", "profile", value=[[0, 0], [0, 1]]), "ground.profile: corners must go"),
    "steep": (_set("ground", "slope", value=80), "ground.slope: must be less than 60"),
    "text for a count": (_set("cycle", "poses", value="0"), "cycle.poses: must be at least 1, got '0'"),
    "short cycle": (_set("cycle", "time", value=1e-9), "cycle.time: must be at least 0.001"),
    "colour": (_set("links", "arm", "color", value="red"), "links.arm.color: is not written"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_figures_are_refused_with_a_plain_line(case):
    document = luxo()
    change, expected = BROKEN[case]
    change(document)
    with pytest.raises(Problem) as problem:
        figure_from(document, subject="mine.yaml")
    assert any(line.startswith("mine.yaml: ") and expected in line for line in problem.value.lines), problem.value.lines
    assert all("\n" not in line for line in problem.value.lines)


def test_what_was_got_is_said_once():
    document = luxo()
    document["links"]["arm"]["mass"] = math.nan
    with pytest.raises(Problem) as problem:
        figure_from(document, subject="mine.yaml")
    assert list(problem.value.lines) == ["mine.yaml: links.arm.mass: must be a finite number, got nan"]


@pytest.mark.parametrize("document", [None, [], "luxo", 3])
def test_a_document_of_the_wrong_kind_is_refused(document):
    with pytest.raises(Problem, match=r"mine.yaml: must have fields such as"):
        figure_from(document, subject="mine.yaml")


def test_unknown_figure_names_the_built_in_ones():
    with pytest.raises(Problem, match="no such figure; the built-in ones are bounder, cheetah, kangaroo, luxo, worm"):
        load_figure("gazelle")


def test_a_users_file_loads_like_a_built_in(tmp_path):
    document = luxo()
    document["figure"] = "mine"
    write_document(tmp_path / "mine.yaml", document)
    assert read_figure(tmp_path / "mine.yaml").figure == "mine"
    assert load_figure("mine.yaml", beside=tmp_path / "toy.yaml").links == load_figure("luxo").links


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), junk=JUNK)
def test_garbage_anywhere_gives_problems_or_a_sound_figure(data, junk):
    document = luxo()
    place = document
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
            place = inner
        else:
            place[key] = junk
            break
    try:
        figure = figure_from(document, subject="mine.yaml")
    except Problem as problem:
        plain = all(line.startswith("mine.yaml") and "\n" not in line for line in problem.lines)
    else:
        plain = set(figure.parents()) == set(figure.links)
    assert plain


def test_limbs_have_no_bumps():
    """No vertex of a limb lies above the plane of any of its triangles."""
    figure = load_figure("luxo")
    for link in figure.links.values():
        link.looks = None
    for limb, *_ in looks_of(figure).values():
        assert limb[0].last < limb[0].radius
        vertices, _, triangles = painted_mesh(limb[:1])[0]
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        normals = normals[long := np.linalg.norm(normals, axis=1) > 0] / np.linalg.norm(normals[long], axis=1)[:, None]
        above = np.einsum("tvk,tk->tv", vertices[None] - a[long][:, None], normals)
        assert above.max() < 1e-6 * limb[0].radius
