"""Scene files: what is read is what was written, in files and in Python alike."""

import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import Problem, format_document, parse_document
from impel.scene import Scene, how_it_changes, load_scene, parse_scene, problems, scene_schema
from impel.scene.actors import ELASTICITY

EVERYTHING = """
impel: 1
world: {gravity: [0, 0, -9.81], seconds: 8, fps: 50, drag: 0.1, step: 0.001, joints: displacement}
bodies:
  floor: {shape: {box: [10, 10, 0.2]}, at: [0, 0, -0.1], fixed: true}
  ground: {shape: {plane: {}}, at: [0, 0, -0.2], fixed: true}
  ball:
    shape: {sphere: 0.2}
    mass: 1.0
    at: [0, 0, 1]
    coating: {stiffness: 2e5, thickness: 0.05, damping: 0.5, friction: 0.6}
    color: "#E4572E"
  upper: {shape: {capsule: {radius: 0.1, length: 1}}, at: [0, 0, 2], quaternion: [2, 0, 0, 0], velocity: [1, 0, 0]}
  lower: {shape: {cylinder: {radius: 0.1, length: 1}}, at: [0, 0, 0.9], density: 500, spin: [0, 90, 0]}
  hand:
    shape:
      blob:
        points: [{at: [0, 0, 0], radius: 0.3}]
        segments: [{from: [0, 0, 0], to: [0, 0, 1], radius: 0.1}]
        blend: 0.1
    collides: false
  train: {shape: {box: [1, 1, 1]}, follows: [{time: 0, at: [5, 0, 0]}, {time: 1.5, euler: [0, 0, 90]}]}
  rod: {shape: {cylinder: {radius: 0.02, length: 1}}}
  pillow: {shape: {box: [1, 1, 0.3]}, coating: {stiffness: [[0, 1.0e5], [0.1, 1.0e6]], bulge: 0.2}}
joints:
  shoulder: {ball: [world, upper], at: [0, 0, 2.5], at_b: [0, 0, 2.6]}
  elbow: {hinge: [upper, lower], at: [0, 0, 1.5], axis: [0, 1, 0], limits: [-150, 0]}
  glue: {weld: [rod, hand]}
  rail: {on_segment: [lower, world], at: [0, 0, 0.4], segment: [[-1, 0, 0.4], [1, 0, 0.4]]}
  wire: {on_curve: [hand, train], at: [1, 0, 0], curve: [[1, 0, 0], [2, 1, 0], [3, 0, 0]], loop: true}
  skin: {on_surface: [rod, ball], at: [0, 0, 1.2]}
  bowl: {on_surface: [rod, world], at: [0, 0, 0], surface: {shape: {sphere: 3}, at: [0, 0, 3], euler: [0, 0, 0]}}
  leash: {in_sphere: [hand, world], at: [0, 0, 0], center: [0, 0, 1], radius: 2}
actors:
  ball:
    move:
      keys: [[0, 0, 1], [2, 0, 1.5], {at: [0, 0, 0.4], in: hand}]
      base_distance: 0.3
      speed: 2.0
      elasticity: 0.7
      adaptation: 5
      strength: 60
    turn: {keys: [{euler: [0, 0, 0]}, {quaternion: [1, 0, 0, 1]}], base_angle: 20, speed: 90, loop: true}
  upper: {turn: {keys: [{euler: [0, 0, 0]}, {euler: [0, 30, 0]}], alpha: 0.2, relaxation: 0.06, strength: unlimited}}
  rod:
    goals: [{at: [1, 0, 1], time: 1.0}, {at: [2, 1, 1], euler: [0, 0, 45], time: 1.6}]
appointments:
  handshake: {cues: [ball.move.2, upper.turn.1]}
  parting: {cues: [ball.turn.1, rod.goals.1], after: [handshake]}
pushes:
  - {body: ball, point: [0, 0, 0.1], from: 1, until: 1.3, force: [20, 0, 0]}
  - {body: rod, spring: 100, damping: 5, to: [[0, 0, 0, 1], [1, 0, 0, 2]]}
changes:
  - {time: 1, field: actors.ball.move.speed, value: 3}
  - {time: 2, field: actors.ball.move.keys.0, value: [0, 0, 2]}
  - {time: 3, field: bodies.ball.coating, value: {friction: 0.1}}
  - {time: 3, field: actors.upper.turn.alpha}
camera: {from: [4, -6, 3], to: [0, 0, 1], fov: 35}
"""


