"""Figures on loose feet: what stands on the ground is felt as standing, so that a held pose is held."""

import math

import numpy as np
import pytest

from impel.scene import Scene, parse_scene
from impel.stage import simulate
from impel.takes import Take


def sway(take: Take, names: list[str], begin: float = 2.0) -> float:
    """The largest turn of any of these bodies from how it was placed, in degrees, from `begin` on."""
    most = 0.0
    for name in names:
        q = take.orientation[:, take.index(name)]
        angle = 2 * np.degrees(np.arccos(np.clip(np.abs(q @ q[0]), 0, 1)))
        most = max(most, float(angle[take.time >= begin].max()))
    return most


def pillar(scene: Scene, foot_mass: float, lean: float = 0.0, ground: float = 0.0) -> list[str]:
    """A foot, a leg and a torso on hinges across, the two upper ones told to stay as they are."""
    slope = math.radians(lean)
    up = np.array([math.sin(slope), 0, math.cos(slope)])
    foot_at = (ground + 0.03) * up
    ankle, hip = foot_at + 0.03 * up, foot_at + 0.03 * up + np.array([0, 0, 0.8])
    foot = scene.body("foot", box=[0.3, 0.3, 0.06], mass=foot_mass, at=foot_at.tolist(), euler=[0, lean, 0])
    leg = scene.body(
        "leg", capsule={"radius": 0.05, "length": 0.7}, mass=8, at=(ankle + np.array([0, 0, 0.4])).tolist()
    )
    torso = scene.body("torso", box=[0.3, 0.2, 0.6], mass=40, at=(hip + np.array([0.03, 0, 0.3])).tolist())
    scene.joint("ankle", hinge=[foot, leg], at=ankle.tolist(), axis=[0, 1, 0])
    scene.joint("hip", hinge=[leg, torso], at=hip.tolist(), axis=[0, 1, 0])
    leg.turn([{"euler": [0, 0, 0]}])
    torso.turn([{"euler": [0, 0, 0]}])
    return ["leg", "torso"]


@pytest.mark.parametrize("foot_mass", [0.5, 1, 60])
def test_a_pillar_on_a_loose_foot_stands_still(foot_mass: float) -> None:
    scene = Scene(seconds=8)
    scene.body("ground", plane={}, fixed=True)
    names = pillar(scene, foot_mass)
    assert sway(simulate(scene), names) < 1.0


@pytest.mark.parametrize("lean", [5.0, 10.0])
def test_it_stands_still_on_a_slope(lean: float) -> None:
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True, euler=[0, lean, 0])
    names = pillar(scene, 2.0, lean)
    assert sway(simulate(scene), names) < 1.0


@pytest.mark.parametrize("plank", [2.0, 20.0])
def test_it_stands_still_on_a_plank(plank: float) -> None:
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True)
    scene.body("plank", box=[1.2, 0.6, 0.08], mass=plank, at=[0, 0, 0.04])
    names = pillar(scene, 1.0, ground=0.08)
    assert sway(simulate(scene), names) < 1.0


def figure(scene: Scene, scale: float = 1.0, foot_mass: float = 1.0) -> list[str]:
    """A torso on two legs with knees, whose feet are told nothing."""
    h = scale

    def capsule(name: str, radius: float, length: float, mass: float, at: list[float]):
        size = {"radius": radius * h, "length": length * h}
        return scene.body(name, capsule=size, mass=mass, at=[h * x for x in at])

    torso = scene.body("torso", box=[0.34 * h, 0.2 * h, 0.5 * h], mass=30, at=[0, 0, 1.13 * h])
    told = [torso]
    for side, x in (("left", 0.1), ("right", -0.1)):
        foot = scene.body(
            f"{side} foot", box=[0.1 * h, 0.28 * h, 0.06 * h], mass=foot_mass, at=[x * h, -0.05 * h, 0.03 * h]
        )
        shin = capsule(f"{side} shin", 0.05, 0.3, 3, [x, 0, 0.23])
        thigh = capsule(f"{side} thigh", 0.07, 0.3, 6, [x, 0, 0.67])
        scene.joint(f"{side} hip", ball=[torso, thigh], at=[x * h, 0, 0.88 * h])
        knee = {"axis": [1, 0, 0], "limits": [0, 130]}
        scene.joint(f"{side} knee", hinge=[thigh, shin], at=[x * h, 0, 0.45 * h], **knee)
        scene.joint(f"{side} ankle", hinge=[shin, foot], at=[x * h, 0, 0.07 * h], axis=[1, 0, 0], limits=[-40, 40])
        told += [shin, thigh]
    for body in told:
        body.turn([{"euler": [0, 0, 0]}])
    return ["torso", *(f"{side} {part}" for side in ("left", "right") for part in ("shin", "thigh"))]


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "foot_mass"), [(1.0, 1.0), (1.0, 20.0), (0.5, 0.5)])
def test_a_figure_on_two_feet_stands_still(scale: float, foot_mass: float) -> None:
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    names = figure(scene, scale, foot_mass)
    assert sway(simulate(scene), names) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_figures_stand_still(seed: int) -> None:
    """A tower of links on hinges and balls of any axes, each told to stay as it is, on a loose foot of any mass."""
    random = np.random.default_rng(seed)
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    width = random.uniform(0.25, 0.5)
    below = scene.body("foot", box=[width, width, 0.06], mass=float(10 ** random.uniform(-0.3, 1.8)), at=[0, 0, 0.03])
    top, names = np.array([0.0, 0.0, 0.06]), []
    for i in range(random.integers(1, 5)):
        length = random.uniform(0.2, 0.5)
        shift = np.array([*random.uniform(-0.02, 0.02, 2), 0.0])
        mass = float(10 ** random.uniform(0, 1.5))
        link = scene.body(
            f"link{i}", box=[0.1, 0.1, length], mass=mass, at=(top + shift + [0, 0, length / 2 + 0.02]).tolist()
        )
        axis = {"axis": random.normal(size=3).tolist()} if random.random() < 0.6 else {}
        scene.joint(
            f"joint{i}",
            **{"hinge" if axis else "ball": [below, link]},
            at=(top + np.array([0, 0, 0.01])).tolist(),
            **axis,
        )
        link.turn([{"euler": [0, 0, 0]}])
        names.append(f"link{i}")
        below, top = link, top + shift + [0, 0, length + 0.02]
    assert sway(simulate(scene), names) < 1.0


