"""Where the memories of a project are, and where their history and indexes are kept.

1. The store is the agent's own folder for the project, if it keeps one memory per file; else a folder of ours. A folder
   that is given, or named in the user's settings, takes precedence.
2. A project is its repository: a worktree has the memories of the main one (`worktrees = "shared"`), or its own on top
   of them (`worktrees = "overlay"`). A `.git` file alone makes no worktree: the repository that it names must name it
   back. Else the folder has memories of its own, though the agent reads those of the other, and a finding says so.
3. The team's store is a folder of the repository, `.foretold/memory` unless settings name another one inside it.
4. History and inbox are kept in `$FORETOLD_HOME`, else `$XDG_STATE_HOME/foretold`; indexes in its `cache`, else
   `$XDG_CACHE_HOME/foretold`. Each store has a folder there, named after the path of its own folder.
5. Settings are `config.toml` of the user and `.foretold.toml` of the repository, under `[memory]`. A repository can
   name its team's folder and make the write policy stricter, never looser, and nothing outside itself.
   The user's own file is never one in the repository, whatever a variable says that the repository can set through an
   agent's settings; and where a variable names another file than the usual one, the stricter policy of the two counts.
6. Settings that cannot be understood are findings. A policy that is not understood counts as `confirm`: a typo does not
   let agents write.
7. A moved project is recognised by `project.json` next to the history of its store: the project's path, the
   repository's folder by device, inode and the time of its `description`, which a move within a file system keeps, and
   the address of its first remote. An inode alone is not enough: a new folder may get that of a deleted one. A store
   whose project is no longer at its path, and whose repository is this one, belongs here.
8. Whoever writes to a repository writes its team's folder. Until the user accepts it, models are told how many memories
   it has, and nothing of what they say. Consent is for a repository, not for a version of its memories: it is asked for
   once (`foretold memory trust`), or given by adding a memory to the team's folder oneself. It is kept in our state
   folder, by what a clone cannot forge: device and inode of the repository's own folder and of that around it, and
   the time of its `description`; without that file, its path. A remote does not count: an archive can say anything
   about it. A linked worktree has the consent of its repository, if that knows it. A `.git` that is a link to that of
   another folder has none, and a state folder inside the repository does not count: the repository may have brought it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress

from foretold.dialects.registry import make_request, read_surroundings
from foretold.dialects.settings_files import read_toml
from foretold.dialects.surroundings import Repository, Surroundings, check_link, find_git, find_linked_git, join
from foretold.errors import NotAFolder
from foretold.paths import foretold_folders
from foretold.storage.atomic import replace_file
from foretold.storage.digest import digest_of
from foretold.storage.tree import Disk, is_inside, open_regular, read_regular
from foretold.types import Finding, NamedTuple

POLICIES = ("auto", "confirm", "manual", "read-only")  #: from the loosest to the strictest
WORKTREES = ("shared", "overlay")
TEAM = ".foretold/memory"
#: the settings and their values; any text, if none are listed
ALLOWED: dict[str, tuple[str, ...]] = {
    "policy": POLICIES,
    "worktrees": WORKTREES,
    "team": (),
    "directory": (),
    "history": (),
}
OWN = ("directory", "history")  #: settings that a repository may not make
MIB = 1024 * 1024


class MemoryLocation(NamedTuple):
    """The folders of a project's memories."""

    project: str  #: the main repository's folder, or the folder itself
    root: str  #: the folder whose files the memories are about: the working tree, or the folder itself
    store: str
    under: str  #: the store below an overlay; empty if there is none
    team: str  #: empty if this is not a repository
    state: str  #: of all stores
    cache: str
    policy: str
    agent: str
    dialect: str  #: the agent with its version
    off: str  #: why the agent does not read its memories here; empty if it does
    home: str
    findings: tuple[Finding, ...] = ()
    is_read: bool = True  #: whether the agent itself loads the index of this store
    history: int = 0  #: bytes that the history of a store may have; 0: as usual
    consent: str = ""  #: the file that says that the user accepts the team's memories; empty if none can
    is_accepted: bool = True  #: whether models may be told what the team's memories say


