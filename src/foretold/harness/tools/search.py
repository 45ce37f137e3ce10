"""Searches the lines of files: with ripgrep if it is on the PATH of the commands, else with Python. Both answer alike.

1. Hidden files are searched; `.git`, binary files and what git ignores are not. A file that is named itself is, even
   if it is ignored.
2. A search that takes too long is ended, and the answer says so.

The search with Python runs as a separate program: an expression can take forever, and only a process can be ended. The
request is one JSON text, its last argument; so is the answer, on standard output. One that is stuck, at a line or, if
matches go over lines, between two matches, ends itself after about `STUCK` seconds and names the place.

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
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence

from foretold.harness.tools import process
from foretold.harness.tools.walk import FolderWalk
from foretold.paths import python_words
from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

_ENDINGS = """
asm: *.asm *.S *.s
c: *.c *.h
clojure: *.clj *.cljc *.cljs
cmake: *.cmake CMakeLists.txt
cpp: *.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl
cs csharp: *.cs
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
markdown md: *.md *.markdown *.mdx *.mdown
nix: *.nix
objc: *.h *.m
ocaml: *.ml *.mli
perl: *.pl *.pm *.t
php: *.php *.phtml
protobuf: *.proto
ps: *.ps1 *.psm1 *.psd1
py python: *.py *.pyi
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
ts typescript: *.ts *.tsx *.cts *.mts
txt: *.txt
vue: *.vue
xml: *.xml *.xsd *.xsl *.xslt
yaml: *.yaml *.yml
zig: *.zig
"""

#: the globs of file names, by the kind
TYPES: dict[str, tuple[str, ...]] = {
    kind: tuple(names.split())
    for kinds, names in (line.split(": ") for line in _ENDINGS.strip().splitlines())
    for kind in kinds.split()
}
MOST_BYTES = 20_000_000
LONG = 500  #: characters of a line that is shown
SECONDS = 20.0
STUCK = 1.0  #: seconds of computing at one place
#: characters of a long line for which it has a second more; measured: `\\w+\\s\\w+\\sfoo` takes 2.4 s for 20 million
PER_SECOND = 5_000_000
TICK = 0.25  #: seconds between two looks
MOST_PATTERN = 50_000  #: characters; Linux takes no argument above 128 KiB
KEPT = 40_000_000  #: characters of what a search says


class SearchRequest(NamedTuple):
    """What to look for, and where."""

    place: str  #: absolute: a file or a folder
    pattern: str
    mode: str = "files_with_matches"  #: or content, count
    names: tuple[str, ...] = ()  #: globs of file names, in which only `*` is special; none: all
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


class FileMatches(NamedTuple):
    """What was found in a file: how many lines, and those to show, with their numbers and whether they match."""

    path: str
    hits: int = 1
    lines: Sequence[tuple[int, bool, str]] = ()


class LineSearchResult(NamedTuple):
    """What came of a search."""

    found: list[FileMatches]
    problem: str = ""  #: why there was none
    notes: Sequence[str] = ()  #: what was not searched


def run_search(asked: SearchRequest, env: Mapping[str, str], *, seconds: float = SECONDS) -> LineSearchResult:
    """Search."""
    program = shutil.which("rg", path=env.get("PATH", ""))
    cwd = asked.place if os.path.isdir(asked.place) else os.path.dirname(asked.place)
    if len(asked.pattern) > MOST_PATTERN:
        return LineSearchResult([], f"the pattern has more than {MOST_PATTERN:,} characters")
    if program is None:
        argv = python_words("foretold.harness.tools.search", "main", json.dumps(asked))
    else:
        argv = _ripgrep_command(program, asked)
    done = process.run(argv, cwd, env, seconds, kept=KEPT)
    said = done.output.cut(KEPT)
    if done.timed_out:
        return LineSearchResult([], f"the search did not end within {seconds:g} s. Give a path or a simpler pattern.")
    if program is None:
        if done.code:
            return LineSearchResult([], said.strip().rsplit("\n", 1)[-1])
        found, problem, notes = json.loads(said)
        return LineSearchResult([FileMatches(*one) for one in found], problem, notes)
    if done.code not in (0, 1) and not (said.startswith("{") or "\0" in said):
        return LineSearchResult([], said.strip())
    return LineSearchResult(sorted(_parse_ripgrep(said, asked), key=lambda found: found.path.split("/")))


def main() -> None:
    """Answer the request in the last argument."""
    asked = SearchRequest(*json.loads(sys.argv[-1]))
    progress = Progress()
    progress.watch()
    try:
        answer = _search_files(asked, progress)
    except StuckSearch:
        why = f"the pattern {_shorten(asked.pattern)} takes too long{progress.place(asked)}"
        hint = "it tries too many ways to match. Avoid a repetition inside of a repetition, such as (a+)+ or (a|a)*."
        answer = LineSearchResult([], f"{why}: {hint}")
    except (re.error, OverflowError, RecursionError) as error:
        answer = LineSearchResult([], f"the pattern is not a regular expression: {error}")
    progress.stop()
    sys.stdout.write(json.dumps(answer))


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= LONG else pattern[:LONG] + "…"


class StuckSearch(Exception):
    """A search does not come forward."""


class Progress:
    """Where a search is. If it is still there after some seconds of computing, `StuckSearch` is raised in it.

    The clock is that of the processor, so that a busy machine ends no search. An expression notices the signal while
    it matches: that of Python looks for signals every few thousand steps.
    """

    def __init__(self) -> None:
        self.path, self.line, self.size = "", 0, 0
        self.steps, self._seen, self._looks = 0, -1, 0

    def watch(self) -> None:
        """Begin to look."""
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, TICK, TICK)

    def stop(self) -> None:
        """Look no more."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def step(self, line: int, size: int) -> None:
        """It has come to a line, with so many characters to match."""
        self.line, self.size, self.steps = line, size, self.steps + 1

    def _look(self, *_: object) -> None:
        self._looks = self._looks + 1 if self._seen == self.steps else 0
        self._seen = self.steps
        if self._looks * TICK >= STUCK + self.size / PER_SECOND:
            raise StuckSearch

    def place(self, asked: SearchRequest) -> str:
        """Where it is, for a message."""
        shown = os.path.relpath(self.path, os.path.dirname(asked.place) if self.path == asked.place else asked.place)
        line = "" if asked.multiline else f", line {self.line + 1}"
        return f" on {shown}{line}" if self.path else ""


