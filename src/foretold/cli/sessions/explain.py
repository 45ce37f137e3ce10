"""`foretold explain --session ID`: the instructions a session really received, next to what its files say now."""

from __future__ import annotations

import os
from collections.abc import Iterator

from foretold.cli.json import emit, findings_json
from foretold.cli.output import Paint, plural, print_findings, printable
from foretold.cli.sessions.options import period_of, stored_json
from foretold.instructions.continuation import EFFECTS
from foretold.sessions.catalog import find_homes, find_session
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.instructions_seen.compare import (
    STATES,
    InstructionsSeen,
    SeenFile,
    SessionRelease,
    compare_instructions,
)
from foretold.sessions.instructions_seen.events import SentAgain

MOST_ROWS = 8
MOST_RELEASES = 4  #: of one session that are named
#: where no record names a release -> what is taken instead
ASSUMED = {"program": "the program on PATH", "newest": "the newest known"}
PARTS = ("files", "loads", "compactions")


def explain_session(name: str, home: str | None, agent: str | None, *, as_json: bool) -> int:
    homes = find_homes(home)
    stored = find_session(homes, name, agents=None if agent is None else (agent.partition("@")[0],))
    found = compare_instructions(stored, homes)
    if as_json:
        rows = {name: [dict(each._asdict()) for each in getattr(found, name)] for name in PARTS}
        rows["sent_again"] = [
            {**each._asdict(), "files": [dict(file._asdict()) for file in each.files]} for each in found.sent_again
        ]
        release = _release_json(found.release) if found.release else None
        fields = {"session": stored_json(stored), "release": release, **rows}
        emit("explain-session", {**fields, "findings": findings_json(found.findings)})
    else:
        _print(found, Paint(found.stored.cwd or "/", homes.home))
    return 1 if found.findings else 0


def _release_json(release: SessionRelease) -> dict[str, object]:
    events = {name: [dict(each._asdict()) for each in getattr(release, name)] for name in ("events", "unread")}
    return {**release._asdict(), **events}


def _print(found: InstructionsSeen, paint: Paint) -> None:
    stored = found.stored
    print(paint.bold(printable(stored.title or stored.id)))
    print(f"{stored.agent} {printable(stored.version)}".rstrip() + f", {period_of(stored)}")
    for line in _describe_release(found):
        print(paint.wrap(line, 0))
    if found.compactions:
        moments = [(format_time(each.time), f"({each.trigger})" * bool(each.trigger)) for each in found.compactions]
        said = ", ".join(" ".join(filter(None, words)) or "?" for words in moments)
        print(paint.wrap(f"{plural(len(moments), 'compaction')}: {said}", 0))
    if not os.path.isdir(stored.cwd):
        where = f"{stored.cwd} no longer exists" if stored.cwd else "It does not record its folder"
        print("\n" + paint.wrap(f"{where}: what would be loaded there now is unknown.", 0))
    elif not found.files:
        print("\nIt received no instruction file, and none would be loaded now.")
    marks = {"same": paint.faint("as now "), "lost": paint.red("lost   "), "written": paint.red("written")}
    for file in found.files:
        state = "written" if file.state == "old-copy" and file.evidence == "time" else file.state
        print(f"\n  {marks.get(state) or paint.red('differs')}  {paint.path(file.path)}")
        print(paint.faint(paint.wrap(_sentence(file), 11)))
        for line in _changes(file):
            print(f"           {printable(line)[: paint.width - 11]}")
    for sent in found.sent_again:
        _print_sent(sent, paint)
    others = [finding for finding in found.findings if not finding.code.startswith("told-")]
    if others:
        print(f"\n{paint.bold('Damage')}: {plural(len(others), 'record')} of the transcript cannot be read")
        print_findings(others[:5], paint)
    if any(file.evidence == "time" for file in found.files):
        print()
        print(
            paint.wrap("This transcript records no instruction text: files are compared by when they were written.", 0)
        )
        if found.is_rebuilt:
            said = f"When {stored.agent} resumes a session it makes the text anew, and says nothing about it."
            print(paint.wrap(said, 0))


def _describe_release(found: InstructionsSeen) -> Iterator[str]:
    """Which release files are compared for, how that is known, and what is odd about it."""
    release, agent = found.release, found.stored.agent
    if release is None:
        return
    known = {"recorded": "", "between": ", which lies between two that were recorded"}.get(release.evidence, "")
    known = f" ({release.note})" if release.note else known
    if release.source == "transcript":
        yield f"compared as {agent} {release.version} loads files, the release of its last record{known}"
    else:
        said = f"no record names a release: compared as {agent} {release.version}, {ASSUMED[release.source]}"
        yield f"{said}{known}"
    if len(release.events) > 1:
        steps = [f"{each.version} from {format_time(each.time) or '?'}" for each in release.events]
        shown = steps if len(steps) <= MOST_RELEASES else [*steps[:2], f"{len(steps) - 3} more", steps[-1]]
        yield f"the release changed: {', then '.join(shown)}"
    for each in release.unread[:1]:
        yield f"line {each.line} of the transcript names {each.version[:60]!r}, which is not a version"


def _print_sent(sent: SentAgain, paint: Paint) -> None:
    """One moment at which the model was sent instructions again: when, how, and the lines that differ."""
    when = ", ".join(filter(None, (f"with prompt {sent.prompt}", format_time(sent.time))))
    print("\n" + paint.wrap(f"{paint.bold('Sent again')} {when}: {EFFECTS[sent.effect]}.", 0))
    for file in sent.files:
        state = "no longer applies" if file.text is None else "new" if file.before is None else "replaced"
        print(f"  {paint.path(file.path) if file.path else 'all files, as one text'}: {state}")
        if file.text is not None:
            for line in _difference(file.before or "", file.text):
                print(f"           {printable(line)[: paint.width - 11]}")


def _changes(file: SeenFile) -> list[str]:
    """The lines that differ between an old copy and the file; not more than a few."""
    if file.state != "old-copy" or file.text is None or file.now is None or file.event == "read":
        return []
    return _difference(file.text, file.now, only="+" if file.evidence == "together" else "")


def _difference(old: str, new: str, only: str = "") -> list[str]:
    """The lines that differ between two texts, or only those that begin like this; not more than a few."""
    from difflib import unified_diff

    before, after = (text.strip().split("\n") if text.strip() else [] for text in (old, new))
    rows = [*unified_diff(before, after, n=0, lineterm="")][2:]
    rows = [row for row in rows if not row.startswith("@@") and row.startswith(only)]
    more = [f"… and {len(rows) - MOST_ROWS:,} more lines"] if len(rows) > MOST_ROWS else []
    return rows[:MOST_ROWS] + more


def _sentence(file: SeenFile) -> str:
    """One sentence about one file."""
    came = {"start": "loaded", "read": "came with a file that was read"}[file.event]
    seen_at = f"{came} {format_time(file.seen_at)}" if file.seen_at else ""
    changed = f"the file was written {format_time(file.changed)}" if file.changed else "the file no longer exists"
    state = {
        "old-copy": "it runs on an old copy"
        if file.evidence != "time"
        else "written after it was loaded; it may differ",
        "lost": f"lost at compaction {file.compaction}, until such a file is read again",
        "gone": "it was loaded, and a new session would not load it",
        "not-seen": "it was not loaded; a new session would load it",
        "same": STATES["same"],
    }[file.state]
    return "; ".join(each for each in (state, seen_at, changed if file.state != "same" else "") if each)
