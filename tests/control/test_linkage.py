"""Structures of bodies: MuJoCo says whether the forces do what the actuators wished.

Forces come along trees where every freedom is driven, or from asking the joints: both must give the same motion.
"""

import math

import mujoco
import numpy as np
import pytest

from impel.control.actuators import steer
from impel.control.linkage import BALL, HINGE, OTHER, ROPE, WELD, Tie, make_linkage
from impel.control.specs import ActuatorSpec, make_actuators
from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
from impel.physics.assembly import assemble
from impel.physics.bodies import make_bodies
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import make_joints
from impel.stage.handles import make_handles
from impel.stage.step import control

BOX = (0.2, 0.06, 0.04)  # half sizes of every link, metres
EARTH = (0.0, 0.0, -9.81)
TINY = 1e-7  # s: a step so short that means over it are values at its beginning


def xml(links: str, gravity: str) -> str:
    return f"""<mujoco><option timestep="0.001" gravity="{gravity}"/>
      <default><geom type="box" density="300" contype="0" conaffinity="0"/></default>
      <worldbody>{links}</worldbody></mujoco>"""


def geom(x: float) -> str:
    return f'<geom size="{BOX[0]} {BOX[1]} {BOX[2]}" pos="{x} 0 0"/>'


def arm(joint: str, n: int = 3) -> str:
    inner = ""
    for i in range(n, 0, -1):
        place = "0 0 1" if i == 1 else "0.4 0 0"
        inner = f'<body name="link{i}" pos="{place}">{joint}{geom(0.2)}{inner}</body>'
    return inner


def bird(joint: str) -> str:
    wing = '<body name="{0}" pos="0 {1} 0.03">{2}<geom size="0.05 0.2 0.01" pos="0 {3} 0"/></body>'
    left = wing.format("left", 0.06, joint, 0.2)
    right = wing.format("right", -0.06, joint, -0.2)
    return f'<body name="torso" pos="0 0 1"><freejoint/>{geom(0)}{left}{right}</body>'


class Oracle:
    """A MuJoCo model seen as impel's bodies: states go one way, forces the other."""

    def __init__(self, links: str, gravity: str = "0 0 0"):
        self.model = mujoco.MjModel.from_xml_string(xml(links, gravity))
        self.data = mujoco.MjData(self.model)
        self.count = self.model.nbody - 1
        mujoco.mj_forward(self.model, self.data)
        # One fixed body stands for the world, last.
        self.bodies = make_bodies(
            np.vstack([self.data.xipos[1:], np.zeros(3)]),
            np.vstack([self._orientations(), [1, 0, 0, 0]]),
            np.zeros((self.count + 1, 3)),
            np.zeros((self.count + 1, 3)),
            np.append(self.model.body_mass[1:], np.inf),
            np.vstack([self.model.body_inertia[1:], np.full(3, np.inf)]),
        )

    def _orientations(self):
        q = np.zeros((self.count, 4))
        for i in range(self.count):
            mujoco.mju_mat2Quat(q[i], self.data.ximat[i + 1])
        return q

    def ties(self, kind=BALL):
        found = []
        for i in range(1, self.model.nbody):
            joint = self.model.body_jntadr[i]
            if joint >= 0 and self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
                continue
            axis = self.data.xaxis[joint] if kind == HINGE else (0, 0, 1)
            parent = (self.model.body_parentid[i] - 1) % (self.count + 1)
            found.append(Tie(int(parent), i - 1, self.data.xpos[i].copy(), kind, np.array(axis)))
        return found

    def look(self):
        """Copy MuJoCo's state into the bodies."""
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        b = self.bodies
        n = self.count
        b.position[:n] = self.data.xipos[1:]
        b.orientation[:n] = self._orientations()
        for i in range(n):
            spin, velocity = self._velocity(i)
            b.spin[i], b.velocity[i] = spin, velocity
            r = matrix_from_quaternion(b.orientation[i])
            b.momentum[i] = r @ (b.inertia[i] * (r.T @ spin))

    def _velocity(self, i):
        v = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, i + 1, v, 0)
        spin, at_frame = v[:3], v[3:]  # mjOBJ_BODY: at the inertial frame
        return spin, at_frame

    def push(self):
        self.data.xfrc_applied[1:, :3] = self.bodies.push[: self.count]
        self.data.xfrc_applied[1:, 3:] = self.bodies.twist[: self.count]

    def accelerations(self):
        """Of every body's centre, linear and angular, in the world, by differences of velocities over a tiny time."""
        q, v = self.data.qpos.copy(), self.data.qvel.copy()
        mujoco.mj_forward(self.model, self.data)
        qacc = self.data.qacc.copy()
        h = 1e-5
        states = []
        for side in (-h, h):
            self.data.qpos[:] = q
            mujoco.mj_integratePos(self.model, self.data.qpos, v + 0.5 * side * qacc, side)
            self.data.qvel[:] = v + side * qacc
            mujoco.mj_fwdPosition(self.model, self.data)
            mujoco.mj_fwdVelocity(self.model, self.data)
            states.append([np.concatenate(self._velocity(i)) for i in range(self.count)])
        self.data.qpos[:], self.data.qvel[:] = q, v
        rates = (np.array(states[1]) - np.array(states[0])) / (2 * h)
        return rates[:, 3:], rates[:, :3]


