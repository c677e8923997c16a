"""The script of a take on one sheet: the graph of its appointments, and below it, on the same time axis, what every
actor was asked for and what became of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from impel.analysis.plots import INK, LINE, PAPER, SOFT, color, plot
from impel.files import Problem
from impel.scene import Scene
from impel.scene.timing import key_times
from impel.takes.goals import goals_of
from impel.takes.take import Take, linear_color

WIDTH = 12.0  # inches
ROW, GRAPH_ROW = 0.30, 0.46  # inches that a line of the timeline, and an appointment, takes
ALARM, TIED, PATIENT = "#c0392b", "#3aafa9", "#d9a441"
LATE = 0.03  # s: less cannot be seen
READABLE = 0.3  # of white, in light
NAMED_AGAIN = 0.25  # of the take: not before that is a joint at its limit named again
LETTER = 0.0052  # of the take: the width of one, measured
MOST_NAMED = 24  # contacts of an actor that are named
MOST_NUMBERED = 40  # keys of a path whose numbers are written
MOST_JOINED = 4  # names that stand behind each other
Span = tuple[float, float]
Label = tuple[float, str, str]  # when, what, in which colour


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """An appointment as it was written."""

    cues: Sequence[str]
    after: Sequence[str] = ()
    needs: int | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What was asked for, in plain data."""

    meetings: dict[str, Meeting] = field(default_factory=dict)
    due: dict[str, list[float]] = field(default_factory=dict)  # "ball.move": when each of its keys is due, in s
    holds: dict[str, list[Span]] = field(default_factory=dict)  # "ball.move": from when until when it should stay
    joints: dict[str, tuple[str, str]] = field(default_factory=dict)  # the bodies of each
    parts: dict[str, list[str]] = field(default_factory=dict)  # the bodies that hang on each actor, with its own


class Row(NamedTuple):
    """A line of the timeline."""

    actor: str
    kind: str  # "move", "turn", "goals", "step", "touches", "limits"


def plan_of(scene: Scene) -> Plan:
    """What a scene asks for, as the sheet shows it."""
    wishes = {f"{n}.{kind}": getattr(a, kind) for n, a in scene.actors.items() for kind in ("move", "turn")}
    due = {label: key_times(wish) or [] for label, wish in wishes.items() if wish is not None}
    holds = {
        label: [(time, time + key.hold) for time, key in zip(due[label], wish.keys) if key.hold]
        for label, wish in wishes.items()
        if wish is not None
    }
    meetings = {
        name: Meeting(cues=meeting.cues, after=meeting.after, needs=meeting.needs)
        for name, meeting in scene.appointments.items()
    }
    joints = {name: joint.bodies for name, joint in scene.joints.items()}
    return Plan(meetings=meetings, due=due, holds=holds, joints=joints, parts=_parts(scene))


def _parts(scene: Scene) -> dict[str, list[str]]:
    """The bodies that hang on each actor, from joint to joint, as far as the next actor or what cannot move."""
    owner = {name: name for name in scene.actors}
    ties = [joint.bodies for joint in scene.joints.values() if joint.from_ is None and joint.until is None]
    found = True
    while found:
        found = False
        for one, other in (*ties, *((b, a) for a, b in ties)):
            if one in owner and other not in owner and other in scene.bodies and scene.bodies[other].moves_freely:
                owner[other] = owner[one]
                found = True
    return {actor: [body for body, of in owner.items() if of == actor] for actor in scene.actors}


def draw_script(path: str | Path, take: Take, plan: Plan, title: str = "") -> None:
    """Write the sheet, .png, .svg or .pdf."""
    rows = list(_rows(take, plan))
    if not rows and not plan.meetings:
        raise Problem(f"{title}: nobody acts in it, so there is no script to draw")
    heights = [max(len(plan.meetings), 0) * GRAPH_ROW + 0.3, len(rows) * ROW + 0.3]
    graph = bool(plan.meetings)
    ratios = heights if graph else heights[1:]
    size = (WIDTH, sum(ratios) + 0.9)
    with plot(path, rows=len(ratios), size=size, sharex=True, height_ratios=ratios) as drawn:
        sheets = drawn if isinstance(drawn, list) else [drawn]
        end = float(take.time[-1])
        if graph:
            _draw_graph(sheets[0], take, plan, end)
        sheets[0].set_title(title)
        _draw_rows(sheets[-1], take, plan, rows, end)
        _legend(sheets[-1], heights[-1])
        sheets[-1].set(xlabel="time (s)", xlim=(-0.01 * end, 1.01 * end))


