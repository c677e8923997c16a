"""Footfalls as cues: when a walker's foot will come down, as far as can be told, and how walkers wait for others."""

from impel.control.appointments import ACTIVE, Appointments
from impel.scene import Scene
from impel.stage.walkers import Troupe, Walks

SLOWEST = 0.3  # of its pace, to which a walker slows down for an appointment: slower it would hardly look like walking


def expect_footfalls(scene: Scene, troupe: Troupe, walks: Walks, agreed: Appointments, until: float) -> None:
    """Set when footfalls that are cues are due, now that walkers have walked until the end of a frame: when a foot came
    down, or as foreseen and as much later as its walker is; and slow down walkers that would be early."""
    names = [walking.name for walking in troupe.walkings]
    cues = [cue.split(".") for appointment in scene.appointments.values() for cue in appointment.cues]
    walkers = {c: (names.index(cue[0]), int(cue[2])) for c, cue in enumerate(cues) if cue[1] == "step"}
    for c, (w, number) in walkers.items():
        falls, foreseen = walks.falls[w], troupe.steps(names[w])
        if number < len(falls):
            agreed.due[c] = falls[number]
        else:
            late = falls[-1] - foreseen[len(falls) - 1] if falls else 0.0
            late = max(late, until - foreseen[len(falls)])  # whose next foot is not down yet
            agreed.due[c] = max(foreseen[number] + late, until)
    for w in {w for w, _ in walkers.values()}:
        walks.slowed[w] = min((_share(walkers, agreed, c) for c, (other, _) in walkers.items() if other == w))


def _share(walkers: dict[int, tuple[int, int]], agreed: Appointments, c: int) -> float:
    """The share of its pace that brings a walker to a cue together with the others."""
    m = int((agreed.first <= c).sum()) - 1
    if agreed.state[m] != ACTIVE or agreed.left[c] <= 0.0:
        return 1.0
    others = [k for k in range(agreed.first[m], agreed.first[m + 1]) if k != c and k not in walkers]
    latest = max((float(agreed.left[k]) for k in others), default=0.0)
    return max(min(1.0, float(agreed.left[c]) / latest), SLOWEST) if latest > 0.0 else 1.0
