"""What may be wrong with instruction files that are loaded as they should be.

A dialect names the checks that its system promises (`Dialect.warns`); an agent that promises none has none.

    long         more than 40,000 characters
    credential   what looks like a credential, which would be sent with every request
    local        a local file that git would share
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foretold.git.runner import GitRepository
from foretold.secrets.forms import credentials_in
from foretold.types import Entry, Finding

MAX_CHARACTERS = 40_000  #: as code-assist's documents have it
CODES = {"long": "instructions-long", "credential": "instructions-credential", "local": "local-not-ignored"}


def find_warnings(entries: Iterable[Entry], checks: Iterable[str]) -> list[Finding]:
    """The findings of these checks, check by check.

    >>> find_warnings([Entry("/p/CLAUDE.md", "project", "Use tabs.", "Use tabs.")], CODES)
    []
    """
    entries = list(entries)
    return [finding for check in checks for entry in entries for finding in CHECKS[check](entry)]


def _find_long(entry: Entry) -> Iterator[Finding]:
    if (count := len(entry.text)) > MAX_CHARACTERS:
        said = f"{count:,} characters; more than {MAX_CHARACTERS:,} are too many"
        yield Finding(entry.path, None, CODES["long"], said, "split it into rules, or shorten it")


def _find_credentials(entry: Entry) -> Iterator[Finding]:
    for each in credentials_in(entry.text):
        said, hint = f"it looks like a credential: {each.kind}", "revoke it, and name where it is kept instead"
        yield Finding(entry.path, each.line, CODES["credential"], said, hint)


def _find_shared(entry: Entry) -> Iterator[Finding]:
    folder, _, name = entry.path.rpartition("/")
    git = GitRepository.of(folder) if entry.layer == "local" else None
    if git is not None and not git.ignored([name]):
        yield Finding(entry.path, None, CODES["local"], "git does not ignore it", f"add {name} to .gitignore")


CHECKS = {"long": _find_long, "credential": _find_credentials, "local": _find_shared}
