"""Frontmatter of instruction files: where it ends and what it says.

The numbers in brackets are those of the specification; the cases that prove a rule are next to the code.

1. Frontmatter opens with `---` at the very start, white space and a line end; a byte order mark may come first if the
   dialect says so [3.3, C1]. It closes at the next `---`, wherever that is. The white space after it goes too
   [3.7]. White space is what ECMAScript calls so.
2. It is YAML 1.2, but a repeated key is not a fault, the last one wins [4.6]; a tab in the indentation is one column
   [13.3]; a tag is dropped and its value kept [4.6]. ryaml thinks otherwise, so the text is prepared for it.
3. If it does not parse, troublesome values of `key: value` lines at the margin are put in quotes and it is parsed once
   more; list items are not [4.6, 13.2].
4. What still does not parse, or is not a mapping, has no values.
5. Nor has text made to cost time (nesting, aliases that multiply, piles of directives, great length): an upper bound
   is taken before ryaml sees it, whose time is quadratic or worse in the first three.
6. Nothing in a file raises. What is wrong is in `Front.problem`.

The usual shape (`key: value` lines and lists of plain or quoted words) is read without ryaml: `_simple` gives up on
whatever else it meets. That is two to four times as fast, and spares a short-lived hook the import.
"""

from __future__ import annotations

import re

from foretold.types import NamedTuple

#: what ECMAScript `trim` and `\s` take as white space; Python's own idea has \x1c-\x1f and \x85 and lacks U+FEFF
SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
MAX_LENGTH = 64 * 1024  #: characters; the worst text of this size takes less than a second
MAX_OPEN = 512  #: brackets; ryaml takes 4 ms for so many nested ones, and itself refuses more than 128 levels
MAX_NODES = 1_000_000  #: what aliases may multiply a text to
MAX_TABS = 4096  #: each is checked by itself
MAX_TAGS = 16  #: `%TAG` directives
MAX_ROUNDS = 16  #: of preparing a text for ryaml; a mapping with repeated keys takes one


class Front(NamedTuple):
    """What a frontmatter says."""

    values: dict[str, object]  #: the top-level mapping; empty if there is none
    problem: str | None  #: what is wrong, in a sentence; with values: they were read as if in quotes
    line: int | None  #: where, counted from 1 at the first line of the frontmatter text


def trim(text: str) -> str:
    """The text without ECMAScript white space at both ends."""
    return text.strip(SPACE)


def split(text: str, *, after_bom: bool) -> tuple[str | None, str]:
    r"""The frontmatter text, or None, and the body: `^---\s*\n([\s\S]*?)---\s*\n?` of JavaScript, in linear time."""
    start = _begin(text, after_bom=after_bom)
    end = text.find("---", start) if start else -1
    if end < 0:
        return None, text
    return text[start:end], text[end + 3 :].lstrip(SPACE)


def split_fenced(text: str) -> tuple[str | None, str]:
    """The frontmatter text between two lines of nothing but `---` and white space, or None, and the whole text.

    Nothing else opens or closes it, and nothing is cut from the text. # copilot-cli: copilot-355
    """
    found = re.match(r"\ufeff?---[ \t]*\r?\n((?:[\s\S]*?\r?\n)??)---[ \t]*(?:\r?\n|\Z)", text)
    return (found[1] if found else None), text


def line_value(front: str, keys: tuple[str, ...]) -> tuple[str, str]:
    """The first of some keys that has a value on a line at the margin, and that value; two empty texts if none has.

    For frontmatter that is not valid YAML: quotes around the whole value go, else a comment after it does. A list
    below the key is not seen. # copilot-cli: copilot-340, copilot-343, copilot-375
    """
    for key in keys:
        found = re.search(rf"(?m)^{key}:[ \t]+(\S[^\r\n]*)", front)
        value = trim(found[1]) if found else ""
        is_quoted = value[:1] in ("'", '"') and value[-1] == value[0]
        value = value[1:-1] if is_quoted else re.split(r"\s#", value, maxsplit=1)[0].rstrip()
        if value:
            return key, value
    return "", ""


def find_open_quote(front: str) -> int:
    """The line, counted from 1, of a value that opens a quote and does not close it; 0 if there is none."""
    for number, row in enumerate(front.split("\n"), 1):
        found = re.match(r"""[ \t]*(?:-[ \t]+|[\w-]+:[ \t]+(?:\[[ ]*)?)(["'])""", row)
        if found and row.count(found[1]) % 2:
            return number
    return 0


