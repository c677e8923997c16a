"""What the README says is true today."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from impel import Take
from impel.files import parse_document

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_scene_of_the_tutorial_is_the_example() -> None:
    (scene,) = blocks("yaml")
    assert scene == (ROOT / "examples" / "hop.yaml").read_text()
    assert len(scene.splitlines()) <= 20


def test_the_commands_of_the_tutorial_work(tmp_path: Path) -> None:
    (tmp_path / "hop.yaml").write_text(blocks("yaml")[0].replace("seconds: 5", "seconds: 0.2"))
    commands = blocks("sh")[0]
    for line in commands.strip().splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "impel"
        subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=True)
    assert {p.name for p in tmp_path.iterdir()} == {"hop.yaml", "hop.mp4", "hop.glb", "hop.npz", "hop.png"}


@pytest.mark.slow
def test_the_commands_for_toys_and_walkers_work(tmp_path: Path) -> None:
    for line in blocks("sh")[1].strip().replace(".mp4", ".glb").splitlines():
        subprocess.run([sys.executable, "-m", *shlex.split(line)], cwd=tmp_path, check=True)
    assert {p.name for p in tmp_path.iterdir()} >= {"hopper.yaml", "hopper.glb", "walk.glb"}


def test_the_walker_of_the_readme_may_join_a_scene() -> None:
    from impel.scene import parse_scene

    line = re.search(r"`(walkers: .*?)`", README)
    assert line
    assert parse_scene(parse_document(f"impel: 1\n{line[1]}", "scene.yaml")).walkers["spider"].walker == "creature"


@pytest.mark.parametrize(("code", "saved"), list(zip(blocks("python"), ("arm.yaml", "played.yaml"), strict=True)))
def test_the_python_of_the_readme_runs(code: str, saved: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / saved).exists()


def try_out(field: str, value: float) -> Take:
    """The tutorial's scene with one thing changed as the README invites to."""
    from impel import simulate
    from impel.scene import parse_scene

    assert f"{field}: {value:g}" in README or f"`{value:g}`" in README
    document = parse_document(blocks("yaml")[0], "hop.yaml")
    changed = [body for name, body in document["bodies"].items() if "tower" in name]
    for part in changed if field == "mass" else [document["actors"]["ball"]["move"]]:
        part[field] = value
    return simulate(parse_scene(document))


def farthest(take: Take) -> float:
    return float(take.channels["ball.move.distance"].max())


def test_what_the_tutorial_invites_to_try_happens() -> None:
    assert farthest(try_out("base_distance", 0.15)) < 0.5 * farthest(try_out("base_distance", 0.8))
    leaning = try_out("mass", 20)
    ball, tower = (leaning.position[:, leaning.index(name)] for name in ("ball", "tower2"))
    assert ball[-1, 0] < tower[-1, 0] - 0.3
    assert abs(ball[-1] - ball[-60]).max() < 1e-3
    assert farthest(try_out("elasticity", 0.3)) > 2 * farthest(try_out("elasticity", 1.5))
    as_written, sagging = try_out("speed", 2.5), try_out("adaptation", 0)
    assert farthest(sagging) > 2 * farthest(as_written)


def test_pictures_of_the_readme_exist() -> None:
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / picture).stat().st_size > 10_000


def test_on_the_page_of_a_wheel_all_links_lead_to_the_projects_home(monkeypatch: pytest.MonkeyPatch) -> None:
    interfaces = {"builders.hooks": "BuildHookInterface", "metadata": "MetadataHookInterface"}
    for room, interface in interfaces.items():  # what builds wheels is not there where tests run
        module = f"hatchling.{room}.plugin.interface"
        monkeypatch.setitem(sys.modules, module, type(sys)(module))
        monkeypatch.setattr(sys.modules[module], interface, object, raising=False)
    absolute = runpy.run_path(str(ROOT / "hatch_build.py"))["absolute"]
    home = "https://example.org/impel"
    page = absolute(README, home)
    links = re.findall(r"(!?)\[[^\]]*\]\((.*?)\)", page)
    assert len(links) > 20
    for picture, link in links:
        name = link.removeprefix(f"{home}/{'raw' if picture else 'blob'}/HEAD/")
        assert name != link
        assert (ROOT / name).exists()
    assert absolute(page, home) == page
