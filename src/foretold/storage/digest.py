"""SHA-256 at the price of a short start."""

from __future__ import annotations

import sys

SMALL = 4096  #: bytes


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal.

    Small texts go through Python's own module: `hashlib` loads OpenSSL, a third of a bare start. For larger ones, and
    once it is loaded, `hashlib` is ten times as fast: an index is compared between two steps that must be close.
    """
    if "hashlib" not in sys.modules and len(data) <= SMALL:
        for name in ("_sha2", "_sha256"):  # since Python 3.12, and before
            try:
                return str(__import__(name).sha256(data).hexdigest())
            except ImportError:
                continue
    import hashlib

    return hashlib.sha256(data).hexdigest()
