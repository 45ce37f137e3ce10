"""Rollouts that Codex has compressed with Zstandard.

The standard library reads them since Python 3.14; before, the program `zstd` does, and if it is missing, that is
reported. They are unpacked into a temporary file, a piece at a time, and no further than `MOST`: a few bytes can say
that they are terabytes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import IO

PACKED = ".zst"
MOST = 4 * 1024**3  #: bytes that are unpacked
PIECE = 1 << 20
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
    try:
        packed = open(path, "rb", opener=open_regular)  # noqa: SIM115 - closed below
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    with packed:
        with contextlib.suppress(ImportError):
            zstd = __import__(_LIBRARY, fromlist=["open"])
            try:
                with zstd.open(packed) as plain:
                    return _copy(plain, out)
            except (OSError, EOFError, zstd.ZstdError) as error:
                return f"it cannot be unpacked completely: {error}"
        return _unpack_with_program(packed, out)


def _unpack_with_program(packed: IO[bytes], out: IO[bytes]) -> str:
    import subprocess

    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(["zstd", "-dcq"], stdin=packed, stdout=pipe, stderr=pipe)
    except FileNotFoundError:
        return "it is compressed with Zstandard, which cannot be unpacked: install zstd"
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            problem = _copy(process.stdout, out)
        finally:
            process.stdout.close()  # it ends when nobody reads any more
        reason = process.stderr.read(4096).decode("utf-8", "replace").strip().split("\n")[-1]
    return problem or (f"it cannot be unpacked completely: {reason}" if process.returncode else "")


def _copy(plain: IO[bytes], out: IO[bytes]) -> str:
    """Copy what is unpacked; returns what is wrong with it, or nothing."""
    size = 0
    while data := plain.read(PIECE):
        size += len(data)
        if size > MOST:
            return f"it cannot be unpacked completely: it has more than {MOST:,} bytes"
        out.write(data)
    return ""
