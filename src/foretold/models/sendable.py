"""Half a surrogate pair is no character: what goes to a vendor has the sign for an unknown one in its place.

Names of files that are not UTF-8, and what was cut out of other programs' texts, bring such halves. The packages cannot
send them, and a conversation that has one, in whatever message, could never go on.
"""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def sendable(call: dict[str, object]) -> dict[str, object]:
    r"""What an API is called with, in texts that can be sent.

    >>> sendable({"a": ["\udcff.py", 1]})
    {'a': ['�.py', 1]}
    """
    return {_text(key): _value(value) for key, value in call.items()}


def _value(value: object) -> object:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return sendable(value)
    return [_value(each) for each in value] if isinstance(value, list | tuple) else value


def _text(text: str) -> str:
    return text if text.isascii() else _HALF.sub("\ufffd", text)
