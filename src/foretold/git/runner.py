"""Questions to git that a hostile repository cannot turn into actions. No other room starts git.

1. The environment is built from scratch: no prompts, no pager, no `GIT_*` of the caller, no lazy fetch, no transport
   (`GIT_ALLOW_PROTOCOL` is empty, which no configuration of the repository can widen), no optional locks. Relative
   folders of PATH are left out, so that no program of the repository is taken for git.
2. Every setting through which a repository can name a program for these commands is overridden: file system monitor,
   hooks, pager, external diff, text conversion, signature programs. None of these commands compares the working tree,
   so no filter runs; the one that does is `git status` of `git/user_status.py`.
3. A bare repository that lies in a folder of another is not taken for the repository (`safe.bareRepository`): a clone
   can bring one, with a configuration of its author's.
4. What fails, or takes too long, is None: then the caller says that git could not be asked. A git that only waits, as
   for a pipe in place of `.gitignore`, is ended after seconds, and none is started in that folder again.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar

from foretold.storage.tree import read_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import IO

    Question = tuple[str, tuple[str, ...], bytes, int]  #: a folder, a command, its input, and a harmless exit status

SECONDS = 120.0  #: for one question
LONGEST_WORD = 200  #: bytes; the tree is as deep as its longest word
LONGEST = 60_000  #: bytes of a regular expression; PCRE takes no more than 65,535 when compiled
STILL = 2.5  #: seconds in which a git that works uses some time of the processor
STARTING = 10.0  #: for the first question: whether there is a repository, and what its configuration says
#: settings with which no repository runs a program of its choice, whatever it says itself
SAFE = (
    *("safe.bareRepository=explicit", "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat"),
    *("core.untrackedCache=false", "protocol.allow=never", "log.showSignature=false", "diff.external="),
    *(
        "maintenance.auto=false",
        "gc.auto=0",
        "gpg.program=false",
        "gpg.openpgp.program=false",
        "gpg.x509.program=false",
    ),
    *("gpg.ssh.program=false", "gpg.ssh.defaultKeyCommand=", "credential.helper=", "core.sshCommand=false"),
    *("status.submoduleSummary=false", "core.virtualFilesystem="),
)
_PLAIN = (
    *("log.showRoot=false", "submodule.recurse=false", "core.quotePath=false", "log.mailmap=false", "color.ui=false"),
    *("grep.fullName=false", "grep.column=false", "grep.lineNumber=false"),
)
_KEPT = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
_COMMENT = r"\s*(?://|/\*|\*(?:[\s/]|\Z)|#(?:\s|\Z)|--\s)"  #: how a line of one begins, in most languages
_RENAMES = ("-r", "-M", "-l1000", "-z", "--name-status", "--diff-filter=RD", "--no-ext-diff", "--no-textconv")
_LOG = (
    *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes"),
    *("--diff-filter=D", "--no-renames", "--name-only", "-z"),
)
_HEADER = re.compile(rb"\x01([0-9a-f]{40,64}) (\d{4}-\d\d-\d\d)")


class PathChange(NamedTuple):
    """A path that a commit renames or deletes; if it deletes it, `new` is empty."""

    old: str
    new: str


class Tracked(NamedTuple):
    """The files of a working tree, as git lists them: relative to the folder that was asked for."""

    files: list[str]
    folders: list[str]  #: submodules and repositories inside: git does not look into them
    absent: frozenset[str]  #: files that a sparse checkout leaves out


class Commit(NamedTuple):
    """What git knows about an abbreviated commit."""

    id: str = ""
    type: str = ""  #: commit, tree, blob, tag; missing or ambiguous
    reachable: bool = False


class IgnoreRule(NamedTuple):
    """The line of a .gitignore, or of a file like it, that decides about a path."""

    source: str  #: from the top of the repository, or absolute
    line: int
    pattern: str  #: with `!`, if the path is not ignored because of it


class GitRepository:
    """The repository that a folder is in."""

    def __init__(self, root: str, prefix: str, *, is_shallow: bool) -> None:
        self.root = root
        self.prefix = prefix  #: of the folder in its repository, with a final slash; empty at its top
        self.is_shallow = is_shallow

    @classmethod
    def of(cls, root: str) -> GitRepository | None:
        """The repository, or None if there is none, git is not installed, or git does not trust it."""
        words = ("rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix")
        said = ask(root, *words, seconds=STARTING)
        inside, shallow, prefix = [*(said or b"").split(b"\n"), b"", b""][:3]
        return cls(root, os.fsdecode(prefix), is_shallow=shallow == b"true") if inside == b"true" else None

    def tracked(self) -> Tracked | None:
        """The files that are tracked, or untracked and not ignored."""
        indexed = self.indexed()
        others = ask(self.root, "ls-files", "-z", "--others", "--exclude-standard")
        if indexed is None or others is None:
            return None
        files, folders = dict.fromkeys(indexed.files), indexed.folders
        for path in os.fsdecode(others).split("\0")[:-1]:
            if path.endswith("/"):
                folders.append(path[:-1])
            else:
                files[path] = None
        return Tracked([*files], folders, indexed.absent)

    def indexed(self) -> Tracked | None:
        """The files that are tracked: those of the index."""
        cached = ask(self.root, "ls-files", "-z", "-s", "-t", "--cached")
        if cached is None:
            return None
        files: dict[str, None] = {}
        folders, absent = [], set()
        for entry in os.fsdecode(cached).split("\0")[:-1]:
            about, _, path = entry.partition("\t")
            if about.startswith("160000", 2):
                folders.append(path)
            else:
                files[path] = None
                if about.startswith("S"):
                    absent.add(path)
        return Tracked([*files], folders, frozenset(absent))

    def mentioned(self, texts: Collection[str], left_out: Collection[str] = ()) -> frozenset[str] | None:
        """Those of these texts that some tracked file contains; None if git cannot tell. For a few texts at a time.

        Files whose names match one of the patterns of `left_out` do not count.
        """
        question = ["grep", "--threads=1", "-o", "-h", "-I", "-F", "--no-textconv", "--no-recurse-submodules"]
        question += [word for text in texts for word in ("-e", text)]
        question += ["--", ".", *(f":(exclude,icase){pattern}" for pattern in left_out)]
        said = ask(self.root, *question, nothing=1)
        return None if said is None else frozenset(os.fsdecode(said).split("\n")) - {""}

    def blame(self, path: str, line: int) -> str:
        """The commit that wrote a line of a file; empty if it is not committed, or git cannot tell."""
        said = ask(self.root, "blame", "--porcelain", "-L", f"{line},{line}", "--", path)
        commit = (said or b"").partition(b" ")[0].decode("ascii", "replace")
        return commit if commit.strip("0") else ""

    def find_words(self, commit: str, words: Collection[str], left_out: Collection[str] = ()) -> dict[str, str]:
        """A file of a commit that has each of these words; those that none has are left out.

        Files whose names match one of the patterns of `left_out` do not count, and neither do lines of comments.
        """
        question = ["grep", "--threads=1", "-z", "-I", "-w", "-F", "--no-textconv", "--no-recurse-submodules"]
        question += [text for word in words for text in ("-e", word)]
        question += [commit, "--", ".", *(f":(exclude,icase){pattern}" for pattern in left_out)]
        parts = os.fsdecode(ask(self.root, *question, nothing=1) or b"").split("\n")
        found: dict[str, str] = {}
        for part in parts:
            place, _, line = part.partition("\0")
            if not re.match(_COMMENT, line):
                for word in words:
                    if word not in found and word in line and re.search(rf"\b{re.escape(word)}\b", line, re.ASCII):
                        found[word] = place.partition(":")[2]
        return found

    def narrow(self, words: Collection[bytes]) -> frozenset[str] | None:
        """The files that contain one of these words, among those that `tracked` lists; None if git cannot tell.

        One regular expression of all words, as a tree, in bytes: not every git has been built with such.
        """
        if max(map(len, words), default=0) > LONGEST_WORD:
            return None
        pattern = b"(?<![A-Za-z0-9_])" + _pattern_tree({*words}) + b"(?![A-Za-z0-9_])"
        if len(pattern) > LONGEST:
            return None
        question = ("grep", "-P", "-l", "-z", "-a", "--untracked", "--no-textconv", "--no-recurse-submodules", "-e")
        said = ask(self.root, *question, os.fsdecode(pattern), nothing=1)
        return None if said is None else frozenset(os.fsdecode(said).split("\0")) - {""}

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Those of these paths that git would ignore."""
        names = [*paths]
        found = self._ask_ignored(names)
        if found is not None:
            return found
        # a path through a link, or out of the repository, ends git: then it is asked for the places they lead to
        places = {name: self._find_place(name) for name in names}
        found = self._ask_ignored([*dict.fromkeys(filter(None, places.values()))]) or set()
        return {name for name, place in places.items() if place in found}

    def _ask_ignored(self, paths: list[str]) -> set[str] | None:
        given = os.fsencode("\0".join(paths))
        # Without the index: git would compare every path with every file of it.
        question = ("check-ignore", "--no-index", "-z", "--stdin")
        said = ask(self.root, *question, given=given, nothing=1) if given else b""
        return None if said is None else {*os.fsdecode(said).split("\0")} - {""}

    def _find_place(self, path: str) -> str:
        """A path without links in its folders, from the folder that was asked for; empty if git has no such place."""
        root = os.path.realpath(self.root)
        top = root.removesuffix("/" + self.prefix.rstrip("/")) if self.prefix else root
        try:
            folder, name = os.path.split(os.path.normpath(os.path.join(root, path)))
            place = os.path.join(os.path.realpath(folder), name)
        except (OSError, ValueError):
            return ""
        return os.path.relpath(place, root) if name and place.startswith(top.rstrip("/") + "/") else ""

    def find_ignore_rules(self, paths: Iterable[str]) -> dict[str, IgnoreRule]:
        """The rule that decides for each of these paths whether git ignores it; those without one are left out."""
        given = os.fsencode("\0".join(paths))
        question = ("check-ignore", "--no-index", "--verbose", "-z", "--stdin")
        said = ask(self.root, *question, given=given, nothing=1) if given else b""
        words = iter(os.fsdecode(said or b"").split("\0")[:-1])
        rows = zip(words, words, words, words, strict=True)
        return {path: IgnoreRule(source, int(line or 0), pattern) for source, line, pattern, path in rows}

    def absent(self, paths: Collection[str]) -> set[str]:
        """Those of these files that git has and a sparse checkout leaves out."""
        said = ask(self.root, "--literal-pathspecs", "ls-files", "-z", "-t", "--cached", "--", *paths) if paths else b""
        return {entry[2:] for entry in os.fsdecode(said or b"").split("\0") if entry.startswith("S ")}

    def commits(self, names: Iterable[str]) -> dict[str, Commit]:
        """What is known about each of these abbreviated commits: two questions for all of them."""
        names = list(names)
        given = "".join(f"{name}\n" for name in names).encode()
        said = ask(self.root, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=given) if names else None
        if said is None:
            return {}
        lines = said.decode().split("\n")
        found = {name: Commit(*line.partition(" ")[::2]) for name, line in zip(names, lines, strict=False)}
        ids = "".join(f"{each.id}\n" for each in found.values() if each.type == "commit")
        lost = ask(self.root, "rev-list", "--stdin", "--not", "--all", given=ids.encode()) if ids else b""
        away = {*(lost or b"").decode().split()}
        return {name: each._replace(reachable=lost is not None and each.id not in away) for name, each in found.items()}

    def staged(self) -> list[PathChange]:
        """What the index renames or deletes."""
        return _parse_changes(ask(self.root, "diff-index", "--cached", *_RENAMES, "HEAD") or b"").get("", [])

    def changes(self, commits: Iterable[str]) -> dict[str, list[PathChange]]:
        """What each of these commits renames or deletes."""
        given = "".join(f"{commit}\n" for commit in commits)
        said = ask(self.root, "diff-tree", "--stdin", *_RENAMES, given=given.encode()) if given else b""
        return _parse_changes(said or b"")

    def deletions(
        self, seconds: float, *, paths: Collection[str] = (), commits: int = 0
    ) -> Iterator[tuple[str, str, str]]:
        """Path, commit and date of what was ever deleted or renamed, newest first, for at most so many seconds.

        With `paths`, only of these and what is in them, which takes a quarter of the time; with `commits`, only by
        about so many of the last ones.
        """
        commit = date = ""
        words = [*_LOG, "--format=%x01%H %cs", "HEAD"]
        if commits:
            last = ask(self.root, "rev-list", f"--skip={commits}", "--max-count=1", "HEAD")
            words += [f"^{end}" for end in (last or b"").decode().split()]
        command = ["--literal-pathspecs", "log", *words, "--", *paths] if paths else ["log", *words]
        for word in _stream(self.root, *command, seconds=seconds):
            header = _HEADER.fullmatch(word)
            if header:
                commit, date = header[1].decode(), header[2].decode()
            elif word:
                yield os.fsdecode(word.removeprefix(b"\n")), commit, date


