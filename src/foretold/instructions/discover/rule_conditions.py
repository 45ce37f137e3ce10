"""When a rule is loaded: from the `paths` in its frontmatter to a list of globs.

The numbers in brackets are those of the specification.

1. A string is one or more patterns between commas; a comma within braces does not separate them [4.5].
2. A list, and a list in a list, is all the patterns of its strings; anything else in it is dropped [4.5].
3. Patterns are trimmed, empty ones dropped [4.5].
4. Braces are expanded, from the first `{` to the first `}` after it, then again in what comes out; alternatives are
   trimmed and may be empty [4.5, 13.4]. Braces within braces therefore do not do what their author meant.
5. One `/**` is cut from the end of each glob; what is then empty is dropped [4.5].
6. No glob at all, or nothing but `**`: the rule is unconditional, and there are no patterns [4.5].

Agents that match with `globset` have other rules: a string is split at the commas outside of braces, a list is its
strings as they are, and patterns that are all `**`, `**/*` or `*` mean always.

Braces multiply, so there is a limit on the number of globs and on the characters written while expanding; what is
beyond stays unexpanded and is reported in `Globs.problem`.

Some agents decide by other fields of the frontmatter: one strategy an agent, by name (`STRATEGIES`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from foretold.text.frontmatter import parse, split, trim
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.dialects.schema import Rules
    from foretold.instructions.text.read import FileText
    from foretold.types import Entry


MAX_GLOBS = 1_000
MAX_WRITTEN = 100_000  #: characters written while expanding braces
MAX_PATTERN = 4_096  #: characters; no path is as long
MAX_ITEMS = 10_000  #: items of lists, lists in lists included

ALWAYS = "so the rule always applies"


class Globs(NamedTuple):
    """The globs of a rule. No patterns: the rule is unconditional."""

    patterns: tuple[str, ...]
    problem: str | None  #: why what is written there has no effect


#: keys with which agents say what a rule is for (`Rules.key`); one agent does not read the key of another
CONDITION_KEYS = ("paths", "globs", "applyTo", "fileMatchPattern")
#: the same in small letters, with the slips that people make
NEARLY_KEYS = (*(key.lower() for key in CONDITION_KEYS), "path", "glob")
MAX_BEFORE = 10  #: lines before a `---` that was meant to open the frontmatter


class UnreadKey(NamedTuple):
    """A key of a rule's frontmatter that another agent would read, and its line, from 0."""

    key: str
    line: int


def find_unread_key(front: str, rules: Rules) -> UnreadKey | None:
    """The key that was to say what a rule is for, if the agent reads another one, which is not there."""
    if not rules.key or rules.admits:  # a strategy may read more keys
        return None
    found = None
    for number, line in enumerate(front.split("\n")):
        key = line.partition(":")[0]
        if key == rules.key:
            return None
        if key.lower() in NEARLY_KEYS and len(key) < len(line):
            return UnreadKey(key, number) if not _has_key(front, rules.key) else None
        if line.replace(" ", "") == "alwaysApply:false":  # in Cursor, a rule that is not always meant
            found = UnreadKey(key, number)
    return found


def _has_key(front: str, key: str) -> bool:
    return front.startswith(f"{key}:") or f"\n{key}:" in front


class UnreadHeader(NamedTuple):
    """What was meant as frontmatter: a key in it, its line in the file, why it is not read, and what to do."""

    key: str
    line: int
    why: str
    fix: str


def find_unread_header(text: str) -> UnreadHeader | None:
    """The frontmatter of a rule that does not begin at the first line, or does not end; None if there is none.

    Only a key that says what the rule is for is evidence that frontmatter was meant: a `---` may be a rule in the text.
    """
    rows = text.removeprefix("\ufeff").split("\n")[:200]
    opened = next((at for at, row in enumerate(rows[: MAX_BEFORE + 1]) if row.rstrip() == "---"), -1)
    if opened < 0 or any("```" in row or "~~~" in row for row in rows[:opened]):
        return None
    for row in rows[opened + 1 :]:
        key, colon, _ = row.partition(":")
        if colon and key.lower() in NEARLY_KEYS:
            break
        if row.startswith(("#", "---", "...")):
            return None
    else:
        return None
    if opened:
        before = "a blank line" if not any(row.strip() for row in rows[:opened]) else "text"
        return UnreadHeader(key, opened + 1, f"there is {before} before its first `---`", "begin the file with `---`")
    dots = next((number for number, row in enumerate(rows, 1) if row.rstrip() == "..."), 0)
    why = "`...` does not close it" if dots else "it is not closed"
    return UnreadHeader(key, dots or 1, why, "write a line `---` after its last key")


