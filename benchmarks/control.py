"""The bird's control (paper 003, figure 9), against MuJoCo's step of an equal bird.

    python benchmarks/control.py

One move and three turn actuators on a body with two hinged wings. MuJoCo flies the bird under this control; states
and forces are recorded. Then both sides repeat that flight, each in one compiled loop: MuJoCo under the recorded
forces, our control on the recorded states. CPU time, one thread, the same run.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import time
from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco import rollout

from impel.control.actuators import steer
from impel.control.appointments import Agreed
from impel.control.clocks import Timing
from impel.control.linkage import HINGE, Tie
from impel.control.specs import ActuatorSpec, make_actuators
from impel.kernel import kernel
from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
from impel.motion.rotations import get3, get4, set3, set4
from impel.physics.bodies import make_bodies

STEP, STEPS = 1 / 480, 20_000
FULL, APPLIED = mujoco.mjtState.mjSTATE_FULLPHYSICS, mujoco.mjtState.mjSTATE_XFRC_APPLIED.value
GRAVITY = (0.0, 0.0, -9.81)
WING = """<body pos="0 {0} 0.02"><joint axis="1 0 0" range="-70 70" limited="true"/>
  <geom size="0.08 0.2 0.01" pos="0 {1} 0"/></body>"""
BIRD = f"""<mujoco><option timestep="{STEP}" gravity="0 0 -9.81"/>
  <default><geom type="box" density="200"/></default>
  <worldbody><body pos="0 0 1"><freejoint/><geom size="0.2 0.06 0.05"/>
    {WING.format(0.06, 0.2)}{WING.format(-0.06, -0.2)}</body></worldbody></mujoco>"""


@kernel
def replay(bodies, actuators, positions, orientations, velocities, spins, momenta, gravity, dt):
    """Put the bodies through their states; with actuators, steer at each."""
    last = 0.0
    for i in range(len(positions)):
        for k in range(len(bodies.mass)):
            set3(bodies.position, k, get3(positions[i], k))
            set4(bodies.orientation, k, get4(orientations[i], k))
            set3(bodies.velocity, k, get3(velocities[i], k))
            set3(bodies.spin, k, get3(spins[i], k))
            set3(bodies.momentum, k, get3(momenta[i], k))
        if actuators is not None:
            steer(bodies, actuators, gravity, dt, last)
        last = dt


class Bird:
    """MuJoCo's bird, seen as impel's bodies; of some kinds of actuators the keys have times, so many seconds a lap."""

    def __init__(self, timed: Sequence[str] = (), lap: float = 6.0, agreed: Sequence[Agreed] = ()) -> None:
        self.model = mujoco.MjModel.from_xml_string(BIRD)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.bodies = make_bodies(
            self.data.xipos[1:], self.orientations(), np.zeros((3, 3)), np.zeros((3, 3)),
            self.model.body_mass[1:], self.model.body_inertia[1:],
        )  # fmt: skip
        ties = [Tie(0, i - 1, self.data.xpos[i].copy(), HINGE, (1, 0, 0)) for i in (2, 3)]
        round_about = np.arange(12) * math.tau / 12
        circle = [(3 * math.cos(a) - 3, 3 * math.sin(a), 1 + 0.2 * math.sin(3 * a)) for a in round_about]
        flap = [[(side * 40, 0, 0), (side * -30, 0, 0)] for side in (1, -1)]
        own = [self.bodies.orientation[i] for i in range(3)]

        def wish(body, kind, keys, base, relaxation=0.06):
            if kind == "turn":
                keys = [product(quaternion_from_euler(e), own[body]) for e in keys]
            timing = None
            if kind in timed:
                timing = Timing(spans=np.full(len(keys), lap / len(keys)), told=np.zeros((len(keys), 4)))
            return ActuatorSpec(
                body=body, kind=kind, keys=np.array(keys), loop=True, base=base, relaxation=relaxation, strength=None,
                timing=timing,
            )  # fmt: skip

        specs = [
            wish(0, "move", circle, base=0.4),
            wish(0, "turn", [(0, -15, 0), (0, 15, 0)], base=0.2),
            wish(1, "turn", flap[0], base=0.4, relaxation=0.04),
            wish(2, "turn", flap[1], base=0.4, relaxation=0.04),
        ]
        self.actuators = make_actuators(specs, self.bodies, ties, gravity=9.81, agreed=agreed)

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


class Flight:
    """A recorded flight of the bird: what our control is evaluated on, and the forces that MuJoCo repeats it with."""

    def __init__(self) -> None:
        bird = Bird()
        self.start = np.zeros((1, mujoco.mj_stateSize(bird.model, FULL)))
        mujoco.mj_getState(bird.model, bird.data, self.start[0], FULL)
        names = ("position", "orientation", "velocity", "spin", "momentum")
        states: dict[str, list[np.ndarray]] = {name: [] for name in names}
        forces = []
        for i in range(STEPS):
            bird.look()
            for name in names:
                states[name].append(getattr(bird.bodies, name).copy())
            steer(bird.bodies, bird.actuators, GRAVITY, STEP, STEP if i else 0.0)
            bird.data.xfrc_applied[1:] = np.hstack([bird.bodies.push, bird.bodies.twist])
            forces.append(bird.data.xfrc_applied.ravel().copy())
            mujoco.mj_step(bird.model, bird.data)
            mujoco.mj_fwdPosition(bird.model, bird.data)
            mujoco.mj_fwdVelocity(bird.model, bird.data)
        self.bird, self.forces = bird, np.array(forces)[None]
        self.recorded = [np.array(states[name]) for name in names]

    def control(self, **kind) -> float:
        """CPU µs per step of the control of a bird."""
        fresh = Bird(**kind)
        times = [time.process_time()]
        replay(fresh.bodies, fresh.actuators, *self.recorded, GRAVITY, STEP)
        times.append(time.process_time())
        replay(fresh.bodies, None, *self.recorded, GRAVITY, STEP)
        times.append(time.process_time())
        if not kind:
            assert np.array_equal(fresh.actuators.lap, self.bird.actuators.lap)
        with_control, copying = np.diff(times) / STEPS * 1e6
        return with_control - copying

    def mujoco(self) -> float:
        """CPU µs per step of MuJoCo."""
        model = self.bird.model
        begun = time.process_time()
        flown, _ = rollout.rollout(model, mujoco.MjData(model), self.start, self.forces, control_spec=APPLIED)
        spent = time.process_time() - begun
        assert np.array_equal(flown[0, -1, 1:4], self.bird.data.qpos[:3])  # the same flight
        return spent / STEPS * 1e6


def measure() -> tuple[float, float, float]:
    """CPU µs per step of MuJoCo and of our control, and how far the bird flew, in laps."""
    flight = Flight()
    laps = float(flight.bird.actuators.lap[0] + flight.bird.actuators.segment[0] / 12)
    rounds = [(flight.mujoco(), flight.control()) for _ in range(8)]  # the first round compiles
    return min(theirs for theirs, _ in rounds), min(ours for _, ours in rounds), laps


def main() -> None:
    theirs, ours, laps = measure()
    print(f"MuJoCo's step of the bird  {theirs:6.3f} µs   ({laps:.1f} laps flown)")
    print(f"our control of it          {ours:6.3f} µs   {100 * ours / theirs:.1f} % (at most 25 %)")
    meet("control of the bird, %", 100 * ours / theirs, at_most=25)
    end()


if __name__ == "__main__":
    main()
