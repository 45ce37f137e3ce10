"""The synthetic trees, built in a folder that the caller removes.

`files N`         N empty source files in nested folders, 4 memory files of about 2.4 kB, one import, 10 rules for a
                  language that is not in the tree
`rules N`         100 source files, N such rules; `rules N plain` the same without frontmatter
`imports 40`      a chain of 40 imports
`fan 200`         one file that imports 200 files of 2.4 kB
`1 MB`            one CLAUDE.md of a million characters with mentions, comments and code spans
`1 MB, mentions`  the same with 20,000 mentions, none of which is a file and no two of which are equal
`deep 40`         the working directory is 40 levels down, a CLAUDE.md at each level
`rules N busy`    rules that all have a mention and a comment, so that none passes without the Markdown parser
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

UNUSED = "lib/m{n}/**/*.kt"  #: the pattern of a rule for a language that is not in the tree
AGENTS = ("claude-code@2.1.197", "claude-code@2.1.325")


class Place(NamedTuple):
    """Where an agent would start, and with which home."""

    cwd: str
    home: str
    managed: str


SENTENCES = (
    "Run the whole suite with `make test` before you push; it takes two minutes.",
    "Names say what a thing is in the user's world, not how it is made.",
    "Never change a migration that was released: write a new one.",
    "- Prefer small modules, each about one subject, over long ones.",
    "- Errors say what happened, where, and what to do next.",
    "Public functions have a docstring that states the rule they follow.",
    "The **api** folder has no access to the database; it asks `store` for it.",
    "1. Read the design notes. 2. Write the test. 3. Make it pass.",
)


def prose(size: int, title: str = "Notes") -> str:
    """Honest Markdown of this many characters: headings, paragraphs, lists, code spans; no `@`, no comment."""
    return cut(_paragraphs(title), size)


def _paragraphs(title: str) -> Iterator[str]:
    number = 0
    while True:
        yield f"## {title} {number}\n\n"
        for at in range(6):
            yield SENTENCES[(number + at) % len(SENTENCES)] + "\n"
        yield "\n"
        number += 1


def cut(pieces: Iterable[str], size: int) -> str:
    """The first characters of an endless text, with a line end behind."""
    found, length = [], 0
    for piece in pieces:
        found.append(piece)
        length += len(piece)
        if length >= size:
            break
    return "".join(found)[: size - 1] + "\n"


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    put(path, text.encode("utf-8", "surrogateescape"))


def put(path: str, data: bytes) -> None:
    """Write a file in a folder that is there."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def place(root: str) -> Place:
    """A repository with a home beside it; there is no managed folder."""
    os.makedirs(os.path.join(root, "repo", ".git"))
    os.makedirs(os.path.join(root, "home", ".claude"))
    return Place(os.path.join(root, "repo"), os.path.join(root, "home"), os.path.join(root, "managed"))


def _memory(where: Place) -> None:
    write(f"{where.home}/.claude/CLAUDE.md", prose(2400, "Everywhere"))
    write(f"{where.cwd}/CLAUDE.md", "See @docs/guide.md\n\n" + prose(2380, "Project"))
    write(f"{where.cwd}/.claude/CLAUDE.md", prose(2400, "Hidden"))
    write(f"{where.cwd}/CLAUDE.local.md", prose(2400, "Mine"))
    write(f"{where.cwd}/docs/guide.md", prose(200, "Guide"))


