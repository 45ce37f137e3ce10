"""Agents and skills that files define: those of the project and those of the user.

1. Agents: every `.md` file in `.claude/agents` of the working directory and of the folders above it, up to the top of
   the repository, and in the user's folder; folders inside count. The nearest of a name counts, the user's last. A file
   without a `name` or a `description` defines none.
2. `tools` and `disallowedTools` are lists, or texts with commas; `*`, or nothing, is all tools. What stands in brackets
   after a name is dropped.
3. Skills: `.claude/skills/NAME/SKILL.md`, of the user first, then from the working directory up; the first of a name
   counts. Without a `description`, the first line of its text is one. `disable-model-invocation` keeps it from models.
4. `$ARGUMENTS` in a skill is what it is called with, `$0`, `$1`, … are the words of that; a skill with neither gets
   them at its end.
5. What is not used is a finding. Files are bounded, and so is how many of them are read.

Seen on 2.1.197 and 2.1.325; that a project's skill does not hide one of the user is 2.1.325's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from foretold.context.listings import Skill
from foretold.dialects.claude_code.agents import FOLDER, SKILL_FILE, SKILLS, AgentType
from foretold.storage.tree import Disk, Fault
from foretold.text.frontmatter import parse, split, trim
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.dialects.surroundings import Surroundings
    from foretold.storage.tree import Tree

MAX_FILE = 256 * 1024  #: bytes of one definition
MAX_FILES = 500  #: of one folder of definitions
MAX_DEPTH = 8  #: folders inside it
_PLACES = re.compile(r"\$(ARGUMENTS\b|\d+)")


class Definitions(NamedTuple):
    """What was found: agents or skills by their names, and what was not used."""

    agents: Mapping[str, AgentType]
    skills: Mapping[str, Skill]
    findings: tuple[Finding, ...] = ()


def read_definitions(
    around: Surroundings, *, agents: bool = True, skills: bool = True, tree: Tree | None = None
) -> Definitions:
    """The agents and skills of a folder, given what surrounds a session there (`View.surroundings`)."""
    tree, findings = Disk() if tree is None else tree, list[Finding]()
    near = [f"{folder.rstrip('/')}/.claude" for folder in folders_of(around)]
    near = [folder for folder in near if folder != around.user]
    found, taught = dict[str, AgentType](), dict[str, Skill]()
    for folder in (*near, around.user) if agents else ():
        for path in _agent_files(tree, f"{folder}/{FOLDER}", findings):
            if (agent := _read_agent(tree, path, findings)) is not None:
                found.setdefault(agent.name, agent)
    for folder in (around.user, *near) if skills else ():
        for name in _names(tree, f"{folder}/{SKILLS}", findings):
            if (skill := _read_skill(tree, f"{folder}/{SKILLS}/{name}", findings)) is not None:
                taught.setdefault(skill.name, skill)
    return Definitions(found, taught, tuple(findings))


def folders_of(around: Surroundings) -> list[str]:
    """The folders whose definitions count: the nearest first."""
    top = around.git.top if around.git is not None else "/"
    folders = [folder for folder in around.walk if folder == top or folder.startswith(f"{top.rstrip('/')}/")]
    return sorted(folders, key=len, reverse=True)


def call_skill(skill: Skill, arguments: str) -> str:
    """The text of a skill that is called with arguments.

    >>> call_skill(Skill("deploy", "", text="Deploy $0 to $1."), "api 'the staging server'")
    'Deploy api to the staging server.'
    """
    try:
        words = shlex.split(arguments)
    except ValueError:  # a quote is not closed
        words = arguments.split()

    def fill(place: re.Match[str]) -> str:
        if place[1] == "ARGUMENTS":
            return arguments
        return words[int(place[1])] if int(place[1]) < len(words) else place[0]

    text, count = _PLACES.subn(fill, skill.text)
    return f"{text}\n\nARGUMENTS: {arguments}" if arguments and not count else text


def _names(tree: Tree, folder: str, findings: list[Finding]) -> list[str]:
    items = tree.scan(folder)
    names = [] if isinstance(items, Fault) else sorted(item.name for item in items if not item.name.startswith("."))
    if len(names) > MAX_FILES:
        findings.append(_ignored(folder, f"only the first {MAX_FILES} of {len(names)} entries are read"))
    return names[:MAX_FILES]


def _agent_files(tree: Tree, folder: str, findings: list[Finding], depth: int = 0) -> Iterator[str]:
    for name in _names(tree, folder, findings):
        path = f"{folder}/{name}"
        if name.endswith(".md"):
            yield path
        elif depth < MAX_DEPTH and tree.kind(path) == "folder":
            yield from _agent_files(tree, path, findings, depth + 1)


def _read(tree: Tree, path: str, findings: list[Finding]) -> tuple[dict[str, object], str] | None:
    """The frontmatter and the text of a definition; None if there is none."""
    data = tree.read(path, MAX_FILE)
    if isinstance(data, Fault):
        if data.reason not in ("missing", "folder"):
            findings.append(_ignored(path, data.detail or data.reason))
        return None
    front, text = split(data.decode("utf-8", "replace").replace("\r\n", "\n"), after_bom=True)
    return (parse(front).values if front is not None else {}), text


def _read_agent(tree: Tree, path: str, findings: list[Finding]) -> AgentType | None:
    read = _read(tree, path, findings)
    if read is None:
        return None
    values, text = read
    name, description = (_text(values.get(key)) for key in ("name", "description"))
    if not name or not description:
        findings.append(_ignored(path, f"it has no {'description' if name else 'name'} in its frontmatter"))
        return None
    turns = values.get("maxTurns")
    return AgentType(
        name,
        description,
        trim(text),
        tools=_tools(values.get("tools")),
        without=_tools(values.get("disallowedTools")) or (),
        model=_text(values.get("model")).replace("inherit", ""),
        max_turns=turns if isinstance(turns, int) and turns > 0 else 0,
        path=path,
    )


def _read_skill(tree: Tree, folder: str, findings: list[Finding]) -> Skill | None:
    read = _read(tree, f"{folder}/{SKILL_FILE}", findings)
    if read is None:
        return None
    values, text = read
    if values.get("disable-model-invocation") is True:
        return None
    first = next((line for line in text.split("\n") if line.strip("# \t")), "").strip("# \t")
    description, when = _text(values.get("description")) or first, _text(values.get("when_to_use"))
    if not description:
        findings.append(_ignored(f"{folder}/{SKILL_FILE}", "it has no description and no text"))
        return None
    return Skill(folder.rpartition("/")[2], description, when, text=text, folder=folder)


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _tools(value: object) -> tuple[str, ...] | None:
    items = value if isinstance(value, list) else re.split(r",(?![^()]*\))", value) if isinstance(value, str) else []
    names = tuple(name for item in items if (name := str(item).partition("(")[0].strip()))
    return None if not names or "*" in names else names


def _ignored(path: str, why: str) -> Finding:
    return Finding(path, None, "definition-ignored", f"it is not used: {why}")
