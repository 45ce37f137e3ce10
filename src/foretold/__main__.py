"""`python -m foretold` is the command."""

from foretold.cli import run

run()
