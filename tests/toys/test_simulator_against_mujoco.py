"""The generated simulator against MuJoCo: equal accelerations, and an integrator that converges to them."""

import mujoco
import numpy as np
import pytest
from mujoco_figure import absolute, model_of, relative

from impel.kernel import kernel
from impel.toys.figure import figure_from, load_figure
from impel.toys.lanes import cosine_sine
from impel.toys.mechanism import mechanism_of, rows_of
from impel.toys.simulator import simulator_of
from impel.toys.trials import gains_of, run_trials, start_state

BUILT_IN = ["luxo", "bounder", "cheetah", "kangaroo", "worm"]


def random_tree(links=16, seed=3):
    """A bush of rods: branches, bends, joints with and without limits."""
    rng = np.random.default_rng(seed)
    ends = [(0.0, 0.3)]
    document = {"figure": "bush", "links": {}, "joints": {}, "contacts": {}, "fall": 100000}
    for i in range(links):
        parent = int(rng.integers(0, i)) if i else 0
        at = ends[parent] if i else (0.0, 0.3)
        angle, length = rng.uniform(0, 2 * np.pi), rng.uniform(0.04, 0.1)
        end = (at[0] + length * np.cos(angle), at[1] + length * np.sin(angle))
        com = [at[0] + 0.6 * (end[0] - at[0]) + 0.01, at[1] + 0.6 * (end[1] - at[1])]
        document["links"][f"l{i}"] = {"from": at, "to": end, "mass": rng.uniform(0.02, 0.1), "com": com}
        if i:
            ends.append(end)
            joint = {"links": [f"l{parent}", f"l{i}"], "at": at, "stiffness": 0.4, "damping": 0.01, "range": [-60, 60]}
            document["joints"][f"j{i}"] = joint | ({"limits": [-70, 70]} if i % 3 else {})
        else:
            ends = [end]
        if i % 4 == 0:
            document["contacts"][f"c{i}"] = {"link": f"l{i}", "at": end}
    return figure_from(document, subject="bush")


FIGURES = {name: load_figure(name) for name in BUILT_IN} | {"bush": random_tree()}


class Ours:
    """Plain accelerations from the production code: its step with h = 0."""

    def __init__(self, figure):
        self.figure, self.rows = figure, rows_of(figure)
        self.steps = simulator_of(figure).steps
        self.state = np.zeros((self.rows.total, 8))
        self.set(self.rows.alive, 1.0)
        joints = len(figure.joints)
        gains = gains_of(figure)
        self.set(self.rows.stiffness, gains[:joints, None])
        self.set(self.rows.damping, gains[joints : 2 * joints, None])
        self.set(self.rows.friction, gains[-1])

    def set(self, rows, value):
        self.state[rows] = value

    def accelerations(self, q, v, targets):
        self.set(self.rows.position, q[:, None])
        self.set(self.rows.velocity, v[:, None])
        self.set(self.rows.target, targets[:, None])
        self.steps(self.state.ravel(), 1)
        return self.state[self.rows.acceleration, 5].copy()

    def rk4(self, q, v, targets, h):
        k1v = self.accelerations(q, v, targets)
        k2q, k2v = v + h / 2 * k1v, self.accelerations(q + h / 2 * v, v + h / 2 * k1v, targets)
        k3q, k3v = v + h / 2 * k2v, self.accelerations(q + h / 2 * k2q, v + h / 2 * k2v, targets)
        k4q, k4v = v + h * k3v, self.accelerations(q + h * k3q, v + h * k3v, targets)
        return q + h / 6 * (v + 2 * k2q + 2 * k3q + k4q), v + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)


class Oracle:
    """MuJoCo's multibody dynamics, with the notes' limits and contact law written out here a second time."""

    def __init__(self, figure, step, *, contact):
        self.figure, self.m = figure, mechanism_of(figure)
        self.model = model_of(figure, step=step)
        self.data = mujoco.MjData(self.model)
        self.contact = contact
        self.jacobian = np.zeros((3, self.model.nv))
        mujoco.set_mjcb_passive(self._forces)

    def _forces(self, model, data):
        joints = list(self.figure.joints.values())
        for i in range(1, len(self.m.links)):
            joint = joints[self.m.joint[i]]
            if joint.limits is None:
                continue
            low, high = np.radians(joint.limits)
            at = self._address(i)
            angle, speed = data.qpos[at], data.qvel[at]
            beyond = angle - high if angle > high else min(angle - low, 0.0)
            if beyond != 0.0:
                data.qfrc_passive[at] -= joint.limit_stiffness * beyond + joint.limit_damping * speed
        if not self.contact:
            return
        ground = self.figure.ground
        tilt = np.radians(ground.slope)
        normal, along = np.array([-np.sin(tilt), 0, np.cos(tilt)]), np.array([np.cos(tilt), 0, np.sin(tilt)])
        for k in range(len(self.m.contact_link)):
            gap = data.site(f"c{k}").xpos @ normal
            if gap >= 0:
                continue
            mujoco.mj_jacSite(model, data, self.jacobian, None, model.site(f"c{k}").id)
            velocity = self.jacobian @ data.qvel
            push = max(0.0, -ground.stiffness * gap - ground.damping * (velocity @ normal))
            slip = velocity @ along
            drag = -ground.friction * push * slip / np.sqrt(slip**2 + ground.slip_speed**2)
            data.qfrc_passive += self.jacobian.T @ (push * normal + drag * along)

    def _address(self, i):
        """MuJoCo numbers bodies depth first, the mechanism by levels."""
        return self.model.joint(f"j{i}").qposadr[0] if i else 2

    def start(self, q, v):
        for ours, theirs in ((q, self.data.qpos), (v, self.data.qvel)):
            mine = relative(self.figure, ours)
            theirs[:2] = mine[:2]
            for i in range(len(self.m.links)):
                theirs[self._address(i)] = mine[2 + i]

    def step(self, targets):
        for i in range(1, len(self.m.links)):
            self.model.qpos_spring[self._address(i)] = targets[self.m.joint[i]]
        mujoco.mj_step(self.model, self.data)
        order = [0, 1] + [self._address(i) for i in range(len(self.m.links))]
        return absolute(self.figure, self.data.qpos[order])


