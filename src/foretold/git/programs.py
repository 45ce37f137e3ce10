"""Settings of git that name a program, and which of them a repository sets itself.

1. A setting belongs to the user (system, global, environment) or to the repository: `.git/config`, `config.worktree`,
   and every file that those include. Git itself says which (`--show-scope`); a git that cannot is told that all are
   the repository's.
2. `reach` says when git runs the program: `look`, while it only looks (status, log, diff, show, blame); `fetch`, when a
   partial clone fetches what it lacks; `act`, in commands that change or send something. A name that is not in the
   table but ends like one that is counts as `look`.
3. `git status` and `git diff` look into submodules, each with a configuration of its own: those count too.
4. A hook is a program without a setting. The only one that a command runs which just looks is `post-index-change`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping

from foretold.git.runner import STARTING, environment, make_command, running
from foretold.types import NamedTuple

MOST = 4 * 1024 * 1024  #: bytes of a configuration
MAX_SUBMODULES = 200  #: whose configurations are read
#: settings by when git runs what they name; from git's own documentation (`git help -c`), 2.39 to 2.54, where not noted
_TABLE = {
    "look": (
        *("filter.*.clean", "filter.*.smudge", "filter.*.process", "diff.external", "diff.*.command"),
        *("diff.*.textconv", "merge.*.driver", "gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand"),
        *("core.fsmonitor", "core.pager", "pager.*", "hook.*.command"),
        "core.virtualfilesystem",  # of Microsoft's git
        *("lfs.extension.*.clean", "lfs.extension.*.smudge"),  # of git-lfs, which is a filter
    ),
    "fetch": (
        *("core.sshcommand", "core.gitproxy", "core.askpass", "core.alternaterefscommand", "credential.helper"),
        *("credential.*.helper", "remote.*.uploadpack", "remote.*.vcs", "protocol.allow", "protocol.*.allow"),
        *("lfs.customtransfer.*.path", "lfs.standalonetransferagent", "lfs.*.standalonetransferagent"),
    ),
    "act": (
        *("alias.*", "core.editor", "core.hookspath", "sequence.editor", "interactive.difffilter", "trailer.*.command"),
        *("trailer.*.cmd", "tar.*.command", "submodule.*.update", "remote.*.receivepack", "gc.recentobjectshook"),
        *("uploadpack.packobjectshook", "difftool.*.cmd", "difftool.*.path", "mergetool.*.cmd", "mergetool.*.path"),
        *("guitool.*.cmd", "browser.*.cmd", "browser.*.path", "man.*.cmd", "man.*.path", "web.browser"),
        *("help.browser", "man.viewer", "diff.tool", "diff.guitool", "merge.tool", "merge.guitool", "imap.tunnel"),
        *("instaweb.httpd", "instaweb.browser", "instaweb.modulepath", "init.templatedir", "svn.authorsprog"),
        *("sendemail.smtpserver", "sendemail.*.smtpserver", "sendemail.sendmailcmd", "sendemail.*.sendmailcmd"),
        *("sendemail.tocmd", "sendemail.*.tocmd", "sendemail.cccmd", "sendemail.*.cccmd", "sendemail.headercmd"),
        "sendemail.*.headercmd",
    ),
}
_REACH = tuple(
    (re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in names), re.DOTALL), reach)
    for reach, names in _TABLE.items()
)
_ENDING = re.compile(
    r"(?!advice\.|color\.).*(?:cmd|command|program|helper|driver|textconv|askpass|editor|pager|hook|prog)", re.DOTALL
)
#: the variables of a repository that the user chose; git leaves them out where it looks into a submodule
_LOCAL = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_NAMESPACE".split()
)
_BOOLEAN = re.compile(r"|true|false|yes|no|on|off|-?\d+", re.IGNORECASE)
_SWITCHES = re.compile(r"core\.fsmonitor|pager\..*", re.DOTALL)  #: these may also be just on or off


class Setting(NamedTuple):
    """A setting of git."""

    key: str  #: as git writes it: only a name in the middle may have capitals
    value: str
    is_own: bool  #: whether the user set it, not the repository

    @property
    def reach(self) -> str:
        """When git runs the program that it names: look, fetch, act; empty if it names none.

        >>> [Setting(key, "x", False).reach for key in ("filter.lfs.clean", "core.sshcommand", "user.name", "a.cmd")]
        ['look', 'fetch', '', 'look']
        >>> Setting("core.fsmonitor", "true", False).reach
        ''
        """
        is_switch = bool(_BOOLEAN.fullmatch(self.value))
        if is_switch and _SWITCHES.fullmatch(self.key):
            return ""
        known = (reach for pattern, reach in _REACH if pattern.fullmatch(self.key))
        return next(known, "look" if _ENDING.fullmatch(self.key) and not is_switch else "")


def read_settings(
    root: str, env: Mapping[str, str], settings: Iterable[str] = (), *, seconds: float = STARTING
) -> list[Setting] | None:
    """The settings that count in a folder, in the order in which later ones win; None if git cannot tell."""
    words = ("config", "--list", "-z")
    said = _answer(root, (*words, "--show-scope"), env, settings, seconds)
    if said is not None:
        parts = said.split("\0")
        return [_setting(entry, scope) for scope, entry in zip(parts[::2], parts[1::2], strict=False)]
    said = _answer(root, words, env, settings, seconds)  # git before 2.26
    return None if said is None else [_setting(entry, "local") for entry in said.split("\0")[:-1]]


def _setting(entry: str, scope: str) -> Setting:
    key, _, value = entry.partition("\n")
    return Setting(key, value, scope in ("system", "global", "command"))


def _answer(
    root: str, words: Iterable[str], env: Mapping[str, str], settings: Iterable[str], seconds: float
) -> str | None:
    """A short answer; None if git fails or says too much."""
    try:
        with running(make_command(root, words, settings), env, seconds) as (process, answer):
            data = answer.read(MOST + 1)
            code = process.wait() if len(data) <= MOST else 1
    except (OSError, ValueError):
        return None
    return os.fsdecode(data) if code == 0 else None


def find_submodules(
    root: str, env: Mapping[str, str], settings: Iterable[str] = (), *, seconds: float = STARTING
) -> list[str] | None:
    """The submodules that git would look into from a folder, those in them included; None if they cannot be told."""
    found: list[str] = []
    folders, end, inner = [root], time.monotonic() + seconds, without_choice(env)
    for folder in folders:
        around = env if folder is root else inner
        inside = _list_submodules(folder, around, settings, end - time.monotonic())
        if inside is None or len(found) + len(inside) > MAX_SUBMODULES:
            return None
        found += inside
        folders += inside
    return found


def without_choice(env: Mapping[str, str]) -> dict[str, str]:
    """An environment that does not say which repository is meant."""
    return {name: value for name, value in env.items() if name not in _LOCAL}


def _list_submodules(folder: str, env: Mapping[str, str], settings: Iterable[str], seconds: float) -> list[str] | None:
    """The submodules of one repository that are checked out."""
    question = ("ls-files", "-z", "-s", "--cached", "--", ":/")
    try:
        with running(make_command(folder, question, settings), env, max(seconds, 0.01)) as (process, answer):
            links = [entry.partition("\t")[2] for entry in _entries(answer.fileno()) if entry.startswith("160000 ")]
            if process.wait():
                return None
    except OSError:
        return None
    places = (os.path.normpath(os.path.join(folder, link)) for link in links)
    return [place for place in places if os.path.lexists(os.path.join(place, ".git"))]


def _entries(answer: int) -> Iterator[str]:
    rest = b""
    while block := os.read(answer, 1 << 16):
        *whole, rest = (rest + block).split(b"\0")
        yield from map(os.fsdecode, whole)


def programs_that_looking_runs(root: str) -> list[str] | None:
    """The settings and hooks of the repository that make a git command which only looks run a program.

    Empty outside of a repository; None if its configuration, or that of its submodules, cannot be read.
    """
    env = environment()
    settings = read_settings(root, env)
    if settings is None:
        return None
    found = [*_reached(settings), *_find_hook(root, env, settings)]
    if _answer(root, ("rev-parse", "--is-inside-work-tree"), env, (), STARTING) != "true\n":
        return found  # nothing to compare, so no submodules to look into
    submodules = find_submodules(root, env, ("core.fsmonitor=false",))
    if submodules is None:
        return found or None
    for folder in submodules:
        within = read_settings(folder, env)
        if within is None:
            return None
        named = [*_reached(within), *_find_hook(folder, env, within)]
        found += [f"{key} of {os.path.relpath(folder, root)}" for key in named]
    return found


def _reached(settings: list[Setting]) -> list[str]:
    is_partial = any(
        each.key == "extensions.partialclone" or (each.key.startswith("remote.") and each.key.endswith(".promisor"))
        for each in settings
    )
    kinds = ("look", "fetch") if is_partial else ("look",)
    return [*dict.fromkeys(each.key for each in settings if not each.is_own and each.reach in kinds)]


def _find_hook(root: str, env: Mapping[str, str], settings: list[Setting]) -> list[str]:
    """The hook that git runs when it has refreshed its index, unless it is in a folder that the user chose."""
    chosen = [each for each in settings if each.key == "core.hookspath"]
    if chosen and chosen[-1].is_own and os.path.isabs(os.path.expanduser(chosen[-1].value)):
        return []
    said = _answer(root, ("rev-parse", "--git-path", "hooks/post-index-change"), env, (), STARTING)
    path = os.path.join(root, (said or "").removesuffix("\n"))
    return ["the hook post-index-change"] if said and os.access(path, os.X_OK) else []
