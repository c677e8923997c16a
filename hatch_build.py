"""Puts the compiled library into the wheel, where `ship.py` has made one, and names the platform that it is for."""

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Library(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        directory = Path(self.root, "src", "impel", "kernel", "shipped")
        contents = directory / "contents.json"
        if version == "editable" or not contents.exists():
            return
        told = json.loads(contents.read_text(encoding="utf-8"))
        for name in (contents.name, told["library"]):
            build_data["force_include"][str(directory / name)] = f"impel/kernel/shipped/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{told['tag']}"
