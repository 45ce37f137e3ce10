"""`foretold memory erase`: a memory or a text goes from everything that is kept. It first shows what."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence

from foretold.cli.json import emit
from foretold.cli.memory.options import paint_of, parse_and_open, parser_of
from foretold.cli.output import Paint, confirm, plural, size
from foretold.errors import ForetoldError, NoSuchMemory
from foretold.memory.erasure import NAMED_ONLY, ErasurePlace, ErasureReport, erase_memory, erase_text
from foretold.memory.project import Memories
from foretold.secrets.masking import values_in

EXAMPLES = """\
  foretold memory erase NAME                a memory with all its versions
  foretold memory erase NAME --credentials  the credentials in it, everywhere
  foretold memory erase                     a text that you are asked for
  pass show leaked | foretold memory erase --text-from - --yes"""
MOST = 20  #: places that are printed of a kind
MAX_TEXT = 256 * 1024  #: bytes of a text that is read


def command_erase(words: Sequence[str]) -> int:
    about = (
        "Erase a memory, or a text such as a leaked credential, from everything that foretold keeps: memories, "
        "history, proposals, archived sessions, backups, caches. It first shows what it would remove. What agents "
        "keep themselves is named, not changed. A text never goes on the command line, where others can read it."
    )
    parser = parser_of("erase", about, EXAMPLES)
    parser.add_argument("name", nargs="?", default="", help="a memory, with all its versions")
    parser.add_argument("--credentials", action="store_true", help="not the memory, but the credentials in it")
    parser.add_argument("--text-from", metavar="FILE", help="erase the text in this file; - for standard input")
    also = "also erase the text from this file or folder, e.g. an export; may be repeated"
    parser.add_argument("--also", metavar="PATH", action="append", default=[], help=also)
    parser.add_argument("--yes", action="store_true", help="do it; it cannot be undone")
    options, memories = parse_and_open(parser, words)
    if options.name and options.text_from is not None:
        parser.error("give a memory or a text, not both")
    if options.credentials and not options.name:
        parser.error("--credentials needs the name of a memory")
    if options.also and options.name and not options.credentials:
        parser.error("--also is for a text: use it with --text-from or --credentials")
    if options.name and not options.credentials:
        return _run(options, memories, None)
    texts = _find_credentials(options, memories) if options.name else [_read_text(options.text_from)]
    if not texts:
        print("foretold: nothing in this memory looks like a credential", file=sys.stderr)
        return 2
    return _run(options, memories, texts)


def _run(options: argparse.Namespace, memories: Memories, texts: list[str] | None) -> int:
    """Show what would be erased; erase it if that is wanted."""
    shown = _erase(options, memories, texts, apply=False)
    if not options.json:
        _print_plan(shown, memories, is_memory=texts is None, yes=options.yes)
    if not shown.found and not options.yes:
        if options.json:
            _emit(shown)
        return 3 if not shown.is_whole else 1 if _named(shown) else 0
    if options.json and not options.yes:
        _emit(shown)
        return 1
    can_ask = options.text_from != "-"
    if not options.yes and not can_ask:
        print("Nothing was changed. To erase it: the same command with --yes")
        return 1
    if not confirm("Erase it? This cannot be undone.", yes=options.yes):
        return 1
    done = _erase(options, memories, texts, apply=True)
    if options.json:
        _emit(done)
    else:
        _print_done(done, memories)
    return 3 if not done.is_clean else 1 if _named(done) else 0


def _erase(options: argparse.Namespace, memories: Memories, texts: list[str] | None, *, apply: bool) -> ErasureReport:
    if texts is None:
        try:
            return erase_memory(memories, options.name, apply=apply)
        except NoSuchMemory:
            said = "no memory has, or had, the name that was given; see: foretold memory list"
            hint = (
                "If it was a text to erase, it is in your shell's history now: use foretold memory erase --text-from -"
            )
            raise NoSuchMemory(f"{said}. {hint}") from None
    try:
        return erase_text(memories, texts, also=[os.path.abspath(path) for path in options.also], apply=apply)
    except ValueError as error:
        raise ForetoldError(f"{error}: a shorter one would be found in other words. Nothing was changed") from None


def _read_text(source: str | None) -> str:
    """The text to erase: from a file, from standard input, or asked for without showing it."""
    if source is None:
        if not sys.stdin.isatty():
            raise ForetoldError("give a memory, or the text on standard input with --text-from -")
        import getpass

        return getpass.getpass("The text to erase (it is not shown): ")
    try:
        if source == "-":
            data = sys.stdin.buffer.read(MAX_TEXT + 1)
        else:
            with open(source, "rb") as file:
                data = file.read(MAX_TEXT + 1)
    except OSError as error:
        raise ForetoldError(f"cannot read {source}: {error.strerror}") from None
    try:
        return data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ForetoldError("the text to erase is not UTF-8") from None


def _find_credentials(options: argparse.Namespace, memories: Memories) -> list[str]:
    """What looks like a credential in a memory, or in any version of it."""
    found: dict[str, str] = {}
    changes = memories.log(options.name)
    if not changes:
        memories.find_store(options.name)
    for change in changes:
        text = (change.data or b"").decode("utf-8", "replace") if change.has_text else ""
        found |= {value: kind for kind, value in values_in(text) if len(value) >= 4}
    if not options.json:
        for value, kind in found.items():
            print(f"  {kind}: {value[:2]}… ({len(value)} characters)")
    return list(found)


def _named(report: ErasureReport) -> list[ErasurePlace]:
    return [place for place in report.places if place.kind in NAMED_ONLY and place.found]


def _print_plan(report: ErasureReport, memories: Memories, *, is_memory: bool, yes: bool) -> None:
    paint = paint_of(memories)
    ours = [place for place in report.places if place.kind not in NAMED_ONLY]
    _print_searched(report, paint)
    if not report.found and report.is_whole:
        print("It is nowhere in what foretold keeps.")
    elif not report.found:
        print("It is not in what could be searched; not everything could be.")
    else:
        count = f"{report.found:,} versions and copies" if is_memory else plural(report.found, "occurrence")
        print(f"{count} found:" if yes else f"{count} would be erased:")
        _print_places([place for place in ours if place.found], paint)
        if any(place.kind == "cache" and place.files for place in ours):
            print("Every cache is deleted, and made again when it is needed.")
    _print_problems(report, paint)
    _print_named(report, paint)


def _print_done(report: ErasureReport, memories: Memories) -> None:
    paint = paint_of(memories)
    removed = sum(place.removed for place in report.places)
    if report.found:
        print(f"\nerased: {removed:,} of {report.found:,}")
    if report.left:
        print(paint.red(f"Searched again: {report.left:,} {'is' if report.left == 1 else 'are'} left:"))
        _print_places([place._replace(found=place.left) for place in report.places if place.left], paint)
    elif report.is_whole:
        print("Searched again: none is left in what foretold keeps.")
    else:
        print(paint.red("Searched again: not everything could be searched, or changed. Erase again when it can."))
    _print_problems(report, paint)
    _print_named(report, paint)
    if memories.team is not None and any(
        place.kind == "memory" and place.removed and place.path == memories.team.path for place in report.places
    ):
        said = "The team's folder is in git: commits and clones still have it. Rewrite the history, or live with it."
        print(paint.wrap(said, 0))
    said = "The disk, its snapshots and backups may keep old blocks. Revoke a credential that was leaked."
    print(paint.wrap(said, 0))


def _print_searched(report: ErasureReport, paint: Paint) -> None:
    files, count = sum(place.files for place in report.places), sum(place.size for place in report.places)
    kinds: Counter[str] = Counter()
    for place in report.places:
        kinds[place.kind] += place.files
    shown = ", ".join(f"{kind} {number:,}" for kind, number in kinds.items() if number)
    print(paint.wrap(f"searched: {plural(files, 'file')}, {size(count)} ({shown})", 0))


def _print_places(places: Sequence[ErasurePlace], paint: Paint) -> None:
    for place in places[:MOST]:
        print(f"  {place.found:>6,}  {place.kind:<9} {paint.path(place.path)}")
    if len(places) > MOST:
        print(f"  … and {len(places) - MOST:,} more places")


def _print_problems(report: ErasureReport, paint: Paint) -> None:
    for place in report.places:
        if place.problem:
            what = "not changed" if place.found and place.kind not in NAMED_ONLY else "not searched"
            print(paint.red(f"{what}: {paint.path(place.path)}"))
            print(paint.wrap(place.problem, 6))


def _print_named(report: ErasureReport, paint: Paint) -> None:
    found = _named(report)
    if not found:
        return
    said = f"It is also in {plural(len(found), 'file')} of agents, shells or settings, which are not ours to change:"
    print("\n" + paint.wrap(said, 0))
    _print_places(found, paint)
    said = "Delete them, or overwrite the text in them with: --also PATH. Else foretold may archive it again."
    print(paint.wrap(said, 0))


def _emit(report: ErasureReport) -> None:
    places = [place._asdict() for place in report.places]
    emit("erase", {"done": report.done, "found": report.found, "left": report.left, "places": places})
