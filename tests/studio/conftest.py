"""A studio that serves a directory of a test's own, and someone who talks to it."""

import itertools
import json
import shutil
import struct
import threading
from pathlib import Path

import numpy as np
import pytest

from impel.studio.server import serve

HEADER = struct.Struct("<8I")


class Talker:
    """A plain client of the protocol: asks, and keeps what it is told."""

    def __init__(self, address, **options):
        from websockets.sync.client import connect

        url = address.replace("http://", "ws://").replace("/?", "/socket?")
        self.connection = connect(url, max_size=None, open_timeout=60, close_timeout=5, **options)
        self.socket = self.connection.__enter__()
        self.numbers = itertools.count(1)
        self.told, self.messages, self.rows, self.run = {}, [], None, None
        self.wanted = 0  # the run that shows what was asked for last
        self.unacknowledged = self.most_unacknowledged = 0

    def hear(self, timeout=120):
        message = self.socket.recv(timeout)
        if isinstance(message, bytes):
            _, run, first, count, width, frames, _, _ = HEADER.unpack_from(message)
            if self.run is not None and run == self.run["run"]:
                if self.rows is None or self.rows.shape != (frames, width):
                    before, self.rows = self.rows, np.full((frames, width), np.nan, np.float32)
                    if before is not None and first > 0:  # the first ones are those of the run before
                        self.rows[:first] = before[:first]
                self.rows[first : first + count] = np.frombuffer(message, "<f4", offset=32).reshape(count, width)
            self.socket.send('{"do": "ack"}')
            return {}
        message = json.loads(message)
        self.messages.append(message)
        if "tell" in message:
            self.told[message["tell"]] = message
            if message["tell"] == "run":
                self.run = message
                self.rows = self.rows if message["kept"] > 0 else None
        return message

    def ask(self, command, **fields):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "do": command, **fields}))
        while True:
            message = self.hear()
            if message.get("id") == number:
                self.wanted = message.get("ok", {}).get("run", self.wanted)
                return message

    def until_story(self):
        """Hear until the newest run has ended; the story."""
        while True:
            message = self.hear()
            is_story = message.get("tell") == "story" and message["run"] >= self.wanted
            if is_story and self.run and message["run"] == self.run["run"]:
                while self.rows is None or np.isnan(self.rows[message["frames"] - 1]).any():
                    self.hear()
                return message

    def close(self):
        self.connection.__exit__(None, None, None)


@pytest.fixture
def folder(tmp_path):
    for name in ("hop", "saloon"):
        shutil.copy(Path("examples") / f"{name}.yaml", tmp_path)
    return tmp_path


@pytest.fixture
def studio(folder):
    """The address of a studio that runs in a thread of the tests."""
    from impel.studio import server

    ready, address, running = threading.Event(), [], []

    class Kept(server.Server):
        def __init__(self, *given):
            super().__init__(*given)
            running.append(self)

        def install_signal_handlers(self):
            pass

        def capture_signals(self):
            import contextlib

            return contextlib.nullcontext()

    def tell(where):
        address.append(where)
        ready.set()

    before, server.Server = server.Server, Kept
    thread = threading.Thread(
        target=serve, args=(folder,), kwargs={"scene": None, "port": 0, "pages": True, "ready": tell}, daemon=True
    )
    thread.start()
    assert ready.wait(60)
    yield address[0]
    running[0].should_exit = True
    thread.join(20)
    server.Server = before
    assert not thread.is_alive()


@pytest.fixture
def talker(studio):
    made = Talker(studio)
    yield made
    made.close()
