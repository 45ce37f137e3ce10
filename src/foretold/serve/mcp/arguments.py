"""Arguments against their schema: what is wrong is said in a way that whoever wrote them can put right.

Only what `shapes` writes is understood, which is all there is.
"""

from __future__ import annotations

from foretold.errors import BadArgument
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretold.serve.mcp.schema import Schema

WORDS = {"string": "a text", "integer": "a whole number", "boolean": "true or false", "array": "a list"}
KINDS: dict[object, type] = {"string": str, "integer": int, "boolean": bool, "array": list}


def checked(given: Mapping[str, object], schema: Mapping[str, object]) -> dict[str, object]:
    """The arguments with what is usual filled in.

    >>> from foretold.serve.mcp.schema import number, takes, text
    >>> schema = takes({"query": text("words", most=5), "limit": number("how many", 1, 9, 3)}, "query")
    >>> checked({"query": "pool"}, schema)
    {'query': 'pool', 'limit': 3}
    >>> checked({"quary": "pool"}, schema)
    Traceback (most recent call last):
        ...
    foretold.errors.BadArgument: there is no argument 'quary', did you mean 'query'? There are: query, limit
    """
    fields: Mapping[str, Schema] = schema["properties"]  # type: ignore[assignment]
    for name in given:
        if name not in fields:
            raise BadArgument(
                f"there is no argument {name[:80]!r}{_meant(name, fields)} There are: {', '.join(fields)}"
            )
    needed: list[str] = schema.get("required", [])  # type: ignore[assignment]
    missing = [name for name in needed if given.get(name) is None]
    if missing:
        raise BadArgument(f"{_listed(missing)} missing: {fields[missing[0]]['description']}")
    found = {name: field["default"] for name, field in fields.items() if "default" in field}
    found |= {name: _value(name, value, fields[name]) for name, value in given.items() if value is not None}
    return {name: found[name] for name in fields if name in found}


def _listed(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _meant(name: str, fields: Mapping[str, Schema]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:80], fields, 1)
    return f", did you mean {close[0]!r}?" if close else "."


def _value(name: str, value: object, schema: Schema) -> object:
    kind = schema["type"]
    if isinstance(value, float) and value.is_integer() and kind == "integer":
        value = int(value)
    if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise BadArgument(f"{name} is to be {WORDS[str(kind)]}, and is {_short(value)}")
    if isinstance(value, list):
        return _list(name, value, schema)
    if isinstance(value, str):
        return _text(name, value, schema)
    if isinstance(value, int):
        least, most = schema.get("minimum"), schema.get("maximum")
        if (isinstance(least, int) and value < least) or (isinstance(most, int) and value > most):
            raise BadArgument(f"{name} is to be from {least} to {most}, and is {_short(value)}")
    return value


def _list(name: str, value: list[object], schema: Schema) -> list[object]:
    most = schema["maxItems"]
    if isinstance(most, int) and len(value) > most:
        raise BadArgument(f"{name} has {len(value):,} entries; at most {most} can be given")
    items: Schema = schema["items"]  # type: ignore[assignment]
    return [_value(f"an entry of {name}", each, items) for each in value]


def _text(name: str, value: str, schema: Schema) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise BadArgument(f"{name} is to be one of {', '.join(choices)}, and is {_short(value)}")
    most, least = schema.get("maxLength"), schema.get("minLength", 0)
    if isinstance(most, int) and len(value) > most:
        raise BadArgument(f"{name} has {len(value):,} characters; at most {most:,} can be given")
    if isinstance(least, int) and len(value.strip()) < least:
        raise BadArgument(f"{name} is empty: {schema['description']}")
    if "\0" in value:
        raise BadArgument(f"{name} has a NUL character, which nothing here can have")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise BadArgument(f"{name} has half of a surrogate pair, which is no character")
    return value


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 60 else said[:60] + "…"
