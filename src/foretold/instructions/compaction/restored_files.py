"""Which files Claude Code attaches again after a compaction, and why not the others.

1. Candidates are the files it has read, written or been given, those that a shell showed, and instruction files that
   came with another file. Never: those that the start reads again, which are the four of `loaded_again`, and no others.
   Rules, imports, nested files and those of parent folders do come back as files.
2. The newest by the time of change, in milliseconds, that was noted when they were read, of equals the one read last;
   at most five, and one that is gone since takes a place.
3. A file is read again, and whole. One over 5,000 tokens is only named. An estimate (four characters of UTF-16 a token,
   two in JSON) decides up to 1,250 tokens; above, the model's own count does, or the estimate where there is none.
4. Together they have 50,000 tokens, a quarter of the JSON each is recorded in; one for which that is too much is left
   out silently, and the next is tried.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping

from foretold.dialects.claude_code.compaction import DENSE, NAMED, CompactionRules
from foretold.text.globs.utf16 import units
from foretold.types import TYPE_CHECKING, NamedTuple, Skip

if TYPE_CHECKING:
    #: path, text, time of change; what the read state of `foretold.files` gives has more fields after these
    Read = tuple[str, str | None, float] | tuple[str, str, int, float, bool]

UUID = "00000000-0000-0000-0000-000000000000"
STAMP = "2026-01-02T03:04:05.678Z"


class Seen(NamedTuple):
    """A file that the agent knows: its text (None if it is gone), and its time of change when it was read."""

    path: str
    content: str | None
    mtime: float  #: milliseconds


class Restored(NamedTuple):
    """What a compaction attaches, and what it does not."""

    files: tuple[Seen, ...]  #: with their text, newest first
    named: tuple[Seen, ...]  #: only by name
    skips: tuple[Skip, ...]  #: every file whose text is not attached, those that are named too

    @property
    def paths(self) -> tuple[str, ...]:
        """Of the files that come back with their text."""
        return tuple(file.path for file in self.files)


def loaded_again(cwd: str, config: str, managed: str = "", memory: str = "") -> frozenset[str]:
    """The files that are never attached, because the start of the conversation has them again."""
    places = [(cwd, "CLAUDE.md"), (cwd, "CLAUDE.local.md"), (config, "CLAUDE.md")]
    places += [(managed, "CLAUDE.md"), (memory, "MEMORY.md")]
    return frozenset(f"{folder.rstrip('/')}/{name}" for folder, name in places if folder)


def restore_files(
    read: Iterable[Read],
    form: CompactionRules,
    *,
    cwd: str = "/",
    never: Iterable[str] = (),
    count: Callable[[str], int] | None = None,
    text: Callable[[str], str | None] | None = None,
) -> Restored:
    """Choose among the files that were read, the last first, as `foretold.files.ReadState.recent` gives them.

    `never` are the paths of `loaded_again`; `count` asks the model how many tokens a text has; `text` reads a file as
    it is now, if what is given is not that.

    >>> from foretold.dialects.claude_code.compaction import compaction_rules
    >>> read = [("/w/c", "x" * 30_000, 3), ("/w/a", "old", 1), ("/w/b", "new", 2)]
    >>> found = restore_files(read, compaction_rules("2.1.325"), cwd="/w")
    >>> found.paths, [(skip.path, skip.reason) for skip in found.skips]
    (('/w/b', '/w/a'), [('/w/c', 'too-large')])
    """
    barred = frozenset(never)
    seen = list({each[0]: Seen(*each[:3]) for each in reversed(list(read))}.values())[::-1]
    skips = [Skip(file.path, "already-loaded") for file in seen if file.path in barred]
    newest = sorted((file for file in seen if file.path not in barred), key=lambda file: -int(file.mtime))
    files: list[Seen] = []
    named: list[Seen] = []
    spent = 0
    for chosen in newest[: form.files]:
        file = chosen if text is None else chosen._replace(content=text(chosen.path))
        if file.content is None:
            skips.append(Skip(file.path, "missing"))
            continue
        is_long = token_count(file.path, file.content, form, count) > form.file_tokens
        cost = cost_of(reference(file.path, cwd) if is_long else attachment(file.path, file.content, cwd, form), form)
        if spent + cost > form.all_tokens:
            left = f"{cost:,} tokens, and {form.all_tokens - spent:,} are left"
            skips.append(Skip(file.path, "budget", left))
            continue
        spent += cost
        (named if is_long else files).append(file)
        if is_long:
            skips.append(Skip(file.path, "too-large", f"over {form.file_tokens:,} tokens"))
    skips += [Skip(file.path, "not-newest", f"{form.files} are newer") for file in newest[form.files :]]
    return Restored(tuple(files), tuple(named), tuple(skips))


def token_count(path: str, text: str, form: CompactionRules, count: Callable[[str], int] | None = None) -> int:
    """The tokens of a file as the agent sees them."""
    guess = rounded(len(units(text)) / (2 if os.path.splitext(path)[1].lower() in DENSE else 4))
    return guess if count is None or guess <= form.asked_above else count(text)


def rounded(number: float) -> int:
    """Rounded as JavaScript does: a half goes up."""
    return int(number + 0.5)


def attachment(path: str, text: str, cwd: str, form: CompactionRules) -> dict[str, object]:
    """The attachment of a file that comes back with its text."""
    lines = text.count("\n") + 1
    file = {"filePath": path, "content": text, "numLines": lines, "startLine": 1, "totalLines": lines}
    found: dict[str, object] = {"type": "file", "filename": path, "content": {"type": "text", "file": file}}
    found["displayPath"] = os.path.relpath(path, cwd)
    if form.framed:
        found["savedCopyFraming"] = {"enveloped": False}
    return found


def reference(path: str, cwd: str) -> dict[str, object]:
    """The attachment of a file that is only named; `NAMED` is what the model reads."""
    return {"type": "compact_file_reference", "filename": path, "displayPath": os.path.relpath(path, cwd)}


def reference_text(path: str) -> str:
    """What the model reads about a file that is only named."""
    return NAMED.format(path=path)


def cost_of(attached: Mapping[str, object], form: CompactionRules) -> int:
    """What an attachment takes of the budget."""
    value: Mapping[str, object] = attached
    if form.measured == "record":
        value = {"attachment": attached, "type": "attachment", "uuid": UUID, "timestamp": STAMP}
    return rounded(len(units(json.dumps(value, ensure_ascii=False, separators=(",", ":")))) / 4)
