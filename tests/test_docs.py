"""What the pages in docs say is true today."""

import ast
import importlib.util
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import parse_document
from impel.gallery.ledger import load_claims
from impel.scene import parse_scene, problems
from impel.toys.figure import figure_from

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "impel"
FOR_ALL = {"kernel", "files", "complaints", "cores"}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_page_of_fields_is_what_the_schema_says() -> None:
    spec = importlib.util.spec_from_file_location("fields_page", DOCS / "fields.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.text(), "docs/fields.md is out of date: run `make pages`"


def imported(path: Path) -> set[str]:
    """The rooms of impel that a file imports, at any time."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "impel":
            names += [f"impel.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("impel.")}


def test_rooms_import_what_the_design_allows_and_no_more() -> None:
    rows = re.findall(r"^\| `(\w+)/?` \| .* \| (.*) \|$", (DOCS / "design.md").read_text(), re.MULTILINE)
    allowed = {room: set(re.findall(r"`(\w+)`", told)) for room, told in rows}
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(allowed)
    for room, may in allowed.items():
        files = (PACKAGE / room).rglob("*.py") if room in rooms else [PACKAGE / f"{room}.py"]
        used = {name for file in files for name in imported(file)} - {room, "__version__"}
        if room not in FOR_ALL:
            used -= FOR_ALL
        assert used == may, room


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_links_of_the_pages_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", (DOCS / page).read_text()):
        path, _, section = link.partition("#")
        if link.startswith("https:"):
            continue
        target = (DOCS / path).resolve() if path else DOCS / page
        assert target.exists(), link
        if section:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}, link


def test_files_that_the_pages_name_exist() -> None:
    for page in DOCS.glob("*.md"):
        for name in re.findall(r"`((?:\w+/)+[\w.-]+\.(?:py|yaml|md))`", page.read_text()):
            assert any((top / name).exists() for top in (ROOT, PACKAGE)), f"{page.name}: {name}"


@pytest.mark.parametrize("text", blocks("scene.md", "yaml"))
def test_scenes_of_the_page_can_be_simulated(text: str) -> None:
    assert not problems(parse_scene(parse_document(text, "scene.yaml")))


def test_the_method_tells_of_every_claim_once_in_its_table() -> None:
    table = (DOCS / "method.md").read_text().partition("## All claims")[2]
    told = re.findall(r"\b00\d\.\d+", table)
    assert sorted(told) == sorted(load_claims())


def test_the_figure_of_the_page_is_one() -> None:
    (text,) = blocks("add_a_figure.md", "yaml")
    assert figure_from(parse_document(text, "inchworm.yaml"), subject="inchworm.yaml").active == ["hip", "neck"]


def test_a_scene_is_checked_without_numba() -> None:
    code = (
        "import sys; from impel.scene import load_scene, problems; "
        "assert not problems(load_scene('examples/reach.yaml')); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@settings(max_examples=200)
@given(st.floats(0.2, 2), st.floats(0.01, 0.3), st.floats(0.1, 50))
def test_the_condition_of_the_method_is_that_of_its_cubic(
    elasticity: float, relaxation: float, adaptation: float
) -> None:
    """Below 1 + 4B + 4B² every offset comes to rest; at γ = √K nothing more is allowed."""
    k = 2 * 0.1 / relaxation**2
    c = 2 * elasticity * math.sqrt(k)
    bound = 1 + 4 * elasticity + 4 * elasticity**2

    def rises(r: float, gamma: float) -> bool:
        return float(np.roots([r, gamma + c, k + c * gamma, k * gamma]).real.max()) > 0

    assert not rises(0.99 * bound, adaptation)
    assert not rises(0.99 * bound, math.sqrt(k))
    assert rises(1.01 * bound, math.sqrt(k))