def locate_memories(
    cwd: str | os.PathLike[str],
    *,
    agent: str,
    home: str | os.PathLike[str] | None = None,
    managed: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    tree: Disk | None = None,
) -> MemoryLocation:
    """The folders for an agent that works in a folder. A `tree` that is given records what was looked at."""
    choice, request = make_request(cwd, agent, home=home, managed=managed, env=env)
    disk = tree if tree is not None else Disk()
    if disk.kind(request.cwd) != "folder":
        raise NotAFolder(f"{request.cwd} is not a folder; give a folder of the project")
    surroundings = read_surroundings(disk, request)
    ours = foretold_folders(request.home, env if env is not None else os.environ if home is None else {})
    claimed = surroundings.git or find_git(disk, request.cwd)
    git = check_link(disk, claimed) if claimed else None
    root, project = (git.top, git.main) if git else (request.cwd, request.cwd)
    findings: list[Finding] = []
    settings = _settings(disk, own_configs(ours.config, root, request.home), root, request.home, findings)
    given = os.path.abspath(folder) if folder is not None else settings.get("directory", "")
    store, under = given or surroundings.store or join(ours.state, f"{folder_name(project)}/memories"), ""
    if git and claimed and git != claimed and not given:
        store = _refuse_link(surroundings, claimed, store, ours.state, findings)
    if settings["worktrees"] == "overlay" and git and git.top != git.main and not given:
        store, under = _overlay(surroundings, git, store, ours.state), store
    off = surroundings.memory_reason if not surroundings.memory and surroundings.store and not given else ""
    team = settings["team"] if git else ""
    consent = consent_path(git, ours.state, request.home) if team else ""
    return MemoryLocation(
        project=project,
        root=root,
        store=store,
        under=under,
        team=team,
        state=ours.state,
        cache=ours.cache,
        policy=settings["policy"],
        agent=choice.dialect.agent,
        dialect=choice.dialect.name,
        off=off,
        home=request.home,
        findings=tuple(findings),
        is_read=store == surroundings.store and not off,
        history=int(settings.get("history") or 0) * MIB,
        consent=consent,
        is_accepted=not team or (bool(consent) and disk.kind(consent) == "file"),
    )


def _refuse_link(surroundings: Surroundings, git: Repository, store: str, state: str, findings: list[Finding]) -> str:
    """The store of a folder whose `.git` file names a repository that does not name it back: its own."""
    message = (
        f"this .git file names a worktree of {git.main}, which does not name this folder; its memories are not used"
    )
    hint = f"run `git worktree repair` in {git.main} if this is its worktree, else delete the file"
    findings.append(Finding(f"{git.top.rstrip('/')}/.git", None, "worktree-not-linked", message, hint))
    return _overlay(surroundings, git, store, state)


def location_of_path(project: str, like: MemoryLocation) -> MemoryLocation:
    """The folders of a project that no longer exists, where an agent keeps those of all projects together."""
    from foretold.dialects.claude_code.settings import slug

    projects = os.path.dirname(os.path.dirname(like.store))
    if os.path.basename(like.store) != "memory" or os.path.basename(projects) != "projects":
        raise NotAFolder(f"{project} is not a folder, and {like.agent} does not name its memories after the path")
    store = f"{projects}/{slug(project)}/memory"
    return like._replace(project=project, root=project, store=store, under="", team="", off="")


def _overlay(surroundings: Surroundings, git: Repository, store: str, state: str) -> str:
    """A worktree's own store: next to the main one, under the name that the agent would give it."""
    from foretold.dialects.claude_code.settings import slug

    if store == surroundings.store and store.endswith(f"/{slug(git.main)}/memory"):
        return f"{store.removesuffix(f'/{slug(git.main)}/memory')}/{slug(git.top)}/memory"
    return join(state, f"{folder_name(git.top)}/overlay")


def folder_name(folder: str) -> str:
    """The name of our folder for what belongs to a folder."""
    parts = folder.rstrip("/").split("/")
    last = (parts[-2] if parts[-1] == "memory" and len(parts) > 2 else parts[-1])[-40:].strip("-.") or "top"
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._") else "-" for char in last)
    return f"{plain}-{digest_of(os.fsencode(folder))[:12]}"


def own_configs(config: str, root: str, home: str) -> list[str]:
    """The user's settings files: the one that counts, and the usual one if variables name another.

    >>> own_configs("/r/.x/config.toml", "/r", "/home/me"), own_configs("/srv/config.toml", "/r", "/home/me")
    (['/home/me/.config/foretold/config.toml'], ['/srv/config.toml', '/home/me/.config/foretold/config.toml'])
    """
    usual, top = foretold_folders(home, {}).config, os.path.realpath(root)
    if is_inside(os.path.realpath(home), top):
        return list(dict.fromkeys((config, usual)))
    return [path for path in dict.fromkeys((config, usual)) if not is_inside(os.path.realpath(path), top)]


