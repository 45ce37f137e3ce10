"""Attribution: what an agent writes at the end of commits and pull requests.

1. Default: a `Co-Authored-By` trailer with the model's name, and a line about the agent.
2. `attribution.commit` and `attribution.pr` replace each on its own; an empty text removes it.
3. `includeCoAuthoredBy: false` removes both, unless `attribution` says anything.
4. `includeGitInstructions: false` removes all of it, and the git status too; CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS does
   the same, and as `0` overrides the setting.
5. CLAUDE_CODE_REMOTE removes the git status and nothing else.
6. A value that is not a text counts as absent.
7. `read_attribution` takes the settings of all scopes. A model that the agent has no name for is not signed for by
   default (ours: the agent would sign as Claude, whatever the model): only lines that the settings spell out count.

# claude-code: attr-default, attr-off, attr-custom, attr-empty, attr-no-git-instructions
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from foretold.context.environment import identify_model
from foretold.dialects.claude_code.context import COMMIT, PULL_REQUEST, TurnContext, turn_context_of
from foretold.dialects.claude_code.settings import read_git_settings
from foretold.dialects.registry import DEFAULT_AGENT, make_request
from foretold.dialects.settings_files import is_off, is_on
from foretold.sessions.formats.fields import object_at
from foretold.storage.tree import Disk
from foretold.types import NamedTuple

SWITCH = "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS"
REMOTE = "CLAUDE_CODE_REMOTE"


class Attribution(NamedTuple):
    """The two lines; None where nothing is to be written. `git_status_block`: whether the git status is shown."""

    commit: str | None
    pr: str | None
    git_status_block: bool = True


def attribution(
    settings: Mapping[str, object],
    model_display_name: str = "",
    *,
    agent: str = DEFAULT_AGENT,
    model: str = "",
    env: Mapping[str, str] | None = None,
) -> Attribution:
    """What settings make of the attribution. The author is a name as given, else that of the model.

    >>> attribution({}, "Claude Sonnet 4.5").commit
    'Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>'
    >>> attribution({"attribution": {"commit": "", "pr": "Made with care."}})
    Attribution(commit=None, pr='Made with care.', git_status_block=True)
    """
    env = env or {}
    switch, is_shown = env.get(SWITCH), not is_on(env.get(REMOTE))
    if is_on(switch) or (settings.get("includeGitInstructions") is False and not is_off(switch)):
        return Attribution(None, None, git_status_block=False)
    author = model_display_name or identify_model(model, turn_context_of(agent)).author
    given = settings.get("attribution")
    texts = {key: text for key, text in given.items() if isinstance(text, str)} if isinstance(given, dict) else {}
    if not texts and settings.get("includeCoAuthoredBy") is False:
        return Attribution(None, None, is_shown)
    commit, pr = texts.get("commit", COMMIT.format(author=author)), texts.get("pr", PULL_REQUEST)
    return Attribution(commit or None, pr or None, is_shown)


def read_attribution(
    cwd: str | os.PathLike[str] = ".",
    *,
    agent: str = DEFAULT_AGENT,
    home: str | os.PathLike[str] | None = None,
    managed: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    model: str = "",
) -> Attribution:
    """The attribution of a conversation in a folder, as its settings have it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> read_attribution(folder, home=folder, env={}, model="claude-sonnet-4-5").commit
    'Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>'
    >>> read_attribution(folder, home=folder, env={}, model="gpt-6")
    Attribution(commit=None, pr=None, git_status_block=True)
    """
    _, request = make_request(cwd, agent, home=home, managed=managed, env=env)
    settings = read_git_settings(Disk(), request)
    variables = {**(os.environ if env is None else env), **settings.env}
    found = attribution(settings.values, agent=agent, model=model, env=variables)
    if identify_model(model, turn_context_of(agent)).name:
        return found
    given = object_at(settings.values, "attribution")
    return found._replace(
        commit=found.commit if isinstance(given.get("commit"), str) else None,
        pr=found.pr if isinstance(given.get("pr"), str) else None,
    )


def attribution_lines(found: Attribution, around: TurnContext) -> list[str]:
    """The lines that ask for it: of the Bash tool's description, or (later version) of an attachment."""
    lines = [around.texts["commit"].replace("{commit}", found.commit)] if found.commit else []
    return lines + ([around.texts["pr"].replace("{pr}", found.pr)] if found.pr else [])
