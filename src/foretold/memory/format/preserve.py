"""How later versions of Claude Code (2.1.325) keep what a frontmatter says when they store a memory file.

1. The frontmatter must end with a line of its own, and say something that can be read; otherwise the file stays as it
   is.
2. A comment behind a value at the margin, and an anchor or a tag before it, are taken as part of the text, if the value
   is a text or null. Where that cannot be (numbers, lists, quoted or block texts, aliases, keys of more than letters,
   digits, `_`, `.` and `-`), the file is not put in the agent's form. Comments elsewhere are lost.
3. Of a file that is not put in form, or has an `originSessionId`, only the time is noted: `modified:` is replaced where
   it stands, or added at the end of `metadata`, or, without that, at the end. If this would change anything else, or
   `metadata` has another shape, the file stays as it is.
"""

from __future__ import annotations

import re

from foretold.text.frontmatter import parse

Values = dict[str, object]
_LINE = re.compile(r"(?m)^(?![\s#?\-])([^\n:]*+(?::(?!\s)[^\n:]*+)*):[ \t]++(\S[^\n]*?)\r?$")
_QUOTED = r""""[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+'"""
_COMMENT = re.compile(r"(?:^|[ \t])#")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]+")
_STAMP = re.compile(r"""(?m)^([ \t]*+modified:)(?:(?=[ \t]*+["'])[^\r\n]*|[^\r\n]*?)(?=[ \t]+#|\r?$)""")
_BLOCK = re.compile(r"(?m)^metadata:[ \t]*(?:#[^\r\n]*)?(\r?\n|\Z)((?:(?:[ \t][^\n]*|\r?)(?:\n|\Z))*)")


def ends_on_a_line(content: str) -> bool:
    """Whether the frontmatter of a text ends with a line of its own.

    >>> ends_on_a_line("---\\na: b\\n---\\n"), ends_on_a_line("---\\na: b --- c\\n---\\n")
    (True, False)
    """
    end = content.find("---", 3)
    return content[end - 1] == "\n" and bool(re.match(r"[ \t]*\r?(?:\n|\Z)", content[end + 3 :]))


def whole_values(front: str, values: Values, *, valid: bool) -> Values | None:
    """The values with what stands beside them on their lines; None if that cannot be kept.

    `valid` says whether the frontmatter is valid YAML, or was mended to be read.

    >>> whole_values("a: b # c\\n", {"a": "b"}, valid=True), whole_values("a: 5 # c\\n", {"a": 5.0}, valid=True)
    ({'a': 'b # c'}, None)
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
        end = re.match(_QUOTED, rest)
        return bool(_COMMENT.search(rest, end.end() if end else 0))
    return bool(_COMMENT.search(re.sub(_QUOTED, "", rest) if rest[0] in "[{" else rest))


def _is_kept(key: str, rest: str, value: object, front: str) -> bool:
    """Whether a value of valid YAML can be taken as the text that stands there."""
    anchor = re.match(r"&(\S+)", rest)
    if rest[0] in "\"'|>*" or (anchor and re.search(rf"\*{re.escape(anchor[1])}(?:[\s,\]}}]|$)", front)):
        return False
    return bool(_PLAIN_KEY.fullmatch(key)) and (value is None or isinstance(value, str))


def _is_doubtful(rest: str) -> bool:
    """Whether it is not clear what was meant by a value in a frontmatter that was mended."""
    alone = parse(f"a: {rest}")
    if alone.problem is None:
        return _has_comment(rest) or not isinstance(alone.values.get("a"), dict | list)
    return _has_comment(rest) and rest[0] not in "`@*%[{&!,"


def stamped(content: str, now: str) -> str:
    r"""The content with the time of its change noted; as it is where there is no place for that.

    >>> stamped("---\nmetadata:\n  a: b\n---\n", "2026-01-02")
    '---\nmetadata:\n  a: b\n  modified: 2026-01-02\n---\n'
    """
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