def _settings(disk: Disk, configs: list[str], root: str, home: str, findings: list[Finding]) -> dict[str, str]:
    """The user's settings, and those of the repository that it may set."""
    ours = {"policy": "auto", "worktrees": "shared", "team": ""}
    sections = [_section(disk, config, findings) for config in configs]
    ours |= sections[0] if sections else {}
    if "directory" in ours:
        ours["directory"] = _directory(ours["directory"], configs[0], home, findings)
    if "history" in ours:
        ours["history"] = _history(ours["history"], configs[0], findings)
    path = f"{root.rstrip('/')}/.foretold.toml"
    found = {**ours, **_section(disk, path, findings, is_ours=False)}
    policies = [section["policy"] for section in sections if "policy" in section]
    found["policy"] = max(ours["policy"], found["policy"], *policies, key=POLICIES.index)
    found["team"] = _team(found["team"], root, path, findings)
    return found


def _section(disk: Disk, path: str, findings: list[Finding], *, is_ours: bool = True) -> dict[str, str]:
    """The settings of a file that can be used."""
    before, found = len(findings), dict[str, str]()
    values = read_toml(disk, path, findings, effect="it is not used").get("memory", {})
    if len(findings) > before:
        return {"policy": "confirm"}  # it cannot be read: the strict choice
    if not isinstance(values, dict):
        findings.append(Finding(path, None, "settings-invalid", f"memory is {values!r}", "write a table: [memory]"))
        return {}
    for key, value in values.items():
        allowed = ALLOWED.get(key)
        if allowed is None:
            message, hint = f"memory.{key} is not a setting", f"use one of {', '.join(ALLOWED)}"
        elif key in OWN and not is_ours:
            message, hint = f"a repository may not set memory.{key}; it is not used", "set it in your own config.toml"
        elif isinstance(value, str) and (not allowed or value in allowed):
            found[key] = value
            continue
        else:
            message = f"memory.{key} is {value!r}"
            hint = f"use one of {', '.join(allowed)}" if allowed else "write a path in quotes"
            if key == "policy":
                message, found[key] = f"{message}; it counts as 'confirm'", "confirm"
        findings.append(Finding(path, None, "settings-invalid", message, hint))
    return found


def _directory(value: str, path: str, home: str, findings: list[Finding]) -> str:
    """The folder that the user wants memories in: an absolute path, or one in the home folder."""
    if value.startswith("~/"):
        return join(home, value[2:])
    if value.startswith("/"):
        return join("/", value)
    message = f"memory.directory is {value!r}, which is not an absolute path; it is not used"
    findings.append(Finding(path, None, "settings-invalid", message, "start it with / or ~/"))
    return ""


def _history(value: str, path: str, findings: list[Finding]) -> str:
    """The bound of a history in MiB, as digits; empty if the setting is not one."""
    number = value.lower().removesuffix("mib").strip()
    if number.isascii() and number.isdigit() and 0 < int(number) <= 1024 * 1024:
        return number
    message = f"memory.history is {value!r}, which is not a size; 64 MiB is used"
    findings.append(Finding(path, None, "settings-invalid", message, 'write a number of MiB in quotes: "64 MiB"'))
    return ""


def _team(value: str, root: str, path: str, findings: list[Finding]) -> str:
    """The team's folder; empty if the setting leads out of the repository, or is the whole of it."""
    top = os.path.realpath(root)
    for name in dict.fromkeys((value or TEAM, TEAM)):
        folder = join(root, name)
        real = os.path.realpath(folder)
        if real != top and is_inside(real, top) and ".git" not in real[len(top) :].split("/"):
            return folder
        message = f"the team's folder {name!r} is not a folder inside the repository; it is not used"
        where = path if value else folder
        findings.append(Finding(where, None, "settings-invalid", message, "name a folder of the repository"))
    return ""


NAME = "project.json"


class Identity(NamedTuple):
    """What a project is recognised by."""

    project: str
    store: str
    git: str = ""  #: device, inode and time of the repository's own folder
    remote: str = ""

    def is_same(self, other: Identity) -> bool:
        """Whether two are one project at two paths."""
        return bool((self.git and self.git == other.git) or (self.remote and self.remote == other.remote))


def identity_of(project: str, store: str) -> Identity:
    """What a project can be recognised by later. The remote has nothing that could be a password."""
    git = find_linked_git(Disk(), project)
    if git is None or not git.common or os.path.islink(git.common):  # a link to the `.git` of another project
        return Identity(project, store)
    import re

    stamp = ""
    with suppress(OSError):
        about, made = os.stat(git.common), os.stat(os.path.join(git.common, "description"))
        stamp = f"{about.st_dev}:{about.st_ino}:{made.st_mtime_ns}"
    url = r'(?m)\[remote "[^"\n]*"\][^\[]*?^[ \t]*url[ \t]*=[ \t]*(\S+)'
    remote = _search_config(f"{git.common}/config", url)
    return Identity(project, store, stamp, re.sub(r"//[^/@]*@", "//", remote))


