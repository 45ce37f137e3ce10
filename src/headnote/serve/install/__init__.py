"""Installing headnote in agents: hooks and an MCP server, in their own settings files.

    here, kept = Here(home, cwd, env), Kept(state_folder(home, env))
    plan = plan_install("claude-code", here, kept)  # looks only
    carry_out(plan, kept)  # all of it, or nothing

`plan_uninstall` is the way back; `installed` says what is where.
"""

from __future__ import annotations

from headnote.serve.install.doing import carry_out
from headnote.serve.install.installed import Installed, installed
from headnote.serve.install.kept import Kept, state_folder
from headnote.serve.install.pieces import PARTS
from headnote.serve.install.places import Here
from headnote.serve.install.plans import Edit, Plan, plan_install, plan_uninstall

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
