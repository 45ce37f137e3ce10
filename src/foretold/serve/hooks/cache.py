"""Answers that are kept between processes, each with all that it depends on.

1. An answer is believed if it was kept by this version of ours under this Python, for the same question, and if the
   variables of the environment and the paths that it looked at are what they were: one `stat` a path.
2. The file begins with a digest of the rest: one that was torn or changed is not read. It holds plain values (texts,
   numbers, lists), in the form in which Python keeps compiled code.
3. It is written beside and renamed. Where that is not possible, nothing is kept, and the answer is found anew.
"""

from __future__ import annotations

import marshal
import os
import sys

from foretold import __version__
from foretold.storage.tree import unchanged
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from foretold.storage.tree import Stamp

SCHEMA = 1
MARK = f"{SCHEMA} {__version__} {sys.implementation.cache_tag}"


def fingerprint(data: bytes) -> bytes:
    """Sixteen bytes that stand for others. `hashlib` loads OpenSSL first, so it is asked last."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).digest()


def path_of(cache: str, name: str, key: tuple[str, ...]) -> str:
    """The file of an answer."""
    return f"{cache}/hooks/{name}-{fingerprint(marshal.dumps(key)).hex()[:24]}"


def recalled(cache: str, name: str, key: tuple[str, ...], env: Mapping[str, str], *, anyway: bool = False) -> Any:
    """The answer that is kept, if it is still true (or `anyway`); None if there is none."""
    try:
        with open(path_of(cache, name, key), "rb") as file:
            data = file.read()
    except OSError:
        return None
    if fingerprint(data[16:]) != data[:16]:
        return None
    mark, question, looked_at, stamps, value = marshal.loads(data[16:])  # noqa: S302 - the digest says it is ours
    if mark != MARK or question != key:
        return None
    if not anyway and (any(env.get(word) != said for word, said in looked_at) or not unchanged(stamps)):
        return None
    return value


def keep(
    cache: str,
    name: str,
    key: tuple[str, ...],
    value: Any,
    *,
    env: Mapping[str, str] | None = None,
    looks_at: tuple[str, ...] = (),
    stamps: Mapping[str, Stamp] | None = None,
) -> None:
    """Keep an answer. `looks_at` are the variables that it depends on, `stamps` the paths."""
    seen = [(word, (env or {}).get(word)) for word in looks_at]
    data = marshal.dumps((MARK, key, seen, dict(stamps or {}), value))
    path = path_of(cache, name, key)
    from foretold.storage.atomic import replace_file

    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        replace_file(path, fingerprint(data) + data, sync=False)
    except OSError:
        return


def stamp_of(path: str) -> Stamp:
    """The stamp of a path as `unchanged` compares it: of its content, or of the names in it."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino
