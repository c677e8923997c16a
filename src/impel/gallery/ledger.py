"""The claims ledger: what the papers say, and the verdicts that the gallery's checks compute."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from impel.files import read_document

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
