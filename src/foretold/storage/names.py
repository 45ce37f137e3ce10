"""Names of files in a folder of memories: which are safe on every file system, and which are the same."""

from __future__ import annotations

import sys

from foretold.errors import BadName
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

MAX_PART = 255
MAX_PARTS = 8
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


def same_name(file: str) -> str:
    """What two names have in common that some file system takes for one.

    >>> same_name("Auto/Über.md") == same_name("auto/u\\u0308ber.MD")
    True
    """
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", file).casefold())


INDEX = "MEMORY.md"


MAX_FILE = 4 * 1024 * 1024  #: bytes; a larger file is no memory, and is named


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal.

    Python's own module is taken for small texts: `hashlib` loads OpenSSL, a third of a bare start. For others, and once
    it is loaded, `hashlib` is ten times as fast; an index is compared between two steps that must not be far apart.
    """
    if "hashlib" in sys.modules or len(data) > SMALL:
        import hashlib

        return hashlib.sha256(data).hexdigest()
    digest: str = _own_sha256()(data).hexdigest()
    return digest


SMALL = 4096  #: bytes


def _own_sha256() -> Any:
    for name in ("_sha2", "_sha256"):
        try:
            return __import__(name).sha256
        except ImportError:
            continue
    return __import__("hashlib").sha256
