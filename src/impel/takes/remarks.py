"""What a person should be told about a take: where it did not go as wished, one plain line each."""

from typing import Any

from impel.takes.goals import goals_of
from impel.takes.take import Take

LITTLE_OFF, LITTLE_TURNED = 1e-3, 0.1  # m and degrees: of a goal that was missed, not worth a word
JUST = 0.1  # s: what touched it no longer ago was in its way, and what it touched no later it stood on
VISIBLE = 1 / 60  # s: motion that went badly for no longer than this in all cannot be seen

REMEDIES = {
    "contact too stiff": "a lower coating.stiffness, a heavier body or a shorter world.step may help",
    "contact too deep": "less speed, a thicker coating or a shorter world.step may help",
    "joints too far off": "joints that leave each other more room, wider limits or some slack, may help",
    "moved too far": "less speed, larger bodies or a shorter world.step may help",
}


def remarks(take: Take) -> list[str]:
    """Which actors missed goals, did not come to their last key or go round no more, which walkers still wait, and
    where the motion cannot be trusted."""
    lines = _goals(take)
    for event in take.events:
        if event["kind"] in ("held up", "out of time"):
            lines.append(f"{event['subject']}: {_ending(event, float(take.time[-1]))}")
    lines += _waiting(take)
    lines += [_missed(event) for event in take.events if event["kind"] == "appointment missed"]
    lines += [_open(event) for event in take.events if event["kind"] == "appointment open"]
    flat = {(e["subject"], e["details"]["with"]): e for e in reversed(take.events) if e["kind"] == "pressed flat"}
    lines += [_flat(event) for event in reversed(flat.values())]
    lines += [_buried(event) for event in take.events if event["kind"] == "buried"]
    apart = [event for event in take.events if event["kind"] == "joint apart"]
    if apart:
        lines.append(_apart(apart))
    told = {event["subject"] for event in take.events if event["kind"] in ("held up", "out of time")}
    lines += [_overloaded(e) for e in take.events if e["kind"] == "overloaded" and e["subject"] not in told]
    # Takes of earlier versions do not tell how long it went badly.
    rough = [event for event in take.events if event["kind"] == "smallest step" and "seconds" in event["details"]]
    if sum(event["details"]["seconds"] for event in rough) >= VISIBLE:
        lines.append(_rough(rough))
    return lines


def _goals(take: Take) -> list[str]:
    """One line for each actor that missed goals, about the worst."""
    lines = []
    unmet = [event for event in take.events if event["kind"] == "goal missed"]
    for event in unmet:
        if "held" in event["details"]:
            goal, held = event["details"]["goal"], event["details"]["held"]
            lines.append(f"{event['subject']}: goal {goal} never came up, for goal {held} was not let go")
    missed = [event for event in unmet if "held" not in event["details"]]
    for subject in dict.fromkeys(event["subject"] for event in missed):
        own = [event for event in missed if event["subject"] == subject]
        worst = max(own, key=lambda e: max(e["details"].get("distance", 0.0), e["details"].get("angle", 0.0) / 60))
        numbers = [str(event["details"]["goal"]) for event in own]
        which = f"goal {numbers[0]}" if len(own) == 1 else f"goals {', '.join(numbers[:-1])} and {numbers[-1]}"
        at = "" if len(own) == 1 else f" goal {worst['details']['goal']}"
        lines.append(f"{subject}: missed {which},{at} by {_miss(worst['details'])}; {_cure(take, worst)}")
    late = [mark for mark in goals_of(take) if mark.met is None and mark.time > take.time[-1] + 1e-9]
    for subject in dict.fromkeys(mark.subject for mark in late):
        own_late = [mark for mark in late if mark.subject == subject]
        lines.append(f"{subject}: the take ends before goal {own_late[0].number}, due at {own_late[0].time:g} s")
    return lines


def _miss(details: dict[str, Any]) -> str:
    ways = [f"{plain(details['distance'], 2)} m"] if details.get("distance", 0.0) > LITTLE_OFF else []
    ways += [f"{plain(details['angle'], 2)}°"] if details.get("angle", 0.0) > LITTLE_TURNED else []
    late = details.get("late")
    when = "" if late is None else f" ({plain(1e3 * abs(late), 2)} ms {'late' if late > 0 else 'early'})"
    return " and ".join(ways) + when


def _cure(take: Take, event: dict[str, Any]) -> str:
    subject = event["subject"]
    for other in take.events:
        if other["kind"] == "goal released" and other["subject"] == subject and other["time"] > event["time"]:
            held = other["details"]["goal"]
            if held < event["details"]["goal"]:
                return f"goal {held} was held until {other['time']:.2f} s: let it go before"
    if "because" in event["details"]:
        return str(event["details"]["because"])
    touched = _touched(take, subject.rpartition(".")[0], event["time"])
    if touched:
        return f"it touched {', '.join(touched)}: a goal round that, or more time, would do"
    if "weak" in event["details"]:
        return str(event["details"]["weak"])
    weak = [e for e in take.events if e["kind"] == "strength saturated" and e["subject"].startswith(f"{subject}.")]
    if weak:
        unit = "N·m" if weak[0]["subject"].endswith(".turn") else "N"
        used = f"{plain(weak[0]['details']['strength'], 3)} {unit}"
        return f'all its strength of {used} was used: more of it, "unlimited", or more time would do'
    return "something kept it from it: a goal within reach, or more time, would do"


