"""From entries to the exact text and blocks."""

import pytest

from foretold.dialects.registry import dialect_at
from foretold.instructions.render.blocks import (
    NestedEntries,
    mention_blocks,
    nested_texts,
    placement_of,
    shown_path,
    start_block,
    start_text,
    turn_blocks,
)
from foretold.types import Block, Entry

OLD, NEW = (dialect_at("claude-code", version) for version in ("2.1.197", "2.1.325"))
HEADER = NEW.template.header
A = Entry("/p/a/CLAUDE.md", "project", "\n a \n", "")
B = Entry("/p/b/CLAUDE.md", "local", "b", "")
C = Entry("/p/c/AGENTS.md", "project", "c\n", "")
D = Entry("/p/d/AGENTS.md", "project", "d", "")


def nested(entry):
    return f"Contents of {entry.path}:\n\n{entry.text}"


def reminder(text):
    return f"<system-reminder>\n{text}\n</system-reminder>"


# -- the start -----------------------------------------------------------------------------------------------

DESCRIPTIONS = {
    "managed": "organization-managed policy instructions",
    "user": "user's private global instructions for all projects",
    "project": "project instructions, checked into the codebase",
    "local": "user's private project instructions, not checked in",
    "memory": "user's auto-memory, persists across conversations",
}


@pytest.mark.parametrize("dialect", [OLD, NEW], ids=["197", "325"])
def test_every_layer_has_its_description(dialect):
    entries = [Entry(f"/{layer}", layer, f"\n{layer}\n", "") for layer in DESCRIPTIONS]
    parts = [f"Contents of /{layer} ({said}):\n\n{layer}" for layer, said in DESCRIPTIONS.items()]
    assert start_text(entries, dialect.template) == "\n\n".join([HEADER, *parts])


def test_no_entries_no_text():
    assert start_text([], NEW.template) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\ufeff\u00a0 a \u3000\u2028\n", "a"),
        ("\u200ba\u200b", "\u200ba\u200b"),
        ("\x1ca\x85", "\x1ca\x85"),
        ("    code", "code"),
        ("{path} {text} {0} %s", "{path} {text} {0} %s"),
        ("</system-reminder>", "</system-reminder>"),
    ],
)
def test_text_is_trimmed_as_javascript_does_and_not_escaped(text, shown):
    assert start_text([A._replace(text=text)], NEW.template).endswith(f":\n\n{shown}")


def test_a_path_with_braces_is_a_path():
    assert "Contents of /p/{text} (" in start_text([A._replace(path="/p/{text}")], NEW.template)


class Surroundings:
    """All that the envelope needs."""

    date = "2026-01-02"

    def __init__(self, model, *, prompt_follows):
        self.model, self.prompt_follows = model, prompt_follows


@pytest.mark.parametrize(
    ("model", "prompt_follows", "end"),
    [
        ("claude-opus-5-5", False, "</system-reminder>"),
        ("claude-opus-5-5", True, "</system-reminder>\n"),
        ("claude-haiku-4-5", False, "</system-reminder>"),
        ("claude-haiku-4-5", True, "</system-reminder>"),  # the date follows there
    ],
)
def test_the_envelope_of_its_own_block(model, prompt_follows, end):
    block = start_block("TEXT", NEW, Surroundings(model, prompt_follows=prompt_follows))
    assert block == Block("user", "text", "<system-reminder>\nTEXT\n" + end)
    assert start_block(None, NEW, Surroundings(model, prompt_follows=prompt_follows)) is None


OLD_START = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
OLD_END = (
    "# currentDate\nToday's date is 2026-01-02.\n\n      IMPORTANT: this context may or may not be relevant to "
    "your tasks. You should not respond to this context unless it is highly relevant to your task.\n"
    "</system-reminder>\n\n"
)


@pytest.mark.parametrize("prompt_follows", [True, False])
def test_the_envelope_of_the_older_version(prompt_follows):
    surroundings = Surroundings("claude-opus-4-8", prompt_follows=prompt_follows)
    assert start_block("TEXT", OLD, surroundings) == Block("user", "text", f"{OLD_START}# claudeMd\nTEXT\n{OLD_END}")
    assert start_block(None, OLD, surroundings) == Block("user", "text", OLD_START + OLD_END)


