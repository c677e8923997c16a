"""From when on a changed scene goes otherwise."""

import math
import time

import numpy as np
import pytest

from impel import Scene, simulate
from impel.studio.affected import affected_from
from impel.studio.rehearsal import Rehearsal


def scene(**world):
    made = Scene(seconds=2, **world)
    made.body("ground", plane={}, fixed=True)
    made.body("ball", sphere=0.2, mass=1, at=[0, 0, 1])
    made.push("ball", force=[5, 0, 0], **{"from": 1.0, "until": 1.2})
    return made


def changed(change):
    other = scene()
    change(other)
    return other


@pytest.mark.parametrize(
    ("change", "since"),
    [
        (lambda s: None, math.inf),
        (lambda s: setattr(s.bodies["ball"], "color", "#ff0000"), math.inf),
        (lambda s: setattr(s.bodies["ball"], "mass", 2.0), 0.0),
        (lambda s: setattr(s.pushes[0], "force", (1.0, 0.0, 0.0)), 1.0),
        (lambda s: setattr(s.world, "seconds", 1.5), 1.5),
        (lambda s: setattr(s.world, "gravity", (0.0, 0.0, -1.0)), 0.0),
        (lambda s: s.change("world.gravity", [0, 0, -1], time=0.5), 0.5),
    ],
)
def test_a_change_matters_from_its_own_time_on(change, since):
    assert affected_from(scene(), changed(change)) == since


def test_going_on_from_a_moment_gives_the_bytes_of_the_whole():
    told = []
    rehearsal = Rehearsal(told.append)
    try:
        first = rehearsal.begin(scene())
        while not first.ended:
            time.sleep(0.01)
        other = changed(lambda s: setattr(s.pushes[0], "force", (0.0, 3.0, 0.0)))
        second = rehearsal.begin(other, after=1.0)
        while not second.ended:
            time.sleep(0.01)
    finally:
        rehearsal.close()
    assert second.kept > 30, "it began somewhere before the push"
    assert not second.problems
    expected = simulate(other)
    np.testing.assert_array_equal(second.take.position, expected.position)
    np.testing.assert_array_equal(second.take.orientation, expected.orientation)
    assert [e for e in second.take.events if e["kind"] != "step rejected"] == [
        e for e in expected.events if e["kind"] != "step rejected"
    ]
