"""`foretold memory add`, `edit`, `rename`, `rm` and `restore`: every change is in the history."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from foretold.cli.json import emit, pick
from foretold.cli.memory.options import parse_and_open, parser_of, print_change, require_user, writer_of
from foretold.errors import ForetoldError, NoSuchMemory, WriteRefused
from foretold.memory.note import TYPES, Memory
from foretold.memory.store.inbox import Proposal
from foretold.memory.store.journal import Change
from foretold.memory.write_policy import find_new_credentials, refuse_new_credentials
from foretold.storage.tree import read_regular
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.store.journal import ChangeOrigin

ADD = """\
  foretold memory add "Tabs" -t feedback -d "indent with tabs" -b "Use tabs."
  foretold memory add "Notes" -t project -d "what was decided" < notes.md"""
SKELETON = "\n\n**Why:** \n\n**How to apply:** \n"


def command_add(words: Sequence[str]) -> int:
    about = "Write a memory. Without -b the text is read from standard input, or written in $EDITOR."
    parser = parser_of("add", about, ADD)
    parser.add_argument("topic", help="what it is about; its name and file are derived from this")
    parser.add_argument("-t", "--type", choices=TYPES, required=True, help="user, feedback, project, reference")
    parser.add_argument("-d", "--description", required=True, help="one line that helps to find it")
    parser.add_argument("-b", "--body", help="the text")
    _add_author(parser)
    parser.add_argument("--anyway", action="store_true", help="even if it contains a credential")
    options, memories = parse_and_open(parser, words)
    if options.team and writer_of(options.by) == "user":
        from foretold.cli.memory.consent import ask_consent  # not where a private memory is written

        memories = ask_consent(memories, options)
    body = options.body
    if body is None:
        needs = options.type in ("feedback", "project")
        body = _edit(SKELETON if needs else "\n", options.topic) if sys.stdin.isatty() else _read_input()
    if not body.strip() or body.strip() == SKELETON.strip():
        raise WriteRefused("the memory has no text; nothing was written")
    with _rescue(body if options.body is None else ""):
        _refuse_credentials(f"{options.topic}\n{options.description}\n{body}", options)
        made = memories.create(
            options.topic,
            type=options.type,
            description=options.description,
            body=body,
            allow_credentials=options.anyway,
            **_author(options),
        )
    print_change(made, "written", options, memories)
    return 0


def _add_author(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", choices=("user", "agent"), default="user", help="who writes; matters for the policy")
    parser.add_argument("--why", default="", help="a note for the history")


def _refuse_credentials(text: str, options: argparse.Namespace, before: str = "") -> None:
    """Refuse a new credential: a memory is sent to models."""
    if not options.anyway:
        refuse_new_credentials(text, before, otherwise="add --anyway")
    elif find_new_credentials(text, before):
        require_user("--anyway")


def _author(options: argparse.Namespace) -> ChangeOrigin:
    return {"by": writer_of(options.by), "why": options.why}


def _edit(text: str, name: str) -> str:
    """A text after the user has edited it."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        raise WriteRefused(
            "$EDITOR is not set, or there is no terminal; give the text with -b, or on standard input (edit: --stdin)"
        )
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="foretold-") as folder:
        path = os.path.join(folder, "memory.md")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        try:
            done = subprocess.run([*shlex.split(editor), path], check=False)
        except (OSError, ValueError) as error:
            raise ForetoldError(f"cannot start the editor {editor!r}: {error}; {name} was not changed") from None
        if done.returncode:
            raise ForetoldError(f"{editor} ended with {done.returncode}; {name} was not changed")
        data = read_regular(path, 1 << 30)
        with _rescue(data):
            return _decode(data)


def _read_input() -> str:
    """The text on standard input, as it is."""
    return _decode(sys.stdin.buffer.read())


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ForetoldError(f"the text is not UTF-8 (byte {error.start}); nothing was changed") from None