def everything():
    return parse_document(EVERYTHING, "scene.yaml")


@pytest.mark.parametrize("name", ["scene.yaml", "scene.json"])
def test_a_saved_scene_loads_equal(tmp_path, name):
    scene = parse_scene(everything())
    scene.save(tmp_path / name)
    assert load_scene(tmp_path / name) == scene


def test_fields_mean_what_the_file_says():
    scene = parse_scene(everything())
    assert list(scene.bodies) == ["floor", "ground", "ball", "upper", "lower", "hand", "train", "rod", "pillow"]
    ball = scene.bodies["ball"]
    assert (ball.shape.kind, ball.shape.to_document(), ball.color) == ("sphere", {"sphere": 0.2}, "#e4572e")
    assert ball.moves_freely
    assert not scene.bodies["floor"].moves_freely
    assert not scene.bodies["train"].moves_freely
    assert scene.bodies["upper"].orientation == (1, 0, 0, 0)
    blob = scene.bodies["hand"].shape.to_document()["blob"]
    assert blob["segments"] == [{"from": [0, 0, 0], "to": [0, 0, 1], "radius": 0.1}]
    elbow = scene.joints["elbow"]
    assert (elbow.kind, elbow.bodies, elbow.limits) == ("hinge", ("upper", "lower"), (-150, 0))
    move = scene.actors["ball"].move
    assert [key.in_ for key in move.keys] == [None, None, "hand"]
    assert scene.actors["ball"].turn.keys[1].orientation == pytest.approx((0.5**0.5, 0, 0, 0.5**0.5))
    assert scene.camera.from_ == (4, -6, 3)


def test_python_reads_like_the_file_and_makes_the_same_scene():
    import numpy as np

    scene = Scene(seconds=8)
    floor = scene.body("floor", box=[10, 10, 0.2], at=[0, 0, -0.1], fixed=True)
    ball = scene.body("ball", sphere=0.2, mass=np.float32(1), at=np.array([0, 0, 1]))
    ball.move([(0, 0, 1), np.array([2, 0, 1.5]), {"at": [0, 0, 0.4], "in": floor}], base_distance=0.3)
    ball.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90]}], base_angle=20)
    scene.joint("leash", in_sphere=["world", ball], at=[0, 0, 1], radius=3)
    scene["floor"].scene.camera = {"from": [4, -6, 3], "to": [0, 0, 1]}
    assert scene == parse_scene(
        {
            "world": {"seconds": 8},
            "bodies": {
                "floor": {"shape": {"box": [10, 10, 0.2]}, "at": [0, 0, -0.1], "fixed": True},
                "ball": {"shape": {"sphere": 0.2}, "mass": 1, "at": [0, 0, 1]},
            },
            "joints": {"leash": {"in_sphere": ["world", "ball"], "at": [0, 0, 1], "radius": 3}},
            "actors": {
                "ball": {
                    "move": {
                        "keys": [[0, 0, 1], [2, 0, 1.5], {"at": [0, 0, 0.4], "in": "floor"}],
                        "base_distance": 0.3,
                    },
                    "turn": {"keys": [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90]}], "base_angle": 20},
                }
            },
            "camera": {"from": [4, -6, 3], "to": [0, 0, 1]},
        }
    )


def test_a_loaded_scene_can_be_changed_and_built_on():
    scene = parse_scene(everything())
    scene.bodies["ball"].mass = 3
    scene["ball"].move([[0, 0, 1], [1, 0, 1], [2, 0, 1]])
    assert scene.actors["ball"].turn is not None
    assert parse_scene(scene.to_document()).bodies["ball"].mass == 3
    copy = scene.model_copy(deep=True)
    copy.world.seconds = 1
    assert scene.world.seconds == 8