def _sources(cwd: str, count: int) -> None:
    """Empty files, a hundred a folder, a hundred folders a folder; those of a folder are one file with many names.

    To a walk they are that many files, and they are made twenty times as fast.
    """
    for folder in range((count + 99) // 100):
        path = f"{cwd}/src/m{folder // 100}/p{folder % 100}"
        os.makedirs(path)
        put(f"{path}/f0.py", b"")
        for number in range(1, min(100, count - folder * 100)):
            os.link(f"{path}/f0.py", f"{path}/f{number}.py")


def write_rules(cwd: str, count: int, front: Callable[[int], str], busy: str = "", size: int = 2400) -> None:
    """Write rules, or write others in their place."""
    folder = f"{cwd}/.claude/rules"
    os.makedirs(folder, exist_ok=True)
    text = busy + prose(size, "Rule")
    for number in range(count):
        put(f"{folder}/rule-{number}.md", (front(number) + text).encode())


def conditional(pattern: str) -> Callable[[int], str]:
    """The frontmatter of a rule with a number in its pattern."""
    return lambda number: f'---\ndescription: rule {number}\npaths:\n  - "{pattern.format(n=number)}"\n---\n\n'


def files(root: str, count: int) -> Place:
    where = place(root)
    _memory(where)
    _sources(where.cwd, count)
    write_rules(where.cwd, 10, conditional(UNUSED))
    return where


def rules(root: str, count: int) -> Place:
    where = place(root)
    _memory(where)
    _sources(where.cwd, 100)
    write_rules(where.cwd, count, conditional(UNUSED))
    return where


def rules_plain(root: str, count: int) -> Place:
    where = place(root)
    _memory(where)
    _sources(where.cwd, 100)
    write_rules(where.cwd, count, lambda _: "")
    return where


def rules_busy(root: str, count: int) -> Place:
    where = place(root)
    _memory(where)
    write_rules(where.cwd, count, conditional(UNUSED), "Ask @alice. <!-- since May -->\n\n")
    return where


def imports(root: str, count: int) -> Place:
    where = place(root)
    write(f"{where.home}/.claude/CLAUDE.md", prose(70))
    write(f"{where.cwd}/CLAUDE.md", "Start at @i0.md and go on from there, please.\n")
    for number in range(count):
        write(f"{where.cwd}/i{number}.md", f"Step {number} of the chain, then @i{number + 1}.md and nothing more.\n")
    return where


def fan(root: str, count: int) -> Place:
    where = place(root)
    write(f"{where.home}/.claude/CLAUDE.md", prose(2400))
    write(f"{where.cwd}/CLAUDE.md", "".join(f"- @docs/d{number}.md\n" for number in range(count)))
    for number in range(count):
        write(f"{where.cwd}/docs/d{number}.md", prose(2400, f"Part {number}"))
    return where


def deep(root: str, levels: int) -> Place:
    where = place(root)
    write(f"{where.home}/.claude/CLAUDE.md", prose(70))
    folder = where.cwd
    for level in range(levels):
        folder += f"/l{level}"
        write(f"{folder}/CLAUDE.md", f"Level {level} has a rule of its own: keep to it, always.\n")
    return where._replace(cwd=folder)


MILLION = 1_002_428


def million(root: str) -> Place:
    where = place(root)
    write(f"{where.home}/.claude/CLAUDE.md", prose(70))
    write(f"{where.cwd}/CLAUDE.md", cut(_mentions(), MILLION))
    return where


def _mentions() -> Iterator[str]:
    """Lines as they stand in long team documents: people, decorators, code, notes to oneself."""
    number = 0
    while True:
        who = number % 200
        yield f"## Part {number}\n\n" if number % 20 == 0 else ""
        yield f"Ask @dev{who} about `@task{who}` and `retry({number})`; mail a@example.com. <!-- since {number} -->\n"
        yield f"- the **{who}th** module uses `run` and [its page](docs/p{who}.md), see @docs/p{who}.md\n"
        yield f"\n<!-- reviewed by @dev{who}\nin part {number} -->\n\n" if number % 10 == 0 else ""
        yield f"\n```py\n@cached\ndef part_{number}(): ...\n```\n\n" if number % 25 == 0 else ""
        number += 1


def mentions(root: str) -> Place:
    where = place(root)
    write(f"{where.cwd}/CLAUDE.md", cut(_distinct_mentions(), MILLION))
    return where


def _distinct_mentions() -> Iterator[str]:
    """People and pages, two to a hundred characters."""
    for number in range(10_000):
        yield f"## Part {number}\n\n" if number % 20 == 0 else ""
        mark = "- " if number % 3 else ""
        yield f"{mark}Ask @dev{number} about `retry({number})` and the **timeout**; "
        yield f"see @docs/p{number}.md for the rest.\n"
        yield "\n" if number % 7 == 0 else ""


BUILDERS: dict[str, Callable[[str], Place]] = {
    "files 100": lambda root: files(root, 100),
    "files 10,000": lambda root: files(root, 10_000),
    "files 200,000": lambda root: files(root, 200_000),
    "rules 300": lambda root: rules(root, 300),
    "rules 3,000": lambda root: rules(root, 3_000),
    "rules 300 plain": lambda root: rules_plain(root, 300),
    "rules 3,000 plain": lambda root: rules_plain(root, 3_000),
    "imports 40": lambda root: imports(root, 40),
    "fan 200": lambda root: fan(root, 200),
    "1 MB": million,
    "1 MB, mentions": mentions,
    "deep 40": lambda root: deep(root, 40),
    "rules 300 busy": lambda root: rules_busy(root, 300),
}
