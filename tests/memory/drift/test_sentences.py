"""How a memory is cut into sentences and fenced blocks."""

from foretold.memory.drift.sentences import Span, split_sentences


def test_split_sentences():
    pieces = split_sentences("Run it.\n\n```py\nx = 1\n```\n")
    assert [(piece.text, piece.line) for piece in pieces] == [("Run it.", 1), ("x = 1", 4)]
    assert split_sentences("See `a.py`.")[0].spans == (Span("a.py", 1, is_link=False, at=4),)


def test_abbreviations_do_not_end_a_sentence():
    text = "Use e.g. this, etc. and vs. that. Then i.e. more; done! Really? The value. (See `a`.) End"
    pieces = split_sentences(text)
    assert [piece.text for piece in pieces] == [
        "Use e.g. this, etc. and vs. that.",
        "Then i.e. more;",
        "done!",
        "Really?",
        "The value.",
        "(See `\0`.)",
        "End",
    ]


def test_spans_have_their_line_and_place_in_a_long_paragraph():
    text = "First `a`\nand `b`.\n  Then [x](c.md 'title')\nand `d`."
    pieces = split_sentences(text, 10)
    assert [(piece.line, [(span.text, span.line, span.at) for span in piece.spans]) for piece in pieces] == [
        (10, [("a", 10, 6), ("b", 11, 14)]),
        (12, [("c.md", 12, 7), ("d", 13, 27)]),
    ]


def test_a_paragraph_with_thousands_of_sentences_takes_linear_time():
    import time

    def measure(count):
        text = "\n\n".join("See `a.py`. " * 1_000 for _ in range(count))
        start = time.process_time()
        split_sentences(text)
        return time.process_time() - start

    assert measure(16) < 12 * min(measure(4) for _ in range(3)) + 0.2
