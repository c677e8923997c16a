"""One open scene, everyone who looks at it, and what each of their words does.

`Session.do` takes a command as plain data and answers with plain data, or raises `Problem`. What all should know is
told to every `Client`. The server only carries messages; docs/studio.md lists them.
"""

import dataclasses
import hashlib
import itertools
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from impel.complaints import name_like, say
from impel.files import Problem, read_text
from impel.scene import Scene, scene_schema
from impel.scene.joints import ALL_MAY, ALLOWED, NEEDED
from impel.studio.affected import affected_from
from impel.studio.document import UNSAVED, Document, new_text
from impel.studio.examples import EXAMPLES, example_folders, example_text
from impel.studio.rehearsal import LIVE_SECONDS, Rehearsal, Run
from impel.studio.text import REMOVED
from impel.studio.toybox import Toybox
from impel.takes import Take
from impel.takes.soft import soft_bodies
from impel.toys.figure import built_in_figures

SCENE_ENDINGS = (".yaml", ".yml", ".json")
MESH_ENDINGS = (".obj", ".stl", ".ply", ".glb")
MOST_PATH = 64  # parts of a field's name
MOST_FILES = 500
AFTERWARDS = 3.0  # s: so long is kept of what was played after the last push or change
MOST_EXPORTS = 8  # that can be fetched
MOST_MESHES = 10_000  # that can be fetched
TIES = {kind: {"needed": NEEDED[kind], "allowed": (*ALLOWED[kind], *ALL_MAY)} for kind in NEEDED}  # joints, by kind
BALL: dict[str, Any] = {"shape": {"sphere": 0.1}, "mass": 1.0, "color": "#f2a541"}  # what is thrown


