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


def try_out(field: str, value: float | list[list[float]], *, timed: bool = True) -> Take:
    """The tutorial's scene with one thing changed as the README invites to."""
    from impel import simulate
    from impel.scene import parse_scene

    assert f"{field}: {value}" in README or f"`{value}`" in README
    document = parse_document(blocks("yaml")[0], "hop.yaml")
    move = document["actors"]["ball"]["move"]
    if not timed:
        assert "`speed: 2.5`" in README
        move |= {"keys": [key["at"] if isinstance(key, dict) else key for key in move["keys"]], "speed": 2.5}
    if field in ("time", "hold"):
        move["keys"][-1 if field == "time" else 1][field] = value
    else:
        boxes = [body for name, body in document["bodies"].items() if "tower" in name]
        for part in boxes if field == "mass" else [move]:
            part[field] = value
    return simulate(parse_scene(document))


def farthest(take: Take) -> float:
    return float(take.channels["ball.move.distance"].max())


def test_what_the_tutorial_invites_to_try_happens() -> None:
    def passed(take: Take, key: int) -> float:
        return next(e["time"] for e in take.events if e["kind"] == "key passed" and e["details"]["key"] == key)

    assert passed(try_out("time", 4), 4) > 3.9
    assert passed(try_out("hold", 1), 2) > 1.8
    leaning = try_out("mass", 20)
    ball, tower = (leaning.position[:, leaning.index(name)] for name in ("ball", "tower2"))
    assert ball[-1, 0] < tower[-1, 0] - 0.3
    assert abs(ball[-1] - ball[-60]).max() < 1e-3
    limp = try_out("strength", [[0, 60], [1.6, 0]])
    assert limp.position[-1, limp.index("ball"), 0] < 1.5


def test_so_does_what_it_says_of_paths_without_times() -> None:
    near, wide = (farthest(try_out("base_distance", value, timed=False)) for value in (0.15, 0.8))
    assert near < 0.5 * wide
    lively, dull = (farthest(try_out("elasticity", value, timed=False)) for value in (0.3, 1.5))
    assert lively > 2 * dull


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
