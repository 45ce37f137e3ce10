"""JSON schemas for what tools take and return, and the check of arguments against them.

1. What a tool takes is kept so plain that every client's model API accepts it: no alternatives, no references.
2. What it gives is closed: every field is there, always, and no other. Where there is nothing, a text is empty.
3. A wrong argument is described so that the caller can correct it. Only schemas that are written here are understood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from foretold.errors import BadArgument
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    Schema = dict[str, object]
    Row = dict[str, object]


def text(about: str, *, most: int = 0, one_of: Sequence[str] = (), least: int = 0) -> Schema:
    """A text.

    >>> text("a name", most=9)
    {'type': 'string', 'description': 'a name', 'maxLength': 9}
    """
    limits = {"minLength": least, "maxLength": most, "enum": list(one_of)}
    return {"type": "string", "description": about, **{key: value for key, value in limits.items() if value}}


def number(about: str, least: int | None = None, most: int | None = None, usual: int | None = None) -> Schema:
    """A whole number; `usual` is the default."""
    limits = {"minimum": least, "maximum": most, "default": usual}
    given = {key: value for key, value in limits.items() if value is not None}
    return {"type": "integer", "description": about, **given}


def switch(about: str) -> Schema:
    """Yes or no; no, where it is not given."""
    return {"type": "boolean", "description": about, "default": False}


def flag(about: str) -> Schema:
    """Yes or no, in an answer."""
    return {"type": "boolean", "description": about}


def texts(about: str, *, one_of: Sequence[str] = (), most: int = 50) -> Schema:
    """Several texts."""
    items: Schema = {"type": "string", "enum": list(one_of)} if one_of else {"type": "string", "maxLength": 400}
    return {"type": "array", "items": items, "maxItems": most, "description": about}


def several(item: Schema | str, about: str = "") -> Schema:
    """A list, in an answer."""
    return {"type": "array", "items": _schema(item), **({"description": about} if about else {})}


def record(about: str = "", /, **fields: Schema | str) -> Schema:
    """An object that has all these fields and no others; a field that is only described is a text.

    >>> record(a="x")["properties"]
    {'a': {'type': 'string', 'description': 'x'}}
    """
    properties = {name: _schema(field) for name, field in fields.items()}
    shape: Schema = {"type": "object", "properties": properties, "required": [*fields], "additionalProperties": False}
    return {**shape, "description": about} if about else shape


def _schema(field: Schema | str) -> Schema:
    return text(field) if isinstance(field, str) else field


class RowKind:
    """Rows of an answer: for each field its schema, and how it is read from what the row is about."""

    def __init__(self, **fields: tuple[Schema, Callable[..., object]]) -> None:
        self.fields = {name: schema for name, (schema, _) in fields.items()}
        self.schema = record(**self.fields)
        self._read = {name: read for name, (_, read) in fields.items()}

    def row(self, *source: object) -> Row:
        return {name: read(*source) for name, read in self._read.items()}


def takes(*required: str, **fields: Schema) -> Schema:
    """The arguments of a tool."""
    more: Schema = {"required": list(required)} if required else {}
    return {"type": "object", "properties": fields, **more, "additionalProperties": False}


CURSOR = text("`next` of the answer before, to continue; omit it to begin", most=600)
CUT = several(text("what was cut, and how to see it"), "what is not shown here; empty if that is all")
#: fields that every answer with pages has
PAGED = {
    "cut": CUT,
    "next": text("give it as `cursor`, with the same arguments, to continue; empty if that was all"),
}

WORDS = {"string": "a text", "integer": "a whole number", "boolean": "true or false", "array": "a list"}
KINDS: dict[object, type] = {"string": str, "integer": int, "boolean": bool, "array": list}


def check_arguments(given: Mapping[str, object], schema: Mapping[str, object]) -> dict[str, object]:
    """The arguments with the defaults filled in.

    >>> schema = takes("query", query=text("words", most=5), limit=number("how many", 1, 9, 3))
    >>> check_arguments({"query": "pool"}, schema)
    {'query': 'pool', 'limit': 3}
    >>> check_arguments({"quary": "pool"}, schema)
    Traceback (most recent call last):
        ...
    foretold.errors.BadArgument: there is no argument 'quary', did you mean 'query'? The arguments are: query, limit
    """
    fields: Mapping[str, Schema] = schema["properties"]  # type: ignore[assignment]
    unknown = next((name for name in given if name not in fields), None)
    if unknown is not None:
        from difflib import get_close_matches

        close = get_close_matches(unknown[:80], fields, 1)
        guess = f", did you mean {close[0]!r}?" if close else "."
        raise BadArgument(f"there is no argument {unknown[:80]!r}{guess} The arguments are: {', '.join(fields)}")
    needed: list[str] = schema.get("required", [])  # type: ignore[assignment]
    missing = [name for name in needed if given.get(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise BadArgument(f"{', '.join(missing)} {are} missing: {fields[missing[0]]['description']}")
    found = {name: field["default"] for name, field in fields.items() if "default" in field}
    found |= {name: _value(name, value, fields[name]) for name, value in given.items() if value is not None}
    return {name: found[name] for name in fields if name in found}


def _value(name: str, value: object, schema: Schema) -> object:
    kind = schema["type"]
    if isinstance(value, float) and value.is_integer() and kind == "integer":
        value = int(value)
    if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise BadArgument(f"{name} must be {WORDS[str(kind)]}, not {_short(value)}")
    if isinstance(value, list):
        most = schema["maxItems"]
        if isinstance(most, int) and len(value) > most:
            raise BadArgument(f"{name} has {len(value):,} entries; the most is {most}")
        items: Schema = schema["items"]  # type: ignore[assignment]
        return [_value(f"an entry of {name}", each, items) for each in value]
    if isinstance(value, str):
        _check_text(name, value, schema)
    elif isinstance(value, int):
        least, most = schema.get("minimum"), schema.get("maximum")
        if (isinstance(least, int) and value < least) or (isinstance(most, int) and value > most):
            raise BadArgument(f"{name} must be from {least} to {most}, not {_short(value)}")
    return value


def _check_text(name: str, value: str, schema: Schema) -> None:
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise BadArgument(f"{name} must be one of {', '.join(choices)}, not {_short(value)}")
    most, least = schema.get("maxLength"), schema.get("minLength", 0)
    if isinstance(most, int) and len(value) > most:
        raise BadArgument(f"{name} has {len(value):,} characters; the most is {most:,}")
    if isinstance(least, int) and len(value.strip()) < least:
        raise BadArgument(f"{name} is empty: {schema['description']}")
    if "\0" in value:
        raise BadArgument(f"{name} has a NUL character, which is not allowed")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise BadArgument(f"{name} has half of a surrogate pair, which is not a character")


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 60 else said[:60] + "…"
