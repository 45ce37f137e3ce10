"""`foretold show`: exactly what an agent receives.

The exit status is 0 also where there are findings, so that `foretold show > told.txt && …` goes on; a line on standard
error counts them. It is 1 only for an agent that refuses to start in this folder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from foretold.cli.options import folder_parser, next_command, parse, parse_plain
from foretold.instructions.load import load
from foretold.instructions.view import View
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.cli.options import Question

TYPED = ("option-unknown", "boundary-unknown")  #: findings of this command line, not of a file: said where it was typed
ABOUT = (
    "Print exactly the instruction text that an agent receives. Findings are counted on standard error and do not "
    "change the exit status."
)
EXAMPLES = """\
  foretold show                          the instruction text, byte for byte
  foretold show --messages               with its envelope, role by role
  foretold show --agent claude-code@2.1.197
  foretold show -- --setting-sources user"""


def command(words: Sequence[str]) -> int:
    plain = parse_plain(words, ("--json", "--messages"))
    if plain is not None:
        folder, flags, question = plain
        return _show(folder, question, as_json="--json" in flags, messages="--messages" in flags)
    parser = folder_parser("show", ABOUT, EXAMPLES)
    parser.add_argument("--messages", action="store_true", help="with the envelope, as messages")
    options, question = parse(parser, words)
    return _show(options.cwd, question, as_json=options.json, messages=options.messages)


def _show(folder: str, question: Question, *, as_json: bool, messages: bool) -> int:
    view = load(folder, **question)
    if as_json:
        from foretold.cli.json import emit, view_json

        emit("show", {**view_json(view), "text": view.text, "messages": view.messages})
    elif messages:
        name = f' "{view.dialect.envelope.message}"' if view.dialect.envelope.message else ""
        for slot in view.slots:
            print(f"--- {slot.block.role}{name}, {slot.place} ---", flush=True)
            _print_exactly(slot.block.text)
            print("", flush=True)
    else:
        _print_exactly(view.text or "")
    _warn(view, question["args"])
    return 1 if view.refusal else 0


def _print_exactly(text: str) -> None:
    """The text and nothing else, byte for byte; on a terminal, with control characters shown, and a line end."""
    if sys.stdout.isatty():
        sys.stdout.write(f"{text}\n" if text else "")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def _warn(view: View, own: Sequence[str]) -> None:
    text, why = "", next_command(view, "explain", own)
    for each in view.findings:
        if each.code in TYPED:
            print(f"foretold: {each.message}; {each.hint}", file=sys.stderr)
    if view.refusal:
        text = f"{view.dialect.name} refuses to start here (exit status {view.refusal}): the folder is not trusted"
    elif not view.entries:
        text = f"{view.dialect.name} receives nothing here; why: {why}"
    elif view.findings:
        text = f"{len(view.findings)} finding{'s' * (len(view.findings) > 1)}; see: {why}"
    if text:
        print(f"foretold: {text}", file=sys.stderr)
