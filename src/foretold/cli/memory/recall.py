"""`foretold memory recall` and `verify`: what is remembered about something, and whether it still holds."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from foretold.cli.json import emit, findings_json, pick
from foretold.cli.memory.options import memory_json, paint_of, parse_and_open, parser_of
from foretold.cli.output import Paint, plural, print_findings, printable, write_controls
from foretold.memory.note import TYPES
from foretold.secrets.invisible import show_hidden
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.memory.drift.verify import CheckedClaim
    from foretold.memory.recall.recall import Recall, RecallHit


def command_recall(words: Sequence[str]) -> int:
    about = "The memories that a question is about, best first, with why, their age, and whether they are still true."
    parser = parser_of("recall", about, '  foretold memory recall "how do we deploy?"')
    parser.add_argument("query", nargs="+", help="a question, or words")
    parser.add_argument("--budget", type=int, default=2000, metavar="TOKENS", help="default: %(default)s")
    parser.add_argument("--limit", type=int, default=8, metavar="N", help="at most N; default: %(default)s")
    parser.add_argument("--type", action="append", choices=TYPES, default=[], help="only of this type")
    parser.add_argument("--vectors", action="store_true", help="with vectors, an extra of foretold")
    parser.add_argument("--text", action="store_true", help="the text for a model, of memories that you accepted")
    options, memories = parse_and_open(parser, words)
    unaccepted = memories.count_unaccepted() if options.text and not options.json else 0
    if options.text and not options.json:
        memories = memories.for_models()
    vectors = None
    if options.vectors:
        from foretold.memory.recall.vectors import WordLlama

        vectors = WordLlama()
    found = memories.recall(
        " ".join(options.query),
        budget=options.budget,
        limit=options.limit,
        types=options.type,
        vectors=vectors,
    )
    if options.json:
        emit("recall", _recall_json(found, is_accepted=memories.place.is_accepted))
    elif options.text:
        from foretold.memory.recall.recall import render

        print(render(found))
        if unaccepted:
            left = f"{plural(unaccepted, 'memory')} of the team left out: not accepted"
            print(f"foretold: {left}; to look and decide: foretold memory trust", file=sys.stderr)
    else:
        _print_recall(found, paint_of(memories), is_accepted=memories.place.is_accepted)
    return 0


def _recall_json(found: Recall, *, is_accepted: bool) -> dict[str, object]:
    return {
        "query": found.query,
        "tokens": found.tokens,
        "hits": [
            {
                **memory_json(hit.memory),
                "accepted": is_accepted or hit.memory.scope != "team",
                "score": round(hit.score, 4),
                "why": {word: list(places) for word, places in hit.why.items()},
                "age_days": hit.age_days,
                "excerpt": hit.excerpt,
                "holds": hit.holds or None,
            }
            for hit in found.hits
        ],
        "left_out": [each._asdict() for each in found.left_out],
        "skips": [skip._asdict() for skip in found.skips],
    }


def _print_recall(found: Recall, paint: Paint, *, is_accepted: bool) -> None:
    if not found.hits:
        too_large = "No memory that fits is small enough for this budget."
        print(too_large if found.left_out else "No memory contains a word of this.")
    for hit in found.hits:
        _print_hit(hit, paint, is_accepted=is_accepted)
    for each in found.left_out:
        print(f"not shown ({each.reason}): {printable(show_hidden(each.file))}")
    for skip in found.skips:
        print(f"not searched ({skip.reason}): {printable(show_hidden(skip.path))}")


def _print_hit(hit: RecallHit, paint: Paint, *, is_accepted: bool) -> None:
    memory = hit.memory
    of_team = f", of the team{'' if is_accepted else ' (not accepted)'}" if memory.scope == "team" else ""
    name, type_ = printable(show_hidden(memory.file)), printable(show_hidden(memory.type or "?"))
    print(paint.bold(name) + paint.faint(f"  {type_}{of_team}, {hit.note}"))
    if memory.description:
        print(paint.wrap(show_hidden(memory.description), 2))
    lines = show_hidden(hit.excerpt).splitlines()
    print("\n".join(paint.wrap(line, 4) if line.strip() else "" for line in lines))
    words = "; ".join(f"{word} in {', '.join(places)}" for word, places in hit.why.items())
    print(paint.faint(paint.wrap(f"why: {words}", 2)))
    if hit.holds:
        print(paint.wrap(f"holds: {hit.holds}", 2))
    print()


def command_verify(words: Sequence[str]) -> int:
    about = "Check what memories claim: paths, functions, flags, commits, values and quoted code, without a model."
    parser = parser_of("verify", about, "  foretold memory verify\n  foretold memory verify NAME --all")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; default: every memory")
    parser.add_argument("--all", action="store_true", help="also valid ones")
    options, memories = parse_and_open(parser, words)
    findings = list[Finding]()
    progress = _print_progress if sys.stderr.isatty() else None
    verdicts = memories.verify(options.names, progress=progress, findings=findings)
    bad = [verdict for verdict in verdicts if verdict.state in DRIFT]
    if options.json:
        rows = [{**pick(each, "file state"), "claims": [*map(_claim_json, each.claims)]} for each in verdicts]
        emit("verify", {"verdicts": rows, "findings": findings_json(findings)})
        return 1 if bad or findings else 0
    paint = paint_of(memories)
    for verdict in verdicts if options.all else bad:
        print(f"{paint.bold(printable(verdict.file))}: {verdict.state}")
        for checked in verdict.claims:
            if options.all or checked.state in DRIFT:
                what = f"{checked.state}: {checked.claim.text}, line {checked.claim.line}"
                print(paint.wrap(f"{what}: {checked.evidence}", 2))
        print()
    counts = [f"{sum(verdict.state == state for verdict in verdicts)} {state}" for state in STATES]
    print(f"{plural(len(verdicts), 'memory')}: {', '.join(counts)}")
    if bad:
        print("\nCorrect one: foretold memory edit NAME      delete one: foretold memory rm NAME")
    if findings:
        print(f"\n{plural(len(findings), 'finding')}:")
        print_findings(findings, paint)
    return 1 if bad or findings else 0


STATES = ("valid", "moved", "changed", "missing", "unknown")
DRIFT = ("moved", "changed", "missing")


def _print_progress(stage: str, done: int, total: int) -> None:
    """What is being looked at, on one line of the terminal."""
    end = "\n" if total and done >= total else ""
    what = printable(stage) + (f": {done:,} of {total:,}" if total else "")
    write_controls(f"\r\x1b[K{what}{end}")


def _claim_json(checked: CheckedClaim) -> dict[str, object]:
    return {**pick(checked.claim, "kind text line"), **pick(checked, "state evidence"), "where": checked.where or None}
