"""Answers that are kept between processes, each with everything that it depends on.

1. An answer is valid if it was stored by this version of foretold under this Python, for the same question, and if the
   environment variables and the paths that it depends on are unchanged: one `stat` per path.
2. The file begins with a digest of the rest: a torn or changed file is not read. It holds plain values (strings,
   numbers, lists) in the format of `marshal`.
3. It is written to a temporary file and renamed. If that fails, nothing is stored, and the answer is computed again.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping

from foretold import __version__
from foretold.storage.tree import read_regular, unchanged
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from foretold.storage.tree import Stamp

SCHEMA = 2
MOST = 256 * 1024 * 1024  #: bytes of an answer; one of 100,000 paths has 20 MB
MARK = f"{SCHEMA} {__version__} {sys.implementation.cache_tag}"


def fingerprint(data: bytes) -> bytes:
    """A digest of 16 bytes. `hashlib` loads OpenSSL first, so it is only the fallback."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).digest()


def path_of(cache: str, name: str, key: tuple[str, ...]) -> str:
    """The file of an answer."""
    return f"{cache}/hooks/{name}-{fingerprint(marshal.dumps(key)).hex()[:24]}"


def load_answer(cache: str, name: str, key: tuple[str, ...], env: Mapping[str, str], *, anyway: bool = False) -> Any:
    """The stored answer, if it is still valid (or `anyway`); None if there is none."""
    try:
        data = read_regular(path_of(cache, name, key), MOST)
    except OSError:
        return None
    if fingerprint(data[16:]) != data[:16]:
        return None
    mark, question, variables, stamps, value = marshal.loads(data[16:])  # noqa: S302 - the digest says it is ours
    if mark != MARK or question != key:
        return None
    if not anyway and (any(env.get(name) != was for name, was in variables) or not unchanged(stamps)):
        return None
    return value


def store_answer(
    cache: str,
    name: str,
    key: tuple[str, ...],
    value: Any,
    *,
    env: Mapping[str, str] | None = None,
    variables: tuple[str, ...] = (),
    stamps: Mapping[str, Stamp] | None = None,
) -> None:
    """Store an answer with the environment variables and the paths that it depends on."""
    seen = [(name, (env or {}).get(name)) for name in variables]
    data = marshal.dumps((MARK, key, seen, dict(stamps or {}), value))
    try:
        write_file(path_of(cache, name, key), fingerprint(data) + data)
    except OSError:
        return


def write_file(path: str, data: bytes) -> None:
    """Write a file whole, or not at all; not synced, because it can be computed again. OSError if it fails."""
    from foretold.storage.atomic import replace_file

    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    replace_file(path, data, sync=False)


def stamp_of(path: str) -> Stamp:
    """The stamp of a path as `unchanged` compares it: of its content, or of the names in it."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino
