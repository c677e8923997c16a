"""A nine-link chain, 2 s at 1 ms: CPU time a step and error of impel and of MuJoCo's Euler, in the same run.

Errors are the largest distance of any link from MuJoCo's RK4 at 0.1 ms, which is taken for the truth.
"""

import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from _bars import end, meet

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "physics"))
from jointed import GRAVITY, NOTHING_TOLD, advance, chain, follow, mujoco_chain, mujoco_positions

SECONDS, DT, REPEATS = 2.0, 1e-3, 7
BARS = {"ball": 0.6, "hinge": 1.5}


def cpu_time(prepare, run):
    """Least seconds of CPU that a run takes, of several: the one that was disturbed least."""
    times = []
    for _ in range(REPEATS):
        state = prepare()
        begin = time.process_time()
        run(*state)
        times.append(time.process_time() - begin)
    return min(times)


def measure(kind):
    """Microseconds a step and error in mm: ours, MuJoCo's."""
    steps = round(SECONDS / DT)
    truth = mujoco_positions(mujoco_chain(kind), SECONDS, 10 * DT)
    ours = follow(*chain(kind), SECONDS, dt=DT)[0]
    model = mujoco_chain(kind, integrator="Euler", dt=DT)
    theirs = mujoco_positions(model, SECONDS, 10 * DT)
    errors = [1e3 * np.linalg.norm(x - truth, axis=-1).max() for x in (ours, theirs)]
    mine = cpu_time(lambda: chain(kind), lambda b, j: advance(b, j, GRAVITY, DT, steps, NOTHING_TOLD))
    other = cpu_time(lambda: (model, mujoco.MjData(model)), lambda m, d: mujoco.mj_step(m, d, steps))
    return 1e6 * mine / steps, 1e6 * other / steps, *errors


def main():
    print("chain of 9    impel µs   MuJoCo µs   ratio   impel mm   MuJoCo mm   accuracy")
    for kind in ("ball", "hinge"):
        mine, other, error, their_error = measure(kind)
        print(
            f"{kind:12s} {mine:9.1f} {other:11.1f} {mine / other:7.2f} {error:10.4f} {their_error:11.2f} "
            f"{their_error / error:9.0f}x"
        )
        meet(f"chain of {kind}s, against MuJoCo", mine / other, at_most=BARS[kind])
        meet(f"chain of {kind}s, mm", error, at_most=0.111)
    end()


if __name__ == "__main__":
    main()
