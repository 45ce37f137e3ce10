"""What the agent does to a conversation before it goes on with it: open ends are closed.

1. A call that has no result anywhere is dropped with its record. Newer versions keep those of the last answer, and give
   them a result that says so.
2. Answers that are nothing but white space are dropped, and thinking that nothing was said with.
3. If the last word was the user's, the turn was broken off: an answer is put there that says nothing. Older versions
   first ask to continue, if the turn had begun: a result is the last thing, or attachments follow the prompt.
"""

from __future__ import annotations

from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.resumption.nodes import Link, blocks_of, calls_in, results_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, object]
NOTHING_SAID = "No response requested."
THINKING = ("thinking", "redacted_thinking")
CLOSING = ("SendUserMessage",)  #: tools that end a turn


class Settled(NamedTuple):
    """The records that stay, with those that were put there, and what was dropped: uuid and reason."""

    links: tuple[Link, ...]
    dropped: tuple[tuple[str, str], ...]


def settle(links: Sequence[Link], rules: SessionRules) -> Settled:
    """A conversation that can be gone on with."""
    kept = [*links, *_answers(links, rules)]
    answered = {call for link in kept for call in results_in(link)}
    spoken = {link.message_id for link in kept if link.type == "assistant" and not _is_thinking(link)}
    dropped: list[tuple[str, str]] = []
    stays: list[Link] = []
    for link in kept:
        reason = _reason(link, answered, spoken)
        if reason:
            dropped.append((link.id, reason))
        else:
            stays.append(link)
    return Settled((*stays, *_ending(stays, rules)), tuple(dropped))


def _reason(link: Link, answered: set[str], spoken: set[str]) -> str:
    """Why a record is dropped; empty = it stays."""
    if link.type != "assistant":
        return ""
    calls, blocks = calls_in(link), blocks_of(link)
    if calls and not any(call in answered for call in calls):
        return "call-without-result"
    if _is_thinking(link) and link.message_id not in spoken:
        return "thinking-alone"
    texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
    return "blank-answer" if texts and len(texts) == len(blocks) and not "".join(texts).strip() else ""


def _is_thinking(link: Link) -> bool:
    blocks = blocks_of(link)
    return bool(blocks) and all(block.get("type") in THINKING for block in blocks)


def _answers(links: Sequence[Link], rules: SessionRules) -> list[Link]:
    """Results for the open calls of the last answer, where the version writes such."""
    answers = [link for link in links if link.type == "assistant"]
    if not rules.open_call or not answers:
        return []
    after = links[max(at for at, link in enumerate(links) if link is answers[-1]) :]
    if any(link.type == "user" and not results_in(link) for link in after):
        return []
    answered = {call for link in links for call in results_in(link)}
    group = [
        link
        for link in answers
        if link is answers[-1] or (link.message_id and link.message_id == answers[-1].message_id)
    ]
    found = []
    for call in (call for link in group for call in calls_in(link) if call not in answered):
        block = {"type": "tool_result", "content": rules.open_call, "is_error": True, "tool_use_id": call}
        found.append(_made("user", [block]))
    return found


def _ending(links: Sequence[Link], rules: SessionRules) -> list[Link]:
    """What is put behind a turn that was broken off."""
    said = [at for at, link in enumerate(links) if link.type in ("user", "assistant") and not is_error(link)]
    if not said or links[said[-1]].type == "assistant":
        return []
    last, results = said[-1], results_in(links[said[-1]])
    if any(is_error(link) for link in links[last:]) and not (results and rules.continues):
        return []
    closing = {call for link in links for call in calls_in(link) if _closes(link)}
    begun = any(call not in closing for call in results) or any(link.type == "attachment" for link in links[last:])
    nothing = _made("assistant", [{"type": "text", "text": NOTHING_SAID}])
    return [_made("user", rules.continues), nothing] if begun and rules.continues else [nothing]


def _closes(link: Link) -> bool:
    """Whether an answer calls a tool after which nothing more is said."""
    return any(text_at(block, "name") in CLOSING for block in blocks_of(link))


def is_error(link: Link) -> bool:
    """Whether an answer is none of the model but an error of the API."""
    model = text_at(link.value.get("message"), "model")
    return link.type == "assistant" and link.value.get("isApiErrorMessage") is True and model == "<synthetic>"


def _made(role: str, content: object) -> Link:
    return Link({"type": role, "message": {"id": f"made {role}", "role": role, "content": content}}, 0)
