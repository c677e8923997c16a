"""A take whose joints are apart is written, and the command says that it is not to be trusted."""

import numpy as np

from impel.takes import load_npz

TORN = """
world: {seconds: 0.5}
bodies:
  hand: {shape: {sphere: 0.05}, follows: [{time: 0, at: [1, 0, 1]}, {time: 0.5, at: [3, 0, 1]}], collides: false}
  rod: {shape: {capsule: {radius: 0.03, length: 0.9}}, mass: 1, at: [0.5, 0, 1], euler: [0, 90, 0], collides: false}
joints:
  pin: {ball: [world, rod], at: [0, 0, 1]}
  grip: {ball: [hand, rod], at: [1, 0, 1]}
"""


def test_joint_that_is_torn_apart_is_told_and_ends_with_exit_code_3(impel, tmp_path):
    scene, output = tmp_path / "torn.yaml", tmp_path / "take.npz"
    scene.write_text(TORN)
    code, out, _ = impel("simulate", scene, "-o", output)
    assert code == 3
    (line,) = [line for line in out.splitlines() if " apart by " in line]
    assert "hand, which moves as told" in line
    take = load_npz(output)
    apart = [event for event in take.events if event["kind"] == "joint apart"]
    assert {event["subject"] for event in apart} <= {"pin", "grip"}
    worst = max(event["details"]["gap"] for event in apart)
    assert 0.5 < worst < 2.1
    assert np.isfinite(take.position).all()


def test_joints_that_hold_end_with_exit_code_0(impel, tmp_path):
    scene = tmp_path / "held.yaml"
    scene.write_text(TORN.replace("  pin: {ball: [world, rod], at: [0, 0, 1]}\n", ""))
    code, out, _ = impel("simulate", scene, "-o", tmp_path / "take.npz")
    assert code == 0
    assert " apart by " not in out
