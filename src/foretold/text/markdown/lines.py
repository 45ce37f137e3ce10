"""What one line of Markdown begins, ends or interrupts, for the agent's own parser.

The parser is near CommonMark and not the same. It was found by asking the agent, and it does what `marked` 15 does
with GFM off (`tests/oracles/test_markdown_oracle.py`):

1. A line begins, in this order of trial: indented code (four spaces or a tab), a fence, a heading (white space after
   the `#`), a thematic break, a quote, a list item (white space and a character after the mark, or nothing), HTML.
2. HTML is what begins with `<!--`, `<?`, `<!X`, `<![CDATA[`, a tag of a list of names, or a line that is one whole
   tag of any name. Except for that last kind it need not be alone on its line.
3. A paragraph is interrupted by headings, quotes, fences, bullets and the number 1, thematic breaks, and without
   indentation and in lower case by `<!--` and tags of the list. Not by `<?`, nor by a comment that is indented.
   (13.8 of the specification)
4. An item of a list ends at a line that begins anything, unless it is indented to the text of the item.
"""

from __future__ import annotations

import re

from foretold.text.frontmatter import SPACE as SPACES
from foretold.text.patterns import lazy

#: `SPACES` in a regular expression; a set of such characters would take long to compile
SPACE = r"(?:[^\S\x1c-\x1f\x85]|\ufeff)"
NO_SPACE = r"(?:[^\s\ufeff]|[\x1c-\x1f\x85])"
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
#: a line that begins with one of these begins no block but a definition
PLAIN = LETTERS | frozenset("!\"$%&'(),./:;?@[\\]^{|}")
_BLANKS = frozenset(SPACES)
_MARKS = frozenset("*+-0123456789")
TAGS = frozenset(
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem meta nav noframes ol optgroup option p param search section summary table tbody td tfoot th "
    "thead title tr track ul".split()
)
BLANK_LINE = "\n"  #: the mark that ends HTML which begins with a tag