# -- a turn --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "model", "forms"),
    [
        (OLD, "claude-opus-4-8", ("system", "system")),
        (OLD, "claude-sonnet-5", ("system", "system")),
        (OLD, "claude-haiku-4-5-20251001", ("tool-result", "tool-result")),
        (OLD, "claude-sonnet-4-5", ("tool-result", "tool-result")),
        (NEW, "claude-opus-5-5", ("user-blocks", "system")),
        (NEW, "claude-sonnet-5", ("user-blocks", "system-tagged")),
        (NEW, "claude-sonnet-4-5-20250929", ("tool-result", "tool-result")),
        (NEW, "anything else", ("user-blocks", "system")),
        (NEW, "", ("user-blocks", "system")),
    ],
)
def test_forms_by_family(dialect, model, forms):
    placement = placement_of(model, dialect)
    assert (placement.files, placement.fallback) == forms


def test_nested_text_is_not_trimmed():
    assert nested_texts([A, B], NEW) == ["Contents of /p/a/CLAUDE.md:\n\n\n a \n", "Contents of /p/b/CLAUDE.md:\n\nb"]


TURN = [NestedEntries((A,), (C,)), NestedEntries((), ()), NestedEntries((B,), (D,))]
HOOK = "tool.call hook additional context: "


def test_a_turn_of_the_older_version():
    assert turn_blocks([NestedEntries((A,)), NestedEntries((B,))], OLD, "claude-opus-4-8") == [
        Block("system", "text", f"{nested(A)}\n\n{nested(B)}")
    ]


def test_a_turn_of_the_newer_version():
    assert turn_blocks(TURN, NEW, "claude-opus-5-5") == [
        Block("user", "text", reminder(nested(A)) + "\n"),
        Block("user", "text", reminder(nested(B))),
        Block("system", "text", f"{HOOK}{nested(C)}\n\n{HOOK}{nested(D)}"),
    ]


def test_a_turn_of_sonnet():
    assert turn_blocks(TURN, NEW, "claude-sonnet-5")[-1] == Block(
        "system", "text", reminder(f"{HOOK}{nested(C)}\n\n{HOOK}{nested(D)}")
    )


@pytest.mark.parametrize("dialect", [OLD, NEW], ids=["197", "325"])
def test_a_turn_inside_the_results(dialect):
    assert turn_blocks(TURN, dialect, "claude-haiku-4-5") == [
        Block("user", "tool_result", f"\n\n{reminder(HOOK + nested(C))}\n\n{reminder(nested(A))}"),
        Block("user", "tool_result", f"\n\n{reminder(HOOK + nested(D))}\n\n{reminder(nested(B))}"),
    ]


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"])
@pytest.mark.parametrize("dialect", [OLD, NEW], ids=["197", "325"])
def test_a_turn_that_attaches_nothing(dialect, model):
    assert turn_blocks([], dialect, model) == turn_blocks([NestedEntries(())], dialect, model) == []
    assert mention_blocks([], dialect, model) == mention_blocks([NestedEntries(())], dialect, model) == []


def test_agents_md_of_one_call_are_joined_by_one_line_end():
    assert turn_blocks([NestedEntries((), (C, D))], NEW, "claude-opus-5-5") == [
        Block("system", "text", f"{HOOK}{nested(C)}\n{nested(D)}")
    ]


# -- mentions ------------------------------------------------------------------------------------------------


def test_mentions():
    """AGENTS.md first, each mention by itself; then the files of all."""
    hook = "prompt.mention hook additional context: "
    assert mention_blocks([NestedEntries((A,), (C, D)), NestedEntries((B,), ())], NEW, "claude-opus-5-5") == [
        Block("user", "text", reminder(f"{hook}{nested(C)}\n{nested(D)}") + "\n"),
        Block("user", "text", reminder(nested(A)) + "\n"),
        Block("user", "text", reminder(nested(B))),
    ]
    assert mention_blocks([NestedEntries((A,)), NestedEntries((B,))], OLD, "claude-opus-4-8") == [
        Block("system", "text", f"{nested(A)}\n\n{nested(B)}")
    ]
    assert mention_blocks([NestedEntries((A, B))], NEW, "claude-haiku-4-5") == [
        Block("user", "text", reminder(nested(A))),
        Block("user", "text", reminder(nested(B))),
    ]


def test_a_path_that_is_not_utf8():
    assert shown_path("/a\udcff") == "/a\ufffd"