def _legend(axes: Any, height: float) -> None:
    """What marks and lines mean, below the sheet."""
    from matplotlib.lines import Line2D

    marks: list[tuple[str, dict[str, Any]]] = [
        ("asked for", {"marker": "o", "mfc": "white", "mec": INK, "ls": ""}),
        ("met", {"marker": "o", "ms": 3.6, "color": INK, "ls": ""}),
        ("late: waits for others", {"color": PATIENT, "lw": 2}),
        ("late: held up", {"color": ALARM, "lw": 2}),
        ("at a limit", {"marker": "^", "ms": 4, "color": ALARM, "ls": ""}),
    ]
    axes.legend(
        handles=[Line2D([], [], label=label, **style) for label, style in marks], loc="upper right", ncols=len(marks),
        bbox_to_anchor=(1.0, -0.22 / height), frameon=False, fontsize=7, borderaxespad=0.0, handletextpad=0.5,
    )  # fmt: skip


def _rows(take: Take, plan: Plan) -> Iterator[Row]:
    """The lines of the timeline: for each actor its keys, what touches it, and where it was at a limit."""
    labels = list(dict.fromkeys(label for label in take.keys))
    for actor in dict.fromkeys(label.rsplit(".", 1)[0] for label in labels):
        yield from (Row(actor, kind) for kind in ("move", "turn", "goals") if f"{actor}.{kind}" in labels)
        if _touches(take, plan, actor) or any(actor in bodies for bodies in _ties(take, plan).values()):
            yield Row(actor, "touches")
        if list(_limits(take, plan, actor)):
            yield Row(actor, "limits")
    for walker in dict.fromkeys(e["subject"].split(".")[0] for e in take.events if e["kind"] == "footfall"):
        yield Row(walker, "step")


def _when(take: Take, kind: str, subject: str) -> list[float]:
    return [event["time"] for event in take.events if event["kind"] == kind and event["subject"] == subject]


def _draw_graph(axes: Any, take: Take, plan: Plan, end: float) -> None:
    """Each appointment as a bar from when it became active until it was kept, with arrows from those before it."""
    names = list(plan.meetings)
    axes.set(ylim=(len(names) - 0.4, -0.6), yticks=[])
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    spans: dict[str, Span] = {}
    for y, name in enumerate(names):
        begins, kept, missed = (_when(take, f"appointment {k}", name) for k in ("begins", "kept", "missed"))
        ink = color(y)
        if not begins:
            axes.text(0.5 * end, y, f"{name}  never became active", color=SOFT, ha="center", va="center", fontsize=9)
            spans[name] = (end, end)
            continue
        over = [*kept, *missed, end][0]
        spans[name] = (begins[0], over)
        axes.plot([begins[0], over], [y, y], color=ink, lw=7, alpha=0.3, solid_capstyle="butt")
        axes.plot([begins[0]], [y], marker="|", ms=10, color=ink)
        if kept:
            axes.plot([over], [y], marker="D", ms=6.5, color=ink)
        elif missed:
            axes.plot([over], [y], marker="x", ms=8, mew=2.2, color=ALARM)
        state = f"kept at {over:.2f} s" if kept else f"missed at {over:.2f} s" if missed else "still waiting"
        needs = plan.meetings[name].needs
        count = f", needs {needs} of {len(plan.meetings[name].after)}" if needs is not None else ""
        room = over < 0.62 * end  # the text stands where there is room
        at, align, shift = (over, "left", (10, 0)) if room else (begins[0], "right", (-8, 0))
        if not room and begins[0] < 0.35 * end:
            at, align, shift = 0.5 * (begins[0] + over), "center", (0, 0)
        axes.annotate(
            f"{name}   active from {begins[0]:.2f} s{count}, {state}",
            (at, y), xytext=shift, textcoords="offset points", color=INK, ha=align, va="center", fontsize=8.5,
            bbox={"fc": PAPER, "ec": "none", "pad": 1.5, "alpha": 0.9}, zorder=5,
        )  # fmt: skip
    for y, (name, meeting) in enumerate(plan.meetings.items()):
        for parent in meeting.after:
            if parent in spans and spans[name][0] < end:
                before, k = spans[parent][1], names.index(parent)
                waited = before <= spans[name][0] + 0.02  # not all of several are needed
                style = {"arrowstyle": "-|>", "color": color(k), "lw": 1.2, "shrinkA": 5, "shrinkB": 4}
                style |= {"connectionstyle": "arc3,rad=0.12", "ls": "-" if waited else (0, (2, 2))}
                start = (before, k) if waited else (spans[parent][0], k)
                axes.annotate("", (spans[name][0], y), xytext=start, arrowprops=style, zorder=1)


