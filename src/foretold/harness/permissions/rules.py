"""Permission rules: `Tool`, or `Tool(…)` with what it is about.

1. `Bash(npm run *)`: `*` matches any text; after a space at the end, both may be missing, so that `ls *` is `ls` and
   `ls -l`, not `lsof`. `:*` at the end is the same as ` *`. Without a star, exactly this command.
2. `Read(…)` and `Edit(…)` name files as `.gitignore` does: `//x` from the root, `~/x` from home, `/x` from the folder
   of the settings that hold the rule, `x` and `./x` from the folder of the conversation. Edit rules are for all tools
   that change files, Read rules for all that read them.
3. `Agent(Explore)` and `Skill(deploy)` are about one kind of agent and one skill; stars as in commands. `Task` is
   another name of `Agent`.
4. In rules that refuse or ask, a tool's name may have stars, and `Tool(key:value)` looks at a field of its input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from foretold.dialects.claude_code.agents import GENERAL
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.text.globs.npm_ignore import IgnoreMatcher

#: the names of modes, and other names for them
MODES = {
    "default": "default",
    "manual": "default",
    "acceptEdits": "acceptEdits",
    "accept-edits": "acceptEdits",
    "plan": "plan",
    "read-only": "plan",
    "dontAsk": "dontAsk",
    "dont-ask": "dontAsk",
    "bypassPermissions": "bypassPermissions",
    "bypass": "bypassPermissions",
}
#: tool -> the tool whose rules apply for it, and the field with the path
CHANGING = {"Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path", "MultiEdit": "file_path"}
READING = {"Read": "file_path", "Grep": "path", "Glob": "path"}
PATHS = {**CHANGING, **READING}
#: tool -> the field that its rules are about, and what that is if it is missing
SUBJECTS = {"Agent": ("subagent_type", GENERAL), "Skill": ("skill", "")}
OTHER_NAMES = {"Task": "Agent"}  #: of tools, in rules
#: fields that a rule must name in the tool's own way
OWN_FIELDS = {"Bash": "command", **PATHS}
_RULE = re.compile(r"\s*([^\s()]+?)\s*(?:\((.*)\))?\s*", re.DOTALL)


class PermissionRule(NamedTuple):
    """A rule and the folders that its paths begin at."""

    text: str
    tool: str
    about: str = ""  #: what is in its brackets; empty: everything
    base: str = "/"  #: where `/x` begins
    cwd: str = "/"  #: where `x` begins
    home: str = ""

    def fits_tool(self, tool: str, *, loosely: bool) -> bool:
        """Whether it is for a tool. Names with stars are for rules that refuse or ask."""
        if OTHER_NAMES.get(self.tool, self.tool) == tool or tool.startswith(self.tool + "__"):
            return True
        family = CHANGING if self.tool == "Edit" else READING if self.tool == "Read" else {}
        if tool in family:
            return True
        anchored = re.match(r"mcp__[^*]+?__", self.tool)
        return "*" in self.tool and bool(loosely or anchored) and bool(_starred(self.tool).fullmatch(tool))

    def fits_path(self, path: str) -> bool:
        """Whether it is about a file, given by one spelling of its path."""
        if not self.about:
            return True
        folder, pattern = self._anchor()
        matcher = _matcher(pattern)
        for base in dict.fromkeys((folder, os.path.realpath(folder))):
            if is_inside(path, base) and path != base and matcher.matches(path[len(base.rstrip("/")) + 1 :]):
                return True
        return False

    def may_reach(self, folder: str) -> bool:
        """Whether it may be about a file in a folder.

        >>> rule = PermissionRule("", "Read", "./keys/*.pem", cwd="/repo")
        >>> [rule.may_reach(folder) for folder in ("/repo", "/repo/keys/old", "/repo/src")]
        [True, True, False]
        """
        base, pattern = self._anchor() if self.about else ("/", "")
        stem = re.split(r"[*?\[!\\]", pattern)[0].rpartition("/")[0] if "/" in pattern.rstrip("/") else ""
        for start in dict.fromkeys((base, os.path.realpath(base))):
            place = os.path.normpath(os.path.join(start, stem.lstrip("/")))
            if is_inside(place.lower(), folder.lower()) or is_inside(folder.lower(), place.lower()):
                return True
        return False

    def _anchor(self) -> tuple[str, str]:
        about = self.about
        if about.startswith("//"):
            return "/", about[1:]
        if about == "~" or about.startswith("~/"):
            return self.home or "/", about[1:] or "/**"
        if about.startswith("/"):
            return self.base, about
        return self.cwd, about[1:] if about.startswith("./") else about

    def fits_command(self, command: str) -> bool:
        """Whether it is about a simple command."""
        return not self.about or bool(_command_pattern(self.about).fullmatch(command))

    def fits_subject(self, given: Mapping[str, object], tool: str) -> bool:
        """Whether it is about the agent or the skill that is asked for."""
        if tool not in SUBJECTS:
            return False
        key, missing = SUBJECTS[tool]
        return bool(_command_pattern(self.about).fullmatch(str(given.get(key) or missing)))

    @property
    def is_exact(self) -> bool:
        """Whether it names one command."""
        return bool(self.about) and "*" not in self.about

    def fits_field(self, given: Mapping[str, object], tool: str) -> bool:
        """Whether it is about a value that a field of the input has."""
        key, colon, value = (part.strip() for part in self.about.partition(":"))
        if not colon or key not in given or key == OWN_FIELDS.get(tool):
            return False
        field = given[key]
        text = str(field).lower() if isinstance(field, bool) else str(field)
        return isinstance(field, str | int | float) and bool(_starred(value).fullmatch(text))


def check_mode(mode: str) -> str:
    """The canonical name of a mode. ValueError if there is no such mode."""
    if mode not in MODES:
        raise ValueError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")
    return MODES[mode]


def parse_rule(text: str, *, base: str = "/", cwd: str = "/", home: str = "") -> PermissionRule | None:
    """The rule that a text is; None if it is none."""
    match = _RULE.fullmatch(text)
    if match is None:
        return None
    about = match[2] or ""
    return PermissionRule(text.strip(), match[1], "" if about in ("*", "**") else about, base, cwd, home)


def first_match(
    rules: Iterable[PermissionRule], tool: str, paths: Sequence[str], *, every: bool = False
) -> PermissionRule | None:
    """The first rule for a tool that is about a file, given by its spellings: about `every` one of them, or about any.

    To refuse or ask, characters that can be composed in two ways are equal, as they are to some file systems.
    """
    rules = (rule for rule in rules if rule.fits_tool(tool, loosely=not every))
    if not every and not all(path.isascii() for path in paths):
        from unicodedata import normalize

        paths = [*paths, *(normalize("NFC", path) for path in paths)]
        rules = (one for rule in rules for one in (rule, rule._replace(about=normalize("NFC", rule.about))))
    for rule in rules:
        if (all if every else any)(rule.fits_path(path) for path in paths):
            return rule
    return None


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> IgnoreMatcher:
    from foretold.text.globs.npm_ignore import IgnoreMatcher  # only for rules about files

    return IgnoreMatcher([pattern])


@lru_cache(maxsize=256)
def _starred(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)


def _command_pattern(about: str) -> re.Pattern[str]:
    pattern = about[:-2] + " *" if about.endswith(":*") else about
    if pattern.endswith(" *"):
        return re.compile(_starred(pattern[:-2]).pattern + "(?: .*)?", re.DOTALL)
    return _starred(pattern)
