"""SHA-256 at the price of a short start."""

from __future__ import annotations

import sys

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

SMALL = 4096  #: bytes


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal.

    Small texts go through Python's own module: `hashlib` loads OpenSSL, a third of a bare start. For larger ones, and
    once it is loaded, `hashlib` is ten times as fast: an index is compared between two steps that must be close.
    """
    if "hashlib" in sys.modules or len(data) > SMALL:
        import hashlib

        return hashlib.sha256(data).hexdigest()
    digest: str = _own_sha256()(data).hexdigest()
    return digest


def _own_sha256() -> Any:
    for name in ("_sha2", "_sha256"):
        try:
            return __import__(name).sha256
        except ImportError:
            continue
    return __import__("hashlib").sha256
