"""`foretold releases`: what changed in an agent, release by release.

Without an agent, those with a history; with one, its changes; of two releases (`A..B`), what came between them; of one
release, what is new in it, and how well it is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from foretold.cli.options import make_parser
from foretold.cli.output import Paint, plural, printable
from foretold.dialects.registry import AGENTS, DEFAULT_AGENT, installed_version, programs_of, title_of_agent
from foretold.dialects.releases.catalog import (
    ReleaseCatalog,
    agents_with_changes,
    is_next,
    open_catalog,
    require_changes,
)
from foretold.dialects.releases.history import DatedChange, version_key
from foretold.errors import BadArgument

EXAMPLES = """\
  foretold releases                      the agents with a history
  foretold releases claude-code          every change, newest first
  foretold releases claude-code -v       with the recorded cases that prove it
  foretold releases 2.1.250..2.1.300     what came between two releases
  foretold releases 2.1.250..            and since
  foretold releases claude-code@2.1.288  what is new in it, and how sure"""

EVIDENCE = {
    "recorded": "all recorded cases were played to it",
    "between": "all recorded cases were played to releases before and after it",
    "assumed": "not all were played to it or around it, so it is taken to do what the nearest release does",
}


class _Asked:
    """What the words of a command line ask about: an agent, and a release or two of it."""

    def __init__(self, words: Sequence[str], agent: str | None) -> None:
        self.span: tuple[str, str] | None = None
        version, names = "", [agent] if agent else []
        for word in words:
            if ".." in word:
                first, _, last = word.partition("..")
                self.span = first, last
            elif version_key(word):
                version = word
            else:
                names.append(word.lower())
        if len(names) > 1:
            raise BadArgument(f"give one agent, not {' and '.join(map(repr, names))}; see: foretold releases --help")
        name, _, own = (names or [""])[0].partition("@")
        self.version = version or own
        self.agent = name or (DEFAULT_AGENT if words else "")
        for version in (self.version, *(self.span or ())):
            if version and not version_key(version):
                raise BadArgument(f"{version!r} is not a version; write them like this: 2.1.250..2.1.300")


def command(words: Sequence[str]) -> int:
    about = "What changed in an agent, release by release, newest first."
    names = "the agent; default: claude-code, if a release is named"
    parser = make_parser("releases", about, EXAMPLES, "--agent --json", agent=", ".join(AGENTS))
    parser.add_argument("agents", nargs="?", metavar="AGENT[@VERSION]", help=names)
    parser.add_argument("span", nargs="?", metavar="A..B", help="two releases, or A.. for all since")
    parser.add_argument("-v", "--verbose", action="store_true", help="with the cases that prove each change")
    options = parser.parse_args(words)
    asked = _Asked([*filter(None, (options.agents, options.span))], options.agent)
    if not asked.agent:
        return _list_agents(as_json=options.json)
    catalog = require_changes(asked.agent)
    if asked.version and asked.span is None:
        return _show_release(catalog, asked.version, as_json=options.json)
    return _show_changes(catalog, asked.span, is_full=options.verbose, as_json=options.json)


def find_installed(agent: str) -> str:
    """The version of an agent on this machine; empty if none is found."""
    return installed_version(programs_of(agent), os.environ)


# The agents


def _list_agents(*, as_json: bool) -> int:
    catalogs = [open_catalog(agent) for agent in agents_with_changes()]
    if as_json:
        from foretold.cli.json import emit

        emit("releases", {"agents": [_catalog_json(catalog) for catalog in catalogs]})
        return 0
    paint = _make_paint()
    print(f"{paint.bold('Agents whose changes are dated')}\n")
    wide = max(len(catalog.agent) for catalog in catalogs)
    for catalog in catalogs:
        installed = find_installed(catalog.agent)
        here = f", {installed} is installed here" if installed else ", not installed here"
        known = f"{plural(len(catalog.changes), 'change')} from {catalog.oldest} to {catalog.newest}"
        print(f"  {catalog.agent:{wide}}  {known}{here}")
    print(f"\nOf each of the other {len(AGENTS) - len(catalogs)} agents one release is known.")
    print(f"next: foretold releases {catalogs[0].agent}")
    return 0


def _catalog_json(catalog: ReleaseCatalog) -> dict[str, object]:
    return {
        "agent": catalog.agent,
        "oldest": catalog.oldest,
        "newest": catalog.newest,
        "played": list(catalog.played),
        "topics": list(catalog.topics),
        "changes": len(catalog.changes),
        "installed": find_installed(catalog.agent) or None,
    }


# Changes


def _show_changes(catalog: ReleaseCatalog, span: tuple[str, str] | None, *, is_full: bool, as_json: bool) -> int:
    first, last = span if span is not None else ("", "")
    if first and last and version_key(last) < version_key(first):
        raise BadArgument(f"{first} is newer than {last}; the older comes first: foretold releases {last}..{first}")
    installed = find_installed(catalog.agent)
    ends = first or "0", last or catalog.newest
    sure, unsure = catalog.list_sure(*ends), catalog.list_open(*ends)
    if as_json:
        from foretold.cli.json import emit

        shown = [change_json(each, catalog, is_sure=True) for each in sure]
        shown += [change_json(each, catalog, is_sure=False) for each in unsure]
        about = {"agent": catalog.agent, "from": first or catalog.oldest, "to": ends[1]}
        emit("release-history", {**about, "installed": installed or None, "changes": shown})
        return 0
    paint, name = _make_paint(), title_of_agent(catalog.agent)
    what = f"{plural(len(sure), 'change')} from {first or catalog.oldest} to {ends[1]}"
    print(f"{paint.bold(name)}, {what}")
    for line in _describe_ends(catalog, first, last):
        print(paint.wrap(line, 0))
    if sure:
        print()
        print_changes(sure, catalog, paint, is_full=is_full, installed=installed)
    if unsure:
        where = " or ".join(filter(None, (f"before {first}" if first else "", f"after {last}" if last else "")))
        print(f"\n{paint.bold('May have come there')}, {where}\n")
        print_changes(unsure, catalog, paint, is_full=is_full)
    if is_full:
        print()
        for word, what in EVIDENCE.items():
            print(f"{word:10} {paint.wrap(what, 11).lstrip()}")
    if installed and not span:
        print(f"\n{installed} is installed here. What an update will do in a folder: foretold upgrade")
    elif span:
        asked = f"--from {first or catalog.oldest} --to {ends[1]}"
        print(f"\nwhat of it matters in this folder:\n  foretold upgrade {asked}{agent_option(catalog.agent)}")
    return 0


def agent_option(agent: str) -> str:
    """The option that names an agent, if it is not the default one."""
    return f" --agent {agent}" if agent != DEFAULT_AGENT else ""


def _describe_ends(catalog: ReleaseCatalog, first: str, last: str) -> Iterator[str]:
    """Which of two releases lie outside of what is known."""
    if first and version_key(first) < version_key(catalog.oldest):
        yield f"{first} is older than {catalog.oldest}, the oldest that is known."
    for version in dict.fromkeys(filter(None, (first, last))):
        if version_key(version) > version_key(catalog.newest):
            yield f"{version} is newer than {catalog.newest}, the newest that is known."


def print_changes(
    changes: Sequence[DatedChange],
    catalog: ReleaseCatalog,
    paint: Paint,
    *,
    is_full: bool = False,
    has_topics: bool = True,
    installed: str = "",
) -> None:
    """Changes, newest first: the release, the topic, a sentence; with the cases, if all of it is wanted."""
    wide = max(len(change.version) for change in changes)
    topics = max(len(change.topic) for change in changes) + 2 if has_topics else 0
    is_newer, before = False, ""
    for change in sorted(changes, key=lambda each: version_key(each.version), reverse=True):
        is_known = bool(installed) and version_key(change.version) <= version_key(installed)
        if is_newer and is_known:
            print(paint.faint(f"-- {installed} is installed here; what is above came later --"))
        is_newer = bool(installed) and not is_known
        head = change.version if change.version != before else ""
        before = change.version
        gap = "" if is_next(change.version, change.after) else f" Not yet in {change.after}."
        indent = wide + topics + 2
        topic = change.topic.ljust(topics) if has_topics else ""
        said = paint.wrap(f"{change.says}{gap}", indent)
        print(f"{paint.bold(head)}{' ' * (wide - len(head))}  {topic}{said.lstrip()}")
        if is_full:
            known = catalog.evidence_for(change.version, change.topic)
            proof = f"{known}; cases: {', '.join(change.cases)}" if change.cases else known
            print(paint.faint(paint.wrap(proof, indent)))


def change_json(change: DatedChange, catalog: ReleaseCatalog, *, is_sure: bool = True) -> dict[str, object]:
    return {
        "version": change.version,
        "after": change.after,
        "topic": change.topic,
        "says": change.says,
        "cases": list(change.cases),
        "evidence": catalog.evidence_for(change.version, change.topic),
        "sure": is_sure,
    }


# One release


def _show_release(catalog: ReleaseCatalog, version: str, *, as_json: bool) -> int:
    key = version_key(version)
    new = [each for each in catalog.changes if version_key(each.version) == key]
    unsure = catalog.list_open(version, version)
    before, after = _list_neighbours(catalog, key)
    if as_json:
        from foretold.cli.json import emit

        known = {topic: catalog.evidence_for(version, topic) for topic in catalog.topics}
        groups = {"changes": new, "open": unsure, "before": before, "after": after}
        shown = {name: [change_json(each, catalog) for each in group] for name, group in groups.items()}
        about = {"agent": catalog.agent, "version": version, "evidence": catalog.evidence_for(version)}
        emit("release", {**about, "topics": known, **shown})
        return 0
    paint = _make_paint()
    print(f"{paint.bold(f'{title_of_agent(catalog.agent)} {printable(version)}')}")
    for line in (*_describe_ends(catalog, version, version), *_describe_evidence(catalog, version)):
        print(paint.wrap(line, 0))
    if not new:
        print("\nNo change is dated to this release.")
    titles = ("New in it", "May have come in it, before it or after it", "The last before it", "The next after it")
    for title, group in zip(titles, (new, unsure, before, after), strict=True):
        if group:
            print(f"\n{paint.bold(title)}\n")
            print_changes(group, catalog, paint, is_full=group is new)
    return 0


def _list_neighbours(catalog: ReleaseCatalog, key: tuple[int, ...]) -> tuple[list[DatedChange], list[DatedChange]]:
    """The changes of the last release before this one that has any, and those of the next."""
    keys = [version_key(each.version) for each in catalog.changes]
    older, newer = [each for each in keys if each < key], [each for each in keys if each > key]
    return (
        [each for each in catalog.changes if older and version_key(each.version) == max(older)],
        [each for each in catalog.changes if newer and version_key(each.version) == min(newer)],
    )


def _describe_evidence(catalog: ReleaseCatalog, version: str) -> Iterator[str]:
    """How well a release is known; topics that are known alike are named together."""
    topics: dict[str, list[str]] = {}
    for topic in catalog.topics:
        topics.setdefault(catalog.evidence_for(version, topic), []).append(topic)
    for evidence, names in topics.items():
        said = f"{evidence}: {EVIDENCE[evidence]}"
        yield f"{', '.join(names)}: {said.replace(':', ',')}" if len(topics) > 1 else said


def _make_paint() -> Paint:
    return Paint(os.getcwd(), os.path.expanduser("~"))
