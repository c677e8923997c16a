"""Appointments: cues that happen together, whoever is held up; and clocks that are in step."""

from typing import Any

import numpy as np
import pytest
from rewinding import differences

from impel import Scene
from impel.scene.checks import problems
from impel.stage import Performance, simulate


def company(seconds: float, keys: int = 3) -> Scene:
    """A ball with times, one without, and a plate that turns."""
    scene = Scene(seconds=seconds, gravity=[0, 0, 0])
    timed: list[Any] = [[0, 0, 1], *({"at": [k, 0, 1], "time": 2 * k} for k in range(1, keys))]
    scene.body("timed", sphere=0.1, mass=1, at=[0, 0, 1]).move(timed)
    scene.body("free", sphere=0.1, mass=1, at=[0, 1, 1]).move([[1.2 * k, 1, 1] for k in range(keys)], speed=0.8)
    plate = scene.body("plate", box=[0.4, 0.1, 0.1], mass=1, at=[0, 2, 1])
    plate.turn([{"euler": [0, 0, 80 * k]} for k in range(keys)], speed=70)
    return scene


CUES = ["timed.move.1", "free.move.1", "plate.turn.1"]


def played(scene: Scene, held: str | None = None, since: float = 0.5, until: float = 1.5) -> Performance:
    """Play a scene, with one body held fast for a while by a strong spring."""
    performance, number = Performance(scene), None
    while performance.frame < performance.compiled.frames - 1:
        if held is not None and number is None and performance.time >= since:
            place = performance.stage.bodies.position[performance.compiled.bodies.index(held)].tolist()
            number = performance.push(held, spring=3000, to=place, until=until)
        performance.next_frame()
    return performance


def told(performance: Performance, kind: str) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for event in performance.story():
        if event["kind"] == kind:
            times.setdefault(event["subject"], []).append(event["time"])
    return times


def passed(performance: Performance, cues: list[str]) -> list[float]:
    times = []
    for cue in cues:
        label, _, key = cue.rpartition(".")
        for event in performance.story():
            if event["kind"] == "key passed" and event["subject"] == label and event["details"]["key"] == int(key):
                times.append(event["time"])
    return times


def test_without_an_appointment_everybody_is_there_at_another_time() -> None:
    assert np.ptp(passed(played(company(3.5)), CUES)) > 0.3


@pytest.mark.parametrize("held", [None, "timed", "free"])
def test_all_pass_their_cues_in_the_same_step(held: str | None) -> None:
    scene = company(5)
    scene.appointment("meet", CUES)
    performance = played(scene, held)
    times = passed(performance, CUES)
    assert len(times) == 3
    assert np.ptp(times) < 0.01
    slowest = 2.0  # of the one with times
    assert max(times) < slowest + (1.6 if held else 0.1)
    assert told(performance, "appointment kept")["meet"] == pytest.approx([max(times)], abs=0.01)


def test_appointments_follow_each_other_and_states_are_channels() -> None:
    scene = company(6)
    scene.appointment("meet", CUES)
    scene.appointment("part", ["timed.move.2", "plate.turn.2"], after=["meet"])
    take = simulate(scene)
    begins = {event["subject"]: event["time"] for event in take.events if event["kind"] == "appointment begins"}
    kept = {event["subject"]: event["time"] for event in take.events if event["kind"] == "appointment kept"}
    assert begins["meet"] == 0
    assert begins["part"] == pytest.approx(kept["meet"], abs=0.01)
    assert kept["part"] > kept["meet"] + 1
    assert set(take.channels["part.appointment"].tolist()) == {0.0, 1.0, 2.0}


def test_appointment_needs_only_so_many_of_those_before_it() -> None:
    scene = company(5)
    scene.appointment("soon", ["free.move.1", "plate.turn.1"])
    scene.appointment("late", ["timed.move.2", "plate.turn.2"])
    scene.appointment("then", ["free.move.2", "timed.move.1"], after=["soon", "late"], needs=1)
    performance = played(scene)
    assert told(performance, "appointment begins")["then"][0] == pytest.approx(
        told(performance, "appointment kept")["soon"][0], abs=0.01
    )


