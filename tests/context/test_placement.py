"""Attachments in requests: what the real agent recorded, rendered by us, is what it sent (turns.jsonl)."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from foretold.context.attachments import TurnAttachment, attachment_of
from foretold.context.placement import tool_blocks, turn_messages
from foretold.types import Block, Message

Turn = dict[str, Any]

HERE = os.path.dirname(__file__)
with open(os.path.join(HERE, "turns.jsonl"), encoding="utf-8") as file:
    TURNS: list[Turn] = [json.loads(line) for line in file]
CONTEXT = "<system-reminder>\nAs you answer the user's questions"


def _sent(message: Message) -> list[object]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    assert isinstance(blocks, list)
    return [
        message["role"],
        [[block["type"], block["text"] if "text" in block else block["source"]["data"]] for block in blocks],
    ]


@pytest.mark.parametrize("turn", [turn for turn in TURNS if turn["place"] == "prompt"])
def test_a_prompt_with_its_attachments(turn: Turn) -> None:
    user = next(content for role, content in reversed(turn["sent"]) if role == "user")
    is_earlier = turn["agent"].endswith("2.1.197")
    context = [Block("user", "text", text) for _, text in user if is_earlier and text.startswith(CONTEXT)]
    found = [attachment_of(record) for record in turn["attachments"]]
    messages = turn_messages(user[-1][1], found, agent=turn["agent"], model=turn["model"], context=context)
    assert [_sent(message) for message in messages] == turn["sent"]


@pytest.mark.parametrize("turn", [turn for turn in TURNS if turn["place"] == "tools"])
def test_results_of_tools_with_their_attachments(turn: Turn) -> None:
    found = [attachment_of(record) for record in turn["attachments"]]
    blocks = tool_blocks(found, agent=turn["agent"], model=turn["model"])
    sent = [[role, kind, text] for role, content in turn["sent"] for kind, text in content if text]
    assert [list(block) for block in blocks] == sent


def test_an_unknown_attachment_is_kept_and_not_sent() -> None:
    record = {"type": "of_tomorrow", "field": [1]}
    assert attachment_of(record).record == record
    assert turn_messages("Hi.", [attachment_of(record)]) == turn_messages("Hi.", [])


def test_what_has_not_changed_is_passed_over() -> None:
    date = TurnAttachment("date", {"date": "2026-01-02"})
    assert turn_messages("Hi.", [None, date, None]) == turn_messages("Hi.", [date])
    assert tool_blocks([None]) == ()
