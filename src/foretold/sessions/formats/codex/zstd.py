"""Rollouts that Codex has compressed with Zstandard.

The standard library reads them since Python 3.14; before, the program `zstd` does, and if it is missing, that is
reported. They are unpacked into a temporary file, a piece at a time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import IO

PACKED = ".zst"
_LIBRARY = "compression.zstd"  #: since 3.14


@contextlib.contextmanager
def readable(path: str, findings: list[Finding] | None = None) -> Iterator[str]:
    """The path of a file as plain lines: itself, or a temporary copy; empty if it cannot be unpacked."""
    if not path.endswith(PACKED):
        yield path
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="foretold-") as folder:
        plain = os.path.join(folder, os.path.basename(path).removesuffix(PACKED))
        with open(plain, "wb") as out:
            problem = _unpack(path, out)
        if problem and findings is not None:
            findings.append(Finding(path, None, "record-packed", problem))
        yield plain if os.path.getsize(plain) else ""


def _unpack(path: str, out: IO[bytes]) -> str:
    """Write the contents of a compressed file; returns what is wrong with it, or nothing."""
    import shutil
    import subprocess

    with contextlib.suppress(ImportError):
        zstd = __import__(_LIBRARY, fromlist=["open"])
        try:
            with zstd.open(path) as packed:
                shutil.copyfileobj(packed, out)
        except (OSError, EOFError, zstd.ZstdError) as error:
            return f"it cannot be unpacked completely: {error}"
        return ""
    words, nothing = ["zstd", "-dcq", "--", path], subprocess.DEVNULL
    try:
        done = subprocess.run(words, stdin=nothing, stdout=out, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        return "it is compressed with Zstandard, which cannot be unpacked: install zstd"
    reason = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    return f"it cannot be unpacked completely: {reason}" if done.returncode else ""