def _search_config(path: str, pattern: str) -> str:
    """The value that a pattern finds in a configuration of git; empty if there is none."""
    import re

    found = None
    with suppress(OSError), open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
        found = re.search(pattern, file.read(256 * 1024))
    return found[1].strip() if found else ""


def save_identity(state: str, identity: Identity) -> None:
    """Record what a project is recognised by, unless that is recorded already."""
    if load_identity(state) == identity:
        return
    with suppress(OSError):  # it only helps later
        replace_file(os.path.join(state, NAME), json.dumps(identity._asdict()).encode(), sync=False)


def follow_move(states: str, state: str, here: Identity) -> None:
    """Bring the history of a store that moved with its repository, as the team's does.

    A store of the same repository whose folder no longer exists is this one, if this one has no history yet.
    """
    if os.path.isdir(state) or not os.path.isdir(here.store):
        return
    inside = here.store.removeprefix(here.project)
    for folder, known in known_projects(states).items():
        if known.store == known.project + inside and known.is_same(here) and not os.path.isdir(known.store):
            with suppress(OSError):  # another process did
                os.rename(folder, state)
            return


def known_projects(states: str) -> dict[str, Identity]:
    """The projects whose stores were written to, by the folders of their histories."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(states))
    found = ((folder, load_identity(folder)) for folder in (os.path.join(states, name) for name in names))
    return {folder: identity for folder, identity in found if identity is not None}


def load_identity(state: str) -> Identity | None:
    """What is recorded next to a store's history."""
    try:
        values = json.loads(read_regular(os.path.join(state, NAME), 1 << 20))
        return Identity(**{name: str(values[name]) for name in Identity._fields})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def author_of(root: str, home: str) -> str:
    """The author of a change: the name git would use, without starting git."""
    env = os.environ
    name = env.get("GIT_AUTHOR_NAME") or ""
    git = find_linked_git(Disk(), root)
    own = git.common if git else f"{root}/.git"
    for path in (f"{own}/config", f"{home}/.gitconfig", f"{home}/.config/git/config"):
        name = name or _search_config(path, r"(?m)^[ \t]*\[user\][^\[]*?^[ \t]*name[ \t]*=[ \t]*(\S.*)$").strip('"')
    return name or env.get("USER") or env.get("LOGNAME") or "unknown"


# Consent to a team's memories


def consent_path(git: Repository | None, state: str, home: str) -> str:
    """The file that exists if the user has accepted a repository's team; empty if none can count."""
    if git is None:
        return ""
    top = os.path.realpath(git.top)
    if is_inside(os.path.realpath(state), top) and not is_inside(os.path.realpath(home), top):
        return ""
    stamp = _stamp_of(git)
    return f"{state}/consents/{digest_of(stamp.encode('utf-8', 'surrogateescape'))[:24]}.json" if stamp else ""


def _stamp_of(git: Repository) -> str:
    """What a repository is recognised by; empty if it is not certain whose it is."""
    own = f"{git.top.rstrip('/')}/.git"
    if os.path.islink(own) or (git.top != git.main and not _is_known_worktree(git)):
        return ""
    try:
        about, around = os.lstat(git.common), os.stat(git.main)  # a link has an inode of its own
    except OSError:
        return ""
    stamp = f"{about.st_dev}:{about.st_ino}:{around.st_dev}:{around.st_ino}"
    with suppress(OSError):
        made = os.lstat(os.path.join(git.common, "description"))
        return f"{stamp}:{made.st_mtime_ns}"
    return f"{stamp}:{os.path.realpath(git.common)}"


def _is_known_worktree(git: Repository) -> bool:
    """Whether the repository that a `.git` file names has this worktree: any file can name any repository."""
    own = os.path.realpath(f"{git.top.rstrip('/')}/.git")
    with suppress(OSError), os.scandir(f"{git.common}/worktrees") as items:
        return any(_first_line(f"{item.path}/gitdir", own) for item in items)
    return False


def _first_line(path: str, wanted: str) -> bool:
    with suppress(OSError, ValueError), open(path, encoding="utf-8", opener=open_regular) as file:
        return os.path.realpath(file.readline(8192).rstrip("\n")) == wanted
    return False


def give_consent(path: str, project: str) -> None:
    """Note that the user has accepted a repository's team."""
    if not path or os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(
        path, json.dumps({"project": project, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}).encode()
    )


def withdraw_consent(path: str) -> bool:
    """Take consent back; whether there was any."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
