"""`impel studio` and `impel serve`: start the local server, and say where it is."""

import contextlib
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from impel.files import Problem

NEEDS = ("starlette", "uvicorn", "websockets")


def run(scene: Path | None, *, port: int, pages: bool, browser: bool) -> None:
    """Serve until Ctrl-C."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise Problem(
            f"impel {'studio' if pages else 'serve'}: needs {', '.join(missing)}: pip install 'impel[studio]'"
        )
    from impel.studio.server import THREE, serve

    if pages and not (THREE / "three.module.js").exists():
        raise Problem("impel studio: three.js is missing, which draws its pictures: run `make studio` in the clone")
    if scene is not None and not scene.is_file():
        raise Problem(f"{scene}: there is no such file")
    root = (scene.parent if scene is not None else Path.cwd()).resolve()

    def ready(address: str) -> None:
        print(f"{'The studio is' if pages else 'Serving'} at {address}\nCtrl-C ends it.")
        sys.stdout.flush()
        if browser:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(address)

    serve(root, scene=scene, port=port, pages=pages, ready=ready)