def first_line(text: str) -> int:
    """The line of the file, counted from 1, on which its frontmatter text begins."""
    return text.count("\n", 0, _begin(text, after_bom=True)) + 1


def _begin(text: str, *, after_bom: bool) -> int:
    """Where the frontmatter text begins; 0 if nothing opens one."""
    opening = 4 if after_bom and text.startswith("\ufeff---") else 3 if text.startswith("---") else 0
    newline = text.find("\n", opening) if opening else -1
    if newline < 0 or text[opening:newline].strip(SPACE):
        return 0
    if text[newline + 1 : newline + 2] not in SPACE:
        return newline + 1
    rest = text[newline + 1 :]
    blank = len(rest) - len(rest.lstrip(SPACE))
    return newline + 1 + rest.rfind("\n", 0, blank) + 1


def parse(front: str, *, strict: bool = False, repairs: bool = True, colons: bool = True) -> Front:
    """The values of a frontmatter text. Never raises.

    Where it is `strict`, a repeated key and a tab in the indentation are faults. Without `repairs`, a fault is one;
    without `colons`, that of a value with a colon in it.
    """
    values = _simple(front, strict=strict)
    if values is None and not strict:
        values = _nested(front)
    if values is not None:
        return Front(values, None, None)
    return _general(front, strict=strict, repairs=repairs, colons=colons)


def parse_lines(front: str) -> Front:
    """The values of a frontmatter text that is not taken for YAML: what follows the first colon of each line.

    # claude-code: rule-form-list, rule-form-bad, before 2.1.0

    >>> parse_lines("paths: [a, b]\\nname: 'x'\\nempty:\\n  - c").values
    {'paths': '[a, b]', 'name': 'x'}
    """
    rows = (line.partition(":") for line in front.split("\n") if ":" in line)
    texts = ((trim(key), re.sub(r"^[\"']|[\"']$", "", trim(text))) for key, _, text in rows)
    return Front({key: text for key, text in texts if key and text}, None, None)


# The usual shape

_QUOTED = r""""[^"\\]*+"|'[^']*+'"""
_TEXT = r"(?!(?:null|Null|NULL|true|True|TRUE|false|False|FALSE|\.inf|\.Inf|\.INF|\.nan|\.NaN|\.NAN)[ ]*+(?:[:,\]]|$))"
#: a plain value starts with what can start nothing else and has none of `#:`, so it needs no look at its neighbours
_PLAIN = rf"{_TEXT}(?:[A-Za-z_/]|\.(?![0-9]))[^#:"
_ITEM = rf"(?:(?:{_QUOTED})[ ]*+|{_PLAIN},\[\]{{}}\"']*+)"
#: a key or a list item, then perhaps a value: in quotes, a list in brackets, or plain
_LINE = (
    rf"(?:({_TEXT}[A-Za-z_][A-Za-z0-9_-]*+):|([ ]*+)-)"
    rf"(?:[ ]++({_QUOTED}|\[[ ]*+(?:{_ITEM}(?:,[ ]*+{_ITEM})*)?\]|{_PLAIN}]*+))?[ ]*+"
)


def _simple(front: str, *, strict: bool = False) -> dict[str, object] | None:
    """The values of a frontmatter of the usual shape; None for every other, whether valid or not."""
    front = front.replace("\r\n", "\n")
    if "\r" in front or len(front) > MAX_LENGTH:
        return None
    values: dict[str, object] = {}
    name, items, level = "", None, ""
    read = re.compile(_LINE).fullmatch
    for line in front.split("\n"):
        found = read(line) if line.isprintable() else None  # so no tab and nothing that is _ODD
        if found is None:
            if line.strip(" ") and line[0] != "#":
                return None
            continue
        key, indent, raw = found.groups()
        value = raw and _value(raw)
        if key:
            if strict and key in values:
                return None
            values[key], name, items = value, "" if raw else key, None
        elif not raw or not name or (items is not None and indent != level):
            return None
        elif items is None:
            values[name], level = (items := [value]), indent
        else:
            items.append(value)
    return values


def _nested(front: str) -> dict[str, object] | None:
    """The values of a frontmatter of the usual shape in which a key holds such a mapping, as `metadata` often does."""
    lines = front.replace("\r\n", "\n").rstrip("\n").split("\n")
    top: list[str] = []
    inner: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if line.startswith("  ") and key:
            inner.setdefault(key, []).append(line[2:])
        elif not line.strip(" ") or line.lstrip(" ")[0] in "#- ":
            return None
        else:
            top.append(line)
            name, colon, rest = line.partition(":")
            key = name if colon and not rest.strip(" ") else ""
    values = _simple("\n".join(top)) if inner else None
    if values is None or len(values) != len(top):  # a repeated key
        return None
    for name, block in inner.items():
        found = _simple("\n".join(block))
        if not found or block[0].startswith(" ") or any(not line.strip(" ") or "#" in line for line in block):
            return None
        values[name] = found
    return values


