"""Notes of one conversation: written during it, read when it is compacted.

1. They are separate from memories and are not sent with requests. The notes of a conversation are one Markdown file in
   our own folder; its frontmatter has the last message that they cover.
2. They are first written when a conversation has a number of tokens, and again when it has more, and the model has used
   a number of tools or has just finished: see `Thresholds`.
3. The model that writes them continues the conversation's last request, so that a provider has read all but the
   question already. It answers with the whole notes; a tool call is refused, once.
4. Lines that look like a credential are left out, and what is too long is cut at the end of a section; both are
   findings. Notes without their headings are rejected: the former ones stay.
5. A file is written atomically, and for its owner only. Notes of an older point never replace newer ones.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from foretold.errors import MemoryChanged, MemoryExists, ModelFailed, NoSuchMemory
from foretold.memory.extraction.request import fork_request
from foretold.models.protocol import Usage
from foretold.secrets.forms import credentials_in
from foretold.sessions.formats.claude.reader import check_session_id
from foretold.storage.digest import digest_of
from foretold.storage.folder import Folder
from foretold.text.frontmatter import split
from foretold.types import TYPE_CHECKING, Finding, NamedTuple, estimate_tokens

if TYPE_CHECKING:
    from foretold.memory.extraction.transcript import TranscriptPiece
    from foretold.models.protocol import Model, ModelRequest

#: heading -> what belongs under it
SECTIONS = (
    ("Title", "what the conversation is about, in at most ten words"),
    ("Now", "what is being worked on at this moment, and the next step"),
    ("Task", "what the user asked for, with every wish and limit that was named"),
    ("Files", "files and functions that matter, and why"),
    ("Commands", "commands that work here, in the order in which they are needed"),
    ("Went wrong", "errors, what they came from, what was tried in vain, what the user corrected"),
    ("Learned", "how the parts of the system belong together; what holds and what does not"),
    ("Results", "answers, tables or texts that the user asked for, word for word"),
    ("Log", "what was done, a short line for each step"),
)

ASK = """\
This message comes from the program you run in, not from the user: do not speak of it, and use no tool. Write down \
what anyone who continues this conversation must know. Answer with the notes alone, in Markdown, under exactly \
these headings and in this order:

{sections}

Keep what is still true of the notes so far, correct what is not, add what is new. Be exact: names of files, \
functions, commands, values. Leave out what the project's instructions say anyway, and every password, token or key. \
No section longer than about {words} words.

The notes so far:

