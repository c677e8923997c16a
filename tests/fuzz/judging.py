"""What a random scene must not do, found from outside: from the take and the scene as it was written."""

import time
import warnings
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares, minimize_scalar
from scipy.spatial.transform import Rotation

from impel.files import Problem
from impel.stage.compile import start_of
from impel.stage.simulate import simulate

APART = 1e-6  # of the size of the structure, and rad
FAR = ("ring", "bowl")  # joints of the company, see scenes.py
SLOW = 5.0  # CPU s for a second of motion, on a machine ...
SWIFT = 0.25  # ... that takes so many CPU s for what `_peer` steps


class Judgement(NamedTuple):
    seed: int
    refused: str = ""  # the line that says so
    broke: str = ""  # "the motion breaks down", or a traceback
    apart: float = 0.0  # the widest gap, over the size of the structure or in rad
    told: bool = False  # is there an event "joint apart"?
    growth: float = 0.0  # of a passive scene's energy, over what moves
    cpu: float = 0.0  # s for a second of motion, as on the machine of SWIFT
    rough: float = 0.0  # s of forced steps

    def faults(self):
        """What is wrong, in words."""
        found = [self.broke] if self.broke else []
        if self.apart > APART and not self.told:
            found.append(f"apart by {self.apart:.2g} without a word")
        if self.growth > 0.01:
            found.append(f"energy grows by {self.growth:.2%}")
        if self.cpu > SLOW:
            found.append(f"{self.cpu:.1f} CPU s for a second")
        return found


def judge(seed, scene):
    """Play a scene and look at it."""
    begun = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always")
            take = simulate(scene)
    except Problem as problem:
        line = problem.lines[0]
        if "cannot be brought together" in line:
            return Judgement(seed, refused=line)
        return Judgement(seed, broke=line)
    except Exception as error:
        return Judgement(seed, broke=f"{type(error).__name__}: {error}")
    spent = time.process_time() - begun
    if not (np.isfinite(take.position).all() and np.isfinite(take.orientation).all()):
        return Judgement(seed, broke="not a number")
    rough = sum(e["details"]["seconds"] for e in take.events if e["kind"] == "smallest step")
    told = any(e["kind"] == "joint apart" for e in take.events)
    passive = not scene.actors and not any("overlap" in str(doubt.message) for doubt in doubts)
    growth = _growth(take, scene) if passive else 0.0
    cpu = spent / scene.world.seconds
    if cpu > SLOW:
        cpu /= max(1.0, _peer() / SWIFT)
    return Judgement(seed, "", "", _widest(take, scene), told, growth, cpu, rough)