def _draw_rows(axes: Any, take: Take, plan: Plan, rows: list[Row], end: float) -> None:
    place = {row: y for y, row in enumerate(rows)}
    axes.set(ylim=(len(rows) - 0.4, -0.6), yticks=range(len(rows)))
    axes.set_yticklabels([{"step": "steps"}.get(row.kind, row.kind) for row in rows], fontsize=8)
    axes.grid(axis="y", visible=False)
    for y, row in enumerate(rows):
        ink = _ink(take, row.actor, y)
        if y == 0 or rows[y - 1].actor != row.actor:
            axes.axhline(y - 0.5, color=LINE, lw=0.8 if y > 0 else 0.0)
            axes.annotate(
                row.actor, (0, y), xycoords=axes.get_yaxis_transform(), xytext=(-46, 0), textcoords="offset points",
                color=ink, ha="right", va="center", weight="bold", fontsize=9, annotation_clip=False,
            )  # fmt: skip
        label = f"{row.actor}.{row.kind}"
        if row.kind in ("move", "turn"):
            _draw_keys(axes, take, plan, label, y, ink, end)
        elif row.kind == "goals":
            _draw_goals(axes, take, label, y, ink, end)
        elif row.kind == "touches":
            _draw_touches(axes, take, plan, row.actor, y, end)
        elif row.kind == "limits":
            limits = sorted(_limits(take, plan, row.actor))
            axes.plot([time for time, _ in limits], [y] * len(limits), ls="", marker="^", ms=4, color=ALARM, alpha=0.7)
            _label(axes, y, [(time, text, ALARM) for time, text in _now_and_then(limits, end)], end)
        else:
            falls = [e for e in take.events if e["kind"] == "footfall" and e["subject"].startswith(f"{row.actor}.")]
            axes.plot([fall["time"] for fall in falls], [y] * len(falls), ls="", marker="v", ms=4, color=ink)
    _draw_meetings(axes, take, plan, place)


def _ink(take: Take, actor: str, y: int) -> str:
    """The colour of an actor's body, dark enough to be read on paper."""
    own = take.colors[take.index(actor)] if actor in take.names else color(y)
    light = linear_color(own)
    bright = float(light @ [0.2126, 0.7152, 0.0722])
    if bright <= READABLE:
        return own[:7]
    return "#" + "".join(f"{round(255 * (part * READABLE / bright) ** (1 / 2.2)):02x}" for part in light)


