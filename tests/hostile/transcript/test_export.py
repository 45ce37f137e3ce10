"""Attacks by what a transcript says: its author is a model, a web page that it read, or whoever sent the file."""

import json
import uuid

import pytest

from foretold.dialects.claude_code.settings import slug


def transcript(place, *texts):
    """A session whose assistant says the texts; its id."""
    name, parent, lines = str(uuid.uuid4()), None, []
    for number, text in enumerate(("hello", *texts)):
        own, role = str(uuid.uuid4()), "assistant" if number else "user"
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        message |= {"id": f"msg_{number}", "model": "m", "type": "message"} if number else {}
        record = {"type": role, "uuid": own, "parentUuid": parent, "sessionId": name, "cwd": place.proj}
        lines.append(json.dumps(record | {"timestamp": "2026-01-02T03:04:05.000Z", "version": "2", "message": message}))
        parent = own
    place.write(f"home/.claude/projects/{slug(place.proj)}/{name}.jsonl", "\n".join(lines) + "\n")
    return name


# Links that run something

TARGETS = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "&#106;avascript:alert(1)",
    "&#x6A;avascript&colon;alert(1)",
    "java&Tab;script:alert(1)",
    "java&NewLine;script&#58;alert(1)",
    "javascript\\:alert(1)",
    "&#32;&#1;javascript:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,&lt;script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "file:///etc/passwd",
    "view-source:x",
]
SHAPES = [
    "[a]({})",
    "[a](  {})",
    "[a](\n{})",
    "> [a](\n> {})",
    "[a][b]\n\n[b]: {}",
    "[b]:\n  {}\n\n[b]",
    "[a](<{}>)",
    "<{}>",
]


def links_of(text):
    """The targets of the links that a Markdown renderer would make."""
    from foretold.text.markdown.inline import whole_events

    found = []
    for event in whole_events(text):
        start = event.get("Start") if isinstance(event, dict) else None
        for tag in ("Link", "Image"):
            if isinstance(start, dict) and tag in start:
                found.append(start[tag]["dest_url"])
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_exported_markdown_has_no_link_that_runs_something(place, installed, target):
    place.folder("proj/.git")
    safe = "See [the docs](https://example.org/a_(b)) and [a file](docs/x.md)."
    name = transcript(place, safe, *(shape.format(target) for shape in SHAPES))
    code, out, _ = installed.run("sessions", "export", name, "--home", place.home)
    assert code == 0
    assert links_of(out.decode()) == ["https://example.org/a_(b)", "docs/x.md"]
