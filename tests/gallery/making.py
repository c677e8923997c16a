"""How the tests of the gallery make an entry."""

import importlib
from pathlib import Path

from PIL import Image

from impel.gallery.ledger import load_claims


def verdicts_of(name: str, directory: Path) -> list[tuple[str, str]]:
    """Make an entry; claims and verdicts, in order, once its pictures and what it says have been looked at."""
    exhibit = importlib.import_module(f"impel.gallery.entries.{name}").make(directory)
    assert exhibit.pictures
    for file, caption in exhibit.pictures:
        assert caption
        if file.endswith(".mp4"):
            assert (directory / file).stat().st_size > 10_000
            continue
        with Image.open(directory / file) as picture:
            assert len(set(picture.convert("L").resize((64, 64)).tobytes())) > 8  # not blank
    claims = load_claims()
    for verdict in exhibit.verdicts:
        assert verdict.claim in claims
        assert any(character.isdigit() for character in verdict.measured)
        assert "nan" not in verdict.measured
    return [(verdict.claim, verdict.verdict) for verdict in exhibit.verdicts]
