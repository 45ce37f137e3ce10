"""`foretold uninstall AGENT`: remove ours from an agent's settings; a file that only we changed is restored."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.install import backups_of, finish, or_refuse, parser_of, parts_of, place_of
from foretold.serve.install.ours import PARTS
from foretold.serve.install.plan import plan_uninstall

ABOUT = (
    "Remove foretold from an agent's settings. A file that is as foretold left it is restored byte for byte; a file "
    "that foretold created is deleted. From a file that was changed since, only foretold's entries are removed. It "
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
    place, scope = place_of(options), "project" if options.project else "user"
    parts = parts_of(options, parser) or PARTS

    def uninstall() -> int:
        agents, backups = dict.fromkeys(options.agents), backups_of(place)
        plans = [plan_uninstall(agent, place, backups, scope=scope, parts=parts) for agent in agents]
        return finish("uninstall", plans, options, place)

    return or_refuse(uninstall, options, place)
