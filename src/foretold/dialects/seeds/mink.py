"""mink, the CLAUDE.md loader of Chimera, as `foretold.compat.mink` offers it (`docs/compat/mink.md`).

The tables say what its documents promise, also where its program does less. It reads no settings: its caller gives
what it needs, and so do the callers of the other seeds.

1. `settings` may have

    claudeMdExcludes   globs of files that are not loaded
    sources            switches to turn on beyond those of the dialect, or with a `-` before them, off
    userDir            the system's folder, instead of the one in the home
    boundary           where the walk starts: top, repository, cwd
    approve            imports from outside of the working directory: all (None, True), none (False), or those that
                       a function of the path accepts

2. On a command line, after `--`, a dialect takes the options of its own `COMMAND_LINE`. mink has `--boundary WHERE`,
   `--exclude GLOB`, `--no-external`, `--managed`; the others are in their modules. An organisation's folder that is
   given counts as asked for.
3. Outside of a repository the boundary `repository` is the working directory, and a finding says so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from foretold.dialects.claude_code.instructions import MANAGED
from foretold.dialects.schema import (
    Dialect,
    Envelope,
    FileSource,
    Imports,
    ProgramOptions,
    Rules,
    Template,
    TextRules,
    Trigger,
)
from foretold.dialects.settings_files import parse_args
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git, join, plain_surroundings, walk_of
from foretold.errors import ForetoldError
from foretold.storage.tree import Tree, is_inside
from foretold.types import Finding

START = (
    FileSource("managed", "managed", "CLAUDE.md", switch="managed"),
    FileSource("project", "walk", "CLAUDE.md"),
    FileSource("local", "walk", "CLAUDE.local.md"),
    FileSource("project", "walk", ".claude/CLAUDE.md"),
    FileSource("user", "user", "CLAUDE.md"),
    FileSource("project", "closest", ".claude/rules", "rules"),
)

#: what it says it lacks: the files of a folder, once a file below it is read
TOUCH = (
    FileSource("project", "below", "CLAUDE.md"),
    FileSource("local", "below", "CLAUDE.local.md"),
    FileSource("project", "below", ".claude/CLAUDE.md"),
)

V1 = Dialect(
    agent="mink",
    version="1",
    evidence="source",
    managed=MANAGED,
    user=".claude",
    start=START,
    touch=TOUCH,
    touch_asked=True,
    touch_itself=True,
    walk="top",
    opt_in=("managed",),
    after_bom=True,
    reading=TextRules(frontmatter="rules", markdown=False, drops_bom=True),
    imports=Imports(depth=5, contain=("spelled", "real"), mode="inline"),
    rules=Rules(".md", "paths", excluded_by=("real", "spelled"), deep=False, ordered="path", wakes="exists"),
    template=Template(
        entry="<!-- source: {path} -->\n{text}\n", nested="<!-- source: {path} -->\n{text}", join="\n", trim="right"
    ),
    envelope=Envelope(
        before='<memory source="CLAUDE.md">\n', after="</memory>", place="after-system", sentinel="memory"
    ),
    triggers=(Trigger("Read", "file_path"),),
)

DIALECTS = (V1,)


BOUNDARIES = ("top", "repository", "cwd")
COMMAND_LINE = ProgramOptions("", flags="--no-external --managed", one="--boundary --exclude")


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a session, from what was given."""
    dialect, settings = request.dialect, request.settings
    options = parse_args(request.args, _own_options(dialect))
    user = "".join(options.get("--user-dir", ())[-1:]) or settings.get("userDir")
    boundary = "".join(options.get("--boundary", ())[-1:]) or settings.get("boundary", dialect.walk)
    if boundary not in BOUNDARIES:
        raise ForetoldError(f"the boundary is {boundary!r}; it can be {', '.join(BOUNDARIES)}")
    excludes = settings.get("claudeMdExcludes", ())
    excludes = (*(excludes if isinstance(excludes, list | tuple) else ()), *options.get("--exclude", ()))
    git = find_git(tree, request.cwd) if boundary == "repository" else None
    approve = False if "--no-external" in options else settings.get("approve")
    return plain_surroundings(
        request,
        walk=_walk(request.cwd, boundary, git.top if git else request.cwd),
        user=join(request.cwd, user) if isinstance(user, str) else join(request.home, dialect.user),
        added=tuple(join(request.cwd, path) for path in (*request.add_dirs, *options.get("--additional-dir", ()))),
        sources=_sources(request, options),
        switched_by="the caller",
        excludes=excludes,
        approved=(lambda path: bool(approve(path))) if callable(approve) else lambda _: approve is not False,
        start=_named_plan(dialect, tuple(options.get("--filename", ()))),
        findings=() if git or boundary != "repository" else (_no_repository(request.cwd),),
    )


def _own_options(dialect: Dialect) -> dict[str, str]:
    """The options that a dialect takes after `--`, with what follows them."""
    from foretold.dialects.registry import command_line_of

    line = command_line_of(dialect) or ProgramOptions("", flags="")
    return {**dict.fromkeys(line.flags.split(), "flag"), **dict.fromkeys(line.one.split(), "one")}


def _named_plan(dialect: Dialect, names: tuple[str, ...]) -> tuple[FileSource, ...]:
    """The plan with other names for the files that may have several; empty if it is that of the dialect."""
    if not names:
        return ()
    return tuple(
        source._replace(name=names[0], others=names[1:]) if source.others else source for source in dialect.start
    )


def _no_repository(cwd: str) -> Finding:
    said = f"the boundary is the repository, and {cwd} is not in one: what is above it is not read"
    return Finding(cwd, None, "boundary-unknown", said, "make it a repository, or let the walk start at the top")


def _walk(cwd: str, boundary: object, top: str) -> tuple[str, ...]:
    if boundary == "cwd":
        return (cwd,)
    folders = walk_of(cwd)
    if boundary == "repository":
        return tuple(folder for folder in folders if is_inside(folder, top)) or (cwd,)
    return ("/", *folders) if boundary == "top" else tuple(folders)


def _sources(request: LoadRequest, options: Mapping[str, list[str]]) -> frozenset[str]:
    places = dict(request.dialect.managed)
    is_managed = "--managed" in options or request.managed != places.get(sys.platform, places[""])
    known = {source.switch for source in request.dialect.start} - {""}
    given = request.settings.get("sources", ())
    words = [str(word) for word in given] if isinstance(given, list | tuple) else []
    words += ["managed"] * is_managed + [f"-{name}" for name in known if f"--no-{name}" in options]
    off = {word[1:] for word in words if word.startswith("-")}
    return frozenset((known - set(request.dialect.opt_in) | set(words)) & known - off)
