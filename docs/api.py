"""Write `docs/api.md`, the reference of public names: `.venv/bin/python docs/api.py`. A test compares the two."""

import importlib
import inspect
import os
import re
from functools import cached_property

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "api.md")
HEAD = """\
# API reference

Every public name, with its signature and the first sentence of its documentation; `help(name)` has the rest, with
examples. This page is generated from the code by `docs/api.py`.

What is not on this page is internal, but for [adapters](adapters.md), [the harness's tools](harness.md) and the
[interfaces of other loaders](compat/mink.md), which have pages of their own.
"""
ROOMS = {
    "foretold": "What the agent is told, and a whole agent",
    "foretold.memory": "What it remembers",
    "foretold.sessions": "What was said",
    "foretold.files": "What it touched",
    "foretold.context": "What surrounds a turn",
    "foretold.models": "Models for a harness and for extraction",
}


def make_page() -> str:
    """The whole page: a section per room, an entry per name."""
    parts = [HEAD]
    for room, title in ROOMS.items():
        module = importlib.import_module(room)
        parts.append(f"\n## `{room}`: {title}\n")
        for name in dir(module):
            value = getattr(module, name, None)
            if not name.startswith("_") and not inspect.ismodule(value) and inspect.getmodule(value) is not None:
                parts += describe(room, name, value)
    return "".join(parts)


def describe(room: str, name: str, value: object) -> list[str]:
    """A heading with the signature, the first sentence, and the methods of a class."""
    lines = [f"\n### `{room}.{name}{signature_of(value)}`\n\n{first_sentence(value)}\n"]
    if inspect.isclass(value):
        rows = []
        for method, member in sorted(vars(value).items()):
            is_value = isinstance(member, property | cached_property)
            called = getattr(
                member, "fget" if isinstance(member, property) else "func" if is_value else "__func__", member
            )
            if not method.startswith("_") and inspect.isfunction(called):
                shown = "" if is_value else signature_of(called)
                rows.append(f"- `{method}{shown}`: {first_sentence(called)}".rstrip(": ") + "\n")
        lines += ["\n", *rows] if rows else []
    return lines


def signature_of(value: object) -> str:
    """The parameters of a function or class, without annotations; exceptions have none worth showing."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return ""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    kept = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values() if one.name != "self"]
    text = str(found.replace(parameters=kept, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def first_sentence(value: object) -> str:
    """The first paragraph of a docstring up to its first full stop."""
    text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    return text if len(text) < 200 else text.partition(". ")[0] + "."


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(make_page())