def _parse_changes(said: bytes) -> dict[str, list[PathChange]]:
    """The answer of `diff-tree -z --name-status`: by commit, if it names commits."""
    found: dict[str, list[PathChange]] = {}
    words = iter(said.split(b"\0"))
    commit = ""
    for word in words:
        if word.startswith(b"R"):
            old, new = next(words, b""), next(words, b"")
            found.setdefault(commit, []).append(PathChange(os.fsdecode(old), os.fsdecode(new)))
        elif word == b"D":
            found.setdefault(commit, []).append(PathChange(os.fsdecode(next(words, b"")), ""))
        elif word:
            commit = word.decode("ascii", "replace")
    return found


def _stream(root: str, *words: str, seconds: float) -> Iterator[bytes]:
    """The parts of an answer between NUL, while git still writes it. Git is stopped when no more is asked for."""
    answers, question = _answers.get(), (root, words, b"", 0)
    known = answers.get(question) if answers is not None else None
    if known is not None:
        yield from known.split(b"\0")
        return
    parts = []
    for part in _read_stream(root, words, seconds):
        parts.append(part)
        yield part
    if answers is not None:
        answers[question] = b"\0".join(parts)


def stream_lines(root: str, *words: str, seconds: float) -> Iterator[bytes]:
    """The lines of an answer, while git still writes it, for at most so many seconds."""
    return _read_stream(root, words, seconds, b"\n")


