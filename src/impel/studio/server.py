"""Carries messages between the session and whoever knows its token, on this machine only.

Commands and what they answer are JSON; frames are binary, all that are new in one message, and at most two messages go
unacknowledged: a slow page gets fewer and larger ones, and what it draws is always the newest.
"""

import asyncio
import contextlib
import json
import secrets
import struct
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from impel.complaints import say
from impel.files import Problem
from impel.geometry.meshes import Mesh, drawn_as, marks_of, mesh_of, surfaces_of
from impel.scene.shapes import BAKED
from impel.studio.rehearsal import Run
from impel.studio.session import Client, Session
from impel.takes.morphs import morphs_of
from impel.takes.pieces import painted_mesh
from impel.takes.soft import rest_of, soft_bodies
from impel.takes.take import Floats, Take

HOST = "127.0.0.1"
COOKIE = "impel"
MOST_BYTES = 8 * 2**20  # of one message
UNACKNOWLEDGED = 2  # binary messages that may be under way
CHUNK_BYTES = 2 * 2**20  # of rows in one message
WATCH_EVERY = 0.1  # s: how much a power cut may take
HEADER = struct.Struct("<8I")  # version, run, first row, rows, columns, rows in all, 0, 0
VERSION = 1
EXPORTS = ("npz", "csv", "glb", "mp4", "gif", "png")
PAGE = Path(__file__).parent / "page"
THREE = Path(__file__).parent / "three"  # three.js, which `make studio` and the wheel bring


class Aside:
    """Does what takes long in threads; when the studio ends, nobody waits for them."""

    def __init__(self) -> None:
        self.awaited: set[asyncio.Future[Any]] = set()

    async def do(self, work: Callable[..., Any], *given: Any) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def told(result: Any, error: Exception | None) -> None:
            if not future.done():
                future.set_result(result) if error is None else future.set_exception(error)

        def carried_out() -> None:
            result, error = None, None
            try:
                result = work(*given)
            except Exception as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(told, result, error)

        self.awaited.add(future)
        threading.Thread(target=carried_out, daemon=True).start()
        try:
            return await future
        finally:
            self.awaited.discard(future)

    def end(self) -> None:
        for future in self.awaited:
            if not future.done():
                future.set_exception(HTTPException(503, "impel has ended"))


