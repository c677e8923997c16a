"""Takes that were damaged, each in its own way: read as valid takes, or refused in one line, cheaply.

`make fuzz-takes` tries two thousand; `test_mutations.py` a few of them.
"""

import contextlib
import io
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from parade import parade

from impel.cli import main
from impel.geometry.meshes import mesh_of
from impel.takes import Take, load_npz, save_npz
from impel.takes.soft import pack
from impel.takes.take import SOFT_VERSION

MOST_SECONDS, MOST_MEMORY = 5.0, 10**9  # CPU, bytes
IMPEL = 2 * 10**8  # bytes of these that impel has before it reads anything
NUMBERS = (1e308, -1e308, np.nan, np.inf, -np.inf, 5e-324, 0.0, -1.0, 1e12, 2.0**53)
WORDS = ("1e999", "NaN", "-1", "0", "null", "true", "[]", "{}", '""', "1e308", '"x"', "[[[[[[", "9" * 5000)
DEEP = "[" * 3000 + "]" * 3000
Arrays = dict[str, np.ndarray]
Random = np.random.Generator


def whole_take() -> Take:
    """A small take that has something of everything."""
    take = parade(5, 6)
    take.shapes[2] = {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.2}, {"at": [0.2, 0, 0], "radius": 0.1}]}}
    take.camera = {"from": [4, -5, 2], "to": [0, 0, 0.5], "fov": 40}
    take.cameras = [{"time": 0.05, "follow": "body 0", "from": [4, -5, 2]}, {"time": 0.1}]
    turned = np.tile([1.0, 0, 0, 0], (6, 1))
    take.tracks["body 1.turn.target"] = turned
    take.paths |= {"body 1.turn": turned, "body 2.move": np.tile(take.paths["body 0.move"], (6, 1, 1))}
    take.wires["pedestal.rail"] = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]])
    take.ropes["cord"] = take.position[:, [1, 2]]
    take.channels["cord.slack"] = np.linspace(0, 0.2, 6)
    take.keys = {"body 0.move": [[0, 0, 1], [1, 0, 1]]}
    take.events.append({"time": 0.1, "kind": "contact begins", "subject": "body 0", "details": {"with": "ground"}})
    vertices, normals, triangles = mesh_of({"box": [0.6, 0.6, 0.5]})
    moved = [(np.arange(8), np.full((8, 3), 0.01 * frame), normals[:8]) for frame in range(6)]
    take.soft = pack("pedestal", (vertices, normals, triangles), moved, np.abs(normals))
    take.version = SOFT_VERSION
    return take


def flip_anywhere(data: bytearray, random: Random) -> bytearray:
    for _ in range(random.integers(1, 6)):
        data[random.integers(len(data))] ^= int(random.integers(1, 256))
    return data


def cut(data: bytearray, random: Random) -> bytearray:
    first, last = sorted(random.integers(0, len(data) + 1, 2))
    return data[:first] if random.random() < 0.5 else data[:first] + data[last:]


def double(data: bytearray, random: Random) -> bytearray:
    first, last = sorted(random.integers(0, len(data) + 1, 2))
    return data[:last] + data[first:]


