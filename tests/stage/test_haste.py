"""Contacts in haste: where one of many needs shorter steps, it alone takes them."""

import numpy as np
import pytest

from impel import Scene
from impel.physics.broadphase import COUNT, HASTE
from impel.stage import Performance

HEAVY = 200  # times the mass of the others


def row(seconds: float, **world) -> Scene:
    """Nine balls that fly at each other in a row that is not quite straight, a light one between two heavy ones in the
    middle of them; nothing else is there."""
    scene = Scene(seconds=seconds, gravity=[0, 0, 0], **world)
    for k in range(9):
        scene.body(
            f"ball {k}",
            sphere=0.1,
            mass=HEAVY if k in (3, 5) else 1 + 0.1 * k,
            at=[0.201 * (k - 4), 0.003 * (k % 3), 0.002 * (k % 2)],
            velocity=[0.125 * (4 - k), 0.02 * k, 0.0],
        )
    return scene


def motion(bodies) -> np.ndarray:
    """Linear and angular momentum of all, about the origin."""
    linear = bodies.mass[:, None] * bodies.velocity
    return np.concatenate([linear.sum(0), (np.cross(bodies.position, linear) + bodies.momentum).sum(0)])


def test_what_is_squeezed_hurries_alone_and_momentum_is_kept():
    performance = Performance(row(0.5))
    before = motion(performance.stage.bodies)
    hasty = set()
    for _ in range(30):
        performance.next_frame()
        contacts = performance.stage.contacts
        pairs = contacts.pair[: contacts.near.info[COUNT]]
        hasty |= {tuple(pair) for pair in pairs[contacts.haste[: len(pairs), HASTE] > 0]}
    assert {(3, 4), (4, 5)} <= hasty
    assert not hasty & {(0, 1), (1, 2), (7, 8)}
    np.testing.assert_allclose(motion(performance.stage.bodies), before, atol=1e-12)


def test_haste_goes_the_way_of_short_steps_for_all():
    ours, fine = Performance(row(0.3)), Performance(row(0.3, step=1 / 60 / 256))
    for _ in range(18):
        ours.next_frame()
        fine.next_frame()
    # Within two per cent of the speed at which they meet, which is 1 m/s.
    np.testing.assert_allclose(ours.stage.bodies.velocity, fine.stage.bodies.velocity, atol=0.02)
    np.testing.assert_allclose(ours.stage.bodies.position, fine.stage.bodies.position, atol=0.02 * 0.3)


@pytest.mark.parametrize("frame", [3, 12])
def test_what_is_in_haste_is_restored_to_the_same_bytes(frame):
    performance = Performance(row(0.5))
    for _ in range(frame):
        performance.next_frame()
    moment = performance.snapshot()
    ways = []
    for _ in range(2):
        for _ in range(10):
            performance.next_frame()
        ways.append(performance.memory.values.copy())
        performance.restore(moment)
    np.testing.assert_array_equal(*ways)


def test_what_has_joints_is_never_in_haste_and_its_joints_hold():
    """A chain tumbles down some stairs, and a crate after it."""
    scene = Scene(seconds=3)
    scene.body("ground", plane={}, fixed=True)
    for k in range(4):
        scene.body(f"stair {k}", box=[1.5, 0.4, 0.3 * (4 - k)], at=[0, 0.4 * k, 0.15 * (4 - k)], fixed=True)
    for k in range(7):
        mass = 12 if k == 3 else 0.8
        scene.body(f"link {k}", capsule={"radius": 0.05, "length": 0.15}, mass=mass, at=[0, 0.02 * k, 1.5 + 0.25 * k])
    for k in range(6):
        scene.joint(f"joint {k}", ball=[f"link {k}", f"link {k + 1}"], at=[0, 0.02 * k, 1.625 + 0.25 * k])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=20, at=[0.1, 0.1, 3.6], velocity=[0, 1, 0])
    performance = Performance(scene)
    jointed = np.zeros(len(performance.stage.bodies.mass), bool)
    jointed[performance.stage.joints.members] = True
    hurried = False
    while performance.frame < 180:
        performance.next_frame()
        contacts = performance.stage.contacts
        pairs = contacts.pair[: contacts.near.info[COUNT]]
        hasty = pairs[contacts.haste[: len(pairs), HASTE] > 0]
        assert not jointed[hasty].any()
        hurried |= len(hasty) > 0
        assert performance.stage.joints.apart.max() <= 1e-6
    assert hurried
