"""A thousand boxes dropped into a bin, for ten seconds, against MuJoCo; and what the settled heap costs.

    python benchmarks/boxes.py

CPU time, one thread, both engines in the same run. MuJoCo steps by 2 ms, its default, without sleep.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time

import mujoco
import numpy as np

from impel import Scene
from impel.stage import Performance

SIDE, INSIDE = 0.1, 1.2  # m
WALLS = (
    [([INSIDE + 0.4, INSIDE + 0.4, 0.2], [0, 0, -0.1])]
    + [([0.2, INSIDE + 0.4, 2.0], [side * (INSIDE / 2 + 0.1), 0, 1.0]) for side in (-1, 1)]
    + [([INSIDE + 0.4, 0.2, 2.0], [0, side * (INSIDE / 2 + 0.1), 1.0]) for side in (-1, 1)]
)


def dropped(count):
    """Places and Euler angles of boxes in loose layers, each over the gaps of the one below, tilted at random."""
    rng = np.random.default_rng(0)
    grid = np.array([(x, y, z) for z in range(count // 64 + 1) for x in range(8) for y in range(8)][:count], float)
    at = grid * [0.138, 0.138, 0.14] + [-0.5175, -0.5175, 0.12]
    at[:, :2] += np.where(grid[:, 2:] % 2 == 1, 0.069, 0.0)
    return at + rng.uniform(-0.01, 0.01, at.shape), rng.uniform(-40, 40, (count, 3))


def ours(count, seconds):
    """CPU seconds of each frame of the drop, the speed at the end, and how many sleep."""
    scene = Scene(seconds=seconds)
    for k, (size, at) in enumerate(WALLS):
        scene.body(f"wall {k}", box=size, at=at, fixed=True)
    for i, (at, euler) in enumerate(zip(*dropped(count))):
        scene.body(f"box {i}", box=[SIDE] * 3, mass=1, at=at.tolist(), euler=euler.tolist())
    Performance(scene).next_frame()  # compiled
    performance = Performance(scene)
    spent = []
    for _ in range(round(seconds * 60)):
        start = time.process_time()
        performance.next_frame()
        spent.append(time.process_time() - start)
    bodies = performance.stage.bodies
    fastest = float(np.linalg.norm(bodies.velocity, axis=1).max())
    return spent, fastest, int(bodies.asleep.sum())


def theirs(count, seconds, patience):
    """CPU seconds of MuJoCo for the same until patience ran out, how far it came, and the speed then."""
    boxes = "".join(
        f'<body pos="{at[0]} {at[1]} {at[2]}" euler="{e[0]} {e[1]} {e[2]}"><freejoint/>'
        f'<geom type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="1" friction="0.6"/></body>'
        for at, e in zip(*dropped(count))
    )
    walls = "".join(
        f'<geom type="box" size="{s[0] / 2} {s[1] / 2} {s[2] / 2}" pos="{p[0]} {p[1]} {p[2]}" friction="0.6"/>'
        for s, p in WALLS
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler eulerseq="XYZ"/><option timestep="0.002" solver="CG"/><size memory="1G"/>'
        f"<worldbody>{walls}{boxes}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    start = time.process_time()
    while data.time < seconds and time.process_time() - start < patience:
        mujoco.mj_step(model, data, 10)
    spent = time.process_time() - start
    fastest = float(np.linalg.norm(data.qvel.reshape(-1, 6)[:, :3], axis=1).max())
    return spent, float(data.time), fastest


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    spent, fastest, asleep = ours(count, 10)
    print(
        f"{count} boxes in a bin, 10 s from drop to rest: {sum(spent):.1f} CPU s (wanted at most 10), the last second "
        f"{sum(spent[-60:]):.3f} (wanted 0.1), fastest {fastest * 1e3:.2f} mm/s (wanted 1), {asleep} asleep",
        flush=True,
    )
    still = fastest
    taken, reached, fastest = theirs(count, 10, patience=60)
    same = sum(spent[: round(60 * reached)])
    print(
        f"MuJoCo (CG): {taken:.1f} CPU s for the first {reached:.2f} s, fastest then {fastest * 1e3:.2f} mm/s; "
        f"impel {same:.1f} CPU s for these, ratio {same / taken:.2f} (wanted at most 1)"
    )
    meet("boxes, drop to rest", sum(spent), at_most=10)
    meet("boxes, last second", sum(spent[-60:]), at_most=0.1)
    meet("boxes, mm/s at rest", still * 1e3, at_most=1)
    meet("boxes, against MuJoCo", same / taken, at_most=1)
    end()
