"""The README's pictures of the studio, and those of the examples in its gallery, taken in a real browser: `make
pictures`."""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "studio"))
from browsing import BROWSER, MISSING, launched, new_page, studio_in  # noqa: E402

CARDS = HERE.parent / "src" / "impel" / "studio" / "page"
CARD = (384, 216)


def opened(page: Any, example: str, frame: int) -> None:
    page.evaluate(f"studio.open_scene({{example: '{example}'}})")
    page.wait_for_function(f"studio.name === '{example}.yaml' && studio.take?.ended && studio.framed === studio.name")
    page.evaluate(f"studio.play(false); studio.go_to({frame})")
    page.wait_for_function(f"studio.shown.frame === {frame}")


def fields(page: Any) -> None:
    """An arm in the middle of its way, with the fields of its hand."""
    opened(page, "reach", 118)
    page.click("#outline .item[data-group=actors][data-name=hand]")
    page.wait_for_timeout(500)
    page.screenshot(path=HERE / "studio.png")


def poke(page: Any) -> None:
    """The arm that is pulled down by hand."""
    opened(page, "blow", 60)
    page.click("#theme")
    page.click("#live")
    page.wait_for_function("studio.live && studio.take.done > 62")
    x, y = page.evaluate("studio.on_screen('lower')")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 130, steps=4)
    page.wait_for_timeout(1200)
    page.screenshot(path=HERE / "studio_poke.png")
    page.mouse.up()
    page.click("#live")
    page.wait_for_function("!studio.live")
    page.click("#theme")


def cards(page: Any) -> None:
    """A picture of each example, for the gallery that one starts from."""
    page.click("#overlays")
    for example in page.evaluate("studio.examples.map(({name}) => name)"):
        opened(page, example, 0)
        page.evaluate("studio.go_to(Math.round(0.45 * studio.take.frames))")
        page.wait_for_function("studio.shown.frame === Math.floor(studio.frame)")
        page.evaluate("document.getElementById('tools').hidden = document.getElementById('notices').hidden = true")
        picture = Image.open(io.BytesIO(page.locator("#view").screenshot())).convert("RGB")
        width, height = picture.width, round(picture.width * 9 / 16)
        top = (picture.height - height) // 2
        picture.crop((0, top, width, top + height)).resize(CARD, Image.Resampling.LANCZOS).save(
            CARDS / f"card_{example}.jpg", quality=82, optimize=True
        )
    page.evaluate("document.getElementById('tools').hidden = document.getElementById('notices').hidden = false")
    page.click("#overlays")


def toys(page: Any) -> None:
    """A palette that a search has filled."""
    page.click("#toys")
    page.select_option("#toy-figure", "bounder")
    page.fill("#toy-evaluations", "1000")
    page.click("#toy-search")
    found = "[...document.querySelectorAll('#palette p')].some((p) => p.textContent.endsWith(' bounder.'))"
    page.wait_for_function(found, timeout=600_000)
    page.wait_for_timeout(700)
    page.screenshot(path=HERE / "studio_toys.png")


def main() -> None:
    if BROWSER is None:
        sys.exit(MISSING)
    with (
        tempfile.TemporaryDirectory() as folder,
        studio_in(folder) as (address, _),
        sync_playwright() as playwright,
    ):
        page = new_page(launched(playwright), 1280, 800)
        page.goto(address)
        page.wait_for_selector("#gallery[open]")
        page.evaluate("document.getElementById('gallery').close()")
        for picture in (cards, fields, poke, toys):
            picture(page)


if __name__ == "__main__":
    main()
