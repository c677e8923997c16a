"""Random valid scenes: bodies of all shapes and masses, in trees and loops of all kinds of joints with all they have.

A seed is a scene, on every machine. `company` adds a few things far away, which stay as they are: with them all scenes
are of one kind for the compiler, so that a thousand of them need not be compiled each by itself.
"""

import numpy as np

from impel.scene import Scene, problems

AWAY = 1000.0  # m
SURFACES = ("sphere", "box", "cylinder", "capsule")


def random_scene(seed, *, seconds=1.0):
    """The first of the scenes of this seed that is valid; those of odd seeds have actors."""
    rng = np.random.default_rng(seed)
    while True:
        scene = Scene.model_validate(company(_document(rng, seed % 2 == 1, seconds)))
        if not problems(scene):
            return scene


def _document(rng, actors, seconds):
    count = int(rng.integers(1, 13))
    bodies = {f"b{i}": _body(rng) for i in range(count)}
    names = list(bodies)
    span = 10 ** rng.uniform(-1, 0.5)  # m: between neighbours
    for i in range(1, count):
        other = bodies[names[int(rng.integers(i))]]["at"]
        bodies[names[i]]["at"] = _rounded(np.array(other) + span * rng.uniform(0.3, 1.5) * _direction(rng))
    joints = {}
    loops = int(rng.integers(1, 4)) if rng.random() < 0.4 else 0
    apart = 0.1 if not loops else 0.01  # a loop whose joints start apart can often not be closed
    for i, name in enumerate(names):
        if i == 0 and rng.random() < 0.5:
            continue
        other = "world" if i == 0 or rng.random() < 0.15 else names[int(rng.integers(i))]
        joints[f"j{len(joints)}"] = _joint(rng, bodies, name, other, span, apart=rng.random() < apart)
    for _ in range(loops):
        first = names[int(rng.integers(count))]
        other = [*names, "world"][int(rng.integers(count + 1))]
        if other != first:
            joints[f"j{len(joints)}"] = _joint(rng, bodies, first, other, span, apart=False)
    for name in names:
        if rng.random() < 0.06:
            bodies[name]["fixed"] = True
            for moving in ("velocity", "spin"):
                bodies[name].pop(moving, None)
    _part(bodies, rng.random() < 0.6)
    world = {"seconds": seconds, "fps": float(rng.choice([24, 30, 60, 120]))}
    if rng.random() < 0.2:
        world["gravity"] = _rounded(rng.normal(0, 10, 3))
    if rng.random() < 0.1:
        world["drag"] = round(10 ** rng.uniform(-2, 0.5), 6)
    document = {"impel": 1, "world": world, "bodies": bodies, "joints": joints}
    if rng.random() < 0.3:
        low = min(body["at"][2] for body in bodies.values())
        bodies["ground"] = {"shape": {"plane": {}}, "fixed": True, "at": [0, 0, round(low - 5 * span, 3)]}
    # What a joint bears is known where nothing else holds its bodies: in trees that hang on one joint at most.
    single = not loops and sum(not _is_loose(bodies, name) for joint in joints.values() for name in _ends(joint)) < 2
    for joint in joints.values():
        _enrich(rng, joint, span, may_break=single)
    if actors:
        document["actors"] = _actors(rng, bodies, span)
    return document


def _ends(joint):
    return next(iter(joint.values()))


def _is_loose(bodies, name):
    return name != "world" and not bodies[name].get("fixed")


def _enrich(rng, joint, span, *, may_break):
    """Some welds become slides; some joints get cones, twists, friction, springs, and a load at which they break."""
    if "weld" in joint and "at_b" not in joint and rng.random() < 0.5:
        joint["slide"] = joint.pop("weld")
        joint["axis"] = _rounded(_direction(rng))
        if rng.random() < 0.5:
            joint["limits"] = _rounded([rng.uniform(-span, 0), rng.uniform(0, span)])
    if "ball" in joint and rng.random() < 0.4:
        joint["axis"] = _rounded(_direction(rng))
        has = rng.random()
        if has < 0.75:
            joint["cone"] = round(float(rng.uniform(5, 175 if has < 0.35 else 150)), 3)
        if has > 0.35:
            joint["twist"] = _rounded([rng.uniform(-150, 0), rng.uniform(0, 150)])
    if any(kind in joint for kind in ("ball", "hinge", "slide", "on_segment")) and rng.random() < 0.2:
        joint["friction"] = _number(rng, -3, 3)
    if any(kind in joint for kind in ("ball", "hinge", "slide")) and rng.random() < 0.2:
        joint["spring"] = {"stiffness": _number(rng, -3, 3), "damping": _number(rng, -4, 1)}
        if "ball" not in joint and rng.random() < 0.5:
            joint["spring"]["rest"] = round(float((span if "slide" in joint else 90) * rng.uniform(-1, 1)), 6)
    if may_break and rng.random() < 0.15:
        joint["breaks"] = {"force": _number(rng, -1, 4), "torque": _number(rng, -2, 4)}
    if rng.random() < 0.1:
        joint["collides"] = True