def test_mistakes_in_python_are_plain_lines_too():
    scene = Scene()
    scene.body("ball", sphere=1)
    for wrong, words in (
        (lambda: Scene(second=8), "scene: second: is not a known field"),
        (lambda: Scene(world=3, seconds=8), "scene: world: must be written like {gravity: [0, 0, -9.81]"),
        (lambda: Scene(seconds=-8), "scene: world.seconds: must be greater than 0, got -8"),
        (lambda: scene.body("ball", sphere=1), "scene: bodies.ball: is there already"),
        (lambda: scene.body("b", sphere=-1), "scene: bodies.b.shape.sphere: must be greater than 0, got -1"),
        (lambda: scene.body("b.c", sphere=1), "scene: bodies.b.c: a name must not contain dots"),
        (lambda: scene["bal"], "scene: bodies.bal: there is no body called 'bal'; did you mean ball?"),
        (lambda: scene["ball"].move([]), "scene: actors.ball.move.keys: must have at least 1 entry, got 0"),
        (lambda: scene.joint("j", hinge=["ball", "world"], at=[0, 0, 0]), "scene: joints.j: hinge needs axis"),
    ):
        with pytest.raises(Problem) as caught:
            wrong()
        assert str(caught.value).startswith(words)
    assert list(scene.bodies) == ["ball"]
    assert not scene.joints
    assert not scene.actors


def test_defaults_are_the_recommended_ones():
    scene = parse_scene({"bodies": {"a": {"shape": {"sphere": 1}}}, "actors": {"a": {"move": {"keys": [[0] * 3] * 2}}}})
    move = scene.actors["a"].move
    assert (move.relaxation, move.adaptation, move.strength, move.loop) == (0.05, 5, "auto", False)
    assert math.isclose(move.elasticity, ELASTICITY)
    assert scene.world.gravity == (0, 0, -9.81)
    assert (scene.world.step, scene.world.joints) == ("adaptive", "rattle")


def test_every_field_has_a_sentence_for_animators():
    schema = scene_schema()
    missing = []
    for model, definition in [("Scene", schema), *schema["$defs"].items()]:
        definition = definition.get("anyOf", [definition])[-1]
        for name, field in definition["properties"].items():
            text = field.get("description", "")
            if not (text.endswith(".") and len(text.split()) >= 4 and len(text) <= 160):
                missing.append((model, name, text))
    assert missing == []


def test_every_field_tells_what_it_takes_to_change_it():
    schema = scene_schema()
    told = {}
    for model, definition in [("Scene", schema), *schema["$defs"].items()]:
        definition = definition.get("anyOf", [definition])[-1]
        told |= {f"{model}.{name}": field["changes"] for name, field in definition["properties"].items()}
    assert set(told.values()) == {"in place", "laid out again", "new kind"}
    assert [name for name, kind in told.items() if kind == "new kind"] == ["World.joints"]
    in_place = ("Move.speed", "MoveKey.at", "Turn.strength", "Coating.friction", "World.gravity", "Body.color")
    for name in (*in_place, "Walker.mood"):
        assert told[name] == "in place", name
    for name in ("Body.mass", "Joint.hinge", "World.fps", "Rod.radius", "FollowKey.time", "Walker.path"):
        assert told[name] == "laid out again", name
    scene = parse_scene(everything())
    assert how_it_changes(scene, "actors.ball.move.keys.0") == "in place"
    assert how_it_changes(scene, "bodies.ball.coating.friction") == "in place"
    assert how_it_changes(scene, "bodies.ball.mass") == "laid out again"
    assert how_it_changes(scene, "world.joints") == "new kind"


def conforms(value, schema, root):
    """A slow plain reference for the part of JSON Schema that ours uses."""
    if "$ref" in schema:
        return conforms(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}
    kind = schema.get("type")
    checks = [
        kind is None or (isinstance(value, kinds[kind]) and (kind != "number" or not isinstance(value, bool))),
        "const" not in schema or value == schema["const"],
        "enum" not in schema or value in schema["enum"],
        "anyOf" not in schema or any(conforms(value, option, root) for option in schema["anyOf"]),
        "oneOf" not in schema or sum(conforms(value, option, root) for option in schema["oneOf"]) == 1,
    ]
    if isinstance(value, dict):
        known, extra = schema.get("properties", {}), schema.get("additionalProperties", True)
        checks += [name in value for name in schema.get("required", [])]
        checks += [
            conforms(item, known[name], root)
            if name in known
            else extra is True or (bool(extra) and conforms(item, extra, root))
            for name, item in value.items()
        ]
    if isinstance(value, list):
        checks.append(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf))
        checks += [conforms(item, schema.get("items", {}), root) for item in value]
    if isinstance(value, str):
        checks.append(re.search(schema.get("pattern", ""), value) is not None)
    if isinstance(value, int | float):
        checks.append(schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf))
        checks.append(value > schema.get("exclusiveMinimum", -math.inf))
    return all(checks)


