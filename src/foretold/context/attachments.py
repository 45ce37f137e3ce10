"""Attachments: what an agent adds to a turn by itself, as values.

1. An attachment is a type and its fields, as the `attachment` records of a transcript hold them; `record` and
   `attachment_of` go both ways, and a type that we do not know passes through.
2. `texts` says what a model reads of it: one text, two for a mention (the call and its result), none for a type that
   is kept for the record only. An image is a block that is not text (`image_of`).
3. Where a text stands in a request is another matter (`placing`).

The triggers are in the modules of their subjects: `mentions`, `listings`, `changes`, `instructions.session`.
"""

from __future__ import annotations

import json
import re

from foretold.context.attribution import Attribution, attribution_lines
from foretold.context.environment import section_of
from foretold.context.user_context import flatten_context
from foretold.dialects.claude_code.attachments import HEARD
from foretold.dialects.claude_code.context import TurnContext
from foretold.dialects.claude_code.files import rules_of
from foretold.dialects.registry import choose
from foretold.instructions.render.blocks import CLOSE, OPEN
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foretold.dialects.schema import Template

    Fields = Mapping[str, object]

_PLACE = re.compile(r"\{(\w+)\}")


class Attachment(NamedTuple):
    """What is added to a turn: its type, and its fields by name."""

    type: str
    fields: Fields

    @property
    def record(self) -> dict[str, object]:
        """As a transcript holds it.

        >>> Attachment("date_change", {"newDate": "2026-01-03"}).record
        {'type': 'date_change', 'newDate': '2026-01-03'}
        """
        return {"type": self.type, **self.fields}


def attachment_of(record: Mapping[str, object]) -> Attachment:
    """An attachment of a transcript.

    >>> attachment_of({"type": "date", "date": "2026-01-02"})
    Attachment(type='date', fields={'date': '2026-01-02'})
    """
    return Attachment(str(record.get("type", "")), {key: value for key, value in record.items() if key != "type"})


def texts(attachment: Attachment, around: TurnContext) -> tuple[str, ...]:
    """What a model reads of an attachment.

    >>> from foretold.dialects.claude_code.context import V2_1_325
    >>> texts(Attachment("date", {"date": "2026-01-02"}), V2_1_325)
    ("Today's date is 2026-01-02.",)
    """
    maker = _MAKERS.get(attachment.type)
    return tuple(text for text in maker(attachment.fields, around) if text) if maker else ()


def image_of(attachment: Attachment) -> dict[str, object] | None:
    """The image block of a mention of an image; None for anything else."""
    content = _mapping(attachment.fields.get("content"))
    if attachment.type != "file" or content.get("type") != "image":
        return None
    file = _mapping(content.get("file"))
    source = {"type": "base64", "data": file.get("base64"), "media_type": file.get("type")}
    return {"type": "image", "source": source}


def numbered(content: str, start: int) -> str:
    """Lines with their numbers.

    >>> numbered("a\\nb\\n", 5)
    '5\\ta\\n6\\tb\\n7\\t'
    """
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(content.split("\n"), start))


