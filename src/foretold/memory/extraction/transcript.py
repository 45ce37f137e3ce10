"""Pieces of a conversation, and who said each of them; and extraction from a stored transcript.

1. Only what a person typed is `user`: a prompt, one that was queued while the agent worked, and the answer to a
   question that the agent asked with its tool for that; the question itself is the assistant's. Anything else in a
   record of the role user is not, not even a reminder inside a prompt.
2. Results of tools are `tool`, also those that a provider's own tools put into an answer; files, documents, folders and
   resources that were attached are `file`; instruction files, also those of folders, are `instructions`; memories that
   were recalled are `recalled`; all else that an agent adds is `reminder`.
3. Recalled memories are found by their wrapper in any text, so also in what a hook or a tool gave; the text around them
   keeps its origin. A wrapper is searched within one text only: no text can open one that another closes.
4. The origin follows from the record, never from what a text says about itself: `<user>` in a tool's result is text.
5. Records of subagents, and those without text, are left out.
6. Of a stored transcript only the new part is read: from where the last extraction ended, and a little before it, so
   that a `yes` has what it says yes to. Of a file that was never examined, the last TAIL bytes count as new: a session
   of a gigabyte is not read whole, except with `since=0`. The model is asked about a digest: a transcript has no
   request to continue.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from foretold.dialects.claude_code.sessions import NEWEST
from foretold.errors import NoSuchSession
from foretold.memory.extraction.progress import ProgressMark
from foretold.memory.recall.render import recalled_spans
from foretold.sessions.formats.claude.attachments import contents_of
from foretold.sessions.formats.claude.reader import session_id
from foretold.sessions.formats.claude.records import prompt_of
from foretold.sessions.formats.fields import list_at, object_at, parse_time, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.extraction.extractor import Extractor
    from foretold.memory.extraction.progress import Extraction
    from foretold.models.protocol import Model
    from foretold.sessions.formats.jsonl import JsonlRecord
    from foretold.sessions.model import StoredSession
    from foretold.types import Entry

    Json = Mapping[str, object]

ORIGINS = ("user", "assistant", "tool", "file", "instructions", "recalled", "reminder")
ASKING = ("AskUserQuestion",)  #: tools whose result is what a person answered
LONGEST_ID, DEEPEST = 200, 8  #: characters of an id; lists within lists of a result
LONGEST_ANSWER = 20_000  #: characters of questions and their answers
INTERRUPTED = "[Request interrupted by user"  #: what the agent records when a person stops it
TAIL = 4 * 1024 * 1024  #: bytes
BEFORE = 128 * 1024  #: bytes that are read again
_CLOSED = "</system-reminder>"
_REMINDER = re.compile(f"<system-reminder>.*?{_CLOSED}", re.DOTALL)
#: where the last answer ends: at a quotation mark that nothing follows, or a full stop
_ANSWER_END = re.compile(r'"(?=[.\n ]{3}|[.\n ]{0,2}\Z|\.\s)')
_FILES = (
    "file new_file directory new_directory edited_text_file selected_lines_in_ide opened_file_in_ide mcp_resource"
    " pdf_reference compact_file_reference at_mention_reference diagnostics"
).split()
_ATTACHED = dict.fromkeys(_FILES, "file") | dict.fromkeys(("nested_memory", "instructions"), "instructions")
_ATTACHED["relevant_memories"] = "recalled"
#: the name of each tool that was called, and what it asked a person
Tools = dict[str, tuple[str, tuple[str, ...]]]


class TranscriptPiece(NamedTuple):
    """A piece of a conversation."""

    id: str  #: of its message; several pieces may have one id
    role: str  #: user, assistant or system
    text: str
    origin: str  #: see ORIGINS
    session: str = ""
    time: float | None = None  #: seconds since 1970
    tool: str = ""  #: whose result it is; of the assistant, the tools that are called, with spaces between
    end: int = 0  #: where its record ends in the file; 0 if that is not known


def pieces_of(records: Iterable[Json | JsonlRecord]) -> list[TranscriptPiece]:
    """The pieces of a transcript's records, in their order."""
    tools: Tools = {}  # by the id of the call
    found: list[TranscriptPiece] = []
    for record in records:
        value = record if isinstance(record, dict) else getattr(record, "value", {})
        if value.get("isSidechain") is True:
            continue
        name = text_at(value, "uuid")
        is_id = 0 < len(name) <= LONGEST_ID and name.isprintable() and name.isascii()  # one that a memory can name
        first = TranscriptPiece(
            name if is_id else f"byte {getattr(record, 'start', 0)}",
            "system",
            "",
            "reminder",
            text_at(value, "sessionId"),
            parse_time(value.get("timestamp")),
            end=getattr(record, "end", 0),
        )
        for piece in _pieces(dict(value), first, tools):
            found += split_recalled(piece)
    return found


