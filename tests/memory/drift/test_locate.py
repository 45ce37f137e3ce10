"""Paths as memories write them."""

from foretold.memory.drift.locate import _head, _pattern, normalize_path, printable


def test_printable():
    assert printable("a\udcff.py") == "a\\xff.py"


def test_normalize_path():
    assert (normalize_path("./src/a.py:42"), normalize_path("docs/")) == ("src/a.py", "docs")


def test_head():
    assert (_head("src/api/**/*.ts"), _head("*.ts")) == ("src/api", "")


def test_pattern():
    assert bool(_pattern("api/**/*.{ts,tsx}").fullmatch("src/api/v1/a.tsx"))