@contextmanager
def _rescue(text: str | bytes) -> Iterator[None]:
    """Keep what a person has written in an editor if it cannot be stored."""
    try:
        yield
    except ForetoldError:
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        if data and sys.stdin.isatty():
            import tempfile

            descriptor, path = tempfile.mkstemp(prefix="foretold-kept-", suffix=".md")
            with open(descriptor, "wb") as file:
                file.write(data)
            print(f"foretold: what you wrote is in {path}", file=sys.stderr)
        raise


def command_edit(words: Sequence[str]) -> int:
    about = "Change a memory: in $EDITOR, by options, or its whole text from standard input."
    parser = parser_of("edit", about, "  foretold memory edit NAME\n  foretold memory edit NAME -d 'a better line'")
    parser.add_argument("name", help="a file or a name")
    parser.add_argument("-t", "--type", choices=TYPES)
    parser.add_argument("-d", "--description", help="another line")
    parser.add_argument("-b", "--body", help="another text")
    parser.add_argument("--stdin", action="store_true", help="the whole file from standard input")
    parser.add_argument("--expect", default="", metavar="DIGEST", help="only if the file still has this digest")
    _add_author(parser)
    parser.add_argument("--anyway", action="store_true", help="even if it contains a credential")
    options, memories = parse_and_open(parser, words)
    before = memories.get(options.name)
    is_bare = (options.type, options.description, options.body) == (None, None, None)
    text = _read_input() if options.stdin else _edit(before.text, before.file) if is_bare else None
    if text is not None and not text.strip():
        raise WriteRefused(f"there is no text; {before.file} was not changed. To delete it: foretold memory rm")
    with _rescue(text or ""):
        _refuse_credentials("\n".join(filter(None, (options.description, options.body, text))), options, before.text)
        made = memories.edit(
            before.file,
            description=options.description,
            body=options.body,
            type=options.type,
            text=text,
            expect=options.expect or before.digest,
            allow_credentials=options.anyway,
            **_author(options),
        )
    same = isinstance(made, Memory) and made.digest == before.digest
    print_change(made, "unchanged" if same else "changed", options, memories)
    return 0


def command_rename(words: Sequence[str]) -> int:
    parser = parser_of("rename", "Rename a memory and its file.", "  foretold memory rename OLD 'New topic'")
    parser.add_argument("name")
    parser.add_argument("topic")
    _add_author(parser)
    options, memories = parse_and_open(parser, words)
    print_change(memories.rename(options.name, options.topic, **_author(options)), "renamed", options, memories)
    return 0


def command_rm(words: Sequence[str]) -> int:
    about = "Delete memories. Each stays in the history, and `restore` restores it."
    parser = parser_of("rm", about, "  foretold memory rm NAME")
    parser.add_argument("names", nargs="+", metavar="NAME")
    _add_author(parser)
    options, memories = parse_and_open(parser, words)
    notes = {note.file: note for note in map(memories.get, options.names)}.values()
    team = " --team" if options.team else ""
    rows = []
    for note in notes:
        gone = memories.delete(note.file, expect=note.digest, **_author(options))
        if options.json:
            rows.append(dict(gone._asdict()) if isinstance(gone, Proposal) else pick(gone, "file op number"))
            continue
        print_change(gone, "deleted", options, memories)
        if isinstance(gone, Change):
            print(f"  restore it: foretold memory restore{team} {shlex.quote(note.file)}")
    if options.json:
        emit("deleted", {"changes": rows})
    return 0


def command_restore(words: Sequence[str]) -> int:
    about = "Restore a deleted memory, or an earlier version: the one before the last change, or that of --at."
    parser = parser_of("restore", about, "  foretold memory restore NAME\n  foretold memory restore NAME --at 12")
    parser.add_argument("name", help="a file or a name; MEMORY.md for the index")
    parser.add_argument("--at", type=int, default=0, metavar="N", help="as change N left it; see log")
    options, memories = parse_and_open(parser, words)
    before = None
    with suppress(NoSuchMemory):
        before = memories.get(options.name)
    restored = memories.restore(options.name, at=options.at, by=writer_of())
    is_same = before is not None and (before.file, before.digest) == (restored.file, restored.digest)
    print_change(restored, "unchanged" if is_same else "restored", options, memories)
    return 0
