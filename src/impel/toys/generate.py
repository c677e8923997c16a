"""Writes the simulator of one figure: unrolled along its tree, eight trials side by side.

One step is a linearly implicit midpoint rule: with M the mass matrix, D the damping and K the stiffness of joints and
ground, F the drag of friction,

    (M + h/2·D + h²/4·K + h·F) a = f(q + h/2·v, v);   q += h·(v + h/2·a);   v += h·a

so neither springs nor the ground can be too stiff to be stable. Friction turns within a few millimetres a second, which
no step resolves: its drag is taken at the slip that the last step's acceleration lets expect at the end of this one.
Without that a foot is held for one step by more than friction allows, and searches find out how to push against it.
With h = 0 the same code gives the plain accelerations M⁻¹f, which is what the tests compare with MuJoCo.

The state is one flat array, row r of trial `lane` at s[8·r + lane]. Because every offset is a literal and the
inner loop has no branches, LLVM turns it into vector instructions.
"""

import hashlib
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from impel.toys.figure import Figure
from impel.toys.fold import without_zeros
from impel.toys.mechanism import GRAVITY, Mechanism, Vector, mechanism_of, rows_of

LANES = 8

# Only numbers of the figure enter the text, never its names: it is run as code.
HEADER = '''"""Simulator of a figure of {links} links, written by impel. Change the figure, not this file."""

import math

import numpy as np

from impel.kernel import kernel
from impel.toys.lanes import cosine_sine


@kernel
def steps(s, count):
    """Move eight trials on by `count` steps, each trial by its own time step."""
    for _ in range(count):
        for lane in range({lanes}):
'''


def source_of(figure: Figure) -> str:
    """The text of the figure's own module: `steps`, and `trials` from `schedule.py`."""
    body = "".join(f"            {line}\n" for line in without_zeros(_Step(figure).lines()))
    return HEADER.format(links=len(figure.links), lanes=LANES) + body + "\n\n" + _schedule(figure)


def module_name(source: str) -> str:
    return "impel_figure_" + hashlib.sha256(source.encode()).hexdigest()[:16]


def _schedule(figure: Figure) -> str:
    rows = rows_of(figure)
    text = Path(__file__).with_name("schedule.py").read_text(encoding="utf-8")
    text = text[text.index("@kernel") :]
    values = {
        "LANES": LANES, "ROWS": rows.total, "SAVED": rows.saved, "SIZE": rows.position.stop,
        "JOINTS": len(figure.joints), "TARGET": rows.target.start, "TORQUE": rows.torque.start,
        "WORK": rows.work.start, "HEIGHT": rows.height, "RATE": rows.rate.start,
        "STIFFNESS": rows.stiffness.start, "DAMPING": rows.damping.start, "FRICTION": rows.friction,
        "FORCE": rows.force.start, "ALIVE": rows.alive, "STEP": rows.step,
    }  # fmt: skip
    return "".join(f"{name} = {value}\n" for name, value in values.items()) + "\n\n" + text


