"""Names of memory files: which are safe, and how a new one is made.

1. A file of the store is named by its path below the store's folder: parts with `/` between them, the last one ending
   in `.md`. No part is empty, `.` or `..`, starts with `.`, `~` or `-`, ends in a dot or a space, or has a backslash,
   a colon, a percent sign, a control character or half of a surrogate pair.
2. Nor may it become one of these by Unicode's compatibility forms (`․․`, `／`).
3. A part has at most 255 bytes, a path at most 8 parts.
4. New files are `<type>_<topic>.md`, the topic in lower case, every run of other characters one `_`.
5. Two names that differ only in case or in Unicode form are the same name: some file systems cannot tell them apart.
"""

from __future__ import annotations

from foretold.errors import BadName
from foretold.storage.names import MAX_PART

MAX_TOPIC = 80


def new_file(type_: str, topic: str) -> str:
    """The file of a new memory.

    >>> new_file("feedback", "Real databases in tests!")
    'feedback_real_databases_in_tests.md'
    >>> new_file("user", "User role")
    'user_role.md'
    """
    stem = slug_of(topic).replace("-", "_")
    return f"{stem}.md" if stem.startswith(f"{type_}_") else f"{type_}_{stem}.md"


def slug_of(topic: str) -> str:
    """A topic as the `name` of a memory: lower case, dashes.

    >>> slug_of("  Merge freeze, May 2026 "), slug_of("日本語")
    ('merge-freeze-may-2026', '日本語')
    """
    import unicodedata

    text = unicodedata.normalize("NFC", topic).lower()
    words = "".join(char if char.isalnum() else " " for char in text).split()
    name = "-".join(words)[:MAX_TOPIC].rstrip("-")
    while len(name.encode()) > MAX_PART - 40:
        name = name[:-1]
    if not name:
        raise BadName(f"{topic!r} has no letter or digit to make a name of")
    return name
