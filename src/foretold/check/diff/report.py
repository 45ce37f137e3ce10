"""The report of a change: for people, as Markdown for a pull request, as JSON (`docs/schemas/check-diff.1.json`).

The first sentence has what a reviewer must know: what does not arrive any more, what is cut, what every session costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from foretold.check.delivered import CutText, Delivery, describe_when
from foretold.check.diff.change import ChangedCost, ChangedCut, ChangedDelivery, ChangeReport
from foretold.check.diff.releases import ReleaseChange, describe_release
from foretold.check.report.json import describe_finding, write_json
from foretold.check.report.markdown import ICONS, LONGEST, cut_text, escape_markdown, quote_code
from foretold.check.report.sentences import count, join_words
from foretold.dialects.registry import title_of_agent
from foretold.findings.registry import SEVERITIES
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.check.finding import CheckFinding
    from foretold.check.report.text import TextStyle

MOST_FOLDERS = 3  #: that are named
MOST_ROWS = 200  #: of a report for people
LONGEST_CELL = 300
WORDS = {
    "unreachable": "unreachable",
    "removed": "removed",
    "dropped": "no longer imported",
    "delivered": "new",
    "moved": "moved",
    "rescoped": "at another time",
    "changed": "changed",
}


def summarize_change(report: ChangeReport) -> str:
    """The first sentence."""
    parts = [*_list_moves(report), *_list_losses(report), *_list_cuts(report), *_list_costs(report)]
    serious = sum(1 for each in report.new if each.severity in ("error", "warning"))
    if serious:
        parts.append(f"adds {count(serious, 'finding')}")
    fixed = sum(1 for each in report.fixed if each.severity in ("error", "warning"))
    if fixed:
        parts.append(f"fixes {count(fixed, 'finding')}")
    if parts:
        return f"This change {join_words(parts)}."
    if report.deliveries or report.cuts:
        return "This change makes no file unreachable, and costs as much as before."
    return "This change does not affect what agents are given."


def _list_moves(report: ChangeReport) -> Iterator[str]:
    """The agents that have another version after the change."""
    for agent in dict.fromkeys(each.agent for each in report.releases if each.is_change):
        counts = report.project.pin_of(agent)
        for each in report.releases:
            is_last = counts is None or counts.version == each.after
            if each.agent == agent and each.is_change and each.changes and is_last:
                yield f"takes {title_of_agent(agent)} from {each.before} to {each.after}"
                break


def _list_losses(report: ChangeReport) -> Iterator[str]:
    paths: dict[str, set[str]] = {}
    for each in report.deliveries:
        if each.kind == "unreachable":
            paths.setdefault(_title(each.agent), set()).add(each.path)
    if paths:
        counts = [f"{len(found):,} for {agent}" for agent, found in paths.items()]
        number, _, first = counts[0].partition(" ")
        noun = "file" if number == "1" else "files"
        yield f"makes {number} {noun} unreachable {join_words([first, *counts[1:]])}"


def _list_cuts(report: ChangeReport) -> Iterator[str]:
    agents = dict.fromkeys(_title(each.agent) for each in report.cuts if each.is_worse)
    files = {each.path for each in report.cuts if each.is_worse}
    if files:
        yield f"cuts off the end of {count(len(files), 'file')} for {join_words(agents)}"


def _list_costs(report: ChangeReport) -> Iterator[str]:
    """What every session costs more, and what less."""
    main = _list_changed_costs(report)
    for sign, verb, noun in ((1, "costs", "more token"), (-1, "saves", "token")):
        found = {_title(cost.agent): cost for cost in main if sign * (cost.after - cost.before) > 0}
        tokens = {sign * (cost.after - cost.before) for cost in found.values()}
        folders = {cost.folder for cost in found.values()}
        if found:
            most = "" if len(tokens) == 1 else "up to "
            whose = "" if len(found) == len(main) else f" of {join_words(found)}"
            where = f" in {folders.pop()}" if len(folders) == 1 and "" not in folders else ""
            yield f"{verb} {most}{count(max(tokens), noun)} in every session{whose}{where}"


def _list_changed_costs(report: ChangeReport) -> list[ChangedCost]:
    """Of every agent the first folder with a difference, else the first."""
    found = {cost.agent: cost for cost in list_main_costs(report)}
    for cost in report.costs:
        main = found[cost.agent]
        if main.before == main.after and cost.before != cost.after:
            found[cost.agent] = cost
    return list(found.values())


def list_main_costs(report: ChangeReport) -> list[ChangedCost]:
    """Of every agent the first folder that is reported: the top, if that is asked about."""
    found: dict[str, ChangedCost] = {}
    for cost in report.costs:
        found.setdefault(cost.agent, cost)
    return list(found.values())


def _title(agent: str) -> str:
    return title_of_agent(agent.partition("@")[0])


# For people


def render_text(report: ChangeReport, style: TextStyle) -> str:
    """The whole report in the columns of a terminal."""
    lines = [style.wrap(summarize_change(report), 0), style.faint(f"compared with {report.base}"), ""]
    lines += [*_render_releases(report.releases, style), ""] if report.releases else []
    for agent in dict.fromkeys(cost.agent for cost in report.costs):
        rows = [*_list_rows(report, agent)]
        if rows or any(cost.before != cost.after for cost in report.costs if cost.agent == agent):
            lines += [style.bold(f"{_title(agent)} {agent.partition('@')[2]}".rstrip())]
            lines += [*_render_costs(report, agent, style), *_render_rows(rows, style), ""]
    for title, findings in (("New findings", report.new), ("Fixed findings", report.fixed)):
        if findings:
            lines += [style.bold(title), *_render_findings(findings, style), ""]
    if report.known:
        lines.append(f"{_describe_known(report)}\n")
    if report.cut:
        lines.append(style.wrap(f"not everything was looked at: {report.cut}", 0))
    return "\n".join(lines).rstrip("\n") + "\n"


def _render_releases(releases: Sequence[ReleaseChange], style: TextStyle) -> Iterator[str]:
    for each in releases:
        yield style.wrap(describe_release(each), 0)
        if each.command:
            yield style.faint(f"  → {each.command}")


def _render_costs(report: ChangeReport, agent: str, style: TextStyle) -> Iterator[str]:
    main = list_main_costs(report)
    for cost in report.costs:
        if cost.agent == agent and (cost.before != cost.after or cost in main):
            yield style.wrap(_describe_cost(cost), 2)


def _describe_cost(cost: ChangedCost) -> str:
    where = f" in {cost.folder}" if cost.folder else ""
    if cost.before == cost.after:
        return f"{count(cost.after, 'token')} in every session{where}, as before"
    return f"{cost.before:,} → {count(cost.after, 'token')} in every session{where}"


def _list_rows(report: ChangeReport, agent: str) -> Iterator[tuple[str, str, str]]:
    """What happened to a file, its path, and more about it."""
    for each in report.deliveries:
        if each.agent == agent:
            yield (
                each.reason if each.kind == "delivered" and each.reason else WORDS[each.kind],
                each.path,
                _describe_delivery(each),
            )
    for cut in report.cuts:
        if cut.agent == agent:
            word = "cut" if cut.is_worse else "less cut" if cut.after else "whole again"
            yield word, cut.path, describe_cut(cut)


def _render_rows(rows: Sequence[tuple[str, str, str]], style: TextStyle) -> Iterator[str]:
    for word, path, more in rows[:MOST_ROWS]:
        shown = style.red(f"{word:18}") if word in ("unreachable", "cut") else f"{word:18}"
        yield f"  {shown} {style.path(path)}"
        if more:
            yield style.wrap(more, 21)
    if len(rows) > MOST_ROWS:
        yield f"  … and {len(rows) - MOST_ROWS} more (--json)"


def _describe_delivery(change: ChangedDelivery) -> str:
    parts = []
    if change.kind == "unreachable":
        parts.append(f"it was given {_describe_times(change.before)}; now {change.reason}")
    elif change.kind in ("removed", "dropped"):
        parts.append(f"it was given {_describe_times(change.before)}")
    elif change.kind == "delivered":
        parts.append(f"{_describe_times(change.after)}, {_count_tokens(change.after)}")
    elif change.kind == "rescoped":
        parts.append(f"{_describe_times(change.before)} → {_describe_times(change.after)}")
    else:
        parts.append(f"from {change.other}" if change.other else _describe_times(change.after))
        if change.kind == "changed":
            parts.append(f"{_tokens(change.before):,} → {_count_tokens(change.after)}")
    return ", ".join(parts) + _describe_folders(change.folders)


def _describe_times(deliveries: Iterable[Delivery]) -> str:
    times = [*dict.fromkeys(describe_when(each) for each in deliveries)]
    more = f" and {len(times) - MOST_FOLDERS} more times" if len(times) > MOST_FOLDERS else ""
    return " or ".join(times[:MOST_FOLDERS]) + more


def _tokens(deliveries: Sequence[Delivery]) -> int:
    return max((each.tokens for each in deliveries), default=0)


def _count_tokens(deliveries: Sequence[Delivery]) -> str:
    return count(_tokens(deliveries), "token")


def describe_cut(cut: ChangedCut) -> str:
    """What is lost, in words."""
    before = f" (before: {_count_bytes(cut.before)})" if cut.before else ""
    if cut.after is None:
        return f"nothing is lost any more{before}{_describe_folders(cut.folders)}"
    first = f", the first heading that is lost is “{cut.after.heading}”" if cut.after.heading else ""
    said = f"its last {_count_bytes(cut.after)} are lost, from line {cut.after.line:,} on{before}{first}"
    return said + _describe_folders(cut.folders)


def _count_bytes(cut: CutText) -> str:
    return count(cut.lost, "byte")


def _describe_folders(folders: Sequence[str]) -> str:
    """Where an agent starts; nothing if it is the top, too."""
    if "" in folders or not folders:
        return ""
    more = f" and {len(folders) - MOST_FOLDERS} more" if len(folders) > MOST_FOLDERS else ""
    return f", if it starts in {', '.join(folders[:MOST_FOLDERS])}{more}"


def _render_findings(findings: Sequence[CheckFinding], style: TextStyle) -> Iterator[str]:
    for each in findings[:MOST_ROWS]:
        place = style.path(each.path) + (f":{each.line}" if each.line else "")
        yield f"  {each.severity} {each.code}  {place}"
        yield style.wrap(each.message, 4)
    if len(findings) > MOST_ROWS:
        yield f"  … and {len(findings) - MOST_ROWS} more (--json)"


def _describe_known(report: ChangeReport) -> str:
    verb = "is" if report.known == 1 else "are"
    return f"{count(report.known, 'new finding')} {verb} in the baseline"


# For a pull request


def render_markdown(report: ChangeReport, longest: int = LONGEST) -> str:
    """The comment on a pull request: the sentence, then tables; texts of strangers cannot break out of them."""
    head = f"### What agents are told\n\n{escape_markdown(summarize_change(report))}\n"
    foot = f"\nCompared with {quote_code(str(report.base))}.{f' {_describe_known(report)}.' if report.known else ''}\n"
    blocks = [
        _render_release_rows(report),
        _render_table(report),
        _render_finding_rows("New findings", report.new, report),
    ]
    blocks.append(_render_finding_rows("Fixed findings", report.fixed, report))
    room, shown = longest - len(head) - len(foot) - 80, list[str]()
    for row in (row for block in blocks for row in block):
        room -= len(row)
        if room < 0:
            shown.append(f"\n… and more; all of it: `foretold check --diff {report.base.name}`\n")
            break
        shown.append(row)
    return f"{head}{''.join(shown)}{foot}"


def _render_release_rows(report: ChangeReport) -> list[str]:
    rows = [
        f"- {escape_markdown(describe_release(each))}{f' ({quote_code(each.command)})' if each.command else ''}\n"
        for each in report.releases
    ]
    return ["\n", *rows] if rows else []


def _render_table(report: ChangeReport) -> list[str]:
    rows = ["\n| Agent | Tokens in every session |\n|---|---|\n"]
    for cost in report.costs:
        if cost.before != cost.after:
            where = f" in {quote_code(cost.folder)}" if cost.folder else ""
            tokens = f"{cost.before:,} → {cost.after:,} ({cost.after - cost.before:+,})"
            rows.append(f"| {escape_markdown(_title(cost.agent))}{where} | {tokens} |\n")
    rows = rows if len(rows) > 1 else []
    files = [
        (agent, *row)
        for agent in dict.fromkeys(cost.agent for cost in report.costs)
        for row in _list_rows(report, agent)
    ]
    if files:
        rows.append("\n| Agent | File | | What |\n|---|---|---|---|\n")
    for agent, word, path, more in files:
        icon = f"{ICONS['error']} " if word in ("unreachable", "cut") else ""
        what = escape_markdown(cut_text(more, LONGEST_CELL))
        rows.append(f"| {escape_markdown(_title(agent))} | {quote_code(path)} | {icon}{word} | {what} |\n")
    return rows


def _render_finding_rows(title: str, findings: Sequence[CheckFinding], report: ChangeReport) -> list[str]:
    if not findings:
        return []
    rows = [f"\n**{title}**\n\n| | Where | Rule | What |\n|---|---|---|---|\n"]
    for each in sorted(findings, key=lambda each: SEVERITIES.index(each.severity)):
        place = report.project.relative(each.path) + (f":{each.line}" if each.line else "")
        icon, what = ICONS[each.severity], escape_markdown(cut_text(each.message, LONGEST_CELL))
        rows.append(f"| {icon} {each.severity} | {quote_code(place)} | {quote_code(each.code)} | {what} |\n")
    return rows


# For programs


def render_json(report: ChangeReport) -> str:
    """The whole document."""
    return write_json({"schema": "foretold.check-diff/1", **describe_change(report)})


def describe_change(report: ChangeReport) -> dict[str, object]:
    """A change as plain data; paths are relative to `top`, if they are below it."""
    project = report.project
    return {
        "top": project.top,
        "base": report.base._asdict(),
        "summary": summarize_change(report),
        "worse": report.is_worse,
        "costs": [cost._asdict() for cost in report.costs],
        "deliveries": [_delivery_json(each) for each in report.deliveries],
        "cuts": [_cut_json(each) for each in report.cuts],
        "new": [describe_finding(each, project) for each in report.new],
        "fixed": [describe_finding(each, project) for each in report.fixed],
        "cut": report.cut,
        "known": report.known,
        "releases": [{**each._asdict(), "places": list(each.places)} for each in report.releases],
    }


def _delivery_json(change: ChangedDelivery) -> dict[str, object]:
    return {
        **change._asdict(),
        "folders": list(change.folders),
        "before": [describe_delivery(each) for each in change.before],
        "after": [describe_delivery(each) for each in change.after],
    }


def describe_delivery(delivery: Delivery) -> dict[str, object]:
    """When a text comes, and what it costs."""
    return {
        "when": delivery.when,
        "scope": list(delivery.scope),
        "layer": delivery.layer,
        "digest": delivery.digest,
        "tokens": delivery.tokens,
    }


def _cut_json(cut: ChangedCut) -> dict[str, object]:
    sides = {
        "before": cut.before._asdict() if cut.before else None,
        "after": cut.after._asdict() if cut.after else None,
    }
    return {**cut._asdict(), "folders": list(cut.folders), **sides, "worse": cut.is_worse}
