"""What a person should be told about a take: where it did not go as wished, one plain line each."""

from typing import Any

from impel.takes.take import Take


def remarks(take: Take) -> list[str]:
    """Which actors did not come to their last key or go round no more, and why; each line begins with the subject."""
    lines = []
    for event in take.events:
        if event["kind"] in ("held up", "out of time"):
            lines.append(f"{event['subject']}: {_ending(event, float(take.time[-1]))}")
    return lines


def _ending(event: dict[str, Any], end: float) -> str:
    details = event["details"]
    if event["kind"] == "out of time":
        return (
            f"{_how_far(details)} and is still on its way when the {end:g} s are over; "
            f"about {details['needs']:.2g} s more are needed"
        )
    since = f"held up since {event['time']:.1f} s" if event["time"] > 0.05 else "held up from the start"
    return f"{_how_far(details)}, {since}: {details['because']}"


def _how_far(details: dict[str, Any]) -> str:
    if "lap" in details:
        return f"went round {details['lap']} times" if details["lap"] != 1 else "went round once"
    return f"reached {details['reached']} of {details['keys']} keys"
