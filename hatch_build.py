"""Puts into the wheel what is made and not written: the compiled library that `ship.py` has made, with the name of the
platform that it is for, three.js for the studio's page, and the examples that the studio starts from."""

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Library(BuildHookInterface):
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
