"""JSON schemas in few words, for what tools take and what they give.

1. What a tool takes is kept so plain that every client's model API accepts it: no alternatives, no references.
2. What it gives is closed: every field is there, always, and no other. Where there is nothing, a text is empty.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Schema = dict[str, object]


def text(about: str, *, most: int = 0, one_of: Sequence[str] = (), least: int = 0) -> Schema:
    """A text.

    >>> text("a name", most=9)
    {'type': 'string', 'description': 'a name', 'maxLength': 9}
    """
    more: Schema = {"minLength": least} if least else {}
    if most:
        more["maxLength"] = most
    if one_of:
        more["enum"] = list(one_of)
    return {"type": "string", "description": about, **more}


def number(about: str, least: int | None = None, most: int | None = None, usual: int | None = None) -> Schema:
    """A whole number; `usual` is what it is where it is not given."""
    limits = {"minimum": least, "maximum": most, "default": usual}
    return {
        "type": "integer",
        "description": about,
        **{key: value for key, value in limits.items() if value is not None},
    }


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


def several(item: Schema, about: str = "") -> Schema:
    """A list, in an answer."""
    return {"type": "array", "items": item, **({"description": about} if about else {})}


def record(fields: Mapping[str, Schema], about: str = "") -> Schema:
    """An object that has all these fields and no others.

    >>> record({"a": flag("x")})["required"]
    ['a']
    """
    shape: Schema = {"type": "object", "properties": dict(fields), "required": [*fields], "additionalProperties": False}
    return {**shape, "description": about} if about else shape


def takes(fields: Mapping[str, Schema], *required: str) -> Schema:
    """The arguments of a tool."""
    more: Schema = {"required": list(required)} if required else {}
    return {"type": "object", "properties": dict(fields), **more, "additionalProperties": False}


#: fields that every answer with pages has
NEXT = text("give it as `cursor`, with the same arguments, to go on; empty if that was all")
CUT = several(text("what was cut, and how to see it"), "what is not shown here; empty if that is all")
CURSOR = text("`next` of the answer before, to go on; leave it out to begin", most=600)
