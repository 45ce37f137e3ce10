"""`foretold compare`: agents by files: what each of them sees here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from foretold.cli.options import make_parser
from foretold.cli.output import Paint, name_of, plural
from foretold.dialects.registry import AGENTS
from foretold.instructions.compare import Comparison, compare
from foretold.instructions.view import View

EXAMPLES = """\
  foretold compare                          the agents that are set up here
  foretold compare --agent all
  foretold compare --agent claude-code,codex
  foretold compare --file src/api/users.py  with what reading that file brings
  foretold compare --format markdown        for a pull request"""

MARKS = {
    "always": "●",
    "cut": "✂",
    "listed": "≡",
    "waits": "○",
    "nested": "◌",
    "read": "◐",
    "never": "×",
    "": "·",
}
MEANING = (
    "● always   ✂ cut   × left out   · the agent does not look at it\n"
    "○ when a matching file is touched   ◌ when a file in its folder is touched\n"
    "≡ listed at the start by its name, and loaded when it applies"
)
MEANING_OF_READ = "\n◐ on reading the file"


def command(words: Sequence[str]) -> int:
    about = "What each agent sees here: agents by files, differences first."
    home = "the home folder the agents would have"
    parser = make_parser("compare", about, EXAMPLES, "-C --home --managed --json", home=home)
    parser.add_argument(
        "--agent", action="append", metavar="NAMES", type=str.lower, help="agents, separated by commas; or all"
    )
    parser.add_argument("--file", default="", metavar="PATH", help="a file of the project that the agents read")
    parser.add_argument("--all", action="store_true", help="list all files of folders below")
    parser.add_argument("--format", "--form", choices=("text", "markdown"), default="text")
    given = list(words)
    if "--" in given:
        parser.error(f"compare takes no flags of agents, but: {' '.join(given[given.index('--') + 1 :])}")
    options = parser.parse_args(given)
    agents = [name for value in options.agent or () for name in value.split(",") if name]
    chosen = list(AGENTS) if "all" in agents else agents or None
    found = compare(options.cwd, chosen, read=options.file, home=options.home, managed=options.managed, nested=True)
    meaning = MEANING + (MEANING_OF_READ if options.file else "")
    if options.json:
        from foretold.cli.json import emit

        emit("compare", _json(found))
    elif options.format == "markdown":
        _print_markdown(found, meaning)
    else:
        _print_text(found, len(found.paths) if options.all else MOST_BELOW, meaning)
    return 0


MOST_NAMED = 6  #: files that only one agent sees; the table has all of them


def differences(found: Comparison) -> Iterator[str]:
    """What differs between the agents, in sentences."""
    received = {"always", "cut", "read"}
    alone: dict[str, list[str]] = {}
    for view in found.views:
        if view.refusal:
            yield f"{name_of(view)} refuses to start here (exit status {view.refusal}): the folder is not trusted"
    for path in found.paths:
        cells = [(view, found.cell(path, view)) for view in found.views]
        having = [view for view, cell in cells if cell.state in received]
        where = _short(found, path)
        for view, cell in cells:
            if cell.state == "cut":
                yield f"{name_of(view)} loses the last {cell.lost:,} bytes of {where}"
        if len(having) == 1 and len(cells) > 1:
            alone.setdefault(name_of(having[0]), []).append(where)
        elif 0 < len(cells) - len(having) <= 2 < len(having):
            missing = " and ".join(name_of(view) for view, cell in cells if cell.state not in received)
            yield f"all but {missing} see {where}"
    for name, paths in alone.items():
        more = [f"{len(paths) - MOST_NAMED} more"] if len(paths) > MOST_NAMED + 1 else []
        *first, last = [*(paths[:MOST_NAMED] if more else paths), *more]
        yield f"only {name} sees {', '.join(first)}{' and ' if first else ''}{last}"


def _short(found: Comparison, path: str) -> str:
    """A path relative to the folder, or to the home."""
    cwd = found.cwd.rstrip("/") + "/"
    home = found.views[0].surroundings.home.rstrip("/") + "/"
    if path.startswith(cwd):
        return path[len(cwd) :]
    if path.startswith(home) and not cwd.startswith(home):
        return "~/" + path[len(home) :]
    git = found.views[0].surroundings.git
    if git and path.startswith(git.top.rstrip("/") + "/"):
        return os.path.relpath(path, found.cwd)
    return "~/" + path[len(home) :] if path.startswith(home) else path


def _print_text(found: Comparison, most: int, meaning: str) -> None:
    paint = Paint(found.views[0].surroundings.cwd, found.views[0].surroundings.home)
    print(f"{plural(len(found.views), 'agent')} in {paint.fit(found.cwd, paint.width - 14).rstrip()}")
    for at, line in enumerate(differences(found)):
        print(("" if at else "\n") + paint.wrap(f"- {line}", 0))
    below = [path for path in found.paths if _is_below(found, path)]
    for start in range(0, len(found.views), MOST):
        _print_table(found, found.views[start : start + MOST], paint, frozenset(below[most:]))
    if len(below) > most:
        print(f"\n… and {plural(len(below) - most, 'more file')} in folders below (--all)")
    if found.cut:
        print("\n" + paint.wrap(f"There may be more files below: {found.cut}.", 0))
    print("\n" + meaning)
    if found.others:
        print(f"\n{plural(len(found.others), 'other agent')}: foretold compare --agent all")


MOST_BELOW = 20  #: rows of files that no agent loads at the start


def _is_below(found: Comparison, path: str) -> bool:
    """Whether a file is only loaded later, or never, by whoever looks at it, and lies in a folder below."""
    states = {found.cell(path, view).state for view in found.views}
    return states <= {"nested", "waits", "never", ""} and "/" in _short(found, path)


MOST = 8  #: agents that fit side by side in 80 columns


def _print_table(found: Comparison, views: Sequence[View], paint: Paint, hidden: frozenset[str]) -> None:
    letters = "ABCDEFGH"
    room = paint.width - 6 * len(views) - 1
    print()
    for letter, view in zip(letters, views, strict=False):
        version = f" {view.choice.asked or view.dialect.version}" if view.dialect.evidence == "recorded" else ""
        print(f"{letter}  {name_of(view)}{version}, {view.dialect.evidence}{' (assumed)' if view.assumed else ''}")
    print("\n" + " " * room + "".join(f"{letter:>6}" for letter in letters[: len(views)]))
    for path in found.paths:
        cells = [found.cell(path, view) for view in views]
        if path not in hidden and any(cell.state for cell in cells):
            orders = [cell.order if cell.order and cell.state != "listed" else "" for cell in cells]
            marks = [f"{order:>4} {MARKS[cell.state]}" for order, cell in zip(orders, cells, strict=True)]
            print(paint.fit(_short(found, path), room) + "".join(marks))
    tokens = [str(view.tokens) if view.tokens < 10_000 else f"{view.tokens // 1000}k" for view in views]
    print(paint.faint(paint.fit("tokens, about", room)) + "".join(f"{count:>6}" for count in tokens))


def _print_markdown(found: Comparison, meaning: str) -> None:
    for line in differences(found):
        print(f"- {line}")
    print("\n| file | " + " | ".join(name_of(view) for view in found.views) + " |")
    print("|---|" + "---|" * len(found.views))
    for path in found.paths:
        cells = [found.cell(path, view) for view in found.views]
        marks = [f"{MARKS[cell.state]} {cell.order or ''}".strip() for cell in cells]
        print(f"| `{_short(found, path)}` | " + " | ".join(marks) + " |")
    print("| tokens, about | " + " | ".join(str(view.tokens) for view in found.views) + " |")
    print("\n" + meaning.replace("\n", "   "))


def _json(found: Comparison) -> dict[str, object]:
    from foretold.cli.json import pick

    agents = [
        {
            **pick(view.dialect, "agent version"),
            "assumed": view.assumed,
            **pick(view.dialect, "evidence"),
            "refusal": view.refusal or None,
            "tokens": view.tokens,
        }
        for view in found.views
    ]
    files = [
        {"path": path, "agents": {view.dialect.agent: found.cell(path, view)._asdict() for view in found.views}}
        for path in found.paths
    ]
    said = {"cwd": found.cwd, "differences": list(differences(found)), "agents": agents, "files": files}
    return {**said, "others": list(found.others), "nested_cut": found.cut}
