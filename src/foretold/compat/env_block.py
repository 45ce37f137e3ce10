"""The `<env>` block of the seed that describes an agent's system prompt (docs/seeds.md, N-38 and N-39).

The seed names the keys and the tags; it does not give the bytes. Facts:

1. Lines between `<env>` and `</env>`: `Working directory:`, `Is directory a git repo: Yes` or `No`, then, in a
   repository, `Git branch:`, `Git status:` and `Recent commits:` (the last few), additional working directories,
   platform, model, knowledge cutoff.
2. What is not known is left out; nothing is written for a repository that is none.
3. No text can close the block: `</env>` inside a value loses its `<`.

The recorded agent sends another form, which is the default everywhere else: `foretold.context.environment`.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.context.environment import Environment
    from foretold.context.git import GitStatus

COMMITS = 5


def env_block(found: Environment, git: GitStatus | None = None) -> str:
    """The block of an environment.

    >>> from foretold.context.environment import Environment
    >>> from foretold.context.environment import Named
    >>> model = Named("claude-haiku-4-5", "Haiku 4.5", "February 2025", "Claude Haiku 4.5")
    >>> print(env_block(Environment("/repo", False, False, (), "linux", "bash", "Linux 6.1", model)))
    <env>
    Working directory: /repo
    Is directory a git repo: No
    Platform: linux
    OS Version: Linux 6.1
    Model: Haiku 4.5 (claude-haiku-4-5)
    Knowledge cutoff: February 2025
    </env>
    """
    lines = [f"Working directory: {found.cwd}", f"Is directory a git repo: {'Yes' if found.is_git else 'No'}"]
    if found.is_git and git is not None:
        status = (git.status or "").rstrip() or "(clean)"
        lines += [f"Git branch: {git.branch}", f"Git status:\n{status}"]
        commits = git.commits.split("\n")[:COMMITS]
        lines += [f"Recent commits:\n{chr(10).join(commits)}"] if git.commits else []
    if found.additional:
        lines.append(f"Additional working directories: {', '.join(found.additional)}")
    lines += [f"Platform: {found.platform}", f"OS Version: {found.os_version}"]
    model = found.model
    lines.append(f"Model: {model.name} ({model.id})" if model.name else f"Model: {model.id}")
    lines += [f"Knowledge cutoff: {model.cutoff}"] if model.cutoff else []
    return "\n".join(("<env>", *(line.replace("</env>", "/env>") for line in lines), "</env>"))
