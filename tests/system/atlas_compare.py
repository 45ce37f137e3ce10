"""Compares what a release sent with what we say of it, case by case, and makes a digest of our answer."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from atlas_player import DATE, MANAGED, PROMPT

from foretold.proof.conform.cases import Case, dict_at
from foretold.proof.conform.instructions import play_agent, play_segments
from foretold.proof.conform.stage import Stage, StagedTree
from foretold.proof.probe.segments import CUTS, PROSE, SIDES

Row = dict[str, Any]
#: what follows the instructions in the same text, and changes from request to request
TOKENS = re.compile(r"\n\n<system-reminder>\n<total_tokens>[^<]*</total_tokens>\n</system-reminder>")


COMPLAINT = re.compile(
    r"error: un(?:known option|expected argument) '[^']+'|Maximum call stack size exceeded|Prompt is too long|"
    r"exceed the model's usable context budget|"
    r"not running in a trusted directory|--dangerously-skip-permissions must be accepted"
)
#: a subagent that came in a later release, or the tool that starts one
NO_AGENT = re.compile(
    r"(?:<tool_use_error>)?(?:Error: )?"
    r"(Agent type '[^']+' not found|No such tool available: Agent|Cannot create agent worktree)"
)


class Answer(NamedTuple):
    """Texts that carry instructions: request, role, kind and text; those of subagents apart."""

    main: tuple[tuple[int, str, str, str], ...]
    subs: tuple[tuple[int, str, str, str], ...]


def answer_case(case: Case, version: str, order: dict[str, list[str]] | None) -> Answer:
    """What we say that a release sends. Without an order, folders are listed sorted."""
    case = {**case, "version": version}
    with Stage(case, DATE) as stage:
        stage.prepare()
        play = _claude if case["agent"] == "claude-code" else _segments
        if case.get("uid") and os.geteuid() == 0:
            texts = _as_user(int(str(case["uid"])), lambda: play(stage, _Tree(stage, order)))
        else:
            texts = play(stage, _Tree(stage, order))
        return Answer(*(tuple((n, role, kind, _name(text, stage)) for n, role, kind, text in part) for part in texts))


def _as_user(uid: int, ask: Callable[[], Any]) -> Any:
    """Ask in a process without root's rights: root could read everything."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writer, json.dumps(ask()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    return json.loads(data)


class _Tree(StagedTree):
    """A stage whose folders are listed in the order in which the agent's run found them, or sorted."""

    __slots__ = ("_recorded",)

    def __init__(self, stage: Stage, order: dict[str, list[str]] | None) -> None:
        filled = {_fill(path, stage): names for path, names in (order or {}).items()}
        super().__init__(stage, filled)
        self._recorded = order is not None

    def scan(self, folder: str) -> Any:
        items = super().scan(folder)
        return items if self._recorded or not isinstance(items, list) else sorted(items, key=lambda item: item.name)


def _fill(path: str, stage: Stage) -> str:
    for name in ("proj", "home", "root", "managed"):
        path = path.replace("{" + name + "}", stage.places[name])
    return path


def _name(text: str, stage: Stage) -> str:
    places = {stage.places[name]: "{" + name + "}" for name in ("proj", "home", "managed", "root", "url")}
    for path in sorted(places, key=len, reverse=True):
        text = text.replace(path, places[path])
    return text.replace(stage.places["root-slug"], "{root-slug}").replace(DATE, "{date}").replace(MANAGED, "{managed}")


def _claude(stage: Stage, tree: StagedTree) -> tuple[list[Any], list[Any]]:
    found, session = play_agent(stage, tree, allow_shell=True)
    main = [(0, slot.block.role, slot.block.type, slot.block.text) for slot in session.view.slots]
    main += [(0, *block) for block in found["first"] if block[0] != "system"]
    main += [(0, *block) for block in found["first"] if block[0] == "system"]
    main += [(n, *block) for n, blocks in enumerate(found["later"], 1) for block in blocks]
    subs = [(0, "user", "text", text) for text in found["sub"] if text is not None]
    subs += [(n, *block) for n, blocks in enumerate(found["sub_later"], 1) for block in blocks]
    return main, subs


def _segments(stage: Stage, tree: StagedTree) -> tuple[list[Any], list[Any]]:
    found, _ = play_segments(stage, tree)
    return [(each["request"], each["role"], "text", each["text"]) for each in found], []