class Client:
    """Someone who looks: what is to be told is put into `tell`."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], stir: Callable[[], None]) -> None:
        self.tell = tell
        self.stir = stir  # there may be new frames


class Session:
    """The state of the studio. All methods are called in one thread, but for what the rehearsal's thread tells."""

    def __init__(self, root: Path, hand_over: Callable[[Callable[[], None]], None]) -> None:
        self.root = root.resolve()
        self.clients: list[Client] = []
        self.meshes: dict[str, dict[str, Any]] = {}
        self.exports: dict[str, Path] = {}
        self._exported = tempfile.TemporaryDirectory(prefix="impel-")
        self.folders = (self.root, *example_folders())  # nothing outside of them is read
        self.document = self._document_of(new_text())
        self._tell_later = lambda message: hand_over(lambda: self._tell(message))  # from another thread
        self.rehearsal = Rehearsal(lambda run: hand_over(lambda: self._look(run)), self.folders)
        self.toybox = Toybox(
            self._tell_later,
            lambda take: hand_over(lambda: self._look(self.rehearsal.present(take))),
        )
        self.opened = False  # whether a scene was opened, or the gallery of examples is shown
        self.shown: Run | None = None  # the run that everyone has been told of
        self._told_story = 0  # the last run whose story was told
        self._told_soft = 0  # the last one whose soft bodies were told of
        self._drafted = self.document.text

    # Coming and going

    def enter(self, client: Client) -> None:
        self.clients.append(client)
        client.tell(
            {"tell": "welcome", "schema": scene_schema(), "ties": TIES, "root": str(self.root), "examples": EXAMPLES}
        )
        client.tell(self._document())
        if self.shown is not None:
            client.tell(self._cast(self.shown))
            if self._told_story == self.shown.number:
                client.tell(self._story(self.shown))
            if self._told_soft == self.shown.number and (soft := _soft(self.shown)):
                client.tell(soft)
        client.stir()

    def leave(self, client: Client) -> None:
        self.clients.remove(client)

    def close(self) -> None:
        self.document.keep_draft()
        self.toybox.close()
        self.rehearsal.close()
        self._exported.cleanup()

    def do(self, message: Any) -> dict[str, Any]:
        """Carry out a command; what it answers."""
        if not isinstance(message, dict) or not isinstance(message.get("do"), str):
            raise Problem("message: must be a mapping with `do`")
        name = message["do"]
        command = getattr(self, f"do_{name}", None)
        if command is None:
            known = [key.removeprefix("do_") for key in dir(self) if key.startswith("do_")]
            raise Problem(f"do: {name_like(name, known, 'command')}")
        fields = {key: value for key, value in message.items() if key not in ("do", "id")}
        try:
            answer = command(**fields)
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise Problem(f"{name}: {str(error).split('() ', 1)[-1]}") from None
        return {"run": self._run_number(), **(answer or {})}  # the one that shows what it has done

    def do_ping(self) -> None:
        """Answers, and does nothing else."""

    # Files

    def do_files(self) -> dict[str, Any]:
        """Scenes below the directory that the studio was opened in, and meshes below that of the scene."""
        unsaved = sorted(file.name[1 : -len(UNSAVED)] for file in self.root.glob(f".*{UNSAVED}"))
        return {
            "files": _files(self.root, SCENE_ENDINGS),
            "meshes": _files(self.document.beside, MESH_ENDINGS),
            "unsaved": [Path(name).stem for name in unsaved],
        }

    def do_open(self, file: str | None = None, example: str | None = None) -> dict[str, Any]:
        """Open a scene file, or a copy of an example."""
        self.document.keep_draft()
        if example is not None:
            text, folder = example_text(example)
            self.document = self._document_of(text, name=f"{example}.yaml", beside=folder)
        else:
            path = self.inside(file)
            self.document = self._document_of(read_text(path), path, path.name, path.parent)
        kept = self.document.take_draft()
        self.opened = True
        self._changed(self.document.scene, after=0.0)
        return {"name": self.document.name, "draft": kept}

    def do_new(self) -> dict[str, Any]:
        self.document.keep_draft()
        self.document = self._document_of(new_text())
        kept = self.document.take_draft()
        self.opened = True
        self._changed(self.document.scene, after=0.0)
        return {"name": self.document.name, "draft": kept}

    def do_save(self, file: str | None = None) -> dict[str, Any]:
        """Write the scene to its file, or to another below the studio's directory."""
        path = None if file is None else self.inside(file, new=True)
        if path is not None and path.suffix.lower() not in SCENE_ENDINGS:
            raise Problem(f"{file}: a scene's name ends in {', '.join(SCENE_ENDINGS)}")
        self.document.save(path)
        self._tell(self._document())
        return {"name": self.document.name}

    def do_discard(self) -> None:
        """Forget what was not saved."""
        self._edit(self.document.forget)

    def _document_of(
        self, text: str, file: Path | None = None, name: str = "untitled.yaml", beside: Path | None = None
    ) -> Document:
        return Document(text, file=file, name=name, beside=beside or self.root, folders=self.folders)

    def inside(self, file: Any, *, new: bool = False) -> Path:
        """A file below the studio's directory; raises `Problem` for any other, links that lead out of it included."""
        if not isinstance(file, str) or not file or "\0" in file:
            raise Problem(f"file: must be a name, got {say(file)}")
        path = Path(os.path.realpath(self.root / file))
        if not path.is_relative_to(self.root) or path == self.root:
            raise Problem(f"{file}: is not below {self.root}")
        if not new and not os.path.isfile(path):  # also of names that no file can have
            raise Problem(f"{file}: there is no such file below {self.root}")
        return path

    def watch(self) -> None:
        """Called now and then: what somebody else wrote appears, and what is not saved is kept."""
        document = self.document
        if document.changed_outside():
            if document.dirty:
                self._tell({"tell": "notice", "line": f"{document.name} was changed by another program", "ask": "file"})
            else:
                self._edit(document.take_file)
                document.done.pop()
        if document.text != self._drafted:
            self._drafted = document.text
            document.keep_draft()
            if not document.dirty:  # an edit has led back to what is saved
                self._tell(self._document())

    # Changing the scene

    def do_edit(
        self, path: Any = None, value: Any = None, remove: bool = False, gesture: Any = None, frame: Any = 0
    ) -> None:
        """Give a field another value, or take it out; changes of one gesture are undone together.

        The frame that is looked at comes as soon as it is there.
        """
        where = _path(path)
        frame = frame if isinstance(frame, int) else 0
        # The entries behind it, or what counts them: then all is told anew.
        moved_up = (remove and isinstance(where[-1], int)) or (where[0] == "actors" and isinstance(value, list))
        self._edit(
            lambda: self.document.edit(where, REMOVED if remove else value, gesture),
            None if moved_up else where,
            looked_at=frame,
        )

    def do_rename(self, group: Any = None, name: Any = None, to: Any = None) -> None:
        """Give a body, a walker, a joint or an appointment another name, wherever the scene speaks of it."""
        if not all(isinstance(word, str) for word in (group, name, to)):
            raise Problem("rename: needs `group`, `name` and `to`, three texts")
        self._edit(lambda: self.document.rename(group, name, to))

    def do_remove(self, group: Any = None, name: Any = None) -> dict[str, Any]:
        """Take a body, a walker, a joint, an actor or an appointment out, and what makes no sense without it."""
        if not isinstance(group, str) or not isinstance(name, str):
            raise Problem("remove: needs `group` and `name`, two texts")
        also: list[str] = []
        self._edit(lambda: also.extend(self.document.remove(group, name)))
        return {"also": also}

    def do_write(self, text: str) -> None:
        """Take another text."""
        if not isinstance(text, str):
            raise Problem(f"text: must be text, got {say(text)}")
        self._edit(lambda: self.document.write(text))

    def do_undo(self) -> None:
        self._edit(self.document.undo)

    def do_redo(self) -> None:
        self._edit(self.document.redo)

    def do_text(self) -> dict[str, Any]:
        return {"text": self.document.text}

    def _edit(self, change: Callable[[], Any], path: tuple[str | int, ...] | None = None, looked_at: int = 0) -> None:
        before = self.document.scene
        change()
        after = self.document.scene
        since = 0.0 if before is None or after is None else affected_from(before, after)
        self._changed(after, after=since, path=path, looked_at=looked_at)

    def _changed(
        self, scene: Scene | None, *, after: float, path: tuple[str | int, ...] | None = None, looked_at: int = 0
    ) -> None:
        if scene is not None and after < math.inf:
            self.rehearsal.begin(scene, after=after, looked_at=looked_at)
        elif scene is None:
            self.rehearsal.stop()
        self._tell(self._document() if path is None else self._field(path))

    def _document(self) -> dict[str, Any]:
        """What everyone should know of the scene as it is written."""
        return {"tell": "document", **self._head(), "data": self.document.data, "opened": self.opened}

    def _field(self, path: tuple[str | int, ...]) -> dict[str, Any]:
        value: Any = self.document.data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else value[part] if part in range(len(value)) else None
        return {"tell": "edited", **self._head(), "path": list(path), "value": value}

    def _head(self) -> dict[str, Any]:
        document = self.document
        return {
            "name": document.name,
            "file": None if document.file is None else str(document.file.relative_to(self.root)),
            "dirty": document.dirty,
            "undo": len(document.done),
            "redo": len(document.undone),
            "problems": document.problems,
            "run": self._run_number(),
            "looks": {} if document.scene is None else _looks(document.scene),
        }

    def _run_number(self) -> int:
        run = self.rehearsal.run
        return 0 if run is None else run.number

    # Playing live

    def do_live(self, frame: int = 0) -> None:
        """Play on from a frame, in real time, with a hand in it."""
        scene = self._scene()
        if not isinstance(frame, int) or frame < 0:
            raise Problem(f"frame: must be a whole number of at least 0, got {say(frame)}")
        now = frame / scene.world.fps
        world = scene.world.model_copy(update={"seconds": max(scene.world.seconds, now + LIVE_SECONDS)})
        self.rehearsal.begin(scene.model_copy(update={"world": world}), after=now, live=True, now=now)

    def do_halt(self) -> None:
        """End live playing; what happened stays to be looked at and kept."""
        self.rehearsal.stop()

    def do_push(self, body: str, **fields: Any) -> dict[str, Any]:
        """Push or pull a body of the scene that is played live: as `pushes` in a scene; its number, to lead it."""
        run = self._live()
        number = len(run.scene.pushes) + run.pushes
        run.pushes += 1
        self._order(lambda show: show.push(body, **fields))
        return {"number": number}

    def do_pull(self, number: int, to: list[float]) -> None:
        self._order(lambda show: show.pull(number, to))

    def do_release(self, number: int) -> None:
        self._order(lambda show: show.release(number))

    def do_throw(self, at: Any = None, velocity: Any = None) -> dict[str, Any]:
        """Throw a ball into the scene that is played live, from a place with a velocity.

        It has been there all the time, held and untouchable: so the scene with it is as it was until now.
        """
        run = self._live()
        if run.show is None or not _is_place(at) or not _is_place(velocity):
            raise Problem("throw: needs `at` and `velocity`, three numbers each")
        now = run.show.time
        document = run.show.to_scene().to_document()
        bodies, joints = document["bodies"], document.setdefault("joints", {})
        name = next(name for k in itertools.count(1) if (name := f"thrown{k}") not in bodies and name not in joints)
        bodies[name] = {**BALL, "at": at, "collides": {"from": now}}
        joints[name] = {"weld": ["world", name], "at": at, "until": now}
        force = [BALL["mass"] * run.fps * speed for speed in velocity]
        push = {"body": name, "from": now, "until": now + 1 / run.fps, "force": force}
        document["pushes"] = [*document.get("pushes", []), push]
        self.rehearsal.begin(self.document.scene_of(document), live=True, now=now)
        return {"body": name}

    def do_change(self, field: str, value: Any = None) -> None:
        """Change a field of the scene that is played live."""
        self._order(lambda show: show.change(field, value))

    def do_keep(self) -> dict[str, Any]:
        """Make what was done live part of the scene: its pushes and changes, and a while after the last one."""
        run = self.rehearsal.run
        scene = self.document.scene
        if run is None or run.show is None or run.live or scene is None:
            raise Problem("keep: play live first, and halt")
        played = run.show.to_scene()
        over = (run.done - 1) / run.fps
        ends = [over if push.until is None else push.until for push in played.pushes]
        ends += [change.time for change in played.changes]
        if not ends:
            raise Problem("keep: nothing was done")
        document = played.to_document()
        seconds = max(scene.world.seconds, math.ceil(min(max(ends) + AFTERWARDS, over)))
        for group in ("bodies", "joints"):  # what was thrown
            for name in document.get(group, {}):
                if name not in self.document.data.get(group, {}):
                    self.document.edit((group, name), document[group][name], gesture="keep")
        for group in ("pushes", "changes"):
            if document.get(group):
                self.document.edit((group,), document[group], gesture="keep")
        if seconds != scene.world.seconds:
            self.document.edit(("world", "seconds"), seconds, gesture="keep")
        self._changed(self.document.scene, after=0.0)
        return {"pushes": len(played.pushes), "changes": len(played.changes)}

    def _live(self) -> Run:
        run = self.rehearsal.run
        if run is None or not run.live:
            raise Problem("nothing is played live")
        return run

    def _order(self, order: Callable[[Any], Any]) -> None:
        self._live()

        def carried_out(show: Any) -> None:
            try:
                order(show)
            except Problem as problem:
                self._tell_later({"tell": "notice", "line": problem.lines[0]})

        self.rehearsal.order(carried_out)

    def _scene(self) -> Scene:
        if self.document.scene is None:
            raise Problem(*(self.document.problems or ["there is no scene"]))
        return self.document.scene

    def do_show(self) -> None:
        """Put the scene on the stage again, where a toy is now."""
        self.rehearsal.begin(self._scene())

    # Toys

    def do_figures(self) -> dict[str, Any]:
        return {"figures": built_in_figures()}

    def do_search(self, figure: str, evaluations: int = 1000, seed: int = 0) -> None:
        """Search a palette of toys, as `impel toy search FIGURE --palette 6` does; it is told as it fills up."""
        self.toybox.search(figure, evaluations, seed)

    def do_toy_stop(self) -> None:
        self.toybox.stop()

    def do_toy_pick(self, number: int) -> None:
        """Run a toy of the palette on the stage."""
        self.toybox.pick(number)

    def do_toy_change(
        self, value: float, pose: int | None = None, joint: str | None = None, time: int | None = None
    ) -> None:
        """Another angle of a pose, in degrees, or another time."""
        self.toybox.change(pose, joint, time, value)

    def do_toy_plot(self, kind: str, parameter: str = "", low: float = 0.0, high: float = 0.0) -> None:
        """The settled motion of the toy, or how it depends on a parameter."""
        self.toybox.plot(kind, parameter, low, high)

    # What comes of it

    def _look(self, run: Run) -> None:
        """The rehearsal has something new."""
        if run is not self.rehearsal.run:
            return
        if run.cast is not None and run is not self.shown:
            self.shown = run
            self._tell(self._cast(run))
        if run.ended and run.number != self._told_story:
            self._told_story = run.number
            self._tell(self._story(run))
        if run.softened and run.number != self._told_soft:
            self._told_soft = run.number
            if soft := _soft(run):
                self._tell(soft)
        for client in self.clients:
            client.stir()

    def _cast(self, run: Run) -> dict[str, Any]:
        """Who is on the stage, before any frame of the run."""
        assert run.cast is not None
        cast = run.cast
        return {
            "tell": "run",
            "run": run.number,
            "live": run.live,
            "now": run.now,
            "fps": run.fps,
            "frames": run.frames,
            "kept": run.kept,
            "of": run.of,
            "names": cast.names,
            "meshes": [self._mesh(shape) for shape in cast.shapes],
            "actuators": cast.actuators,
            "ropes": cast.ropes,
            "paths": cast.paths,
            "wires": cast.wires,
            "colors": run.colors,
            "toy": run.toy,
            "doubts": run.doubts,
        }

    def _story(self, run: Run) -> dict[str, Any]:
        """What happened, after the last frame."""
        take = run.take
        return {
            "tell": "story",
            "run": run.number,
            "problems": run.problems,
            "events": [] if take is None else take.events,
            "remarks": [] if take is None else take.remarks(),
            "channels": [] if take is None else sorted(take.channels),
            "frames": run.done,
        }

    def do_channel(self, name: str) -> dict[str, Any]:
        """The values of a channel of the present take, one a frame."""
        take = self._take()
        if name not in take.channels:
            raise Problem(f"channel: {name_like(name, take.channels, 'channel')}")
        return {"name": name, "values": [float(f"{value:.6g}") for value in take.channels[name]]}

    def write(self, file: Path, camera: Any, overlays: bool, fps: float | None) -> None:
        """Write the present take to a file, as its ending says."""
        from impel.render.outputs import write_take
        from impel.takes.resampling import resampled

        take = self._take(softened=True)
        if camera is not None:
            from impel.scene.cameras import Camera

            seen = Camera.model_validate(camera).model_dump(mode="json", by_alias=True, exclude_none=True)
            take = dataclasses.replace(take, camera=seen, cameras=[])
        if fps is not None:
            take = resampled(take, fps)
        write_take(take, file, overlays=overlays)

    def new_export(self, name: str) -> Path:
        """A directory for what is written next; what was written long ago is not kept."""
        while len(self.exports) >= MOST_EXPORTS:
            shutil.rmtree(self.exports.pop(next(iter(self.exports))).parent, ignore_errors=True)
        folder = Path(self._exported.name, name)
        folder.mkdir()
        return folder

    def _take(self, softened: bool = False) -> Any:
        run = self.rehearsal.run
        if run is None or run.take is None:
            raise Problem("there is no take yet: wait until it is simulated")
        return run.soft_take() if softened else run.take

    def take_of(self, number: int) -> Take | None:
        """The take of the run that everyone has been told of, if that is its number and it has ended."""
        return None if self.shown is None or self.shown.number != number else self.shown.take

    def surfaces(self) -> dict[str, Any]:
        """Those that the shapes of the take on the stage are drawn with."""
        take = None if self.shown is None else self.shown.take
        return {} if take is None else take.surfaces

    def _mesh(self, shape: dict[str, Any]) -> str:
        """The name under which the mesh of a shape can be fetched."""
        name = hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]
        self.meshes.pop(name, None)
        self.meshes[name] = shape
        while len(self.meshes) > MOST_MESHES:
            del self.meshes[next(iter(self.meshes))]  # the one that nobody has shown for longest
        return name

    def _tell(self, message: dict[str, Any]) -> None:
        for client in self.clients:
            client.tell(message)