def globs_of(value: object, *, whole: bool = False, joins: bool = False) -> Globs:
    """The globs of a value of `paths`; `whole` if nothing is cut from their ends, one of a list if it `joins` them."""
    end = "" if whole else "/**"
    if isinstance(value, str) and "," not in value and "{" not in value and len(value) <= MAX_PATTERN:
        glob = trim(value).removesuffix(end)
        return Globs((), _useless(value, [value])) if glob in ("", "**") else Globs((glob,), None)
    texts, dropped = ([value], None) if isinstance(value, str) else _strings(value)
    patterns = [pattern for text in texts for pattern in _split(text)]
    if joins and isinstance(value, list):  # claude-code: rule-form-list, rule-form-bad, before 2.1.84
        patterns = [trim("".join(map(_spelled, value)))] if value else []
    expanded, cut = _expanded(patterns)
    if any(len(glob) > MAX_PATTERN for glob in expanded):
        expanded = [glob if len(glob) <= MAX_PATTERN else "#" for glob in expanded]  # a comment: it matches nothing
        cut = f"`paths` has a pattern of more than {MAX_PATTERN} characters, which is taken to match nothing"
    globs = tuple(filter(None, (glob.removesuffix(end) for glob in expanded)))
    if all(glob == "**" for glob in globs):
        return Globs((), _useless(value, texts))
    return Globs(globs, cut or dropped or _odd_braces(patterns))


def _spelled(item: object) -> str:
    """An item of a list as JavaScript writes it in a text."""
    if isinstance(item, list):
        return ",".join("" if each is None else _spelled(each) for each in item)
    named = {True: "true", False: "false"}.get(item) if isinstance(item, bool) else "null" if item is None else None
    return named or ("[object Object]" if isinstance(item, dict) else str(item))


def written_key(entry: Entry, rules: Rules) -> str:
    """The key with which the author of a rule wrote its patterns."""
    is_other = rules.other_key and not re.search(rf"(?m)^{rules.key}[ \t]*:", entry.raw)
    return rules.other_key if is_other else rules.key


def written_patterns(entry: Entry, rules: Rules) -> list[str]:
    """The patterns of a rule as its author wrote them: braces and `/**` and all."""
    if rules.patterns == "globset":
        return list(entry.globs)
    front, _ = split(entry.raw, after_bom=True)
    value = parse(front).values.get(rules.key) if front is not None else None
    texts = [value] if isinstance(value, str) else _strings(value)[0]
    return [pattern for text in texts for pattern in _split(text)] or list(entry.globs)


EVERYTHING = ("**", "**/*", "*")  # copilot-cli: copilot-112, copilot-114, copilot-160; two of them: seen on 1.0.102


def globset_patterns(value: object) -> Globs:
    """The patterns of a value of `applyTo`. # copilot-cli: copilot-147, copilot-164, copilot-167, copilot-176"""
    if isinstance(value, str):
        patterns = tuple(_split(value, lone=False))
    else:
        patterns = tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
    if len(patterns) > MAX_ITEMS:
        return Globs(patterns[:MAX_ITEMS], f"it has more than {MAX_ITEMS} patterns; the rest is left out")
    if not patterns:
        return Globs((), f"there is no pattern in it, {ALWAYS}")
    return Globs(() if all(pattern in EVERYTHING for pattern in patterns) else patterns, None)


def _strings(value: object) -> tuple[list[str], str | None]:
    """The strings of a value in order, and a problem if there is anything else."""
    texts: list[str] = []
    problem: str | None = None
    waiting, seen = [value], 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, list):
            seen += len(item)
            if seen > MAX_ITEMS:
                return texts, f"`paths` has more than {MAX_ITEMS} items; the rest is left out"
            waiting.extend(reversed(item))
        else:
            problem = f"`paths` holds {_kind(item)}, which is ignored: write patterns as text"
    return texts, problem


def _split(text: str, *, lone: bool = True) -> Iterator[str]:
    """The patterns of a string; whether a `}` counts that closes nothing."""
    start = depth = 0
    if "{" in text or "}" in text:
        for found in re.finditer("[{},]", text):
            if found[0] != ",":
                depth += 1 if found[0] == "{" else -1 if depth or lone else 0
            elif not depth:
                yield from filter(None, (trim(text[start : found.start()]),))
                start = found.end()
        yield from filter(None, (trim(text[start:]),))
    else:
        yield from filter(None, map(trim, text.split(",")))