def _pieces(value: dict[str, object], first: TranscriptPiece, tools: Tools) -> list[TranscriptPiece]:
    kind, message = value.get("type"), value.get("message")
    if kind == "attachment":
        return _attached_pieces(value, first)
    if not isinstance(message, dict) or kind not in ("user", "assistant"):
        return []
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_at(message, "content")
    given = [block for block in blocks if isinstance(block, dict)]
    if kind == "assistant":
        return _answer_pieces(given, first, tools)
    has_results = any(block.get("type") == "tool_result" for block in given)
    return [piece for block in given for piece in _user_pieces(block, value, first, tools, has_results=has_results)]


def _answer_pieces(blocks: list[dict[str, object]], first: TranscriptPiece, tools: Tools) -> list[TranscriptPiece]:
    """The text of an answer, and the tools that it calls."""
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    tools.update((text_at(block, "id"), (text_at(block, "name"), _questions_of(block))) for block in calls)
    text = "\n\n".join(text_at(block, "text") for block in blocks if block.get("type") == "text").strip()
    called = " ".join(text_at(block, "name") for block in calls)
    said = [first._replace(role="assistant", text=text, origin="assistant", tool=called)] if text or calls else []
    given = _result([block for block in blocks if text_at(block, "type").endswith("_tool_result")])
    return [*said, *([first._replace(role="user", text=given, origin="tool")] if given else [])]


def _user_pieces(
    block: dict[str, object], value: dict[str, object], first: TranscriptPiece, tools: Tools, *, has_results: bool
) -> list[TranscriptPiece]:
    """A block of a record of the role user; `has_results`: the record has results of tools."""
    if block.get("type") == "tool_result":
        tool, questions = tools.get(text_at(block, "tool_use_id"), ("", ()))
        given = first._replace(role="user", text=_result(block.get("content")), origin="tool", tool=tool)
        return _answers(given, questions) if tool in ASKING and block.get("is_error") is not True else [given]
    if block.get("type") != "text":
        return [first._replace(role="user", text=_result([block]), origin="file")]
    text = text_at(block, "text")
    is_typed = not has_results and _is_person(value) and bool(prompt_of({**value, "message": {"content": text}}))
    is_typed = is_typed and not text.startswith(INTERRUPTED)
    if not is_typed:
        return [first._replace(role="user", text=text, origin="reminder")]
    end = text.rfind(_CLOSED) + len(_CLOSED)  # a tag that is never closed is not searched again and again
    added = _REMINDER.findall(text[:end])
    own = _REMINDER.sub("\n", text[:end]) + text[end:] if added else text
    typed = first._replace(role="user", text=own, origin="user")
    return [typed, *(typed._replace(text=each, origin="reminder") for each in added)]


def _questions_of(call: dict[str, object]) -> tuple[str, ...]:
    """What a call asks a person, word for word."""
    asked = list_at(call.get("input"), "questions")
    return tuple(text for each in asked if (text := text_at(each, "question")))


def _answers(given: TranscriptPiece, questions: tuple[str, ...]) -> list[TranscriptPiece]:
    """What a person answered, each answer after its question; a result without questions is the answer.

    It reads `"question"="answer", "question"="answer".`; where the call says what was asked, nothing else is a
    question, so that none can hold an answer.
    """
    text = given.text[:LONGEST_ANSWER]
    known = sorted((at, each) for each in questions if (at := text.find(f'"{each}"="')) >= 0)
    ends = [*(at for at, _ in known[1:]), len(text)]
    pairs = [(each, text[at + len(each) + 4 : end]) for (at, each), end in zip(known, ends, strict=False)]
    found: list[TranscriptPiece] = []
    for asked, rest in (pairs := pairs or _pairs(text)):
        is_last = (asked, rest) == pairs[-1]
        answer = _ANSWER_END.split(rest, maxsplit=1)[0] if is_last else rest.rpartition('", ')[0]
        found.append(given._replace(role="assistant", text=asked, origin="assistant", tool=""))
        found.append(given._replace(text=answer, origin="user"))
    return found or [given._replace(origin="user")]


