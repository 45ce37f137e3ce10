"""From entries to the exact text and blocks that the model receives.

1. At the start: a header, then each entry under its heading with its description, trimmed, joined by empty lines,
   inside the dialect's envelope.
2. For a touched file: each entry under a heading without description, not trimmed. The form depends on the family
   of the model: blocks of the user, one system message, or text after the tool's own result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foretold.dialects.schema import Dialect, Placement, Template
from foretold.dialects.surroundings import Surroundings
from foretold.instructions.render.escape import escape_fallback, escape_reserved, escape_tag
from foretold.text.frontmatter import trim
from foretold.types import Block, Entry, NamedTuple

OPEN, CLOSE = "<system-reminder>\n", "\n</system-reminder>"


class NestedEntries(NamedTuple):
    """What one tool call, or one mention, attaches."""

    files: tuple[Entry, ...]
    fallback: tuple[Entry, ...] = ()
    is_rich: bool = False  #: whether the result of the call is not a text, but has parts


def start_text(entries: Sequence[Entry], template: Template) -> str | None:
    """The instruction text of a session's start, without its envelope; None when there is none."""
    if not entries:
        return None
    parts = entry_texts(entries, template)
    if template.header:
        parts.insert(0, template.header)
    return template.join.join(parts) + template.footer


def entry_texts(entries: Sequence[Entry], template: Template) -> list[str]:
    """Each entry under its heading."""
    described = dict(template.descriptions)
    parts = []
    for entry in entries:
        path = escape_reserved(entry.path) if entry.kind == "index" and template.escapes else entry.path
        text = _TRIM[template.trim](entry.text)
        parts.append(under_heading(template, path, entry.layer, described.get(entry.layer, ""), text))
    return parts


def under_heading(template: Template, path: str, layer: str, description: str, text: str) -> str:
    """A text under the heading of a template."""
    if not path.isascii():
        path = shown_path(path)
    if "-->" in path and template.entry.startswith("<!--"):
        path = path.replace("-->", "--&gt;").replace("\n", " ")
    return template.entry.format(path=path, layer=layer, description=description, text=text)


def shown_path(path: str) -> str:
    """A path as text: bytes of a name that are not UTF-8 are U+FFFD."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


_TRIM: dict[str, Callable[[str], str]] = {"both": trim, "right": str.rstrip, "none": str}


def start_blocks(
    entries: Sequence[Entry], text: str | None, dialect: Dialect, surroundings: Surroundings
) -> list[Block]:
    """The blocks that carry the text of the entries."""
    if dialect.envelope.per_entry:
        return [Block(dialect.envelope.role, "text", each) for each in entry_texts(entries, dialect.template)]
    block = start_block(text, dialect, surroundings)
    return [block] if block else []


def start_block(text: str | None, dialect: Dialect, surroundings: Surroundings) -> Block | None:
    """The block that carries the text; None when nothing is sent."""
    envelope = dialect.envelope
    after = envelope.after.format(date=surroundings.date)
    if text is None:
        return Block(envelope.role, "text", envelope.without + after[1:]) if envelope.without else None
    if envelope.sentinel:
        text = escape_tag(text, envelope.sentinel)
    if surroundings.prompt_follows and not placement_of(surroundings.model, dialect).date_follows:
        after += envelope.after_last
    return Block(envelope.role, "text", envelope.before + text + after)


def placement_of(model: str, dialect: Dialect) -> Placement:
    """How nested entries are sent for a model."""
    for placement in dialect.placements:
        if not placement.models or any(name in model or name == f"={model}" for name in placement.models):
            return placement
    return dialect.placements[-1]


def nested_texts(entries: Sequence[Entry], dialect: Dialect) -> list[str]:
    """Attached entries under their headings, with the tags escaped that the agent keeps for itself."""
    texts = [dialect.template.nested.format(path=shown_path(entry.path), text=entry.text) for entry in entries]
    if not dialect.template.escapes:
        return texts
    return [
        escape_fallback(text) if entry.fallback else escape_reserved(text)
        for entry, text in zip(entries, texts, strict=True)
    ]


def turn_blocks(turn: Sequence[NestedEntries], dialect: Dialect, model: str) -> list[Block]:
    """The blocks that the tool calls of one turn add to the next request."""
    placement = placement_of(model, dialect)
    if placement.files == "tool-result":  # fallback first: seen with claude-haiku-4-5, -opus-4-6 and -3-5-sonnet
        parts = [[*_fallback_texts("tool.call", [each], dialect), *nested_texts(each.files, dialect)] for each in turn]
        if placement.rich and turn and turn[-1].is_rich:  # claude-code: n325-notebook
            texts = [f"{OPEN}{text}{CLOSE}" for part in parts for text in part]
            is_item = placement.rich == "items"
            return [
                Block("user", "tool_result", f"{text}\n") if is_item else Block("user", "text", text) for text in texts
            ]
        wrapped = ["".join(f"\n\n{OPEN}{text}{CLOSE}" for text in texts) for texts in parts]
        return [Block("user", "tool_result", text) for text in wrapped if text]
    fallback = _fallback_texts("tool.call", turn, dialect)
    entries = [entry for attached in turn for entry in attached.files]
    blocks = _file_blocks(nested_texts(entries, dialect), placement.files, dialect)
    if fallback:
        text = "\n\n".join(fallback)
        tagged = placement.fallback == "system-tagged"
        blocks.append(Block("system", "text", OPEN + text + CLOSE if tagged else text))
    return blocks


def _file_blocks(texts: list[str], form: str, dialect: Dialect) -> list[Block]:
    if not texts:
        return []
    if form == "envelope":
        envelope = dialect.envelope
        text = escape_tag(dialect.template.join.join(texts), envelope.sentinel)
        return [Block(envelope.role, "text", envelope.before + text + envelope.after)]
    if form == "system":
        return [Block("system", "text", dialect.template.join.join(texts))]
    wrapped = [OPEN + text + CLOSE for text in texts]
    return [Block("user", "text", text + "\n") for text in wrapped[:-1]] + [Block("user", "text", wrapped[-1])]


def _fallback_texts(event: str, turn: Sequence[NestedEntries], dialect: Dialect) -> list[str]:
    """The fallback files of each call, as what a hook of the agent itself says."""
    said = (nested_texts(attached.fallback, dialect) for attached in turn)
    return [f"{event} hook additional context: " + "\n".join(texts) for texts in said if texts]


def mention_blocks(mentions: Sequence[NestedEntries], dialect: Dialect, model: str) -> list[Block]:
    """The blocks that mentions in a prompt add to the request that carries it: fallback files come first here."""
    fallback = _fallback_texts("prompt.mention", mentions, dialect)
    texts = nested_texts([entry for attached in mentions for entry in attached.files], dialect)
    placement = placement_of(model, dialect)
    if placement.mentioned:
        apart = _file_blocks(fallback, placement.mentioned, dialect)
        return [*_file_blocks(texts, placement.files, dialect), *apart]
    if placement.files == "tool-result":
        return [Block("user", "text", OPEN + text + CLOSE) for text in (*fallback, *texts)]
    return _file_blocks([*fallback, *texts], placement.files, dialect)
