"""Installing foretold in agents: hooks and an MCP server, in their own settings files.

    here, kept = Here(home, cwd, env), Kept(state_folder(home, env))
    plan = plan_install("claude-code", here, kept)  # looks only
    carry_out(plan, kept)  # all of it, or nothing

`plan_uninstall` is the way back; `installed` says what is where.
"""

from __future__ import annotations

from foretold.serve.install.apply import carry_out
from foretold.serve.install.backup import Kept, state_folder
from foretold.serve.install.installed import Installed, installed
from foretold.serve.install.ours import PARTS
from foretold.serve.install.plan import Edit, Plan, plan_install, plan_uninstall
from foretold.serve.install.targets import Here

__all__ = [
    "PARTS",
    "Edit",
    "Here",
    "Installed",
    "Kept",
    "Plan",
    "carry_out",
    "installed",
    "plan_install",
    "plan_uninstall",
    "state_folder",
]
