"""How the program ends well: asked to stop it cleans up first, and what nobody listens to does not stop its work."""

import contextlib
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

STOPPED = 128  # + the signal: the exit code of whoever was stopped by it, as shells tell it
CLOSED_PIPE = STOPPED + 13  # SIGPIPE, which Windows has not


class Patient:
    """A stream that falls silent when nothing can be written to it any more, such as a closed pipe or a full disk."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        if self.failure is None:
            try:
                return int(self.stream.write(text))
            except OSError as error:
                self.failure = error
        return len(text)

    def flush(self) -> None:
        if self.failure is None:
            try:
                self.stream.flush()
            except OSError as error:
                self.failure = error

    def close(self) -> None:
        """What it could not write is given up; else Python would try again when it leaves, and complain."""
        self.flush()
        if self.failure is not None:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def patient_streams() -> Iterator[Patient]:
    """Standard output and standard error as streams that never stop the work; gives the first."""
    out, err = (Patient(stream or io.StringIO()) for stream in (sys.stdout, sys.stderr))  # None if closed
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            yield out
        finally:
            out.close()
            err.close()


def unheard(out: Patient) -> int:
    """The exit code of a run that went well, but could not tell so."""
    if out.failure is None:
        return 0
    if out.failure.errno == errno.EPIPE:
        return CLOSED_PIPE
    print(f"standard output: cannot be written: {(out.failure.strerror or '').lower()}", file=sys.stderr)
    return 2


@contextlib.contextmanager
def stopping_like_ctrl_c() -> Iterator[list[int]]:
    """SIGTERM and SIGHUP interrupt as Ctrl-C does, so that everything is cleaned up; gives those that came."""
    came: list[int] = []

    def stop(number: int, _: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    handled = []
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, stop)
                handled.append(number)
    try:
        yield came
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
