"""The words of foretold are tuples with names, built without `typing`."""

import pickle
import typing

import pytest

from foretold.instructions.session import Attachment, Call
from foretold.storage.tree import Fault, Item
from foretold.types import REASONS, Block, Entry, Finding, NamedTuple, Skip, Slot, estimate_tokens


class Point(NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""

    ORIGIN = "a class attribute, no field"

    @property
    def total(self) -> int:
        return self.x + self.y

    def moved(self, by: int) -> "Point":
        return self._replace(x=self.x + by)

    @classmethod
    def at(cls, text: str) -> "Point":
        return cls(*map(int, text.split(",")))


class TypedPoint(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = ""


def test_fields_and_defaults():
    assert Point(1) == (1, 2, "")
    assert Point(1, label="p") == (1, 2, "p")
    assert Point._fields == ("x", "y", "label")
    assert Point._field_defaults == {"y": 2, "label": ""}


def test_a_field_without_default_is_needed():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=3)


def test_methods_properties_and_class_methods():
    point = Point.at("3,4")
    assert (type(point), point.total, point.moved(1), Point.ORIGIN) == (
        Point,
        7,
        Point(4, 4),
        "a class attribute, no field",
    )
    assert type(point.moved(1)) is Point


def test_it_is_what_typing_builds():
    mine, theirs = Point(1, 5), TypedPoint(1, 5)
    assert repr(mine) == repr(theirs).replace("TypedPoint", "Point")
    assert (mine == theirs, hash(mine) == hash(theirs)) == (True, True)
    assert mine._asdict() == theirs._asdict() == {"x": 1, "y": 5, "label": ""}
    assert (Point.__doc__, Point.__name__, Point.__qualname__) == ("A point.", "Point", "Point")
    assert Point.__annotations__ == TypedPoint.__annotations__


def test_it_cannot_be_changed():
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 2
    with pytest.raises(AttributeError):
        point.z = 2  # no __dict__
    assert point == (1, 2, "")


def test_it_unpacks_and_matches():
    match Point(1, 2, "p"):
        case Point(x, y, label=label):
            found = (x, y, label)
    assert found == (1, 2, "p")


VALUES = [
    Entry("/p/CLAUDE.md", "project", "text", "raw", globs=("*.ts",), size=3),
    Skip("/p/x.md", "missing", parent="/p/CLAUDE.md", line=3),
    Finding("/p/x.md", 1, "code", "message", "hint"),
    Block("user", "text", "hello"),
    Slot("before-prompt", Block("user", "text", "hello")),
    Fault("missing"),
    Item("a.md", "file"),
    Call("Read", {"file_path": "x"}),
    Attachment((), ()),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_survive_pickling(value):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(value, protocol))
        assert (copy, type(copy)) == (value, type(value))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_replace_into_their_own_type(value):
    first = value._fields[0]
    changed = value._replace(**{first: "other"})
    assert (type(changed), changed[0], changed[1:]) == (type(value), "other", value[1:])
    assert repr(changed).startswith(f"{type(value).__name__}({first}='other'")


def test_an_entry_has_defaults_and_an_estimate():
    entry = Entry("/p/CLAUDE.md", "project", "Use pnpm.", "Use pnpm.")
    assert {name: value for name, value in entry._asdict().items() if name in Entry._field_defaults} == {
        **Entry._field_defaults,
        "kind": "file",
        "reason": "session_start",
        "parent": None,
        "trigger": None,
        "globs": (),
        "size": 0,
        "depth": 0,
        "folder": "",
        "announced": True,
    }
    assert (entry.tokens, entry.differs_from_disk) == (3, False)
    assert entry._replace(raw="---\n---\nUse pnpm.").differs_from_disk is True


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("世界", 2), ("\ud800", 1)])
def test_tokens_are_estimated_from_bytes(text, tokens):
    assert estimate_tokens(text) == tokens


def test_every_reason_is_a_word_with_a_sentence():
    assert [word for word, said in REASONS.items() if not said or " " in word or said.endswith(".")] == []
    assert list(REASONS) == sorted(REASONS)
