"""Markdown that a model wrote as HTML that can do no harm.

1. The tags that are written are ours, from a table; every text is escaped, raw HTML too: it is shown, not followed.
2. A link leads only to http, https or mailto; a picture is only its text.
3. What would take long to parse (deeply nested, or very long) is shown as the text it is.
"""

from __future__ import annotations

from html import escape

from foretold.sessions.exporters.formatting import is_text
from foretold.text.markdown.inline import whole_events
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST, DEEPEST = 60_000, 400
TAGS = {
    "Paragraph": "p",
    "BlockQuote": "blockquote",
    "Item": "li",
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "s",
    "Table": "table",
    "TableRow": "tr",
    "TableHead": "tr",
    "TableCell": "td",
    "CodeBlock": "pre",
    "Heading": "h3",
    "Link": "a",
    "Image": "span",
}
PLAIN = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}
LEAVES = ("Text", "Html", "InlineHtml", "InlineMath", "DisplayMath")
SAFE = ("http://", "https://", "mailto:")
_NESTING = lazy(r"[\[\]<>*_(|`~]")


def prose(text: str) -> str:
    """A text of Markdown as HTML.

    >>> prose("A **b** <script>x</script> [l](javascript:x)")
    '<p>A <strong>b</strong> &lt;script&gt;x&lt;/script&gt; <a>l</a></p>\\n'
    """
    if not is_text(text) or len(text) > LONGEST or max(_runs(text), default=0) > DEEPEST:
        return f"<div class=said>{escape(text)}</div>\n"
    out: list[str] = []
    ordered: list[str] = []
    for event in whole_events(text):
        out.append(PLAIN.get(event, "") if isinstance(event, str) else _tagged(event, ordered))
    return "".join(out)


def _runs(text: str) -> list[int]:
    """How many marks that may nest stand in each paragraph."""
    return [len(_NESTING.findall(part)) for part in text.split("\n\n")]


def _tagged(event: Mapping[str, object], ordered: list[str]) -> str:
    """One event as HTML; `ordered` are the lists that are open."""
    (kind, value), *_ = event.items()
    if kind in LEAVES:
        return escape(str(value))
    if kind == "Code":
        return f"<code>{escape(str(value))}</code>"
    if kind == "TaskListMarker":
        return "☑ " if value else "☐ "
    name = value if isinstance(value, str) else next(iter(value)) if isinstance(value, dict) else ""
    if kind not in ("Start", "End") or not isinstance(name, str):
        return ""
    if name == "List":
        return _list(kind, value, ordered)
    tag = TAGS.get(name, "")
    if not tag:
        return ""
    if kind == "End":
        return f"</{tag}>" + ("\n" if tag in ("p", "pre", "li", "h3", "table", "tr", "blockquote") else "")
    return f"<{tag}{_target(value)}>"


def _list(kind: str, value: object, ordered: list[str]) -> str:
    if kind == "Start":
        number = value["List"] if isinstance(value, dict) else None
        ordered.append("ul" if number is None else "ol")
        start = f' start="{int(number)}"' if isinstance(number, int) and number != 1 else ""
        return f"<{ordered[-1]}{start}>\n"
    return f"</{ordered.pop()}>\n" if ordered else ""


def _target(value: object) -> str:
    """Where a link leads, if that is somewhere safe."""
    link = value.get("Link") if isinstance(value, dict) else None
    url = link.get("dest_url") if isinstance(link, dict) else None
    return f' href="{escape(url)}" rel="noreferrer"' if isinstance(url, str) and url.startswith(SAFE) else ""