def _read_stream(root: str, words: tuple[str, ...], seconds: float, mark: bytes = b"\0") -> Iterator[bytes]:
    end, rest = time.monotonic() + seconds, b""
    if root in _SILENT:
        return
    with contextlib.suppress(OSError), running(make_command(root, words), environment(), seconds) as (_, answer):
        while block := os.read(answer.fileno(), 1 << 16):
            *whole, rest = (rest + block).split(mark)
            yield from whole
            if time.monotonic() > end:
                return


def _pattern_tree(words: set[bytes]) -> bytes:
    """A regular expression for these words that shares their beginnings.

    >>> _pattern_tree({b"a_b", b"a_c", b"a"})
    b'a(?:_(?:b|c))?'
    """
    by_first: dict[bytes, set[bytes]] = {}
    for word in words - {b""}:
        by_first.setdefault(word[:1], set()).add(word[1:])
    choices = [re.escape(first) + _pattern_tree(rest) for first, rest in sorted(by_first.items())]
    joined = choices[0] if len(choices) == 1 else b"(?:" + b"|".join(choices) + b")" if choices else b""
    return b"(?:" + joined + b")?" if joined and b"" in words else joined


def ask(root: str, *words: str, given: bytes | None = None, nothing: int = 0, seconds: float = SECONDS) -> bytes | None:
    """What a git command answers; None if it fails, takes too long, or git is not there.

    `nothing` is an exit status other than 0 that is not a failure.

    >>> ask("/", "no-such-command") is None
    True
    """
    answers, question = _answers.get(), (root, words, given or b"", nothing)
    if answers is not None and question in answers:
        return answers[question]
    said = _ask(root, words, given=given, nothing=nothing, seconds=seconds)
    if answers is not None:
        answers[question] = said
    return said


