"""`foretold memory compact`, `doctor`, `relocate`, `export`, `import`, `prompt`. What rewrites first shows what."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json, pick
from foretold.cli.memory.list import budget_json
from foretold.cli.memory.options import open_store, paint_of, parse_and_open, parser_of
from foretold.cli.output import confirm, for_terminal, plural, print_findings, printable
from foretold.errors import ForetoldError, NoSuchMemory
from foretold.memory.doctor import find_problems
from foretold.memory.location import identity_of, save_identity
from foretold.memory.note import INDEX
from foretold.memory.project import Memories, open as open_memories
from foretold.memory.store.index_file import Budget
from foretold.memory.store.transaction import FORMAT
from foretold.text.diff import unified
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.store.large_index import ShortIndex
    from foretold.memory.store.store import Store
    from foretold.memory.transfer import Import


MAX_IMPORT = 256 * 1024 * 1024  #: bytes


def command_compact(words: Sequence[str]) -> int:
    about = "Propose a shorter index: long lines cut, entries without a file dropped. Text that is not an entry stays."
    examples = "  foretold memory compact\n  foretold memory compact --yes\n  foretold memory compact --history"
    parser = parser_of("compact", about, examples)
    parser.add_argument("--yes", action="store_true", help="write it; the old one is in the history")
    history = "not the index, but the history: drop the texts of old versions, and show first which"
    parser.add_argument("--history", action="store_true", help=history)
    days = "with --history: keep all of the last N days (90), then the last of a day, after a year of a week"
    parser.add_argument("--days", type=int, metavar="N", help=days)
    options, memories = parse_and_open(parser, words)
    if options.history:
        from foretold.cli.memory.history import command_compact_history

        return command_compact_history(options, memories)
    short = memories.own.plan_short_index()
    if short is not None:
        return _compact_large(memories, short, options)
    before = memories.index()
    budget = memories.budget()
    after = budget.compact() if before else ""
    then = Budget(after, memories.place.dialect, frozenset(memories.own.folder.files()))
    said = unified(before, after, INDEX)
    if options.json:
        emit("compact", {"before": budget_json(budget), "after": budget_json(then), "diff": said})
    elif not said:
        print(f"{INDEX} cannot be made shorter without changing what it says.")
        if budget.is_over:
            print("Delete or merge what is no longer needed: foretold memory verify, foretold memory rm NAME")
            print("What the agent does not see, foretold memory recall still finds.")
    else:
        print(for_terminal(said))
        print(f"{budget.lines} lines, {budget.units:,} characters now; {then.lines} and {then.units:,} then.")
        if then.is_over:
            print(f"The agent would still not see {plural(len(then.cut), 'entry')}: delete or merge memories, too.")
    if not said or (options.json and not options.yes):
        return 0
    if not confirm("Write it?", yes=options.yes):
        return 1
    memories.own.write_index(after, expect=before, why="compacted")
    if not options.json:
        print(f"written. The old one: foretold memory restore {INDEX}")
    return 0


def _compact_large(memories: Memories, short: ShortIndex, options: argparse.Namespace) -> int:
    """Propose a short index instead of one that is too large to be read."""
    if options.json:
        before, then = memories.budget(), Budget(short.text, memories.place.dialect)
        emit("compact", {"before": budget_json(before), "after": budget_json(then), "diff": ""})
    else:
        _print_short(short)
    if options.json and not options.yes:
        return 0
    if not confirm("Write it?", yes=options.yes):
        return 1
    memories.own.shorten_index(why="compacted")
    if not options.json:
        print(f"written. The old one: foretold memory restore {INDEX}")
    return 0


def command_doctor(words: Sequence[str]) -> int:
    about = "What is wrong with the memories here, and what to do about it."
    parser = parser_of("doctor", about, "  foretold memory doctor\n  foretold memory doctor --fix")
    parser.add_argument("--fix", action="store_true", help="update the index from the files; shorten a too large one")
    back = (
        "bring the history into format N, for an older foretold: 1, the first, or 2, that of this one. The older one "
        "does not see what was erased or dropped, and no index that is kept apart; the next change brings it back"
    )
    parser.add_argument("--format", type=int, metavar="N", help=back)
    options, memories = parse_and_open(parser, words)
    if options.format is not None:
        return _change_format(memories, options.format, is_json=options.json)
    for store in memories.stores if options.fix else ():
        if os.path.isdir(store.path):
            _fix_index(store, is_json=options.json)
    findings = find_problems(memories)
    here = [finding for finding in findings if finding.code not in ELSEWHERE]
    if options.json:
        emit("doctor", {"folder": memories.place.store, "findings": findings_json(findings)})
        return 1 if here else 0
    paint, others = paint_of(memories), [finding for finding in findings if finding.code in ELSEWHERE]
    if here:
        print(f"{plural(len(here), 'finding')} in {paint.path(memories.place.store)}:")
    else:
        print(f"{plural(len(memories.memories()), 'memory')}, nothing is wrong.")
    print_findings(here, paint)
    if others:
        print(f"\nElsewhere, memories of {plural(len(others), 'project')} that were moved or deleted:")
    print_findings(others, paint)
    return 1 if here else 0


def _fix_index(store: Store, *, is_json: bool) -> None:
    """Shorten an index that is too large, else update it; print what changed."""
    short = store.shorten_index(why="too large")
    if short is None:
        before = store.index()
        said = unified(before, store.reindex(), INDEX)
        if said and not is_json:
            print(for_terminal(said))
    elif not is_json:
        _print_short(short)
        print(f"written. The old one: foretold memory restore {INDEX}\n")


def _print_short(short: ShortIndex) -> None:
    print(f"{INDEX} has {short.size:,} bytes in {plural(short.lines, 'line')}; an agent loads 200 lines.")
    print(f"{short.left_out:,} of them are left out; the first lines then:\n")
    print(for_terminal("\n".join(short.text.split("\n")[:MOST_SHOWN])))


def _change_format(memories: Memories, version: int, *, is_json: bool) -> int:
    """Bring the histories of all stores into an older format."""
    from foretold.memory.store.migration import go_back

    done = {store.state: go_back(store.versioned, version) for store in memories.stores}
    if is_json:
        emit("doctor", {"folder": memories.place.store, "findings": []})
        return 0
    paint = paint_of(memories)
    for store in memories.stores:
        print(paint.wrap(_describe_format(paint.path(store.path), done[store.state], version), 0))
    return 0


def _describe_format(folder: str, before: int, version: int) -> str:
    """What going back to a format did to a history that had another one."""
    if not before:
        return f"There is no history of {folder} yet."
    back = f"The next change by this foretold brings it to format {FORMAT}"
    if before <= version:
        return f"The history of {folder} is in format {before} already." + f" {back}." * (before < FORMAT)
    lost = "does not see which texts were erased or dropped, and no index that is kept apart; none of that is lost"
    now = f"The history of {folder} is in format {version} now, for an older foretold"
    return f"{now}. That one {lost}. {back}."


MOST_SHOWN = 20  #: lines of an index that is proposed
#: findings about other projects: they are printed, but do not count for this one
ELSEWHERE = ("memory-orphan",)


def command_relocate(words: Sequence[str]) -> int:
    about = "Move the memories of a project from the store of OLD to that of NEW. It first shows what it would do."
    examples = "  foretold memory relocate ~/old/app ~/new/app\n  foretold memory relocate ~/old/app ~/new/app --yes"
    parser = parser_of("relocate", about, examples)
    parser.add_argument("old", help="where the project was")
    parser.add_argument("new", help="where it is now")
    parser.add_argument("--yes", action="store_true", help="do it")
    options = parser.parse_args(words)
    from foretold.memory.relocate import plan_relocation, relocate

    old, new = (_at(path, options.agent, options.home) for path in (options.old, options.new))
    plan = plan_relocation(old, new)
    shown = {"moves": [move._asdict() for move in plan.moves], "done": options.yes, "left": findings_json(plan.left)}
    if options.json and not options.yes:
        emit("relocate", shown)
        return 0
    if not plan.moves and not plan.notes:
        raise NoSuchMemory(f"there are no memories to move in {plan.old.path}")
    if not options.json:
        print(f"from {printable(plan.old.path)}\nto   {printable(plan.new.path)}\n")
        for move in plan.moves:
            print(f"  {move.what:<7} {move.file}" + (f" as {move.to}" if move.to != move.file else ""))
        if plan.notes:
            print(f"  lines   {plural(len(plan.notes.splitlines()), 'line')} of {INDEX} that are not entries")
        counts = Counter(move.what for move in plan.moves)
        print(f"\n{counts['copy']} to copy, {counts['same']} there already, {counts['beside']} under another name.")
        if plan.left:
            print("Not moved:")
            print_findings(plan.left, paint_of(new))
        print("Both stores are archived first; the old one is emptied at the end.")
    if not confirm("Do it?", yes=options.yes):
        return 1
    archive = relocate(plan)
    save_identity(new.own.state, identity_of(new.place.project, new.place.store))
    if options.json:
        emit("relocate", {**shown, "archive": archive})
    else:
        print(f"done. The archive of both: {archive}")
        print(f"Its history: foretold memory log --folder {shlex.quote(plan.old.path)}")
    return 1 if plan.left else 0


def _at(path: str, agent: str, home: str | None) -> Memories:
    """The memories of a project by its path, whether or not it is there."""
    from foretold.memory.location import locate_memories, location_of_path

    whole = os.path.abspath(path)
    if os.path.isdir(whole):
        return open_memories(whole, agent=agent, home=home)
    return Memories(location_of_path(whole, locate_memories(home or os.path.expanduser("~"), agent=agent, home=home)))


def command_export(words: Sequence[str]) -> int:
    about = "All memories in one file, for another machine. Memories with a credential are left out."
    parser = parser_of("export", about, "  foretold memory export memories.json")
    parser.add_argument("file", help="the file to write; - for standard output")
    options = parser.parse_args(words)
    from foretold.memory.transfer import export

    memories = open_store(options)
    text, findings = export(memories.own, memories.place.project)
    if options.file == "-":
        sys.stdout.write(text)
    else:
        try:
            descriptor = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            hint = "; give another name, or delete it first" if isinstance(error, FileExistsError) else ""
            raise ForetoldError(f"cannot write {options.file}: {error.strerror}{hint}") from None
        print(f"written: {options.file}", file=sys.stderr)  # standard output is for what was exported
    print_findings(findings, paint_of(memories), sys.stderr)
    return 1 if findings else 0


def command_import(words: Sequence[str]) -> int:
    about = "Memories from a file that `export` wrote. It first shows what it would do."
    parser = parser_of("import", about, "  foretold memory import memories.json --yes")
    parser.add_argument("file", help="the file; - for standard input")
    replaced = "also those that differ; the old versions stay in the log"
    parser.add_argument("--replace", action="store_true", help=replaced)
    parser.add_argument("--yes", action="store_true", help="do it")
    options = parser.parse_args(words)
    from foretold.memory.transfer import apply_import, plan_import

    memories = open_store(options)
    plan = plan_import(_text_of(options.file), memories.own)
    wanted = [each for each in plan if each.what in ("new", "lines") or (each.what == "differs" and options.replace)]
    if not options.json:
        _print_arrivals(plan, replace=options.replace)
    done: list[Import] = []
    if wanted and (options.yes or not options.json):
        if not confirm(f"Import {plural(len(wanted), 'file')}?", yes=options.yes):
            return 1
        done = apply_import(plan, memories.own, replace=options.replace)
    failures = [each for each in done if each.what == "failed"]
    if options.json:
        failed = {each.file: each for each in failures}
        files = [pick(failed.get(each.file, each), "file what why") for each in plan]
        emit("import", {"files": files, "done": bool(done)})
    elif wanted:
        print(f"done: {plural(len(done) - len(failures), 'file')}")
        for each in failures:
            print(f"foretold: {printable(each.file)}: {each.why}", file=sys.stderr)
    return 3 if failures else 1 if any(each.what == "refused" for each in plan) else 0


def _print_arrivals(plan: Sequence[Import], *, replace: bool) -> None:
    for each in plan:
        print(f"  {each.what:<8} {printable(each.file)}" + (f": {printable(each.why)}" if each.why else ""))
    if not plan:
        print("There are no memories in this file.")
    elif all(each.what == "same" for each in plan):
        print("Everything is already here.")
    if not replace and any(each.what == "differs" for each in plan):
        print("What differs stays as it is here, unless you add --replace.")


def _text_of(path: str) -> str:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(MAX_IMPORT + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MAX_IMPORT + 1)
        if len(data) > MAX_IMPORT:
            raise ForetoldError(f"{path} is larger than {MAX_IMPORT:,} bytes")
        return data.decode("utf-8")
    except OSError as error:
        raise ForetoldError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ForetoldError(f"cannot read {path}: it is not UTF-8") from None


def command_prompt(words: Sequence[str]) -> int:
    about = "The text that teaches a model to use this memory; with --team, private and team memory together."
    parser = parser_of("prompt", about, "  foretold memory prompt --wording short")
    parser.add_argument("--wording", choices=("long", "short"), default="long")
    parser.add_argument("--skip-index", action="store_true", help="without the step that updates MEMORY.md")
    parser.add_argument("--daily-log", action="store_true", help="append to a log of the day instead")
    parser.add_argument("--search", choices=("tools", "embedded"), help="add how to search past context")
    options = parser.parse_args(words)
    team, options.team = options.team, False
    memories = open_store(options)
    text = memories.prompt(
        wording=options.wording,
        team=team,
        skip_index=options.skip_index,
        daily_log=options.daily_log,
        search=options.search,
    )
    if options.json:
        emit("prompt", {"text": text})
    else:
        print(text)
    return 0
