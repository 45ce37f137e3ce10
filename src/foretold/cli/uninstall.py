"""`foretold uninstall AGENT`: take ours out of an agent's settings; a file that only we changed is as it was."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.installing import finish, here_of, kept_of, parser_of, parts_of, say_refused
from foretold.errors import ForetoldError
from foretold.serve.install import PARTS, plan_uninstall

ABOUT = (
    "Take foretold out of an agent's settings. A file that is as foretold left it becomes what it was before, byte for "
    "byte; a file that was made for it goes. Of a file that somebody changed since, only what is foretold's goes. It "
    "shows what would change and asks; without a terminal it needs --yes."
)
EXAMPLES = """\
  foretold uninstall claude-code
  foretold uninstall claude-code --hooks   only the hooks
  foretold uninstall codex --dry-run"""


def command(words: Sequence[str]) -> int:
    parser = parser_of("uninstall", ABOUT, EXAMPLES)
    options = parser.parse_args(words)
    if not options.agents:
        parser.error("from which agent? `foretold install` lists where foretold is")
    here = here_of(options)
    kept, scope, parts = kept_of(here), "project" if options.project else "user", parts_of(options, parser) or PARTS
    try:
        agents = dict.fromkeys(options.agents)
        plans = [plan_uninstall(agent, here, kept, scope=scope, parts=parts) for agent in agents]
        return finish("uninstall", plans, options, here, kept)
    except ForetoldError as error:
        return say_refused(error, options, here)
