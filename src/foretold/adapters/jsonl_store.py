"""What a framework gives us to keep: a file of JSON lines that several processes append to, and that only grows.

1. Values are appended in one write, under a lock, and synced to disk before the call returns; what a killed writer left
   half-written is set aside and reported (`foretold.storage.append_log`).
2. A line may be of any length, and reading returns exactly what was given. A damaged line is reported, and costs no
   other line.
3. What is deleted is set aside under a name with the time in it, and can be restored.
4. Files are in folders of ours that only their owner can read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping

from foretold.errors import SessionFailed, StoreFailed
from foretold.paths import foretold_folders
from foretold.sessions.formats.jsonl import encode_record, lines_of, rescue_records
from foretold.storage.append_log import AppendFile
from foretold.storage.kernel import sync_folder
from foretold.types import Finding

LONGEST = 1 << 40  #: every line is read
ENDING = ".jsonl"


def folder_for(
    name: str, home: str | None, env: Mapping[str, str] | None, given: str | os.PathLike[str] | None = None
) -> str:
    """The folder for what a framework gives us to keep: ours, unless another one is given.

    >>> folder_for("openai-agents", "/home/me", {})
    '/home/me/.local/state/foretold/sessions/openai-agents'
    """
    if given is not None:
        return os.path.abspath(given)
    around = ({} if home is not None else os.environ) if env is None else env
    base = home if home is not None else around.get("HOME") or os.path.expanduser("~")
    return f"{foretold_folders(base, around).state}/sessions/{name}"


def unique_name(text: str, longest: int = 60, otherwise: str = "session") -> str:
    """A name for a file or folder: readable, and different for every text.

    >>> unique_name("a talk"), unique_name("../a") == unique_name("..-a")
    ('a-talk-691950b37714', False)
    """
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", text)[:longest].strip("-") or otherwise
    return f"{readable}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def append(path: str, values: Iterable[Mapping[str, object]], findings: list[Finding]) -> None:
    """Add values to a file, all of them in one write."""
    lines = [encode_record(value) for value in values]
    if not lines:
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    file = AppendFile(path)
    try:
        file.append(b"\n".join(lines))
    finally:
        findings += file.findings
        file.close()


def values_of(path: str, findings: list[Finding], start: int = 0) -> tuple[list[dict[str, object]], int] | None:
    """The values of a file from a byte on, and where the last whole line ends; None if there is no such file."""
    found: list[dict[str, object]] = []
    end = start
    try:
        for line in lines_of(path, start, LONGEST):
            if not line.is_ended:
                break  # still being written, or its writer was killed: it was never acknowledged
            end = line.end
            if line.data.strip():
                found += _values(path, line.number, line.data, findings)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SessionFailed(f"{path} cannot be read: {error.strerror}") from error
    return found, end


def _values(path: str, number: int, data: bytes, findings: list[Finding]) -> list[dict[str, object]]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return [value]
    whole = [each for _, each, _ in rescue_records(data)]
    said = f"a line is damaged; whole records on it that were read: {len(whole)}"
    findings.append(Finding(path, number, "record-damaged", said))
    return whole


def set_aside(path: str, aside: str) -> str:
    """Move a file or a folder out of the way; its new path, or nothing if there is none."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f".{time.time_ns() % 1_000_000_000:09}"
    target = f"{aside}/{os.path.basename(path)}@{stamp}"
    try:
        os.makedirs(aside, mode=0o700, exist_ok=True)
        os.rename(path, target)
        sync_folder(aside)
        sync_folder(os.path.dirname(path))
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreFailed(f"{path} cannot be set aside: {error.strerror}") from error
    return target


def restore_last(path: str, aside: str) -> bool:
    """Move back what was set aside last; not over something that exists now."""
    name = f"{os.path.basename(path)}@"
    found = sorted(each for each in names_of(aside) if each.startswith(name))
    if not found:
        return False
    if os.path.lexists(path):
        raise StoreFailed(f"{path} exists again: move that away first")
    os.rename(f"{aside}/{found[-1]}", path)
    sync_folder(os.path.dirname(path))
    return True


def names_of(folder: str) -> list[str]:
    """The names in a folder; none if it is not there."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
