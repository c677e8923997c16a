"""What a person should be told about a take: where it did not go as wished, one plain line each."""

from typing import Any

from impel.takes.take import Take

VISIBLE = 1 / 60  # s: motion that went badly for no longer than this in all cannot be seen

REMEDIES = {
    "contact too stiff": "a lower coating.stiffness, a heavier body or a shorter world.step may help",
    "contact too deep": "less speed, a thicker coating or a shorter world.step may help",
    "joints too far off": "joints that leave each other more room, wider limits or some slack, may help",
    "moved too far": "less speed, larger bodies or a shorter world.step may help",
}


def remarks(take: Take) -> list[str]:
    """Which actors did not come to their last key or go round no more, and where the motion cannot be trusted."""
    lines = []
    for event in take.events:
        if event["kind"] in ("held up", "out of time"):
            lines.append(f"{event['subject']}: {_ending(event, float(take.time[-1]))}")
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


def plain(number: float, digits: int) -> str:
    """A number as people write it: rounded to so many digits that count, with no exponent up to a million."""
    return f"{float(f'{number:.{digits}g}'):g}"


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
    carrying = f" (it carries {', '.join(details['carrying'])})" if details["carrying"] else ""
    return (
        f"{event['subject']}: all its strength of {plain(details['strength'], 3)} {unit} was used for "
        f"{plain(details['seconds'], 2)} s, first at {event['time']:.1f} s{carrying}; strength: "
        f"{plain(details['needs'], 2)} would do"
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
    if event["kind"] == "out of time":
        return (
            f"{_how_far(details)} and is still on its way when the {end:g} s are over; "
            f"about {plain(details['needs'], 2)} s more are needed"
        )
    since = f"held up since {event['time']:.1f} s" if event["time"] > 0.05 else "held up from the start"
    return f"{_how_far(details)}, {since}: {details['because']}"


def _how_far(details: dict[str, Any]) -> str:
    if "lap" in details:
        return f"went round {details['lap']} times" if details["lap"] != 1 else "went round once"
    return f"reached {details['reached']} of {details['keys']} keys"