def _touched(take: Take, body: str, time: float) -> list[str]:
    """What touched a body at a time, or shortly before; but not what it has touched from the start."""
    since: dict[str, float] = {}
    gone: dict[str, float] = {}
    for event in take.events:
        if event["kind"] not in ("contact begins", "contact ends") or event["time"] > time:
            continue
        pair = [event["subject"], event["details"]["with"]]
        if body in pair:
            other = pair[pair[0] == body]
            if event["kind"] == "contact begins":
                since[other] = event["time"]
                gone.pop(other, None)
            else:
                gone[other] = event["time"]
    lately = time - JUST
    return [other for other, when in since.items() if when > JUST and gone.get(other, time) > lately]


def plain(number: float, digits: int) -> str:
    """A number as people write it: rounded to so many digits that count, with no exponent up to a million."""
    return f"{float(f'{number:.{digits}g}'):g}"


def _missed(event: dict[str, Any]) -> str:
    details = event["details"]
    who = f", without {', '.join(details['absent'])}" if details.get("absent") else ""
    why = f", for {' and '.join(details['goals'])} was missed" if details.get("goals") else who
    cure = "" if details.get("timeout", 0.0) is None or details.get("goals") else "; a longer timeout may help"
    return f"appointments.{event['subject']} was missed at {event['time']:.2f} s{why}{_in_vain(details)}{cure}"


def _open(event: dict[str, Any]) -> str:
    details = event["details"]
    who = f": {', '.join(details['expected'])} did not come" if details["expected"] else ""
    return f"appointments.{event['subject']} was not kept when the {event['time']:g} s are over{who}{_in_vain(details)}"


def _in_vain(details: dict[str, Any]) -> str:
    """The joints that wait for an appointment for ever."""
    waits = [f"joints.{name} is {what}" for what in ("never made", "never let go") for name in details.get(what, ())]
    return f", so {' and '.join(waits)}" if waits else ""


def _apart(events: list[dict[str, Any]]) -> str:
    worst = max(events, key=lambda event: event["details"]["worst"])
    details = worst["details"]
    ways = [f"{plain(1e3 * details['gap'], 2)} mm"] if details["gap"] > 0.0 else []
    ways += [f"{plain(details['angle'], 2)}°"] if details["angle"] > 0.0 else []
    others = len({event["subject"] for event in events}) - 1
    more = f", and {others} other joint{'s' if others > 1 else ''} too" if others else ""
    return (
        f"joints.{worst['subject']} is apart by {' and '.join(ways)} from {worst['time']:.2f} s on, "
        f"for {plain(details['seconds'], 2)} s{more}: {details['because']}"
    )


def _overloaded(event: dict[str, Any]) -> str:
    details = event["details"]
    unit = "N·m" if event["subject"].endswith(".turn") else "N"
    strength = f"all its strength of {plain(details['strength'], 3)} {unit}"
    when = f"for {plain(details['seconds'], 2)} s, first at {event['time']:.1f} s"
    if "pressed" in details:
        return f"{event['subject']}: pressed {details['pressed']} in vain with {strength} {when}"
    carrying = f" (it carries {', '.join(details['carrying'])})" if details["carrying"] else ""
    others = [f"{plain(needs, 2)} for {label}" for label, needs in details.get("others", {}).items()]
    besides = f" with {' and '.join(others)}" if others else ""
    cure = f"; strength: {plain(details['needs'], 2)}{besides} would do" if details["needs"] > 0.0 else ""
    return f"{event['subject']}: {strength} was used {when}{carrying}{cure}"


def _flat(event: dict[str, Any]) -> str:
    by = event["details"]["with"]
    return (
        f"{event['subject']}: was pressed flat by {by} at {event['time']:.2f} s, which follows its keys and goes "
        "through it; keys that leave it room would do"
    )


def _buried(event: dict[str, Any]) -> str:
    depth = plain(event["details"]["depth"], 2)
    return (
        f"{event['subject']}: ends inside {event['details']['in']}, its middle {depth} m deep: it was pressed through"
    )


def _rough(events: list[dict[str, Any]]) -> str:
    total = sum(event["details"]["seconds"] for event in events)
    worst = max(events, key=lambda event: event["details"]["seconds"])
    reason, where = worst["details"]["reason"], " and ".join(worst["details"]["where"])
    place = f" at {where}" if where else ""
    steps = sum(e["details"].get("steps", 0) for e in events if e["details"]["reason"] == "joints too far off")
    forced = f", {steps} steps had to be forced" if steps else ""
    return (
        f"rough for {plain(total, 2)} s in all, most at {worst['time']:.2f} s: {reason}{place}{forced}; "
        f"{REMEDIES[reason]}"
    )


def _ending(event: dict[str, Any], end: float) -> str:
    details = event["details"]
    if event["kind"] == "out of time" and "needs" not in details:
        return f"{_how_far(details)} and is {_miss(details)} from the last when the {end:g} s are over"
    if event["kind"] == "out of time":
        return (
            f"{_how_far(details)} and is still on its way when the {end:g} s are over; "
            f"about {plain(details['needs'], 2)} s more are needed"
        )
    return f"{_how_far(details)}, held up {_since(event['time'])}: {details['because']}"


def _waiting(take: Take) -> list[str]:
    """One line for each walker that has not gone on since it last stopped."""
    last = {event["subject"]: event for event in take.events if event["kind"] in ("waits", "goes on")}
    waits = [event for event in last.values() if event["kind"] == "waits"]
    return [f"{e['subject']}: waits for {e['details']['for']}, which is in its way, {_since(e['time'])}" for e in waits]


def _since(time: float) -> str:
    return f"since {time:.1f} s" if time > 0.05 else "from the start"


def _how_far(details: dict[str, Any]) -> str:
    if "lap" in details:
        return f"went round {details['lap']} times" if details["lap"] != 1 else "went round once"
    if details["reached"] == 0:
        return "has not come to key 0"
    return f"came as far as key {details['reached'] - 1} of {details['keys'] - 1}"
