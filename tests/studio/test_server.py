"""The server: who may come in, what is refused, and that frames are those of the simulation."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from conftest import HEADER, Talker
from impel import load_scene, simulate
from impel.studio import rehearsal


def test_frames_are_those_of_the_simulation(talker, folder):
    talker.ask("open", file="hop.yaml")
    story = talker.until_story()
    expected = simulate(load_scene(folder / "hop.yaml"))
    assert talker.run["names"] == expected.names
    poses = talker.rows[:, : 7 * len(expected.names)].reshape(len(expected.time), -1, 7)
    np.testing.assert_allclose(poses[..., :3], expected.position, atol=1e-6)
    np.testing.assert_allclose(poses[..., 3:], expected.orientation, atol=1e-6)
    assert story["events"] == expected.events
    assert talker.ask("channel", name="energy")["ok"]["values"][0] == pytest.approx(
        expected.channels["energy"][0], rel=1e-5
    )


def test_a_change_is_simulated_and_a_newer_one_stops_it(talker, folder):
    talker.ask("open", file="hop.yaml")
    for mass in (0.5, 1.5, 2.5, 3):
        assert "ok" in talker.ask("edit", path=["bodies", "ball", "mass"], value=mass)
    talker.until_story()
    scene = load_scene(folder / "hop.yaml")
    scene.bodies["ball"].mass = 3.0
    expected = simulate(scene)
    poses = talker.rows[:, : 7 * len(expected.names)].reshape(len(expected.time), -1, 7)
    np.testing.assert_allclose(poses[..., :3], expected.position, atol=1e-6)


def test_what_is_saved_keeps_every_comment(talker, folder):
    before = (folder / "saloon.yaml").read_text()
    talker.ask("open", file="saloon.yaml")
    talker.ask("edit", path=["world", "seconds"], value=3)
    assert talker.told["edited"]["dirty"]
    talker.ask("save")
    after = (folder / "saloon.yaml").read_text()
    assert after == before.replace("seconds: 6", "seconds: 3")


def test_edits_in_a_text_editor_appear(talker, folder):
    talker.ask("open", file="hop.yaml")
    talker.until_story()
    (folder / "hop.yaml").write_text((folder / "hop.yaml").read_text().replace("seconds: 5", "seconds: 1"))
    talker.until_story()
    assert talker.run["frames"] == 61


def test_two_who_look_see_the_same(studio, talker):
    other = Talker(studio)
    talker.ask("open", file="hop.yaml")
    talker.until_story()
    other.until_story()
    np.testing.assert_array_equal(talker.rows, other.rows)
    other.ask("edit", path=["world", "seconds"], value=1)
    talker.until_story()
    assert talker.run["frames"] == 61
    late = Talker(studio)
    late.until_story()
    np.testing.assert_array_equal(talker.rows, late.rows)
    other.close()
    late.close()


def test_who_does_not_know_the_token_stays_out(studio):
    base, token = studio.split("/?token=")
    for query in ("", "?token=", "?token=wrong", f"?token={token[:-1]}"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{base}/{query}")
        with pytest.raises(InvalidStatus, match="403"):
            Talker(f"{base}/{query or '?'}")
    cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    assert cookies.open(studio).status == 200
    assert token not in cookies.open(f"{base}/").geturl()


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_pages_of_other_sites_stay_out(studio, headers):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(studio, headers=headers))
    if "Origin" in headers:
        with pytest.raises(InvalidStatus, match="403"):
            Talker(studio, origin=headers["Origin"])


@pytest.mark.parametrize("name", ["../outside.yaml", "/etc/outside.yaml", "linked/secret.yaml"])
def test_files_outside_that_a_scene_names_are_not_read(talker, folder, tmp_path_factory, name):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.yaml").write_text("secret: 1\n")
    (folder.parent / "outside.yaml").write_text("secret: 1\n")
    os.symlink(outside, folder / "linked")
    talker.ask("open", file="hop.yaml")
    for path, value in (
        (["walkers"], {"w": {"walker": name, "path": [[3, 3, 0], [5, 3, 0]]}}),
        (["bodies", "ball", "shape"], {"mesh": {"file": name}}),
        (["actors", "ball", "move"], {"keys_from": {"file": name}}),
    ):
        answer = talker.ask("edit", path=path, value=value)
        assert f"{name}: is not below {folder}" in answer["problems"][0]
        assert "secret" not in answer["problems"][0].replace(name, "")


@pytest.mark.parametrize(
    "file", ["../outside.yaml", "/etc/passwd", "link.yaml", "", "a\0b", ".", "linked/secret.yaml", 7]
)
def test_files_outside_are_neither_read_nor_written(talker, folder, file, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.yaml").write_text("impel: 1\nbodies: {secret: {shape: {sphere: 1}}}\n")
    (folder.parent / "outside.yaml").write_text("impel: 1\n")
    os.symlink(outside / "secret.yaml", folder / "link.yaml")
    os.symlink(outside, folder / "linked")
    for command in ("open", "save"):
        answer = talker.ask(command, file=file)
        assert len(answer["problems"]) == 1, answer
        assert "secret:" not in json.dumps(talker.messages)
    assert (folder.parent / "outside.yaml").read_text() == "impel: 1\n"


def test_a_huge_message_ends_only_its_own_connection(studio, talker):
    other = Talker(studio)
    with contextlib.suppress(ConnectionClosed):
        other.socket.send("x" * (50 * 2**20))
    with pytest.raises(ConnectionClosed):
        list(iter(lambda: other.hear(10), None))
    assert "ok" in talker.ask("files")


@pytest.mark.parametrize(
    "text", ["{", "[]", "7", '{"do": 3}', '{"do": "edit"}', '{"do": "edit", "path": [[]]}', '{"do": "open", "no": 1}',
             '{"do": "export", "format": "exe"}', '{"do": "pull", "number": 1, "to": [0, 0, 0]}', '{"do": "__init__"}',
             '{"do": "live", "frame": "x"}', '{"do": "open", "example": {}}',
             f'{{"do": "open", "file": "{5000 * "x"}"}}',
             '{"do": "search", "figure": "bounder", "seed": "x"}']
)  # fmt: skip
def test_what_is_not_understood_is_answered_in_one_line(talker, text):
    talker.socket.send(text)
    while "problems" not in (message := talker.hear()) or "tell" in message:
        pass
    assert len(message["problems"]) == 1
    assert "own" not in message["problems"][0], "no fault of the studio's own"


def test_what_comes_after_an_entry_that_is_removed_moves_up_for_all_who_look(talker):
    talker.ask("open", file="hop.yaml")
    talker.ask("edit", path=["actors", "ball", "move", "keys", 2], remove=True)
    keys = talker.told["document"]["data"]["actors"]["ball"]["move"]["keys"]
    assert [key if isinstance(key, list) else key["at"] for key in keys[1:3]] == [[-1, 0, 1.2], [1.2, 0.4, 0.5]]
    assert len(keys) == 4


def test_a_flood_of_messages_is_survived(talker):
    talker.ask("open", file="hop.yaml")
    for k in range(1000):
        talker.socket.send(
            json.dumps({"id": 10_000 + k, "do": "edit", "path": ["bodies", "ball", "mass"], "value": 1 + k / 1000})
        )
    while talker.hear().get("id") != 10_999:
        pass
    talker.until_story()
    assert talker.ask("text")["ok"]["text"].count("mass: 1.999") == 1


def test_a_scene_of_3000_bodies_is_survived_and_edits_of_it_are_kept(talker, folder):
    boxes = [f"  b{k}: {{shape: {{box: [0.2, 0.2, 0.2]}}, at: [{k % 60}, {k // 60}, 0.3]}}" for k in range(3000)]
    (folder / "many.yaml").write_text("\n".join(["impel: 1", "bodies:", *boxes, ""]))
    talker.ask("open", file="many.yaml")
    assert "ok" in talker.ask("edit", path=["bodies", "b7", "mass"], value=3)
    while talker.rows is None or talker.run["run"] < talker.wanted:
        talker.hear()
    assert len(talker.run["names"]) == 3000
    talker.ask("open", file="hop.yaml")
    assert talker.until_story()["problems"] == []
    assert talker.ask("open", file="many.yaml")["ok"]["draft"], "what was not saved is kept"
    while talker.told["document"]["data"]["bodies"].get("b7", {}).get("mass") != 3:
        talker.hear()


def test_a_slow_listener_gets_at_most_two_messages_ahead(studio):
    slow = Talker(studio)
    slow.ask("open", file="hop.yaml")
    ends, told = [], []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            message = slow.socket.recv(2)  # it acknowledges nothing
        except TimeoutError:
            break
        if isinstance(message, bytes):
            _, _, first, count, *_ = HEADER.unpack_from(message)
            ends.append(first + count)
        else:
            told.append(json.loads(message).get("tell"))
    assert len(ends) <= 2
    assert ("story" in told) == (max(ends, default=0) == 301), "a story is told after the last frame"
    slow.close()


def test_the_frame_that_is_looked_at_comes_at_once(talker, monkeypatch):
    """Frames before it are not sent by themselves, unless it takes long."""
    monkeypatch.setattr(rehearsal, "TELL_ON_THE_WAY", 60.0)
    talker.ask("open", file="hop.yaml")
    talker.until_story()
    ends = []
    number = next(talker.numbers)
    edit = {"id": number, "do": "edit", "path": ["bodies", "ball", "mass"], "value": 2, "frame": 200}
    talker.socket.send(json.dumps(edit))
    while not ends or ends[-1] < 301:
        message = talker.socket.recv(60)
        if isinstance(message, bytes):
            _, _, first, count, *_ = HEADER.unpack_from(message)
            ends.append(first + count)
            talker.socket.send('{"do": "ack"}')
    assert all(end == 1 or end > 200 for end in ends)


def test_a_scene_that_fails_says_so_in_plain_lines(talker, folder):
    (folder / "bad.yaml").write_text("impel: 1\nbodies: {ball: {shape: {sphere: -1}}}\n")
    talker.ask("open", file="bad.yaml")
    assert "sphere" in talker.told["document"]["problems"][0]
    answer = talker.ask("write", text="impel: 1\nbodies: {ball: {shape: {sphere: 1}}}\n")
    assert "ok" in answer
    talker.until_story()


def test_exports_are_written_and_fetched(studio, talker):
    talker.ask("open", file="hop.yaml")
    talker.until_story()
    answer = talker.ask("export", format="csv")["ok"]
    base, token = studio.split("/?token=")
    data = urllib.request.urlopen(f"{base}{answer['url']}?token={token}").read()
    assert len(data) == answer["bytes"]
    assert data.decode().splitlines()[0].startswith("frame,time,body")
    for _ in range(8):
        talker.ask("export", format="csv")
    with pytest.raises(urllib.error.HTTPError):  # what was written long ago is not kept
        urllib.request.urlopen(f"{base}{answer['url']}?token={token}")


SQUASH = """impel: 1
world: {seconds: 0.6, fps: 60}
bodies:
  floor: {shape: {plane: {}}, fixed: true}
  ball: {shape: {sphere: 0.2}, mass: 3, at: [0, 0, 0.25], coating: {stiffness: 3.0e4, thickness: 0.15}}