def _expanded(patterns: list[str]) -> tuple[list[str], str | None]:
    """The patterns with their braces expanded, and a problem if there are too many."""
    globs: list[str] = []
    written = 0
    for pattern in patterns:
        waiting = [("", pattern)]
        while waiting and len(globs) < MAX_GLOBS:
            done, rest = waiting.pop()
            opened = rest.find("{")
            closed = rest.find("}", opened + 1) if opened >= 0 else -1
            if closed <= opened + 1 or written > MAX_WRITTEN:
                globs.append(done + rest)
                continue
            done, inner, rest = done + rest[:opened], rest[opened + 1 : closed], rest[closed + 1 :]
            room = 1 + (MAX_WRITTEN - written) // (len(done) + len(rest) + 1)
            choices = inner.split(",", room)[:room]
            written += len(inner) + len(choices) * (len(done) + len(rest) + 1)
            waiting.extend((done, trim(choice) + rest) for choice in reversed(choices))
    if len(globs) >= MAX_GLOBS or written > MAX_WRITTEN:
        return globs, f"`paths` expands to too many patterns, {len(globs)} are kept: write fewer braces"
    return globs, None


def _useless(value: object, texts: list[str]) -> str:
    """Why a value that was written down leaves the rule unconditional."""
    if any("**" in text for text in texts):
        return f"`paths` matches every file, {ALWAYS}"
    if value is None or isinstance(value, (str, list)):
        return f"`paths` has no pattern in it, {ALWAYS}"
    return f"`paths` is {_kind(value)}, not a pattern, {ALWAYS}"


def _kind(value: object) -> str:
    if value is None:
        return "an empty item"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (int, float)):
        return "a number"
    return "a mapping" if isinstance(value, dict) else f"a {type(value).__name__}"


def _odd_braces(patterns: list[str]) -> str | None:
    """A problem with braces that do not do what they seem to."""
    for pattern in patterns:
        if ("{" in pattern or "}" in pattern) and re.search(r"\{[^}]*\{|\{\}|\{[^}]*$|(?:^|\})[^{}]*\}", pattern):
            short = pattern if len(pattern) <= 80 else f"{pattern[:77]}..."
            return f"`{short}`: braces in braces, empty or open ones are not understood: write each pattern"
    return None


#: what a pattern may hold, and why it then matches nothing. Globs are gitignore patterns, seen from the folder that
#: holds `.claude` and tested against paths like `src/a.ts`. A few could match a file that no project has (`~/x`, `"x`).
_NEVER = (
    (r"^#", "it is a comment, because it starts with `#`: write `\\#` for a name that does"),
    (r"^(?:\.?/?)$", "it names no file: to apply the rule always, leave `paths` out"),
    (r"^\./", "it starts with `./`, as no path does: write it without"),
    (
        r"(?:^|/)\.\.?(?:/|$)",
        "it has `.` or `..` in it, as no path has: write it without, as the rule sees only files below its own folder",
    ),
    (r"^/?(?:~/|~$|\$HOME\b|\$\{HOME\})", "the home folder is not filled in: write the path as seen from the project"),
    (r"^(?:[A-Za-z]:[\\/]|/(?:home|Users|root)/)", "it is an absolute path: write the path as seen from the project"),
    (r"//", "it has an empty name between two slashes: write one slash"),
    # not before the letters of classes and boundaries, which can match: `a\\b`, `my\\sdir`
    (r"^[^\[]*\w\\(?![bBdDsSwW])\w", "a backslash does not separate folders: write `/`"),
    (
        r"^[^\[]*(?:(?<!.)|/)\\s",
        "`\\s` stands for white space, with which no name starts: write it without the backslash",
    ),
    (r"^[^\[]*\\[fnrtv0-7]", "a backslash before this character stands for a control character: write it without"),
    (r"[\r\n]", "line ends do not separate patterns: write a list"),
    (r"^[\"']", "a quotation mark has become part of it: close the quotes"),
    (r"\s#", "a comment has become part of it: put the pattern in quotes, and the comment on a separate line"),
    (r"^\[[^\]]*(?:[/*][^\]]*\]?)?$", "a bracket has become part of it: put each pattern of the list in quotes"),
)


#: any of them, so that an ordinary pattern costs one search
_SUSPECT = "|".join([*(form for form, _ in _NEVER), r"[\[\\]"])