_RULE = lazy(r" {0,3}(?:(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,}|(?:\*[ \t]*+){3,})\Z")
_FENCE = lazy(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_FENCE_END = lazy(r" {0,3}(`{3,}|~{3,})[~`]* *\Z")
_HEADING = lazy(rf" {{0,3}}#{{1,6}}(?:{SPACE}|\Z)")
_MARK = lazy(r" {0,3}(?:[*+-]|[0-9]{1,9}[.)])(?=[ \t]|\Z)")
_RAW_TAG = lazy(rf"<(script|pre|style|textarea)(?:>|{SPACE}|\Z)", re.IGNORECASE)
_TAG = lazy(r"</?([a-z][a-z0-9]*)(?: |/?>|\Z)", re.IGNORECASE)
_WHOLE_TAG = lazy(
    r"<(?!script|pre|style|textarea)[a-z][\w-]*+"
    r"""(?: ++[a-z:_][\w.:-]*+(?: *+= *+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?)* */?>[ \t]*\Z"""
    r"|</(?!script|pre|style|textarea)[a-z][\w-]*\s*>[ \t]*\Z",
    re.IGNORECASE | re.ASCII,
)
_UNDERLINE = lazy(r" {0,3}(?:=+|-+) *\Z")
_NO_TITLE = lazy(r"(?:[*+-]|[0-9]{1,9}[.)]) | {4}| {0,3}(?:\t|```|~~~|>|#|<[^>]+>\Z)")
_INTERRUPT = lazy(
    rf" {{0,3}}(?:#{{1,6}}(?:{SPACE}|\Z)|>|`{{3,}}(?!.*`)|~~~|(?:[*+-]|1[.)]) )"
    r"| *\Z|<(?:script|pre|style|textarea|!--)"
)
_ENDS_ITEM = lazy(r"```|~~~|#|<(?:[a-zA-Z].*>|!--)")
_ENDS_LAZINESS = lazy(r"```|~~~|#")
_DEFINITION = lazy(
    rf" {{0,3}}\[(?!{SPACE}*\])((?:\\.|[^\[\]\\])+)\]: *(?:\n[ \t]*)?(?:(?!<){NO_SPACE}+|<.*?>)"
    r"""(?:(?: +(?:\n[ \t]*)?| *\n[ \t]*)(?:"(?:\\"?|[^"\\])*"|'[^'\n]*(?:\n[^'\n]+)*\n?'|\([^()]*\)))? *(?:\n|\Z)"""
)


def kind_of(line: str) -> str:
    """What a line begins where it may begin anything; nothing if it is plain text."""
    if line[:1] in PLAIN:
        return ""
    text = line.lstrip(" ")
    first = text[:1]
    if first in ("", "\t") and not text.strip(" \t"):
        return "blank"
    if first == "\t" or len(line) - len(text) > 3:
        return "code"
    if first in _MARKS or first == "_":
        mark = _MARK.match(line)
        return "rule" if is_rule(line) else "list" if mark and len(line) != mark.end() + 1 else ""
    if first == "#":
        return "heading" if _HEADING.match(line) and not _has_separator(line) else ""
    if first == "<":
        return "html" if html_end(text) else ""
    if first in ("`", "~"):
        return "fence" if _FENCE.match(line) else ""
    return "quote" if first == ">" else ""


def is_blank(line: str) -> bool:
    """Whether there is nothing but white space in a line."""
    return not line or (line[-1] in _BLANKS and not line.strip(SPACES))


def _has_separator(line: str) -> bool:
    return not line.isascii() and ("\u2028" in line or "\u2029" in line)


def html_end(text: str) -> str:
    """The mark that ends the HTML which begins with this text; empty if none begins."""
    if text.startswith("<!--"):
        return "-->"
    if text.startswith("<?"):
        return "?>"
    if text.startswith("<!"):
        return "]]>" if text[:9].upper() == "<![CDATA[" else ">" if text[2:3] in LETTERS else ""
    raw = _RAW_TAG.match(text)
    if raw:
        return f"</{raw[1].lower()}>"
    tag = _TAG.match(text)
    return BLANK_LINE if (tag and tag[1].lower() in TAGS) or _WHOLE_TAG.match(text) else ""


def fence_of(line: str) -> str:
    """The fence that a line opens."""
    fence = _FENCE.match(line)
    return fence[1] if fence else ""


def closes_fence(line: str, fence: str) -> bool:
    """Whether a line closes a fence: as long, or longer."""
    if fence not in line:
        return False
    closing = _FENCE_END.match(line)
    return closing is not None and closing[1].startswith(fence)


def is_rule(line: str) -> bool:
    return line.rstrip(" \t")[-1:] in ("-", "_", "*") and bool(_RULE.match(line))


def is_underline(line: str) -> bool:
    return bool(_UNDERLINE.match(line))


def is_no_title(line: str) -> bool:
    """Whether a line cannot be part of a heading that has an underline."""
    return is_blank(line) or bool(_NO_TITLE.match(line)) or _has_separator(line)


def interrupts(line: str) -> bool:
    """Whether a line ends the paragraph before it."""
    if _INTERRUPT.match(line) or _RULE.match(line):
        return True
    tag = _TAG.match(line)
    return tag is not None and tag[1] in TAGS


def mark_of(line: str) -> str:
    """The mark of a list item, with its indentation."""
    mark = _MARK.match(line)
    return mark[0] if mark else ""


def ends_item(line: str, near: int) -> bool:
    """Whether a line ends a list item, if it is indented by no more than `near`."""
    text = line.lstrip(" ")
    if len(line) - len(text) > near:
        return False
    if text[:1] in _MARKS:
        return bool(_MARK.match(text) or _RULE.match(text))
    return bool(_ENDS_ITEM.match(text) or _RULE.match(text))


def ends_laziness(line: str, near: int) -> bool:
    """Whether no lazy line can follow this line of a list item."""
    line = line.replace("\t", "    ")
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    return (indent > 3 and bool(text)) or (indent <= near and bool(_ENDS_LAZINESS.match(text) or _RULE.match(text)))


def parse_definition(text: str) -> tuple[str, int] | None:
    """The label of the link definition that a text begins with, and how many lines it has."""
    found = _DEFINITION.match(text)
    return (found[1], found[0].rstrip("\n").count("\n") + 1) if found else None
