"""The command line. Thin: every command loads what it needs when it runs, so that `--help` is instant."""

import os
import sys

from impel.files import Problem

MOST_LINES = 100  # of problems shown at once
INTERRUPTED = 130


def main() -> None:
    """Run `impel`: problems are told one plain line each and end with exit code 2, Ctrl-C with 130, SIGTERM with 143.

    Exit code 3 says that everything was written, but is not to be trusted: a joint is apart. A closed pipe or a full
    disk behind standard output stops no work: what was asked for is written, then the exit code tells (141, or 2).
    """
    from impel.cli.ending import STOPPED, patient_streams, stopping_like_ctrl_c, unheard

    with patient_streams() as out, stopping_like_ctrl_c() as signals:
        code = _run()
        out.flush()
        code = code or unheard(out)
        if code == INTERRUPTED and signals:
            code = STOPPED + signals[0]
    sys.exit(code)


def _run() -> int:
    try:
        from impel.cli.commands import app

        app(prog_name="impel")
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except Problem as problem:
        for line in problem.lines[:MOST_LINES]:
            print(line, file=sys.stderr)
        if len(problem.lines) > MOST_LINES:
            print(f"... and {len(problem.lines) - MOST_LINES} more problems", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        print("impel: there is not enough memory for this", file=sys.stderr)
        return 1
    except Exception as error:
        if os.environ.get("IMPEL_DEBUG"):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"impel: stopped by a fault of its own: {text} (IMPEL_DEBUG=1 shows where)", file=sys.stderr)
        return 1
    return 0