@pytest.fixture(autouse=True)
def _no_callback_left_behind():
    yield
    mujoco.set_mjcb_passive(None)


def random_targets(figure, rng):
    spans = [np.radians(j.range) if j.active else (0.0, 0.0) for j in figure.joints.values()]
    return np.array([rng.uniform(*span) for span in spans])


def worst_difference(figure, *, step, contact, height, speed, seconds=0.5):
    rng = np.random.default_rng(7)
    q = start_state(figure, clearance=height)[: rows_of(figure).position.stop]
    v = rng.uniform(-speed, speed, len(q))
    ours, oracle = Ours(figure), Oracle(figure, step, contact=contact)
    oracle.start(q, v)
    worst, touched = 0.0, False
    for n in range(round(seconds / step)):
        if n % round(0.1 / step) == 0:
            targets = random_targets(figure, rng)
        q, v = ours.rk4(q, v, targets, step)
        worst = max(worst, np.abs(oracle.step(targets) - q).max())
        touched |= bool(ours.state[ours.rows.force].any())
    assert touched == contact
    return worst


@pytest.mark.parametrize("name", FIGURES)
def test_free_flight_with_motors_matches_mujoco_rk4(name):
    assert worst_difference(FIGURES[name], step=1e-3, contact=False, height=5.0, speed=2.0) <= 1e-12


# Friction that turns within 0.02 m/s amplifies round-off; where the notes' value does that, 2 m/s shows the law.
CONTACT = {"luxo": 0.02, "bounder": 0.02, "cheetah": 2.0, "kangaroo": 2.0, "worm": 2.0, "bush": 2.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTACT)
def test_contact_law_injected_into_mujoco_matches(name):
    figure = FIGURES[name].model_copy(deep=True)
    figure.ground.slip_speed = CONTACT[name]
    step = 5e-5 if figure.ground.slip_speed < 1 else 1e-4  # explicit friction is stiff
    assert worst_difference(figure, step=step, contact=True, height=0.002, speed=0.3) <= 1e-10


def test_contact_on_a_slope_matches():
    figure = load_figure("luxo").model_copy(deep=True)
    figure.ground.slope, figure.ground.slip_speed = 8.0, 2.0
    assert worst_difference(figure, step=1e-4, contact=True, height=0.002, speed=0.3, seconds=0.25) <= 1e-10


@pytest.mark.parametrize("name", ["luxo", "cheetah"])
@pytest.mark.parametrize("contact", [False, True])
def test_the_production_integrator_converges(name, contact):
    """Halving the step at least halves the distance to the RK4 solution of the same accelerations."""
    figure = FIGURES[name].model_copy(deep=True)
    figure.ground.slip_speed = 2.0
    rng = np.random.default_rng(11)
    target = random_targets(figure, rng) * 0.5
    active = [j for j, joint in enumerate(figure.joints.values()) if joint.active]
    start = start_state(figure, clearance=0.0 if contact else 5.0)
    ours = Ours(figure)
    q, v = np.split(start.copy(), 2)
    seconds = 0.04
    for _ in range(2000):
        q, v = ours.rk4(q, v, target, seconds / 2000)
    errors = []
    for h in (2e-4, 1e-4, 0.5e-4, 0.25e-4):
        result = run_trials(figure, target[None, None, active], 1.0, seconds=seconds, step=h, starts=start)
        errors.append(np.abs(result.final[0, : len(q)] - q).max())
    assert errors[-1] < 2e-5
    ratios = np.array(errors[:-1]) / errors[1:]
    assert np.all(ratios > 1.7), (errors, ratios)


@kernel
def tabulate(angles, found):
    """Helpers made for inlining are called from kernels only."""
    for i in range(len(angles)):
        found[i, 0], found[i, 1] = cosine_sine(angles[i])


def test_sine_and_cosine_are_as_good_as_the_library():
    angles = np.concatenate([np.linspace(-40, 40, 20001), np.arange(-20, 21) * np.pi / 4])
    found = np.zeros((len(angles), 2))
    tabulate(angles, found)
    assert np.abs(found - np.stack([np.cos(angles), np.sin(angles)], 1)).max() <= 3e-16