class Guard:
    """Lets in who knows the token, from this machine's own pages only; other sites' pages are kept out."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(4403, refused)
        else:
            await PlainTextResponse(refused + "\n", 403)(scope, receive, send)

    def _refused(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:
            return "refused: not this machine's own address"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "refused: another site's page"
        connection = HTTPConnection(scope)
        given = connection.query_params.get("token") or connection.cookies.get(COOKIE) or ""
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "refused: the token is missing or wrong; use the address that impel printed"
        return None


class Connection:
    """One open socket: what it was told, which frames it has, and how many of them it has acknowledged."""

    def __init__(self, socket: WebSocket, session: Session, aside: Aside) -> None:
        self.socket, self.session, self.aside = socket, session, aside
        self.words: deque[str] = deque()
        self.last_words: str | None = None  # of a run, after all its rows
        self.wake = asyncio.Event()
        self.run = 0  # of which ...
        self.sent = 0  # ... so many rows have been sent
        self.under_way = 0
        self.most_under_way = 0
        self.client = Client(self.say, self.wake.set)

    def say(self, message: dict[str, Any]) -> None:
        text = json.dumps(message, separators=(",", ":"))
        if message.get("tell") == "story":
            self.last_words = text
        else:
            if message.get("tell") == "run":
                self.say_last()
            self.words.append(text)
        self.wake.set()

    def say_last(self) -> None:
        if self.last_words is not None:
            self.words.append(self.last_words)
            self.last_words = None

    async def listen(self) -> None:
        """Carry out what is asked, one thing after the other."""
        while True:
            told = await self.socket.receive()
            if told["type"] == "websocket.disconnect":
                return
            try:
                message = json.loads(told.get("text") or "")
            except ValueError:
                self.say({"problems": ["message: is not JSON"]})
                continue
            if isinstance(message, dict) and message.get("do") == "ack":
                self.under_way = max(0, self.under_way - 1)
                self.wake.set()
                continue
            await self.answer(message)
            await asyncio.sleep(0)  # others have their turn, however many messages there are

    async def answer(self, message: Any) -> None:
        number = message.get("id") if isinstance(message, dict) else None
        try:
            if isinstance(message, dict) and message.get("do") == "export":
                answer = await export(self.session, self.aside, message)
            else:
                answer = self.session.do(message)
            self.say({"id": number, "ok": answer})
        except Problem as problem:
            self.say({"id": number, "problems": problem.lines})
        except Exception as error:  # a fault of ours must not end the studio
            self.say({"id": number, "problems": [f"fault of the studio's own: {type(error).__name__}: {error}"]})

    async def speak(self) -> None:
        """Send what there is to tell, and new frames as far as they are wanted."""
        while True:
            await self.wake.wait()
            self.wake.clear()
            if self.has_all_rows():
                self.say_last()
            while self.words:
                await self.socket.send_text(self.words.popleft())
            while self.under_way < UNACKNOWLEDGED and not self.words:
                chunk = self.next_rows()
                if chunk is None:
                    break
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                await self.socket.send_bytes(chunk)
            if self.last_words is not None and self.has_all_rows():
                self.wake.set()

    def has_all_rows(self) -> bool:
        run = self.session.shown
        return run is None or not run.ended or (run.number == self.run and self.sent >= run.done)

    def next_rows(self) -> bytes | None:
        run = self.session.shown
        if run is None:
            return None
        if run.number != self.run:  # rows that the run before it had too are not sent again
            has_those = run.of == self.run and run.kept <= self.sent
            self.run, self.sent = run.number, run.kept if has_those else 0
        first, end = self.sent, run.done
        if end <= first:
            return None
        rows = run.rows[first : min(end, first + max(1, CHUNK_BYTES // max(run.rows[0].nbytes, 1)))]
        self.sent = first + len(rows)
        if self.sent < end:
            self.wake.set()
        return packed(run, first, rows)


def packed(run: Run, first: int, rows: Any) -> bytes:
    """Rows of a run as one message."""
    header = HEADER.pack(VERSION, run.number, first, len(rows), rows.shape[1], run.frames, 0, 0)
    return header + np.ascontiguousarray(rows, "<f4").tobytes()


async def export(session: Session, aside: Aside, message: dict[str, Any]) -> dict[str, Any]:
    """Write the take in a thread; the answer says where it can be fetched."""
    ending = message.get("format")
    if ending not in EXPORTS:
        raise Problem(f"format: must be one of {', '.join(EXPORTS)}, got {say(ending)}")
    fps = message.get("fps")
    if fps is not None and not (isinstance(fps, int | float) and 1 <= fps <= 1000):
        raise Problem(f"fps: must be a number from 1 to 1000, got {say(fps)}")
    name = secrets.token_hex(8)
    file = session.new_export(name) / f"{Path(session.document.name).stem}.{ending}"
    await aside.do(session.write, file, message.get("camera"), bool(message.get("overlays")), fps)
    session.exports[name] = file
    return {"url": f"/export/{name}/{file.name}", "name": file.name, "bytes": file.stat().st_size}


def make_app(session: Session, aside: Aside, token: str, port: int, *, pages: bool) -> ASGIApp:
    """The application: the socket and what goes with it, and the page if it is to have one."""

    async def page(request: Request) -> Response:
        if "token" in request.query_params:  # not to stay in the address, from where it could be copied
            answer: Response = RedirectResponse("/", 303)
            answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return answer
        return _file(PAGE / "index.html")

    async def static(request: Request) -> Response:
        folder = THREE if request.url.path.startswith("/three/") else PAGE
        return _file(folder / request.path_params["name"])

    async def mesh(request: Request) -> Response:
        shape = session.meshes.get(request.path_params["name"])
        if shape is None:
            return PlainTextResponse("no such mesh\n", 404)
        try:
            sides = request.query_params.get("sides")
            coarse = int(sides) if sides in ("8", "16") else None
            drawn, colors = await aside.do(_drawn, shape, coarse, session.surfaces())
        except Problem as problem:
            return PlainTextResponse(str(problem), 404)
        vertices, normals, triangles = drawn
        parts = [
            vertices.astype("<f4"),
            normals.astype("<f4"),
            triangles.astype("<u4"),
            colors.astype("<f4"),
            marks_of(shape, drawn).astype("u1"),
        ]
        head = struct.pack("<3I", len(vertices), len(triangles), len(colors))
        return Response(head + b"".join(part.tobytes() for part in parts), media_type="application/octet-stream")

    async def soft(request: Request) -> Response:
        """The surface of a soft body over the take that is shown: shapes, and how much of each at every frame."""
        take = session.take_of(request.path_params["run"])
        body = request.path_params["body"]
        if take is None or not body < len(take.names) or take.names[body] not in soft_bodies(take):
            return PlainTextResponse("no such surface\n", 404)
        return Response(await aside.do(_skin, take, body), media_type="application/octet-stream")

    async def exported(request: Request) -> Response:
        file = session.exports.get(request.path_params["name"])
        return PlainTextResponse("no such file\n", 404) if file is None else FileResponse(file, filename=file.name)

    async def socket(socket: WebSocket) -> None:
        await socket.accept()
        connection = Connection(socket, session, aside)
        session.enter(connection.client)
        tasks = [asyncio.create_task(connection.listen()), asyncio.create_task(connection.speak())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            session.leave(connection.client)
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError, OSError):
                for done in await asyncio.gather(*tasks, return_exceptions=True):
                    if isinstance(done, Exception) and not isinstance(done, WebSocketDisconnect | RuntimeError):
                        raise done

    routes: list[Any] = [
        WebSocketRoute("/socket", socket),
        Route("/mesh/{name}", mesh),
        Route("/soft/{run:int}/{body:int}", soft),
        Route("/export/{name}/{file}", exported),
    ]
    if pages:
        routes += [Route("/", page), Route("/page/{name}", static), Route("/three/{name}", static)]

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(watch())
        yield
        watching.cancel()
        session.close()

    async def watch() -> None:
        while True:
            await asyncio.sleep(WATCH_EVERY)
            try:
                session.watch()
            except Problem as problem:
                session._tell({"tell": "notice", "line": problem.lines[0]})

    return Guard(Starlette(routes=routes, lifespan=lifespan), token, port)


def _drawn(shape: dict[str, Any], sides: int | None, surfaces: dict[str, Any]) -> tuple[Mesh, Floats]:
    """The mesh of a shape as a scene has it, coarse, with sharp edges, if round things shall have so few sides; and the
    colours of its vertices, as light, if it has any."""
    plain = np.zeros((0, 3))
    if "pieces" in shape:
        return painted_mesh(shape["pieces"])
    if name := shape.get("mesh", {}).get("surface"):  # of a take that was made elsewhere, such as that of a toy
        if f"{name}.vertices" not in surfaces:
            raise Problem("no such mesh")
        vertices, normals, triangles = (surfaces[f"{name}.{part}"] for part in ("vertices", "normals", "triangles"))
        return (vertices, normals, triangles.astype(np.int32)), surfaces.get(f"{name}.colors", plain)
    if next(iter(shape)) not in BAKED:
        return mesh_of(shape) if sides is None else mesh_of(shape, segments=sides, bevel_steps=1), plain
    return mesh_of(drawn_as(shape, False), surfaces=surfaces_of(shape)), plain


def _skin(take: Take, body: int) -> bytes:
    """Vertices, normals, triangles, those of the second tone last; then shapes, and weights for every frame."""
    mesh, morphs = rest_of(take, take.names[body]), morphs_of(take, take.names[body])
    vertices, normals, triangles = mesh
    marks = marks_of(take.shapes[body], mesh)
    tones = np.concatenate([triangles[~marks], triangles[marks]])
    shapes = np.stack([morphs.shifts, morphs.turns], axis=1)
    counts = (len(vertices), len(triangles), int((~marks).sum()), len(shapes), len(morphs.weights))
    parts = (vertices.astype("<f4"), normals.astype("<f4"), tones.astype("<u4"), shapes, morphs.weights.astype("<f4"))
    return struct.pack("<5I", *counts) + b"".join(part.tobytes() for part in parts)


def _file(path: Path) -> Response:
    if not path.is_file():
        return PlainTextResponse("no such file\n", 404)
    return FileResponse(path, headers={"Cache-Control": "no-cache"})


class Server(uvicorn.Server):
    """A server that says when it is ready, and does not wait when it ends."""

    def __init__(self, config: uvicorn.Config, aside: Aside, ready: Any) -> None:
        super().__init__(config)
        self.aside, self.ready = aside, ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()

    async def shutdown(self, sockets: Any = None) -> None:
        self.aside.end()
        await super().shutdown(sockets)


def serve(root: Path, *, scene: Path | None, port: int, pages: bool, ready: Any) -> None:
    """Serve until Ctrl-C or SIGTERM; `ready` is called with the address."""
    listening = _listen(port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def hand_over(work: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(work)

        session = Session(root, hand_over)
        if scene is not None:
            session.do_open(str(scene.resolve().relative_to(session.root)))
        aside = Aside()
        app = make_app(session, aside, token, port, pages=pages)
        config = uvicorn.Config(
            app, log_level="error", ws_max_size=MOST_BYTES, ws_max_queue=32, timeout_graceful_shutdown=2,
            ws_per_message_deflate=False,
        )  # fmt: skip
        await Server(config, aside, lambda: ready(f"http://{HOST}:{port}/?token={token}")).serve([listening])

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())


def _listen(port: int) -> Any:
    import socket

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        raise Problem(f"port {port}: cannot be used: {(error.strerror or str(error)).lower()}") from None
    return listening
