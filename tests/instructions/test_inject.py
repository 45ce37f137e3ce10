"""Putting a view into messages: once, recognisable, and closed against what the text says."""

import copy
import re

import pytest
from hypothesis import example, given, strategies as st

from foretold import inject, is_memory_message, pinned_prefix
from foretold.errors import ForetoldError
from foretold.instructions.inject import PLACES

SYSTEM = {"role": "system", "content": "You are helpful."}
DEVELOPER = {"role": "developer", "content": "Be brief."}
USER = {"role": "user", "content": "hi"}
ASSISTANT = {"role": "assistant", "content": "hello"}
OURS = {"role": "user", "content": "<foretold>\nUse tabs.\n</foretold>"}

OPEN_TAG = re.compile(r"<\s*foretold", re.IGNORECASE)
CLOSE_TAG = re.compile(r"<\s*/\s*foretold", re.IGNORECASE)


def body(message):
    content = message["content"]
    return content if isinstance(content, str) else content[0]["text"]


# -- places --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], [OURS]),
        ([USER], [OURS, USER]),
        ([SYSTEM, USER], [SYSTEM, OURS, USER]),
        ([SYSTEM, DEVELOPER, USER, ASSISTANT], [SYSTEM, DEVELOPER, OURS, USER, ASSISTANT]),
        ([SYSTEM], [SYSTEM, OURS]),
        ([USER, SYSTEM], [OURS, USER, SYSTEM]),
    ],
)
def test_after_leading_system_messages(messages, expected):
    assert inject(messages, "Use tabs.") == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("after-system", [SYSTEM, OURS, USER, ASSISTANT, USER]),
        ("first", [OURS, SYSTEM, USER, ASSISTANT, USER]),
        ("before-last-user", [SYSTEM, USER, ASSISTANT, OURS, USER]),
        ("system", [SYSTEM, {**OURS, "role": "system"}, USER, ASSISTANT, USER]),
    ],
)
def test_other_places(place, expected):
    assert inject([SYSTEM, USER, ASSISTANT, USER], "Use tabs.", place=place) == expected


def test_before_a_user_who_is_not_there():
    assert inject([SYSTEM, ASSISTANT], "Use tabs.", place="before-last-user") == [SYSTEM, ASSISTANT, OURS]


def test_a_place_that_is_none():
    with pytest.raises(
        ForetoldError, match="unknown place 'last'; choose one of: after-system, first, before-last-user"
    ):
        inject([], "Use tabs.", place="last")


def test_another_role():
    assert inject([USER], "Use tabs.", role="developer")[0] == {**OURS, "role": "developer"}


# -- what is put ---------------------------------------------------------------------------------------------


def test_a_view_says_which_agent(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    view = place.load()
    (message,) = inject([], view)
    assert message == {"role": "user", "content": f'<foretold agent="claude-code@2.1.325">\n{view.text}\n</foretold>'}
    assert is_memory_message(message)


@pytest.mark.parametrize("text", ["", None])
def test_nothing_to_say(place, text):
    view = place.load() if text is None else text
    assert inject([SYSTEM, USER], view) == [SYSTEM, USER]
    assert inject([SYSTEM, OURS, USER], view) == [SYSTEM, USER]


ANTHROPIC = [
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Read", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]},
]
OPENAI = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]},
    {"role": "tool", "tool_call_id": "1", "content": "x"},
]


def test_blocks_where_the_others_have_blocks():
    ours = {"role": "user", "content": [{"type": "text", "text": "<foretold>\nUse tabs.\n</foretold>"}]}
    assert inject(ANTHROPIC, "Use tabs.") == [ours, *ANTHROPIC]


def test_text_where_the_others_have_text():
    assert inject(OPENAI, "Use tabs.") == [OPENAI[0], OURS, *OPENAI[1:]]


@pytest.mark.parametrize("messages", [ANTHROPIC, OPENAI, [OURS, *ANTHROPIC]], ids=["anthropic", "openai", "again"])
def test_nothing_that_was_given_is_changed(messages):
    before = copy.deepcopy(messages)
    found = inject(messages, "Use spaces.")
    assert messages == before
    found.append({})
    found[0]["role"] = found[0]["role"]
    assert messages == before
    assert all(
        any(message is given_ for given_ in messages) for message in found[:-1] if not is_memory_message(message)
    )


@pytest.mark.parametrize("messages", [(), (USER,), [USER]])
def test_any_sequence_will_do(messages):
    assert inject(messages, "Use tabs.") == [OURS, *messages]


# -- again ---------------------------------------------------------------------------------------------------


def test_injecting_again_replaces():
    once = inject([SYSTEM, USER], "Use tabs.")
    assert inject(once, "Use tabs.") == once
    assert [body(message) for message in inject(once, "Use spaces.") if is_memory_message(message)] == [
        "<foretold>\nUse spaces.\n</foretold>"
    ]


def test_injecting_elsewhere_moves():
    once = inject([SYSTEM, USER, ASSISTANT, USER], "Use tabs.")
    assert inject(once, "Use tabs.", place="first") == [OURS, SYSTEM, USER, ASSISTANT, USER]


TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            [
                "<foretold>",
                "</foretold>",
                "</Foretold",
                "<",
                "/",
                "foretold",
                ">",
                "\n",
                "İ",
                "ẞ",
                "ß",
                "K",
                "ŉ",
                "a",
                "&lt;",
                "ﬀ",
                "\0",
                " ",
            ]
        ),
        max_size=12,
    ).map("".join),
)
CONTENT = st.one_of(
    st.none(),
    TEXTS,
    TEXTS.map(lambda text: [{"type": "text", "text": text}]),
    st.just([]),
    st.just([{"type": "image"}]),
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]), "content": CONTENT}
    ),
    max_size=6,
)


@given(MESSAGES, TEXTS, st.sampled_from(PLACES), st.sampled_from(PLACES))
def test_twice_is_once(messages, text, first, second):
    once = inject(messages, text, place=second)
    assert inject(once, text, place=second) == once
    assert inject(inject(messages, text, place=first), text, place=second) == once


@given(MESSAGES, TEXTS, st.sampled_from(PLACES))
def test_what_was_there_stays_in_its_order(messages, text, place):
    others = [message for message in messages if not is_memory_message(message)]
    assert [message for message in inject(messages, text, place=place) if not is_memory_message(message)] == others
    assert sum(map(is_memory_message, inject(messages, text, place=place))) == bool(text)


# -- the boundary --------------------------------------------------------------------------------------------

HOSTILE = [
    "</foretold>",
    "</FORETOLD>",
    "</Foretold >",
    "</foretold\n>",
    "<foretold>",
    "<FORETOLD agent='x'>",
    "a</foretold>b</foretold>c",
    "</foretold></foretold>",
    "<<foretold>",
    "<</foretold>",
    "\n</foretold>",
    "\n</foretold>\n",
    "İ</foretold>",  # its lower case is longer than itself
    "İİİİ</Foretold>",
    "ŉ" * 20 + "</foretold>",
    "x" * 1000 + "İ</foretold>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_tag_in_the_text_ends_nothing(text):
    (message,) = inject([], text)
    check_boundary(message, text)


@given(TEXTS.filter(bool))
@example("İ</foretold>")
def test_no_text_ends_the_message_early(text):
    (message,) = inject([], text)
    check_boundary(message, text)


def check_boundary(message, text):
    """One opening tag at the front, one closing tag at the end, and between them the text with `<` disarmed."""
    said = body(message)
    assert is_memory_message(message)
    assert said.startswith("<foretold>\n")
    assert said.endswith("\n</foretold>")
    inner = said[len("<foretold>\n") : -len("\n</foretold>")]
    assert re.findall(r"</?foretold", inner, re.IGNORECASE) == []
    assert inner.replace("&lt;", "<") == text.replace("&lt;", "<")


def test_text_without_our_tags_is_left_alone():
    text = 'a < b && c > d </head> <note> foretold </ foretold "&lt;"'
    (message,) = inject([], text)
    assert body(message) == f"<foretold>\n{text}\n</foretold>"


# -- recognising ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": ""},
        {"role": "user", "content": "<foretold>"},
        {"role": "user", "content": "</foretold>"},
        {"role": "user", "content": "<foretold>\nopen"},
        {"role": "user", "content": "text <foretold>\nx\n</foretold>"},
        {"role": "user", "content": "<foretold>\nx\n</foretold> text"},
        {"role": "user", "content": "<foretolds>\nx\n</foretold>"},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "image"}]},
        {"role": "user", "content": ["<foretold>\nx\n</foretold>"]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "<foretold>\nx\n</foretold>"}, {"type": "text", "text": "hi"}],
        },
        {"role": "user", "content": 3},
    ],
)
def test_messages_that_are_not_ours(message):
    assert is_memory_message(message) is False


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("role", ["user", "system", "developer"])
@pytest.mark.parametrize("messages", [ANTHROPIC, OPENAI, []], ids=["anthropic", "openai", "empty"])
def test_what_we_put_is_recognised(place, role, messages):
    found = inject(messages, "Use tabs.", place=place, role=role)
    assert [message for message in found if not is_memory_message(message)] == messages
    assert len(found) == len(messages) + 1


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_what_others_repeat_is_not_ours(role):
    """A model that is asked to repeat its instructions must not lose its answer."""
    echo = {"role": role, "content": OURS["content"]}
    assert is_memory_message(echo) is False
    assert inject([USER, echo], "Use tabs.") == [OURS, USER, echo]


@pytest.mark.parametrize(
    ("messages", "count"),
    [
        ([], 0),
        ([USER], 0),
        ([SYSTEM, USER], 1),
        ([OURS, USER], 1),
        ([SYSTEM, OURS, USER], 2),
        ([OURS, SYSTEM, DEVELOPER, USER, OURS], 3),
        ([SYSTEM, USER, SYSTEM], 1),
        ([USER, OURS], 0),
    ],
)
def test_the_pinned_prefix(messages, count):
    assert pinned_prefix(messages) == count


@given(MESSAGES, TEXTS.filter(bool))
def test_ours_is_pinned(messages, text):
    found = inject(messages, text)
    assert is_memory_message(found[pinned_prefix(found) - 1])
