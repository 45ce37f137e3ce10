"""The memory prompt of Claude Code, under the names of its functions: its `memdir`; and the seed's `<env>` block.

1. Which prompt: the daily log (feature KAIROS, active, and memory on), else the combined one (feature TEAMMEM,
   enabled), else that of private memory if it is on, else none.
2. Before a prompt is built, its directories are created; a failure there prevents no prompt.
3. Feature gates and flags of the original are keywords with its defaults. The wording is our own.
4. The index and relevant memories are part of it only on request: the agent sends its index elsewhere.
5. Where the original counts files for its telemetry, one debug record is written with the standard `logging`, without
   paths; nothing is sent anywhere.

`env_block` is the `<env>` block of the seed that describes an agent's system prompt (docs/seeds.md, N-38 and N-39). The
seed names the keys and the tags; it does not give the bytes. The recorded agent sends another form, which is the
default everywhere else: `foretold.context.environment`.

6. Lines between `<env>` and `</env>`: `Working directory:`, `Is directory a git repo: Yes` or `No`, then, in a
   repository, `Git branch:`, `Git status:` and `Recent commits:` (the last few), additional working directories,
   platform, model, knowledge cutoff. What is not known is left out.
7. No text can close the block: `</env>` inside a value loses its `<`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Unpack

from foretold.compat.code_assist.memory import score
from foretold.compat.engine import Folder, Options, ask_claude, refuse_unknown
from foretold.dialects.claude_code.instructions import INDEX as INDEX_LIMITS
from foretold.dialects.claude_code.settings import read_surroundings, slug
from foretold.dialects.surroundings import Surroundings, join
from foretold.instructions.load import load_view
from foretold.instructions.text.memory_index import cut_index
from foretold.memory.location import TEAM
from foretold.memory.note import INDEX, MAX_FILE, Memory, read_note
from foretold.memory.prompt.prompt import memory_prompt, search_section, with_slash
from foretold.storage.tree import Disk, Fault, Tree
from foretold.text.frontmatter import split, trim
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.context.environment import Environment
    from foretold.context.git import GitStatus


Flags = Mapping[str, object] | Collection[str]
SKIP_INDEX = "tengu_moth_copse"
SEARCH_PAST = "tengu_coral_fern"
EXTRA = "CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES"
GREP_TOOL_NAME = "Grep"
MAX_DEPTH = 8
RELEVANT = 5  #: memories at most
LOGGER = logging.getLogger("foretold.compat.claude_code")


class _Place:
    def __init__(self, **options: Unpack[Options]) -> None:
        self.choice, self.request = ask_claude(**options)
        self.tree = options.get("tree") or Disk()
        self.surroundings = read_surroundings(self.tree, self.request)

    @property
    def team(self) -> str:
        return find_team_folder(self.surroundings)

    @property
    def transcripts(self) -> str:
        return f"{self.surroundings.user}/projects/{slug(self.surroundings.cwd)}"


def find_team_folder(surroundings: Surroundings) -> str:
    """Where team memory is: in the repository, so that it travels with it."""
    git = surroundings.git
    return join(git.top if git else surroundings.cwd, TEAM)


def is_auto_memory_enabled(**options: Unpack[Options]) -> bool:
    """Whether a session here has memory; the environment, settings and command-line switches decide."""
    return bool(_Place(**options).surroundings.memory)


def get_auto_mem_path(**options: Unpack[Options]) -> str:
    """The directory of private memory, whether it exists, or is on, or not; with a slash at its end."""
    return with_slash(_Place(**options).surroundings.store)


def get_team_mem_path(*, team_dir: Folder | None = None, **options: Unpack[Options]) -> str:
    """The directory of team memory: in the repository, so that it travels with it; or `team_dir`."""
    return with_slash(team_dir or _Place(**options).team)


def get_project_dir(folder: Folder | None = None, /, **options: Unpack[Options]) -> str:
    """The directory of the transcripts of a folder, or of `cwd`.

    >>> get_project_dir("/repo", home="/h", env={})
    '/h/.claude/projects/-repo'
    """
    if folder is not None:
        options["cwd"] = folder
    return _Place(**options).transcripts


def load_memory_prompt_branch(*, auto: bool, kairos: bool, team: bool) -> str | None:
    """Which prompt is built: `daily_log`, `combined`, `auto` or none.

    >>> load_memory_prompt_branch(auto=False, kairos=True, team=True)
    'combined'
    """
    if kairos and auto:
        return "daily_log"
    if team:
        return "combined"
    return "auto" if auto else None


def load_memory_prompt(
    *,
    features: Collection[str] = (),
    flags: Flags = (),
    kairos_active: bool = False,
    team_memory_enabled: bool = False,
    team_dir: Folder | None = None,
    embedded: bool = False,
    repl: bool = False,
    grep_tool_name: str = GREP_TOOL_NAME,
    wording: str = "long",
    include_index: bool = False,
    relevant_to: str | None = None,
    **options: Unpack[Options],
) -> str | None:
    """The prompt that teaches the model to use its memory; None if memory is off and there is none of a team.

    `include_index` adds the text of `MEMORY.md`, `relevant_to` the memories that bear on a query. With a `tree` of the
    caller's, no directory is created.
    """
    place = _Place(**options)
    branch = load_memory_prompt_branch(
        auto=bool(place.surroundings.memory),
        kairos="KAIROS" in features and kairos_active,
        team="TEAMMEM" in features and team_memory_enabled,
    )
    if branch is None:
        return None
    private = with_slash(place.surroundings.store)
    team = with_slash(team_dir or place.team) if branch == "combined" else ""
    _prepare_folders(private, team, options.get("tree"))
    skip_index = _is_on(flags, SKIP_INDEX)
    has_index = include_index and not skip_index
    return memory_prompt(
        private,
        wording=wording,
        team=team or None,
        skip_index=skip_index,
        daily_log=branch == "daily_log",
        extra_guidelines=extra_guidelines(options.get("env")) or (),
        search=_search(flags, embedded=embedded or repl),
        project_dir=place.transcripts,
        grep_tool_name=grep_tool_name,
        index=_index(place) if has_index else "",
        team_index=_team_index(place.tree, team) if has_index and team else "",
        recalled=_relevant(place.tree, private, team, relevant_to),
    )


def _prepare_folders(private: str, team: str, tree: Tree | None) -> None:
    """Create the directories of a prompt, unless the caller has a tree of its own, and count what is in them."""
    for folder, kind in ((private, "auto"), (team, "team")):
        if folder and tree is None:
            ensure_memory_dir_exists(folder)
        if folder:
            log_memory_dir_counts(folder, kind, tree=tree)


def _is_on(flags: Flags, name: str) -> bool:
    return bool(flags.get(name)) if isinstance(flags, Mapping) else name in flags


def _search(flags: Flags, *, embedded: bool) -> str | None:
    return ("embedded" if embedded else "tools") if _is_on(flags, SEARCH_PAST) else None


def build_searching_past_context_section(
    auto_mem_dir: Folder,
    *,
    flags: Flags = (),
    embedded: bool = False,
    repl: bool = False,
    project_dir: Folder | None = None,
    grep_tool_name: str = GREP_TOOL_NAME,
    **options: Unpack[Options],
) -> list[str]:
    """The lines on searching memories and transcripts; none without the flag `tengu_coral_fern`.

    With embedded search tools, or in a REPL, they are commands of a shell. `project_dir` holds the transcripts; it is
    that of `cwd` unless it is given.

    >>> build_searching_past_context_section("/m", project_dir="/p")
    []
    """
    refuse_unknown(options, Options, "flags", "embedded", "repl", "project_dir", "grep_tool_name")
    form = _search(flags, embedded=embedded or repl)
    if form is None:
        return []
    folder = project_dir if project_dir is not None else _Place(**options).transcripts
    return search_section(auto_mem_dir, folder, embedded=form == "embedded", grep_tool_name=grep_tool_name)


def extra_guidelines(env: Mapping[str, str] | None = None) -> list[str] | None:
    """The guideline that the environment adds, as it is; None if it has none.

    >>> extra_guidelines({"CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES": " Save in French. "})
    [' Save in French. ']
    """
    text = (os.environ if env is None else env).get(EXTRA, "")
    return [text] if trim(text) else None


def ensure_memory_dir_exists(folder: Folder) -> bool:
    """Create a directory and those above it, for the owner alone. Returns whether it exists; nothing is raised."""
    missing = []
    path = os.path.abspath(folder)
    while not os.path.isdir(path) and path != os.path.dirname(path):
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            continue  # another process was faster, or it is a file, which the next step finds
        except (OSError, ValueError):
            return False
    return os.path.isdir(folder)


def log_memory_dir_counts(
    folder: Folder, memory_type: str | Mapping[str, str] = "auto", *, tree: Tree | None = None
) -> dict[str, object]:
    """Count the files and folders of a directory, and write the counts as one debug record.

    The type may be given as the original does, in `{"memory_type": "auto"}`.

    >>> log_memory_dir_counts("/nowhere", {"memory_type": "team"})
    {'memory_type': 'team', 'total_file_count': 0, 'total_subdir_count': 0}
    """
    items = (tree if tree is not None else Disk()).scan(os.fspath(folder))
    kinds = [] if isinstance(items, Fault) else [item.kind for item in items]
    kind = memory_type if isinstance(memory_type, str) else memory_type.get("memory_type", "auto")
    counts = {"total_file_count": kinds.count("file"), "total_subdir_count": kinds.count("folder")}
    LOGGER.debug("memory_dir_counts: %s, %d files, %d folders", kind, *counts.values())
    return {"memory_type": kind, **counts}


def log_for_diagnostics_no_pii(level: str, event: str, data: Mapping[str, object] | None = None) -> None:
    """Write an event as one debug record. The level is part of it: what the original reports is no more than debugging.

    >>> log_for_diagnostics_no_pii("info", "memory_files_started")
    """
    LOGGER.debug("%s: %s%s", event, level, "".join(f", {key} {value}" for key, value in (data or {}).items()))


def build_memory_lines(
    display_name: str,
    memory_dir: Folder,
    extra_guidelines: Iterable[str] | None = None,
    skip_index: bool = False,  # noqa: FBT001, FBT002 - the signature of the original
    *,
    flags: Flags = (),
    embedded: bool = False,
    repl: bool = False,
    project_dir: Folder | None = None,
    grep_tool_name: str = GREP_TOOL_NAME,
    **options: Unpack[Options],
) -> list[str]:
    """The lines of the prompt of one directory, below its name; with the flag, how to search past context.

    >>> build_memory_lines("auto memory", "/m")[0]
    '# auto memory'
    """
    search = _search(flags, embedded=embedded or repl)
    text = memory_prompt(
        memory_dir,
        extra_guidelines=extra_guidelines or (),
        skip_index=skip_index,
        search=search,
        project_dir=_Place(**options).transcripts if search and project_dir is None else project_dir or "",
        grep_tool_name=grep_tool_name,
    )
    return [f"# {display_name}", *text.split("\n")[1:]]


def build_combined_memory_prompt(
    extra_guidelines: Iterable[str] | None = None,
    skip_index: bool = False,  # noqa: FBT001, FBT002 - the signature of the original
    *,
    flags: Flags = (),
    embedded: bool = False,
    repl: bool = False,
    team_dir: Folder | None = None,
    **options: Unpack[Options],
) -> str:
    """The prompt of private and team memory; with the flag, how to search past context."""
    place = _Place(**options)
    return memory_prompt(
        place.surroundings.store,
        team=team_dir or place.team,
        extra_guidelines=extra_guidelines or (),
        skip_index=skip_index,
        search=_search(flags, embedded=embedded or repl),
        project_dir=place.transcripts,
    )


def build_assistant_daily_log_prompt(
    skip_index: bool = False,  # noqa: FBT001, FBT002 - the signature of the original
    **options: Unpack[Options],
) -> str:
    """The prompt of a log of the day."""
    return memory_prompt(_Place(**options).surroundings.store, daily_log=True, skip_index=skip_index)


def truncate_index(text: str, max_lines: int = 200, max_bytes: int = 25_000) -> str:
    r"""An index within its limits: whole lines, then bytes up to a line end, and a warning if anything was cut.

    The agent of today counts UTF-16 units instead: `foretold.load`.

    >>> truncate_index("a\nb\nc", max_lines=2).splitlines()[:2], truncate_index("a\nb\n", max_lines=2)
    (['a', 'b'], 'a\nb\n')
    """
    table = INDEX_LIMITS._replace(lines=max_lines, units=max_bytes)
    whole = trim(text).encode("utf-8", "replace").decode("latin-1")  # a byte is a unit of this text
    cut = cut_index(whole, table)
    if not cut.lost_units:
        return text
    end = len(whole) - cut.lost_units
    return cut.text[:end].encode("latin-1").decode("utf-8", "ignore") + cut.text[end:]


def _index(place: _Place) -> str:
    """The private index, as the agent loads it."""
    found = load_view(place.tree, place.choice, place.request)
    return "\n\n".join(trim(entry.text) for entry in found.entries if entry.kind == "index")


def _team_index(tree: Tree, folder: str) -> str:
    data = tree.read(folder + INDEX, MAX_FILE)
    if isinstance(data, Fault):
        return ""
    _, body = split(data.decode("utf-8", "replace").removeprefix("\ufeff"), after_bom=False)
    return truncate_index(trim(body))


def find_relevant_memories(folder: Folder, query: str, *, tree: Tree | None = None) -> list[Memory]:
    """The memories below a directory that have words of a query, those with the most first: five at most."""
    return _relevant(tree if tree is not None else Disk(), with_slash(folder), "", query)


def _relevant(tree: Tree, private: str, team: str, query: str | None) -> list[Memory]:
    if not query:
        return []
    notes = [note for note in _notes(tree, private, "") if not team or not (private + note.file).startswith(team)]
    notes += [note._replace(scope="team") for note in _notes(tree, team, "")] if team else []
    scored = [(score(query, f"{note.name} {note.description} {note.body}"), note) for note in notes]
    ranked = sorted(scored, key=lambda pair: -pair[0])
    return [note for count, note in ranked[:RELEVANT] if count]


def _notes(tree: Tree, folder: str, below: str) -> list[Memory]:
    """The memories of a directory and of those in it, by name; without hidden files and the index."""
    items = tree.scan(folder + below)
    found: list[Memory] = []
    for item in [] if isinstance(items, Fault) else sorted(items):
        file = below + item.name
        if item.kind == "folder" and file.count("/") < MAX_DEPTH and not item.name.startswith("."):
            found += _notes(tree, folder, file + "/")
        elif item.kind == "file" and file.endswith(".md") and item.name != INDEX and not item.name.startswith("."):
            data = tree.read(folder + file, MAX_FILE)
            found += [] if isinstance(data, Fault) else [read_note(file, data)]
    return found


COMMITS = 5


#: keys whose values are on lines of their own
ON_LINES = ("Git status", "Recent commits")


#: keys of a user context that are not lines of `<env>`
TEXTS = ("claudeMd", "currentDate")


def _ask_git(found: Environment) -> GitStatus | None:
    from foretold.context.git import git_status

    return git_status(found.cwd) if found.is_git else None


def env_values(found: Environment, git: GitStatus | None = None) -> dict[str, str]:
    """The lines of an environment's block, as keys and values; what is not known is not there."""
    values = {"Working directory": found.cwd, "Is directory a git repo": "Yes" if found.is_git else "No"}
    if found.is_git and git is not None:
        values |= {"Git branch": git.branch, "Git status": (git.status or "").rstrip() or "(clean)"}
        values["Recent commits"] = "\n".join(git.commits.split("\n")[:COMMITS])
    values["Additional working directories"] = ", ".join(found.additional)
    model = found.model
    values |= {"Platform": found.platform, "OS Version": found.os_version}
    values |= {"Model": f"{model.name} ({model.id})" if model.name else model.id, "Knowledge cutoff": model.cutoff}
    return {key: value for key, value in values.items() if value}


def env_block(
    found: Environment | Mapping[str, str],
    git: GitStatus | bool | None = True,  # noqa: FBT001, FBT002 - it is mostly a status
) -> str:
    """The block of an environment, or of its keys and values; those of a user context that are texts are left out.

    In a repository git is asked for branch, status and commits, unless they are given, or `git` is false. Keys and
    values are taken as they are.

    >>> from foretold.context.environment import Environment, ModelIdentity
    >>> model = ModelIdentity("claude-haiku-4-5", "Haiku 4.5", "February 2025", "Claude Haiku 4.5")
    >>> env_block(Environment("/repo", False, False, (), "linux", "bash", "Linux 6.1", model)).split("\\n")[:3]
    ['<env>', 'Working directory: /repo', 'Is directory a git repo: No']
    """
    if isinstance(found, Mapping):
        values = {key: value for key, value in found.items() if key not in TEXTS}
    else:
        values = env_values(found, _ask_git(found) if git is True else git or None)
    lines = [f"{key}:\n{value}" if key in ON_LINES else f"{key}: {value}" for key, value in values.items()]
    return "\n".join(("<env>", *(line.replace("</env>", "/env>") for line in lines), "</env>"))
