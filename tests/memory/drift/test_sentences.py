"""How a memory is cut into sentences and fenced blocks."""

from foretold.memory.drift.sentences import Span, split_sentences


def test_split_sentences():
    pieces = split_sentences("Run it.\n\n```py\nx = 1\n```\n")
    assert [(piece.text, piece.line) for piece in pieces] == [("Run it.", 1), ("x = 1", 4)]
    assert split_sentences("See `a.py`.")[0].spans == (Span("a.py", 1, is_link=False, at=4),)
