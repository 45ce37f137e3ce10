"""Line counts, as the real agent counts them (recorded on 2.1.197 and 2.1.325) and as few as can be."""

import random

import pytest

from foretold.text import diff
from foretold.text.diff import LineCount, count_lines


@pytest.mark.parametrize(
    ("now", "lines"),
    [
        (b"one\ntwo\n", (0, 0)),
        (b"one\ntwo", (1, 1)),
        (b"one\r\ntwo\r\n", (2, 2)),
        (b"", (2, 0)),
        (b"one\0\ntwo\n", (1, 1)),
        (b"one\nx\ntwo\ny", (0, 2)),
        (b"two\none\n", (1, 1)),
        (b"one\n\xff\ntwo\n", (0, 1)),
        (b"one\rtwo\r", (2, 1)),
        (b"one\ntwo\n\n", (0, 1)),
        ("one\u2028x\ntwo\n".encode(), (1, 1)),
    ],
)
def test_as_the_agent_counts(now, lines):
    assert count_lines(now, b"one\ntwo\n") == lines


def longest_common(old, new):
    row = [0] * (len(new) + 1)
    for line in old:
        before = row[:]
        for at, other in enumerate(new):
            row[at + 1] = before[at] + 1 if line == other else max(row[at], before[at + 1])
    return row[-1]


def test_as_few_as_can_be():
    chance = random.Random(7)
    for _ in range(300):
        old, new = ([chance.choice("abcd") for _ in range(chance.randrange(12))] for _ in range(2))
        same = longest_common(old, new)
        texts = ["".join(f"{line}\n" for line in lines).encode() for lines in (old, new)]
        assert count_lines(*texts) == LineCount(len(new) - same, len(old) - same)


def test_too_many_changes_are_counted_without_their_order(monkeypatch):
    monkeypatch.setattr(diff, "MOST_STEPS", 3)
    assert count_lines(b"a\nb\nc\nd\ne\n", b"e\nd\nx\nb\na\n") == LineCount(1, 1)


def test_a_unified_diff():
    lines = ["--- a/f.txt", "+++ b/f.txt", "@@ -1 +1 @@", "-one", "+two", "\\ No newline at end of file", ""]
    assert diff.unified("one\n", "two", "f.txt") == "\n".join(lines)


def test_lines_that_lead_from_one_to_another():
    assert count_lines(b"one\ntwo\n", b"one\nTWO\nthree\n") == LineCount(2, 1)
    assert count_lines(b"one\ntwo", b"one\ntwo\n") == LineCount(1, 1)