class _Step:
    """Collects the lines of one step. Terms are texts; "0" is dropped while writing."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.m: Mechanism = mechanism_of(figure)
        self.rows = rows_of(figure)
        self.children = [[c for c, p in enumerate(self.m.parent) if p == i] for i in range(len(self.m.links))]
        self.contacts = [
            [k for k, link in enumerate(self.m.contact_link) if link == i] for i in range(len(self.m.links))
        ]
        self.touching = [bool(self.contacts[i]) for i in range(len(self.m.links))]
        for i in range(len(self.m.links) - 1, 0, -1):
            self.touching[self.m.parent[i]] |= self.touching[i]
        self.level = figure.ground.profile is None and figure.ground.slope == 0

    def lines(self) -> Iterator[str]:
        yield from self._load()
        yield from self._joints()
        yield from self._contacts()
        yield from self._gather()
        yield from self._inertia()
        yield from self._solve()
        yield from self._advance()

    # -- what the state says -------------------------------------------------------------------------------

    def _load(self) -> Iterator[str]:
        m = self.m
        yield f"alive = {at(self.rows.alive)}"
        yield f"h = {at(self.rows.step)} * alive"
        yield "half = 0.5 * h"
        for i in range(m.size):
            k = label(i)
            yield f"v{k} = {at(self.rows.velocity.start + i)}"
            yield f"q{k} = {at(self.rows.position.start + i)} + half * v{k}"
            if k != "z" or not self.level:
                yield f"g{k} = v{k} + h * {at(self.rows.acceleration.start + i)}"
        for i in range(len(m.links)):
            yield f"c{i}, s{i} = cosine_sine(q{i})"
            yield f"w{i} = v{i} * v{i}"
            yield from rotated(f"b{i}", i, m.moment[i])
            if i:
                yield from rotated(f"l{i}", m.parent[i], m.arm[i])

    def _joints(self) -> Iterator[str]:
        """Motors and springs; beyond the limits the joint resists. `t` acts on the carried link, `d` is implicit."""
        for i in range(1, len(self.m.links)):
            j, p = self.m.joint[i], self.m.parent[i]
            joint = list(self.figure.joints.values())[j]
            yield f"angle = q{i} - q{p}"
            yield f"speed = v{i} - v{p}"
            yield f"damping = {at(self.rows.damping.start + j)}"
            yield f"stiffness = {at(self.rows.stiffness.start + j)}"
            yield f"spring{j} = stiffness * ({at(self.rows.target.start + j)} - angle)"
            yield f"t{i} = spring{j} - damping * speed"
            yield f"d{i} = half * (damping + half * stiffness)"
            if joint.limits is None:
                continue
            low, high = (math.radians(x) for x in joint.limits)
            yield f"beyond = angle - min(max(angle, {num(low)}), {num(high)})"
            yield "past = 1.0 if beyond != 0.0 else 0.0"
            yield f"t{i} -= {num(joint.limit_stiffness)} * beyond + past * ({num(joint.limit_damping)} * speed)"
            yield f"d{i} += past * (half * ({num(joint.limit_damping)} + half * {num(joint.limit_stiffness)}))"

    # -- the ground ----------------------------------------------------------------------------------------

    def _contacts(self) -> Iterator[str]:
        """Force (fx, fz) and implicit part [[kxx, kxz], [kxz, kzz]] of every contact point.

        p, u: place and velocity of a link's reference point; y: its velocity if the last step's acceleration lasts.
        """
        m, ground = self.m, self.figure.ground
        yield "px0, pz0, ux0, uz0, yx0 = qx, qz, vx, vz, gx"
        if not self.level:
            yield "yz0 = gz"
        for i in range(1, len(m.links)):
            if self.touching[i]:
                p = m.parent[i]
                yield f"px{i} = px{p} + l{i}x"
                yield f"pz{i} = pz{p} + l{i}z"
                yield f"ux{i} = ux{p} - v{p} * l{i}z"
                yield f"uz{i} = uz{p} + v{p} * l{i}x"
                yield f"yx{i} = yx{p} - g{p} * l{i}z"
                if not self.level:
                    yield f"yz{i} = yz{p} + g{p} * l{i}x"
        yield f"hard = half * ({num(ground.damping)} + half * {num(ground.stiffness)})"
        yield f"friction = {at(self.rows.friction)}"
        for k, i in enumerate(m.contact_link):
            yield from rotated(f"e{k}", i, m.contact_arm[k])
            yield f"x = px{i} + e{k}x"
            yield f"z = pz{i} + e{k}z"
            yield f"ux = ux{i} - v{i} * e{k}z"
            yield f"uz = uz{i} + v{i} * e{k}x"
            yield f"slip = yx{i} - g{i} * e{k}z"
            yield from self._gap()
            if not self.level:
                yield f"slip = slip * nz - (yz{i} + g{i} * e{k}x) * nx"
            yield f"push = -{num(ground.stiffness)} * gap - {num(ground.damping)} * un"
            yield "touches = (gap < 0.0) & (push > 0.0)"
            yield f"f{k} = push if touches else 0.0"
            yield "kn = hard if touches else 0.0"
            yield f"drag = friction * f{k} / np.sqrt(slip * slip + {num(ground.slip_speed**2)})"
            yield "kt = h * drag"
            if self.level:
                yield f"fx{k}, fz{k} = -drag * ut, f{k}"
                yield f"kxx{k}, kzz{k} = kt, kn"
            else:
                yield f"fx{k} = f{k} * nx - drag * ut * nz"
                yield f"fz{k} = f{k} * nz + drag * ut * nx"
                yield f"kxx{k} = kn * nx * nx + kt * nz * nz"
                yield f"kxz{k} = (kn - kt) * nx * nz"
                yield f"kzz{k} = kn * nz * nz + kt * nx * nx"

    def _gap(self) -> Iterator[str]:
        """Distance to the ground, its normal (nx, nz), and the speeds along the normal and the ground."""
        ground = self.figure.ground
        if self.level:
            yield "gap, un, ut = z, uz, ux"
            return
        if ground.profile is None:
            angle = math.radians(ground.slope)
            yield f"nx, nz = {num(-math.sin(angle))}, {num(math.cos(angle))}"
            yield "gap = x * nx + z * nz"
        else:
            yield from self._floor("x")
            yield "rise = 0.0"
            for x, bend in bends(ground.profile):
                yield f"rise += {num(bend)} if x > {num(x)} else 0.0"
            yield "nz = 1.0 / np.sqrt(1.0 + rise * rise)"
            yield "nx = -rise * nz"
            yield "gap = (z - floor) * nz"
        yield "un = ux * nx + uz * nz"
        yield "ut = ux * nz - uz * nx"

    def _floor(self, under: str) -> Iterator[str]:
        """Height of the ground, `floor`; a polyline is a sum of hinges: no search, so it vectorises."""
        ground = self.figure.ground
        if ground.profile is None:
            yield f"floor = {num(math.tan(math.radians(ground.slope)))} * {under}"
            return
        yield f"floor = {num(ground.profile[0][1])}"
        for x, bend in bends(ground.profile):
            yield f"floor += {num(bend)} * max({under} - {num(x)}, 0.0)"

    # -- forces and damping, from the leaves to the root ------------------------------------------------------

    def _gather(self) -> Iterator[str]:
        """Per link: force (gx, gz) and implicit part (Kxx, Kxz, Kzz) of all it carries, torque r, moment B and its own.

        A contact's implicit part K acts on a link like mass at the end of a lever: it adds K·perp(lever) to the
        first moment B. So `B` becomes `m` below and implicit contact costs no more than the plain mass matrix.
        """
        mech = self.m
        cross = () if self.level else ("Kxz",)
        for i in range(len(mech.links) - 1, -1, -1):
            children, contacts = self.children[i], self.contacts[i]
            torque = [f"- {num(GRAVITY)} * b{i}x"]
            if i:
                torque.append(f"+ t{i}")
            torque += [f"- t{c}" for c in children]
            diagonal = [num(mech.inertia[i])] + ([f"d{i}"] if i else []) + [f"d{c}" for c in children]
            carrying = [c for c in children if self.touching[c]]
            levers = [(f"l{c}", f"gx{c}", f"gz{c}", f"Kxx{c}", f"Kxz{c}", f"Kzz{c}") for c in carrying]
            levers += [(f"e{k}", f"fx{k}", f"fz{k}", f"kxx{k}", f"kxz{k}", f"kzz{k}") for k in contacts]
            if levers:
                for total, part in (("gx", 1), ("gz", 2), ("Kxx", 3), ("Kxz", 4), ("Kzz", 5)):
                    if total == "Kxz" and not cross:
                        continue
                    yield f"{total}{i} = " + " + ".join(lever[part] for lever in levers)
            moment_x, moment_z = [f"b{i}x"], [f"b{i}z"]
            for n, (arm, fx, fz, kxx, kxz, kzz) in enumerate(levers):
                torque += [f"+ {arm}x * {fz} - {arm}z * {fx}"]
                # K·perp(lever), as a moment.
                along = f" - {kxz} * {arm}z" if cross else ""
                across = f" - {kxz} * {arm}x" if cross else ""
                yield f"a{i}_{n} = {kzz} * {arm}x{along}"
                yield f"o{i}_{n} = {kxx} * {arm}z{across}"
                moment_x.append(f"a{i}_{n}")
                moment_z.append(f"o{i}_{n}")
                diagonal += [f"{arm}x * a{i}_{n} + {arm}z * o{i}_{n}"]
            yield f"r{i} = {' '.join(torque)}"
            yield f"m{i}x, m{i}z = {' + '.join(moment_x)}, {' + '.join(moment_z)}"
            yield f"M{i}_{i} = {' + '.join(diagonal)}"
        touching = self.touching[0]
        yield f"Mx_x = {num(mech.mass)}" + (" + Kxx0" if touching else "")
        yield f"Mz_z = {num(mech.mass)}" + (" + Kzz0" if touching else "")
        yield "Mz_x = Kxz0" if cross and touching else "Mz_x = 0.0"
        yield "rx = " + " + ".join([f"w{i} * b{i}x" for i in range(len(mech.links))] + ["gx0"] * touching)
        weight = num(-GRAVITY * mech.mass)
        yield f"rz = {weight} + " + " + ".join([f"w{i} * b{i}z" for i in range(len(mech.links))] + ["gz0"] * touching)

    def _inertia(self) -> Iterator[str]:
        """Couplings between a link and those that carry it, and the forces of their turning."""
        for i in range(len(self.m.links)):
            yield f"M{i}_x, M{i}_z = -m{i}z, m{i}x"
            below, j = i, self.m.parent[i]
            while j >= 0:
                joint = f" - d{i}" if below == i else ""
                yield f"M{i}_{j} = m{i}x * l{below}x + m{i}z * l{below}z{joint}"
                yield f"turning = b{i}x * l{below}z - b{i}z * l{below}x"
                yield f"r{i} += w{j} * turning"
                yield f"r{j} -= w{i} * turning"
                below, j = j, self.m.parent[j]

    # -- LᵀDL along the tree: no fill-in --------------------------------------------------------------------

    def _above(self, k: str) -> list[str]:
        """Coordinates that coordinate k hangs from, nearest first."""
        if k == "x":
            return []
        if k == "z":
            return ["x"]
        above, j = [], self.m.parent[int(k)]
        while j >= 0:
            above.append(str(j))
            j = self.m.parent[j]
        return [*above, "z", "x"]

    def _solve(self) -> Iterator[str]:
        order = ["x", "z"] + [str(i) for i in range(len(self.m.links))]
        for k in reversed(order):
            above = self._above(k)
            yield f"I{k} = 1.0 / M{k}_{k}"
            for n, i in enumerate(above):
                yield f"L{k}_{i} = M{k}_{i} * I{k}"
                for j in above[n:]:
                    yield f"M{i}_{j} -= L{k}_{i} * M{k}_{j}"
                yield f"r{i} -= L{k}_{i} * r{k}"
        for k in order:
            terms = "".join(f" - L{k}_{i} * a{i}" for i in self._above(k))
            yield f"a{k} = r{k} * I{k}{terms}"

    # -- the step ----------------------------------------------------------------------------------------------

    def _advance(self) -> Iterator[str]:
        rows, m = self.rows, self.m
        for i in range(m.size):
            k = label(i)
            yield f"{at(rows.acceleration.start + i)} = a{k}"
            yield f"v{k} += h * a{k}"
            yield f"q{k} += half * v{k}"
            yield f"{at(rows.velocity.start + i)} = v{k}"
            yield f"{at(rows.position.start + i)} = q{k}"
        for i in range(1, len(m.links)):
            j = m.joint[i]
            yield f"speed = v{i} - v{m.parent[i]}"
            yield f"torque = spring{j} - {at(rows.damping.start + j)} * speed"
            yield f"{at(rows.torque.start + j)} = torque"
            yield f"{at(rows.work.start + j)} += h * abs(torque * speed)"
            yield f"{at(rows.effort.start + j)} += h * torque * torque"
            yield f"{at(rows.target.start + j)} += alive * {at(rows.rate.start + j)}"
        for c in range(len(m.contact_link)):
            yield f"{at(rows.force.start + c)} = f{c}"
        yield from self._height()
        yield f"{at(rows.time)} += h"
        # Comparing also ends what has exploded.
        limit = 1e300 if self.figure.fall == "none" else math.radians(self.figure.fall)
        yield f"{at(rows.alive)} = alive if abs(q0) <= {num(limit)} else 0.0"

    def _height(self) -> Iterator[str]:
        """Of the root above the ground under it."""
        if self.level:
            yield f"{at(self.rows.height)} += h * qz"
        else:
            yield from self._floor("qx")
            yield f"{at(self.rows.height)} += h * (qz - floor)"


def label(i: int) -> str:
    return "xz"[i] if i < 2 else str(i - 2)


def at(row: int) -> str:
    return f"s[{LANES * row} + lane]"


def num(value: float) -> str:
    return repr(float(value))


def rotated(name: str, link: int, v: Vector) -> Iterator[str]:
    """The drawn vector v, turned with its link, as `namex`, `namez`."""
    c, s = f"c{link}", f"s{link}"
    x, z = num(v[0]), num(v[1])
    if v == (0.0, 0.0):
        yield f"{name}x, {name}z = 0.0, 0.0"
    elif v[1] == 0.0:
        yield f"{name}x, {name}z = {x} * {c}, {x} * {s}"
    elif v[0] == 0.0:
        yield f"{name}x, {name}z = {num(-v[1])} * {s}, {z} * {c}"
    else:
        yield f"{name}x, {name}z = {x} * {c} - {z} * {s}, {x} * {s} + {z} * {c}"


def bends(profile: list[Vector]) -> list[tuple[float, float]]:
    """Corners of a polyline that is level beyond its ends: (x, change of rise)."""
    rises = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(profile)]
    before = [0.0, *rises]
    after = [*rises, 0.0]
    return [(corner[0], b - a) for corner, a, b in zip(profile, before, after)]
