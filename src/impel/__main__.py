"""`python -m impel` is the same as `impel`."""

from impel.cli import main

main()