def never_matches(pattern: str, *, alone: bool = True, patterns: str = "early-ignore") -> str | None:
    """Why a glob can match no file of a project, with what to write instead after a colon; None if it can.

    A `!` pattern takes away from what other patterns match, so it is useless only if it is `alone`. `patterns` names
    the strategy that matches.
    """
    if pattern.startswith("!"):
        return "it only takes away from other patterns: add one that matches" if alone else None
    if not re.search(_SUSPECT, pattern):
        return None
    known = next((reason for form, reason in _NEVER if re.search(form, pattern)), None)
    return known or (_matches_nothing(pattern) if patterns == "early-ignore" else None)


def _matches_nothing(pattern: str) -> str | None:
    """Why the matcher finds nothing at all for a pattern with brackets or backslashes."""
    from foretold.text.globs.early_ignore import is_broken, matches_nothing

    if is_broken(pattern):
        return "a bracket is not closed, or a range in it runs backwards: close it, or turn the range round"
    if not matches_nothing(pattern):
        return None
    if "[" in pattern:
        return "a bracket is empty or not closed, which matches no character: write `\\[` for a name that has one"
    return "its backslash escapes nothing: write it without"


def never_matches_globset(pattern: str) -> str | None:
    """Why a pattern of `globset` can match no file of a repository; None if it can."""
    from foretold.text.globs.globset import GlobsetPattern  # few agents have need of this

    if pattern.startswith("/"):
        return "it starts with `/`, as no path does: write it as seen from the top of the repository"
    return GlobsetPattern(pattern).problem or None


BROKEN = ("frontmatter-invalid", "frontmatter-repaired")  #: findings about YAML that is not valid


def _cline(text: FileText) -> tuple[str, str]:
    """# cline: cline-006, cline-007: a broken header drops the rule, and so does `disabled`"""
    front = text.front
    is_odd = not isinstance(front.get("name", ""), str) or not isinstance(front.get("disabled", False), bool)
    if is_odd or any(finding.code in BROKEN for finding in text.findings):
        return "bad-frontmatter", ""
    return ("disabled", "disabled in its frontmatter") if text.front.get("disabled") is True else ("", "")


def _continue(text: FileText) -> tuple[str, str]:
    """# continue: continue-006: always, unless it says otherwise or waits for files"""
    front = text.front
    if front.get("invokable") is True:
        return "disabled", "it is invokable: only by name"
    always = front.get("alwaysApply")
    if always is False or (always is not True and (front.get("globs") or front.get("regex"))):
        return "disabled", "alwaysApply is not true"
    return "", ""


def _cursor(text: FileText) -> tuple[str, str]:
    """Always, when a file matches, or only when it is asked for."""
    if text.front.get("alwaysApply") is True:
        return "", ""
    return (WAITS, "") if text.globs.patterns else ("disabled", "only when it is asked for, by name or description")


def _by_field(text: FileText, field: str, always: str, waits: str) -> tuple[str, str]:
    """One field says when: by default always, when a file matches, or only when it is asked for."""
    value = text.front.get(field, always)
    if value in (always, waits):
        return (WAITS if value == waits and text.globs.patterns else ""), ""
    return "disabled", f"its {field} is {value}"


def _copilot(text: FileText) -> tuple[str, str]:
    """# copilot-cli: copilot-345: not for the agent that it excludes; else always, or when a file matches"""
    excluded = text.front.get("excludeAgent")
    if excluded == "coding-agent" or (isinstance(excluded, list) and "coding-agent" in excluded):
        return "disabled", "its excludeAgent names coding-agent"
    return (WAITS if text.globs.patterns else ""), ""


def _vscode(text: FileText) -> tuple[str, str]:
    """Without the key, never by itself."""
    if "applyTo" not in text.front:
        return "disabled", "it has no applyTo"
    return (WAITS if text.globs.patterns else ""), ""


WAITS = "waits"
STRATEGIES: dict[str, Callable[[FileText], tuple[str, str]]] = {
    "cline": _cline,
    "continue": _continue,
    "copilot": _copilot,
    "cursor": _cursor,
    "kiro": lambda text: _by_field(text, "inclusion", "always", "fileMatch"),
    "vscode": _vscode,
    "windsurf": lambda text: _by_field(text, "trigger", "always_on", "glob"),
}


def refusal_of(strategy: str, text: FileText) -> tuple[str, str]:
    """The reason and its detail why a rule is not loaded; two empty texts if it is; `WAITS` if it waits for a file."""
    return STRATEGIES[strategy](text) if strategy else ("", "")
