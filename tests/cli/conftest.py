"""How the tests of the command line run it."""

import contextlib
import io
import sys

import pytest

from impel.cli import main


@pytest.fixture(scope="session")
def impel():
    """Runs the program in this process; gives exit code, standard output and standard error."""

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        before, sys.argv = sys.argv, ["impel", *map(str, arguments)]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
            code = 0
        except SystemExit as left:
            code = left.code or 0
        finally:
            sys.argv = before
        # kernels may have to be compiled first, which is announced
        told = "".join(line for line in err.getvalue().splitlines(True) if not line.startswith("impel: compiling"))
        return code, out.getvalue(), told

    return run
