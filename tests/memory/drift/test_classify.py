"""What the spelling of a text says it is."""

from foretold.memory.drift.classify import (
    TypedName,
    classify_text,
    is_distinct,
    is_hash,
    is_sure,
    path_of,
    symbol_of,
    without_line,
)


def test_is_hash():
    assert (is_hash("1a2b3c4"), is_hash("1234567"), is_hash("defaced")) == (True, False, False)


def test_is_sure():
    assert (is_sure("src/a.py"), is_sure("src/api/"), is_sure("acme/widgets")) == (True, True, False)


def test_without_line():
    assert (without_line("a.py:42"), without_line("a.py:42-50"), without_line("a.py#L7")) == ("a.py", "a.py", "a.py")


def test_path_of():
    assert (path_of("docs/"), path_of("origin/main"), path_of("Node.js")) == (
        (TypedName(kind="path", text="docs/"),),
        (),
        (),
    )


def test_symbol_of():
    assert (symbol_of("self.retry_count", is_called=False), symbol_of("len", is_called=True)) == (
        (TypedName(kind="symbol", text="retry_count"),),
        (),
    )


def test_is_distinct():
    assert [is_distinct(name) for name in ("open_store", "FooBar", "fooBar", "MAX_SIZE", "Store", "HTTP", "APIs")] == [
        True,
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_classify_text():
    assert classify_text("src/api.py:42") == (TypedName("path", "src/api.py:42"),)
    assert classify_text("open_store()") == (TypedName("symbol", "open_store"),)
    assert classify_text("src/api.py::handle") == (TypedName("path", "src/api.py"), TypedName("symbol", "handle"))
    assert [classify_text(text) for text in ("and/or", "1/2", "npm run build", "3.11")] == [()] * 4
