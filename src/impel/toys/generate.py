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
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from impel.toys.figure import Figure
from impel.toys.fold import without_zeros
from impel.toys.mechanism import GRAVITY, Mechanism, Vector, mechanism_of, rows_of

LANES = 8
TOTALS = ("gx", "gz", "Kxx", "Kxz", "Kzz")  # of all that a link carries: the ground's force and its implicit part

# Only numbers of the figure enter the text, never its names: it is run as code.
HEADER = '''"""Simulator of a figure of {links} links, written by impel. Change the figure, not this file."""

import math

import numpy as np

from impel.kernel import kernel
from impel.toys.lanes import cosine_sine


@kernel(vectors=True)
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
        links = range(len(self.m.links))
        order = ["x", "z", *map(str, links)]
        yield from self._load()
        for i in links:
            yield from self._place(i)
        for i in links[1:]:
            yield from self._joint(i)
        for contact in range(len(self.m.contact_link)):
            yield from self._contact(contact)
        for i in reversed(links):
            yield from self._gather(i)
        for i in reversed(links):
            yield from self._turning(i)
        for i in links:
            yield from self._couple(i)
        for k in reversed(order):
            yield from self._eliminate(k)
        for k in order:
            yield from self._accelerate(k)
        yield from self._advance()

    # -- what the state says -------------------------------------------------------------------------------

    def _load(self) -> Iterator[str]:
        ground = self.figure.ground
        yield f"alive = {at(self.rows.alive)}"
        yield f"h = {at(self.rows.step)} * alive"
        yield "half = 0.5 * h"
        yield f"hard = half * ({num(ground.damping)} + half * {num(ground.stiffness)})"
        yield f"friction = {at(self.rows.friction)}"
        yield from self._coordinate("x", 0)
        yield from self._coordinate("z", 1)

    def _coordinate(self, k: str, row: int) -> Iterator[str]:
        """Velocity v, place q in the middle of the step, and g, the velocity if the last acceleration lasts."""
        yield f"v{k} = {at(self.rows.velocity.start + row)}"
        yield f"q{k} = {at(self.rows.position.start + row)} + half * v{k}"
        yield f"g{k} = v{k} + h * {at(self.rows.acceleration.start + row)}"

    def _place(self, i: int) -> Iterator[str]:
        """How link i is turned, what it carries (b), and its reference point.

        p, u: place and velocity of that; y: its velocity if the last step's acceleration lasts. Ax, Az: how it would be
        accelerated because those that carry it turn; gravity is a part of that.
        """
        p = self.m.parent[i]
        if i == 0:
            yield "px0, pz0, ux0, uz0, yx0, yz0 = qx, qz, vx, vz, gx, gz"
            yield f"Ax0, Az0 = 0.0, {num(-GRAVITY)}"
        else:
            yield from rotated(f"l{i}", p, self.m.arm[i])
            yield f"px{i}, pz{i} = px{p} + l{i}x, pz{p} + l{i}z"
            yield f"ux{i}, uz{i} = ux{p} - v{p} * l{i}z, uz{p} + v{p} * l{i}x"
            yield f"yx{i}, yz{i} = yx{p} - g{p} * l{i}z, yz{p} + g{p} * l{i}x"
            yield f"Ax{i}, Az{i} = Ax{p} + w{p} * l{i}x, Az{p} + w{p} * l{i}z"
        yield from self._coordinate(str(i), 2 + i)
        yield f"c{i}, s{i} = cosine_sine(q{i})"
        yield f"w{i} = v{i} * v{i}"
        yield from rotated(f"b{i}", i, self.m.moment[i])

    def _joint(self, i: int) -> Iterator[str]:
        """Motors and springs; beyond the limits the joint resists. `t` acts on the carried link, `d` is implicit."""
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
            return
        low, high = (math.radians(x) for x in joint.limits)
        stiffness, damping = num(joint.limit_stiffness), num(joint.limit_damping)
        yield f"beyond = angle - min(max(angle, {num(low)}), {num(high)})"
        yield f"resist = {damping} if beyond != 0.0 else 0.0"
        yield f"firm = half * ({damping} + half * {stiffness})"
        yield f"t{i} -= {stiffness} * beyond"
        yield f"t{i} -= resist * speed"
        yield f"d{i} += firm if beyond != 0.0 else 0.0"

    # -- the ground ----------------------------------------------------------------------------------------

    def _contact(self, k: int) -> Iterator[str]:
        """Force (fx, fz) and implicit part [[kxx, kxz], [kxz, kzz]] of a contact point."""
        ground, i = self.figure.ground, self.m.contact_link[k]
        yield from rotated(f"e{k}", i, self.m.contact_arm[k])
        yield f"x, z = px{i} + e{k}x, pz{i} + e{k}z"
        yield f"ux, uz = ux{i} - v{i} * e{k}z, uz{i} + v{i} * e{k}x"
        yield f"yx, yz = yx{i} - g{i} * e{k}z, yz{i} + g{i} * e{k}x"
        yield from self._gap()
        yield f"push = -{num(ground.stiffness)} * gap - {num(ground.damping)} * un"
        yield "touches = (gap < 0.0) & (push > 0.0)"
        yield f"f{k} = push if touches else 0.0"
        yield "kn = hard if touches else 0.0"
        yield f"drag = friction * f{k} / np.sqrt(slip * slip + {num(ground.slip_speed**2)})"
        yield "kt = h * drag"
        if self.level:
            yield f"fx{k}, fz{k} = -drag * ut, f{k}"
            yield f"kxx{k}, kxz{k}, kzz{k} = kt, 0.0, kn"
        else:
            yield f"fx{k} = f{k} * nx - drag * ut * nz"
            yield f"fz{k} = f{k} * nz + drag * ut * nx"
            yield f"kxx{k} = kn * nx * nx + kt * nz * nz"
            yield f"kxz{k} = (kn - kt) * nx * nz"
            yield f"kzz{k} = kn * nz * nz + kt * nx * nx"

    def _gap(self) -> Iterator[str]:
        """Distance to the ground, its normal (nx, nz), the speeds along both, and the slip that is to be expected."""
        ground = self.figure.ground
        if self.level:
            yield "gap, un, ut, slip = z, uz, ux, yx"
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
        yield "slip = yx * nz - yz * nx"

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

    def _gather(self, i: int) -> Iterator[str]:
        """Force (gx, gz) and implicit part (Kxx, Kxz, Kzz) of all that link i carries; its torque r, moment m and M.

        A contact's implicit part K acts on a link like mass at the end of a lever: it adds K·perp(lever) to the
        first moment B. So `B` becomes `m` below and implicit contact costs no more than the plain mass matrix.
        """
        children = self.children[i]
        torque = [f"t{i}"] * (i > 0) + [f"-t{c}" for c in children]
        diagonal = [num(self.m.inertia[i])] + [f"d{i}"] * (i > 0) + [f"d{c}" for c in children]
        levers: list[tuple[str, ...]] = []
        for n, (lever, *parts) in enumerate(self._levers(i)):
            levers.append((lever, *parts[0]))
            if len(parts) > 1:  # a knee that touches: what acts at one place is added up first
                levers[-1] = (lever, *(f"{total}{i}_{n}" for total in TOTALS))
                yield from sums(levers[-1][1:], parts)
        yield from sums([f"{total}{i}" for total in TOTALS], [lever[1:] for lever in levers])
        moment_x, moment_z = [f"b{i}x"], [f"b{i}z"]
        for n, (lever, fx, fz, kxx, kxz, kzz) in enumerate(levers):
            torque.append(f"{lever}x * {fz} - {lever}z * {fx}")
            # K·perp(lever), as a moment.
            yield f"a{i}_{n} = {kzz} * {lever}x - {kxz} * {lever}z"
            yield f"o{i}_{n} = {kxx} * {lever}z - {kxz} * {lever}x"
            moment_x.append(f"a{i}_{n}")
            moment_z.append(f"o{i}_{n}")
            diagonal.append(f"{lever}x * a{i}_{n} + {lever}z * o{i}_{n}")
        yield f"r{i} = {' + '.join(torque) or '0.0'}"
        yield f"m{i}x, m{i}z = {' + '.join(moment_x)}, {' + '.join(moment_z)}"
        yield f"M{i}_{i} = {' + '.join(diagonal)}"
        if i == 0:
            mass = num(self.m.mass)
            yield f"Mx_x, Mz_x, Mz_z = {mass} + Kxx0, Kxz0, {mass} + Kzz0"
            yield f"rx, rz = gx0, gz0 - {num(GRAVITY * self.m.mass)}"

    def _levers(self, i: int) -> list[tuple[Any, ...]]:
        """Where something from the ground may act on link i: the lever's name, and the parts of all that does there."""
        places: dict[Vector, list[Any]] = {}
        for c in self.children[i]:
            if self.touching[c]:
                places.setdefault(self.m.arm[c], [f"l{c}"]).append([f"{total}{c}" for total in TOTALS])
        for k in self.contacts[i]:
            parts = [f"fx{k}", f"fz{k}", f"kxx{k}", f"kxz{k}", f"kzz{k}"]
            places.setdefault(self.m.contact_arm[k], [f"e{k}"]).append(parts)
        return [tuple(place) for place in places.values()]

    def _turning(self, i: int) -> Iterator[str]:
        """How link i is pulled because others turn. S: how it and all that it carries pull because they do."""
        yield f"r{i} += b{i}x * Az{i} - b{i}z * Ax{i}"
        yield f"Sx{i}, Sz{i} = w{i} * b{i}x, w{i} * b{i}z"
        for c in self.children[i]:
            yield f"Sx{i} += Sx{c}"
            yield f"Sz{i} += Sz{c}"
            yield f"r{i} += Sz{c} * l{c}x - Sx{c} * l{c}z"
        if i == 0:
            yield "rx += Sx0"
            yield "rz += Sz0"

    def _couple(self, i: int) -> Iterator[str]:
        """Couplings between link i and those that carry it."""
        yield f"M{i}_x, M{i}_z = -m{i}z, m{i}x"
        below, j = i, self.m.parent[i]
        while j >= 0:
            joint = f" - d{i}" if below == i else ""
            yield f"M{i}_{j} = m{i}x * l{below}x + m{i}z * l{below}z{joint}"
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

    def _eliminate(self, k: str) -> Iterator[str]:
        above = self._above(k)
        yield f"I{k} = 1.0 / M{k}_{k}"
        for n, i in enumerate(above):
            yield f"L{k}_{i} = M{k}_{i} * I{k}"
            for j in above[n:]:
                yield f"M{i}_{j} -= L{k}_{i} * M{k}_{j}"
            yield f"r{i} -= L{k}_{i} * r{k}"

    def _accelerate(self, k: str) -> Iterator[str]:
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


def sums(totals: Iterable[str], parts: Sequence[Sequence[str]]) -> Iterator[str]:
    """Each total as the sum of its column."""
    for n, total in enumerate(totals):
        yield f"{total} = " + (" + ".join(part[n] for part in parts) or "0.0")


def bends(profile: list[Vector]) -> list[tuple[float, float]]:
    """Corners of a polyline that is level beyond its ends: (x, change of rise)."""
    rises = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(profile)]
    before = [0.0, *rises]
    after = [*rises, 0.0]
    return [(corner[0], b - a) for corner, a, b in zip(profile, before, after)]
