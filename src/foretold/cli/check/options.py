"""The command line of `foretold check`: its flags, and the paths that it is asked about.

1. The project is the repository that the paths are in, else the folder itself; all paths must be in one project.
2. A folder or file that is given restricts what is reported, not what is looked at: whether a file is delivered depends
   on the files above it. One inside a folder of fixtures is a project of its own.
3. What cannot mean anything, alone or together, is wrong usage and never ignored: an empty BASE is a variable that is
   not set.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence

from foretold.check.project import FIXTURES, CheckOptions
from foretold.check.settings import CheckSettings, check_rules
from foretold.cli.options import make_parser
from foretold.dialects.surroundings import find_git
from foretold.errors import BadArgument, NotAFolder
from foretold.storage.tree import Disk, is_inside
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  foretold check                        this folder, for the agents in use here
  foretold check docs/AGENTS.md         what concerns this file
  foretold check --agent codex,claude-code@2.1.325
  foretold check --select safety,import-missing
  foretold check --fix                  fix what can be fixed safely
  foretold check --diff origin/main     what a change does to what agents get
  foretold check --no-home --format sarif --output foretold.sarif   in CI"""
ACTIONS = ("fix", "undo", "diff", "watch", "write_baseline", "show_settings")
FORMATS = ("text", "json", "sarif", "github", "gitlab", "markdown")


class CheckScope(NamedTuple):
    """The project that is checked, and the paths to which the report is restricted; none: all of it."""

    top: str
    paths: tuple[str, ...]
    folder: str  #: from which settings are looked for, upwards to the top


