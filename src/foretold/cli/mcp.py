"""`foretold mcp`: serve what foretold knows to an agent, over standard input and output."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence

from foretold.cli.options import make_parser
from foretold.errors import NotAFolder
from foretold.extras import missing

ABOUT = """\
Serve tools and resources of foretold to an agent, over standard input and
output, in the Model Context Protocol. An agent starts it; by hand it waits."""
EXAMPLES = """\
  claude mcp add foretold -- foretold mcp      for Claude Code
  codex mcp add foretold -- foretold mcp       for Codex
  gemini mcp add foretold foretold mcp         for Gemini CLI
  foretold mcp --read-only                     without the tools that write
  foretold mcp -C ~/app                        for this folder"""


def command(words: Sequence[str]) -> int:
    options = _parser().parse_args(list(words))
    folder = os.path.realpath(options.cwd) if options.cwd else ""
    if folder and not os.path.isdir(folder):
        raise NotAFolder(f"{options.cwd} is not a folder; give a folder of the project")
    if options.agent:
        from foretold.dialects.registry import choose

        choose(options.agent, os.environ)
    if sys.stdin.isatty():
        print("foretold mcp waits for an agent on standard input; Ctrl-C ends it.", file=sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once: a thread that waits for input cannot be interrupted
    serve = _serve()
    gc.freeze()  # what was imported stays
    gc.enable()  # a server lives long
    serve(folder, home=options.home, agent=options.agent or "", read_only=options.read_only)
    return 0


def _parser() -> argparse.ArgumentParser:
    helps = {
        "C": "the project's folder; default: the one the client works in, else this one",
        "agent": "whose instructions and memory; default: the client's own instructions, the project's memory",
        "home": "the home folder that memories and sessions are in",
    }
    parser = make_parser("mcp", ABOUT, EXAMPLES, "-C --agent --home", **helps)
    parser.set_defaults(cwd="")
    parser.add_argument("--read-only", action="store_true", help="leave out the tools that write")
    return parser


def _serve() -> Callable[..., None]:
    """The server; it takes more than a second to import, so everything else is checked first."""
    try:
        from foretold.serve.mcp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "foretold":
            raise
        raise missing("foretold mcp", "mcp") from error
    return serve
