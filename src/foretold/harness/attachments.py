"""What is attached to a prompt or to the results of tools, and what of the instructions was not loaded.

1. To a prompt: the files that it mentions, the instructions for those files, files that another process changed, lists
   of what the model may use (`listings`), skills and memories that it is about, and the part of its context that the
   conversation does not have yet.
2. To results of tools: the instructions for the files they touched, files that another process changed, and what is
   new in those lists.
3. Instructions that came with a file are known to the read state: when they change, that is reported.
4. Recalled memories come as a hook of the prompt would inject them, quoted (`memory.recall.render`), each once.
5. A mention that is not attached is a finding, and so is every instruction file that was skipped unexpectedly.
"""

from __future__ import annotations

from collections.abc import Sequence

from foretold.context.attachments import (
    TurnAttachment,
    changed_attachments,
    hook_context,
    nested_attachment,
    nested_attachments,
)
from foretold.context.mentions import resolve_mentions
from foretold.instructions.render.escape import escape_fallback, escape_reserved
from foretold.instructions.session import Call
from foretold.instructions.text.prompt_mentions import parse_mentions
from foretold.sessions.formats.fields import object_at
from foretold.types import REASONS, TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.harness.harness import Harness
    from foretold.harness.tools.base import Result
    from foretold.instructions.session import Attachment
    from foretold.instructions.view import View


#: reasons that need no finding: it is loaded when needed, the model has the same text, or a finding says it already
#: (of an import that is missing; of memory that is off)
EXPECTED = frozenset(
    "not-yet-read duplicate already-loaded already-attached not-an-import in-code missing disabled".split()
)


def skip_findings(view: View) -> list[Finding]:
    """The skips of a view that no finding names already."""
    named = {finding.path for finding in view.findings}
    lost = [skip for skip in view.skips if skip.reason not in EXPECTED and skip.path not in named]
    said = [f"{skip.reason}: {skip.detail or REASONS.get(skip.reason, 'not loaded')}" for skip in lost]
    return [Finding(skip.path, skip.line, "instructions-skipped", why) for skip, why in zip(lost, said, strict=True)]


BUDGET = 2000  #: tokens of recalled memories
#: how `ReadState` calls an error -> how a dialect's triggers do
_ERRORS = {"not_found": "missing", "folder": "is-a-folder"}


class AttachmentCollector:
    """What is attached in one conversation."""

    def __init__(self, harness: Harness) -> None:
        self.instructions, self.state, self.system_prompt = harness.instructions, harness.state, harness.system_prompt
        self.listings = harness.listings
        self.memory, self.add_finding = harness.memory if harness.options.recall else None, harness.add_finding
        self._recalled: set[tuple[str, str, str]] = set()

    def for_prompt(self, text: str) -> list[TurnAttachment]:
        """What a prompt brings along."""
        files = self._mentions(text)
        first, last = self.system_prompt.attachments()
        self.listings.look_again()
        listed, ranked = self.listings.attachments(), self.listings.ranked(text)
        nested = self._nested(self.instructions.prompt(text))
        changed = changed_attachments(self.state)
        return [*files, *first, *listed, *nested, *changed, *ranked, *self._memories(text), *last]

    def for_results(self, calls: Sequence[tuple[dict[str, object], Result]]) -> list[TurnAttachment]:
        """What the results of one answer's calls bring along."""
        used = [Call(str(call["name"]), object_at(call, "input"), error_of(result)) for call, result in calls]
        nested = self._nested(self.instructions.use(used))
        return [*nested, *changed_attachments(self.state), *self.listings.attachments()]

    def forget(self) -> None:
        """A compaction has dropped what was recalled."""
        self._recalled.clear()

    def _mentions(self, text: str) -> tuple[TurnAttachment, ...]:
        surroundings = self.instructions.view.surroundings
        found = resolve_mentions(text, surroundings.cwd, agent=self.system_prompt.agent, home=surroundings.home)
        paths = {str(each.fields.get("filename")) for each in found.attachments if each.type == "file"}
        for mention in parse_mentions(text):
            if self.state.path_of(mention.path) in paths:
                self.state.mention(mention.path, mention.first, mention.last)
        for skip in found.skips:
            why = skip.detail or REASONS.get(skip.reason, skip.reason)
            self.add_finding(Finding(skip.path, None, "mention-not-attached", f"{skip.reason}: {why}"))
        return found.attachments

    def _nested(self, brought: Attachment) -> list[TurnAttachment]:
        """Instructions that came with a file; in versions that see to it, no text in them passes for the agent's."""
        for finding in brought.findings:
            self.add_finding(finding)
        for entry in brought.entries:
            self.state.inject(entry.path, entry.raw, shown=entry.text)
        view, escape = self.instructions.view, {True: escape_fallback, False: escape_reserved}
        if not view.dialect.template.escapes:
            return nested_attachments(brought.entries, view)
        return [nested_attachment(entry, view, escape[entry.fallback](entry.text)) for entry in brought.entries]

    def _memories(self, text: str) -> list[TurnAttachment]:
        if self.memory is None:
            return []
        from foretold.memory.recall.recall import render

        found = self.memory.recall(text, budget=BUDGET)
        new = {(hit.folder, hit.memory.file, hit.memory.digest): hit for hit in found.hits}
        hits = tuple(hit for key, hit in new.items() if key not in self._recalled)
        self._recalled |= new.keys()
        shown = render(found._replace(hits=hits)) if hits else ""
        return [hook_context("UserPromptSubmit", shown)] if shown else []


def error_of(result: Result) -> str:
    """How a call failed, in the words of a dialect's triggers; empty if it did not."""
    if not result.is_error:
        return ""
    if result.verdict is not None:
        return "denied"
    code = result.outcome.code if result.outcome is not None else ""
    return _ERRORS.get(code, code or "failed")
