"""What can be run but is probably not meant: slips of units and places in a figure, each with a plain line."""

from impel.toys.figure import Figure


def figure_doubts(figure: Figure) -> list[str]:
    return []