def _pairs(text: str) -> list[tuple[str, str]]:
    """Each question with its answer and what follows that, as far as the form shows."""
    before, *rest = text.split('"="')
    question, found = before.partition('"')[2], []
    for number, piece in enumerate(rest, 1):
        answer, _, following = piece.rpartition('", "')
        found.append((question, piece if number == len(rest) else f'{answer}", '))
        question = following
    return found


def _result(content: object, deep: int = 0) -> str:
    """The texts of a result, also of documents and results within it; without the bytes of images."""
    if isinstance(content, str):
        return content
    found = []
    for block in content if isinstance(content, list) and deep < DEEPEST else []:
        source = object_at(block, "source")
        found += [text_at(block, name) for name in ("text", "title", "url")]
        found += [text_at(source, "data")] if text_at(source, "type") == "text" else []
        inner = [each.get("content") for each in (block, source) if isinstance(each, dict)]
        found += [_result([each] if isinstance(each, dict) else each, deep + 1) for each in inner]
    return "\n".join(filter(None, found))


def _attached_pieces(value: dict[str, object], first: TranscriptPiece) -> list[TranscriptPiece]:
    attachment = object_at(value, "attachment")
    kind = text_at(attachment, "type")
    is_notification = attachment.get("isMeta") is True or attachment.get("commandMode") not in (None, "prompt")
    if kind == "queued_command" and _is_person(attachment) and not is_notification:
        return [first._replace(role="user", text=_result(attachment.get("prompt")), origin="user")]
    texts = contents_of(value, NEWEST) or []
    if kind == "instructions" and isinstance(attachment.get("files"), list):
        texts = [text_at(file, "content") for file in list_at(attachment, "files")]
    origin = _ATTACHED.get(kind, "reminder")
    return [first._replace(text=text if isinstance(text, str) else _result(text), origin=origin) for text in texts]


def _is_person(value: Json) -> bool:
    """Whether a record names no sender but a person."""
    return object_at(value, "origin").get("kind") in (None, "human")


def split_recalled(piece: TranscriptPiece) -> list[TranscriptPiece]:
    """A piece, with the memories that were recalled in it as separate pieces."""
    if piece.origin == "recalled" or "<recalled-memories" not in piece.text:
        return [piece] if piece.text.strip() or (piece.tool and piece.origin == "assistant") else []
    found, at = [], 0
    for start, end in recalled_spans(piece.text):
        found.append(piece._replace(text=piece.text[at:start]))
        found.append(piece._replace(text=piece.text[start:end], origin="recalled"))
        at = end
    found.append(piece._replace(text=piece.text[at:]))
    return [each for each in found if each.text.strip()]


def extract_stored(
    stored: StoredSession | str,
    model: Model,
    extractor: Extractor,
    *,
    session: str = "",
    instructions: Iterable[str | Entry] = (),
    force: bool = False,
    since: int | None = None,
) -> Extraction:
    """Extract memories from what is new in a transcript of Claude Code, by its path or as it was found.

    `since` is a byte: what follows it counts as new, whatever was examined before, and however much it is.
    """
    path, name = _locate(stored, session)
    said = pieces_since(path, extractor.marks.of(name).end if since is None else since, whole=since is not None)
    mark = None if since is None else ProgressMark(end=since)
    return extractor.run(model, None, said, session=name, instructions=instructions, force=force, since=mark)


def is_due(stored: StoredSession | str, extractor: Extractor, *, session: str = "") -> bool:
    """Whether enough is new in a transcript."""
    path, name = _locate(stored, session)
    return extractor.due(pieces_since(path, extractor.marks.of(name).end), session=name)


def _locate(stored: StoredSession | str, session: str) -> tuple[str, str]:
    path = stored if isinstance(stored, str) else stored.path
    if not os.path.isfile(path):
        raise NoSuchSession(f"there is no transcript {path}")
    return path, session or (session_id(path) if isinstance(stored, str) else stored.id)


def pieces_since(path: str, end: int, *, whole: bool = False) -> list[TranscriptPiece]:
    """What a transcript says from a byte on, with a little before it; at most TAIL bytes, unless all is wanted."""
    size = os.path.getsize(path)
    start = max(0, end - BEFORE if end <= size else 0, 0 if whole else size - TAIL)
    return pieces_of(records_of(path, _line_start(path, start)))


def _line_start(path: str, at: int) -> int:
    """The start of the first line at or after a byte."""
    with open(path, "rb", opener=open_regular) as file:
        file.seek(max(0, at - 1))
        while at and (part := file.readline(1 << 16)) and not part.endswith(b"\n"):
            continue
        return file.tell()