{notes}"""

NO_TOOL = "No tool can be used here. Answer with the notes."
LEFT_OUT = "(left out: it looked like a credential)"
NO_NOTES = "the model answered without the headings that notes have"
OLDER = "another process has written newer ones"
CUT = "(cut: this section was too long)"


class Thresholds(NamedTuple):
    """When notes are written. All are counted over the conversation, or since the last notes."""

    begin: int = 10_000  #: tokens of a conversation that is worth notes
    tokens: int = 5_000  #: tokens since
    tool_calls: int = 3  #: results of tools since; fewer are enough when the model has come to an end


USUAL = Thresholds()


class NotesUpdate(NamedTuple):
    """The result of writing notes."""

    is_written: bool
    reason: str = ""  #: why nothing was written: too-early, no-notes, older
    usage: Usage = Usage()
    findings: tuple[Finding, ...] = ()


class SessionNotes:
    """The notes of one conversation."""

    def __init__(self, folder: str, session: str, thresholds: Thresholds = USUAL, *, limit: int = 12_000) -> None:
        """`folder` is ours; `limit` is how many tokens notes may have."""
        self.thresholds = thresholds
        self.limit = limit
        self._folder = Folder(folder)
        self._file = f"{check_session_id(session)}.md"
        self.path = os.path.join(folder, self._file)

    def text(self) -> str:
        """The notes, without their frontmatter; empty if there are none."""
        return self._read()[2]

    @property
    def covers(self) -> str:
        """The id of the last message that they cover."""
        return self._read()[1].get("message", "")

    def due(self, said: Sequence[TranscriptPiece], *, is_end: bool) -> bool:
        """Whether notes should be written now; `is_end`: the model has just replied without using a tool."""
        return are_notes_due(said, self.thresholds, covers=self.covers, is_end=is_end)

    def update(self, model: Model, request: ModelRequest, said: Sequence[TranscriptPiece]) -> NotesUpdate:
        """Let a model write the notes, continuing a request that ends with its answer."""
        if not said:
            return NotesUpdate(is_written=False, reason="too-early")
        _, before, notes = self._read()
        sections = "\n".join(f"# {name}\n({about})" for name, about in SECTIONS)
        words = self.limit * 3 // 4 // len(SECTIONS)
        question = ASK.format(sections=sections, words=words, notes=notes or "(none yet)")
        text, usage = _ask(model, fork_request(request, question))
        headings = {line[2:].strip() for line in text.splitlines() if line.startswith("# ")}
        if len(headings & {name for name, _ in SECTIONS}) < 2:  # a title alone is not enough
            return NotesUpdate(is_written=False, reason="no-notes", usage=usage, findings=(self._rejection(NO_NOTES),))
        findings: list[Finding] = []
        text = _cut_sections(_without_credentials(text, self.path, findings), self.limit, self.path, findings)
        if not self._write({"message": said[-1].id, "messages": str(len(said))}, text, before):
            return NotesUpdate(is_written=False, reason="older", usage=usage, findings=(self._rejection(OLDER),))
        return NotesUpdate(is_written=True, usage=usage, findings=tuple(findings))

    def _rejection(self, why: str) -> Finding:
        return Finding(self.path, None, "notes-failed", f"the notes were rejected, and the former stay: {why}")

    def _read(self) -> tuple[str, dict[str, str], str]:
        """The digest of the file, its frontmatter and the notes; all empty if there are none."""
        try:
            data = self._folder.read(self._file).data
        except NoSuchMemory:
            return "", {}, ""
        front, body = split(data.decode("utf-8", "replace"), after_bom=False)
        lines = (line.partition(": ") for line in (front or "").splitlines())
        return digest_of(data), {name: value for name, _, value in lines}, body.strip("\n")

    def _write(self, front: dict[str, str], text: str, before: dict[str, str]) -> bool:
        """Replace the notes that were read; not others that were written since."""
        lines = "".join(f"{name}: {value}\n" for name, value in front.items())
        data = f"---\n{lines}---\n\n{text}\n".encode("utf-8", "replace")
        with self._folder.locked(), suppress(MemoryExists, MemoryChanged):
            digest, now, _ = self._read()
            if now == before and digest:
                self._folder.replace(self._file, data, digest)
            elif now == before:
                self._folder.create(self._file, data)
            return now == before
        return False


def are_notes_due(said: Sequence[TranscriptPiece], thresholds: Thresholds, *, covers: str, is_end: bool) -> bool:
    """Whether notes should be written now, if the last ones cover the conversation up to a message.

    A conversation that was rewound to before that message has none.
    """
    known = next((number for number in range(len(said), 0, -1) if said[number - 1].id == covers), 0)
    tokens = [estimate_tokens(each.text) for each in said]
    if not known and sum(tokens) < thresholds.begin:
        return False
    calls = sum(each.origin == "tool" for each in said[known:])
    return sum(tokens[known:]) >= thresholds.tokens and (is_end or calls >= thresholds.tool_calls)


def _ask(model: Model, request: ModelRequest) -> tuple[str, Usage]:
    """The notes that a model answers with; a tool call is refused once."""
    reply = model.reply(request)
    usage = reply.usage
    if reply.calls:
        refusal = {"type": "tool_result", "content": NO_TOOL, "is_error": True}
        results = [{**refusal, "tool_use_id": call["id"]} for call in reply.calls]
        asked: dict[str, object] = {"role": "assistant", "content": list(reply.content)}
        reply = model.reply(request._replace(messages=(*request.messages, asked, {"role": "user", "content": results})))
        usage = usage.plus(reply.usage)
    if reply.stop == "max_tokens":
        raise ModelFailed("the notes did not fit into one answer; allow more tokens for an answer")
    return reply.text.strip(), usage


def _without_credentials(text: str, path: str, findings: list[Finding]) -> str:
    lines = text.split("\n")
    for found in credentials_in(text):
        first = found.line - 1
        last = first + text.count("\n", found.start, found.end)
        if found.kind == "private key":  # found by its first line, it ends with its last
            last = next((n for n in range(first, len(lines)) if "-----END" in lines[n]), len(lines) - 1)
        lines[first : last + 1] = [LEFT_OUT] + [""] * (last - first)
        said = f"a line of the notes looked like a credential ({found.kind}) and was left out"
        findings.append(Finding(path, found.line, "credential", said))
    return "\n".join(lines)


def _cut_sections(text: str, limit: int, path: str, findings: list[Finding]) -> str:
    """The notes with every section cut to its share of the limit."""
    if estimate_tokens(text) <= limit:
        return text
    share, kept, used = limit // len(SECTIONS), [], 0
    for line in text.splitlines():
        used = 0 if line.startswith("# ") else used + estimate_tokens(line + "\n")
        if used <= share:
            kept.append(line)
        elif kept[-1:] != [CUT]:
            kept.append(CUT)
            findings.append(Finding(path, None, "notes-cut", "a section of the notes was too long, and was cut"))
    return "\n".join(kept)