#: what git has answered, by question, where it may be asked the same once more and would say the same
_answers: ContextVar[dict[Question, bytes | None] | None] = ContextVar("answers", default=None)


@contextlib.contextmanager
def keep_answers(answers: dict[Question, bytes | None]) -> Iterator[None]:
    """Ask nothing twice: while this holds, an answer is kept with its question. Whoever keeps them forgets them when
    something that git looks at has changed."""
    token = _answers.set(answers)
    try:
        yield
    finally:
        _answers.reset(token)


def _ask(root: str, words: tuple[str, ...], *, given: bytes | None, nothing: int, seconds: float) -> bytes | None:
    if root in _SILENT:
        return None
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            make_command(root, words), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment()
        )
    except OSError:
        return None
    with process:
        said = _await_answer(process, given or b"", seconds)
    if said is None:
        _SILENT.add(root)
    return said if process.returncode in (0, nothing) else None


_SILENT = set[str]()  #: folders in which git waited once: it is not asked again


def _await_answer(process: subprocess.Popen[bytes], given: bytes, seconds: float) -> bytes | None:
    """What a process writes; None if it takes too long, or waits: for a pipe in place of a file, nothing ever comes."""
    end, used = time.monotonic() + seconds, -1
    try:
        while True:
            try:
                return process.communicate(given, timeout=max(min(STILL, end - time.monotonic()), 0.01))[0]
            except subprocess.TimeoutExpired:
                before, used = used, _work_of(process.pid)
                if time.monotonic() >= end or before == used >= 0:
                    return None
    finally:
        if process.returncode is None:
            process.kill()


