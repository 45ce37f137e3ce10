"""`foretold memory list`, `show`, `log`, `diff` and `budget`: commands that change nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json, pick
from foretold.cli.memory.options import (
    age_of,
    is_looked_at,
    memory_json,
    open_store,
    paint_of,
    parse_and_open,
    parser_of,
)
from foretold.cli.output import Paint, column, for_terminal, plural, print_findings
from foretold.instructions.text.memory_index import cut_index
from foretold.memory.doctor import find_misplaced, index_finding
from foretold.memory.note import INDEX, TYPES, Memory
from foretold.memory.project import Memories
from foretold.memory.store.index_file import Budget
from foretold.memory.store.journal import Change, describe_missing
from foretold.memory.store.store import find_before
from foretold.secrets.invisible import show_hidden
from foretold.text.diff import unified
from foretold.types import Finding

MOST = 10  #: lines of a kind


def command_list(words: Sequence[str]) -> int:
    parser = parser_of("list", "Every memory of this project.", "  foretold memory list --type feedback")
    parser.add_argument("--type", choices=TYPES, help="only of this type")
    options, memories = parse_and_open(parser, words)
    findings = list[Finding](memories.place.findings)
    notes = [note for note in memories.memories(findings) if options.type in (None, note.type)]
    findings += filter(None, [index_finding(memories.own)])
    waiting = memories.inbox.waiting()
    if options.json:
        place = memories.place
        found = {
            "project": place.project,
            "folder": place.store,
            "team": place.team or None,
            "policy": place.policy,
            "memories": [memory_json(note) for note in notes],
            "index": budget_json(memories.budget()),
            "inbox": len(waiting),
            "findings": findings_json(findings),
        }
        emit("memories", found)
        return 1 if findings else 0
    paint = paint_of(memories)
    if any(each.path == memories.place.store and each.code == "unreadable" for each in findings):
        print(paint.red(paint.wrap(f"The memories in {memories.place.store} cannot be read.", 0)))
    else:
        _print_list(memories, notes, paint)
    if waiting:
        print(f"\n{plural(len(waiting), 'proposed change')} in the inbox: foretold memory inbox")
    if findings:
        print(f"\n{plural(len(findings), 'finding')}:")
        print_findings(findings, paint)
    return 1 if findings else 0


def _print_list(memories: Memories, notes: list[Memory], paint: Paint) -> None:
    place = memories.place
    if not notes:
        print(f"There are no memories here yet:\n  {paint.path(place.store)}")
        moved = [finding for finding in find_misplaced(memories) if finding.code == "memory-moved"]
        add = 'Write a memory:\n  foretold memory add "Topic" --type project -d "one line" -b "what to know"'
        print("" if moved else f"\n{add}")
        print_findings(moved, paint)
        return
    shared = sum(note.scope == "team" for note in notes) if place.team else 0
    print(paint.bold(plural(len(notes), "memory")) + (f", {shared} of the team" if shared else ""))
    print(f"in {paint.path(place.store)}" + (f"\nand {paint.path(place.team)} *" if shared else "") + "\n")
    width = min(34, max(len(note.file) for note in notes) - 3)
    for note in notes:
        kind = f"{note.type or '?'}{'*' if shared and note.scope == 'team' else ''}"
        about = column(paint.text(note.description or note.body.partition("\n")[0]), max(10, paint.width - width - 20))
        name = column(note.file.removesuffix(".md"), width)
        print(f"  {kind:<9} {name}  {about} {paint.faint(age_of(note).rjust(5))}")
    print()
    is_theirs = shared or memories.own.scope == "team"
    if is_theirs and not place.is_accepted:
        said = "not accepted: agents are not told what they say. To look and decide: foretold memory trust"
        print(paint.wrap(f"{'* ' * bool(shared)}{said}", 0))
    elif shared:
        print("* of the team, and accepted")
    print_budget(memories, paint)


def print_budget(memories: Memories, paint: Paint) -> None:
    """One paragraph on what the agent sees of the index."""
    budget, place = memories.budget(), memories.place
    limits = budget.limits
    used = f"{budget.lines} of {limits.lines} lines, {budget.units:,} of {limits.units:,} characters"
    if place.off:
        print(paint.red(paint.wrap(f"{place.agent} does not read its memories here: {place.off}.", 0)))
    elif not place.is_read:
        said = f"{INDEX}: {used}. {place.agent} does not load this index by itself; foretold memory recall reads it."
        print(paint.wrap(said, 0))
    elif index_finding(memories.own) is not None:
        print(paint.red(f"{INDEX} cannot be read: the agent knows no memory."))
    elif not budget.lines:
        print(f"{INDEX} is empty or missing: the agent knows no memory.")
    elif budget.is_over:
        lost = plural(len(budget.cut), "entry")
        print(paint.red(f"{INDEX}: {used}. The agent does not see the last {lost}."))
    else:
        print(f"{INDEX}: {used}; the agent sees all of it.")


def budget_json(budget: Budget) -> dict[str, object]:
    return {
        "lines": budget.lines,
        "line_limit": budget.limits.lines,
        "units": budget.units,
        "unit_limit": budget.limits.units,
        **pick(budget, "seen_lines seen_units"),
        "over": budget.is_over,
        "cut": [entry.file for entry in budget.cut],
        "long": [each._asdict() for each in budget.long],
        "dangling": [entry.file for entry in budget.dangling],
        "unlisted": budget.unlisted,
    }


def command_budget(words: Sequence[str]) -> int:
    about = "How much of the index the agent sees, and what to shorten."
    parser = parser_of("budget", about, "  foretold memory budget")
    options, memories = parse_and_open(parser, words)
    budget = memories.budget()
    if options.json:
        emit("budget", budget_json(budget))
        return 1 if budget.is_over else 0
    paint = paint_of(memories)
    print_budget(memories, paint)
    for lines in (
        [f"not seen: {entry.title} ({entry.file})" for entry in budget.cut],
        [f"line {each.line} has {each.length} characters: {each.file}" for each in budget.long],
        [f"line {each.number + 1} refers to a missing file: {each.file}" for each in budget.dangling],
        [f"no entry: {file}" for file in budget.unlisted],
    ):
        for line in lines[:MOST]:
            print(f"  {paint.text(line)}")
        if len(lines) > MOST:
            print(f"  … and {len(lines) - MOST:,} more")
    if budget.is_over or budget.long or budget.dangling:
        print("\nTo shorten it: foretold memory compact")
    if budget.unlisted:
        print("\nAdd the entries: foretold memory doctor --fix")
    return 1 if budget.is_over else 0


def command_show(words: Sequence[str]) -> int:
    about = "Print a memory as stored, or the index as the agent sees it."
    parser = parser_of("show", about, "  foretold memory show NAME\n  foretold memory show --index")
    parser.add_argument("name", nargs="?", help="a file or a name; MEMORY.md for the index")
    parser.add_argument("--index", action="store_true", help="the index, as the agent sees it")
    options, memories = parse_and_open(parser, words)
    if options.index or options.name in (INDEX, None):
        budget = memories.budget()
        text = cut_index(budget.shown, budget.limits).text
        if options.json:
            emit("index", {"text": text, **budget_json(budget)})
        else:
            sys.stdout.write(for_terminal(text) + "\n" * bool(text))
        if not text:
            print(f"foretold: there is no {INDEX}, or it is empty", file=sys.stderr)
        return 0
    note = memories.get(options.name)
    if options.json:
        emit("memory", memory_json(note))
    else:
        text = note.text if note.text.endswith("\n") else note.text + "\n"
        sys.stdout.write(for_terminal(show_hidden(text) if is_looked_at() else text))
    return 0


def command_log(words: Sequence[str]) -> int:
    about = "Every change, by anyone, newest first."
    parser = parser_of("log", about, "  foretold memory log\n  foretold memory log NAME")
    parser.add_argument("name", nargs="?", default="", help="only of this memory, under all its names")
    parser.add_argument("-n", type=int, default=0, metavar="N", help="only the last N")
    options, memories = parse_and_open(parser, words)
    changes = list(reversed(memories.log(options.name)))[: max(0, options.n) or None]
    if options.name and not changes:
        memories.find_store(options.name)  # or there is no such memory, and never was
    if options.json:
        texts = [_text(each) if each.has_text else None for each in changes]
        rows = [{**each._asdict(), "data": None, "text": text} for each, text in zip(changes, texts, strict=True)]
        emit("log", {"changes": rows})
        return 0
    if not changes:
        print("No change is recorded.")
    paint = paint_of(memories)
    for change in changes:
        what = paint.text(f"{change.old} -> {change.file}" if change.old else change.file)
        if change.old and len(what) > paint.width - 43:
            what = what.replace(" -> ", f"\n{'':40}-> ")
        when = change.time.replace("T", " ").rstrip("Z")
        who = change.by if change.by in ("other", "agent", "auto") else "you"
        print(f"{change.number:>5}  {when}  {who:<6}{change.op:<8} {what}")
        if change.why:
            print(paint.faint(paint.wrap(change.why, 43)))
        if change.op != "erase" and (change.erased or change.dropped):
            said = describe_missing(change) or f"a part of its text was erased on {change.erased[:10]}"
            print(paint.faint(paint.wrap(said, 43)))
    if any(change.by == "other" for change in changes):
        print("\nother: a program that is not foretold; the time is when it was noticed")
    return 0


def _text(change: Change | None) -> str:
    return ((change and change.data) or b"").decode("utf-8", "replace")


def _describe_untold(change: Change) -> str:
    """Why there is nothing to say about what a change changed; empty if there is."""
    if change.op == "erase" and not change.has_text:
        return f"change {change.number} erased something of {change.file}: what it was is not kept"
    if change.op == "compact":
        return f"change {change.number} dropped texts of old versions; see: foretold memory log"
    is_lost = change.after is not None and not change.has_text
    return describe_missing(change) or (f"the history has no text of change {change.number}" if is_lost else "")


def command_diff(words: Sequence[str]) -> int:
    about = "What a change changed: the last one of a memory, or the one with a number."
    parser = parser_of("diff", about, "  foretold memory diff NAME\n  foretold memory diff 12")
    parser.add_argument("name", nargs="?", default="", help="a memory, or the number of a change")
    parser.add_argument("--at", type=int, default=0, metavar="N", help="the number of the change, from log")
    options = parser.parse_args(words)
    if not options.name and not options.at:
        parser.error("give a memory, or the number of a change")
    memories = open_store(options)
    name, at = options.name, options.at
    changes = memories.log(name)
    if not changes and not at and name.isdecimal():  # no memory is called so: it is the number of a change
        name, at = "", int(name)
        changes = memories.log("")
    wanted = [change for change in changes if at in (0, change.number)]
    if not wanted:
        print("foretold: there is no such change; see: foretold memory log", file=sys.stderr)
        return 2
    change = wanted[-1]
    before = find_before(changes, change)
    if missing := _describe_untold(change) or (describe_missing(before) if before else ""):
        print(f"foretold: {missing}", file=sys.stderr)
        return 1
    said = unified(_text(before), _text(change), change.file)
    if options.json:
        emit("diff", {"number": change.number, "file": change.file, "diff": said})
    else:
        print(for_terminal(said), end="")
    return 0
