"""Springs, friction and slides against closed forms and MuJoCo."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jointed import GRAVITY, LINKS, NOTHING_TOLD, advance, bodies_at, energy, jointed, link_inertia, momenta
from scipy.integrate import solve_ivp

from impel.motion.orientations import quaternion_from_euler
from impel.physics.joint_forces import spring_energy
from impel.physics.joint_rows import look
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import ANGULAR_A, ANGULAR_B, LINEAR, LIVE, NOW, STUCK, make_joints

WEIGHTLESS = (0.0, 0.0, 0.0)
USUAL = 1 / 240  # s: the step of scenes with joints
LENGTH, MASS, INERTIA = 0.5, 2.0, (0.03, 0.05, 0.04)
FELT = MASS * LENGTH**2 + INERTIA[1]  # about the hinge
PULL = 9.81 * MASS * LENGTH


def pendulum(kind="hinge", *, level=True, **fields):
    """A body that hangs half a metre from a joint to the world, released level or straight down."""
    bodies = bodies_at([(0, 0, 0), (LENGTH, 0, 0) if level else (0, 0, -LENGTH)], mass=MASS, inertia=INERTIA)
    return bodies, jointed(bodies, JointSpec(kind, 0, 1, (0, 0, 0), axis=(0, 1, 0), **fields))


def ways(bodies, joints, seconds, *, dt=USUAL, gravity=GRAVITY):
    """The coordinate of the first spring or friction, and the energy with that of the springs, after each step."""
    way, total = [], []
    for _ in range(round(seconds / dt)):
        assert advance(bodies, joints, gravity, dt, 1, NOTHING_TOLD) == 0
        way.append(joints.grip[0, NOW])
        total.append(energy(bodies, gravity) + spring_energy(joints))
    return np.array(way), np.array(total)


def period(way, dt=USUAL):
    """From crossings of the mean, to a fraction of a step."""
    x = way - 0.5 * (way.max() + way.min())
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossing = up - x[up] / (x[up + 1] - x[up])
    return dt * np.diff(crossing).mean()


@pytest.mark.parametrize("stiffness", [5.0, 50.0, 500.0])
def test_a_sprung_hinge_swings_about_its_rest_in_the_time_of_the_closed_form(stiffness):
    bodies, joints = pendulum(level=False, spring=(stiffness, 0.0, 0.2))
    way, total = ways(bodies, joints, 10.0, gravity=WEIGHTLESS)
    assert period(way) == pytest.approx(2 * np.pi * np.sqrt(FELT / stiffness), rel=2e-3)
    assert (way.min(), way.max()) == pytest.approx((0.0, 0.4), abs=2e-3)
    assert np.ptp(total) < 1e-3 * 0.5 * stiffness * 0.2**2


@pytest.mark.parametrize("damping", [0.5, 5.0, 50.0, 5e3, 5e6])
def test_a_damped_hinge_follows_the_closed_form_however_strong_the_damping(damping):
    stiffness, rest = 20.0, 0.3
    bodies, joints = pendulum(level=False, spring=(stiffness, damping, rest))
    way, _ = ways(bodies, joints, 2.0, gravity=WEIGHTLESS)
    truth = solve_ivp(
        lambda _, y: (y[1], (stiffness * (rest - y[0]) - damping * y[1]) / FELT),
        (0, 2), (0.0, 0.0), t_eval=USUAL * np.arange(1, len(way) + 1), rtol=1e-9, atol=1e-12, method="Radau",
    ).y[0]  # fmt: skip
    assert np.abs(way - truth).max() < 2e-4
    if damping > 2 * np.sqrt(stiffness * FELT):
        assert np.all(np.diff(way) >= 0)  # it does not ring


@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize("stiffness", [1e4, 1e6, 1e9])
def test_no_stiffness_is_too_much_for_the_usual_step(kind, stiffness):
    bodies, joints = pendulum(kind, spring=(stiffness, 0.0, 0.0))
    _, total = ways(bodies, joints, 2.0)
    sag = PULL / stiffness * LENGTH
    assert -2.1 * sag < bodies.position[1, 2] < 0.1 * sag
    assert np.ptp(total) < 1e-3 * PULL * sag / LENGTH + 1e-9


def test_a_ball_springs_back_to_how_it_was_placed_as_in_mujoco():
    """A pendulum that is bent, twisted and swung out of its plane: the same torque towards the placed orientation."""
    stiffness, damping, spin = 3.0, 0.05, (2.0, 1.0, 3.0)
    bodies = bodies_at(
        [(0, 0, 0), (LENGTH, 0, 0)], mass=MASS, inertia=INERTIA, spin=[(0, 0, 0), spin],
        velocity=[(0, 0, 0), np.cross(spin, (LENGTH, 0, 0))],
    )  # fmt: skip
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0), spring=(stiffness, damping, 0.0)))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 -9.81" timestep="1e-4" integrator="RK4"/><worldbody><body>
        <joint type="ball" stiffness="{stiffness}" damping="{damping}"/>
        <inertial pos="{LENGTH} 0 0" mass="{MASS}" diaginertia="{" ".join(map(str, INERTIA))}"/>
        </body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[:] = spin
    apart = []
    for _ in range(200):
        assert advance(bodies, joints, GRAVITY, 1e-3, 10, NOTHING_TOLD) == 0
        mujoco.mj_step(model, data, 100)
        mujoco.mj_forward(model, data)
        apart.append(np.abs(bodies.position[1] - data.xipos[1]).max())
    assert np.linalg.norm(joints.grip[0, NOW : NOW + 3]) > 0.5
    assert max(apart) < 5e-4


def test_a_spring_between_free_bodies_keeps_momentum_and_energy():
    bodies = bodies_at(
        [(0, 0, 0), (0.3, 0, 0)], mass=[1, 2], inertia=[(0.05, 0.03, 0.02), (0.02, 0.06, 0.05)], fixed=0,
        spin=[(1, 2, 0), (3, 1, -2)],
    )  # fmt: skip
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0.1, 0, 0), spring=(2.0, 0.0, 0.0)))
    before = momenta(bodies)
    _, total = ways(bodies, joints, 10.0, gravity=WEIGHTLESS)
    for one, other in zip(before, momenta(bodies)):
        assert one == pytest.approx(other, abs=1e-13)
    assert np.ptp(total) < 1e-3 * total[0]


def test_friction_takes_its_torque_times_the_way_and_then_holds_for_good():
    friction = 1.0
    bodies, joints = pendulum(friction=friction)
    way, total = ways(bodies, joints, 12.0)
    lost = friction * np.cumsum(np.abs(np.diff(way)))
    assert total[0] - total[1:] == pytest.approx(lost, abs=2e-3 * PULL)
    assert joints.grip[0, STUCK] == 1.0
    assert abs(PULL * np.cos(way[-1])) < friction  # it stopped where friction can hold it
    assert np.ptp(way[-960:]) < 1e-10  # 4 s
    assert np.abs(bodies.spin[1]).max() < 1e-12


@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize(("share", "moves"), [(1.001, False), (0.999, True)])
def test_friction_holds_what_pulls_less_to_the_last_thousandth(kind, share, moves):
    bodies, joints = pendulum(kind, friction=share * PULL)
    ways(bodies, joints, 3.0)
    assert (abs(bodies.position[1, 2]) > 1e-5) == moves
    if not moves:
        assert abs(bodies.position[1, 2]) < 1e-11


def test_friction_that_is_far_too_strong_stops_a_swing_without_throwing_it_back():
    bodies = bodies_at(
        [(0, 0, 0), (0, 0, -LENGTH)], mass=MASS, inertia=INERTIA, spin=[(0, 0, 0), (0, 3, 0)],
        velocity=[(0, 0, 0), (-3 * LENGTH, 0, 0)],
    )  # fmt: skip
    joints = jointed(bodies, JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0), friction=1e4))
    way, _ = ways(bodies, joints, 1.0)
    assert way.min() >= -1e-10
    assert way.max() < 3 * USUAL
    assert np.ptp(way[5:]) < 1e-10


def test_friction_of_a_ball_brakes_its_spin_along_itself():
    """A ball about its centre: the spin keeps its direction and falls by friction over inertia each second."""
    inertia, friction, spin = 0.05, 0.1, np.array([3.0, 1.0, -2.0])
    bodies = bodies_at([(0, 0, 0), (0, 0, 0)], inertia=(inertia,) * 3, spin=[(0, 0, 0), spin])
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0), friction=friction))
    speed = np.linalg.norm(spin)
    for n in range(1, 481):
        assert advance(bodies, joints, WEIGHTLESS, USUAL, 1, NOTHING_TOLD) == 0
        left = max(0.0, speed - friction / inertia * n * USUAL)
        assert bodies.spin[1] == pytest.approx(spin / speed * left, abs=1e-4)
    assert joints.grip[0, STUCK] == 1.0
    assert np.abs(bodies.spin[1]).max() < 1e-12


def test_a_chain_of_balls_with_friction_falls_as_one_of_hinges():
    ends = []
    for kind in ("hinge", "ball"):
        bodies = bodies_at(
            [(0, 0, 0)] + [((i + 0.5) * 0.3, 0, 0) for i in range(LINKS)],
            mass=0.1, inertia=[np.ones(3)] + [link_inertia(0.1)] * LINKS,
        )  # fmt: skip
        specs = [JointSpec(kind, i, i + 1, (0.3 * i, 0, 0), axis=(0, 1, 0), friction=0.05) for i in range(LINKS)]
        joints = jointed(bodies, *specs)
        _, total = ways(bodies, joints, 0.8)
        assert np.all(np.diff(total) < 1e-6)
        ends.append(bodies.position[-1].copy())
    assert ends[0] == pytest.approx(ends[1], abs=5e-3)


def test_friction_with_a_spring_stops_where_friction_holds_the_spring():
    stiffness, friction = 20.0, 2.0
    bodies, joints = pendulum(level=False, spring=(stiffness, 0.0, 1.0), friction=friction)
    way, _ = ways(bodies, joints, 8.0, gravity=WEIGHTLESS)
    # From 1 rad off, each half swing loses 2·friction/stiffness = 0.2: at rest 0.2 short of that, five times.
    turns = [1.0 - (-1) ** n * (1.0 - 0.2 * n) for n in range(6)]
    assert way.max() == pytest.approx(turns[1], abs=2e-3)
    assert way[-1] == pytest.approx(turns[5], abs=0.11)
    assert abs(stiffness * (1.0 - way[-1])) < friction
    assert np.ptp(way[-480:]) < 1e-10


def test_a_sprung_hinge_leaves_its_limit_again_and_friction_at_the_limit_holds():
    bodies, joints = pendulum(level=False, spring=(20.0, 0.0, 0.5), limits=(-0.1, 0.2))
    ways(bodies, joints, 1.0, gravity=WEIGHTLESS)
    assert joints.active[0] == 1.0  # pressed against it
    assert joints.coordinate[0] == pytest.approx(0.2, abs=1e-9)
    free, sprung = pendulum(level=False, spring=(20.0, 0.0, 0.05), limits=(-0.1, 0.2))
    free.spin[1, 1], free.velocity[1, 0], free.momentum[1, 1] = 3.0, -1.5, 3.0 * INERTIA[1]
    way, _ = ways(free, sprung, 2.0, gravity=WEIGHTLESS)
    assert way.max() == pytest.approx(0.2, abs=1e-8)
    assert way[-480:].min() < -0.05  # it swung back from there
    stuck, held = pendulum(level=False, spring=(20.0, 0.0, 0.0), limits=(-0.1, 0.2), friction=5.0)
    stuck.spin[1, 1], stuck.velocity[1, 0], stuck.momentum[1, 1] = 6.0, -3.0, 6.0 * INERTIA[1]
    way, _ = ways(stuck, held, 2.0, gravity=WEIGHTLESS)
    assert way[-1] == pytest.approx(0.2, abs=1e-8)  # 4 N·m of the spring do not overcome 5


@pytest.mark.parametrize("friction", [5.0, 20.0])
def test_a_sledge_on_a_slope_slides_by_what_friction_leaves_and_stops_at_its_limit(friction):
    along = np.array([1.0, 0, -1.0]) / np.sqrt(2)
    bodies = bodies_at([(0, 0, 0), (0, 0, 0)], mass=MASS, inertia=INERTIA)
    specs = JointSpec("slide", 0, 1, (0.2, 0, 0), axis=along, friction=friction, limits=(-1.0, 2.0))
    joints = jointed(bodies, specs)
    way, _ = ways(bodies, joints, 2.0)
    pull = max(0.0, 9.81 / np.sqrt(2) - friction / MASS)
    expected = np.minimum(0.5 * pull * (USUAL * np.arange(1, 481)) ** 2, 2.0)
    moving = expected < 1.95
    assert way[moving] == pytest.approx(expected[moving], abs=1e-10)
    assert way[-1] == pytest.approx(2.0 if pull else 0.0, abs=1e-10)
    assert bodies.position[1] == pytest.approx(way[-1] * along, abs=1e-9)
    assert abs(bodies.orientation[1, 0]) == pytest.approx(1.0, abs=1e-9)


def test_a_pendulum_on_a_sprung_cart_moves_as_in_mujoco():
    """A cart on a slide that itself swings on a hinge, with springs and dampers, and a rod on the cart."""
    bodies = bodies_at(
        [(0, 0, 0), (0.2, 0, -0.1), (0.6, 0.1, -0.2), (1.0, 0.1, -0.2)],
        mass=[1, 2, 0.7, 0.4], inertia=INERTIA,
    )  # fmt: skip
    joints = jointed(
        bodies,
        JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0), spring=(8.0, 0.1, 0.1)),
        JointSpec("slide", 1, 2, (0.4, 0, 0), axis=(1, 0, 0.5), spring=(60.0, 0.4, 0.05)),
        JointSpec("hinge", 2, 3, (0.7, 0.1, -0.2), axis=(0, 1, 0), spring=(0.0, 0.02, 0.0)),
    )
    inertia = " ".join(map(str, INERTIA))
    degrees = np.degrees(0.1)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 -9.81" timestep="1e-4" integrator="RK4"/><worldbody>
        <body><joint type="hinge" axis="0 1 0" stiffness="8" damping="0.1" springref="{degrees}"/>
        <inertial pos="0.2 0 -0.1" mass="2" diaginertia="{inertia}"/>
          <body><joint type="slide" axis="1 0 0.5" stiffness="60" damping="0.4" springref="0.05"/>
          <inertial pos="0.6 0.1 -0.2" mass="0.7" diaginertia="{inertia}"/>
            <body pos="0.7 0.1 -0.2"><joint type="hinge" axis="0 1 0" damping="0.02"/>
            <inertial pos="0.3 0 0" mass="0.4" diaginertia="{inertia}"/></body></body></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    slid = []
    for _ in range(200):
        assert advance(bodies, joints, GRAVITY, 1e-3, 10, NOTHING_TOLD) == 0
        mujoco.mj_step(model, data, 100)
        mujoco.mj_forward(model, data)
        assert np.abs(bodies.position[1:] - data.xipos[1:]).max() < 5e-4
        slid.append(joints.coordinate[1])
    assert np.ptp(slid) > 0.1


@given(
    seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["ball", "hinge", "slide"]), way=st.floats(0.05, 1.2),
    friction=st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_rows_are_the_derivatives_of_what_they_hold(seed, kind, way, friction):
    """Of points, limits, and what friction holds, wherever the bodies have got to."""
    rng = np.random.default_rng(seed)
    turned = quaternion_from_euler(rng.uniform(-180, 180, (2, 3)))
    bodies = bodies_at(rng.normal(size=(2, 3)), fixed=0, orientations=turned)
    fields = {"cone": 0.5, "twist": (-0.1, 0.1)} if kind == "ball" else {"limits": (-0.1, 0.1)}
    at, axis = rng.normal(size=3), rng.normal(size=3)
    joints = make_joints([JointSpec(kind, 0, 1, at, axis=axis, friction=float(friction), **fields)], bodies)
    axis /= np.linalg.norm(axis)
    if kind == "slide":
        bodies.position[1] += way * axis
    else:
        _turn(bodies, 1, way * (rng.normal(size=3) if kind == "ball" else axis), at)
    one_row = kind != "ball"
    joints.active[:] = 0.0 if friction and one_row else 1.0
    joints.grip[:, STUCK] = 1.0
    joints.rows[:, LIVE] = 1.0
    look(bodies, joints, 0, 1, True)
    rows, step = joints.rows.copy(), 1e-6
    for body in range(2):
        for axis in np.eye(3):
            for turns in (False, True):
                found = []
                for by in (step, -step):
                    place, turn = bodies.position.copy(), bodies.orientation.copy()
                    if turns:
                        _turn(bodies, body, by * axis, bodies.position[body])
                    else:
                        bodies.position[body] += by * axis
                    look(bodies, joints, 0, 1, False)
                    found.append(joints.change.copy())  # (a body that does not lean has no direction to lean in)
                    bodies.position[:], bodies.orientation[:] = place, turn
                column = (ANGULAR_A, ANGULAR_B)[body] if turns else LINEAR
                expected = rows[:, column : column + 3] @ axis * (1 if turns or body == 0 else -1)
                assert (found[0] - found[1]) / (2 * step) == pytest.approx(expected, abs=1e-7)


def _turn(bodies, i, by, about):
    from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions

    angle = np.linalg.norm(by)
    half = np.r_[np.cos(angle / 2), np.sin(angle / 2) * by / max(angle, 1e-300)]
    bodies.orientation[i] = multiply_quaternions(half, bodies.orientation[i])
    bodies.position[i] = about + matrix_from_quaternion(half) @ (bodies.position[i] - about)
