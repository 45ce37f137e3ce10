"""`foretold upgrade`: what will be different in a folder when its agent is updated.

Exit status: 1 if anything is loaded, attached, sent or found otherwise; else 0. Nothing is written; no agent is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foretold.cli.options import folder_parser, parse
from foretold.cli.output import Paint, plural, print_findings, print_skips, printable
from foretold.cli.releases import agent_option, change_json, find_installed, print_changes
from foretold.dialects.registry import choose, title_of_agent
from foretold.dialects.releases.catalog import ReleaseCatalog, require_changes
from foretold.dialects.releases.history import version_key
from foretold.errors import BadArgument
from foretold.instructions.compare import Cell
from foretold.instructions.upgrade import Upgrade, UpgradedFile, UpgradedRead, compare_releases
from foretold.types import REASONS, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.dialects.releases.history import DatedChange
    from foretold.instructions.session import Attachment
    from foretold.instructions.view import View

EXAMPLES = """\
  foretold upgrade                      from what is installed to the newest known
  foretold upgrade --from 2.1.250       from another release
  foretold upgrade --to 2.1.300         to another one
  foretold upgrade --file src/api/x.ts  with what reading that file attaches
  foretold upgrade --json | jq .files"""
MOST = 20  #: rows of a list, unless all are asked for
WORDS = {"other": "otherwise", "reason": "left out"}  #: kinds that have other words for people
UNSURE = "May have come, too: not dated more closely"
HOW = {
    "given": "as asked for",
    "installed": "installed here",
    "session": "of the newest session on this machine: no program was found",
    "newest": "the newest that is known",
}


class _Span(NamedTuple):
    """The releases to compare, and where their versions come from."""

    first: str
    first_from: str
    last: str
    last_from: str

    @property
    def note(self) -> str:
        """Why there is nothing to compare; empty if there is."""
        keys = version_key(self.first), version_key(self.last)
        if keys[0] < keys[1]:
            return ""
        if keys[0] == keys[1]:
            same = f"{self.first} is the newest release that is known" if self.last_from == "newest" else ""
            return f"{same or f'both releases are {self.first}'}, so there is nothing to compare"
        if self.last_from == "newest":
            newest = f"{self.last}, the newest release that is known"
            return f"{self.first} is newer than {newest}, and is assumed to do the same"
        return f"{self.first} is newer than {self.last}, so this is no upgrade"


def command(words: Sequence[str]) -> int:
    about = "What will be different in this folder when the agent is updated. Nothing is written, and no agent is run."
    parser = folder_parser("upgrade", about, EXAMPLES)
    parser.add_argument(
        "--from", dest="first", metavar="VERSION", help="the release before; default: what is installed"
    )
    parser.add_argument("--to", dest="last", metavar="VERSION", help="the release after; default: the newest known")
    parser.add_argument("--file", action="append", default=[], metavar="PATH", help="a file that the agent reads")
    parser.add_argument("--all", action="store_true", help="list everything")
    options, question = parse(parser, words)
    agent, _, version = question["agent"].partition("@")
    catalog = require_changes(agent)
    span = _find_span(catalog, options.first or version, options.last or "", options.home)
    last = span.first if span.note else span.last
    question["agent"] = agent
    found = compare_releases(options.cwd, span.first, last, files=options.file, **question)
    if options.json:
        from foretold.cli.json import emit

        emit("upgrade", _json(found, catalog, span))
    else:
        _print(found, catalog, span, most=100_000 if options.all else MOST)
    return 1 if found.is_changed else 0


def _find_span(catalog: ReleaseCatalog, first: str, last: str, home: str | None) -> _Span:
    """The versions that were asked for, or those of this machine and the newest known."""
    agent = catalog.agent
    for version in filter(None, (first, last)):
        choose(f"{agent}@{version}")  # UnknownAgent if it is not a version
    to = (last, "given") if last else (catalog.newest, "newest")
    if first:
        return _Span(first, "given", *to)
    if installed := find_installed(agent):
        return _Span(installed, "installed", *to)
    if held := _find_session_version(agent, home):
        return _Span(held, "session", *to)
    said = f"no {title_of_agent(agent)} is installed here, and no session of it says which release you have"
    raise BadArgument(f"{said}; name it: foretold upgrade --from VERSION{agent_option(agent)}")


def _find_session_version(agent: str, home: str | None) -> str:
    """The version with which the newest session was held, if the agent keeps it; one file is opened."""
    from foretold.sessions.catalog import find_homes, newest_first, summarize_session
    from foretold.sessions.formats.readers import READERS

    newest = newest_first(find_homes(home), (agent,))[:1] if agent in READERS else []
    held = summarize_session(newest[0]) if newest else None
    return held.version if held is not None and version_key(held.version) else ""


# For people


def _print(found: Upgrade, catalog: ReleaseCatalog, span: _Span, *, most: int) -> None:
    view = found.after
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    print(_title(found, catalog, span, paint))
    if span.note:
        print("\n" + paint.wrap(f"{span.note[:1].upper()}{span.note[1:]}.", 0))
        return
    for line in _list_doubts(found):
        print(paint.wrap(line, 0))
    print("\n" + _describe_tokens(found))
    _print_files(found, paint, most)
    for read in found.reads:
        _print_read(read, paint)
    _print_left_out(found, paint, most)
    for title, findings in (("New findings", found.new), ("Findings that are gone", found.fixed)):
        if findings:
            print(f"\n{paint.bold(title)}\n")
            print_findings(findings[:most], paint)
            _print_rest(len(findings), most, paint)
    effects, unsure = found.effects, _list_unsure(found, catalog, span)
    for title, changes in ((f"{plural(len(effects), 'change')} with an effect here", effects), (UNSURE, unsure)):
        if changes:
            print(f"\n{paint.bold(title)}\n")
            print_changes(changes, catalog, paint, has_topics=False)
    if not effects and not found.is_changed:
        print("\nNothing changes here.")
    if found.cut:
        print("\n" + paint.wrap(f"There may be more files below: {found.cut}.", 0))
    _print_others(found, catalog, span, paint)


def _title(found: Upgrade, catalog: ReleaseCatalog, span: _Span, paint: Paint) -> str:
    name = title_of_agent(catalog.agent)
    where = paint.fit(paint.path(found.after.surroundings.cwd), paint.width - 3).rstrip()
    if span.note:
        return f"{paint.bold(f'{name} {span.first}')}\nin {where}"
    rows = [f"from {span.first}, {HOW[span.first_from]}"] if span.first_from != "given" else []
    rows += [f"to {span.last}, {HOW[span.last_from]}"] if span.last_from != "given" else []
    return "\n".join((paint.bold(f"{name} {span.first} → {span.last}"), *rows, f"in {where}"))


def _list_doubts(found: Upgrade) -> Iterator[str]:
    """How sure the answer is, where it is not recorded."""
    for view in (found.before, found.after):
        if view.choice.note:
            yield f"assumed: {view.choice.note}"
        elif view.dialect.evidence == "between":
            yield f"{view.choice.asked} was not played; releases before and after it were"


def _describe_tokens(found: Upgrade) -> str:
    before, after = found.before.tokens, found.after.tokens
    if before == after:
        return f"About {plural(after, 'token')} in every session, as before"
    return f"About {before:,} → {plural(after, 'token')} in every session ({after - before:+,})"


def _print_files(found: Upgrade, paint: Paint, most: int) -> None:
    if found.files:
        print(f"\n{paint.bold(plural(len(found.files), 'file'))} treated otherwise\n")
    for row in found.files[:most]:
        print(f"  {WORDS.get(row.kind, row.kind):9}  {paint.fit(paint.path(row.path), paint.width - 13).rstrip()}")
        print(paint.faint(paint.wrap(_describe(row), 13)))
    _print_rest(len(found.files), most, paint)


def _print_rest(count: int, most: int, paint: Paint) -> None:
    if count > most:
        print(paint.faint(f"  … and {count - most:,} more (--all)"))


def _describe(row: UpgradedFile) -> str:
    """What is different about one file."""
    tokens = f"{row.before.tokens:,} → {plural(row.after.tokens, 'token')}"
    if row.kind == "changed":
        return f"its text: +{row.lines.added:,} −{row.lines.removed:,} lines, {tokens}"
    if row.kind == "moved":
        return f"its place: {row.before.order} → {row.after.order}"
    cost = f", {plural(row.after.tokens, 'token')}" if row.kind == "new" and row.after.tokens else ""
    return f"{_describe_cell(row.before)} → {_describe_cell(row.after)}{cost}"


def _describe_cell(cell: Cell) -> str:
    if cell.state == "never":
        return f"not loaded: {REASONS[cell.reason]}" if cell.reason in REASONS else "not loaded"
    return {
        "always": "loaded at the start",
        "cut": f"loaded at the start without its last {plural(cell.lost, 'byte')}",
        "listed": "only listed, by its name",
        "waits": "waits for a matching file",
        "nested": "comes with a file in its folder",
    }.get(cell.state, "not looked at")


def _print_read(read: UpgradedRead, paint: Paint) -> None:
    """What reading a file attaches, before and after."""
    before, after = ({entry.path: entry for entry in each.entries} for each in (read.before, read.after))
    title = f"{paint.bold('Reading')} {paint.path(read.path)}"
    if before == after:
        form = ", but sends them in another form" if read.is_changed else ""
        print(f"\n{title}: attaches {plural(len(after), 'file')}, as before{form}")
        return
    print(f"\n{title}: {_count(read.before)} → {_count(read.after)}\n")
    for path in dict.fromkeys((*after, *before)):
        texts = before.get(path), after.get(path)
        word = "new" if texts[0] is None else "gone" if texts[1] is None else ""
        word = word or ("changed" if texts[0] != texts[1] else "as before")
        print(f"  {word:9}  {paint.fit(paint.path(path), paint.width - 13).rstrip()}")


def _count(attachment: Attachment) -> str:
    tokens = sum(entry.tokens for entry in attachment.entries)
    return f"{plural(len(attachment.entries), 'file')}, {plural(tokens, 'token')}"


def _print_left_out(found: Upgrade, paint: Paint, most: int) -> None:
    for title, skips in (("Newly left out", found.skips), ("No longer left out", found.unskipped)):
        if skips:
            print(f"\n{paint.bold(title)}\n")
            print_skips(skips, paint, most, "--all")


def _print_others(found: Upgrade, catalog: ReleaseCatalog, span: _Span, paint: Paint) -> None:
    """What else came between the releases, counted."""
    others = _list_others(catalog, span)
    command = f"foretold releases {catalog.agent} {printable(span.first)}..{printable(span.last)}"
    parts = (
        [f"{plural(len(found.idle), 'other change')} of instructions {_verb(found.idle)} no effect here"]
        if found.idle
        else []
    )
    parts += [f"of {len(found.unseen)} it is not known" for _ in found.unseen[:1]]
    topics = ", ".join(dict.fromkeys(change.topic for change in others))
    about = "is about something else" if len(others) == 1 else "are about something else"
    parts += [f"{plural(len(others), 'change')} {about} ({topics})"] if others else []
    if parts:
        print("\n" + paint.wrap(f"{'; '.join(parts)}:", 0) + f"\n  {command}")


def _verb(changes: Sequence[DatedChange]) -> str:
    return "has" if len(changes) == 1 else "have"


def _list_unsure(found: Upgrade, catalog: ReleaseCatalog, span: _Span) -> list[DatedChange]:
    """Changes of instructions that may have come between the releases, and were not tried."""
    tried = (*found.effects, *found.idle, *found.unseen)
    unsure = catalog.list_open(span.first, span.last)
    return [change for change in unsure if change.topic == "instructions" and change not in tried]


def _list_others(catalog: ReleaseCatalog, span: _Span) -> list[DatedChange]:
    """Changes that are not about instructions, and came, or may have come, between the releases."""
    both = (*catalog.list_sure(span.first, span.last), *catalog.list_open(span.first, span.last))
    return [change for change in both if change.topic != "instructions"]


# For programs


def _json(found: Upgrade, catalog: ReleaseCatalog, span: _Span) -> dict[str, object]:
    from foretold.cli.json import findings_json, skip_json

    others, unsure = ([], []) if span.note else (_list_others(catalog, span), _list_unsure(found, catalog, span))
    groups = {"effects": found.effects, "idle": found.idle, "unseen": found.unseen, "open": unsure, "others": others}
    return {
        "agent": catalog.agent,
        "cwd": found.after.surroundings.cwd,
        "from": _side_json(found.before, span.first, span.first_from),
        "to": _side_json(found.after, span.last, span.last_from),
        "changed": found.is_changed,
        "note": span.note,
        "files": [_file_json(row) for row in found.files],
        "reads": [_read_json(read) for read in found.reads],
        "skips": {
            "new": [skip_json(each) for each in found.skips],
            "gone": [skip_json(each) for each in found.unskipped],
        },
        "findings": {"new": findings_json(found.new), "gone": findings_json(found.fixed)},
        "nested_cut": found.cut,
        **{name: [change_json(each, catalog) for each in group] for name, group in groups.items()},
    }


def _side_json(view: View, version: str, how: str) -> dict[str, object]:
    return {
        "version": version,
        "chosen": how,
        "evidence": "assumed" if view.assumed else view.dialect.evidence,
        "note": view.choice.note,
        "tokens": view.tokens,
        "model": view.surroundings.model,
        "refusal": view.refusal or None,
    }


def _file_json(row: UpgradedFile) -> dict[str, object]:
    return {
        "kind": row.kind,
        "path": row.path,
        "before": row.before._asdict(),
        "after": row.after._asdict(),
        "lines": row.lines._asdict(),
    }


def _read_json(read: UpgradedRead) -> dict[str, object]:
    from foretold.cli.json import attachment_json

    return {
        "path": read.path,
        "changed": read.is_changed,
        "before": attachment_json(read.before),
        "after": attachment_json(read.after),
    }
