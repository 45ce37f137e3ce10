"""Files that a prompt mentions."""

import pytest
from hypothesis import given, strategies as st

from foretold.instructions.text.prompt_mentions import PromptMention, mentions_in, parse_mentions


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", []),
        ("@a.ts", ["a.ts"]),
        ("see @a/b.ts and @c.ts", ["a/b.ts", "c.ts"]),
        ("@a.ts @a.ts", ["a.ts"]),
        ("@a.ts#L1-3", ["a.ts"]),
        ('@"a b.ts"', ["a b.ts"]),
        ("line\n@a.ts\tend", ["a.ts"]),
        ("me@x.com", []),
        ("@", []),
        ("@ a", []),
        ('@b.ts "@no.ts" @"a b.ts" @c.ts @"a b.ts"', ["a b.ts", "b.ts", "c.ts"]),
        ('@a.ts#L1 @"a.ts" @a.ts#L2', ["a.ts"]),
        ("@~/x /y@z @/abs", ["~/x", "/abs"]),
    ],
)
def test_mentions(text, paths):
    assert mentions_in(text) == paths


@given(st.text(st.sampled_from('@ab "#\n\t/.~\0'), max_size=30))
def test_each_once_and_never_empty(text):
    found = mentions_in(text)
    assert len(found) == len(set(found))
    assert all(path.partition("#")[0] for path in found)


def test_ranges():
    found = parse_mentions('@a.ts#L2 @a.ts#L2-9, @a.ts#top @"b c#L3-1" @#L1')
    assert found == [
        PromptMention("b c", 3, 1),
        PromptMention("a.ts", 2, 2),
        PromptMention("a.ts", 2, 9),
        PromptMention("a.ts"),
    ]


def test_quotes_come_first():
    found = parse_mentions('see @a.ts#L2-3, @"b c.md" and `@no.ts`')
    assert found == [PromptMention("b c.md"), PromptMention("a.ts", 2, 3)]


def test_a_path_with_and_without_a_range_counts_once():
    assert mentions_in('look at @a/f.txt, @a/f.txt#L2 and @"b c.md"') == ["b c.md", "a/f.txt"]