def _files(root: Path, endings: tuple[str, ...]) -> list[str]:
    """Files below a directory, not too deep in it, seen from there."""
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            str(Path(folder, name).relative_to(root))
            for name in sorted(files)
            if name.lower().endswith(endings) and not name.startswith(".")
        ]
        if len(found) >= MOST_FILES or len(Path(folder).relative_to(root).parts) > 3:
            folders.clear()
    return found[:MOST_FILES]


def _path(path: Any) -> tuple[str | int, ...]:
    if not isinstance(path, list) or not 0 < len(path) <= MOST_PATH:
        raise Problem(f"path: must be a list such as [actors, ball, move, speed], got {say(path)}")
    if not all(isinstance(part, str | int) and not isinstance(part, bool) for part in path):
        raise Problem("path: must be made of names and numbers")
    return tuple(path)


def _is_place(place: Any) -> bool:
    return isinstance(place, list) and len(place) == 3 and all(isinstance(x, int | float) for x in place)


def _soft(run: Run) -> dict[str, Any] | None:
    """Which bodies are seen to be soft, now that the whole take is known."""
    bodies = [] if run.take is None else [run.take.index(name) for name in soft_bodies(run.take)]
    return {"tell": "soft", "run": run.number, "bodies": bodies} if bodies else None


def _looks(scene: Scene) -> dict[str, Any]:
    """What is seen and not simulated."""
    return {
        "colors": {name: body.color for name, body in scene.bodies.items() if body.color is not None},
        "camera": None
        if scene.camera is None
        else scene.camera.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