def _compile(asked: SearchRequest) -> re.Pattern[str]:
    flags = re.IGNORECASE if asked.ignore_case else 0
    return re.compile(asked.pattern, flags | (re.MULTILINE | re.DOTALL if asked.multiline else 0))


def _search_files(asked: SearchRequest, progress: Progress) -> LineSearchResult:
    """Search with Python."""
    pattern, walk = _compile(asked), FolderWalk(asked.place, ignores=True)
    paths = [asked.place] if os.path.isfile(asked.place) else (entry.path for entry in walk.files())
    names = [re.compile(".*".join(map(re.escape, name.split("*")))) for name in asked.names]
    found, large = [], 0
    for path in paths:
        progress.path = path
        progress.step(0, 0)
        if names and not any(name.fullmatch(os.path.basename(path)) for name in names):
            continue
        try:
            with open(path, "rb", opener=open_regular) as file:
                data = file.read(MOST_BYTES + 1)
        except OSError:
            continue
        if len(data) > MOST_BYTES:
            large += 1
        elif b"\0" not in data and (hits := _search_text(asked, pattern, data.decode("utf-8", "replace"), progress)):
            found.append(FileMatches(path, *hits))
    notes = [] if walk.is_complete else ["There are too many files to search all of them; give a path."]
    notes += [f"{large} {'file is' if large == 1 else 'files are'} too large and not searched."] if large else []
    return LineSearchResult(found, notes=notes)


def _search_text(
    asked: SearchRequest, pattern: re.Pattern[str], text: str, progress: Progress
) -> tuple[int, list[tuple[int, bool, str]]] | None:
    """How many lines of a text match, and the lines to show; no line begins after its last newline."""
    lines = text.removesuffix("\n").split("\n") if text else []
    if asked.multiline:
        hits: set[int] = set()
        at = first = 0
        progress.step(0, len(text))
        for match in pattern.finditer(text):
            progress.step(0, len(text))
            first, at = first + text.count("\n", at, match.start()), match.start()
            hits.update(range(first, first + text.count("\n", at, max(match.end() - 1, at)) + 1))
        hits.intersection_update(range(len(lines)))
    else:
        hits = set()
        for number, line in enumerate(lines):
            progress.step(number, len(line))
            if pattern.search(line):
                hits.add(number)
    if not hits:
        return None
    shown: set[int] = set()
    for hit in hits if asked.mode == "content" else ():
        shown.update(range(max(hit - asked.before, 0), min(hit + asked.after + 1, len(lines))))
    return len(hits), [(at + 1, at in hits, _cut_line(lines[at], matches=at in hits)) for at in sorted(shown)]


def _cut_line(line: str, *, matches: bool) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= LONG else f"[Omitted long {'matching' if matches else 'context'} line]"


def _ripgrep_command(program: str, asked: SearchRequest) -> list[str]:
    argv = [program, "--no-config", "--no-messages", "--hidden", "--no-ignore-global", "--glob=!.git"]
    argv += [*(f"--type-add=wanted:{name}" for name in asked.names), "--type=wanted"] if asked.names else []
    argv += ["--ignore-case"] if asked.ignore_case else []
    argv += ["--multiline", "--multiline-dotall"] if asked.multiline else []
    if asked.mode == "content":
        argv += ["--json", f"--before-context={asked.before}", f"--after-context={asked.after}"]
    else:
        how = "--files-with-matches" if asked.mode == "files_with_matches" else "--count"
        argv += [how, "--null", "--with-filename"]
    return [*argv, "--regexp", asked.pattern, "--", asked.place]


def _parse_ripgrep(said: str, asked: SearchRequest) -> Iterator[FileMatches]:
    """Files, and of ripgrep's own messages lines; a file that holds a NUL byte is binary."""
    if asked.mode == "files_with_matches":
        yield from (FileMatches(path) for path in said.split("\0") if path)
    elif asked.mode == "count":
        yield from (FileMatches(path, int(count)) for path, count in re.findall(r"([^\0]+)\0(\d+)\n", said))
    lines: list[tuple[int, bool, str]] = []
    for message in said.splitlines() if asked.mode == "content" else ():
        value = json.loads(message)
        kind, data = value["type"], value["data"]
        if kind == "begin":
            lines = []
        elif kind in ("match", "context"):
            texts = _text(data["lines"]).removesuffix("\n").split("\n")
            first, matches = data["line_number"], kind == "match"
            lines += [(first + n, matches, _cut_line(text, matches=matches)) for n, text in enumerate(texts)]
        elif kind == "end" and lines and data["binary_offset"] is None:
            yield FileMatches(_text(data["path"]), sum(matches for _, matches, _ in lines), tuple(lines))


def _text(value: Mapping[str, str]) -> str:
    return value["text"] if "text" in value else base64.b64decode(value["bytes"]).decode("utf-8", "replace")