def hold(kind, body, keys, **more):
    return ActuatorSpec(body=body, kind=kind, keys=np.array(keys, float), **{"base": 10.0, **more})


def upright(euler):
    return quaternion_from_euler(np.array([euler], float))


ball_joint = '<joint type="ball"/>'


class Asked:
    """Steers by asking the joints, even where a tree could tell."""

    def __init__(self, oracle, actuators, ties):
        specs = [
            JointSpec(("ball", "hinge", "weld")[tie.kind], tie.a, tie.b, tie.at, axis=tuple(tie.axis)) for tie in ties
        ]
        self.joints = make_joints(specs, oracle.bodies) if specs else None
        if self.joints is not None:
            assemble(oracle.bodies, self.joints)
        self.handles = make_handles(actuators, oracle.bodies, self.joints)
        actuators.linkage.driven[:] = 0
        self.actuators = actuators

    def __call__(self, bodies, gravity, dt, dt_last):
        if self.joints is not None:
            assemble(bodies, self.joints)  # which aims the joints at the present pose
        control(bodies, self.joints, None, self.actuators, self.handles, gravity, dt, dt_last, dt)


def shake(oracle, rng):
    """Any pose and any speed."""
    oracle.data.qvel[:] = rng.normal(0, 2, oracle.model.nv)
    mujoco.mj_integratePos(oracle.model, oracle.data.qpos, rng.normal(0, 0.5, oracle.model.nv), 1.0)
    oracle.look()


HINGED = '<joint type="hinge" axis="0 1 0"/>'


@pytest.mark.parametrize("links", [arm(ball_joint, 1), arm(ball_joint, 3), bird(ball_joint)])
@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("asked", [True, False])
def test_accelerations_are_what_was_wished(links, moved, asked):
    """Every body turned, the root moved or held or drifting: no body disturbs another, at any speed."""
    rng = np.random.default_rng(3)
    oracle = Oracle(links, "0 0 -9.81")
    specs = [hold("turn", i, upright(rng.uniform(-30, 30, 3))) for i in range(oracle.count)]
    if "torso" in links and moved:
        specs.append(hold("move", 0, [[0.3, 0.2, 1.1]]))
    actuators = make_actuators(specs, oracle.bodies, oracle.ties())
    if not asked and not actuators.linkage.driven.all():
        pytest.skip("no tree can tell what drifts")
    by_asking = Asked(oracle, actuators, oracle.ties()) if asked else None
    shake(oracle, rng)
    if by_asking:
        by_asking(oracle.bodies, EARTH, TINY, 0.0)
    else:
        steer(oracle.bodies, actuators, EARTH, TINY, 0.0)
    oracle.push()
    linear, angular = oracle.accelerations()
    for a, spec in enumerate(specs):
        reached = angular if spec.kind == "turn" else linear
        np.testing.assert_allclose(reached[spec.body], actuators.wish[a], atol=1e-4 * np.abs(actuators.wish).max())


