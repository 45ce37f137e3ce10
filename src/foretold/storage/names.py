"""Names of files: which are safe on every file system, and which are the same on some.

1. A path has parts with `/` between them. No part is empty, `.` or `..`, starts with `.`, `~` or `-`, ends in a dot or
   a space, or has a backslash, a colon, a percent sign, a control character or half of a surrogate pair.
2. Nor may it become one of these by Unicode's compatibility forms (`․․`, `／`).
3. A part has at most 255 bytes, a path at most 8 parts.
4. Two names that differ only in case or in Unicode form are the same name: some file systems cannot tell them apart.
"""

from __future__ import annotations

from foretold.errors import BadName

MAX_PART = 255
MAX_PARTS = 8
_FORBIDDEN = frozenset('\\:%"<>|?*')


def safe_parts(file: str, ending: str = "") -> tuple[str, ...]:
    """The parts of a relative path that is safe on every file system; BadName if it is not.

    >>> safe_parts("auto/user_role.md", ".md")
    ('auto', 'user_role.md')
    >>> safe_parts("../secret.md")
    Traceback (most recent call last):
        ...
    foretold.errors.BadName: '../secret.md' cannot be used as a file name: it leads out of the folder
    """
    import unicodedata

    parts = tuple(file.split("/"))
    plain = tuple(unicodedata.normalize("NFKC", file).split("/"))
    problem = _problem(parts) or (_problem(plain) if plain != parts else "")
    if not problem and not parts[-1].endswith(ending):
        problem = f"it does not end in {ending}"
    if problem:
        raise BadName(f"{file!r} cannot be used as a file name: {problem}")
    return parts


def _problem(parts: tuple[str, ...]) -> str:
    if len(parts) > MAX_PARTS:
        return f"it is more than {MAX_PARTS} folders deep"
    for part in parts:
        if part in ("", ".", ".."):
            return "it leads out of the folder"
        if part[0] in ".~-":
            return f"a part of it starts with {part[0]!r}"
        if part[-1] in ". ":
            return "a part of it ends in a dot or a space"
        if not part.isprintable() or not _FORBIDDEN.isdisjoint(part):
            return "it has a character that is not safe everywhere"
        if len(part.encode("utf-8", "surrogatepass")) > MAX_PART:
            return f"a part of it is longer than {MAX_PART} bytes"
    return ""


def same_name(file: str) -> str:
    """What two names have in common that some file system takes for one."""
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", file).casefold())
