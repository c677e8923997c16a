"""Every example is fine, and what it says about itself happens."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from impel import Take, load_scene, simulate

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").iterdir())
README = (ROOT / "README.md").read_text()

# What each program prints when it went as its text says.
SAID = {
    "wind.py": r"blown 0\.\d\d m off its path at the most, 0\.00\d m in the end\n",
    "dominoes.py": r"the last domino falls at [34]\.\d s\n",
    "rope_bridge.py": r"the bridge gives way by \d+ cm, and holds the ball\n",
}


def scene_files() -> list[Path]:
    return [path for path in EXAMPLES if path.suffix == ".yaml"]


def play(name: str) -> Take:
    return simulate(load_scene(ROOT / "examples" / name))


def upright(take: Take, name: str) -> np.ndarray:
    """The cosine between a body's own z and the world's, frame by frame."""
    _, x, y, _ = take.orientation[:, take.index(name)].T
    return 1 - 2 * (x * x + y * y)


def test_the_readme_lists_every_example() -> None:
    for path in EXAMPLES:
        assert f"[{path.name}](examples/{path.name})" in README


@pytest.mark.parametrize("example", scene_files(), ids=lambda path: path.name)
def test_every_example_scene_is_fine(example: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "impel", "check", example], capture_output=True, text=True)
    assert done.returncode == 0
    assert "is fine" in done.stdout


@pytest.mark.parametrize("example", [path for path in EXAMPLES if path.suffix == ".py"], ids=lambda path: path.name)
def test_every_example_program_runs_and_says_what_it_should(example: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error::UserWarning", example]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.fullmatch(SAID[example.name], done.stdout)


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("example", scene_files(), ids=lambda path: path.name)
def test_every_example_scene_ends_without_a_remark(example: Path) -> None:
    assert play(example.name).remarks() == []


def test_the_lamp_looks_to_both_sides_and_knocks_over_the_tower() -> None:
    take = play("desk_lamp.yaml")
    head = take.position[:, take.index("head"), 1]
    assert head.max() > 0.1
    assert head.min() < -0.25
    assert abs(head[-1]) < 0.02
    assert take.position[-1, take.index("cube3"), 2] < 0.06  # it was on top, at 0.2
    hit = [e for e in take.events if e["kind"] == "contact begins" and {e["subject"], e["details"]["with"]} & {"head"}]
    assert any("cube" in event["subject"] + event["details"]["with"] for event in hit)


def test_the_chairs_swing_out_and_go_round() -> None:
    take = play("chairoplane.yaml")
    for chair in ("chair1", "chair2", "chair3", "chair4"):
        place = take.position[:, take.index(chair)]
        assert np.hypot(*place[0, :2]) == pytest.approx(1.1, abs=0.01)
        assert np.hypot(*place[240:, :2].T).min() > 1.5
        turned = np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
        assert turned[-1] - turned[0] > 2 * 2 * np.pi


def test_the_wall_falls_down() -> None:
    take = play("wrecking_ball.yaml")
    bricks = [take.index(name) for name in take.names if name.startswith("brick")]
    assert np.all(take.position[:30, bricks, 0] == pytest.approx(-0.4, abs=0.01))  # it stands until it is hit
    moved = np.linalg.norm(take.position[-1, bricks] - take.position[0, bricks], axis=1)
    assert np.sum(moved > 0.3) >= len(bricks) / 2
    assert take.position[-1, bricks, 2].max() < 0.75


def test_the_arm_follows_its_hand_without_sagging_and_sweeps_the_tower_aside() -> None:
    take = play("reach.yaml")
    assert take.channels["hand.move.distance"].max() < 0.05
    assert take.channels["hand.move.distance"][:30].max() < 0.01
    np.testing.assert_allclose(take.position[-1, take.index("hand")], [0.65, 0, 1.3], atol=0.01)
    for block in ("tower1", "tower2", "tower3"):
        place = take.position[:, take.index(block)]
        assert np.linalg.norm(place[-1] - place[0]) > 0.15


def test_the_saloon_doors_swing_both_ways_and_come_to_rest() -> None:
    take = play("saloon.yaml")
    assert take.position[-1, take.index("ball"), 0] > 3
    for door in ("left_door", "right_door"):
        w, _, _, z = take.orientation[:, take.index(door)].T
        opened = np.degrees(2 * np.arctan2(z, w))
        assert opened.max() > 30
        assert opened.min() < -30
        assert np.abs(opened[-60:]).max() < 2


def test_the_rope_snaps_when_the_trolley_has_stopped_and_the_load_knocks_over_the_crates() -> None:
    take = play("snapped_rope.yaml")
    (broke,) = (event for event in take.events if event["kind"] == "joint broke")
    trolley, crates = take.index("trolley"), [take.index(f"crate{i}") for i in (2, 3)]
    frame = round(broke["time"] * take.fps)
    assert take.position[frame, trolley, 0] == pytest.approx(0.5, abs=0.2)
    assert np.ptp(take.position[:, trolley, 2]) < 1e-9
    assert np.abs(take.position[frame, crates] - take.position[0, crates]).max() < 0.01
    assert np.all(take.position[-1, crates, 2] < take.position[0, crates, 2] - 0.2)


def take_of(program: str) -> Take:
    """The take that an example program makes, without the picture."""
    names: dict = {}
    exec((ROOT / "examples" / program).read_text().partition("\nwrite_take(")[0], names)
    return names["take"]


def test_the_bridge_swings_and_holds_the_ball() -> None:
    take = take_of("rope_bridge.py")
    middle, ball = (take.position[:, take.index(name), 2] for name in ("plank 7", "ball"))
    assert np.ptp(middle) > 0.1
    assert ball.min() > 1.5


def test_the_dominoes_fall_in_turn() -> None:
    take = take_of("dominoes.py")
    fell = [take.time[np.argmax(upright(take, f"domino {i}") < 0.8)] for i in range(40)]
    assert fell[0] > 0.5
    assert np.all(np.diff(fell) > 0)
    assert max(upright(take, f"domino {i}")[-1] for i in range(40)) < 0.5