@pytest.mark.parametrize("links", [arm(HINGED, 3), arm(ball_joint, 2), bird(ball_joint), bird(HINGED)])
def test_trees_and_joints_tell_the_same(links):
    """To rounding, in the accelerations that come of it: forces that joints take up may differ."""
    rng = np.random.default_rng(5)
    oracle = Oracle(links, "0 0 -9.81")
    kind = HINGE if HINGED in links else BALL
    ties = oracle.ties(kind)
    hinged = kind == HINGE and "torso" not in links
    turns = [[0, a, 0] if hinged else rng.uniform(-30, 30, 3) for a in rng.uniform(-60, 60, oracle.count)]
    if kind == HINGE and "torso" in links:
        turns = [turns[0]] * 3
    specs = [hold("turn", i, upright(turns[i])) for i in range(oracle.count)]
    if "torso" in links:
        specs.append(hold("move", 0, [[0.3, 0.2, 1.1]]))
    actuators = make_actuators(specs, oracle.bodies, ties, 9.81)
    assert actuators.linkage.driven.all()
    found = []
    for way in ("tree", "asked"):
        oracle.look()
        if way == "tree":
            steer(oracle.bodies, actuators, EARTH, TINY, 0.0)
        else:
            Asked(oracle, actuators, ties)(oracle.bodies, EARTH, TINY, 0.0)
        oracle.push()
        mujoco.mj_forward(oracle.model, oracle.data)
        found.append(oracle.data.qacc.copy())
    np.testing.assert_allclose(found[1], found[0], atol=1e-9 * np.abs(found[0]).max())


@pytest.mark.parametrize(("kind", "moving"), [(HINGE, False), (BALL, False), (WELD, False), (WELD, True)])
def test_passive_bodies_are_felt_through_their_joints(kind, moving):
    """A torso turned and moved alone feels the wings; not how they swing by themselves."""
    joint = {HINGE: '<joint type="hinge" axis="1 0 0"/>', WELD: "", BALL: ball_joint}[kind]
    oracle = Oracle(bird(joint), "0 0 -9.81")
    specs = [hold("turn", 0, upright([0, 0, 40])), hold("move", 0, [[0, 0, 1]])]
    ties = oracle.ties(kind)
    actuators = make_actuators(specs, oracle.bodies, ties)
    by_asking = Asked(oracle, actuators, ties)
    oracle.look()
    if moving:
        shake(oracle, np.random.default_rng(8))
    by_asking(oracle.bodies, EARTH, TINY, 0.0)
    oracle.push()
    linear, angular = oracle.accelerations()
    np.testing.assert_allclose(angular[0], actuators.wish[0], atol=1e-4 * np.abs(actuators.wish).max())
    np.testing.assert_allclose(linear[0], actuators.wish[1], atol=1e-4 * np.abs(actuators.wish).max())


@pytest.mark.parametrize("joint", [HINGED, ball_joint])
def test_the_tip_of_an_arm_that_only_it_moves_accelerates_as_wished(joint):
    oracle = Oracle(arm(joint, 3), "0 0 -9.81")
    ties = oracle.ties(HINGE if joint == HINGED else BALL)
    actuators = make_actuators([hold("move", 2, [[0.8, 0, 1.3]])], oracle.bodies, ties)
    by_asking = Asked(oracle, actuators, ties)
    rng = np.random.default_rng(11)
    mujoco.mj_integratePos(oracle.model, oracle.data.qpos, rng.normal(0, 0.6, oracle.model.nv), 1.0)
    oracle.look()
    by_asking(oracle.bodies, EARTH, TINY, 0.0)
    oracle.push()
    linear, _ = oracle.accelerations()
    free = [0, 2] if joint == HINGED else [0, 1, 2]
    scale = np.abs(actuators.wish[0]).max() + 10
    np.testing.assert_allclose(linear[2][free], actuators.wish[0][free], atol=1e-3 * scale)


