"""Looking for lines: by ripgrep where it is on the PATH of the commands, else by Python. Both answer alike.

1. Hidden files are searched, `.git`, binary files and what git ignores are not; a file that is named itself is, even
   if it is ignored.
2. A search that takes too long is ended, and that is said.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys

from foretold.harness.tools import process
from foretold.harness.tools.search_lines import compiled, cut_line
from foretold.paths import source_folder
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECONDS = 20.0
KEPT = 40_000_000  #: characters of what a search says
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from foretold.harness.tools.search_lines import main; main()"


class Asked(NamedTuple):
    """What to look for, and where."""

    place: str  #: absolute: a file or a folder
    pattern: str
    mode: str = "files_with_matches"  #: or content, count
    names: tuple[str, ...] = ()  #: globs of file names; none: all
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


class Found(NamedTuple):
    """What was found in a file: how many lines, and those to show, with their numbers and whether they match."""

    path: str
    hits: int = 1
    lines: tuple[tuple[int, bool, str], ...] = ()


class Answer(NamedTuple):
    """What came of a search."""

    found: list[Found]
    problem: str = ""  #: why there was none
    notes: tuple[str, ...] = ()  #: what was not looked at


def look(asked: Asked, env: Mapping[str, str], *, seconds: float = SECONDS) -> Answer:
    """Search."""
    program = shutil.which("rg", path=env.get("PATH", ""))
    cwd = asked.place if os.path.isdir(asked.place) else os.path.dirname(asked.place)
    if program is None:
        try:
            compiled(asked._asdict())
        except (re.error, OverflowError, RecursionError) as error:
            return Answer([], f"the pattern is no regular expression: {error}")
    argv = _by_ripgrep(program, asked) if program else _by_python(asked)
    done = process.run(argv, cwd, env, seconds, kept=KEPT)
    said = done.output.cut(KEPT)
    if done.timed_out:
        return Answer([], f"the search did not end within {seconds:g} s. Give a path or a simpler pattern.")
    if program is None:
        return _answer(said) if done.code == 0 else Answer([], said.strip().rsplit("\n", 1)[-1])
    if done.code not in (0, 1) and not (said.startswith("{") or "\0" in said):
        return Answer([], said.strip())
    return Answer(sorted(_ripgrep_found(said, asked), key=lambda found: found.path.split("/")))


def _by_python(asked: Asked) -> list[str]:
    package = source_folder()
    request = {
        **asked._asdict(),
        "content": asked.mode == "content",
        "names": [_expression(one) for one in asked.names],
    }
    return [sys.executable, "-I", "-c", BOOT, package, json.dumps(request)]


def _expression(name: str) -> str:
    """A glob of file names as a regular expression; only `*` is special."""
    return ".*".join(re.escape(part) for part in name.split("*"))


def _answer(said: str) -> Answer:
    found, large, notes = [], 0, []
    for line in said.splitlines():
        value = json.loads(line)
        if value.get("too_large"):
            large += 1
        elif value.get("incomplete"):
            notes.append("There are too many files to look at all of them; give a path.")
        else:
            found.append(Found(value["path"], value["count"], tuple((n, m, text) for n, m, text in value["lines"])))
    if large:
        notes.append(f"{large} {'file is' if large == 1 else 'files are'} too large and not searched.")
    return Answer(found, notes=tuple(notes))


def _by_ripgrep(program: str, asked: Asked) -> list[str]:
    argv = [program, "--no-config", "--no-messages", "--hidden", "--no-ignore-global", "--glob=!.git"]
    for name in asked.names:
        argv.append(f"--type-add=wanted:{name}")
    argv += ["--type=wanted"] if asked.names else []
    argv += ["--ignore-case"] if asked.ignore_case else []
    argv += ["--multiline", "--multiline-dotall"] if asked.multiline else []
    if asked.mode == "content":
        argv += ["--json", f"--before-context={asked.before}", f"--after-context={asked.after}"]
    else:
        how = "--files-with-matches" if asked.mode == "files_with_matches" else "--count"
        argv += [how, "--null", "--with-filename"]
    return [*argv, "--regexp", asked.pattern, "--", asked.place]


def _ripgrep_found(said: str, asked: Asked) -> Iterator[Found]:
    if asked.mode == "files_with_matches":
        yield from (Found(path) for path in said.split("\0") if path)
    elif asked.mode == "count":
        for path, count in re.findall(r"([^\0]+)\0(\d+)\n", said):
            yield Found(path, int(count))
    else:
        yield from _from_json(said)


def _from_json(said: str) -> Iterator[Found]:
    """Files and lines of ripgrep's own messages; one that holds a NUL byte is binary."""
    lines: list[tuple[int, bool, str]] = []
    for message in said.splitlines():
        value = json.loads(message)
        kind, data = value["type"], value["data"]
        if kind == "begin":
            lines = []
        elif kind in ("match", "context"):
            texts = _text(data["lines"]).removesuffix("\n").split("\n")
            first, matches = data["line_number"], kind == "match"
            lines += [(first + n, matches, cut_line(text, matches=matches)) for n, text in enumerate(texts)]
        elif kind == "end" and lines and data["binary_offset"] is None:
            yield Found(_text(data["path"]), sum(matches for _, matches, _ in lines), tuple(lines))


def _text(value: Mapping[str, str]) -> str:
    return value["text"] if "text" in value else base64.b64decode(value["bytes"]).decode("utf-8", "replace")
