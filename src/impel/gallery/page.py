"""The gallery's page: one HTML file that needs nothing but the pictures beside it."""

import html
from collections import defaultdict
from pathlib import Path
from typing import Any

from impel.files import writing
from impel.gallery.ledger import Exhibit, Verdict, load_claims, worst

STYLE = """
:root { color-scheme: light; --ink: #22262e; --soft: #6b7280; --line: #e5e7eb; --paper: #fbfaf8; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 48px 32px 96px; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 40px; letter-spacing: -0.02em; margin: 0 0 8px; }
h2 { margin: 72px 0 4px; font-size: 25px; letter-spacing: -0.01em; }
p { max-width: 72ch; margin: 8px 0 16px; } .lead { color: var(--soft); font-size: 18px; }
figure { margin: 16px 0 24px; } img, video { display: block; max-width: 100%; border-radius: 10px;
  border: 1px solid var(--line); background: white; }
figcaption { color: var(--soft); font-size: 14px; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; } td, th { text-align: left; vertical-align: top;
  padding: 8px 12px 8px 0; border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 500; }
td:first-child { white-space: nowrap; } .where { color: var(--soft); }
.verdict { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 13px; white-space: nowrap; }
.holds { background: #dcf3e4; color: #14532d; } .holds-corrected { background: #fdf0cf; color: #713f12; }
.does-not-hold { background: #fbdcd9; color: #7f1d1d; } a { color: inherit; }
"""


def write_page(path: Path, shown: list[tuple[Any, Exhibit]]) -> None:
    by_claim: dict[str, list[Verdict]] = defaultdict(list)
    for _, exhibit in shown:
        for verdict in exhibit.verdicts:
            by_claim[verdict.claim].append(verdict)
    sections = [_section(entry, exhibit) for entry, exhibit in shown]
    rows = [_row(worst(by_claim[id])) for id in load_claims() if id in by_claim]
    document = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>impel: the gallery</title><style>{STYLE}</style></head><body>
<h1>The gallery</h1>
<p class="lead">What the classic papers show, made again by impel: scenes and toys that come with it as files to edit,
gaits and controllers that it searched for, and plots of what was measured. Every verdict was computed when its entry
was made.</p>
{"".join(sections)}
<h2 id="ledger">The ledger</h2>
{_table(rows)}
</body></html>
"""
    with writing(path) as temporary:
        temporary.write_text(document, encoding="utf-8")


def _section(entry: Any, exhibit: Exhibit) -> str:
    name = entry.__name__.rpartition(".")[2]
    figures = "".join(_figure(f"{name}/{file}", caption) for file, caption in exhibit.pictures)
    table = _table([_row(verdict) for verdict in exhibit.verdicts])
    heading = f"<h2>{html.escape(entry.TITLE)}</h2><p>{html.escape(entry.TEXT)}</p>"
    return f'<section id="{name}">{heading}{figures}{table}</section>\n'


def _figure(source: str, caption: str) -> str:
    text = html.escape(caption)
    if source.endswith(".mp4"):
        media = f'<video src="{source}" controls loop muted autoplay playsinline></video>'
    else:
        media = f'<img src="{source}" alt="{text}" loading="lazy">'
    return f"<figure>{media}<figcaption>{text}</figcaption></figure>"


def _table(rows: list[str]) -> str:
    return f"<table><tr><th></th><th>The paper says</th><th>Verdict</th><th>Measured</th></tr>{''.join(rows)}</table>"


def _row(verdict: Verdict) -> str:
    claim = load_claims()[verdict.claim]
    kind = verdict.verdict.replace(" ", "-")
    measured = html.escape(verdict.measured)
    if verdict.correction:
        measured += f"<br><b>Corrected:</b> {html.escape(verdict.correction)}"
    return (
        f"<tr><td>{claim.id}</td><td>{html.escape(claim.claim)} <span class='where'>({claim.where})</span></td>"
        f'<td><span class="verdict {kind}">{verdict.verdict}</span></td><td>{measured}</td></tr>'
    )