@pytest.mark.parametrize("links", [arm(ball_joint, 3), bird(ball_joint)])
@pytest.mark.parametrize("asked", [True, False])
def test_what_is_learnt_at_once_is_the_weight(links, asked):
    """What a correction that does not know its weight learns from one step is what holds every body still."""
    oracle = Oracle(links, "0 0 -9.81")
    specs = [hold("turn", i, oracle.bodies.orientation[i : i + 1], adaptation=math.inf) for i in range(oracle.count)]
    if "torso" in links:
        specs.append(hold("move", 0, oracle.bodies.position[:1], adaptation=math.inf))
    actuators = make_actuators(specs, oracle.bodies, oracle.ties(), 9.81)
    actuators.knows[:] = 0
    steering = Asked(oracle, actuators, oracle.ties()) if asked else None
    last = 0.0
    for _ in range(3):
        oracle.look()
        if steering:
            steering(oracle.bodies, EARTH, oracle.model.opt.timestep, last)
        else:
            steer(oracle.bodies, actuators, EARTH, oracle.model.opt.timestep, last)
        last = oracle.model.opt.timestep
        oracle.push()
        mujoco.mj_step(oracle.model, oracle.data)
    mujoco.mj_forward(oracle.model, oracle.data)
    assert np.abs(oracle.data.qacc).max() < 0.5  # it fell with 9.81 m/s² or more


@pytest.mark.parametrize("wn", [4.5, 20.0])
@pytest.mark.parametrize("tip", [1.0, 5.0])
def test_three_link_arm_turns_like_a_free_body_and_does_not_sag(wn, tip):
    oracle = Oracle(arm('<joint type="hinge" axis="0 1 0"/>'), "0 0 -9.81")
    oracle.model.body_mass[3] *= tip
    oracle.model.body_inertia[3] *= tip
    mujoco.mj_setConst(oracle.model, oracle.data)
    oracle = _rebuilt(oracle)
    relaxation = math.sqrt(0.2) / wn
    start = [oracle.bodies.orientation[i : i + 1] for i in range(3)]
    turned = upright([0, -30, 0])
    specs = [
        hold("turn", i, np.vstack([start[i], turned]), base=math.radians(40), relaxation=relaxation, elasticity=0.7)
        for i in range(3)
    ]
    # Held first, then turned by 30° at once.
    holding = [hold("turn", i, start[i], base=math.radians(40), relaxation=relaxation) for i in range(3)]
    actuators = make_actuators(holding, oracle.bodies, oracle.ties(HINGE))
    reach = 1.2
    tip_at = _steps(oracle, actuators, 5.0)
    assert np.linalg.norm(tip_at[-1] - [reach, 0, 1]) < 0.01 * reach
    actuators = make_actuators(specs, oracle.bodies, oracle.ties(HINGE))
    tip_at = _steps(oracle, actuators, 2.5)
    elevation = np.degrees(np.arctan2(tip_at[:, 2] - 1, tip_at[:, 0]))
    assert elevation.max() == pytest.approx(30 * 1.046, abs=0.9)
    assert np.linalg.norm(tip_at[-1] - [reach * math.cos(math.pi / 6), 0, 1 + reach / 2]) < 0.01 * reach


def _rebuilt(oracle):
    oracle.bodies.mass[:-1] = oracle.model.body_mass[1:]
    oracle.bodies.inverse_mass[:-1] = 1 / oracle.model.body_mass[1:]
    oracle.bodies.inertia[:-1] = oracle.model.body_inertia[1:]
    return oracle


def _steps(oracle, actuators, seconds):
    """Run MuJoCo under the actuators; return where the end of the last link was."""
    tips = []
    last = 0.0
    for _ in range(round(seconds / oracle.model.opt.timestep)):
        oracle.look()
        steer(oracle.bodies, actuators, EARTH, oracle.model.opt.timestep, last)
        oracle.push()
        mujoco.mj_step(oracle.model, oracle.data)
        last = oracle.model.opt.timestep
        tips.append(oracle.data.xpos[3] + 0.4 * oracle.data.xmat[3].reshape(3, 3)[:, 0])
    return np.array(tips)


