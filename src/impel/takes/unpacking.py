"""Arrays out of an `.npz` that may be damaged or meant to harm: everything is checked before memory is spent on it."""

import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem, open_file

MOST_BYTES = 4 * 2**30  # of a file; an hour of fifty bodies at 60 frames a second is 600 MB
MOST_INFLATED = 400 * 2**20  # bytes that compressed arrays may unpack to, and streams of soft surfaces
PIECE = 2**20  # bytes read at a time

Arrays = dict[str, NDArray[Any]]


def read_arrays(path: str | Path) -> Arrays:
    """All arrays of an `.npz`, by name; raises `Problem` where the file is no whole archive of plain arrays.

    Every array comes with a checksum, which tells each change of its bytes.
    """
    try:
        with open_file(path) as stream, zipfile.ZipFile(stream) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            _check_sizes(entries, path)
            return {entry.filename.removesuffix(".npy"): _read_array(archive, entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise Problem(f"{path}: is not a take, or is damaged: {str(error).partition(chr(10))[0] or 'it ends early'}"
        ) from None  # fmt: skip
    except (MemoryError, SyntaxError, OverflowError, TypeError, LookupError):  # headers that promise nonsense
        raise Problem(f"{path}: is not a take, or is damaged: an array in it cannot be read") from None


def _check_sizes(entries: list[zipfile.ZipInfo], path: str | Path) -> None:
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise ValueError("an array is in it twice")
    stored = [entry for entry in entries if entry.compress_type == zipfile.ZIP_STORED]
    if any(entry.file_size != entry.compress_size for entry in stored):
        raise ValueError("an array has two sizes")
    if sum(entry.file_size for entry in stored) > Path(path).stat().st_size:
        raise ValueError("it promises more than it holds")
    inflated = sum(entry.file_size for entry in entries if entry.compress_type != zipfile.ZIP_STORED)
    if inflated > MOST_INFLATED or sum(entry.file_size for entry in entries) > MOST_BYTES:
        most = f"{MOST_BYTES >> 30} GiB, or to more than {MOST_INFLATED >> 20} MiB if it is compressed"
        raise Problem(f"{path}: unpacks to more than {most}, which no take needs")


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError("an array in it is of a kind that takes do not have")
        read_header = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
        try:
            shape, by_columns, kind = read_header(stream)
        except Exception:  # numpy reads the header as Python text: whatever can be wrong with that
            raise ValueError(f"the header of {_title(entry)} cannot be read") from None
        left = entry.file_size - stream.tell()
        if kind.hasobject or min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != left:
            raise ValueError(f"{_title(entry)} is not the array that it promises")
        data = bytearray(left)
        done = 0
        while done < left:
            piece = stream.read(min(PIECE, left - done))
            if not piece:
                raise EOFError("it ends early")
            data[done : done + len(piece)] = piece
            done += len(piece)
        return np.ndarray(shape, kind, data, order="F" if by_columns else "C")


def _title(entry: zipfile.ZipInfo) -> str:
    return repr(entry.filename.removesuffix(".npy")[:80])