def test_the_schema_accepts_a_full_scene_and_refuses_slips():
    schema = json.loads(json.dumps(scene_schema()))
    assert conforms(everything(), schema, schema)
    assert conforms(parse_scene(everything()).to_document(), schema, schema)
    for slip in (
        lambda d: d["bodies"]["ball"].update(mas=1),
        lambda d: d["bodies"]["ball"].update(mass=-1),
        lambda d: d["bodies"]["ball"].update(mass=None),
        lambda d: d["bodies"]["ball"].pop("shape"),
        lambda d: d["bodies"]["ball"]["shape"].update(box=[1, 1, 1]),
        lambda d: d["actors"]["ball"]["move"].update(keys=[[0, 0]] * 2),
        lambda d: d["actors"]["ball"]["move"].update(strength="strong"),
        lambda d: d["joints"]["elbow"].update(ball=["upper", "lower"]),
        lambda d: d["world"].update(joints="glue"),
    ):
        document = everything()
        slip(document)
        assert not conforms(document, schema, schema)


numbers = st.floats(-1e6, 1e6)
points = st.tuples(numbers, numbers, numbers).map(list)
names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="."), min_size=1, max_size=12).filter(
    lambda name: name != "world"
)


@st.composite
def scenes(draw):
    scene = Scene(seconds=draw(st.floats(1, 100)), gravity=draw(points))
    for name in draw(st.lists(names, min_size=1, max_size=5, unique=True)):
        size = draw(st.floats(1e-3, 1e3))
        shape = draw(
            st.sampled_from([{"sphere": size}, {"box": [size] * 3}, {"capsule": {"radius": size, "length": 1}}])
        )
        body = scene.body(
            name, **shape, at=draw(points), **draw(st.sampled_from([{}, {"mass": size}, {"fixed": True}]))
        )
        if not scene.bodies[name].fixed and draw(st.booleans()):
            body.move(draw(st.lists(points, min_size=2, max_size=4)), base_distance=draw(st.floats(0.1, 10)))
    return scene


@given(scenes())
@settings(max_examples=100, deadline=None)
def test_any_scene_survives_being_written_and_read(scene):
    assert problems(scene) == []
    for as_json in (False, True):
        text = format_document(scene.to_document(), as_json=as_json)
        assert parse_scene(parse_document(text, "x", as_json=as_json)) == scene


def test_a_take_is_told_from_a_scene(tmp_path):
    (tmp_path / "take.npz").write_bytes(b"PK")
    with pytest.raises(Problem, match=r"take\.npz: is a take, not a scene; impel render draws it"):
        load_scene(tmp_path / "take.npz")


BALL = {"shape": {"sphere": 0.1}, "mass": 1, "at": [0, 0, 0.5]}


def told(**document: object) -> list[str]:
    with pytest.raises(Problem) as raised:
        parse_scene({"bodies": {"ball": BALL, "box": BALL}, **document}, "s")
    return [line.removeprefix("s: ") for line in raised.value.lines]


def test_what_is_wrong_with_fields_and_with_what_they_mean_together_is_told_at_once() -> None:
    move = {"ball": {"move": {"keys": [[0, 0, 0.5], {"at": [0, 0, 1], "time": 1}]}}}
    meeting = {"a": {"cues": ["ball.move.1"], "after": ["zoo"], "needs": 3, "timeout": -1}}
    assert told(actors=move, appointments=meeting) == [
        "appointments.a.timeout: must be greater than 0, got -1",
        "appointments.a.needs: must be at most 1, the number of appointments in after, got 3",
        "appointments.a.after.0: there is no appointment called 'zoo'; there is a",
    ]
    tie = ["ball", "box"]
    joints = {"g": {"weld": tie, "from": "grasp"}, "h": {"weld": tie, "from": 2, "until": 1}, "k": {"ball": tie}}
    assert told(joints=joints) == [
        "joints.k: ball needs at",
        "joints.g.from: there is no appointment called 'grasp'",
        "joints.h.until: must be later than 2, when it begins, got 1",
    ]


def test_one_mistake_is_one_line() -> None:
    goals = [{"at": [1, 0, 1], "time": 2}, {"at": [2, 0, 1], "time": 1}]
    assert told(actors={"ball": {"goals": goals}}) == [
        "actors.ball.goals.1.time: must be later than 2, the time before it, got 1"
    ]
    goals = [{"on": [[0, 0, 1]], "time": 2}]  # without a place it would be none
    assert told(actors={"ball": {"goals": goals}}) == ["actors.ball.goals.0.on: must have at least 2 entries, got 1"]