def flip_in_array(data: bytearray, random: Random) -> bytearray:
    """Where the bytes of an array are, which have a checksum: this must be found."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        entry = entries[random.integers(len(entries))]
    start = (
        entry.header_offset + 30 + int.from_bytes(data[entry.header_offset + 26 : entry.header_offset + 28], "little")
    )
    start += int.from_bytes(data[entry.header_offset + 28 : entry.header_offset + 30], "little")
    data[start + random.integers(entry.file_size)] ^= int(random.integers(1, 256))
    return data


def change_number(arrays: Arrays, random: Random) -> None:
    names = [name for name, array in arrays.items() if array.dtype.kind in "fiu" and array.size]
    array = arrays[names[random.integers(len(names))]]
    some = random.random(array.shape) < random.choice([0.02, 0.3, 1.0])
    some.flat[random.integers(array.size)] = True
    with np.errstate(over="ignore", invalid="ignore"):
        array[some] = np.array(random.choice(NUMBERS)).astype(array.dtype)


def change_shape(arrays: Arrays, random: Random) -> None:
    name = random.choice(list(arrays))
    array = arrays[name]
    ways: list[Callable[[], np.ndarray]] = [
        lambda: array[None],
        lambda: array.reshape(-1),
        lambda: array.reshape(-1)[:-1] if array.size else array[None],
        lambda: np.zeros((0,) * max(array.ndim, 1), array.dtype),
        lambda: np.array(7),
        lambda: array.astype("S") if array.dtype.kind != "U" else np.array(b"x"),
        lambda: array.astype(np.float32) if array.dtype.kind == "f" else np.zeros((3, 3)),
        lambda: array.astype(complex) if array.dtype.kind == "f" else np.array([True]),
        lambda: np.asfortranarray(array) if array.ndim > 1 else array[..., None],
        lambda: array.astype(array.dtype.newbyteorder(">")),
    ]
    arrays[name] = ways[random.integers(len(ways))]()


def change_names(arrays: Arrays, random: Random) -> None:
    name = random.choice(list(arrays))
    array = arrays.pop(name)
    if random.random() < 0.7:
        others = ["", "time", "channel/", "path/", "rope/cord", "wire/x", "version", "news", "a/b/../c", "é" * 40]
        arrays[random.choice(others)] = array


def change_text(arrays: Arrays, random: Random) -> None:
    """Some value in the JSON becomes another, or some characters."""
    name = random.choice(["events", "shapes", "colors", "camera", "cameras", "keys"])
    text = str(arrays[name])
    if random.random() < 0.6:
        spots = [i for i, c in enumerate(text) if c in ':,["0123456789']
        spot = spots[random.integers(len(spots))]
        end = next((i for i in range(spot + 1, len(text)) if text[i] in ",]}"), len(text))
        text = text[: spot + 1] + str(random.choice([*WORDS, DEEP])) + text[end:]
    else:
        spot = int(random.integers(len(text)))
        text = text[:spot] + random.choice(list('[]{},:"0x \\é')) + text[spot + int(random.integers(0, 3)) :]
    arrays[name] = np.array(text)


def promise(arrays: Arrays, random: Random) -> bytes:
    """An array whose header promises what does not follow, with a checksum that is right."""
    name = random.choice(list(arrays))
    shape = random.choice([10**15, 10**9, 2**63, -1, 0, 10**40], random.integers(0, 4)).tolist()
    kind = random.choice(["<f8", "<U1000000000", "|O", "<f8, <f8", "V0", "U0", "<M8[s]", "nonsense"])
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {tuple(int(n) for n in shape)}, }}"
    if random.random() < 0.2:
        header = random.choice(["{", "(" * 3000, "{'descr': '<f8'}", "1", "\0"])
    text = header.encode().ljust(118) + b"\n"
    body = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * int(random.integers(0, 100))
    return _packed(arrays, {str(name): body})


def bomb(arrays: Arrays, random: Random) -> bytes:
    """A small file that unpacks to much."""
    size = int(random.choice([10**6, 10**7, 6 * 10**7]))
    name = str(random.choice(["channel/energy", "news", "events", "position"]))
    text = name == "events"
    header = io.BytesIO()
    shape, kind = ((), f"<U{size // 4}") if text else ((size,), "<f8")
    np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
    return _packed(arrays, {name: header.getvalue()}, filling=size if text else 8 * size)


def _packed(arrays: Arrays, replaced: dict[str, bytes], filling: int = 0) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", zipfile.ZIP_DEFLATED if filling else zipfile.ZIP_STORED, compresslevel=1
    ) as archive:
        for name, array in arrays.items():
            if name not in replaced:
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, array)
        for name, body in replaced.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                entry.write(body)
                for start in range(0, filling, 2**20):
                    entry.write(bytes(min(2**20, filling - start)))
    return stream.getvalue()


IN_BYTES = (flip_anywhere, cut, double, flip_in_array)
IN_ARRAYS = (change_number, change_number, change_shape, change_names, change_text, change_text)
PACKED = (promise, bomb)
BOMB_SHARE = 0.01  # they take a while to make


def mutated(whole: bytes, seed: int) -> tuple[str, bytes]:
    """A damaged take, and how it was damaged."""
    random = np.random.default_rng(seed)
    if random.random() < 0.5:
        way = IN_BYTES[random.integers(len(IN_BYTES))]
        return way.__name__, bytes(way(bytearray(whole), random))
    with np.load(io.BytesIO(whole)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if random.random() < BOMB_SHARE:
        return "bomb", bomb(arrays, random)
    if random.random() < 0.2:
        return "promise", promise(arrays, random)
    way = IN_ARRAYS[random.integers(len(IN_ARRAYS))]
    way(arrays, random)
    return way.__name__, _packed(arrays, {})


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and standard error of `impel`, run in this process."""
    err = io.StringIO()
    before, sys.argv = sys.argv, ["impel", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            main()
    except SystemExit as left:
        return int(left.code or 0), err.getvalue()
    finally:
        sys.argv = before
    return 0, err.getvalue()


def memory(most: bool = False) -> int:
    """Bytes that this process has, or the most that it had since `forget_most`."""
    name = "VmHWM:" if most else "VmRSS:"
    return next(1024 * int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith(name))


def forget_most() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def judge(folder: Path, seed: int, *, picture: bool) -> str:
    """What impel does wrong with a damaged take; nothing if all is well."""
    path = folder / "mutated.npz"
    save_npz(whole_take(), path)
    how, data = mutated(path.read_bytes(), seed)
    path.write_bytes(data)
    forget_most()
    begun, filled = time.process_time(), memory()
    outputs = ["take.npz", "take.csv", "take.channels.csv", "take.glb", *(["take.png"] if picture else [])]
    code, err = run("render", path, "--overlays", *(word for name in outputs for word in ("-o", folder / name)))
    spent = time.process_time() - begun
    lines = err.splitlines()
    wrong = []
    if code not in (0, 2) or (code == 2 and len(lines) != 1) or (code == 0 and lines):
        wrong.append(f"exit code {code}: {err[-300:]}")
    if code == 0 and how == "flip_in_array":
        wrong.append("a change within an array was not found")
    if code == 0:
        load_npz(folder / "take.npz")
    if spent > MOST_SECONDS and not picture:
        wrong.append(f"{spent:.1f} CPU s")
    if memory(most=True) - filled > MOST_MEMORY - IMPEL:
        wrong.append(f"{(memory(most=True) - filled) / 1e6:.0f} MB more")
    return f"seed {seed}, {how}: {'; '.join(wrong)}" if wrong else ""


if __name__ == "__main__":
    import tempfile

    first, count = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 2000)
    with tempfile.TemporaryDirectory() as place:
        complaints = [judge(Path(place), seed, picture=seed % 5 == 0) for seed in range(first, first + count)]
    complaints = [line for line in complaints if line]
    told = f"{count} damaged takes from seed {first} on, {len(complaints)} treated badly"
    print(*complaints, told, sep="\n")
    sys.exit(bool(complaints))