@pytest.mark.parametrize("joint", [{"ball": ["foot", "post"]}, {"hinge": ["foot", "post"], "axis": [0, 1, 0]}])
def test_a_heavy_post_that_pushes_off_its_light_foot_stands_and_comes_back(joint: dict) -> None:
    """The torque acts on the foot, too, which is a fortieth of the post and rattles."""
    scene = Scene(seconds=3)
    scene.body("ground", plane={}, fixed=True)
    scene.body("foot", box=[0.3, 0.3, 0.08], mass=1, at=[0, 0, 0.04])
    post = scene.body("post", box=[0.1, 0.1, 0.8], mass=40, at=[0, 0, 0.5])
    scene.joint("ankle", **joint, at=[0, 0, 0.1])
    post.turn([{"euler": [0, 0, 0]}], against="foot")
    assert sway(simulate(scene), ["post"], begin=0.0) < 0.1
    document = scene.to_document() | {"pushes": [{"body": "post", "from": 0.5, "until": 0.6, "force": [80, 0, 0]}]}
    take = simulate(parse_scene(document))
    assert 0.3 < sway(take, ["post"], begin=0.0) < 3.0
    assert sway(take, ["post"], begin=2.0) < 0.1


def test_a_figure_whose_feet_are_told_to_stay_too_stands_still_and_lifts_a_leg() -> None:
    """An actor on a foot does not tilt it against its coating; a foot that is to be lifted bears weight until then."""
    scene = Scene(seconds=4)
    scene.body("ground", plane={}, fixed=True)
    names = figure(scene, foot_mass=2.0)
    document = scene.to_document()
    feet = ["left foot", "right foot"]
    document["actors"] |= {foot: {"turn": {"keys": [{"euler": [0, 0, 0]}]}} for foot in feet}
    assert sway(simulate(parse_scene(document)), [*names, *feet], begin=0.0) < 0.2
    document["joints"]["left knee"].pop("limits")
    del document["actors"]["left foot"]
    document["actors"]["left thigh"]["turn"]["keys"].append({"euler": [-60, 0, 0]})
    document["actors"]["left shin"]["turn"]["keys"].append({"euler": [10, 0, 0]})
    take = simulate(parse_scene(document))
    assert take.position[-1, take.index("left foot"), 2] > 0.2
    assert sway(take, ["torso", "right thigh", "right shin"]) < 1.0  # shifting its weight, it sways by 3°


