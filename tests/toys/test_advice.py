"""Slips of units and places in a figure: a warning each, and one plain line for what cannot be computed with."""

import copy

import pytest

from impel.files import Problem, read_document
from impel.toys.advice import figure_doubts
from impel.toys.figure import FIGURES, built_in_figures, figure_from, load_figure

LUXO = read_document(FIGURES / "luxo.yaml")


def lamp(change):
    document = copy.deepcopy(LUXO)
    change(document)
    return document


def scaled(document, by):
    for link in document["links"].values():
        link.pop("looks")
        for field in ("from", "to", "com"):
            if field in link:
                link[field] = [by * v for v in link[field]]
    for part in (*document["joints"].values(), *document["contacts"].values()):
        part["at"] = [by * v for v in part["at"]]


DOUBTS = {
    "joint": (lambda d: d["joints"]["elbow"].update(at=[0, 5]), "joints.elbow.at: is 4.88 m from arm"),
    "contact": (lambda d: d["contacts"]["toe"].update(at=[14, 0]), "contacts.toe.at: is 13.9 m from base"),
    "millimetres": (lambda d: scaled(d, 1000), "links: the figure is 240 m long or tall; lengths are in metres"),
    "radians": (
        lambda d: d["joints"]["ankle"].update(range=[-1.05, 1.05]),
        "joints.ankle.range: is -1.05 to 1.05 degrees; were radians meant?",
    ),
    "mass": (lambda d: d["links"]["arm"].update(mass=1e-7), "links.arm.mass: is only 1e-07 kg"),
    "motor": (lambda d: d["joints"]["ankle"].update(stiffness=1e6), "joints.ankle.stiffness: swings within"),
    "ground": (lambda d: d["ground"].update(stiffness=1e9), "ground.stiffness: swings within"),
}


@pytest.mark.parametrize("case", DOUBTS)
def test_a_slip_is_doubted(case):
    change, expected = DOUBTS[case]
    doubts = figure_doubts(figure_from(lamp(change), subject="lamp.yaml"))
    assert any(line.startswith(expected) for line in doubts), doubts


@pytest.mark.parametrize("name", built_in_figures())
def test_good_figures_raise_no_doubts(name):
    assert figure_doubts(load_figure(name)) == []


@pytest.mark.parametrize("value", [1e200, float("inf"), float("nan"), -1e308])
@pytest.mark.parametrize(
    "place",
    [("links", "base", "from"), ("joints", "elbow", "at"), ("contacts", "toe", "at"), ("links", "head", "mass")],
)
def test_numbers_beyond_reason_are_one_plain_line(value, place):
    document = copy.deepcopy(LUXO)
    *way, last = place
    holder = document
    for step in way:
        holder = holder[step]
    holder[last] = value if last == "mass" else [value, 0.0]
    with pytest.raises(Problem) as caught:
        figure_from(document, subject="lamp.yaml")
    assert len(caught.value.lines) == 1
    assert caught.value.lines[0].startswith(f"lamp.yaml: {'.'.join(place)}")
    assert "must be" in caught.value.lines[0]
