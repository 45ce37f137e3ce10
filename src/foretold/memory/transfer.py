"""Export all memories of a project to one file, and import it on another machine.

1. The file is JSON: every memory's file and text, and the text of the index.
2. A memory with what looks like a credential, or with bytes that are not UTF-8, is left out and named.
3. An import shows first what it would do: new files, those that exist already, and those that differ. The last are left
   alone unless they are to be replaced; then the version before is in the history. Of the index, the lines that are not
   entries are imported.
4. Nothing in such a file is trusted: names are checked like any other, and what is refused does not stop the rest.
"""

from __future__ import annotations

import json
import time

from foretold.errors import BadName, ForetoldError, StoreFailed
from foretold.memory.note import INDEX, MAX_FILE, safe_file
from foretold.memory.relocate import exact_text, find_own_lines
from foretold.memory.store.index_file import line_of
from foretold.memory.store.store import Arrival, Store
from foretold.memory.store.team import credential_findings
from foretold.memory.store.transaction import now
from foretold.secrets.forms import credentials_in
from foretold.storage.names import same_name
from foretold.types import Finding, NamedTuple

SCHEMA = "foretold.export/1"
REMOVE = "remove it and export again"


class Import(NamedTuple):
    """One file of an import."""

    file: str
    text: str
    what: str  #: new, same, differs, refused; lines: those of the index that are not entries; failed, once it was tried
    why: str = ""
    changed: float = 0.0  #: when it was changed, on the machine it comes from
    entry: str = ""  #: its line in the index there


def export(store: Store, project: str) -> tuple[str, list[Finding]]:
    """The text of the file, and what was left out of it."""
    findings: list[Finding] = []
    memories, index = [], ""
    for memory in store.memories(findings):
        text = exact_text(store, memory.file, findings, "the memory is left out", "export")
        found = credential_findings(memory.file, text or "", REMOVE, "; the memory is left out")
        findings += found
        if text is not None and not found:
            memories.append({"file": memory.file, "changed": memory.changed, "text": text})
    try:
        index = store.index()
    except StoreFailed as error:
        findings.append(Finding(INDEX, None, "unreadable", str(error)))
    found = credential_findings(INDEX, index, REMOVE, "; the index is left out")
    document = {"schema": SCHEMA, "project": project, "time": now(), "memories": memories}
    document["index"] = "" if found else index
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n", [*findings, *found]


def plan_import(text: str, store: Store) -> list[Import]:
    """What importing would do. Changes nothing."""
    given, index = _read(text)
    there = {same_name(file): file for file in store.folder.files()}
    plan = []
    for file, body, changed in given:
        plan.append(Import(file, body, *_compare(file, body, there, store), changed, line_of(index, file)))
        there.setdefault(same_name(file), "")
    lines = find_own_lines(index, store.index())
    if lines:
        found = credentials_in(lines)
        why = f"it looks like a credential: {found[0].kind}" if found else ""
        plan.append(Import(INDEX, lines, "refused" if found else "lines", why))
    return plan


def _read(text: str) -> tuple[list[tuple[str, str, float]], str]:
    """The files and the index of a document; an error that says what is wrong with it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ForetoldError("this is not a file from `foretold memory export`: it is not JSON") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        schema = document.get("schema") if isinstance(document, dict) else None
        raise ForetoldError(f"this is not a file from `foretold memory export`: its schema is {schema!r:.60}")
    given, index = document.get("memories"), document.get("index", "")
    try:
        found = [(each["file"], each["text"], float(each.get("changed") or 0)) for each in given]  # type: ignore[union-attr]
    except (KeyError, TypeError, AttributeError, ValueError):
        found = [(None, None, 0.0)]
    if not isinstance(index, str) or not all(isinstance(part, str) for each in found for part in each[:2]):
        raise ForetoldError("the file is damaged: every memory in it needs a `file` and a `text`")
    return found, index


def _compare(file: str, text: str, there: dict[str, str], store: Store) -> tuple[str, str]:
    """What would become of a file, and why it is refused."""
    refusal, known = _refusal(file, text), there.get(same_name(file))
    if not refusal and known not in (None, file):
        refusal = f"{known} has its name" if known else "it is in the file twice"
    if refusal or known is None:
        return "refused" if refusal else "new", refusal
    return "same" if store.folder.read(file).data == text.encode() else "differs", ""


def _refusal(file: str, text: str) -> str:
    """Why a memory is not imported; empty if it is."""
    try:
        safe_file(file)
        size = len(text.encode())
    except BadName as error:
        return str(error).partition(": ")[2]
    except UnicodeEncodeError:
        return "its text has half of a surrogate pair"
    if same_name(file) == same_name(INDEX):
        return "the index is made from the files"
    if size > MAX_FILE:
        return f"it has {size:,} bytes; a memory has at most {MAX_FILE:,}"
    found = credentials_in(text)
    return f"it looks like a credential: {found[0].kind}, line {found[0].line}" if found else ""


def apply_import(plan: list[Import], store: Store, *, replace: bool = False) -> list[Import]:
    """Import what was planned; what was imported, and what failed. A failure does not stop the rest."""
    done = []
    for arrival in plan:
        try:
            if arrival.what == "new":
                changed = arrival.changed or time.time()
                store.bring([Arrival(arrival.file, arrival.text.encode(), changed, arrival.entry)], why="imported")
            elif arrival.what == "differs" and replace:
                store.edit(arrival.file, text=arrival.text, why="imported")
            elif arrival.what == "lines":
                store.add_to_index(arrival.text, why="imported")
            else:
                continue
        except ForetoldError as error:
            arrival = arrival._replace(what="failed", why=str(error))
        done.append(arrival)
    return done
