"""Writing what a model wants to remember, once it was judged; and counting it.

1. All writes go through the store, which handles policies, history, the index and the inbox.
2. A memory records its origin: `originSessionId` as the agent does, and in `source` the message of the user that
   supports it most. So does the history. A change keeps the first session, and adds its own.
3. A change compares: if another process changed the memory since it was listed or read, the model gets the current
   text, and what it writes then is judged again.
4. What exists already, word for word, is left alone: the same run made twice writes once.
5. `MEMORY.md` is generated. A model that writes it gets it brought in step with the files: a file that it did not name,
   because another program put it there, is named from then on. So does the end of a run.
6. What a memory names and the user did not say is marked: in `metadata.inferred`, and in a last line of the body, which
   every agent is given with it. When it is gone from the body, so is the mark.
7. What is meant for the team is proposed, and so is everything where the policy says `confirm`. With `discoveries`, so
   is what the assistant found with tools, marked as such; never what a tool wanted to be remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from foretold.errors import BadName, ForetoldError, MemoryChanged, MemoryExists, StoreFailed, WriteRefused
from foretold.memory.extraction.judge.judge import LARGEST, Draft, Judgement, is_nothing_new, judge
from foretold.memory.extraction.progress import Refusal
from foretold.memory.note import INDEX, TYPES, Memory, read_note, slug_of
from foretold.memory.store.inbox import Proposal
from foretold.memory.store.store import title_metadata, write_text
from foretold.storage.names import same_name
from foretold.text.frontmatter import parse, split
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.extraction.judge.evidence import ConversationEvidence
    from foretold.memory.project import Memories
    from foretold.memory.store.journal import ChangeOrigin as By
    from foretold.memory.store.store import Store

NEAR = 8  #: memories that a draft is compared with
BUDGET = 50_000  #: tokens of them
TRIES = 3
LONGEST = 400  #: characters of a file's name in a report
WHOLE = 4000  #: characters of frontmatter
INDEX_IS_MADE = "MEMORY.md is generated from the memory files: do not write it; nothing was changed in it."
INDEX_FOLLOWS = "MEMORY.md is generated from the memory files. It has a line now for: {files}"
JOINED = "; "  #: between names in `metadata.inferred`
MOST_NAMED = 20  #: files in that answer
INFERRED = "**Inferred:** the user did not say {names}."


class MemoryWriter:
    """Writes the memories of one run."""

    def __init__(
        self,
        memories: Memories,
        evidence: ConversationEvidence,
        *,
        session: str,
        secrets: Sequence[str] = (),
        largest: int = LARGEST,
        discoveries: bool = False,
    ) -> None:
        self.memories, self.evidence, self.session = memories, evidence, session
        self.secrets, self.largest, self.discoveries = secrets, largest, discoveries
        self.done: dict[str, dict[str, None]] = {kind: {} for kind in ("added", "updated", "unchanged", "proposed")}
        self.refused: dict[Refusal, None] = {}
        self.warned: dict[Refusal, None] = {}
        self.known: dict[tuple[str, str], str] = {}  #: scope and file: the digest that the model has seen

    def refuse(self, file: str, reason: str, detail: str) -> ForetoldError:
        """Count a refusal; the error that answers the model."""
        self.refused[Refusal(file[:LONGEST], reason, detail[: 2 * LONGEST])] = None
        return ForetoldError(f"Not written ({reason}): {detail}")

    def existing(self, scope: str, file: str) -> Memory | None:
        """The memory of a file, if there is one: of the team, or the nearest private one."""
        stores = [self.memories.team] if scope == "team" else [self.memories.own, self.memories.under]
        return next(filter(None, (store.find(file) for store in stores if store is not None)), None)

    def write(self, scope: str, file: str, text: str) -> str:
        """Judge the text of a file, and write it if it is not refused."""
        if same_name(file) == same_name(INDEX):
            return self.follow_index() if scope != "team" else INDEX_IS_MADE
        named = f"team:{file}" if scope == "team" else file
        for _ in range(TRIES):
            before = self.existing(scope, file)
            if before is not None and self.known.get((scope, file), before.digest) != before.digest:
                self.known[scope, file] = before.digest
                raise ForetoldError(f"{file} was changed by another process. Now it says:\n\n{before.text}")
            if len(text) > WHOLE + self.largest:
                raise self.refuse(named, "too-large", f"a file of {len(text):,} characters; one fact needs fewer")
            draft = draft_of(file, text, scope, before)
            if isinstance(draft, str):
                raise self.refuse(named, "not-a-memory", draft)
            if is_nothing_new(draft):
                return self._count("unchanged", named, "It says so already; nothing was changed.")
            verdict = judge(draft, self.evidence, self._near(draft), secrets=self.secrets, largest=self.largest)
            is_found = verdict.is_found and self.discoveries and draft.type in ("project", "reference")
            if verdict.reason and not is_found:
                raise self.refuse(named, verdict.reason, verdict.detail)
            try:
                return self._put(named, draft, verdict)
            except (MemoryExists, MemoryChanged):
                continue  # by another process, just now: look again
            except (WriteRefused, BadName) as error:
                reason = "policy" if isinstance(error, WriteRefused) else "outside"
                raise self.refuse(named, reason, str(error)) from None
        raise ForetoldError(f"{file} is being changed by others; try again later")

    def follow_index(self) -> str:
        """Bring the index in step with the files, as whoever writes it wants it to be; what the model is told."""
        with suppress(WriteRefused, StoreFailed):  # by policy; the doctor says why it cannot be read
            if adopted := self.memories.own.adopt(by="agent", session=self.session):
                return INDEX_FOLLOWS.format(files=", ".join(adopted[:MOST_NAMED]))
        return INDEX_IS_MADE

    def _near(self, draft: Draft) -> list[Memory]:
        """Memories, also proposed ones, that may say the same; not the one that is changed."""
        found = self.memories.recall(f"{draft.description}\n{draft.body}", budget=BUDGET, limit=NEAR, check=False)
        waiting = [
            read_note(each.file, each.text.encode(), scope=each.scope)
            for each in self.memories.inbox.waiting()
            if each.op == "create"
        ]
        near = [hit.memory for hit in found.hits] + waiting
        own = ("private", "under") if draft.scope != "team" else ("team",)
        return [each for each in near if not (each.file == draft.file and each.scope in own)]

    def _put(self, named: str, draft: Draft, verdict: Judgement) -> str:
        why = f"message {verdict.source}" if verdict.source else ""
        said: By = {"by": "agent", "session": self.session, "why": why}
        made = self._propose(draft, verdict, said) or self._write(draft, verdict, said)
        if verdict.warning:
            self.warned[Refusal(named, "conditional", verdict.warning)] = None
        marked = _marked_line(_inferred_of(draft, verdict))
        if marked:
            self.warned[Refusal(named, "inferred", marked)] = None
        if isinstance(made, Proposal):
            return self._count("proposed", named, "Proposed: it waits in the inbox until the user agrees.")
        self.known[draft.scope, draft.file] = made.digest
        answer = f"Saved: {made.file}" + (f", with the line {marked}" if marked else "")
        return self._count("updated" if draft.before else "added", named, answer)

    def _count(self, kind: str, named: str, said: str) -> str:
        if not any(named in self.done[other] for other in ("added", "updated")):
            self.done[kind][named] = None
        return said

    def _propose(self, draft: Draft, verdict: Judgement, said: By) -> Proposal | None:
        """What is only proposed: for the team, by policy, and what the assistant found by itself."""
        if draft.scope != "team" and not verdict.reason and self.memories.place.policy != "confirm":
            return None
        if verdict.reason:
            said["why"] = f"found with tools, not said by the user; {said['why']}".rstrip("; ")
        store = self.memories.team if draft.scope == "team" and self.memories.team else self.memories.own
        text = self._text(draft, verdict, store)
        is_there = draft.before is not None and draft.file in store.folder.files()
        op, expect = ("edit", draft.before.digest) if draft.before and is_there else ("create", "")
        inbox, wanted = self.memories.inbox, (op, draft.file, draft.scope, _content_of(text))
        for each in inbox.waiting():
            if (each.op, each.file, each.scope, _content_of(each.text)) == wanted:
                return each
        why = said["why"]
        return inbox.propose(op, draft.file, text, expect=expect, session=self.session, why=why, scope=draft.scope)

    def _write(self, draft: Draft, verdict: Judgement, said: By) -> Memory | Proposal:
        if draft.before is not None:
            text = self._text(draft, verdict, self.memories.own)
            return self.memories.edit(draft.file, text=text, expect=draft.before.digest, **said)
        metadata: dict[str, object] = {"source": verdict.source} if verdict.source else {}
        if verdict.inferred:
            metadata["inferred"] = JOINED.join(verdict.inferred)
        return self.memories.create(
            _topic(draft.name),
            type=draft.type,
            description=draft.description,
            body=_marked_body(draft, verdict),
            file=draft.file,
            metadata=metadata,
            **said,
        )

    def _text(self, draft: Draft, verdict: Judgement, store: Store) -> str:
        """The text of a file that is changed or proposed."""
        values: dict[str, object] = {**(draft.before.metadata if draft.before else {}), "type": draft.type}
        values.pop("sourceSessionId", None)
        values |= store.sign("editor", "updated") if draft.before else store.sign("author", "created")
        if values.setdefault("originSessionId", self.session) != self.session:
            values["sourceSessionId"] = self.session
        if verdict.source:
            values["source"] = verdict.source
        if verdict.reason:
            values["origin"] = "tool"
        values.pop("inferred", None)
        if inferred := _inferred_of(draft, verdict):
            values["inferred"] = JOINED.join(inferred)
        name = draft.before.name if draft.before else slug_of(draft.name)
        titled = {} if store.flat else title_metadata(_topic(name))
        return write_text(name, draft.description, {**titled, **values}, _marked_body(draft, verdict), flat=store.flat)


def _inferred_before(draft: Draft) -> list[str]:
    """What the memory that is changed was marked for."""
    given = draft.before.metadata.get("inferred") if draft.before else ""
    return given.split(JOINED) if isinstance(given, str) and given else []


def _plain_body(draft: Draft) -> str:
    """A body without the line that marked what was inferred."""
    line = _marked_line(_inferred_before(draft))
    return draft.body.removesuffix(line).rstrip() if line else draft.body


def _inferred_of(draft: Draft, verdict: Judgement) -> list[str]:
    """What a memory names and the user did not say: as judged now, and as it was marked, if that is still in it."""
    body = _plain_body(draft)
    kept = [each for each in _inferred_before(draft) if each in body]
    return list(dict.fromkeys([*kept, *verdict.inferred]))


def _marked_line(inferred: Sequence[str]) -> str:
    return INFERRED.format(names=", ".join(f'"{each}"' for each in inferred)) if inferred else ""


def _marked_body(draft: Draft, verdict: Judgement) -> str:
    line = _marked_line(_inferred_of(draft, verdict))
    body = _plain_body(draft)
    return f"{body}\n\n{line}" if line else body


def draft_of(file: str, text: str, scope: str = "private", before: Memory | None = None) -> Draft | str:
    """A file's text as a draft; or what it lacks."""
    front, _ = split(text, after_bom=False)
    if front is None:
        return "it has no frontmatter; begin with name, description and metadata.type"
    values, problem, _ = parse(front)
    if problem:
        return f"its frontmatter cannot be read: {problem}"
    note = read_note(file, text.encode("utf-8", "replace"))
    name = str(values.get("name") or "").strip()
    needed = {"name": name, "description": note.description, "metadata.type": note.type}
    lacks = [key for key, value in needed.items() if not value]
    if lacks:
        return f"its frontmatter lacks {', '.join(lacks)}; a type is one of {', '.join(TYPES)}"
    if not note.body:
        return "it has no body"
    if before is not None and not any(map(str.isalnum, name)):
        name = before.name
    try:
        slug_of(name)
    except BadName as error:
        return str(error)
    return Draft(file, before.name if before else slug_of(name), note.description, note.type, note.body, scope, before)


def _content_of(text: str) -> tuple[str, ...]:
    """What a file says, whenever it was written."""
    note = read_note("x.md", text.encode("utf-8", "replace"))
    return note.name, note.description, note.type, note.body


def _topic(name: str) -> str:
    """A name as a topic that yields the same name."""
    plain = name.replace("-", " ")
    return plain[:1].upper() + plain[1:]
