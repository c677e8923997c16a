"""Wind-up toys: four-second trials against `mujoco.rollout` in the same run, both cores, compile times, bifurcation.

    python benchmarks/toys.py

CPU time on one thread unless it says wall time. MuJoCo is given its best settings for such small figures:
implicitfast, dense Jacobian, no islands, no mid-phase, no sensors.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "toys"))
from mujoco_figure import model_of

from impel.toys.figure import load_figure
from impel.toys.periods import bifurcate
from impel.toys.toy import toy_of
from impel.toys.trials import run_trials, start_state

SECONDS, TRIALS, THEIR_TRIALS, REPEATS = 4.0, 1024, 32, 3
NEEDED = {"luxo": (100, 25), "bounder": (80, 20), "cheetah": (80, 20)}  # at an equal 1 ms, against MuJoCo at 4 ms
NOTES = np.radians([(-60, -97.8), (-53.8, -88.1), (-6.7, -140), (-5.8, 28.5)])


def never_falling(name):
    """So that every trial lasts its four seconds, as MuJoCo's do."""
    figure = load_figure(name)
    figure.fall = 1e9
    return figure


def random_poses(figure, count):
    low, high = np.radians(np.array(figure.ranges())).T
    return np.random.default_rng(0).uniform(low, high, (count, 4, len(low)))


def least(run, *, clock=time.process_time):
    """The run that was disturbed least."""
    times = []
    for _ in range(REPEATS):
        begin = clock()
        run()
        times.append(clock() - begin)
    return min(times)


def our_rate(figure, step, *, count=TRIALS):
    """Trials per CPU second."""
    poses = random_poses(figure, count)
    run_trials(figure, poses[:8], figure.cycle.time, seconds=0.01)
    return count / least(lambda: run_trials(figure, poses, figure.cycle.time, seconds=SECONDS, step=step, threads=1))


def their_rate(figure, step):
    model = model_of(figure, step=step, integrator="implicitfast", native=True)
    data = mujoco.MjData(model)
    steps = round(SECONDS / step)
    poses = random_poses(figure, THEIR_TRIALS)
    phase = (np.arange(steps) * step / figure.cycle.time).astype(int) % 4
    controls = np.ascontiguousarray(poses[:, phase])
    data.qpos[1] = start_state(figure)[1]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.tile(state, (THEIR_TRIALS, 1))
    return THEIR_TRIALS / least(lambda: rollout.rollout(model, data, states, controls))


def compare():
    print("4 s trials per CPU second, one thread")
    print("figure    impel 1 ms  impel 0.5 ms  MuJoCo 1 ms  MuJoCo 4 ms   equal 1 ms    against 4 ms")
    for name, (equal, coarse) in NEEDED.items():
        figure = never_falling(name)
        ours, fine = our_rate(figure, 1e-3), our_rate(figure, 0.5e-3)
        theirs, theirs_coarse = their_rate(figure, 1e-3), their_rate(figure, 4e-3)
        print(
            f"{name:9} {ours:10.0f} {fine:13.0f} {theirs:12.0f} {theirs_coarse:12.0f}"
            f" {ours / theirs:6.0f}x (≥{equal}) {ours / theirs_coarse:7.0f}x (≥{coarse})"
        )
        meet(f"{name}, equal steps", ours / theirs, at_least=equal)
        meet(f"{name}, against 4 ms", ours / theirs_coarse, at_least=coarse)


WORKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from toys import SECONDS, never_falling, random_poses
from impel.toys.trials import run_trials
figure = never_falling("luxo")
poses = random_poses(figure, int(sys.argv[2]))
run_trials(figure, poses[:8], 0.14, seconds=0.01)
for line in sys.stdin:
    run_trials(figure, poses, 0.14, seconds=SECONDS, threads=1)
    print("done", flush=True)
"""


def cores(*, count=8192, rounds=7):
    """Wall time of two threads in one process and of two processes with half the trials each, alternating."""
    figure = never_falling("luxo")
    poses = random_poses(figure, count)
    command = [sys.executable, "-c", WORKER, str(Path(__file__).parent), str(count // 2)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) for _ in range(2)
    ]

    def processes():
        for worker in workers:
            worker.stdin.write("go\n")
        for worker in workers:
            worker.stdout.readline()

    def threads():
        run_trials(figure, poses, 0.14, seconds=SECONDS, threads=2)

    processes()
    threads()
    spent = {processes: [], threads: []}
    for _ in range(rounds):
        for way in spent:
            begin = time.perf_counter()
            way()
            spent[way].append(time.perf_counter() - begin)
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    share = np.median(spent[processes]) / np.median(spent[threads])
    print(f"two threads reach {share:.2f} of two processes (≥ 0.9), wall time, {count} Luxo trials")
    meet("two threads", share, at_least=0.9)


START = """
import sys, time
from impel.toys.figure import load_figure
from impel.toys.trials import run_trials
import numpy as np
figure = load_figure(sys.argv[1])
begin = time.process_time()
run_trials(figure, np.zeros((1, 4, len(figure.active))), 0.1, seconds=0.01)
print(time.process_time() - begin)
"""


def compile_times():
    for name in NEEDED:
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"IMPEL_CACHE_DIR": cache}
            command = [sys.executable, "-c", START, name]
            first, second = (
                float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
                for _ in range(2)
            )
        print(f"{name:9} compiles in {first:.1f} CPU s (≤ 10), starts from the cache in {second:.2f} (≤ 1)")
        meet(f"{name} compiles", first, at_most=10)
        meet(f"{name} starts", second, at_most=1)


def bifurcation():
    figure = load_figure("luxo")
    toy = toy_of(figure, NOTES, 0.14)
    values = np.linspace(0.036, 0.14, 400)
    spent = least(lambda: bifurcate(toy, figure, "times.2", values, cycles=260, threads=1))
    trials = spent * our_rate(never_falling("luxo"), 0.25e-3, count=256)
    print(f"bifurcation, 400 values x 260 cycles: {spent:.1f} CPU s, that of {trials:.0f} trials at 0.25 ms (≤ 15000)")
    meet("bifurcation", trials, at_most=15000)


def main():
    compare()
    compile_times()
    bifurcation()
    cores()
    end()


if __name__ == "__main__":
    main()