def _value(raw: str) -> object:
    """A value that `_LINE` took."""
    if raw[0] == "[":
        return [_value(item.rstrip(" ")) for item in re.findall(_ITEM, raw)]
    return raw[1:-1] if raw[0] in "\"'" else raw.rstrip(" ")


# Every shape


def _general(front: str, *, strict: bool = False, repairs: bool = True, colons: bool = True) -> Front:
    refusal = _cost(front)
    if refusal:
        return Front({}, refusal, 1)
    value, error = _load(front, strict=strict)
    if error is None and (value is None or isinstance(value, dict)):
        return Front(_named(value or {}), None, None)
    if error is None:
        return Front({}, "the text between the two `---` has no `key: value` lines; it is dropped", 1)
    line, error = _line(error, front), _without_place(error)[:200]
    repaired, keys = _repair(front, colons=colons) if repairs else ("", [])
    if keys:
        value, failure = _load(repaired, strict=strict)
        if failure is None and isinstance(value, dict):
            said = ", ".join(f"`{key}`" for key in [*dict.fromkeys(keys)][:3])
            return Front(_named(value), f"not valid YAML: {error}; read as if {said} were in quotes", line)
    return Front({}, f"not valid YAML, so nothing of it counts: {error}", line)


def _named(value: dict[object, object]) -> dict[str, object]:
    return {key: item for key, item in value.items() if isinstance(key, str)}


def _cost(front: str) -> str | None:
    """Why this text must not reach ryaml: the upper bound of what it could cost there is too high."""
    if len(front) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters, so it is not read"
    if front.count("[") + front.count("{") > MAX_OPEN:
        lone = re.sub(r"\{[^\s{}\[\]\"'#]*\}|\[[^\s{}\[\]\"'#]*\]", "", front)
        if lone.count("[") + lone.count("{") > MAX_OPEN:
            return "nested too deep, so it is not read"
    if front.count("\t") > MAX_TABS:
        return "too many tabs, so it is not read"
    if front.count("%TAG") > MAX_TAGS:
        return "too many directives, so it is not read"
    if "&" in front and re.search(r"(?:^|[\s,\[{:])&[^\s,\[\]{}]", front):
        # each alias may stand within what the next one repeats: n aliases double the text n times
        aliases = len(re.findall(r"(?:^|[\s,\[{:])\*[^\s,\[\]{}]", front))
        if aliases and len(front) << min(aliases, 64) > MAX_NODES:
            return "too many aliases, so it is not read"
    return None