def test_free_body_in_mujoco_sags_and_runs_as_ours():
    """An independent engine under the same forces: sag and speed to four digits."""
    oracle = Oracle(f'<body name="ball"><freejoint/>{geom(0)}</body>', "0 0 -9.81")
    spec = hold("move", 0, [[0, 0, 0], [1000, 0, 0]], base=0.3, alpha=0.1, relaxation=0.06, adaptation=0)
    actuators = make_actuators([spec], oracle.bodies)
    last = 0.0
    for _ in range(4000):
        oracle.look()
        steer(oracle.bodies, actuators, EARTH, oracle.model.opt.timestep, last)
        oracle.push()
        mujoco.mj_step(oracle.model, oracle.data)
        last = 1e-3
    sag = 9.81 * 0.06**2 / 0.2
    # The target leads by d in all: along the path that is √(d² − sag²).
    speed = math.sqrt(0.3**2 - sag**2) * math.sqrt(0.1 / 2) / (spec.elasticity * 0.06)
    assert -oracle.data.qpos[2] == pytest.approx(sag, rel=1e-4)
    assert oracle.data.qvel[0] == pytest.approx(speed, rel=1e-4)


def test_trees_grow_from_what_is_fixed_then_from_what_is_moved():
    bodies = make_bodies(
        np.zeros((5, 3)), np.tile([1.0, 0, 0, 0], (5, 1)), np.zeros((5, 3)), np.zeros((5, 3)),
        np.array([1.0, 1, 1, np.inf, 1]), np.ones((5, 3)),
    )  # fmt: skip
    chain = [Tie(0, 1, np.zeros(3)), Tie(1, 2, np.zeros(3))]
    linkage = make_linkage(bodies, chain, move={2: 0}, turn={})
    assert linkage.body.tolist() == [2, 1, 0]
    assert linkage.mass.tolist() == [3, 2, 1]
    linkage = make_linkage(bodies, [*chain, Tie(3, 0, np.zeros(3))], move={2: 0}, turn={})
    assert linkage.body.tolist() == [0, 1, 2]
    assert linkage.held.tolist() == [1, 0, 0]
    assert linkage.move.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("ties", "move", "turn", "driven"),
    [
        ([], [0], [], True),
        ([], [], [0], True),
        ([(3, 0, BALL), (0, 1, HINGE), (1, 2, WELD)], [], [0, 1], True),
        ([(3, 0, BALL), (0, 1, HINGE), (1, 2, BALL)], [], [0, 1], False),  # the last one swings
        ([(3, 0, BALL), (0, 1, HINGE), (1, 2, WELD), (3, 2, BALL)], [], [0, 1, 2], False),  # a loop
        ([(0, 1, HINGE), (0, 2, HINGE)], [0], [0, 1, 2], True),
        ([(0, 1, HINGE), (0, 2, HINGE)], [1], [0, 1, 2], True),
        ([(0, 1, HINGE), (0, 2, HINGE)], [], [0, 1, 2], False),  # it drifts as it must
        ([(0, 1, HINGE), (0, 2, HINGE)], [0, 1], [0, 1, 2], False),  # two pull
        ([(0, 1, HINGE), (0, 2, OTHER)], [0], [0, 1, 2], False),
        ([(0, 1, HINGE), (1, 2, ROPE)], [0], [0, 1, 2], False),
    ],
)
def test_which_trees_are_driven(ties, move, turn, driven):
    bodies = make_bodies(
        np.zeros((4, 3)), np.tile([1.0, 0, 0, 0], (4, 1)), np.zeros((4, 3)), np.zeros((4, 3)),
        np.array([1.0, 1, 1, np.inf]), np.ones((4, 3)),
    )  # fmt: skip
    found = [Tie(a, b, np.zeros(3), kind) for a, b, kind in ties]
    linkage = make_linkage(bodies, found, {i: n for n, i in enumerate(move)}, {i: n for n, i in enumerate(turn, 9)})
    assert linkage.driven.tolist() == [driven]