def test_who_does_not_come_is_given_up_and_the_others_go_on() -> None:
    scene = company(5)
    scene.appointment("meet", CUES, timeout=2.5)
    performance = played(scene, "free", until=99)
    assert told(performance, "appointment missed")["meet"] == pytest.approx([2.5], abs=0.02)
    assert len(passed(performance, ["timed.move.1", "plate.turn.1"])) == 2
    assert passed(performance, ["free.move.1"]) == []


def test_who_waits_long_does_not_shoot_off_afterwards() -> None:
    scene = company(10, keys=4)
    scene.appointment("meet", CUES)
    performance, number, speeds = Performance(scene), None, []
    while performance.frame < performance.compiled.frames - 1:
        if number is None and performance.time >= 0.5:
            place = performance.stage.bodies.position[1].tolist()
            number = performance.push("free", spring=3000, to=place, until=7)
        performance.next_frame()
        speeds.append(np.linalg.norm(performance.stage.bodies.velocity, axis=1))
    assert np.max(speeds, axis=0)[0] < 1.6 * 0.75  # 1.5 times its mean, where it is fastest


def arm_in_step(together: bool) -> Scene:
    scene = Scene(seconds=3)
    for k, name in enumerate(("upper", "lower")):
        link = {"radius": 0.05, "length": 0.4}
        body = scene.body(name, capsule=link, mass=1, at=[0.4 * k + 0.2, 0, 1.5], euler=[0, 90, 0])
        scene.joint(f"j{k}", hinge=["upper" if k else "world", body], at=[0.4 * k, 0, 1.5], axis=[0, 1, 0])
        body.turn([{"euler": [0, 90, 0]}, {"euler": [0, 30 + 60 * k, 0], "time": 1}, {"euler": [0, 90, 0], "time": 2}])
    if together:
        scene.in_step["arm"] = ["upper.turn", "lower.turn"]
    return scene


def test_clocks_that_are_in_step_are_never_apart() -> None:
    performance = Performance(arm_in_step(True))
    apart, late, pushed = [], 0.0, False
    while performance.frame < performance.compiled.frames - 1:
        if performance.time >= 0.4 and not pushed:
            place = performance.stage.bodies.position[0].tolist()
            performance.push("upper", spring=5000, to=place, until=1.4)
            pushed = True
        performance.next_frame()
        actuators = performance.stage.actuators
        assert actuators is not None
        apart.append(abs(actuators.clocks.time[0] - actuators.clocks.time[1]))
        late = max(late, float(actuators.clocks.late[1]))
    assert max(apart) == 0.0
    assert late > 0.5


def test_appointments_are_part_of_a_snapshot() -> None:
    scene = company(2.5)
    scene.appointment("meet", CUES)
    assert differences(scene, 6) == []


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"needs": 2}, "appointments.meet.needs: must be at most 0"),
        ({"cues": ["timed.move.1", "free.move.7"]}, "appointments.meet.cues.1: free.move counts from 0 to 2, got 7"),
    ],
)
def test_appointments_that_cannot_be_are_told_in_one_line(fields: dict[str, Any], line: str) -> None:
    scene = company(3)
    scene.appointment("meet", **{"cues": CUES, **fields})
    (found,) = problems(scene)
    assert found.startswith(line)


@pytest.mark.parametrize(
    ("group", "line"),
    [
        (["timed.move", "timid.move"], "in_step.arm.1: there is no move or turn called 'timid.move'"),
        (["timed.move", "free.move"], "in_step.arm.1: 'free.move' has no times on its keys"),
        (["timed.move", "timed.move"], "in_step.arm.1: 'timed.move' is in step in in_step.arm already"),
    ],
)
def test_those_that_cannot_be_in_step_are_told_in_one_line(group: list[str], line: str) -> None:
    scene = company(3)
    scene.in_step["arm"] = group
    (found,) = problems(scene)
    assert found.startswith(line)


def relay(keys: list[Any], cue: int) -> Performance:
    """A runner without times, who is to pass a cue together with one who takes two seconds."""
    scene = Scene(seconds=4.5, gravity=[0, 0, 0])
    scene.body("slow", sphere=0.1, mass=1, at=[0, 0, 1]).move([[0, 0, 1], {"at": [1, 0, 1], "time": 2}])
    scene.body("runner", sphere=0.1, mass=1, at=[0, 1, 1]).move(keys, speed=1)
    scene.appointment("meet", ["slow.move.1", f"runner.move.{cue}"])
    return Performance(scene)


