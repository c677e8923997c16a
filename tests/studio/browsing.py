"""A real browser to look at the studio with: for tests, benchmarks, pictures and the soak."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "no Chromium here: apt-get install chromium"

_SOURCE = Path(__file__).parents[2] / "src"
_ARGUMENTS = [  # drawn in software, so that it looks the same everywhere; and nothing goes out
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def launched(playwright: Any) -> Any:
    """A browser."""
    return playwright.chromium.launch(executable_path=BROWSER, args=_ARGUMENTS)


def new_page(browser: Any, width: int, height: int, **options: Any) -> Any:
    """A page in which code may be evaluated, and which is patient: machines are busy."""
    context = browser.new_context(bypass_csp=True, viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.set_default_timeout(90_000)
    return page


@contextmanager
def studio_in(folder: str | Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A studio in a process of its own: its address, and the process."""
    environment = dict(os.environ) | {"PYTHONPATH": str(_SOURCE)}
    program = [sys.executable, "-m", "impel", "studio", "--no-browser", *arguments]
    run = subprocess.Popen(program, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert run.stdout is not None
        yield run.stdout.readline().split()[-1], run
    finally:
        run.terminate()
        run.wait(60)
