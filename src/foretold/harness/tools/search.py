"""Searches the lines of files: with ripgrep if it is on the PATH of the commands, else with Python. Both answer alike.

1. Hidden files are searched; `.git`, binary files and what git ignores are not. A file that is named itself is, even
   if it is ignored.
2. A search that takes too long is ended, and the answer says so.

The search with Python runs as a separate program: an expression can take forever, and only a process can be ended. The
request is one JSON text, its last argument; answers go to standard output, one JSON text per file.

1. A file that has a NUL byte is binary and skipped; one above a size is named, not searched.
2. Lines end with a newline; a carriage return before it belongs to the line, but is not shown.
3. Across lines: every line that a match touches matches; `.` also matches newlines.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping

from foretold.harness.tools import process
from foretold.harness.tools.walk import FolderWalk
from foretold.paths import source_folder
from foretold.types import NamedTuple

_ENDINGS = """
asm: *.asm *.S *.s
c: *.c *.h
clojure: *.clj *.cljc *.cljs
cmake: *.cmake CMakeLists.txt
cpp: *.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl
cs: *.cs
csharp: *.cs
css: *.css *.scss
csv: *.csv
dart: *.dart
docker: Dockerfile *Dockerfile*
elixir: *.ex *.exs
elm: *.elm
erlang: *.erl *.hrl
fsharp: *.fs *.fsi *.fsx
go: *.go
graphql: *.graphql *.graphqls
groovy: *.groovy *.gradle
h: *.h *.hh *.hpp
haskell: *.hs *.lhs
html: *.htm *.html
java: *.java
js: *.js *.jsx *.cjs *.mjs *.vue
json: *.json
julia: *.jl
kotlin: *.kt *.kts
less: *.less
log: *.log
lua: *.lua
make: Makefile *.mk *.mak GNUmakefile makefile
markdown: *.md *.markdown *.mdx *.mdown
md: *.md *.markdown *.mdx *.mdown
nix: *.nix
objc: *.h *.m
ocaml: *.ml *.mli
perl: *.pl *.pm *.t
php: *.php *.phtml
protobuf: *.proto
ps: *.ps1 *.psm1 *.psd1
py: *.py *.pyi
python: *.py *.pyi
r: *.R *.r *.Rmd
ruby: *.rb *.gemspec Gemfile Rakefile
rust: *.rs
sass: *.sass *.scss
scala: *.scala *.sbt
sh: *.sh *.bash *.zsh *.ksh *.bashrc *.profile
sql: *.sql *.psql
svelte: *.svelte
swift: *.swift
tex: *.tex *.cls *.sty *.bib
tf: *.tf *.tfvars
toml: *.toml Cargo.lock
ts: *.ts *.tsx *.cts *.mts
txt: *.txt
typescript: *.ts *.tsx *.cts *.mts
vue: *.vue
xml: *.xml *.xsd *.xsl *.xslt
yaml: *.yaml *.yml
zig: *.zig
"""

#: the globs of file names, by the kind
TYPES: dict[str, tuple[str, ...]] = {
    kind: tuple(names.split()) for kind, names in (line.split(": ") for line in _ENDINGS.strip().splitlines())
}


MOST_BYTES = 20_000_000
LONG = 500  #: characters of a line that is shown


def compile_pattern(asked: Mapping[str, object]) -> re.Pattern[str]:
    """The expression that is asked for; re.error if it is none."""
    flags = re.IGNORECASE if asked.get("ignore_case") else 0
    flags |= re.MULTILINE | re.DOTALL if asked.get("multiline") else 0
    return re.compile(str(asked["pattern"]), flags)


def matching_lines(pattern: re.Pattern[str], text: str, *, multiline: bool) -> list[int]:
    r"""The numbers of the lines that match, from 0.

    >>> matching_lines(re.compile("b"), "ab\nc\nb", multiline=False)
    [0, 2]
    >>> matching_lines(re.compile(r"c\nb"), "ab\nc\nb", multiline=True)
    [1, 2]
    """
    lines = lines_of(text)
    if not multiline:
        return [number for number, line in enumerate(lines) if pattern.search(line)]
    found: set[int] = set()
    at = first = 0
    for match in pattern.finditer(text):
        first, at = first + text.count("\n", at, match.start()), match.start()
        found.update(range(first, first + text.count("\n", at, max(match.end() - 1, at)) + 1))
    return sorted(number for number in found if number < len(lines))


def lines_of(text: str) -> list[str]:
    """The lines of a text; none begins after its last newline."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def add_context(numbers: list[int], before: int, after: int, count: int) -> list[tuple[int, bool]]:
    """Lines to show: their numbers, and whether they match.

    >>> add_context([1], 1, 2, 3)
    [(0, False), (1, True), (2, False)]
    """
    around = {near for one in numbers for near in range(max(one - before, 0), min(one + after + 1, count))}
    found = set(numbers)
    return [(number, number in found) for number in sorted(around | found)]


def cut_line(line: str, *, matches: bool) -> str:
    """A line as it is shown."""
    line = line.removesuffix("\r")
    return line if len(line) <= LONG else f"[Omitted long {'matching' if matches else 'context'} line]"