def shown_size(size: int) -> str:
    """A size as the agent writes it.

    >>> shown_size(189), shown_size(307200), shown_size(1400000)
    ('189 bytes', '300KB', '1.3MB')
    """
    for unit, name in ((1024 * 1024, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + name
    return f"{size} bytes"


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def fill_fields(text: str, fields: Fields) -> str:
    """A text with fields in their places; what stands in other braces stays.

    >>> fill_fields('{"file_path":{path}}', {"path": "{x}"})
    '{"file_path":{x}}'
    """
    return _PLACE.sub(lambda found: str(fields[found[1]]) if found[1] in fields else found[0], text)


def _say(kind: str) -> Callable[[Fields, TurnContext], list[str]]:
    return lambda given, around: [fill_fields(around.texts[kind], given)]


def _file(given: Fields, around: TurnContext) -> list[str]:
    content = _mapping(given.get("content"))
    file = _mapping(content.get("file"))
    called = fill_fields(around.texts["file"], {"path": _json(given.get("filename", ""))})
    if content.get("type") == "image":
        return [called]
    output = {"pdf": _pdf, "notebook": _notebook}.get(str(content.get("type")), _lines)(file, around)
    return [called, fill_fields(around.texts["file_text"], {"lines": output})]


def _lines(file: dict[str, object], around: TurnContext) -> str:
    content, start = str(file.get("content", "")), int(str(file.get("startLine", 1)))
    if content:
        return numbered(content, start or 1)
    is_empty = (start, file.get("totalLines")) == (1, 1)
    return fill_fields(around.texts["file_empty" if is_empty else "file_short"], file)


def _pdf(file: dict[str, object], around: TurnContext) -> str:
    size = shown_size(int(str(file.get("originalSize", 0))))
    return fill_fields(around.texts["file_pdf"], {**file, "size": size})


def _notebook(file: dict[str, object], _: TurnContext) -> str:
    cells = file.get("cells")
    pieces: list[str] = []
    for cell in cells if isinstance(cells, list) else []:
        mark, kind = f'cell id="{cell.get("cell_id", "")}"', cell.get("cellType", "code")
        told = "" if kind == "code" else f"<cell_type>{kind}</cell_type>"
        pieces.append(f"<{mark}>{told}{cell.get('source', '')}</{mark}>")
        pieces += [f"\n{output.get('text', '')}" for output in cell.get("outputs", ())]
    return _json([{"text": "\n".join(pieces), "type": "text"}])


def _folder(given: Fields, around: TurnContext) -> list[str]:
    from shlex import quote

    path = str(given.get("path", ""))
    said = {"command": _json(f"ls {quote(path)}"), "said": _json(f"Lists files in {path}")}
    return [fill_fields(around.texts["directory"], said), fill_fields(around.texts["directory_listing"], given)]


def _too_large(given: Fields, around: TurnContext) -> list[str]:
    size = shown_size(int(str(given.get("fileSize", 0))))
    text = around.texts["at_mention_reference"]
    return [fill_fields(text, {"path": path, "size": size}) for path in _strings(given.get("mentions"))]


def _agents(given: Fields, around: TurnContext) -> list[str]:
    """The list with its note, or what was added and what is gone."""
    added, gone = "\n".join(_strings(given.get("addedLines"))), _strings(given.get("removedTypes"))
    if given.get("isInitial"):
        note = around.texts["agents_note"] if given.get("showConcurrencyNote") else ""
        return [fill_fields(around.texts["agents_first"], {"lines": added}) + note]
    lost = "\n".join(f"- {name}" for name in gone)
    return _delta(("agents_added", added), ("agents_removed", lost), around)


def _delta(added: tuple[str, str], gone: tuple[str, str], around: TurnContext) -> list[str]:
    said = [fill_fields(around.texts[kind], {"lines": lines}) for kind, lines in (added, gone) if lines]
    return ["\n\n".join(said)]


def _tools(given: Fields, around: TurnContext) -> list[str]:
    added, gone = (_strings(given.get(key)) for key in ("addedLines", "removedNames"))
    return _delta(("deferred_added", "\n".join(added)), ("deferred_removed", "\n".join(gone)), around)


def _servers(given: Fields, around: TurnContext) -> list[str]:
    added, gone = (_strings(given.get(key)) for key in ("addedBlocks", "removedNames"))
    return _delta(("mcp_added", "\n\n".join(added)), ("mcp_removed", "\n".join(gone)), around)


def _hook_success(given: Fields, around: TurnContext) -> list[str]:
    if given.get("hookEvent") not in HEARD or not given.get("content"):
        return []
    return [fill_fields(around.texts["hook_success"], given)]


def _hook_context(given: Fields, around: TurnContext) -> list[str]:
    lines = "\n".join(_strings(given.get("content")))
    return [fill_fields(around.texts["hook_additional_context"], {**given, "lines": lines})] if lines else []


def _tasks(given: Fields, around: TurnContext) -> list[str]:
    tasks = given.get("content")
    there = [_mapping(task) for task in tasks] if isinstance(tasks, list) else []
    lines = "\n".join(f"#{task.get('id')}. [{task.get('status')}] {task.get('subject')}" for task in there)
    listed = fill_fields(around.texts["task_reminder_list"], {"lines": lines}) if lines else ""
    return [around.texts["task_reminder"] + listed]


def _date(given: Fields, around: TurnContext) -> list[str]:
    if given.get("changed"):
        return [fill_fields(around.texts["date_change"], {"newDate": given.get("date", "")})]
    return [fill_fields(around.texts["date"], given)]


def _attributed(given: Fields, around: TurnContext) -> list[str]:
    found = Attribution(str(given.get("commit") or "") or None, str(given.get("pr") or "") or None)
    return ["\n".join((around.texts["remote_session_change"], *attribution_lines(found, around)))]


def _edited(given: Fields, around: TurnContext) -> list[str]:
    if given.get("snippet"):
        return [fill_fields(around.texts["edited_text_file"], given)]
    return [fill_fields(rules_of(around.version).omitted, {"path": given.get("filename", "")})]


def _environment(given: Fields, around: TurnContext) -> list[str]:
    return [section_of(_mapping(given.get("snapshot")), around)]


def _instructions(given: Fields, around: TurnContext) -> list[str]:
    """The files of the start, under the headings that the dialect has for them."""
    template = choose(f"claude-code@{around.version}").dialect.template
    files = given.get("files")
    said = [_told(_mapping(file), template) for file in files] if isinstance(files, list) else []
    return [template.join.join([template.header, *said])] if said else []


def _told(file: dict[str, object], template: Template) -> str:
    layer = str(file.get("type", "")).lower().replace("automem", "memory")
    description = dict(template.descriptions).get(layer, "")
    fields = {"path": file.get("path", ""), "description": description, "text": file.get("content", "")}
    return fill_fields(template.entry, fields)


def _context(given: Fields, around: TurnContext) -> list[str]:
    text = flatten_context(_mapping(given.get("context")), around)
    return [text.removeprefix(OPEN).removesuffix(CLOSE)] if text else []


def _nested(given: Fields, around: TurnContext) -> list[str]:
    content = _mapping(given.get("content"))
    return [
        fill_fields(
            around.texts["nested_memory"], {"path": given.get("path", ""), "content": content.get("content", "")}
        )
    ]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_MAKERS: dict[str, Callable[[Fields, TurnContext], list[str]]] = {
    "agent_listing_delta": _agents,
    "agent_mention": _say("agent_mention"),
    "at_mention_reference": _too_large,
    "date": _date,
    "date_change": _say("date_change"),
    "deferred_tools_delta": _tools,
    "directory": _folder,
    "edited_text_file": _edited,
    "environment": _environment,
    "file": _file,
    "hook_additional_context": _hook_context,
    "hook_success": _hook_success,
    "mcp_instructions_delta": _servers,
    "instructions": _instructions,
    "model": _say("model"),
    "nested_memory": _nested,
    "ranked_skills": _say("ranked_skills"),
    "remote_session_change": _attributed,
    "session_context": _context,
    "skill_listing": _say("skill_listing"),
    "task_reminder": _tasks,
    "total_tokens_reminder": _say("total_tokens_reminder"),
}