#: characters that libyaml refuses or takes as line ends, while they are ordinary text to the agents' parsers
_ODD = r"\x00-\x08\v\f\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_FOREIGN = f"[{_ODD}]" + r"|(?<=[\s,\[{])\?(?=[^\s,\[\]{}])"  # and a `?` that starts a word: `[?.ts]`
_HIDDEN = r"[\U00100000-\U0010ffff]"  # where the foreign characters wait while ryaml reads
_REPEATED = "\U0010fffd"  # what the key of an entry starts with that comes again below


def _load(text: str, *, strict: bool = False) -> tuple[object, str | None]:
    """The value of a YAML text, or what is wrong with it."""
    if re.search(_HIDDEN, text):
        return _ryaml(text)
    safe = re.sub(_FOREIGN, lambda found: chr(ord(found[0]) + 0x100000), text if text.endswith("\n") else f"{text}\n")
    value, error = _ryaml(safe)
    for _ in range(MAX_ROUNDS):
        better = _prepared(safe, error) if error and not strict else safe
        if better == safe:
            break
        safe = better
        value, error = _ryaml(safe)
    stray = _stray(safe) if error is None and isinstance(value, dict) else 0
    if stray:
        return None, f"what continues a list or a quoted text must be indented at line {stray}"
    return (value if safe == text and "!" not in text else _plain(value)), error


def _prepared(text: str, error: str) -> str:
    """The text without what ryaml complains of, if it is something that the agents' parsers take."""
    if re.search(r"(?m)^(?:\t|[ ]*[-?][ \t]*\t)", text):  # claude-code: rule-form-bad r12
        return re.sub(r"(?m)^(?:\t[ \t]*)?[ ]*(?:[-?][ \t]+)*", lambda found: found[0].replace("\t", " "), text)
    if "expected whitespace" in error:  # a tag before a bracket: `[a, !b]`
        return re.sub(r"(?<=[\s,\[{])(![^\s,\[\]{}\"'#]*)(?=[\]}])", r"\1 ", text)
    if "duplicate entry" in error:  # claude-code: rule-fm-edge r11
        mark = re.search(r" at line (\d+) column (\d+)$", error)
        line, column = (int(mark[1]), int(mark[2])) if mark else (1, 1)
        start = sum(len(row) + 1 for row in text.split("\n")[: line - 1]) + column - 1
        return text[:start] + _last_wins(text[start:], column - 1)
    return text


def _last_wins(text: str, indent: int) -> str:
    """A text that starts with a block mapping; each key in it that comes again below is marked."""
    end = re.search(rf"\n {{0,{indent - 1}}}[^\s#]", text) if indent else None
    size = end.start() if end else len(text)
    entries = re.split(rf"\n(?= {{{indent}}}[^\s#\-\]}}])", text[:size])
    last: dict[str, int] = {}
    for number, entry in enumerate(entries):
        key = entry.partition(":")[0].strip(" \t\"'")
        if key in last:
            earlier = entries[last[key]]
            entries[last[key]] = re.sub(r"^(\s*)[^:]*", rf"\1{_REPEATED}{number}", earlier)
        last[key] = number
    return "\n".join(entries) + text[size:]


def _ryaml(text: str) -> tuple[object, str | None]:
    """The only place that knows ryaml."""
    import ryaml

    try:
        return ryaml.loads(text), None  # type: ignore[attr-defined]  # its stubs do not re-export
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        return None, str(error).partition(", while ")[0] or type(error).__name__
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust code that gave up; the class cannot be imported
            raise
        return None, "the parser failed"


def _stray(text: str) -> int:
    """The line at the margin of a mapping that is not an entry, or 0. libyaml allows lists and quoted texts there."""
    if text.lstrip()[:1] == "{":
        return 0
    found = re.search(r"(?m)^(?![\s#\]}]|[-?:](?:\s|$)|\.\.\.|[^\n]*:(?:\s|$)).", text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _plain(value: object) -> object:
    """The value with hidden characters put back, without marked keys, and without tags: to ryaml a key of their own."""
    if isinstance(value, str):
        return re.sub(_HIDDEN, lambda found: chr(ord(found[0]) - 0x100000), value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        key, item = next(iter(value.items()), (None, None))
        if len(value) == 1 and isinstance(key, str) and key.startswith("!"):
            return _plain(item)
        return {_plain(key): _plain(item) for key, item in value.items() if not str(key).startswith(_REPEATED)}
    return value


def _repair(front: str, *, colons: bool = True) -> tuple[str, list[str]]:
    """The text with troublesome values in quotes, and the keys that had them. # claude-code: rule-form-unquoted"""
    keys: list[str] = []
    troublesome = r"[{}\[\]*&#!|>%@`]" + (r"|: " if colons else "")

    def quoted(found: re.Match[str]) -> str:
        key, value = found.groups()
        if not re.search(troublesome, value) or _delimited(value):
            return found[0]
        keys.append(key)
        value = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{key}: "{value}"'

    # a line that ends in CR is not repaired: the agent was asked
    return re.sub(r"(?m)^([A-Za-z_-]+):[ \t]+(\S[^\r\n]*)$", quoted, front), keys


def quote_values(front: str) -> str:
    """The text with those values in quotes that an agent reads as if they were; the same text if none is.

    >>> quote_values("paths: *.ts\\nname: a")
    'paths: "*.ts"\\nname: a'
    """
    return _repair(front)[0] if parse(front).problem else front


def _delimited(value: str) -> bool:
    """Whether a value is wholly in quotes, or a list in brackets that parses by itself."""
    value = value.rstrip(SPACE)
    if value[0] == "[" and value[-1] == "]":
        return _load(value)[1] is None
    return value[0] in "\"'" and value[-1] == value[0]


def _without_place(error: str) -> str:
    """A message of ryaml without the lines it names: they count from the fence, and readers count from the top."""
    return re.sub(r" at line \d+ column \d+", "", error)


def _line(error: str, front: str) -> int:
    """The line that a message of ryaml names; it may be one after the last."""
    found = re.search(r" at line (\d+)", error)
    return min(int(found[1]), trim(front).count("\n") + 1) if found else 1