def _draw_keys(axes: Any, take: Take, plan: Plan, label: str, y: int, ink: str, end: float) -> None:
    """Keys as they were asked for, hollow, and as they were met, filled; a line between the two is lateness: where it
    waited for others, and where it was held up."""
    axes.plot([0, end], [y, y], color=ink, lw=0.8, alpha=0.35, zorder=1)
    for begin, over in plan.holds.get(label, []):
        axes.plot([begin, min(over, end)], [y, y], color=ink, lw=6, alpha=0.28, solid_capstyle="butt")
    due = plan.due.get(label, [])
    asked = {(0, k): time for k, time in enumerate(due)}
    met: dict[tuple[int, int], float] = {}
    for event in take.events:
        if event["subject"] == label and event["kind"] == "key reached":
            met[event["details"].get("lap", 0), event["details"]["key"]] = event["time"]
    numbered = len(take.keys.get(label, [])) <= MOST_NUMBERED
    waited = dict(sorted(_waited(take, plan, label).items()))
    for key, time in asked.items():
        if time <= end:
            axes.plot([time], [y], marker="o", ms=6.5, mfc="white", mec=ink, mew=1.1, zorder=3)
        if key in met and met[key] > time + LATE:
            patient = min([late for cue, late in waited.items() if cue <= key[1]][-1:] or [0.0])
            turns_red = min(time + patient + LATE, met[key]) if patient > 0.0 else time
            axes.plot([time, turns_red], [y, y], color=PATIENT, lw=2, zorder=2)
            if turns_red < met[key]:
                axes.plot([turns_red, met[key]], [y, y], color=ALARM, lw=2, zorder=2)
    for time in met.values():
        axes.plot([time], [y], marker="o", ms=3.6, color=ink, zorder=4)
    if numbered:
        _label(axes, y, [(time, str(number), ink) for (_, number), time in met.items()], end)
    for time in _when(take, "strength saturated", label):
        axes.plot([time], [y + 0.28], marker="|", ms=4, color=ALARM, alpha=0.6)


def _waited(take: Take, plan: Plan, label: str) -> dict[int, float]:
    """By how many seconds an actor was late at its cues because others of an appointment came later: not if it was due
    last itself."""
    waited = {}
    for name, meeting in plan.meetings.items():
        kept = _when(take, "appointment kept", name) or _when(take, "appointment missed", name)
        own = [int(cue.rpartition(".")[2]) for cue in meeting.cues if cue.startswith(f"{label}.")]
        times = [_due(plan, cue) for cue in meeting.cues if not cue.startswith(f"{label}.")]
        if own and times and kept and max(times) > _due(plan, f"{label}.{own[0]}") + LATE:
            waited[own[0]] = kept[0] - _due(plan, f"{label}.{own[0]}")
    return waited


def _due(plan: Plan, cue: str) -> float:
    """When a cue should happen; for ever later, if nothing tells."""
    label, _, number = cue.rpartition(".")
    due = plan.due.get(label, [])
    return due[int(number)] if int(number) < len(due) else float("inf")


def _draw_goals(axes: Any, take: Take, label: str, y: int, ink: str, end: float) -> None:
    """Goals when they were due: filled if they were met, crossed out if not; and how long they were held."""
    axes.plot([0, end], [y, y], color=ink, lw=0.8, alpha=0.35, zorder=1)
    own = [event for event in take.events if event["subject"] == label]
    freed = {event["details"]["goal"]: event["time"] for event in own if event["kind"] == "goal released"}
    marks = [mark for mark in goals_of(take) if mark.subject == label and mark.time <= end]
    for mark in marks:
        if take.keys[label][mark.number].get("hold") and mark.met is not None:
            over = freed.get(mark.number, end)
            axes.plot([mark.time, over], [y, y], color=ink, lw=6, alpha=0.28, solid_capstyle="butt")
        axes.plot([mark.time], [y], marker="o", ms=6.5, mfc="white", mec=ink, mew=1.1, zorder=3)
        if mark.met is False:
            axes.plot([mark.time], [y], marker="x", ms=8, mew=2.2, color=ALARM, zorder=4)
        elif mark.met:
            axes.plot([mark.time], [y], marker="o", ms=3.6, color=ink, zorder=4)
    if len(marks) <= MOST_NUMBERED:
        _label(axes, y, [(mark.time, str(mark.number), ink) for mark in marks], end)


def _touches(take: Take, plan: Plan, actor: str) -> list[tuple[float, float, str]]:
    """What touched an actor, or a part of it, from when until when."""
    found, since, own = [], {}, plan.parts.get(actor, [actor])
    for event in take.events:
        if event["kind"] not in ("contact begins", "contact ends"):
            continue
        pair = (event["subject"], event["details"]["with"])
        if (pair[0] in own) == (pair[1] in own):
            continue
        other = pair[1] if pair[0] in own else pair[0]
        if event["kind"] == "contact begins":
            since[other] = event["time"]
        elif other in since:
            found.append((since.pop(other), event["time"], other))
    return [*found, *((begin, float(take.time[-1]), other) for other, begin in since.items())]


