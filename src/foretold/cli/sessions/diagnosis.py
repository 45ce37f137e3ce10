"""What `foretold sessions repair` says about one session."""

from __future__ import annotations

import argparse
import os
import shlex

from foretold.cli.paint import Paint, plural
from foretold.cli.schema import finding_json
from foretold.cli.sessions.options import resume_command
from foretold.sessions.model import StoredSession
from foretold.sessions.repair.diagnose import Diagnosis
from foretold.sessions.repair.reachability import Reach
from foretold.types import Finding


def tell_diagnosis(found: Diagnosis, made: StoredSession | None, paint: Paint, options: argparse.Namespace) -> None:
    stored = found.stored
    print(f"{stored.agent} {stored.id}\n{paint.path(stored.path)}\n")
    print(f"  {plural(found.lines, 'line')}, {plural(found.records, 'record')}", end="")
    print(f", {plural(found.damaged, 'damaged line')}" if found.damaged else "", end="")
    print(f"; {found.bytes_lost:,} bytes cannot be saved" if found.bytes_lost else "")
    if found.reach and found.reach.messages:
        print(f"  {reached(found.reach)} when it is resumed")
        wrote = ", which wrote it last" if stored.version == found.version else ""
        print(f"  with {stored.agent} {found.version}{wrote}")
        for line in _others(found.reach):
            print(paint.wrap(line, 4))
    _tell_findings(found, paint)
    print()
    if made is not None:
        _tell_written(found, made, paint, options)
    elif _is_doomed(found):
        print(f"Keep it now: foretold sessions archive {stored.id}{home_option(options)}")
    elif found.useless:
        said = f"{found.useless[0].upper()}{found.useless[1:]}."
        print(f"{said} Nothing was written." if options.write else said)
    else:
        print(paint.wrap(_promise(found), 0))
        print("Write one, as a new session beside this one, which stays as it is:")
        print(f"  foretold sessions repair {stored.id} --write{home_option(options)}")


def _tell_written(found: Diagnosis, made: StoredSession, paint: Paint, options: argparse.Namespace) -> None:
    print(f"Written: {paint.path(made.path)}")
    if found.after_repair:
        print(paint.wrap(f"Of the copy {_in_all(found.after_repair)}.", 2))
    if not options.to:
        print(f"Go on with it: {resume_command(made)}")


def _promise(found: Diagnosis) -> str:
    """What a mended copy has over this one."""
    if found.after_repair:
        return f"Of a mended copy {_in_all(found.after_repair)}."
    if found.rescued:
        return f"In a mended copy the agent reads {plural(found.rescued, 'record')} of the damaged lines."
    return "A mended copy can be resumed."


def _others(reach: Reach) -> list[str]:
    """What becomes of the messages that are not reached: with those that are, they are all."""
    rows = (
        (reach.summarised, "before a compaction, which summarised them"),
        (reach.aside, "aside: a rewind left them, or tools ran in parallel"),
        (reach.lost, "not reached"),
    )
    return [f"{count:,} {said}" for count, said in rows if count]


def _in_all(reach: Reach) -> str:
    """How much of a copy is reached, in one sentence.

    >>> _in_all(Reach(12, 7, 4, 1, 0))
    '7 of 12 messages are reached; 4 before a compaction, 1 aside'
    >>> _in_all(Reach(12, 12, 0, 0, 0))
    '12 of 12 messages (100 %) are reached'
    """
    rows = ((reach.summarised, "before a compaction"), (reach.aside, "aside"), (reach.lost, "not reached"))
    rest = ", ".join(f"{count:,} {said}" for count, said in rows if count)
    return f"{reached(reach)}; {rest}" if rest else reached(reach)


def _tell_findings(found: Diagnosis, paint: Paint) -> None:
    """What is wrong, by line: they are all about one file. Those of one kind are told once."""
    kinds: dict[str, list[Finding]] = {}
    for finding in found.findings:
        kinds.setdefault(finding.code, []).append(finding)
    if kinds:
        print()
    for code, group in kinds.items():
        line = f"line {group[0].line:,}" if group[0].line else ""
        where = f"{len(group):,} times, first in {line}" if len(group) > 1 else line
        print(paint.wrap(f"{where}: {group[0].message} [{code}]" if where else f"{group[0].message} [{code}]", 2))


def _is_doomed(found: Diagnosis) -> bool:
    return any(finding.code == "session-doomed" for finding in found.findings)


def in_short(found: Diagnosis) -> str:
    if _is_doomed(found):
        return "its agent deletes it at its next start"
    if found.refused:
        return "its agent does not resume it"
    return reached(found.reach) if found.reach else plural(found.damaged, "damaged line")


def reached(reach: Reach) -> str:
    """How much is reached, for people; with a share where nothing was summarised or left.

    >>> reached(Reach(412, 21, 0, 0, 391)), reached(Reach(16, 5, 5, 0, 6))
    ('21 of 412 messages (5 %) are reached', '5 of 16 messages are reached')
    """
    said = f"{reach.reached:,} of {reach.messages:,} messages"
    if reach.summarised or reach.aside:
        return f"{said} are reached"
    share = f"{100 * reach.share:.0f} %" if reach.lost == 0 or reach.share < 0.995 else "99 %"
    return f"{said} ({share}) are reached"


def diagnosis_json(found: Diagnosis) -> dict[str, object]:
    """A diagnosis as `--json` prints it."""

    def numbers(reach: Reach | None) -> dict[str, object] | None:
        if reach is None:
            return None
        return {**reach._asdict(), "refused": reach.refused or None, "share": round(reach.share, 4)}

    return {
        "agent": found.stored.agent,
        "id": found.stored.id,
        "path": found.stored.path,
        "sound": found.is_sound,
        "lines": found.lines,
        "records": found.records,
        "damaged": found.damaged,
        "bytes_lost": found.bytes_lost,
        "refused": found.refused or None,
        "version": found.version or None,
        "reach": numbers(found.reach),
        "then": numbers(found.after_repair),
        "findings": [finding_json(each) for each in found.findings],
        "useless": found.useless or None,
    }


def home_option(options: argparse.Namespace) -> str:
    """The home that was given, for a command that is printed."""
    return f" --home {shlex.quote(os.path.abspath(options.home))}" if options.home else ""