def _peer():
    """CPU s that MuJoCo takes here and now for a fixed pile: how slow the machine is."""
    balls = "".join(
        f'<body pos="{k % 5 * 0.3} {k // 5 * 0.3} 1"><freejoint/><geom size=".1"/></body>' for k in range(25)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom type="plane" size="9 9 1"/>{balls}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    begun = time.process_time()
    mujoco.mj_step(model, data, 10000)
    return time.process_time() - begun


def _growth(take, scene):
    """By how much the energy rises above what it was before, over all that can move: kinetic, and of height.

    Coatings hold energy for a while: where bodies touch, only what is above the start counts.
    """
    energy = take.channels["energy"]
    touched = any(event["kind"] == "contact begins" for event in take.events)
    least = energy[0] if touched else np.minimum.accumulate(energy)
    moving = _kinetic(take, scene).max() + np.ptp(energy)
    return float((energy - least).max() / max(moving, 1e-6 * (1.0 + abs(energy[0]))))


def _kinetic(take, scene):
    """About: of the centres only, from the recorded speeds."""
    total = np.zeros(len(take.time))
    for name, body in scene.bodies.items():
        if body.moves_freely:
            total += 0.5 * _mass(body) * take.channels[f"{name}.speed"] ** 2
    return total


def _mass(body):
    from impel.scene.derived import mass_of

    return mass_of(body)


class Anchors:
    """The joints of a scene as their bodies saw them where they were written."""

    def __init__(self, scene):
        self.joints = [(name, joint) for name, joint in scene.joints.items() if name not in FAR]
        self.names = list(scene.bodies)
        self.start = {name: start_of(body) for name, body in scene.bodies.items()}
        self.start["world"] = (np.zeros(3), np.array([1.0, 0, 0, 0]))
        self.scene = scene

    def local(self, name, point):
        at, turned = self.start[name]
        return _rotation(turned).inv().apply(np.asarray(point, float) - at)

    def curve(self, joint):
        """The spline of an on_curve joint, in b, over parameters that are spaced by the root of distance."""
        points = [self.local(joint.bodies[1], p) for p in joint.curve]
        points = np.array([*points, points[0]] if joint.loop else points)
        spaced = np.sqrt(np.linalg.norm(np.diff(points, axis=0), axis=1))
        return CubicSpline(np.r_[0, np.cumsum(spaced)], points, bc_type="periodic" if joint.loop else "natural")

    def foot(self, name, curve, places):
        """How far along its curve the point of a joint is nearest to it."""
        joint = self.scene.joints[name]
        (at_a, turn_a), (at_b, turn_b) = (places[body] for body in joint.bodies)
        where = turn_b.inv().apply(at_a + turn_a.apply(self.local(joint.bodies[0], joint.at)) - at_b)
        t = np.linspace(0, curve.x[-1], 400)
        best = t[np.argmin(np.linalg.norm(curve(t) - where, axis=1))]
        near = np.clip([best - t[1], best + t[1]], *((-np.inf, np.inf) if joint.loop else (0, curve.x[-1])))
        way = minimize_scalar(
            lambda u: np.linalg.norm(_along(joint, curve, u) - where), bounds=near, options={"xatol": 1e-12}
        )
        return way.x

    def gaps(self, places, feet):
        """For each joint what is not met, in m and in rad, given (at, Rotation) of each body.

        Points on curves count where `feet` says, by name, how far along they are.
        """
        found = []
        for name, joint in self.joints:
            a, b = joint.bodies
            (at_a, turn_a), (at_b, turn_b) = places[a], places[b]
            start_a, start_b = _rotation(self.start[a][1]), _rotation(self.start[b][1])
            at = joint.at if joint.at is not None else self.start[b if b != "world" else a][0]
            point = at_a + turn_a.apply(self.local(a, at))
            where = turn_b.inv().apply(point - at_b)  # of the point, in b
            moved = (turn_a * start_a.inv()).inv() * (turn_b * start_b.inv())  # how b turned against a, world's axes
            meters, angles = [], []
            if joint.kind in ("ball", "hinge", "weld"):
                meters = list(where - self.local(b, at if joint.at_b is None else joint.at_b))
            if joint.kind in ("weld", "slide"):
                angles = list(moved.as_rotvec())
            if joint.kind == "slide":
                axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
                along = (turn_a * start_a.inv()).apply(axis)
                off = at_b + turn_b.apply(self.local(b, at)) - point
                low, high = joint.limits or (-np.inf, np.inf)
                beyond = min(off @ along - low, 0.0) + max(off @ along - high, 0.0)
                meters = [*(off - (off @ along) * along), beyond]
            elif joint.kind == "ball" and joint.axis is not None:
                axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
                leaning = np.arccos(np.clip(axis @ moved.apply(axis), -1, 1))
                angles = [max(leaning - np.radians(150 if joint.cone is None else joint.cone), 0.0)]
                if joint.twist is not None:
                    angles.append(_beyond(moved, axis, joint.twist))
            elif joint.kind == "hinge":
                axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
                carried = moved.apply(axis)
                angles = [*np.cross(axis, carried), min(0.0, axis @ carried)]
                if joint.limits is not None:
                    angles.append(_beyond(moved, axis, joint.limits))
            elif joint.kind == "on_curve":
                meters = list(where - _along(joint, *feet[name]))
            elif joint.kind == "on_segment":
                ends = [self.local(b, p) for p in joint.segment]
                along = ends[1] - ends[0]
                u = np.clip((where - ends[0]) @ along / (along @ along), 0, 1)
                meters = list(where - ends[0] - u * along)
            elif joint.kind == "in_sphere":
                off = where - self.local(b, joint.center if joint.center is not None else at)
                meters = [max(np.linalg.norm(off) - joint.radius, 0.0)]
            elif joint.kind == "on_surface" and joint.surface:
                meters = _off_surface(joint.surface, where - self.local(b, joint.surface.at), start_b)
            found.append((np.array(meters), np.array(angles)))
        return found

    def size(self, joint):
        """Of the structure that it belongs to, at least: the distance between its body and its point."""
        points = [joint.at or self.start[joint.bodies[0]][0]]
        points += [self.start[name][0] for name in joint.bodies if name != "world"]
        group = {name for name in joint.bodies if self._loose(name)}
        grown = True
        while grown:
            grown = False
            for _, other in self.joints:
                ends = {name for name in other.bodies if self._loose(name)}
                if ends & group:
                    points.append(other.at or self.start[other.bodies[0]][0])
                    points += [self.start[name][0] for name in ends]
                    grown |= not ends <= group
                    group |= ends
        return float(np.linalg.norm(np.ptp(np.array(points, float), axis=0))), group

    def _loose(self, name):
        return name != "world" and self.scene.bodies[name].moves_freely


def _along(joint, curve, t):
    return curve(t % curve.x[-1] if joint.loop else np.clip(t, 0, curve.x[-1]))


def _off_surface(surface, off, turned):
    """How far a point is off a surface, in m. Edges are round, by a twentieth of the smallest half size."""
    ((kind, size),) = surface.shape.model_dump(exclude_none=True).items()
    local = (_rotation(surface.orientation).inv() * turned).apply(off)
    if kind == "plane":
        return [local[2]]
    if kind == "sphere":
        return [np.linalg.norm(local) - size]
    if kind == "capsule":
        half = 0.5 * size["length"]
        return [np.linalg.norm(local - [0, 0, np.clip(local[2], -half, half)]) - size["radius"]]
    if kind == "cylinder":
        half, place = np.array([size["radius"], 0.5 * size["length"]]), np.array([np.hypot(*local[:2]), abs(local[2])])
    else:
        half, place = 0.5 * np.array(size), np.abs(local)
    edge = 0.05 * half.min()
    beyond = place - (half - edge)
    return [np.linalg.norm(np.maximum(beyond, 0)) + min(beyond.max(), 0) - edge]


def _beyond(moved, axis, limits):
    """By how much something is turned about an axis beyond limits in degrees."""
    low, high = np.radians(limits)
    turn = 2 * np.arctan2(moved.as_quat()[:3] @ axis, moved.as_quat()[3])
    turns = turn + 2 * np.pi * np.arange(-2, 3)
    beyond = np.maximum(low - turns, 0) + np.minimum(high - turns, 0)
    return beyond[np.argmin(np.abs(beyond))]


def _rotation(quaternion):
    w, x, y, z = quaternion
    return Rotation.from_quat([x, y, z, w])


def _widest(take, scene):
    """The widest gap of any joint in any frame, by what was written and where the bodies are."""
    anchors = Anchors(scene)
    sizes = [max(anchors.size(joint)[0], _reach(scene, joint)) for _, joint in anchors.joints]
    worst = 0.0
    broke = {event["subject"]: event["time"] for event in take.events if event["kind"] == "joint broke"}
    curves = {name: anchors.curve(joint) for name, joint in anchors.joints if joint.kind == "on_curve"}
    for frame in range(1, len(take.time), max(1, len(take.time) // 12)):
        places = {"world": (np.zeros(3), Rotation.identity())}
        for i, name in enumerate(take.names):
            places[name] = (take.position[frame, i], _rotation(take.orientation[frame, i]))
        feet = {name: (curve, anchors.foot(name, curve, places)) for name, curve in curves.items()}
        for (name, _), (meters, angles), size in zip(anchors.joints, anchors.gaps(places, feet), sizes):
            if take.time[frame] >= broke.get(name, np.inf):
                continue
            worst = max(worst, np.linalg.norm(meters) / size, np.abs(angles).max(initial=0.0))
    return float(worst)


def _reach(scene, joint):
    return max(scene.bodies[name].shape.half_size for name in joint.bodies if name != "world")


def closest(scene, joint, *, starts=4, seed=0):
    """By a second method: the smallest gap with which the structure of a joint can be closed, over its size or in rad.

    Nonlinear least squares by scipy over places and turns of its bodies, from the written places and from others.
    """
    anchors = Anchors(scene)
    span, group = anchors.size(scene.joints[joint])
    anchors.joints = [(name, other) for name, other in anchors.joints if set(other.bodies) & group]
    loose = sorted(group)
    curves = {name: anchors.curve(other) for name, other in anchors.joints if other.kind == "on_curve"}
    count = 6 * len(loose)
    rng = np.random.default_rng(seed)

    def placed(x):
        places = {name: (np.asarray(at, float), _rotation(q)) for name, (at, q) in anchors.start.items()}
        for n, name in enumerate(loose):
            at, turn = places[name]
            places[name] = (at + x[6 * n : 6 * n + 3], Rotation.from_rotvec(x[6 * n + 3 : 6 * n + 6]) * turn)
        return places

    def residuals(x):
        feet = {name: (curve, x[count + n]) for n, (name, curve) in enumerate(curves.items())}
        return np.concatenate([np.r_[meters / span, angles] for meters, angles in anchors.gaps(placed(x), feet)])

    best = np.inf
    for n in range(starts):
        start = min(n, 1) * rng.normal(0, 1, count) * np.tile([0.3 * span] * 3 + [1.0] * 3, len(loose))
        start = np.r_[start, [curve.x[1] for curve in curves.values()]]
        found = least_squares(residuals, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=100)
        best = min(best, float(np.abs(found.fun).max()))
        if best < 1e-7:
            break
    return best