def parse_options(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; lists with commas are tuples."""
    about = "Check the instruction files of a whole tree, for every agent that works there."
    parser = make_parser("check", about, EXAMPLES, "-C --home --managed", home="the home folder the agents would have")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folders or files; this folder, if none is given")
    _add_choice(parser)
    _add_output(parser)
    _add_actions(parser)
    options = parser.parse_args(list(words))
    if wrong := _find_contradiction(options):
        parser.error(wrong)
    options.format = "json" if options.json else options.format
    options.home = "" if options.no_home else options.home
    for name in ("agent", "select", "ignore"):
        setattr(options, name, split_lists(getattr(options, name)))
    try:
        check_rules((*options.select, *options.ignore))
    except ValueError as error:
        parser.error(str(error))
    options.exclude = tuple(options.exclude)
    return options


def _find_contradiction(options: argparse.Namespace) -> str:
    """Why options mean nothing, alone or together; empty if they do."""
    for name in ("diff", "baseline", "write_baseline", "output"):
        if getattr(options, name) == "":
            return f"{_flag(name)} is empty; give {'a commit or a branch' if name == 'diff' else 'a file'}"
    if options.home is not None and options.no_home:
        return "give --home or --no-home, not both"
    for name in ("unsafe", "dry_run"):
        if getattr(options, name) and not options.fix:
            return f"{_flag(name)} is for --fix"
    given = [name for name in ACTIONS if getattr(options, name)]
    if len(given) > 1:
        return f"give only one of {', '.join(map(_flag, ACTIONS[:-1]))} and {_flag(ACTIONS[-1])}"
    for name in ("fix", "diff", "undo"):
        if options.statistics and name in given:
            return f"--statistics counts the findings of a report; it is not for {_flag(name)}"
    if not options.undo:
        return ""
    if options.json or options.format != "text" or options.output:
        other = "output" if options.output else f"format {'json' if options.json else options.format}"
        return f"--undo prints text; it has no --{other}"
    return "--undo takes back all of the last fixes; it has no --baseline" if options.baseline else ""


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """What is checked."""
    several = {"action": "append", "default": []}
    agent = "agents, separated by commas; those in use, if none is given"
    parser.add_argument("--agent", metavar="NAME[@VERSION]", type=str.lower, help=agent, **several)  # type: ignore[arg-type]
    parser.add_argument("--no-home", action="store_true", help="leave out what is in anybody's home, as in CI")
    rules = "rules or families, separated by commas"
    parser.add_argument("--select", metavar="CODES", help=f"report only these {rules}", **several)  # type: ignore[arg-type]
    parser.add_argument("--ignore", metavar="CODES", help=f"do not report these {rules}", **several)  # type: ignore[arg-type]
    leave = "leave out paths that match, as in .gitignore"
    parser.add_argument("--exclude", metavar="PATTERN", help=leave, **several)  # type: ignore[arg-type]
    fixtures = "check folders of fixtures and templates, too"
    parser.add_argument("--include-fixtures", action="store_true", help=fixtures)


def _add_output(parser: argparse.ArgumentParser) -> None:
    """What is reported, and how."""
    severities = ("error", "warning", "note")
    parser.add_argument("--severity", choices=severities, default="note", help="the least that is reported")
    parser.add_argument("--format", choices=FORMATS, default="text", help="of the report; text, if none is given")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("--output", metavar="FILE", help="write the report to this file")
    parser.add_argument("--baseline", metavar="FILE", help="do not report the findings of this file")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all findings to this file, for --baseline")
    parser.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 also if there are findings")
    parser.add_argument("--show-settings", action="store_true", help="print the settings that count, and whose")


def _add_actions(parser: argparse.ArgumentParser) -> None:
    """What is done with the findings."""
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed safely, and prove it")
    parser.add_argument("--unsafe", action="store_true", help="with --fix: also what changes words or what is meant")
    parser.add_argument("--dry-run", action="store_true", help="with --fix: only show what would change")
    parser.add_argument("--undo", action="store_true", help="take back what the last --fix here has changed")
    parser.add_argument("--diff", metavar="BASE", help="what changed for each agent since this commit or branch")
    parser.add_argument("--watch", action="store_true", help="check again whenever a file is saved")


def name_command(options: argparse.Namespace) -> str:
    """The command that was given, without its flags: a next one is about the same project."""
    place = [] if options.cwd == "." else ["-C", options.cwd]
    return shlex.join(["foretold", *place, "check", *options.paths])


def list_wanted(options: argparse.Namespace) -> CheckOptions:
    """What a project is asked about, from the options of a command line."""
    return CheckOptions(
        agents=options.agent,
        home=options.home,
        managed=options.managed,
        exclude=options.exclude,
        include_fixtures=options.include_fixtures,
    )


def find_baseline(options: argparse.Namespace, settings: CheckSettings) -> str:
    """The baseline that counts: that of the command line, else that of the settings, unless one is written now."""
    return options.baseline or ("" if options.write_baseline else settings.baseline)


def split_lists(values: Iterable[str]) -> tuple[str, ...]:
    """The words of lists that are separated by commas.

    >>> split_lists(["a,b", " c ", ""])
    ('a', 'b', 'c')
    """
    return tuple(dict.fromkeys(word.strip() for value in values for word in value.split(",") if word.strip()))


def find_scope(cwd: str, paths: Sequence[str], *, may_be_gone: bool = False) -> CheckScope:
    """The project of some paths, and what of it is reported. With `may_be_gone`, an earlier commit may have them."""
    disk = Disk()
    if disk.kind(cwd) == "file":
        raise NotAFolder(f"{cwd} is not a folder; check a file with: {shlex.join(['foretold', 'check', cwd])}")
    given = [os.path.join(cwd, path) for path in paths] or [cwd]
    missing = next((path for path in given if disk.kind(path) not in ("file", "folder")), None)
    if missing is not None and not may_be_gone:
        raise BadArgument(f"{missing} is not a file or folder; give a path of the project")
    places = [os.path.realpath(path) if disk.kind(path) == "folder" else _real_place(path) for path in given]
    tops = {path: _find_top(disk, path) for path in places}
    if len(set(tops.values())) > 1:
        names = " and ".join(sorted(set(tops.values()))[:2])
        raise BadArgument(f"the paths are in several projects ({names}); check one after the other")
    top = tops[places[0]]
    folders = [_find_folder(disk, path) for path in places]
    restricted = () if top in places else tuple(dict.fromkeys(places))
    return CheckScope(top, restricted, os.path.commonpath(folders))


def _real_place(path: str) -> str:
    """The path of a file without links in its folders; it may be a link itself, and stays that."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _find_folder(disk: Disk, path: str) -> str:
    """A folder, or the nearest one above a path."""
    while disk.kind(path) != "folder" and path != "/":
        path = os.path.dirname(path)
    return path


def _find_top(disk: Disk, path: str) -> str:
    folder = _find_folder(disk, path)
    git = find_git(disk, folder)
    top = git.top if git else folder
    inside = os.path.relpath(folder, top)
    return folder if is_inside(folder, top) and inside != "." and FIXTURES.search(inside) else top
