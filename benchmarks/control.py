"""The bird's control (paper 003, figure 9), against MuJoCo's step of an equal bird.

    python benchmarks/control.py

One move and three turn actuators on a body with two hinged wings. MuJoCo flies the bird under this control and its states
are recorded; then the control alone is replayed on them in one compiled loop. CPU time, one thread, the same run.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import time

import mujoco
import numpy as np

from impel.control.actuators import steer
from impel.control.linkage import HINGE, Tie
from impel.control.specs import ActuatorSpec, make_actuators
from impel.kernel import kernel
from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
from impel.physics.bodies import make_bodies

STEP, STEPS = 1 / 480, 20_000
GRAVITY = (0.0, 0.0, -9.81)
WING = '<body pos="0 {0} 0.02"><joint axis="1 0 0" range="-70 70" limited="true"/><geom size="0.08 0.2 0.01" pos="0 {1} 0"/></body>'
BIRD = f"""<mujoco><option timestep="{STEP}" gravity="0 0 -9.81"/>
  <default><geom type="box" density="200" contype="0" conaffinity="0"/></default>
  <worldbody><body pos="0 0 1"><freejoint/><geom size="0.2 0.06 0.05"/>
    {WING.format(0.06, 0.2)}{WING.format(-0.06, -0.2)}</body></worldbody></mujoco>"""


@kernel
def replay(bodies, actuators, positions, orientations, velocities, spins, momenta, gravity, dt):
    last = 0.0
    for i in range(len(positions)):
        bodies.position[:] = positions[i]
        bodies.orientation[:] = orientations[i]
        bodies.velocity[:] = velocities[i]
        bodies.spin[:] = spins[i]
        bodies.momentum[:] = momenta[i]
        steer(bodies, actuators, gravity, last)
        last = dt


@kernel
def replay_without_control(bodies, positions, orientations, velocities, spins, momenta):
    for i in range(len(positions)):
        bodies.position[:] = positions[i]
        bodies.orientation[:] = orientations[i]
        bodies.velocity[:] = velocities[i]
        bodies.spin[:] = spins[i]
        bodies.momentum[:] = momenta[i]


class Bird:
    """MuJoCo's bird, seen as impel's bodies."""

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(BIRD)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.bodies = make_bodies(
            self.data.xipos[1:], self.orientations(), np.zeros((3, 3)), np.zeros((3, 3)),
            self.model.body_mass[1:], self.model.body_inertia[1:],
        )  # fmt: skip
        ties = [Tie(0, i - 1, self.data.xpos[i].copy(), HINGE, (1, 0, 0)) for i in (2, 3)]
        circle = [(3 * math.cos(a) - 3, 3 * math.sin(a), 1 + 0.2 * math.sin(3 * a)) for a in np.arange(12) * math.tau / 12]
        flap = [[(side * 40, 0, 0), (side * -30, 0, 0)] for side in (1, -1)]
        own = [self.bodies.orientation[i] for i in range(3)]

        def keys(body, euler):
            return [product(quaternion_from_euler(e), own[body]) for e in euler]

        specs = [
            ActuatorSpec(body=0, kind="move", keys=np.array(circle), loop=True, base=0.4, strength=None),
            ActuatorSpec(body=0, kind="turn", keys=np.array(keys(0, [(0, -15, 0), (0, 15, 0)])), loop=True, base=0.2, strength=None),
            *(
                ActuatorSpec(body=i, kind="turn", keys=np.array(keys(i, flap[i - 1])), loop=True, base=0.4, relaxation=0.04, strength=None)
                for i in (1, 2)
            ),
        ]
        self.actuators = make_actuators(specs, self.bodies, ties, gravity=9.81)

    def orientations(self):
        q = np.zeros((3, 4))
        for i in range(3):
            mujoco.mju_mat2Quat(q[i], self.data.ximat[i + 1])
        return q

    def look(self) -> None:
        b = self.bodies
        b.position[:] = self.data.xipos[1:]
        b.orientation[:] = self.orientations()
        v = np.zeros(6)
        for i in range(3):
            mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, i + 1, v, 0)
            b.spin[i], b.velocity[i] = v[:3], v[3:]
            r = matrix_from_quaternion(b.orientation[i])
            b.momentum[i] = r @ (b.inertia[i] * (r.T @ b.spin[i]))


def product(p, q):
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, np.asarray(p, float), np.asarray(q, float))
    return out


def measure() -> tuple[float, float, float]:
    """CPU µs per step: MuJoCo's step, our control, and how far the bird flew, in laps."""
    bird = Bird()
    names = ("position", "orientation", "velocity", "spin", "momentum")
    states: dict[str, list] = {name: [] for name in names}
    controls = []
    last = 0.0
    for _ in range(STEPS):
        bird.look()
        for name in names:
            states[name].append(getattr(bird.bodies, name).copy())
        steer(bird.bodies, bird.actuators, GRAVITY, last)
        bird.data.xfrc_applied[1:, :3] = bird.bodies.push
        bird.data.xfrc_applied[1:, 3:] = bird.bodies.twist
        controls.append(bird.data.xfrc_applied.copy())
        mujoco.mj_step(bird.model, bird.data)
        mujoco.mj_fwdPosition(bird.model, bird.data)
        mujoco.mj_fwdVelocity(bird.model, bird.data)
        last = STEP
    laps = float(bird.actuators.lap[0] + bird.actuators.segment[0] / 12)
    recorded = [np.array(states[name]) for name in names]

    fresh = Bird()
    replay(fresh.bodies, fresh.actuators, *(r[:10] for r in recorded), GRAVITY, STEP)
    replay_without_control(fresh.bodies, *(r[:10] for r in recorded))
    ours = []
    theirs = []
    for _ in range(5):
        fresh = Bird()
        start = time.process_time()
        replay(fresh.bodies, fresh.actuators, *recorded, GRAVITY, STEP)
        middle = time.process_time()
        replay_without_control(fresh.bodies, *recorded)
        end = time.process_time()
        ours.append(((middle - start) - (end - middle)) / STEPS)
        # One call of nstep steps each, so that no Python is timed: the wings rest, the cost does not depend on it.
        model, data = fresh.model, mujoco.MjData(fresh.model)
        data.qvel[:] = 0.1
        start = time.process_time()
        mujoco.mj_step(model, data, STEPS)
        theirs.append((time.process_time() - start) / STEPS)
    return 1e6 * min(theirs), 1e6 * min(ours), laps


def main() -> None:
    theirs, ours, laps = measure()
    print(f"MuJoCo's step of the bird  {theirs:7.3f} µs")
    print(f"our control of it          {ours:7.3f} µs   {100 * ours / theirs:.1f} % (claimed: at most 25 %)   {laps:.1f} laps flown")


if __name__ == "__main__":
    main()