def digest(answer: Answer) -> str:
    return hashlib.sha256(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[:10]


def why_unplayed(row: Row) -> str:
    """Why a row says nothing about the release; empty if it does."""
    if row.get("skipped") or row.get("failed"):
        return str(row.get("skipped") or row.get("failed"))
    if row.get("timed_out"):
        return "it ran too long"
    failed = [
        run for run, code in enumerate(row["exit"]) if code and all(each["run"] != run for each in row["requests"])
    ]
    if row["requests"] and failed:
        return f"a later run failed{_complaint(row)}"
    results = (NO_AGENT.match(str(text)) for _, kind, text in row["texts"] if kind == "tool_result")
    if missing := next(filter(None, results), None):
        return missing[1]
    if not row["requests"]:
        return f"no request{_complaint(row)}" if any(row["exit"]) else "no request"
    return ""


def _complaint(row: Row) -> str:
    """What a release said when it gave up, without what differs from run to run and from machine to machine."""
    said = str(row.get("stderr", "")).strip()
    known = COMPLAINT.search(said)
    last = known[0] if known else re.sub(r"\S*/\S*", "…", said.rpartition("\n")[2])
    return f": {last[-120:]}" if last else ""


def judge(case: Case, row: Row, version: str) -> tuple[list[str], str]:
    """How what was sent differs from what we say, nothing if it is equal; and a digest of what we say."""
    order = row.get("readdir", {})
    expected = answer_case(case, version, order)
    differences = _differences(case, row, expected)
    if any(names != sorted(names) for names in order.values()):  # the digest is of sorted folders
        expected = answer_case(case, version, None)
    return differences, digest(expected)


def compare(case: Case, row: Row, version: str) -> list[str]:
    """How what was sent differs from what we say; nothing if it is equal."""
    return _differences(case, row, answer_case(case, version, row.get("readdir", {})))


def _differences(case: Case, row: Row, expected: Answer) -> list[str]:
    main, subs = split_requests(case, row)
    cut = CUTS[str(case["agent"])]
    if dict_at(case, "expect").get("unordered"):
        return list(_compare_pieces(expected.main, main, row["texts"], cut))
    differences = list(_compare(expected.main, main, row["texts"], cut, str(case["agent"])))
    if subs or expected.subs:
        differences += [f"subagent: {each}" for each in _compare(expected.subs, subs, row["texts"], cut, "sub")]
    return differences


def split_requests(case: Case, row: Row) -> tuple[list[list[int]], list[list[int]]]:
    """The requests of the main conversation, and those of subagents."""
    prompt, texts = str(case.get("prompt") or PROMPT), row["texts"]
    side = SIDES.get(str(case["agent"]))
    if case["agent"] != "claude-code":
        requests = row["requests"]
        if side:
            requests = [r for r in requests if not any(str(texts[i][2]).startswith(side) for i in r["parts"])]
        return [request["parts"] for request in requests], []
    calls_agent = '"Agent"' in json.dumps(case.get("turns", ""))
    main, subs = [], []
    for request in row["requests"]:
        is_main = not calls_agent or any(prompt in str(texts[number][2]) for number in request["parts"])
        (main if is_main else subs).append(request["parts"])
    return main, subs


def _compare(expected: Any, requests: list[list[int]], texts: list[Any], cut: str, agent: str) -> Iterator[str]:
    for number, role, kind, text in expected:
        if number >= len(requests):
            yield f"request {number} was not sent; expected {text[:200]!r}"
            continue
        parts = [texts[each] for each in requests[number] if texts[each][0] == role or role == "tool"]
        if not any(_is_text(text, kind, part, agent) for part in parts):
            yield f"request {number}, {role} {kind}: not there: {text[:600]!r}"
    for number, parts in enumerate(requests):
        before = Counter(requests[number - 1]) if number else Counter()
        new = list((Counter(parts) - before).elements())
        for each in new:
            role, kind, text = texts[each]
            if role == "assistant" or not isinstance(text, str):
                continue
            for match in re.finditer(cut, PROSE.sub("", text)):
                known = [one for at, _, _, one in expected if at == number or agent != "claude-code"]
                if match[0].strip() and not any(match[0] in one or one in match[0] for one in known):
                    yield f"request {number}, {role} {kind}: not expected: {match[0][:600]!r}"


def _compare_pieces(expected: Any, requests: list[list[int]], texts: list[Any], cut: str) -> Iterator[str]:
    """How the files of a request differ, where the agent has no certain order for them."""
    for number, parts in enumerate(requests):
        wanted = _pieces(text for at, _, _, text in expected if at == number)
        found = _pieces(match[0] for each in parts for match in re.finditer(cut, str(texts[each][2])))
        if wanted != found:
            yield f"request {number}: {found}, not {wanted}"


def _pieces(texts: Iterable[str]) -> list[str]:
    return sorted(piece.strip("\n") for piece in "\n".join(texts).split("Instructions from: "))


def _is_text(text: str, kind: str, part: list[Any], agent: str) -> bool:
    role, sent_kind, sent = part
    if isinstance(sent, dict):
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() == sent["sha256"] or (
            sent["head"] in text + sent["head"] and text[:1500] in sent["head"] and text[-1500:] in sent["tail"]
        )
    if agent == "claude-code":
        if kind == "tool_result":
            return sent_kind == kind and TOKENS.sub("", sent).endswith(text)
        return sent_kind == kind and (text in sent if role == "system" else text == sent)
    return text in PROSE.sub("", sent)
