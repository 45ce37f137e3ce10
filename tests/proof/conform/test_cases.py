"""Reading cases and comparing answers."""

import hashlib
import json

import pytest

from foretold.errors import BadCase
from foretold.proof.conform.cases import CaseOutcome, content_of, fill, is_same, read_cases

# -- reading -------------------------------------------------------------------------------------------------


def test_one_case_a_line(place):
    path = place.write("cases.jsonl", '{"id": "a"}\n\n  \n{"id": "b", "x": "\\u2028é"}\n')
    assert read_cases(path) == [{"id": "a"}, {"id": "b", "x": "\u2028é"}]


def test_line_ends_are_line_feeds_alone(place):
    """Other separators may stand inside a recorded text."""
    path = place.write("cases.jsonl", json.dumps({"id": "a", "x": "\u2028\u2029\x85"}, ensure_ascii=False) + "\n")
    assert read_cases(path) == [{"id": "a", "x": "\u2028\u2029\x85"}]


def test_an_empty_file(place):
    assert read_cases(place.write("cases.jsonl", "")) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not valid JSON"),
        ("nonsense", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "a case must be an object with an id"),
        ("{}", "a case must be an object with an id"),
        ('{"id": 3}', "a case must be an object with an id"),
        ('"text"', "a case must be an object with an id"),
        ("null", "a case must be an object with an id"),
    ],
    ids=range(8),
)
def test_a_bad_line_is_named(place, line, said):
    path = place.write("cases.jsonl", '{"id": "a"}\n\n' + line + "\n")
    with pytest.raises(BadCase) as error:
        read_cases(path)
    assert str(error.value).startswith(f"{path}:3: {said}")
    assert error.value.exit_code == 2


def test_files_that_cannot_be_read(place):
    place.folder("folder")
    place.write("bytes", b"\xff\n")
    for name in ("missing", "folder", "bytes"):
        with pytest.raises(BadCase, match=f"{place.path(name)} cannot be read"):
            read_cases(place.path(name))


# -- placeholders --------------------------------------------------------------------------------------------

PLACES = {"root": "/r", "proj": "/r/proj", "home": "/r/home", "fsroot": "", "date": "2026-01-02", "root-slug": "-r"}


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("{proj}/a", "/r/proj/a"),
        ("{proj}{proj}", "/r/proj/r/proj"),
        ("{fsroot}/tmp", "/tmp"),
        ("-{root-slug}-", "--r-"),
        ("{unknown} {} {proj", "{unknown} {} {proj"),
        ("{src,lib}/**", "{src,lib}/**"),
        ("{{proj}}", "{/r/proj}"),
        ("{managed}", "{managed}"),  # no such place given
        (
            {"{home}/x": {"json": {"a": ["{date}", 3, None, True]}}},
            {"/r/home/x": {"json": {"a": ["2026-01-02", 3, None, True]}}},
        ),
        ([["{root}"]], [["/r"]]),
        (3, 3),
        (None, None),
    ],
)
def test_only_known_names_are_filled(value, filled):
    assert fill(value, PLACES) == filled


def test_a_filled_text_is_not_filled_again():
    assert fill("{root}", {"root": "{home}", "home": "x"}) == "{home}"


# -- contents ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text é", "text é".encode()),
        ("", b""),
        ({"b64": "/wA="}, b"\xff\x00"),
        ({"hex": "efbbbf0a"}, b"\xef\xbb\xbf\n"),
        ({"json": {"a": "é"}}, '{"a": "é"}'.encode()),
        ({"head": "h", "text": "ab", "repeat": 3, "tail": "t"}, b"habababt"),
        ({"text": "x"}, b"x"),
        ({"text": "x", "mode": "000"}, b"x"),
    ],
)
def test_contents(value, content):
    assert content_of(value) == content


@pytest.mark.parametrize("value", [3, None, ["x"]])
def test_no_content(value):
    with pytest.raises(BadCase, match="not a file content"):
        content_of(value)


# -- comparing -----------------------------------------------------------------------------------------------


def digest(text, **more):
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "head": text[:3], "chars": len(text), **more}


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("a", "a", True),
        ("a", "a ", False),
        (None, None, True),
        (None, "", False),
        ([], (), True),
        ([["user", "text", "x"]], [["user", "text", "x"]], True),
        ([["user", "text", "x"]], [["user", "text", "x"], ["user", "text", "y"]], False),
        ([["user", "text", "x"], ["user", "text", "y"]], [["user", "text", "x"]], False),
        (["a", "b"], ["b", "a"], False),
        (digest("long text"), "long text", True),
        (digest("long text"), "long texT", False),
        (digest("long text"), None, False),
        ([["user", "text", digest("long")]], [["user", "text", "long"]], True),
    ],
)
def test_sameness(expected, actual, same):
    assert is_same(expected, actual) is same


def test_a_digest_is_of_the_text_with_names_for_its_paths():
    expected = digest("{proj}/a and {root}/b", digest_placeholders={"/r": "{root}", "/r/proj": "{proj}"})
    assert is_same(expected, "/r/proj/a and /r/b")
    assert not is_same(expected, "/r/proj/a and /r/c")


def test_an_outcome_has_defaults():
    assert CaseOutcome("a", "passed") == ("a", "passed", "", ())
