"""What the agent drops and closes before it resumes a conversation: calls without results, blank answers, open ends.

1. A call that has no result anywhere is dropped with its record. Newer versions keep those of the last answer, and give
   them a result that says so.
2. Answers of nothing but white space are dropped, and thinking without any other block of its answer.
3. If the last message is the user's, the turn was interrupted: an empty answer is added. Older versions first ask to
   continue, if the turn had begun: a result is the last message, or attachments follow the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.fields import text_at
from foretold.sessions.resumption.graph import MESSAGE_TYPES, RecordNode

Dropped = list[tuple[str, str]]  #: id and reason

NO_RESPONSE = "No response requested."
THINKING = ("thinking", "redacted_thinking")
CLOSING = ("SendUserMessage",)  #: tools that end a turn


def close_open_ends(nodes: Sequence[RecordNode], rules: SessionRules) -> tuple[list[RecordNode], Dropped]:
    """The conversation with its open ends closed: made nodes have the line 0. And what was dropped."""
    everything = [*nodes, *_missing_results(nodes, rules)]
    answered = {call for node in everything for call in node.results}
    spoken = {node.message_id for node in everything if node.type == "assistant" and not _is_thinking(node)}
    dropped: Dropped = []
    kept: list[RecordNode] = []
    for node in everything:
        reason = _drop_reason(node, answered, spoken)
        if reason:
            dropped.append((node.id, reason))
        else:
            kept.append(node)
    return kept + _ending(kept, rules), dropped


def _drop_reason(node: RecordNode, answered: set[str], spoken: set[str]) -> str:
    """Why a record is dropped; empty = it is kept."""
    if node.type != "assistant":
        return ""
    calls, blocks = node.calls, node.blocks
    if calls and not any(call in answered for call in calls):
        return "call-without-result"
    if _is_thinking(node) and node.message_id not in spoken:
        return "thinking-alone"
    texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
    return "blank-answer" if texts and len(texts) == len(blocks) and not "".join(texts).strip() else ""


def _is_thinking(node: RecordNode) -> bool:
    blocks = node.blocks
    return bool(blocks) and all(block.get("type") in THINKING for block in blocks)


def _missing_results(nodes: Sequence[RecordNode], rules: SessionRules) -> list[RecordNode]:
    """Results for the open calls of the last answer, where the version writes such."""
    last = max((at for at, node in enumerate(nodes) if node.type == "assistant"), default=None)
    if not rules.open_call or last is None:
        return []
    if any(node.type == "user" and not node.results for node in nodes[last:]):
        return []
    answered = {call for node in nodes for call in node.results}
    name, found = nodes[last].message_id, []
    for node in nodes[: last + 1]:
        if node is nodes[last] or (name and node.type == "assistant" and node.message_id == name):
            for call in node.calls:
                if call not in answered:
                    block = {"type": "tool_result", "content": rules.open_call, "is_error": True, "tool_use_id": call}
                    found.append(_make_node("user", [block]))
    return found


def _ending(nodes: Sequence[RecordNode], rules: SessionRules) -> list[RecordNode]:
    """What is added to a turn that was interrupted."""
    messages = (at for at, node in enumerate(nodes) if node.type in MESSAGE_TYPES and not is_error(node))
    last = max(messages, default=None)
    if last is None or nodes[last].type == "assistant":
        return []
    results = nodes[last].results
    if any(is_error(node) for node in nodes[last:]) and not (results and rules.continues):
        return []
    enders = [node for node in nodes if any(text_at(block, "name") in CLOSING for block in node.blocks)]
    closing = {call for node in enders for call in node.calls}
    has_begun = any(call not in closing for call in results) or any(node.type == "attachment" for node in nodes[last:])
    answer = _make_node("assistant", [{"type": "text", "text": NO_RESPONSE}])
    return [_make_node("user", rules.continues), answer] if has_begun and rules.continues else [answer]


def is_error(node: RecordNode) -> bool:
    """Whether an answer is an error of the API instead of the model's."""
    model = text_at(node.value.get("message"), "model")
    return node.type == "assistant" and node.value.get("isApiErrorMessage") is True and model == "<synthetic>"


def _make_node(role: str, content: object) -> RecordNode:
    return RecordNode({"type": role, "message": {"id": f"made {role}", "role": role, "content": content}}, 0)