def test_who_turns_back_after_an_appointment_goes_as_fast_as_told() -> None:
    performance, speeds = relay([[0, 1, 1], [1.2, 1, 1], [0, 1, 1]], 1), []
    while performance.frame < performance.compiled.frames - 1:
        performance.next_frame()
        speeds.append(np.linalg.norm(performance.stage.bodies.velocity[1]))
    assert passed(performance, ["runner.move.1"]) == pytest.approx([2.0], abs=0.1)
    assert passed(performance, ["runner.move.2"]) == pytest.approx([3.3], abs=0.2)
    assert max(speeds) < 1.1


@pytest.mark.parametrize(
    ("keys", "cue"), [([[0, 1, 1], [1, 1, 1]], 0), ([[0, 1, 1], {"at": [1, 1, 1], "time": 1}], 0),
                      ([[0, 1, 1], [0, 1, 1], [1, 1, 1]], 1)],
)  # fmt: skip
def test_who_is_to_set_out_with_others_waits_for_them_at_the_start(keys: list[Any], cue: int) -> None:
    performance = relay(keys, cue)
    while performance.time < 1.9:
        performance.next_frame()
    assert np.linalg.norm(performance.stage.bodies.position[1] - [0, 1, 1]) < 1e-3
    while performance.frame < performance.compiled.frames - 1:
        performance.next_frame()
    assert told(performance, "appointment kept")["meet"] == pytest.approx([2.0], abs=0.02)
    assert performance.stage.bodies.position[1, 0] == pytest.approx(1.0, abs=0.01)


def test_who_sets_out_after_an_appointment_that_is_to_come_waits_too() -> None:
    scene = company(6)
    scene.appointment("meet", ["timed.move.1", "free.move.1"])
    scene.appointment("start", ["timed.move.2", "plate.turn.0"], after=["meet"])
    performance = played(scene)
    assert min(passed(performance, ["plate.turn.1"])) > told(performance, "appointment kept")["start"][0] > 3.9


@pytest.mark.parametrize(("timeout", "count"), [(None, 1), (1.0, 0)])
def test_appointments_that_cross_are_told_in_one_line(timeout: float | None, count: int) -> None:
    scene = company(3)
    scene.appointment("x", ["timed.move.1", "free.move.2"], timeout=timeout)
    scene.appointment("y", ["timed.move.2", "free.move.1"])
    lines = problems(scene)
    assert len(lines) == count
    assert all(line.startswith("appointments.x.cues: can never be kept") and "x -> y -> x" in line for line in lines)


def test_remark_on_a_missed_appointment_names_who_did_not_come_and_joints_that_wait_for_it() -> None:
    scene = company(2)
    scene.body("apple", sphere=0.05, mass=0.1, at=[2, 0, 1])
    scene.joint("grip", weld=["timed", "apple"], **{"from": "meet"})
    scene.appointment("meet", CUES, timeout=1)
    (line,) = [line for line in simulate(scene).remarks() if line.startswith("appointments.")]
    assert line.startswith("appointments.meet was missed at 1.00 s, without timed.move.1, free.move.1, plate.turn.1")
    assert "joints.grip is never made" in line


def test_who_kept_an_appointment_does_not_run_past_its_last_key() -> None:
    scene = Scene(seconds=7)
    scene.body("mouse", sphere=0.05, mass=0.03, at=[0, 0, 1]).move([[0, 0, 1], [1.5, 0, 1], [3.5, 0, 1]], speed=1.5)
    scene.body("dog", sphere=0.2, mass=9, at=[0, 2, 1]).move([[0, 2, 1], {"at": [1, 2, 1], "time": 2}])
    scene.appointment("gate", ["mouse.move.1", "dog.move.1"])
    take = simulate(scene)
    assert take.position[:, take.index("mouse"), 0].max() < 3.505  # 3.67: it was led at full speed up to the last key
    assert take.position[-1, take.index("mouse"), 0] == pytest.approx(3.5, abs=1e-3)
