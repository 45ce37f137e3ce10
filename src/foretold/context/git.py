"""The git status that an agent is shown when a conversation starts.

1. Branch, main branch, the user's name if there is one, status in the short format or `(clean)`, the last five commits.
2. The branch is read from `HEAD`; a name with other characters than letters, digits and `/._+@-` is shown as `HEAD`, as
   a detached one is. The main branch is what `refs/remotes/origin/HEAD` points to, if that is there; else `main` or
   `master`, whichever the remote has; else `main`.
3. The status is cut at 2,000 UTF-16 units, and says so; the commits still follow. The earlier version trims it at both
   ends, so that its first line loses a leading space.
4. What git cannot tell is shown as the version does: `(clean)` in the earlier one, `(unavailable)` in the later one. We
   name it as a finding in both.
5. Git is run without locks and with a limit of time and of output, so that no repository can hold us up, and it runs no
   program that the repository names (`git/user_status.py`); filters of the user's own configuration, as those of
   git-lfs, do run. The real agent runs both. Where that may show, a finding says so: `git-program-not-run`.
6. A repository that declares another folder to be its work tree is shown without a status: `git-work-tree-elsewhere`.

Recorded: tests/context/git.jsonl.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from foretold.dialects.claude_code.context import GIT_NOTE, STATUS_CUT, STATUS_LIMIT, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.dialects.surroundings import find_git, join
from foretold.storage.tree import Disk, Fault
from foretold.text.globs.utf16 import units
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.dialects.surroundings import Repository
    from foretold.git.user_status import UserStatus
    from foretold.storage.tree import Tree

TIMEOUT = 5.0  #: seconds, for each question to git
MOST = 256 * 1024  #: bytes of an answer that are read
COMMITS = 5
_NAME = re.compile(r"[A-Za-z0-9/._+@-]+")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAIN = ("main", "master")


class GitStatus(NamedTuple):
    """What git says about a folder. A `status` of None could not be had."""

    branch: str
    main: str
    user: str
    status: str | None
    commits: str
    findings: tuple[Finding, ...] = ()


def git_status(
    cwd: str | os.PathLike[str] = ".",
    *,
    env: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
    tree: Tree | None = None,
) -> GitStatus | None:
    """The status of the repository that a folder is in; None if it is in none.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> git_status(folder) is None
    True
    >>> os.mkdir(f"{folder}/.git")
    >>> found = git_status(folder)
    >>> found.branch, found.main, found.status, [finding.code for finding in found.findings]
    ('HEAD', 'main', None, ['git-unavailable'])
    """
    tree, folder = Disk() if tree is None else tree, os.path.realpath(cwd)
    git = find_git(tree, folder)
    if git is None:
        return None
    private, common = _git_folders(tree, git)
    from foretold.git.user_status import read_user_status

    asking = os.environ if env is None else env
    said = read_user_status(folder, git.top, env=asking, seconds=timeout, most=MOST, commits=COMMITS)
    user, commits = (said.user or "").strip(), (said.commits or "").strip()
    return GitStatus(_branch(tree, private), _main(tree, common), user, said.status, commits, _findings(folder, said))


def _findings(folder: str, said: UserStatus) -> tuple[Finding, ...]:
    """What the status does not show as the agent would."""
    if said.elsewhere:
        message = (
            f"the repository names {said.elsewhere} as its work tree (core.worktree); the agent is shown its files"
        )
        hint = "run `git config --unset core.worktree` if that is not what you want"
        return (Finding(folder, None, "git-work-tree-elsewhere", message + ", we show none", hint),)
    if said.status is None:
        message = "git could not say the status of this folder, so the agent is not shown it"
        return (Finding(folder, None, "git-unavailable", message, "run `git status` here"),)
    if not said.not_run:
        return ()
    message = (
        f"git would run programs that this repository names ({', '.join(said.not_run)}); they were not run here, so"
    )
    hint = "set it in your own configuration (`git config --global`) if you trust it"
    return (Finding(folder, None, "git-program-not-run", message + " the agent's status may differ", hint),)


def _git_folders(tree: Tree, git: Repository) -> tuple[str, str]:
    """The folder of this work tree's own state, and the one that it shares."""
    here = git.top.rstrip("/") + "/.git"
    named = _first_line(tree, here)
    if not named.startswith("gitdir:"):
        return here, here
    private = join(git.top, named.removeprefix("gitdir:").strip())
    return private, private if git.common == here else git.common


def _first_line(tree: Tree, path: str) -> str:
    data = tree.read(path, 64 * 1024)
    return "" if isinstance(data, Fault) else data.decode("utf-8", "replace").partition("\n")[0].strip()


def _branch(tree: Tree, private: str) -> str:
    head = _first_line(tree, private + "/HEAD")
    name = head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return name if head.startswith("ref:") and _NAME.fullmatch(name) else "HEAD"


def _main(tree: Tree, common: str) -> str:
    place = "refs/remotes/origin/"
    head = _first_line(tree, f"{common}/{place}HEAD")
    name = head.removeprefix("ref:").strip()
    if head.startswith("ref:") and name.startswith(place) and _NAME.fullmatch(name) and _has(tree, common, name):
        return name.removeprefix(place)
    return next((each for each in _MAIN if _has(tree, common, place + each)), _MAIN[0])


def _has(tree: Tree, common: str, name: str) -> bool:
    """Whether a reference leads to a commit, in a file of its own or in `packed-refs`."""
    if _HASH.fullmatch(_first_line(tree, f"{common}/{name}")):
        return True
    data = tree.read(f"{common}/packed-refs", 16 * 1024 * 1024)
    return not isinstance(data, Fault) and f" {name}\n".encode() in data


def git_text(found: GitStatus | None, *, agent: str = DEFAULT_AGENT) -> str:
    """The status as an agent is shown it, without its key; empty outside of a repository.

    >>> git_text(GitStatus("main", "main", "", " M a.py", "1bd1885 first")).split("\\n\\n")[-2:]
    ['Status:\\n M a.py', 'Recent commits:\\n1bd1885 first']
    """
    if found is None:
        return ""
    around = turn_context_of(agent)
    status = around.status_failed
    if found.status is not None:
        status = found.status.strip() if around.status_trim == "both" else found.status.rstrip()
        status = _cut(status) or "(clean)"
    parts = [
        GIT_NOTE,
        f"Current branch: {found.branch}",
        f"Main branch (you will usually use this for PRs): {found.main}",
        *([f"Git user: {found.user}"] if found.user else []),
        f"Status:\n{status}",
        f"Recent commits:\n{found.commits}",
    ]
    return "\n\n".join(parts)


def _cut(status: str) -> str:
    """A status that is longer than the limit, cut and said to be; half a pair of surrogates becomes U+FFFD."""
    split = units(status)
    if len(split) <= STATUS_LIMIT:
        return status
    kept = split[:STATUS_LIMIT].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return kept + STATUS_CUT