@pytest.mark.parametrize("seed", range(8))
def test_a_figure_of_hinges_and_muscles_stands_and_waves(seed: int) -> None:
    """Two legs that only bend forward, each of one or two links, and an arm: their soles hold more than is needed, so
    that nothing tells how they share the load. Masses, the feet's places and the arm's pose are random."""
    rng = np.random.default_rng(seed)
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True)
    knees, wide, ahead = bool(seed % 2), rng.uniform(0.08, 0.2), rng.uniform(0.0, 0.05)
    torso = scene.body("torso", box=[0.2, 0.34, 0.5], mass=rng.uniform(10, 40), at=[0, 0, 1.13])
    for side, y in (("left", wide), ("right", -wide)):
        foot = scene.body(
            f"{side} foot", box=[0.26, 0.12, 0.06], mass=10 ** rng.uniform(-0.3, 1.3), at=[ahead, y, 0.03]
        )
        links = [(foot, 0.06)]
        for name, low, high in [("shin", 0.06, 0.46), ("thigh", 0.46, 0.86)] if knees else [("leg", 0.06, 0.86)]:
            link = scene.body(
                f"{side} {name}", capsule={"radius": 0.05, "length": high - low - 0.1}, mass=rng.uniform(2, 8),
                at=[0, y, (low + high) / 2],
            )  # fmt: skip
            parent, at = links[-1]
            scene.joint(f"{side} {name}", hinge=[parent, link], at=[0, y, at], axis=[0, 1, 0])
            link.turn([{"euler": [0, 0, 0], "in": parent}], against=parent)
            links.append((link, high))
        scene.joint(f"{side} hip", hinge=[links[-1][0], torso], at=[0, y, 0.86], axis=[0, 1, 0])
        if side == "left":
            torso.turn([{"euler": [0, 0, 0], "in": links[-1][0]}], against=links[-1][0])
    arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.4}, mass=rng.uniform(1, 4), at=[0, 0.23, 1.1])
    scene.joint("shoulder", hinge=[torso, arm], at=[0, 0.23, 1.32], axis=[0, 1, 0])
    raised = {"euler": [0, float(rng.uniform(-90, 45)), 0], "in": torso}
    arm.turn([{"euler": [0, 0, 0], "in": torso}, raised | {"time": 2}, {"euler": [0, 0, 0], "in": torso, "time": 4}],
             against=torso)  # fmt: skip
    assert sway(simulate(scene), ["torso", "left foot", "right foot"], begin=0.0) < 1.0


@pytest.mark.parametrize("swings", [True, False])
def test_a_figure_whose_arm_swings_or_that_is_pushed_comes_to_rest(swings: bool) -> None:
    """Its soles rock; links that learnt what they missed meanwhile, or whose damping was held while a sole tilted,
    would rock them ever more."""
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True)
    names = figure(scene)
    arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.5}, mass=3, at=[0.23, 0, 1.07])
    scene.joint("shoulder", ball=["torso", arm], at=[0.23, 0, 1.32])
    out = [{"euler": [0, -90, 0], "time": 1.5}, {"euler": [0, -90, 0], "time": 2}, {"euler": [0, 0, 0], "time": 3}]
    arm.turn([{"euler": [0, 0, 0]}, *(out if swings else [])])
    document = scene.to_document()
    if not swings:
        document["pushes"] = [{"body": "torso", "from": 1, "until": 1.2, "force": [0, 60, 0]}]
    take = simulate(parse_scene(document))
    assert sway(take, names, begin=0.0) < 10.0
    assert sway(take, names, begin=5.0) < 1.0
    assert np.ptp(take.position[take.time >= 5.0], axis=0).max() < 1e-3


def dog(crouch: float = 0.0, muscles: bool = True) -> Scene:
    """A trunk with a head, on four legs with a round tip each, whose knees and hips may bend; held by muscles, or each
    link by itself."""
    scene = Scene(seconds=4)
    scene.body("ground", plane={}, fixed=True)
    trunk = scene.body("trunk", box=[0.6, 0.3, 0.15], mass=12, at=[0, 0, 0.55])
    head = scene.body("head", sphere=0.08, mass=1.6, at=[0.42, 0, 0.65])
    scene.joint("neck", ball=[trunk, head], at=[0.32, 0, 0.58])
    head.turn([{"euler": [0, 0, 0]}], **({"against": trunk} if muscles else {}))
    if not muscles:
        trunk.turn([{"euler": [0, 0, 0]}])
    for leg, (x, y) in enumerate([(0.25, 0.12), (0.25, -0.12), (-0.25, 0.12), (-0.25, -0.12)]):
        upper = scene.body(f"upper{leg}", capsule={"radius": 0.035, "length": 0.16}, mass=1, at=[x, y, 0.4])
        lower = scene.body(f"lower{leg}", capsule={"radius": 0.03, "length": 0.2}, mass=0.6, at=[x, y, 0.13])
        scene.joint(f"hip{leg}", ball=[trunk, upper], at=[x, y, 0.5])
        scene.joint(f"knee{leg}", hinge=[upper, lower], at=[x, y, 0.27], axis=[0, 1, 0])
        for link, parent, bend in ((upper, trunk, crouch), (lower, upper, -2 * crouch)):
            there = [{"euler": [0, bend, 0], "in": parent, "time": 1.5}] if crouch else []
            if muscles:
                link.turn([{"euler": [0, 0, 0], "in": parent}, *there], against=parent)
            else:
                link.turn([{"euler": [0, 0, 0]}])
    return scene


