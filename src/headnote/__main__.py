"""`python -m headnote` is the command."""

from headnote.cli import run

run()
