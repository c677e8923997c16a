"""The claims ledger: what the papers say, and the verdicts that the gallery's checks compute."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from impel.files import Problem, read_document, write_document

HOLDS: Literal["holds"] = "holds"
HOLDS_CORRECTED: Literal["holds corrected"] = "holds corrected"
DOES_NOT_HOLD: Literal["does not hold"] = "does not hold"


@dataclass(frozen=True)
class Verdict:
    """What one check found out about one claim."""

    claim: str  # id in claims.yaml
    verdict: Literal["holds", "holds corrected", "does not hold"]
    measured: str  # the figures behind it, with the tolerance
    correction: str = ""  # by which correction, for "holds corrected"


@dataclass
class Exhibit:
    """What an entry leaves behind: pictures (and videos) with captions, and its verdicts."""

    pictures: list[tuple[str, str]] = field(default_factory=list)  # (file name, caption)
    verdicts: list[Verdict] = field(default_factory=list)


def save_exhibit(path: Path, exhibit: Exhibit) -> None:
    pictures = [{"file": file, "caption": caption} for file, caption in exhibit.pictures]
    write_document(path, {"pictures": pictures, "verdicts": [vars(verdict) for verdict in exhibit.verdicts]})


def load_exhibit(path: Path) -> Exhibit | None:
    """What an entry left behind when it was last made, if it was."""
    if not path.exists():
        return None
    document = read_document(path)
    try:
        pictures = [(picture["file"], picture["caption"]) for picture in document["pictures"]]
        return Exhibit(pictures, [Verdict(**verdict) for verdict in document["verdicts"]])
    except (KeyError, TypeError):
        raise Problem(f"{path}: is not what an entry of the gallery leaves behind; remove it") from None


@dataclass(frozen=True)
class Claim:
    id: str
    claim: str
    where: str


def judge(claim: str, holds: bool, measured: str, *, correction: str = "") -> Verdict:
    """The verdict that follows from one computed condition."""
    if not holds:
        return Verdict(claim, DOES_NOT_HOLD, measured)
    return Verdict(claim, HOLDS_CORRECTED if correction else HOLDS, measured, correction)


def load_claims() -> dict[str, Claim]:
    papers = read_document(Path(__file__).with_name("claims.yaml"))
    return {
        id: Claim(id, entry["claim"], entry["where"])
        for paper in papers.values()
        for id, entry in paper["claims"].items()
    }


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict for a claim that several entries looked at: the least favourable, with all figures."""
    order = [HOLDS, HOLDS_CORRECTED, DOES_NOT_HOLD]
    least = max(verdicts, key=lambda v: order.index(v.verdict))
    corrections = dict.fromkeys(v.correction for v in verdicts if v.correction)
    return Verdict(least.claim, least.verdict, "; ".join(v.measured for v in verdicts), "; ".join(corrections))
