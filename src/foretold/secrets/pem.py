"""Where private keys begin and end in a text: also numbered, quoted, cut.

1. A key ends at its last line; if that is not there, where the text looks like a key no more.
2. A last line without a first one belongs to a key whose beginning was cut off: the lines before it are the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_KEY = 32_768  #: characters from the first line of a private key to its last
MOST_LINES, LONGEST_LINE = 200, 400
_LAST = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BEFORE = r"""[ \t]*(?:\d{1,6}[\t→:| ]|[+>#|*-])?[ \t"'`]{0,8}"""  # the number of a line, a mark of a diff, a quote
_LINE = re.compile(_BEFORE + r"(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .{1,200})")
_SHORT = re.compile(_BEFORE + r"""[A-Za-z0-9+/]{1,64}={0,2}[ \t"'`\\+,;)]{0,8}(?=\n|\Z)""")


def end_of_key(text: str, start: int) -> int:
    """Where a private key ends whose first line ends at a place.

    >>> end_of_key("\\nMIIEowIBAAKCAQEA0Z3VS5\\nq9==\\n\\nSo it is.", 0)
    28
    """
    last = _LAST.search(text, start, start + LONGEST_KEY)
    if last:
        return last.end()
    at = start
    while at < len(text) and at - start < LONGEST_KEY:
        line = at + 1 if text[at] == "\n" else at
        match = _LINE.match(text, line)
        if match is None:
            short = _SHORT.match(text, line) if at > start else None
            return short.end() if short else at
        end = text.find("\n", match.end())
        at = len(text) if end < 0 else end
    return at


def tails_of_keys(text: str) -> Iterator[tuple[int, int]]:
    """The ends of private keys, as far as the lines before look like a key."""
    for last in _LAST.finditer(text) if "-----END" in text else ():
        start = last.start()
        for _ in range(MOST_LINES):
            line = text.rfind("\n", max(0, start - LONGEST_LINE), max(0, start - 1)) + 1
            if line == start or (line == 0 and start > LONGEST_LINE):
                break
            if not _LINE.match(text, line, start) and not _SHORT.match(text, line, start):
                break
            start = line
        yield start, last.end()
