"""What a wheel needs besides the sources: the compiled library with its platform, three.js for the studio's page, the
examples that it starts from, and links that work from anywhere."""

import json
import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Library(BuildHookInterface):
    """Puts into the wheel what is made and not written, and names the platform that the library of `ship.py` is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        include = build_data["force_include"]
        for file in Path(self.root, "examples").glob("*.yaml"):
            include[str(file)] = f"impel/studio/examples/{file.name}"
        three = Path(self.root, "src", "impel", "studio", "three")
        if three.is_dir():
            for file in three.iterdir():
                include[str(file)] = f"impel/studio/three/{file.name}"
        directory = Path(self.root, "src", "impel", "kernel", "shipped")
        contents = directory / "contents.json"
        if not contents.exists():
            return
        told = json.loads(contents.read_text(encoding="utf-8"))
        for name in (contents.name, told["library"]):
            include[str(directory / name)] = f"impel/kernel/shipped/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{told['tag']}"


class Links(MetadataHookInterface):
    """The README and the URLs of the project. Its home is known to whoever hosts it: IMPEL_URL, set by the workflow."""

    def update(self, metadata: dict[str, Any]) -> None:
        text, home = Path(self.root, "README.md").read_text(encoding="utf-8"), os.environ.get("IMPEL_URL", "")
        if home:
            text = absolute(text, home)
            pages = {
                "Documentation": "blob/HEAD/docs/scene.md",
                "Changelog": "blob/HEAD/CHANGELOG.md",
                "Issues": "issues",
            }
            metadata["urls"] = {"Homepage": home} | {name: f"{home}/{page}" for name, page in pages.items()}
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, home: str) -> str:
    """Markdown whose links and pictures are found from anywhere."""

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        return f"{picture}[{words}]({home}/{'raw' if picture else 'blob'}/HEAD/{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", link, text)
