"""Where compiled kernels are kept between runs: files named after what they hold, in a directory of the user's own.

Reading machine code is running it. So nothing is read from a directory or file that belongs to somebody else, or that
others may write; and a file that does not hold what was written there counts as missing.
"""

import contextlib
import functools
import hashlib
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 500_000_000  # of all files; one set of kernels has about 15 MB
CHECKSUM = 32  # bytes before the data


class Place(NamedTuple):
    directory: Path | None
    problem: str = ""  # why there is no directory


@functools.cache
def place() -> Place:
    """Where kernels are kept, if anywhere."""
    try:
        root = Path(os.environ.get("IMPEL_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "impel")
        directory = root.expanduser().absolute() / "compiled"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(directory.stat()):
            return Place(None, f"{directory} belongs to others or may be written by them")
        tempfile.TemporaryFile(dir=directory).close()
    except (OSError, RuntimeError) as error:  # a read-only home must not stop a simulation
        return Place(None, str(error))
    return Place(directory)


def _ours(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def read(name: str) -> bytes | None:
    """What was written under this name, if it is still whole."""
    directory = place().directory
    if directory is None:
        return None
    try:
        with open(directory / name, "rb") as file:
            if not _ours(os.fstat(file.fileno())):
                return None
            data = file.read()
        os.utime(directory / name)  # still in use
    except OSError:
        return None
    return data[CHECKSUM:] if hashlib.sha256(data[CHECKSUM:]).digest() == data[:CHECKSUM] else None


def write(name: str, data: bytes) -> None:
    """Keep it if there is room: whoever finds nothing here compiles again."""
    directory = place().directory
    if directory is None:
        return
    _clear_out(directory)
    with contextlib.suppress(OSError):
        number, draft = tempfile.mkstemp(dir=directory)
        try:
            with open(number, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(draft, directory / name)
        except BaseException:
            os.unlink(draft)
            raise


@functools.cache  # once is enough
def _clear_out(directory: Path) -> None:
    """Remove what was not used for longest, if there is too much."""
    files = []
    for path in directory.iterdir():
        with contextlib.suppress(OSError):  # another program may be tidying up, too
            files.append((path.stat().st_mtime, path.stat().st_size, path))
    room = MOST_BYTES
    for _, size, path in sorted(files, reverse=True):
        room -= size
        if room < 0:
            path.unlink(missing_ok=True)