def _number(rng, least, most):
    """Of any magnitude between these powers of ten."""
    return float(f"{10 ** rng.uniform(least, most):.4g}")


def _part(bodies, all_of_them):
    """Take bodies out of contact: all, or those that would start inside each other."""
    reach = {name: _reach(body["shape"]) for name, body in bodies.items()}
    for one in bodies:
        for other in bodies:
            distance = np.linalg.norm(np.array(bodies[one]["at"]) - bodies[other]["at"])
            if all_of_them or (one != other and distance < 1.1 * (reach[one] + reach[other])):
                bodies[one]["collides"] = bodies[other]["collides"] = False


def _reach(shape):
    ((kind, size),) = shape.items()
    if kind == "sphere":
        return size
    if kind == "box":
        return 0.5 * float(np.linalg.norm(size))
    if kind == "blob":
        return 2 * size["points"][0]["radius"]
    return size["radius"] + size["length"]


def _body(rng):
    body = {"shape": _shape(rng), "at": _rounded(rng.normal(0, 1, 3))}
    weigh = rng.random()
    if weigh < 0.7:
        body["mass"] = float(f"{10 ** rng.uniform(-3, 3):.6g}")
    elif weigh < 0.85:
        body["density"] = float(f"{10 ** rng.uniform(1.5, 4):.6g}")
    if rng.random() < 0.6:
        body["euler"] = _rounded(rng.uniform(-180, 180, 3))
    if rng.random() < 0.3:
        body["velocity"] = _rounded(10 ** rng.uniform(-1, 1) * rng.normal(0, 1, 3))
    if rng.random() < 0.3:
        body["spin"] = _rounded(10 ** rng.uniform(0, 3) * rng.normal(0, 1, 3))
    return body


def _shape(rng):
    kind = rng.choice(["sphere", "box", "capsule", "cylinder", "blob"])
    size = float(f"{10 ** rng.uniform(-2.3, 0):.6g}")
    other = float(f"{size * 10 ** rng.uniform(-0.5, 1):.6g}")
    if kind == "sphere":
        return {"sphere": size}
    if kind == "box":
        return {"box": [size, other, float(f"{size * rng.uniform(0.5, 2):.6g}")]}
    if kind == "blob":
        points = [{"at": [0, 0, 0], "radius": size}, {"at": [0, round(0.8 * size, 6), 0], "radius": size}]
        return {"blob": {"points": points, "blend": round(0.1 * size, 6)}}
    return {str(kind): {"radius": size, "length": other}}


def _joint(rng, bodies, a, b, span, *, apart):
    at_a, at_b = (np.array(bodies[name]["at"] if name != "world" else bodies[a]["at"]) for name in (a, b))
    at = at_a + rng.uniform(-0.2, 1.2) * (at_b - at_a) + 0.3 * span * rng.normal(0, 1, 3)
    at = at if rng.random() < 0.8 else at + span * rng.normal(0, 1, 3)
    kind = str(rng.choice(["ball", "hinge", "weld", "on_segment", "on_curve", "on_surface", "in_sphere"],
                          p=[0.25, 0.35, 0.1, 0.1, 0.08, 0.05, 0.07]))  # fmt: skip
    joint = {kind: [a, b] if rng.random() < 0.5 or kind == "on_surface" else [b, a], "at": _rounded(at)}
    if kind == "hinge":
        joint["axis"] = _rounded(_direction(rng))
        if rng.random() < 0.5:
            joint["limits"] = _rounded([rng.uniform(-180, 0), rng.uniform(0, 180)])
    elif kind == "on_segment":
        along = span * _direction(rng)
        joint["segment"] = [_rounded(at - rng.uniform(0, 1) * along), _rounded(at + rng.uniform(0.1, 1) * along)]
    elif kind == "on_curve":
        steps = span * rng.uniform(0.3, 1.0, (4, 1)) * rng.normal(0, 1, (4, 3))
        joint["curve"] = [
            _rounded(at - steps[0]),
            _rounded(at),
            _rounded(at + steps[1]),
            _rounded(at + steps[1] + steps[2]),
        ]
        joint["loop"] = bool(rng.random() < 0.3)
    elif kind == "on_surface":
        size = span * rng.uniform(0.3, 1.0)
        joint["surface"] = _surface(rng, at, size)
    elif kind == "in_sphere":
        joint["radius"] = round(float(span * rng.uniform(0.1, 1.5)), 6)
        joint["center"] = _rounded(at + joint["radius"] * rng.uniform(0, 0.9) * _direction(rng))
    if apart and kind in ("ball", "hinge", "weld"):
        joint["at_b"] = _rounded(at + 0.2 * span * rng.normal(0, 1, 3))
    return joint


