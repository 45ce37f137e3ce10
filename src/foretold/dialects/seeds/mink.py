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

2. On a command line, after `--`: `--boundary WHERE`, `--exclude GLOB`, `--no-external`, `--managed`. An organisation's
   folder that is given counts as asked for.
"""

from __future__ import annotations

import sys

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
COMMAND_LINES = {"1": ProgramOptions("", flags="--no-external --managed", one="--boundary --exclude")}
OPTIONS = {"--boundary": "one", "--exclude": "one", "--no-external": "flag", "--managed": "flag"}


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of a session, from what was given."""
    dialect, settings = request.dialect, request.settings
    options = parse_args(request.args, OPTIONS)
    user = settings.get("userDir")
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
        added=tuple(join(request.cwd, path) for path in request.add_dirs),
        sources=_sources(request, is_managed="--managed" in options),
        switched_by="the caller",
        excludes=excludes,
        approved=(lambda path: bool(approve(path))) if callable(approve) else lambda _: approve is not False,
    )


def _walk(cwd: str, boundary: object, top: str) -> tuple[str, ...]:
    if boundary == "cwd":
        return (cwd,)
    folders = walk_of(cwd)
    if boundary == "repository":
        return tuple(folder for folder in folders if is_inside(folder, top)) or (cwd,)
    return ("/", *folders) if boundary == "top" else tuple(folders)


def _sources(request: LoadRequest, *, is_managed: bool) -> frozenset[str]:
    places = dict(request.dialect.managed)
    is_managed = is_managed or request.managed != places.get(sys.platform, places[""])
    known = {source.switch for source in request.dialect.start} - {""}
    given = request.settings.get("sources", ())
    words = [str(word) for word in given] if isinstance(given, list | tuple) else []
    words += ["managed"] * is_managed
    off = {word[1:] for word in words if word.startswith("-")}
    return frozenset((known - set(request.dialect.opt_in) | set(words)) & known - off)