@pytest.mark.parametrize("muscles", [True, False])
def test_a_dog_on_thin_legs_stands_still_and_takes_a_push(muscles: bool) -> None:
    """More feet than it needs, each on a point: which of them would have to pull is a matter of rounding, and none may
    be let go for that; nor does a point keep a leg from turning about its own axis."""
    scene = dog(muscles=muscles)
    assert sway(simulate(scene), ["trunk"], begin=0.0) < 1.0
    document = scene.to_document() | {"pushes": [{"body": "trunk", "from": 1, "until": 1.2, "force": [0, 20, 0]}]}
    assert sway(simulate(parse_scene(document)), ["trunk"], begin=3.0) < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_dogs_whose_links_are_held_stand_still_on_feet_of_any_kind(seed: int) -> None:
    """Legs weigh a fiftieth of what they carry, and a foot may slip where it was taken as standing: then damping that
    is held for longer than the shortest step throws the leg."""
    rng = np.random.default_rng(seed)
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    body = scene.body("body", box=[0.8, 0.25, 0.25], mass=rng.uniform(10, 40), at=[0, 0, 0.75])
    head = scene.body("head", sphere=0.12, mass=rng.uniform(1, 4), at=[0.58, 0, 0.95])
    scene.joint("neck", ball=[body, head], at=[0.42, 0, 0.85])
    held = [body, head]
    for leg, (x, y) in enumerate([(0.32, 0.11), (0.32, -0.11), (-0.32, 0.11), (-0.32, -0.11)]):
        upper = scene.body(f"upper{leg}", capsule={"radius": 0.045, "length": 0.22}, mass=1.2, at=[x, y, 0.5])
        lower = scene.body(f"lower{leg}", capsule={"radius": 0.035, "length": 0.22}, mass=0.7, at=[x, y, 0.2])
        shape = {"sphere": 0.04} if seed % 2 else {"box": [0.14, 0.08, 0.08]}
        foot = scene.body(f"foot{leg}", **shape, mass=rng.uniform(0.1, 1.0), at=[x, y, 0.04])
        scene.joint(f"hip{leg}", ball=[body, upper], at=[x, y, 0.63])
        scene.joint(f"knee{leg}", hinge=[upper, lower], at=[x, y, 0.35], axis=[0, 1, 0])
        scene.joint(f"ankle{leg}", **{"weld" if seed < 2 else "ball": [lower, foot]}, at=[x, y, 0.06])
        held += [upper, lower]
    for link in held:
        link.turn([{"euler": [0, 0, 0]}])
    take = simulate(scene)
    assert sway(take, ["body", *(f"lower{leg}" for leg in range(4))], begin=0.0) < 1.0
    assert np.ptp(take.position[take.time >= 4.0], axis=0).max() < 1e-4


def test_a_dog_crouches_on_its_four_legs() -> None:
    take = simulate(dog(crouch=30.0))
    assert take.position[-1, take.index("trunk"), 2] < 0.55 - 0.05
    assert sway(take, ["trunk"], begin=0.0) < 2.0


def test_a_figure_waves_an_arm_on_narrow_feet() -> None:
    """Muscles that learnt what they missed while the soles rocked would rock them ever more."""
    scene = Scene(seconds=4)
    scene.body("ground", plane={}, fixed=True)
    torso = scene.body("torso", box=[0.2, 0.3, 0.5], mass=25, at=[0, 0, 1.13])
    arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.5}, mass=3, at=[0, -0.26, 1.05])
    scene.joint("shoulder", ball=[torso, arm], at=[0, -0.26, 1.32])
    keys = [{"euler": [0, 0, 0]}, {"euler": [-150, 0, 0], "time": 1}, {"euler": [0, 0, 0], "time": 2}]
    arm.turn(keys, against=torso)
    for side, y in (("left", 0.12), ("right", -0.12)):
        foot = scene.body(f"{side} foot", box=[0.28, 0.12, 0.06], mass=1.5, at=[0.04, y, 0.03])
        leg = scene.body(f"{side} leg", capsule={"radius": 0.06, "length": 0.7}, mass=5, at=[0, y, 0.47])
        scene.joint(f"{side} ankle", hinge=[foot, leg], at=[0, y, 0.07], axis=[0, 1, 0])
        scene.joint(f"{side} hip", ball=[leg, torso], at=[0, y, 0.87])
        leg.turn([{"euler": [0, 0, 0]}], against=foot)
        if side == "left":
            torso.turn([{"euler": [0, 0, 0]}], against=leg)
    take = simulate(scene)
    assert sway(take, ["torso"], begin=0.0) < 1.0
