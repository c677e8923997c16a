"""Joints that lock each other by a hair: a slight change of where they are would leave their bodies a freedom.

Two hinges of a door on one line let it turn; a tenth of a millimetre off, they hold it like a weld. As places come
rounded, or are set by hand, this is hardly ever meant. Where the rows of joints, as they are placed, nearly depend on
each other (a singular value that is small, but more than rounding), the bodies are moved along what would be free, and
the least change of the joints is sought with which they hold all along the way. A flat triangle has such a singular
value, too, but no slight change lets it move.

And joints can be taut: a row of planks just as long as the way between its ends. Its rows depend on each other as it is
placed and nowhere near: to second order, whatever moves raises one and the same stress.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.physics.bodies import Bodies
from impel.physics.joints import Joints
from impel.physics.mechanism import Mechanism, Pose, across, has_loops
from impel.physics.skyline import REDUNDANT

Floats = NDArray[np.float64]

MOST_ROWS = 250  # of a structure: to look into a larger one would be felt
EXACT = 1e-9  # singular values: rows below depend on each other but for rounding ...
WEAK = 0.01  # ... and below this by a hair: a hundredth of the way from one joint to another, or half a degree
MOST = 0.02  # of the structure, or rad: more is no slight change
REACH = 0.4  # rad, or share of the structure: how far bodies are moved to see whether they can ...
STEPS = 2  # ... in so many steps
WAYS = 3  # on which they are moved, of their own and at random each
MET = 1e-12  # of the structure: what is wrong by less is right
TRIES = 8  # of Newton's method: 4 are usual
ROUNDS = 50  # until as few joints as will do are left: 10 are usual
SLIGHT = 1e-3  # of the largest change: less is none
DETERMINED = 1e-3  # of the strongest condition on the changes: what is weaker is so by what is still wrong
CLEARED = 1e-3  # of what was wrong: joints with which less is left let bodies move
RIGHT = 1e-9  # of the structure: what is wrong by less is far below what joints may be apart by rounding, 5e-7
PLAIN = 1e-6  # pivot over diagonal, as REDUNDANT: a row that surely says something new
PART = 0.1  # of the fastest: who moves less in a weak direction has no part in it
TAUT = 1e-4  # as WEAK, where nothing is left to move with: at 2e-4, a millionth of slack, a row of planks swings
TIGHT = 1e-3  # in a reach: what is less to second order is rounding; and of a weight: what pulls less does not count
ROUNDED = 1e-4, math.radians(0.01)  # of the structure and rad: what comes of writing three to six digits


class Change(NamedTuple):
    """What a joint would have to be changed by."""

    joint: int  # as written
    shift: Floats  # m, of its point, as all is placed ...
    turn: Floats  # rad, ... and of its axis


class Lock(NamedTuple):
    """Joints of a structure that leave bodies no way to move."""

    bodies: list[int]  # which could move
    joints: list[int]  # which hold them, as written
    turns: bool  # whether they would turn, or only be shifted
    changes: list[Change]  # as few as will do, the largest first; none if the joints are taut
    fixed: dict[int, Floats]  # what these make of rows of `Joints.fixed`, where that is right to rounding
    size: float  # m, of the structure

    @property
    def rounded(self) -> bool:
        """Whether it comes of rounded numbers, and can be mended."""
        return self.within(*ROUNDED) and bool(self.fixed)

    def within(self, shift: float, turn: float) -> bool:
        """Whether no change is larger, of the structure and in rad."""
        shifts = (float(np.linalg.norm(change.shift)) for change in self.changes)
        turns = (float(np.linalg.norm(change.turn)) for change in self.changes)
        return max(shifts, default=0.0) <= shift * self.size and max(turns, default=0.0) <= turn


def locks(bodies: Bodies, joints: Joints, gravity: Iterable[float]) -> list[Lock]:
    """What joints lock by a hair, one for a structure. After `assemble`."""
    found = []
    for island in range(len(joints.island) - 1):
        if has_loops(joints, island):
            structure = Mechanism(bodies, joints, island)
            if len(structure.row) <= MOST_ROWS:
                lock = _taut(structure, np.array(tuple(gravity))) or _off(structure)
                found += [lock] if lock is not None else []
    return found


def _off(structure: Mechanism) -> Lock | None:
    """What a slight change of the joints would free."""
    rank = int(np.sum(structure.start.values > WEAK))
    nearly = structure.start.left[:, rank:]
    stress, values, ways = np.linalg.svd(nearly.T @ structure.start.acts, full_matrices=False)
    stress, ways = nearly @ stress[:, values > EXACT], ways[values > EXACT]
    if len(ways) == 0:
        return None
    fit = _Fit(structure, rank)
    found = fit.changes_for(ways)
    if found is None:
        return None
    size = np.linalg.norm(found, axis=1)
    largest = [int(n) for n in np.argsort(-size, kind="stable") if size[n] > SLIGHT * size.max()]
    changes = [Change(structure.index(n), found[n, :3] * structure.size, found[n, 3:]) for n in largest]
    fixed = {k: structure.joints.fixed[k].copy() for k in structure.firm} if fit.exact() else {}
    return _lock(structure, ways, stress, changes, fixed)


def _taut(structure: Mechanism, gravity: Floats) -> Lock | None:
    """What joints hold so taut that any motion would have to stretch them, if something weighs on it."""
    start = structure.start
    free, stress = structure.free(TAUT), start.left[:, start.values <= TAUT]
    if len(free) == 0 or stress.shape[1] == 0:
        return None
    step = 1e-4 * structure.size
    forms = np.zeros((stress.shape[1], len(free), len(free)))  # of each stress: how all ways of moving raise it
    for n, way in enumerate(free):
        ahead, behind = (structure.aim(*structure.moved(start[:3], side * way))[1] for side in (step, -step))
        forms[:, n] = stress.T @ (ahead - behind) @ free.T * (structure.size / (2 * step))
    forms = 0.5 * (forms + forms.transpose(0, 2, 1))
    share = np.trace(forms, axis1=1, axis2=2)
    if np.linalg.norm(share) < TIGHT:
        return None
    share /= np.linalg.norm(share)
    rises, ways = np.linalg.eigh(np.tensordot(share, forms, 1))
    held = ways[:, rises > TIGHT].T @ free
    weight = np.zeros((len(structure.members), 6))
    weight[:, :3] = structure.bodies.mass[structure.members, None] * gravity
    loaded = np.linalg.norm(held @ weight.ravel()) > TIGHT * np.linalg.norm(weight)
    if rises[0] < -TIGHT or not loaded:
        return None
    return _lock(structure, held, (stress @ share)[:, None], [], {})


def _lock(structure: Mechanism, ways: Floats, stress: Floats, changes: list[Change], fixed: dict[int, Floats]) -> Lock:
    parts = ways.reshape(-1, len(structure.members), 6)
    speed, spin = np.linalg.norm(parts[:, :, :3], axis=(0, 2)), np.linalg.norm(parts[:, :, 3:], axis=(0, 2))
    fast, pull = np.hypot(speed, spin), np.zeros(len(structure.firm))
    np.add.at(pull, structure.owner, np.sum(stress**2, axis=1))
    return Lock(
        bodies=[int(i) for i in structure.members[fast > PART * fast.max()]],
        joints=[structure.index(int(n)) for n in np.flatnonzero(pull > SLIGHT**2 * pull.max())],
        turns=bool(spin.max() > PART * fast.max()),
        changes=changes,
        fixed=fixed,
        size=structure.size,
    )


class _Fit:
    """The search for the least changes of the joints with which they hold wherever their bodies can then go."""

    def __init__(self, structure: Mechanism, rank: int) -> None:
        self.structure, self.rank = structure, rank
        self.changes = np.zeros((len(structure.firm), 6))  # of each joint: shift over the size, and turn
        self.wrong = 0.0  # m: what they leave

    def changes_for(self, weak: Floats) -> Floats | None:
        """Those that free the weak directions, if there are any."""
        structure = self.structure
        free = structure.free(WEAK)
        rng = np.random.default_rng(0)  # any directions will do: the freedoms are all in them
        samples = self.walk(weak[0])
        if not samples or not _is_slight(_least(*self.conditions(samples)[1:], np.ones(len(self.changes)))):
            return None  # as mostly: it is no lock by a hair
        ways = [*weak[1:WAYS], *(rng.normal(size=(WAYS, len(free))) @ free)]
        if not self.solve(samples + [pose for way in ways for pose in self.walk(way)]):
            return None
        structure.start = structure.look(*structure.start[:3])
        left = 10.0 * max(self.wrong, RIGHT * structure.size)
        others = [pose for way in rng.normal(size=(WAYS, len(free))) @ free for pose in self.walk(way)]
        still = REACH * np.linalg.norm(structure.start.left[:, self.rank :].T @ structure.start.acts, 2)
        held = still > 10.0 * left or any(abs(pose.residual).max() > left for pose in others)
        return None if held else self.changes

    def exact(self) -> bool:
        """Whether the joints then hold as well as if they had been written so: to rounding, and with rows of which each
        says something new or nothing, as `skyline.factor` takes them one by one."""
        structure, pivots = self.structure, []
        if self.wrong > RIGHT * structure.size:
            return False
        gram = structure.start.acts @ structure.start.acts.T
        scale = np.diag(gram).copy()
        for n, most in enumerate(scale):
            pivots.append(float(gram[n, n] / most))
            if pivots[-1] > REDUNDANT:
                gram -= np.outer(gram[n], gram[n]) / gram[n, n]
        return not any(REDUNDANT < pivot < PLAIN for pivot in pivots)

    def walk(self, along: Floats) -> list[Pose]:
        """Poses on a way that begins in this direction, and in the other, as far as it leads."""
        found, structure = [], self.structure
        for sign in (1.0, -1.0):
            pose, way = structure.start, sign * along
            for _ in range(STEPS):
                held = across(pose, self.rank)
                way = way - (held @ way) @ held
                each = way.reshape(-1, 6)
                turned = np.linalg.norm(each[:, 3:], axis=1) / structure.arm[structure.members]
                far = max(turned.max(), np.linalg.norm(each[:, :3], axis=1).max() / structure.size)
                way *= REACH / STEPS / far
                onwards = self.closed(pose._replace(**dict(zip(pose._fields, structure.moved(pose[:3], way)))))
                if onwards is None:
                    break
                pose = onwards
                found.append(pose)
        return found

    def closed(self, pose: Pose) -> Pose | None:
        return self.structure.closed(pose, self.rank, 0.5 * WEAK)

    def solve(self, samples: list[Pose]) -> bool:
        """Of all changes that would do the least, or one of as few as will do, where that is as right.

        Where several joints are off there may be none that is right to rounding but far away: then what is left is as
        small as the square of the changes, and they would let bodies move all the same.
        """
        first = self.conditions(samples)[0]
        if not self.meet(samples, np.ones(len(self.changes))) <= max(CLEARED * first, MET * self.structure.size):
            return False
        changes, met = self.changes, self.wrong
        if not self.meet(samples, self.few(samples)) <= max(2.0 * met, MET * self.structure.size):
            self.take(changes)
            self.wrong = met
        return True

    def meet(self, samples: list[Pose], weight: Floats) -> float:
        """Newton's method for the changes of the joints that are the least, so weighted; what is wrong at its end."""
        self.wrong = math.inf
        for n in range(TRIES):
            wrong, rows, goal = self.conditions(samples)
            if n > 0 and not wrong < self.wrong:
                break
            if n > 0:
                self.wrong = wrong
            if n > 0 and wrong <= MET * self.structure.size:
                break
            changes = _least(rows, goal, weight)
            if not _is_slight(changes):
                return math.inf
            self.take(changes)
            found = [self.closed(pose) for pose in samples]
            if any(pose is None for pose in found):
                return math.inf
            samples[:] = [pose for pose in found if pose is not None]
        return self.wrong

    def take(self, changes: Floats) -> None:
        self.changes = changes
        for joint, change in enumerate(changes):
            self.structure.change(joint, change)

    def few(self, samples: list[Pose]) -> Floats:
        """Weights with which as few joints as will do are changed: each by how much it would be, again and again."""
        conditions, changes, last = self.conditions(samples)[1:], self.changes, np.full_like(self.changes, np.inf)
        weight = later = 1.0 + 0.1 * np.arange(len(changes)) / len(changes)  # of two that are as good, the later
        for _ in range(ROUNDS):
            size = np.linalg.norm(changes, axis=1)
            if abs(changes - last).max() <= SLIGHT * size.max():
                break
            last, weight = changes, later * ((size / size.max()) ** 2 + SLIGHT**4)
            changes = _least(*conditions, weight)
        return weight

    def conditions(self, poses: list[Pose]) -> tuple[float, Floats, Floats]:
        """What bodies cannot close in some poses, at most, and what the changes of the joints have to be for that: only
        that asks for a change, and so where bodies go need not be sought with it. Rows and what they must amount to."""
        left = [pose.left[:, self.rank :].T for pose in poses]
        answers = self.structure.answers(poses, self.changes)
        wrong = np.concatenate([to @ pose.residual for to, pose in zip(left, poses)])
        mends = np.concatenate([to @ answer for to, answer in zip(left, answers)])
        both: Any = np.linalg.qr(np.c_[mends, mends @ self.changes.ravel() - wrong], mode="r")
        columns, sizes, rows = np.linalg.svd(both[:, :-1], full_matrices=False)
        counts = sizes > DETERMINED * sizes[0]
        return float(abs(wrong).max()), rows[counts], (columns.T @ both[:, -1])[counts] / sizes[counts]


def _least(rows: Floats, goal: Floats, weight: Floats) -> Floats:
    """The least changes of the joints, so weighted, that meet conditions."""
    scale = np.sqrt(np.repeat(weight, 6))
    changes: Floats = (scale * np.linalg.lstsq(rows * scale, goal, rcond=SLIGHT**3)[0]).reshape(-1, 6)
    return changes


def _is_slight(changes: Floats) -> bool:
    return bool(np.linalg.norm(changes, axis=1).max() <= MOST)
