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

MAX_PART = 255
MAX_PARTS = 8
MAX_TOPIC = 80
_FORBIDDEN = frozenset('\\:%"<>|?*')


def safe_file(file: str) -> tuple[str, ...]:
    """The parts of a path below the store's folder.

    >>> safe_file("auto/user_role.md")
    ('auto', 'user_role.md')
    >>> safe_file("../secret.md")
    Traceback (most recent call last):
        ...
    foretold.errors.BadName: '../secret.md' cannot be the name of a memory: it leads out of the store
    """
    import unicodedata

    parts = tuple(file.split("/"))
    plain = tuple(unicodedata.normalize("NFKC", file).split("/"))
    problem = _problem(parts) or (_problem(plain) if plain != parts else "")
    if not problem and not parts[-1].endswith(".md"):
        problem = "it does not end in .md"
    if problem:
        raise BadName(f"{file!r} cannot be the name of a memory: {problem}")
    return parts


def _problem(parts: tuple[str, ...]) -> str:
    if len(parts) > MAX_PARTS:
        return f"it is more than {MAX_PARTS} folders deep"
    for part in parts:
        if part in ("", ".", ".."):
            return "it leads out of the store"
        if part[0] in ".~-":
            return f"a part of it starts with {part[0]!r}"
        if part[-1] in ". ":
            return "a part of it ends in a dot or a space"
        if not part.isprintable() or not _FORBIDDEN.isdisjoint(part):
            return "it has a character that is not safe everywhere"
        if len(part.encode("utf-8", "surrogatepass")) > MAX_PART:
            return f"a part of it is longer than {MAX_PART} bytes"
    return ""


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


def same_name(file: str) -> str:
    """What two names have in common that some file system takes for one.

    >>> same_name("Auto/Über.md") == same_name("auto/u\\u0308ber.MD")
    True
    """
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", file).casefold())
