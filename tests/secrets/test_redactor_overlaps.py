"""Where spans overlap, the surest holds, and nothing of the others is forgotten."""

import pytest

from foretold.secrets.redactor import resolve_overlaps

KEY = "AWS access key"


@pytest.mark.parametrize(
    ("text", "found", "known", "held"),
    [
        ("ID=AK01", [("a", 0, 7), (KEY, 3, 7)], [], [(KEY, 3, 7)]),
        ("sess=AK01; next=pw12", [("c", 0, 20), (KEY, 5, 9)], [], [(KEY, 5, 9), ("c", 9, 20)]),
        ("AK01AK02", [(KEY, 0, 4), (KEY, 4, 8), ("a", 0, 8)], [], [(KEY, 0, 4), (KEY, 4, 8)]),
        ("abcdefgh", [("a", 0, 5), ("b", 3, 8)], [], [("a", 0, 8)]),
        ("abcdefgh", [("a", 2, 8)], [("k", 0, 4)], [("k", 0, 4), ("a", 4, 8)]),
        ("abcdefgh", [(KEY, 2, 8)], [("k", 0, 8)], [(KEY, 2, 8)]),
        ("abcdefgh", [], [("k", 5, 8), ("k", 0, 4)], [("k", 0, 4), ("k", 5, 8)]),
        ("", [], [], []),
    ],
)
def test_what_holds(text, found, known, held):
    assert resolve_overlaps(text, found, known) == held
