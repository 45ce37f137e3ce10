"""A session as one HTML page: no script, nothing loaded from elsewhere, readable in light and dark.

1. Every text of the session is escaped; a policy in the page forbids anything that might slip through.
2. Markdown that a model wrote becomes HTML: the tags are ours, from a table; every text is escaped, raw HTML too.
3. A link leads only to http, https or mailto; a picture is only its text.
4. A text that would take long to parse (deeply nested, or very long) is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape as escaped

from foretold.sessions.exporters.formatting import (
    SPEAKERS,
    describe_removed,
    facts_of,
    format_call,
    format_json,
    is_encodable,
    make_visible,
    output_of,
    page_texts,
)
from foretold.text.markdown.inline import whole_events
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor
    from foretold.sessions.exporters.export import Choice
    from foretold.sessions.model import Message, Part, StoredSession


STYLE = """\
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --user: #2a6df418; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
.about, .when { color: #888; font-size: .85rem; overflow-wrap: anywhere; }
section { margin: 1.25rem 0; padding: .25rem 1rem; border-left: 3px solid var(--line); }
section + section.more { margin-top: -1.25rem; padding-top: 0; }
section.user { background: var(--user); border-color: #2a6df4; border-radius: 0 .5rem .5rem 0; }
section.summary, section.system { background: var(--soft); }
h2 { font-size: .85rem; margin: .5rem 0; display: flex; gap: .75rem; align-items: baseline; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
.prose { overflow-wrap: anywhere; }
.prose pre { border: 1px solid var(--line); border-radius: .4rem; }
.prose h3 { font-size: 1.05rem; margin: 1rem 0 .25rem; }
.prose code { font: .88em ui-monospace, monospace; background: var(--soft); padding: .1em .25em; border-radius: .25em; }
.prose a { text-decoration: underline; }
.prose td { border: 1px solid var(--line); padding: .2rem .5rem; }
.prose table { border-collapse: collapse; }
.prose blockquote { border-left: 3px solid var(--line); margin-left: 0; padding-left: 1rem; color: #888; }
details { margin: .35rem 0; border: 1px solid var(--line); border-radius: .4rem; }
summary { cursor: pointer; padding: .3rem .6rem; font: .85rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
details.failed summary { color: #c33; }
pre { font: .8rem/1.45 ui-monospace, monospace; margin: 0; padding: .6rem; white-space: pre-wrap;
      overflow-wrap: anywhere; border-top: 1px solid var(--line); background: var(--soft); }
.thinking { color: #888; font-style: italic; }
a { color: inherit; text-decoration: none; }
footer { margin-top: 3rem; color: #888; font-size: .85rem; }"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_page(
    stored: StoredSession, messages: Iterator[Message], choice: Choice, redactor: Redactor | None
) -> Iterator[str]:
    """The pieces of the page."""
    title = escape(stored.title or stored.id)
    about = " · ".join(map(escape, facts_of(stored, "%Y-%m-%d %H:%M")))
    yield (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<style>\n{STYLE}\n</style>\n'
        f"<h1>{title}</h1>\n<p class=about>{about}</p>\n"
    )
    files: dict[str, None] = {}
    texts = page_texts(messages, choice, _render_part, "\n", files)
    for number, (speaker, time, text, is_more) in enumerate(texts, 1):
        when = f'<a class=when href="#m{number}">{time}</a>'
        kind = f'"{speaker} more"' if is_more else speaker
        heading = "" if is_more else f"<h2>{SPEAKERS[speaker]} {when}</h2>\n"
        yield f'<section class={kind} id="m{number}">\n{heading}{text}\n</section>\n'
    if files:
        rows = "".join(f"<li><code>{escape(path)}</code></li>" for path in files)
        yield f"<footer><p>Files that were changed:</p><ul>{rows}</ul></footer>\n"
    said = "; ".join(filter(None, ("Exported by foretold", describe_removed(redactor))))
    yield f"<footer>{said}.</footer>\n</html>\n"


def escape(text: str) -> str:
    return escaped(make_visible(text))


def _render_part(part: Part, role: str) -> str:
    if part.kind == "text" and role == "assistant":
        return f"<div class=prose>{render_markdown(make_visible(part.text.strip()))}</div>"
    if part.kind == "text":
        return f"<div class=said>{escape(part.text.strip())}</div>"
    if part.kind == "thinking":
        return f'<div class="said thinking">{escape(part.text.strip())}</div>'
    if part.kind == "image":
        return "<div class=said>(a picture)</div>"
    if part.kind == "call":
        given = format_json(part.input, 2) if part.input else ""
        return _details(f"→ {format_call(part, 160)}", given)
    text = output_of(part)
    count = text.count("\n") + 1
    label = f"{part.tool or part.kind}: {'failed, ' if part.failed else ''}{count:,} line{'s' if count > 1 else ''}"
    return _details(label, text, failed=part.failed)


def _details(label: str, text: str, *, failed: bool = False) -> str:
    kind = ' class="failed"' if failed else ""
    return f"<details{kind}><summary>{escape(label)}</summary><pre>{escape(text)}</pre></details>"


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
TEXTS = ("Text", "Html", "InlineHtml", "InlineMath", "DisplayMath")
SAFE = ("http://", "https://", "mailto:")
_NESTING = lazy(r"[\[\]<>*_(|`~]")


def render_markdown(text: str) -> str:
    """Markdown as HTML.

    >>> render_markdown("A **b** <script>x</script> [l](javascript:x)")
    '<p>A <strong>b</strong> &lt;script&gt;x&lt;/script&gt; <a>l</a></p>\\n'
    """
    is_short = is_encodable(text) and len(text) <= LONGEST
    if not is_short or any(len(_NESTING.findall(part)) > DEEPEST for part in text.split("\n\n")):
        return f"<div class=said>{escaped(text)}</div>\n"
    out: list[str] = []
    ordered: list[str] = []
    for event in whole_events(text):
        out.append(PLAIN.get(event, "") if isinstance(event, str) else _render_event(event, ordered))
    return "".join(out)


def _render_event(event: Mapping[str, object], ordered: list[str]) -> str:
    """One event as HTML; `ordered` are the lists that are open."""
    (kind, value), *_ = event.items()
    if kind in TEXTS:
        return escaped(str(value))
    if kind == "Code":
        return f"<code>{escaped(str(value))}</code>"
    if kind == "TaskListMarker":
        return "☑ " if value else "☐ "
    name = value if isinstance(value, str) else next(iter(value)) if isinstance(value, dict) else ""
    if kind not in ("Start", "End") or not isinstance(name, str):
        return ""
    if name == "List":
        return _render_list(kind, value, ordered)
    tag = TAGS.get(name, "")
    if kind == "End" and tag:
        return f"</{tag}>" + ("\n" if tag in ("p", "pre", "li", "h3", "table", "tr", "blockquote") else "")
    return f"<{tag}{_href_of(value)}>" if tag else ""


def _render_list(kind: str, value: object, ordered: list[str]) -> str:
    if kind == "Start":
        number = value["List"] if isinstance(value, dict) else None
        ordered.append("ul" if number is None else "ol")
        start = f' start="{int(number)}"' if isinstance(number, int) and number != 1 else ""
        return f"<{ordered[-1]}{start}>\n"
    return f"</{ordered.pop()}>\n" if ordered else ""


def _href_of(value: object) -> str:
    """The attribute of a link, if that leads somewhere safe."""
    link = value.get("Link") if isinstance(value, dict) else None
    url = link.get("dest_url") if isinstance(link, dict) else None
    return f' href="{escaped(url)}" rel="noreferrer"' if isinstance(url, str) and url.startswith(SAFE) else ""
