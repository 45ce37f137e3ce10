"""What git tells a user about a folder: the status in the short format, the last commits, the user's name.

1. The environment and the settings that shape the output are the user's, as the user would see it. What could run a
   program, ask or reach the network is not: the settings of `git/runner.py` come on top, and variables that name
   programs are left out.
2. A setting that names a program has the value that the user gave it (system, global), whatever the repository says; if
   the user gave none, it names nothing. So the filters of git-lfs run where the user installed them, and a filter that
   only the repository configures (`.git/config`, as git-crypt and nbstripout do, or an unpacked archive) does not:
   files whose time or size changed may then be shown as modified. `not_run` names it.
3. What git will really use is read back before it is asked anything: if a setting did not take, git is not asked.
4. A submodule whose own configuration names a program is compared by its commit only.
5. A repository whose work tree is another folder than the one that holds it (`core.worktree`) is not asked for its
   status: it would list the files of that folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from foretold.git.programs import Setting, find_submodules, read_settings, without_choice
from foretold.git.runner import QUIET, SAFE, absolute_path, make_command, running
from foretold.types import NamedTuple

#: variables that name a program
_PROGRAMS = frozenset(
    "GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND SSH_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR EDITOR"
    " VISUAL PAGER".split()
)
_CHOSEN = ("GIT_DIR", "GIT_WORK_TREE")  #: with these the user says which work tree is meant


class UserStatus(NamedTuple):
    """What git answers; None where it did not."""

    status: str | None
    commits: str | None
    user: str | None
    not_run: tuple[str, ...] = ()  #: settings of the repository that would have shaped an answer by a program
    elsewhere: str = ""  #: the work tree, if it is not the folder that holds the repository


def read_user_status(
    root: str, top: str, *, env: Mapping[str, str], seconds: float, most: int, commits: int
) -> UserStatus:
    """What git tells a user with this environment about a folder of the work tree `top`."""
    asking = {name: value for name, value in env.items() if name not in _PROGRAMS}
    asking |= {**QUIET, "PATH": absolute_path(env), "LC_ALL": "C.UTF-8"}
    settings = read_settings(root, asking, ("safe.bareRepository=explicit",), seconds=seconds)
    if settings is None:
        return UserStatus(None, None, None)
    overrides = _override_programs(settings)
    safe, asking = _apply(overrides, asking)
    if overrides and not _took(overrides, read_settings(root, asking, safe, seconds=seconds)):
        return UserStatus(None, None, None)

    def ask(*words: str) -> str | None:
        said = _ask(root, words, asking, safe, seconds, most)
        return None if said is None else said.decode("utf-8", "replace")

    shown = os.path.realpath((ask("rev-parse", "--show-toplevel") or top).removesuffix("\n"))
    elsewhere = "" if shown == os.path.realpath(top) or any(name in env for name in _CHOSEN) else shown
    not_run = _shaping(settings)
    status = None
    if not elsewhere:
        doubtful = _doubtful_submodules(root, asking, safe, seconds)
        not_run += doubtful
        status = ask("status", "--short", *(["--ignore-submodules=dirty"] if doubtful else []))
    last = ask("log", "--oneline", "-n", str(commits))
    return UserStatus(status, last, ask("config", "user.name"), tuple(not_run), elsewhere)


def _override_programs(settings: list[Setting]) -> dict[str, str]:
    """For every program that the repository names the one that the user names, or none."""
    own = {each.key: each.value for each in settings if each.is_own}
    found: dict[str, str] = {}
    for each in settings:
        section, _, rest = each.key.partition(".")
        name = rest.rpartition(".")[0]
        if each.is_own or (not each.reach and section not in ("filter", "hook")):
            continue
        if section == "filter":  # an empty `process` is one, too: then git does not run `clean`
            found |= {each.key: _neutral(each.key), f"filter.{name}.required": "false"}
        elif section == "hook":
            found[f"hook.{name}.enabled"] = "false"
        else:
            found[each.key] = _neutral(each.key)
    fixed = {each.partition("=")[0].lower() for each in SAFE}
    return {key: own.get(key, value) for key, value in found.items() if key not in fixed}


def _neutral(key: str) -> str:
    """What a setting says that names no program; `false` is one that does nothing."""
    section = key.partition(".")[0]
    if key.endswith(".required"):
        return "false"
    if section == "protocol":
        return "never"
    if section == "submodule":
        return "none"
    return "" if section in ("filter", "lfs", "credential", "remote") else "false"


def _apply(overrides: Mapping[str, str], env: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The overrides as words for git, and those whose name has a `=` as variables: `-c` would cut them there."""
    words = tuple(f"{key}={value}" for key, value in overrides.items() if "=" not in key)
    count = env.get("GIT_CONFIG_COUNT", "")
    at, more = int(count) if count.isdecimal() else 0, dict(env)
    for key in (key for key in overrides if "=" in key):
        more |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": overrides[key], "GIT_CONFIG_COUNT": str(at + 1)}
        at += 1
    return (*SAFE, *words), more


def _took(overrides: Mapping[str, str], settings: list[Setting] | None) -> bool:
    """Whether git uses the overrides."""
    last = {each.key: each.value for each in settings or ()}
    return settings is not None and all(last.get(key) == value for key, value in overrides.items())


def _shaping(settings: list[Setting]) -> list[str]:
    """The settings that would have had a program shape the answer: filters, and signatures that are shown."""
    found = [each.key for each in settings if not each.is_own and each.reach and _shapes_status(each.key)]
    found += [each.key for each in settings if each.key == "log.showsignature" and each.value.lower() in _TRUE]
    return [*dict.fromkeys(found)]


_TRUE = ("", "true", "yes", "on", "1")


def _shapes_status(key: str) -> bool:
    return key.startswith(("filter.", "lfs.extension.")) and not key.endswith(".smudge")


def _doubtful_submodules(root: str, env: Mapping[str, str], safe: tuple[str, ...], seconds: float) -> list[str]:
    """The settings of submodules that would have git run a program there."""
    submodules = find_submodules(root, env, safe, seconds=seconds)
    if submodules is None:
        return ["the configuration of submodules"]
    found = []
    for folder in submodules:
        settings = read_settings(folder, without_choice(env), ("safe.bareRepository=explicit",), seconds=seconds)
        named = (
            None if settings is None else [each.key for each in settings if not each.is_own and each.reach == "look"]
        )
        keys = ["the configuration"] if named is None else named
        found += [f"{key} of {os.path.relpath(folder, root)}" for key in keys]
    return found


def _ask(
    root: str, words: tuple[str, ...], env: Mapping[str, str], settings: tuple[str, ...], seconds: float, most: int
) -> bytes | None:
    """The first `most` bytes that git answers; None if it fails or takes too long."""
    try:
        with running(make_command(root, words, settings), env, seconds) as (process, answer):
            data = answer.read(most + 1)
            code = process.wait() if len(data) <= most else 0
    except (OSError, ValueError):
        return None
    return data[:most] if code == 0 else None
