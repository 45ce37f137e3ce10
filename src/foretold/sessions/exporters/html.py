"""A session as one HTML page: no script, nothing loaded from elsewhere, readable in light and dark.

Every text of the session is escaped; a policy in the page forbids whatever might slip through.
"""

from __future__ import annotations

from html import escape as escaped

from foretold.sessions.exporters.formatting import as_json, call_line, clock, taken_out, touched, visible
from foretold.sessions.exporters.prose import prose
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.secrets.redactor import Redactor
    from foretold.sessions.exporters.export import Choice
    from foretold.sessions.model import Message, Part, StoredSession

WHO = {"user": "User", "assistant": "Agent"}
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


def page(
    stored: StoredSession, messages: Iterator[Message], choice: Choice, redactor: Redactor | None
) -> Iterator[str]:
    """The pieces of the page."""
    title = escape(stored.title or stored.id)
    yield (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<style>\n{STYLE}\n</style>\n'
        f"<h1>{title}</h1>\n<p class=about>{_about(stored)}</p>\n"
    )
    files: dict[str, int] = {}
    last = ""
    for number, message in enumerate(messages, 1):
        for path, times in touched([message]).items():
            files[path] = files.get(path, 0) + times
        inside = "\n".join(piece for part in message.parts if (piece := _part(part, message, choice)))
        if inside:
            who = _who(message)
            yield _section(inside, message, who, number, is_more=last == who == "assistant")
            last = who
    if files:
        rows = "".join(f"<li><code>{escape(path)}</code></li>" for path in files)
        yield f"<footer><p>Files that were changed:</p><ul>{rows}</ul></footer>\n"
    taken = f"; {taken_out(len(redactor.found))}" if redactor and redactor.found else ""
    yield f"<footer>Exported by foretold{taken}.</footer>\n</html>\n"


def escape(text: str) -> str:
    return escaped(visible(text))


def _about(stored: StoredSession) -> str:
    day = clock(stored.started)
    told = (f"{stored.agent} {stored.version}".strip(), stored.model, stored.cwd, day)
    return " · ".join(escape(each) for each in told if each)


def _who(message: Message) -> str:
    """Who speaks; what a tool said belongs to the agent that called it."""
    if message.kind == "summary":
        return "summary"
    if all(part.kind in ("result", "image") for part in message.parts):
        return "assistant"
    return message.role if message.role in WHO else "system"


def _section(inside: str, message: Message, who: str, number: int, *, is_more: bool) -> str:
    if is_more:
        return f'<section class="{who} more" id="m{number}">\n{inside}\n</section>\n'
    moment = clock(message.time, "%H:%M")
    name = WHO.get(who, who.capitalize())
    return (
        f'<section class={who} id="m{number}">\n<h2>{name} <a class=when href="#m{number}">{moment}</a></h2>\n'
        f"{inside}\n</section>\n"
    )


def _part(part: Part, message: Message, choice: Choice) -> str:
    if part.kind == "text" and message.role == "assistant":
        return f"<div class=prose>{prose(visible(part.text.strip()))}</div>"
    if part.kind == "text":
        return f"<div class=said>{escape(part.text.strip())}</div>"
    if part.kind == "thinking":
        return f'<div class="said thinking">{escape(part.text.strip())}</div>'
    if part.kind == "image":
        return "<div class=said>(a picture)</div>"
    if part.kind == "call":
        if choice.brief:
            return ""
        given = as_json(part.input, 2) if part.input else ""
        return _folded(f"→ {call_line(part, 160)}", given)
    text = part.text or (as_json(part.raw) if part.raw is not None else "")
    count = text.count("\n") + 1
    label = f"{part.tool or part.kind}: {'failed, ' if part.failed else ''}{count:,} line{'s' if count > 1 else ''}"
    return _folded(label, text, failed=part.failed)


def _folded(label: str, text: str, *, failed: bool = False) -> str:
    kind = ' class="failed"' if failed else ""
    return f"<details{kind}><summary>{escape(label)}</summary><pre>{escape(text)}</pre></details>"