def _surface(rng, at, size):
    """A surface that the point is on."""
    kind = str(rng.choice(["plane", *SURFACES]))
    if kind == "plane":
        return {"shape": {"plane": {}}, "at": _rounded(at), "euler": _rounded(rng.uniform(-180, 180, 3))}
    if kind == "sphere":
        return {"shape": {"sphere": round(size, 9)}, "at": _rounded(at + size * _direction(rng))}
    if kind == "box":
        return {"shape": {"box": [round(2 * size, 9)] * 3}, "at": _rounded(at - [0, 0, size])}
    return {
        "shape": {kind: {"radius": round(size, 9), "length": round(2 * size, 9)}},
        "at": _rounded(at - [size, 0, 0]),
    }


def _actors(rng, bodies, span):
    """Wishes with extreme parameters, for up to three of the bodies that move freely."""
    loose = [name for name, body in bodies.items() if not body.get("fixed")]
    actors = {}
    for name in rng.permutation(loose)[: int(rng.integers(1, 4))].tolist():
        drive = {}
        if rng.random() < 0.5:
            drive["elasticity"] = round(10 ** rng.uniform(-0.7, 0.5), 6)
        if rng.random() < 0.5:
            drive["adaptation"] = round(10 ** rng.uniform(-1, 1.5), 6)
        if rng.random() < 0.4:
            drive["strength"] = _number(rng, -2, 5) if rng.random() < 0.7 else "unlimited"
        if rng.random() < 0.2:
            drive["relaxation"] = _number(rng, -2.3, 0)
        if rng.random() < 0.1:
            drive["press"] = _number(rng, -2, 3)
        actor = {}
        if rng.random() < 0.6:
            keys = [bodies[name]["at"], *(_rounded(bodies[name]["at"] + span * rng.normal(0, 1, 3)) for _ in range(2))]
            actor["move"] = {"keys": keys, **drive}
            if rng.random() < 0.5:
                actor["move"]["speed"] = float(f"{10 ** rng.uniform(-1, 1.5):.6g}")
            if rng.random() < 0.5:
                actor["move"]["base_distance"] = float(f"{span * 10 ** rng.uniform(-2, 0):.6g}")
        if not actor or rng.random() < 0.2:
            keys = [{"euler": _rounded(rng.uniform(-90, 90, 3))} for _ in range(int(rng.integers(1, 4)))]
            actor["turn"] = {"keys": keys, **drive}
            if rng.random() < 0.5:
                actor["turn"]["base_angle"] = round(10 ** rng.uniform(0, 1.7), 6)
            others = [other for other in loose if other != name]
            if others and rng.random() < 0.2:
                actor["turn"]["against"] = str(rng.choice(others))
        actors[name] = actor
    return actors


def company(document):
    """Add what every scene gets, far away and at rest: all kinds of contact, curves and surfaces."""
    bodies = document["bodies"]
    for i, shape in enumerate(({"sphere": 1}, {"box": [1, 1, 1]}, {"capsule": {"radius": 0.5, "length": 1}})):
        bodies[f"far{i}"] = {"shape": shape, "fixed": True, "at": [AWAY, 0, 10 * i]}
    for name, at in (("bead", [AWAY, 20, 0]), ("skater", [AWAY, 40, 0])):
        bodies[name] = {"shape": {"sphere": 0.1}, "mass": 1, "at": at}
    ring = [[AWAY, 20, 0], [AWAY, 21, 1], [AWAY, 20, 2], [AWAY, 19, 1]]
    bowl = {"shape": {"sphere": 1}, "at": [AWAY, 40, 1]}
    document["joints"] |= {
        "ring": {"on_curve": ["bead", "world"], "at": [AWAY, 20, 0], "curve": ring, "loop": True},
        "bowl": {"on_surface": ["skater", "world"], "at": [AWAY, 40, 0], "surface": bowl},
    }
    return document


def _direction(rng):
    v = rng.normal(0, 1, 3)
    return v / np.linalg.norm(v)


def _rounded(values):
    return [float(f"{value:.9g}") for value in values]
