"""The verdicts on the scenes of paper 000; films are left to the gallery."""

import numpy as np
import pytest

from impel.gallery.entries import arches, climb, handover, handshake, kick, ride
from impel.gallery.loading import gallery_scene
from impel.gallery.meetings import Met, hold_meeting, random_meeting
from impel.stage import simulate


def test_keys_that_are_pinned_keep_the_way_straight(tmp_path):
    pinned, loose = ride.ridden(None), ride.ridden(False)
    assert ride.verdict(pinned, loose).verdict == "holds corrected"
    assert ride.verdict(loose, loose).verdict == "does not hold"
    ride.draw(tmp_path / "ways.png", pinned, loose)
    assert pinned.paths["ball.move"].shape[0] == len(pinned.time)  # it moves


def test_hands_meet_where_their_speeds_say():
    meetings = [handshake.meet(*speeds) for speeds in handshake.SPEEDS[:2]]
    strong, heavy = (handshake.meet(*handshake.SPEEDS[1], **{name: 2.0}) for name in ("strength", "mass"))
    assert handshake.verdict(meetings, strong, heavy).verdict == "does not hold"
    assert handshake.verdict(meetings, meetings[0], heavy).verdict == "holds"


def test_ball_is_kicked_off_wagons_that_can_be_followed():
    followed, too_fast = kick.kicks(2, kick.FOLLOWED), kick.kicks(1, kick.TOO_FAST)
    assert kick.verdict(followed, too_fast).verdict == "holds"
    assert kick.verdict(too_fast, too_fast).verdict == "does not hold"


def test_quick_arm_waits_and_goes_on(tmp_path):
    take = simulate(gallery_scene("climb"))
    told = climb.climb(take)
    assert climb.regains(told).verdict == "holds"
    assert climb.regains(told._replace(after=told.waiting)).verdict == "does not hold"
    climb.draw(tmp_path / "speeds.png", take)


def test_speed_is_not_what_the_paper_says_and_weak_arms_are_not_precise():
    whole, quarter = climb.ball(climb.ALPHA), climb.ball(climb.ALPHA / 4)
    push = {"from_": 0.5, "force": [0, 5, 0]}
    pushed, pushed_quarter = climb.ball(climb.ALPHA, **push), climb.ball(climb.ALPHA / 4, **push)
    assert climb.average_speed(whole).verdict == "does not hold"
    assert climb.precision(whole, quarter, pushed, pushed_quarter).verdict == "does not hold"
    assert climb.precision(whole, quarter, pushed, pushed).verdict == "holds"


@pytest.mark.parametrize("rough", [False, True])
def test_random_meetings_are_kept_by_clocks(rough):
    for seed in range(3):
        meeting = random_meeting(seed, rough=rough)
        met = hold_meeting(meeting, "clocks")
        assert np.ptp(met.targets) <= 1.001 * meeting.step


def test_rule_of_the_paper_stops_everybody():
    meeting = random_meeting(5, timed=False)
    ours, theirs = (hold_meeting(meeting, rule) for rule in ("clocks", "paper"))
    assert climb.together([ours], [theirs], [ours.duration]).verdict == "does not hold"
    good = Met(targets=np.ones(2), objects=np.ones(2), duration=1.0)
    assert climb.together([ours], [good], [ours.duration]).verdict == "holds"


def test_pairs_pass_the_arches_together():
    plain, delayed = (simulate(arches.scene_with(block)) for block in (False, True))
    assert [verdict.verdict for verdict in arches.verdicts(plain, delayed)] == ["holds", "holds corrected"]
    scene = arches.scene_with(False)
    scene.appointments.clear()
    alone = simulate(scene)
    assert arches.spread(alone, arches.scene_with(False)) > 0.1


def test_cup_changes_hands(tmp_path):
    take = simulate(gallery_scene("handover"))
    grips = handover.grips(take)
    assert grips["left"][0] < grips["right"][0] < grips["left"][1] < grips["right"][1]
    assert handover.apart(take) < 1e-6
    kept = {e["subject"]: e["time"] for e in take.events if e["kind"] == "appointment kept"}
    assert grips["left"][1] == pytest.approx(kept["part"], abs=0.005)
    assert take.position[-1, take.index("cup")] == pytest.approx([0.2, 0, 0.61], abs=0.01)
    hit = [e for e in take.events if e["kind"] == "contact begins" and "ball" in (e["subject"], e["details"]["with"])]
    assert any(e["subject"] == "left_fore" or e["details"]["with"] == "left_fore" for e in hit)
