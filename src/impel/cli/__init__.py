"""The command line. Thin: every command loads what it needs when it runs, so that `--help` is instant."""

import os
import sys

from impel.files import Problem

MOST_LINES = 100  # of problems shown at once


def main() -> None:
    """Run `impel`: problems are told one plain line each and end with exit code 2, Ctrl-C with 130.

    Exit code 3 says that everything was written, but is not to be trusted: a joint is apart.
    """
    from impel.cli.commands import app

    try:
        app(prog_name="impel")
    except Problem as problem:
        for line in problem.lines[:MOST_LINES]:
            print(line, file=sys.stderr)
        if len(problem.lines) > MOST_LINES:
            print(f"... and {len(problem.lines) - MOST_LINES} more problems", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except MemoryError:
        print("impel: there is not enough memory for this", file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        if os.environ.get("IMPEL_DEBUG"):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"impel: stopped by a fault of its own: {text} (IMPEL_DEBUG=1 shows where)", file=sys.stderr)
        sys.exit(1)
