"""Toys in the studio: the palette is that of the command line, and a toy on the stage can be changed."""

import queue

import numpy as np
import pytest

from impel.files import Problem
from impel.studio.toybox import Toybox
from impel.toys.figure import load_figure
from impel.toys.performance import take_of
from impel.toys.synthesis import objective_for, palette


@pytest.fixture
def box():
    told, shown = queue.Queue(), queue.Queue()
    made = Toybox(told.put, shown.put)
    made.told, made.shown = told, shown
    yield made
    made.close()


def heard(box, kind, **fields):
    while True:
        message = box.told.get(timeout=200)
        if message["tell"] == kind and all(message[name] == value for name, value in fields.items()):
            return message


def test_the_palette_is_that_of_the_command_line(box):
    box.search("luxo", 200, 3)
    last = heard(box, "palette", ended=True)
    objective = objective_for(load_figure("luxo"))
    expected = palette(objective, seed=3, budget=200)
    assert [toy.model_dump() for toy in box.toys] == [graph.toy(objective).model_dump() for graph in expected]
    assert [toy["distance"] for toy in last["toys"]] == [graph.distance for graph in expected]
    assert len(last["toys"]) > 0
    for part in last["toys"][0]["parts"]:
        assert len(part["outline"]) >= 3

    box.pick(0)
    take = box.shown.get(timeout=60)
    np.testing.assert_array_equal(take.position, take_of(box.toys[0], objective.figure, seconds=8.0).position)
    box.change(None, None, 0, 1.3 * box.toy.times[0])
    assert not np.array_equal(box.shown.get(timeout=60).position, take.position)
    with pytest.raises(Problem, match="range"):
        box.change(0, objective.figure.active[0], None, 1e4)
    box.plot("phase", "", 0.0, 0.0)
    assert len(heard(box, "plot")["labels"]) == 2


def test_another_search_ends_the_one_before(box):
    box.search("luxo", 20_000, 0)
    heard(box, "search")
    box.search("luxo", 100, 1)
    heard(box, "palette", ended=True)


@pytest.mark.parametrize(("figure", "evaluations"), [("nobody", 100), ("luxo", 3), ("../x", 100), ("luxo", 10**9)])
def test_what_cannot_be_searched_is_refused(box, figure, evaluations):
    with pytest.raises(Problem):
        box.search(figure, evaluations, 0)