def _ties(take: Take, plan: Plan) -> dict[str, tuple[str, str]]:
    """The joints that were made, let go or broken in the take, and their bodies."""
    changed = {e["subject"] for e in take.events if e["kind"] in ("joint made", "joint let go", "joint broke")}
    return {name: bodies for name, bodies in plan.joints.items() if name in changed}


def _draw_touches(axes: Any, take: Take, plan: Plan, actor: str, y: int, end: float) -> None:
    named: dict[str, float] = {}
    labels: list[Label] = []
    for begin, over, other in sorted(_touches(take, plan, actor)):
        axes.plot(
            [begin, max(over, begin + 0.004 * end)], [y, y], color=SOFT, lw=3.5, alpha=0.35, solid_capstyle="butt"
        )
        if len(named) < MOST_NAMED and begin - named.get(other, -end) > 0.08 * end:
            named[other] = begin
            labels.append((begin, other, SOFT))
    for name, bodies in _ties(take, plan).items():
        if actor not in bodies:
            continue
        made = _when(take, "joint made", name) or [0.0]
        gone = sorted(_when(take, "joint let go", name) + _when(take, "joint broke", name)) or [end]
        axes.plot([made[0], gone[0]], [y, y], color=TIED, lw=6, alpha=0.8, solid_capstyle="butt", zorder=3)
        labels.append((made[0], name, TIED))
    _label(axes, y, labels, end)


def _limits(take: Take, plan: Plan, actor: str) -> Iterator[tuple[float, str]]:
    for event in take.events:
        if event["kind"] in ("joint limit", "joint broke") and actor in plan.joints.get(event["subject"], ()):
            yield event["time"], event["subject"] + (" broke" if event["kind"] == "joint broke" else "")


def _now_and_then(marks: list[tuple[float, str]], end: float) -> Iterator[tuple[float, str]]:
    """Of marks with names, those that were not named a moment ago."""
    named: dict[str, float] = {}
    for time, text in marks:
        if time - named.get(text, -end) > NAMED_AGAIN * end:
            named[text] = time
            yield time, text


def labelled(labels: list[Label], end: float) -> list[Label]:
    """Labels of a row that do not lie on each other: what has no room of its own stands behind the one before it."""
    placed: list[tuple[float, list[str], str]] = []
    for time, text, ink in sorted(labels):
        if placed and time < placed[-1][0] + _width(placed[-1][1]) * end:
            if text not in placed[-1][1]:
                placed[-1][1].append(text)
        else:
            placed.append((time, [text], ink))
    return [(time, _joined(texts), ink) for time, texts, ink in placed]


def _joined(texts: list[str]) -> str:
    more = len(texts) - MOST_JOINED
    return ", ".join(texts) if more <= 0 else f"{', '.join(texts[:MOST_JOINED])} +{more}"


def _width(texts: list[str]) -> float:
    """Of the take, with a gap."""
    return LETTER * (len(_joined(texts)) + 1)


def _draw_meetings(axes: Any, take: Take, plan: Plan, place: dict[Row, int]) -> None:
    """A line through all members of an appointment where it was kept."""
    for n, (name, meeting) in enumerate(plan.meetings.items()):
        kept = _when(take, "appointment kept", name)
        lines = [y for cue in meeting.cues for row, y in place.items() if cue.startswith(f"{row.actor}.{row.kind}.")]
        if kept and lines:
            axes.plot([kept[0]] * 2, [min(lines) - 0.3, max(lines) + 0.3], color=color(n), lw=1.4, ls=(0, (3, 2)))
            axes.plot([kept[0]] * len(lines), lines, ls="", marker="D", ms=8, mfc="none", mec=color(n), mew=1.3)


def _label(axes: Any, y: float, labels: list[Label], end: float) -> None:
    for time, text, ink in labelled(labels, end):
        axes.annotate(text, (time, y), xytext=(4, 7), textcoords="offset points", color=ink, fontsize=7, va="center")