def search(asked: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """What is found in each file, and at the end whether all were searched."""
    pattern, multiline = compile_pattern(asked), bool(asked.get("multiline"))
    place = str(asked["place"])
    walk = FolderWalk(place, ignores=True)
    paths = [place] if os.path.isfile(place) else (entry.path for entry in walk.files())
    endings = asked.get("names")
    names = [re.compile(str(name)) for name in endings] if isinstance(endings, list) else []
    for path in paths:
        if names and not any(name.fullmatch(os.path.basename(path)) for name in names):
            continue
        found = _in_file(asked, pattern, path, multiline=multiline)
        if found is not None:
            yield found
    if not walk.is_complete:
        yield {"incomplete": True}


def _in_file(
    asked: Mapping[str, object], pattern: re.Pattern[str], path: str, *, multiline: bool
) -> dict[str, object] | None:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    if len(data) > MOST_BYTES:
        return {"path": path, "too_large": True}
    text = "" if b"\0" in data else data.decode("utf-8", "replace")
    numbers = matching_lines(pattern, text, multiline=multiline)
    if not numbers:
        return None
    return {"path": path, "count": len(numbers), "lines": _lines(asked, text, numbers)}


def _lines(asked: Mapping[str, object], text: str, numbers: list[int]) -> list[tuple[int, bool, str]]:
    if not asked.get("content"):
        return []
    lines = lines_of(text)
    before, after = (int(str(asked.get(key, 0))) for key in ("before", "after"))
    shown = add_context(numbers, before, after, len(lines))
    return [(number + 1, matches, cut_line(lines[number], matches=matches)) for number, matches in shown]


def main() -> None:
    """Answer the request in the last argument."""
    for found in search(json.loads(sys.argv[-1])):
        sys.stdout.write(json.dumps(found) + "\n")


SECONDS = 20.0
KEPT = 40_000_000  #: characters of what a search says
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from foretold.harness.tools.search import main; main()"


class SearchRequest(NamedTuple):
    """What to look for, and where."""

    place: str  #: absolute: a file or a folder
    pattern: str
    mode: str = "files_with_matches"  #: or content, count
    names: tuple[str, ...] = ()  #: globs of file names; none: all
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


class FileMatches(NamedTuple):
    """What was found in a file: how many lines, and those to show, with their numbers and whether they match."""

    path: str
    hits: int = 1
    lines: tuple[tuple[int, bool, str], ...] = ()


class LineSearchResult(NamedTuple):
    """What came of a search."""

    found: list[FileMatches]
    problem: str = ""  #: why there was none
    notes: tuple[str, ...] = ()  #: what was not searched


def run_search(asked: SearchRequest, env: Mapping[str, str], *, seconds: float = SECONDS) -> LineSearchResult:
    """Search."""
    program = shutil.which("rg", path=env.get("PATH", ""))
    cwd = asked.place if os.path.isdir(asked.place) else os.path.dirname(asked.place)
    if program is None:
        try:
            compile_pattern(asked._asdict())
        except (re.error, OverflowError, RecursionError) as error:
            return LineSearchResult([], f"the pattern is not a regular expression: {error}")
    argv = _ripgrep_command(program, asked) if program else _python_command(asked)
    done = process.run(argv, cwd, env, seconds, kept=KEPT)
    said = done.output.cut(KEPT)
    if done.timed_out:
        return LineSearchResult([], f"the search did not end within {seconds:g} s. Give a path or a simpler pattern.")
    if program is None:
        return _parse_answer(said) if done.code == 0 else LineSearchResult([], said.strip().rsplit("\n", 1)[-1])
    if done.code not in (0, 1) and not (said.startswith("{") or "\0" in said):
        return LineSearchResult([], said.strip())
    return LineSearchResult(sorted(_parse_ripgrep(said, asked), key=lambda found: found.path.split("/")))


def _python_command(asked: SearchRequest) -> list[str]:
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


def _parse_answer(said: str) -> LineSearchResult:
    found, large, notes = [], 0, []
    for line in said.splitlines():
        value = json.loads(line)
        if value.get("too_large"):
            large += 1
        elif value.get("incomplete"):
            notes.append("There are too many files to search all of them; give a path.")
        else:
            found.append(
                FileMatches(value["path"], value["count"], tuple((n, m, text) for n, m, text in value["lines"]))
            )
    if large:
        notes.append(f"{large} {'file is' if large == 1 else 'files are'} too large and not searched.")
    return LineSearchResult(found, notes=tuple(notes))


def _ripgrep_command(program: str, asked: SearchRequest) -> list[str]:
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


def _parse_ripgrep(said: str, asked: SearchRequest) -> Iterator[FileMatches]:
    if asked.mode == "files_with_matches":
        yield from (FileMatches(path) for path in said.split("\0") if path)
    elif asked.mode == "count":
        for path, count in re.findall(r"([^\0]+)\0(\d+)\n", said):
            yield FileMatches(path, int(count))
    else:
        yield from _parse_ripgrep_json(said)


def _parse_ripgrep_json(said: str) -> Iterator[FileMatches]:
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
            yield FileMatches(_text(data["path"]), sum(matches for _, matches, _ in lines), tuple(lines))


def _text(value: Mapping[str, str]) -> str:
    return value["text"] if "text" in value else base64.b64decode(value["bytes"]).decode("utf-8", "replace")
