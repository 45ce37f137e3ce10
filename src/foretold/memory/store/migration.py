"""From one format of the history to the next, and back.

| format | what it has |
|---|---|
| 1 | `log.jsonl` and `inbox.jsonl`; no file says that it is 1. A record has its text as `text` or `base64` |
| 2 | a file `format`; large indexes in `kept/`; records may have their text in other forms, and other operations |

1. A step is made under the lock of the history, and its number is written when it is complete. One that was interrupted
   is made again: each step can be made twice.
2. Every step has one that leads back. It loses no text: what the older format cannot say is written in its own words.
3. A step back rewrites only the records that the older format does not know; all others stay byte for byte.
4. What says that a text was erased or dropped stays in the records of format 1: its program ignores keys that it does
   not know, and a newer one finds them again.
5. Reading leaves an older format as it is; the first change brings it to the newest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from foretold.errors import StoreFailed
from foretold.memory.store.journal import Change, record_of
from foretold.storage.append_log import decode, encode
from foretold.storage.atomic import replace_file
from foretold.storage.kernel import store_errors, sync_folder
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.store.transaction import VersionedFolder

#: keys of a record of format 1
FIRST_KEYS = frozenset("number time op file before after by old session why listing entry text base64".split())
NOTES = frozenset(("erased", "dropped"))  #: keys that may stay in such a record


def migrate(versioned: VersionedFolder, version: int, to: int) -> None:
    """Bring a history into a newer format, step by step. Under its lock."""
    for number in range(version + 1, to + 1):
        UP[number](versioned)
        versioned.write_format(number)


def go_back(versioned: VersionedFolder, to: int) -> int:
    """Bring a history into an older format, for an older foretold; the format it had. It takes the lock."""
    if to < 1 or to > max(UP):
        raise StoreFailed(f"there is no format {to}; the formats are 1 to {max(UP)}. Nothing was changed")
    version = versioned.read_format()
    if version:
        with versioned.state.locked():
            version = versioned.read_format()
            for number in range(version, to, -1):
                DOWN[number](versioned)
                versioned.write_format(number - 1)
    return version


def _leave_as_it_is(versioned: VersionedFolder) -> None:
    """Format 2 reads every record of format 1."""


def _write_plain_records(versioned: VersionedFolder) -> None:
    """Write the log with the records of format 1 alone."""
    path = versioned.journal.lines.path
    with store_errors(f"cannot rewrite {path}"):
        if os.path.exists(path) and any(_is_foreign(line) for line in _lines(path)):
            kernel = versioned.state.kernel
            replace_file(path, _plain_lines(versioned, path), temporary="log.jsonl.new", kernel=kernel)
            sync_folder(versioned.state.path, kernel)


def _lines(path: str) -> Iterator[bytes]:
    with open(path, "rb", opener=open_regular) as file:
        yield from file


def _is_foreign(line: bytes) -> bool:
    record = decode(line.rstrip(b"\n"))
    return record is not None and not record.keys() <= FIRST_KEYS | NOTES


def _plain_lines(versioned: VersionedFolder, path: str) -> Iterator[bytes]:
    known = {change.number: change for change in versioned.journal.changes()}
    for line in _lines(path):
        record = decode(line.rstrip(b"\n")) if _is_foreign(line) else None
        change = known.get(record["number"]) if record is not None else None  # type: ignore[call-overload]
        yield line if change is None else encode(_first_record(change))


def _first_record(change: Change) -> dict[str, object]:
    """A change as a record of format 1."""
    plain = Change(*(getattr(change, name) for name in Change._fields))
    return {key: value for key, value in record_of(plain, is_packed=False).items() if key in FIRST_KEYS | NOTES}


Step = Callable[["VersionedFolder"], None]
UP: dict[int, Step] = {2: _leave_as_it_is}  #: by the format that a step leads to
DOWN: dict[int, Step] = {2: _write_plain_records}  #: by the format that a step leads back from
