"""`foretold lsp`: what `foretold check` finds, in an editor, over standard input and output."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence

from foretold.check.project import CheckOptions
from foretold.cli.options import make_parser
from foretold.extras import missing

ABOUT = """\
Serve what `foretold check` finds to an editor, over standard input and output, in the Language Server Protocol:
diagnostics, what becomes of a file, links of imports, quick fixes. An editor starts it; by hand it waits."""
EXAMPLES = """\
  foretold lsp                  what an editor starts; see docs/editors.md
  foretold lsp --agent codex    for this agent only
  foretold lsp --no-home        without the instructions of anybody's home"""


def command(words: Sequence[str]) -> int:
    options = _parser().parse_args(list(words))
    names = tuple(name for given in options.agent or () for name in given.split(",") if name)
    for name in names:
        from foretold.dialects.registry import choose

        choose(name, os.environ)
    if sys.stdin.isatty():
        print("foretold lsp waits for an editor on standard input; Ctrl-C ends it.", file=sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once: a thread that waits for input cannot be interrupted
    serve = _serve()
    gc.freeze()  # what was imported stays
    gc.enable()  # a server lives long
    home = "" if options.no_home else options.home
    return serve(CheckOptions(names, home, options.managed))


def _parser() -> argparse.ArgumentParser:
    helps = {"home": "the home folder the agents would have"}
    parser = make_parser("lsp", ABOUT, EXAMPLES, "--home --managed", **helps)
    agents = "agents, separated by commas; those in use, if none is given"
    parser.add_argument("--agent", metavar="NAME[@VERSION]", type=str.lower, action="append", help=agents)
    parser.add_argument("--no-home", action="store_true", help="leave out what is in anybody's home, as in CI")
    parser.add_argument("--stdio", action="store_true", help=argparse.SUPPRESS)  # some editors say what is always so
    return parser


def _serve() -> Callable[[CheckOptions], int]:
    """The server; pygls takes half a second to import, so everything else is checked first."""
    try:
        from foretold.serve.lsp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "foretold":
            raise
        raise missing("foretold lsp", "lsp") from error
    return serve
