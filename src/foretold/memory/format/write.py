"""What Claude Code makes of a memory file after it wrote it: the frontmatter is normalized.

It does so after a Write or Edit of a `.md` file in the memory folder. Letters in brackets are those of rule 33.

1. Text without frontmatter is unchanged, and so is text with a non-empty `originSessionId`, at the top level or in
   `metadata` [a].
2. Otherwise the keys are `name`, `description` (if it is a non-empty string) and `metadata`, in this order [b].
3. `metadata` has `node_type: memory`, then every other top-level key, then the former `metadata`, then
   `originSessionId`. A later value replaces an earlier one in its place; null is dropped [c].
4. A `name` of lower-case letters, digits, `_` and `-` is kept; any other string becomes one: in lower case, with
   `-` for everything between letters and digits. A value that is not a string is empty [e].
5. Frontmatter that is not valid, or is not a mapping, has no values: its content is lost [f2].
6. A blank line follows, then the body without leading white space [g].

Later versions (2.1.325) preserve more:

7. The frontmatter must end with a separate line, and have readable content; otherwise the file is unchanged.
8. A comment after a top-level value, and an anchor or a tag before it, become part of the text if the value is a
   string or null. Where that is not possible (numbers, lists, quoted or block strings, aliases, keys with characters
   other than letters, digits, `_`, `.` and `-`), the file is not normalized. Comments elsewhere are lost.
9. In a file that is not normalized, or has an `originSessionId`, only the time is noted: `modified:` is replaced where
   it is, or added at the end of `metadata`, or, without that, at the end. If this would change anything else, or
   `metadata` has another shape, the file is unchanged.

Hostile text costs bounded time and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foretold.memory.format.yaml import STYLE, YamlStyle, number, write_yaml
from foretold.text.frontmatter import MAX_LENGTH, parse, split, trim


def normalize_note(content: str, session: str, style: YamlStyle = STYLE, now: str = "") -> str:
    """The text that a memory file has after a session of this id has written the content.

    With a careful style, `now` is the time, as the agent writes it: `2026-01-02T03:04:05.678Z`.
    """
    front, body = split(content, after_bom=False)
    if front is None:
        return content
    given, valid = read_frontmatter(front)
    if style.careful and not (ends_on_own_line(content) and (given or not trim(front)) and "\0" not in front):
        return content
    values = values_with_comments(front, given, valid=valid) if style.careful else given
    inside = given.get("metadata")
    origins = (each.get("originSessionId") for each in (given, inside) if isinstance(each, dict))
    if values is None or any(isinstance(each, str) and each for each in origins):
        return _note_time(content, front, now) if style.careful else content
    name, description, inner = (values.pop(key, None) for key in ("name", "description", "metadata"))
    moved = {key: value for key, value in values.items() if value is not None}
    metadata: dict[str, object] = {"node_type": "", **moved, **(inner if isinstance(inner, dict) else {})}
    metadata |= {"node_type": "memory", "originSessionId": session}
    if style.careful:
        metadata["modified"] = now
    named = note_name(name) if isinstance(name, str) else ""
    return render_note(named, description if isinstance(description, str) else "", metadata, body, style)


def _note_time(content: str, front: str, now: str) -> str:
    """The content with the time noted, if that changes nothing else."""
    found = _with_time(content, now)
    new, old = read_frontmatter(split(found, after_bom=False)[0] or "")[0], read_frontmatter(front)[0]
    for values in (new, old):
        inner = values.get("metadata")
        at = inner if isinstance(inner, dict) and "modified" not in values else values
        if at.pop("modified", now) != now and values is new:
            return content
    if new.get("metadata") == {} and not old.get("metadata"):
        del new["metadata"], old["metadata"]
    return found if new == old else content


def render_note(
    name: str, description: str, metadata: Mapping[str, object], body: str, style: YamlStyle = STYLE
) -> str:
    """A memory file as the agent stores it."""
    values: dict[str, object] = {"name": name}
    if description:
        values["description"] = description
    values["metadata"] = {key: value for key, value in metadata.items() if value is not None}
    return f"---\n{write_yaml(values, style)}\n---\n\n{body}"


def render_flat(name: str, description: str, metadata: Mapping[str, object], body: str) -> str:
    """A memory file in the older form: `name`, `description` and `type` next to each other.

    >>> print(render_flat("user role", "a data scientist", {"type": "user"}, "Works on logging."))
    ---
    name: user role
    description: a data scientist
    type: user
    ---
    Works on logging.
    """
    said = {"type": metadata.get("type"), "node_type": "memory", "title": name}
    rest = {key: value for key, value in metadata.items() if value is not None and said.get(key) != value}
    values: dict[str, object] = {"name": name, "description": description, "type": said["type"]}
    values = {key: value for key, value in values.items() if value}
    return f"---\n{write_yaml(values | ({'metadata': rest} if rest else {}))}\n---\n{body}"


def note_name(text: str) -> str:
    """A name as the agent stores it."""
    if re.fullmatch(r"[a-z0-9_-]+", text):
        return text
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


# Reading

_NUMBER = r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?|[-+]?0x[0-9a-fA-F]++|[-+]?0o[0-7]++"
_OTHER = r"0b[01]++|null|Null|NULL|~|true|True|TRUE|false|False|FALSE|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_BEFORE = r"(?:[:\-?,][ \t]++|[\[{,]\s*+|(?::|(?<=\s)-)[ \t]*+\r?\n[ \t]++|^[ \t]*+(?=[^\n:]*+:(?:\s|$)))"
_PLAIN = re.compile(rf"(?m)({_BEFORE})({_NUMBER}|{_OTHER})(?=\s*+[,\]}}]|[ \t]*+(?:\r?$|:(?:\s|$)|[ \t]#))")
MARKS = "\ue101\ue203\ue307\ue40b\ue50d"  #: one of them that a text has not is put before words in it
_QUOTED = re.compile(r"""(?<=[\s\[{,])(?:"[^"\\]*+(?:\\.[^"\\]*+)*"|'[^']*+')""", re.DOTALL)


def read_frontmatter(front: str) -> tuple[dict[str, object], bool]:
    """The values of a frontmatter as the agent reads them, and whether it is valid as written.

    Numbers and keys are those of JavaScript: every plain word that is not a string is marked before the rest is parsed.
    """
    front = front.partition("\0")[0]  # stored_more: raw0
    folded = front.lower()
    mark = next((mark for mark in MARKS if mark not in folded and f"{ord(mark):x}" not in folded), "")
    if not mark or len(front) > MAX_LENGTH:
        values, problem, _ = parse(front)
        return values, problem is None
    text = re.sub(r"(?<=[\s\[{,])!!(?:int|float|bool|null)[ \t]++", "", front)  # stored_more: x-tag
    if "\r" in text:
        # CR before LF: in quotes a line end counts once more, and no such line is repaired # stored_more: h-dq, h-bad
        text = _QUOTED.sub(lambda found: re.sub(r"((?:[ \t]*+\r\n)+)", r"\1\n", found[0]), text)
        text = re.sub(r"(?m)^(?=[A-Za-z_-]++:[ \t]++\S[^\n]*\r$)", mark, text)
    values, problem, _ = parse(_PLAIN.sub(rf"\1{mark}\2", text))
    resolved = _resolve(values, mark)
    assert isinstance(resolved, dict)
    return resolved, problem is None


def _resolve(value: object, mark: str) -> object:
    if isinstance(value, str):
        text = value.replace(mark, "")
        return _word(text) if value == mark + text else text
    if isinstance(value, list):
        return [_resolve(item, mark) for item in value]
    if isinstance(value, dict):
        return _merge_keys({_key(_resolve(key, mark)): _resolve(item, mark) for key, item in value.items()})
    return value


def _word(text: str) -> object:
    """The value of a plain word."""
    if re.fullmatch(_NUMBER, text):
        base = {"x": 16, "o": 8}.get(text.lstrip("+-")[1:2])
        if base is None:
            return float(text)
        found = int(text.replace("0x", "").replace("0o", ""), base)
        return float(found) if abs(found) < 1 << 64 else text  # stored_more: f-odd36
    small = text.lower().lstrip("+")
    if small in (".inf", "-.inf", ".nan"):
        return float(small.replace(".", ""))
    return {"null": None, "~": None, "true": True, "false": False}.get(small, text)


def _key(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    return number(value or 0) if isinstance(value, int | float) else str(value)


def _merge_keys(values: dict[str, object]) -> dict[str, object]:
    """A mapping with what `<<` names in it. # stored_more: g-merge1"""
    given = values.get("<<")
    sources = given if isinstance(given, list) else [given]
    if "<<" not in values or not all(isinstance(source, dict) for source in sources):
        return values
    found: dict[str, object] = {}
    for key, value in values.items():
        for each in sources if key == "<<" else ({key: value},):
            assert isinstance(each, dict)
            for name, item in each.items():
                found.setdefault(name, values.get(name, item))
    return found


Values = dict[str, object]
_LINE = re.compile(r"(?m)^(?![\s#?\-])([^\n:]*+(?::(?!\s)[^\n:]*+)*):[ \t]++(\S[^\n]*?)\r?$")
_QUOTED_LINE = r""""[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+'"""
_COMMENT = re.compile(r"(?:^|[ \t])#")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]+")
_STAMP = re.compile(r"""(?m)^([ \t]*+modified:)(?:(?=[ \t]*+["'])[^\r\n]*|[^\r\n]*?)(?=[ \t]+#|\r?$)""")
_BLOCK = re.compile(r"(?m)^metadata:[ \t]*(?:#[^\r\n]*)?(\r?\n|\Z)((?:(?:[ \t][^\n]*|\r?)(?:\n|\Z))*)")


def ends_on_own_line(content: str) -> bool:
    """Whether the frontmatter of a text ends with a separate line."""
    end = content.find("---", 3)
    return content[end - 1] == "\n" and bool(re.match(r"[ \t]*\r?(?:\n|\Z)", content[end + 3 :]))


def values_with_comments(front: str, values: Values, *, valid: bool) -> Values | None:
    """The values with the comments, anchors and tags on their lines; None if those cannot be kept.

    `valid` says whether the frontmatter is valid YAML, or was repaired to be read.
    """
    found = dict(values)
    for line in _LINE.finditer(front):
        key, rest = line[1], line[2]
        if not (_has_comment(rest) or rest[0] in "&!*"):
            continue
        indented = front[line.end() + 1 : line.end() + 2] in (" ", "\t")
        if indented and rest[0] in "[{":
            continue
        if not valid:
            if _is_doubtful(rest) if _PLAIN_KEY.fullmatch(key) else _has_comment(rest):
                return None
        elif _is_kept(key, rest, found.get(key), front) and not indented:
            found[key] = rest
        elif _has_comment(rest) or (
            _PLAIN_KEY.fullmatch(key) and (indented or not isinstance(found.get(key), int | float | dict | list))
        ):
            return None
    return found


def _has_comment(rest: str) -> bool:
    if rest[0] in "\"'":
        end = re.match(_QUOTED_LINE, rest)
        return bool(_COMMENT.search(rest, end.end() if end else 0))
    return bool(_COMMENT.search(re.sub(_QUOTED_LINE, "", rest) if rest[0] in "[{" else rest))


def _is_kept(key: str, rest: str, value: object, front: str) -> bool:
    """Whether a value of valid YAML can be taken as its literal text."""
    anchor = re.match(r"&(\S+)", rest)
    if rest[0] in "\"'|>*" or (anchor and re.search(rf"\*{re.escape(anchor[1])}(?:[\s,\]}}]|$)", front)):
        return False
    return bool(_PLAIN_KEY.fullmatch(key)) and (value is None or isinstance(value, str))


def _is_doubtful(rest: str) -> bool:
    """Whether the meaning of a value in a repaired frontmatter is unclear."""
    alone = parse(f"a: {rest}")
    if alone.problem is None:
        return _has_comment(rest) or not isinstance(alone.values.get("a"), dict | list)
    return _has_comment(rest) and rest[0] not in "`@*%[{&!,"


def _with_time(content: str, now: str) -> str:
    """The content with the time of its change noted; unchanged where there is no place for that."""
    end = content.find("---", 3)
    begin = content.find("\n") + 1
    front = content[begin:end]
    stamps = list(_STAMP.finditer(front))
    if len(stamps) == 1:
        front = f"{front[: stamps[0].end(1)]} {now}{front[stamps[0].end() :]}"
    elif stamps or re.search(r"""(?m)^\s*["']modified["']\s*:""", front):
        return content
    else:
        front = _with_line(front, f"modified: {now}")
    return content[:begin] + front + content[end:]


def _with_line(front: str, line: str) -> str:
    block = _BLOCK.search(front)
    if block is None:
        if re.search(r"(?m)^metadata:", front):
            return front
        return front + line + ("\r\n" if front.endswith("\r\n") else "\n")
    rows = block[2].rstrip(" \t\r\n")
    at = block.start(2) + len(rows)
    at = front.find("\n", at) + 1 if rows else block.start(2)
    indent = re.match(r"\s*?([ \t]+)\S", block[2])
    return f"{front[:at]}{indent[1] if indent else '  '}{line}{block[1]}{front[at:]}"
