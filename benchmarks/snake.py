"""A snake of nine links slides over the floor, against MuJoCo at the same step, in the same run.

    python benchmarks/snake.py

CPU time, one thread. The links are capsules on ball joints; all of them start with the same speed on a zigzag.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import mujoco
import numpy as np

from impel import Scene
from impel.stage import Performance

LINKS, RADIUS, LENGTH, MASS, SPEED, FRICTION = 9, 0.06, 0.3, 0.3, 2.0, 0.5
STEP, FRAMES, REPEATS = 1 / 480, 60, 5
ANGLES = np.radians([35.0 if i % 2 else -35.0 for i in range(LINKS)])


def joints_and_middles():
    steps = LENGTH * np.column_stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(LINKS)])
    ends = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)]) + np.array([0, 0, RADIUS])
    return ends, (ends[:-1] + ends[1:]) / 2


def our_snake() -> Scene:
    scene = Scene(seconds=10, step=STEP)
    scene.body("floor", plane={}, fixed=True, coating={"friction": FRICTION})
    ends, middles = joints_and_middles()
    for i in range(LINKS):
        scene.body(
            f"link{i}", capsule={"radius": RADIUS, "length": LENGTH}, mass=MASS, at=middles[i],
            euler=[0, 90, np.degrees(ANGLES[i])], velocity=[SPEED, 0, 0], coating={"friction": FRICTION},
        )  # fmt: skip
        if i:
            scene.joint(f"joint{i}", ball=[f"link{i - 1}", f"link{i}"], at=ends[i])
    return scene


def their_snake() -> tuple[mujoco.MjModel, mujoco.MjData]:
    def link(i: int) -> str:
        if i == LINKS:
            return ""
        turn = ANGLES[i] - (ANGLES[i - 1] if i else 0.0)
        joint = "<joint type='ball'/>" if i else "<freejoint/>"
        at = f"{LENGTH} 0 0" if i else f"0 0 {RADIUS}"
        return (
            f"<body pos='{at}' euler='0 0 {np.degrees(turn)}'>{joint}"
            f"<geom type='capsule' size='{RADIUS}' fromto='0 0 0 {LENGTH} 0 0' mass='{MASS}'/>{link(i + 1)}</body>"
        )

    text = (
        f"<mujoco><compiler eulerseq='xyz'/><option timestep='{STEP}'/><default><geom friction='{FRICTION}'/></default>"
        f"<worldbody><geom type='plane' size='0 0 1'/>{link(0)}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[0] = SPEED
    return model, data


def main() -> None:
    ours, theirs, ways = [], [], []
    for _ in range(REPEATS + 1):  # the first one compiles
        performance = Performance(our_snake())
        model, data = their_snake()
        steps = FRAMES * performance.compiled.pace.steps
        begin = time.process_time()
        for _ in range(FRAMES):
            performance.next_frame()
        between = time.process_time()
        mujoco.mj_step(model, data, steps)
        ours.append((between - begin) / steps * 1e6)
        theirs.append((time.process_time() - between) / steps * 1e6)
        ways.append((performance.stage.bodies.position[1:, 0].mean(), data.xipos[1:, 0].mean()))
    mine, other = min(ours[1:]), min(theirs[1:])
    print(
        f"snake of {LINKS} on a floor: {mine:.1f} µs a step, MuJoCo {other:.1f}: {mine / other:.2f}x (at most 3x); "
        f"its middle is at {ways[-1][0]:.2f} m after a second, MuJoCo's at {ways[-1][1]:.2f} m"
    )
    meet("snake", mine / other, at_most=3)
    end()


if __name__ == "__main__":
    main()
