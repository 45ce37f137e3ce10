"""`foretold uninstall AGENT`: remove ours from an agent's settings; a file that only we changed is restored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from foretold.cli.install import carry_out, parser_of, parts_of, place_of
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
    parts = parts_of(options, parser) or PARTS
    return carry_out("uninstall", partial(plan_uninstall, parts=parts), options, place_of(options))