def _work_of(process: int) -> int:
    """The processor time that a process has used, in ticks; -1 where that cannot be told."""
    try:
        fields = read_regular(f"/proc/{process}/stat", 4096).rpartition(b")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return -1


@contextlib.contextmanager
def running(
    command: list[str], env: Mapping[str, str], seconds: float
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A process that is ended, with what it has started, after these seconds or when it is not needed any more."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
        start_new_session=True,
    )
    timer = threading.Timer(seconds, _end_session, (process.pid,))
    timer.daemon = True
    timer.start()
    with process:
        assert process.stdout is not None
        try:
            yield process, process.stdout
        finally:
            timer.cancel()
            if process.returncode is None:
                _end_session(process.pid)


def _end_session(process: int) -> None:
    """End a process that leads a session, and what it has started."""
    with contextlib.suppress(OSError):  # it has ended already
        os.killpg(process, signal.SIGKILL)


def make_command(root: str, words: Iterable[str], settings: Iterable[str] = (*SAFE, *_PLAIN)) -> list[str]:
    """The words that start git for a folder, with these settings."""
    return ["git", "--no-pager", "-C", root, *(word for each in settings for word in ("-c", each)), *words]


def absolute_path(env: Mapping[str, str]) -> str:
    """The PATH of an environment without relative folders, in which a repository could put a `git` of its own."""
    return os.pathsep.join(part for part in env.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(part))


#: what the environment of every git says: it asks nobody, waits for nobody, and reaches nothing
QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "true",
}


def environment() -> dict[str, str]:
    """The environment of every call.

    >>> environment()["GIT_ALLOW_PROTOCOL"], "GIT_DIR" in environment()
    ('', False)
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **QUIET, "PATH": absolute_path(os.environ), "LC_ALL": "C", "GIT_ATTR_NOSYSTEM": "1"}