"""


def test_soft_bodies_are_told_of_when_all_is_known(studio, talker, folder):
    (folder / "squash.yaml").write_text(SQUASH)
    talker.ask("open", file="squash.yaml")
    story = talker.until_story()
    while "soft" not in talker.told:
        talker.hear()
    assert talker.told["soft"] == {"tell": "soft", "run": story["run"], "bodies": [1]}
    base, token = studio.split("/?token=")
    data = urllib.request.urlopen(f"{base}/soft/{story['run']}/1?token={token}").read()
    vertices, triangles, plain, shapes, frames = struct.unpack_from("<5I", data)
    assert 0 < plain < triangles  # two tones
    assert frames == story["frames"]
    floats = np.frombuffer(data, "<f4", offset=20)
    rest = floats[: 3 * vertices].reshape(-1, 3).astype(float)
    parts = floats[6 * vertices + 3 * triangles :]
    moves = parts[: 6 * vertices * shapes].reshape(shapes, 2, vertices, 3)[:, 0]
    weights = parts[6 * vertices * shapes :].reshape(frames, shapes)
    height = rest[:, 2] + np.einsum("fk,kv->fv", weights, moves[..., 2]) + talker.rows[:, [9]]
    assert rest[:, 2].min() + talker.rows[:, 9].min() < -0.05  # rigid, it would be in the floor
    assert height.min() > -1e-3
    for wrong in (f"{story['run']}/0", f"{story['run']}/7", "99/1"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{base}/soft/{wrong}?token={token}")
    # Who comes later is told, too; a rigid scene has nothing to tell.
    other = Talker(studio)
    while "soft" not in other.told:
        other.hear()
    other.close()
    talker.told.clear()
    talker.ask("edit", path=["bodies", "ball", "coating"], remove=True)
    talker.until_story()
    talker.ask("ping")
    assert "soft" not in talker.told


def test_a_pull_deflects_and_what_was_played_gives_the_same_bytes(talker, folder):
    talker.ask("open", example="blow")
    talker.until_story()
    long = len(talker.rows)
    talker.ask("live", frame=60)
    while talker.run is None or not talker.run["live"]:
        talker.hear()
    number = talker.ask("push", body="lower", force=[0, 20, 0])["ok"]["number"]
    began = time.monotonic()
    while time.monotonic() - began < 0.5:
        talker.hear()
    talker.ask("release", number=number)
    began = time.monotonic()
    while time.monotonic() - began < 0.5:
        talker.hear()
    talker.ask("halt")
    talker.until_story()
    played = talker.rows.copy()
    answer = talker.ask("keep")
    assert answer["ok"]["pushes"] == 1
    talker.until_story()
    frames = min(int(np.isfinite(played[:, 0]).sum()), len(talker.rows))
    assert frames > 70
    assert len(talker.rows) == long, "as long as it was"
    np.testing.assert_array_equal(talker.rows[:frames], played[:frames])
    force = talker.told["document"]["data"] if "pushes" in (talker.told["document"]["data"] or {}) else None
    assert force is None or force["pushes"][0]["body"] == "lower"


def test_a_ball_that_is_thrown_was_not_there_before(talker):
    talker.ask("open", file="hop.yaml")
    talker.until_story()
    alone = talker.rows.copy()
    talker.ask("live", frame=30)
    while talker.run is None or not talker.run["live"]:
        talker.hear()
    name = talker.ask("throw", at=[0, -3, 1], velocity=[0, 8, 1])["ok"]["body"]
    while name not in talker.run["names"]:
        talker.hear()
    since = talker.run["now"]
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        talker.hear()
    talker.ask("halt")
    talker.until_story()
    ball = 7 * talker.run["names"].index(name)
    frame = round(since * talker.run["fps"])
    np.testing.assert_allclose(talker.rows[:frame, ball : ball + 3], [[0, -3, 1]] * frame, atol=1e-6)
    others = ball  # it comes last
    np.testing.assert_allclose(talker.rows[:frame, :others], alone[:frame, :others], atol=1e-3)
    assert talker.rows[frame + 6, ball + 1] == pytest.approx(-3 + 8 * 0.1, abs=0.1)
    talker.ask("keep")
    assert name in talker.ask("text")["ok"]["text"]


@pytest.mark.slow
def test_killed_it_loses_nothing(folder):
    """kill -9, in the middle of things."""
    program = [sys.executable, "-m", "impel", "serve", "hop.yaml"]
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.Popen(program, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    address = run.stdout.readline().split()[2]
    talker = Talker(address)
    talker.ask("edit", path=["bodies", "ball", "mass"], value=2)
    time.sleep(1)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert "mass: 1\n" in (folder / "hop.yaml").read_text()
    run = subprocess.Popen(program, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
    talker = Talker(run.stdout.readline().split()[2])
    while "document" not in talker.told:
        talker.hear()
    assert talker.told["document"]["data"]["bodies"]["ball"]["mass"] == 2
    assert talker.told["document"]["dirty"]
    talker.close()
    run.send_signal(signal.SIGINT)
    assert run.wait(30) in (0, 130)


def test_threads_are_gone_with_the_studio(folder):
    left = [thread for thread in threading.enumerate() if thread.name == "rehearsal"]
    for thread in left:
        thread.join(20)  # what it was at when the studio ended
    assert not [thread for thread in left if thread.is_alive()]


def test_what_has_no_file_yet_is_kept_too(talker, folder):
    talker.ask("open", example="hop")
    talker.ask("edit", path=["bodies", "ball", "mass"], value=2)
    draft = folder / ".hop.yaml.unsaved.draft"
    deadline = time.monotonic() + 30
    while not draft.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert talker.ask("files")["ok"]["unsaved"] == ["hop"]
    assert talker.ask("open", example="hop")["ok"]["draft"], "as after a crash"
    assert talker.told["document"]["data"]["bodies"]["ball"]["mass"] == 2
    talker.ask("discard")
    assert talker.told["document"]["data"]["bodies"]["ball"]["mass"] == 1
    assert not draft.exists()


def test_meshes_of_crowds_are_coarse(studio, talker):
    talker.ask("open", file="hop.yaml")
    talker.until_story()
    address, token = studio.split("/?")
    at = f"{address}/mesh/{talker.run['meshes'][talker.run['names'].index('ball')]}?{token}"
    sizes = [len(urllib.request.urlopen(at + more).read()) for more in ("", "&sides=16", "&sides=8", "&sides=1e9")]
    assert sizes[0] == sizes[3] > 5 * sizes[1] > 10 * sizes[2]
