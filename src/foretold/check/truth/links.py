"""Links of Markdown: to files that are not there, and to headings that their page does not have.

1. A link counts from the folder of its document, as on the web; from a folder above up to the top, as an agent reads
   it; and `/…` and Cursor's `mdc:…` from the top. Addresses, and routes without a file's ending, are not looked at.
2. A link to a heading is dead if no heading of the page begins with the same letters, whatever its number, and nothing
   in the page is named so: programs differ in how they make a name from a heading, but not in that.
3. Placeholders and examples are not links (`hedges`).

The message of `link-dead` begins with the target exactly as it is written, as those of `paths` do; where git knows the
new place it is `TARGET: moved to NEW (git abc1234, 2026-02-03)`.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.truth.documents import Claim, TruthDocument, has_scheme
from foretold.check.truth.hedges import find_strong_hedge, has_stand_in, is_example
from foretold.check.truth.paths import Credit, Doubtful, PathBook, join
from foretold.memory.drift import classify
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

MOST_DEAD = 200  #: links of one document that are reported
PAGES = (".md", ".mdx", ".markdown", ".mdc")
_HEADING = lazy(r"^ {0,3}#{1,6}[ \t]+(.{1,400})", re.MULTILINE)
_UNDERLINED = lazy(r"^ {0,3}(\S.{0,400})\n {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_NAMED = lazy(r"""(?:\bid|\bname)\s*=\s*["']?([^"'\s>]+)|\{#([^}\s]+)\}""")
_MARKUP = lazy(r"\]\([^)]*\)|<[^>]*>")


class DeadLink(NamedTuple):
    """A link that leads nowhere."""

    document: TruthDocument
    claim: Claim  #: its text is the target without the heading
    places: tuple[str, ...] = ()
    heading: str = ""  #: that the page does not have
    page: str = ""


def find_dead(
    project: Project, book: PathBook, document: TruthDocument, claims: list[Claim], credit: Credit
) -> Iterator[DeadLink]:
    """The links of a document that lead nowhere; whether git knows why is asked later."""
    count = 0
    for claim in claims:
        if count > MOST_DEAD:
            return
        target = claim.text.removeprefix("mdc:")
        if has_scheme(target) or target.startswith(("//", "?")) or any(char in target for char in "<>{}$*|\\"):
            continue
        path, _, heading = target.partition("#")
        path = classify.without_line(unquote(path.partition("?")[0]))
        found = _resolve(book, document, path, is_top=claim.text.startswith("mdc:"))
        if found and path and not found.startswith("..") and book.is_own(document, path):
            credit.holding.add(path)
        if found is None and path:
            places = _find_places(document, path)
            if _is_meant(book, claim, path, places):
                count += 1
                yield DeadLink(document, claim._replace(text=path, command=None), places)
        elif heading and not re.fullmatch(r"L\d+.*|:~:.*|/.*", heading) and not _is_hedged(claim, heading):
            page = project.relative(document.path) if not path else found
            if page and page.endswith(PAGES) and not _has_heading(project, page, unquote(heading)):
                count += 1
                yield DeadLink(document, claim._replace(text=target), heading=heading, page=page)


def _resolve(book: PathBook, document: TruthDocument, path: str, *, is_top: bool) -> str | None:
    """Where a link leads, from the top; None if it leads nowhere."""
    places = [path.lstrip("/")] if is_top or path.startswith("/") else []
    places += _find_places(document, path)
    for place in map(posixpath.normpath, places):
        if place.startswith("../") or book.is_there(place) or place == ".":
            return place
    return None


def _find_places(document: TruthDocument, path: str) -> tuple[str, ...]:
    """Where a link may lead, from the top: seen from its folders and those above."""
    if path.startswith("/"):
        return (path.lstrip("/"),)
    found: dict[str, None] = {}
    for folder in document.folders:
        while True:
            found[join(folder, path)] = None
            if not folder:
                break
            folder = posixpath.dirname(folder)
    return tuple(found)


def _is_meant(book: PathBook, claim: Claim, path: str, places: tuple[str, ...]) -> bool:
    """Whether a link that leads nowhere is a fault."""
    if not (classify.is_sure(path) or path.endswith("/")) or any(place.startswith("..") for place in places[:1]):
        return False
    is_route = path.startswith("/") and not classify.is_sure(path[1:])
    if is_route or (path.startswith("/") and posixpath.dirname(path[1:]) not in book.locator.folders):
        return False
    return not _is_hedged(claim, path)


def _is_hedged(claim: Claim, path: str) -> bool:
    return has_stand_in(path) or bool(find_strong_hedge(claim)) or is_example(claim)


def as_paths(dead: list[DeadLink]) -> Iterator[Doubtful]:
    """Links to files that are not there, for the questions that are asked about paths."""
    for link in dead:
        if link.places:
            yield Doubtful(link.document, link.claim, link.places[0], link.places, is_strong=True, is_link=True)


def report_headings(dead: list[DeadLink]) -> Iterator[CheckFinding]:
    """Findings about links to headings that are not there."""
    for link in dead:
        if link.heading:
            message = f"{link.claim.text}: {link.page} has no heading {link.heading}"
            yield CheckFinding(link.document.path, link.claim.line, "heading-missing", message)


# -- headings


def _has_heading(project: Project, page: str, heading: str) -> bool:
    names = _names_of(project, page)
    wanted = _letters(heading)
    if names is None or not wanted or _has(names, re.sub(r"\d+$", "", wanted)):
        return True
    return any(_begins(names, each) for each in (wanted, wanted.lstrip("0123456789")))


def _has(names: tuple[str, ...], name: str) -> bool:
    at = bisect_left(names, name)
    return at < len(names) and names[at] == name


def _begins(names: tuple[str, ...], start: str) -> bool:
    """Whether one of these sorted names begins so."""
    at = bisect_left(names, start)
    return not start or (at < len(names) and names[at].startswith(start))


def _names_of(project: Project, page: str) -> tuple[str, ...] | None:
    """The names that links to a page can have; None if it cannot be read."""
    text = project.read(project.absolute(page))
    return None if text is None else _read_names(text)


@cache
def _read_names(text: str) -> tuple[str, ...]:
    """The letters of all headings and names, with and without a number before them, sorted."""
    headings = [*_HEADING.findall(text), *_UNDERLINED.findall(text)]
    names = {_letters(_MARKUP.sub("", heading)) for heading in headings} | {_letters(each) for each in headings}
    names |= {_letters(found[1] or found[2]) for found in _NAMED.finditer(text)}
    return tuple(sorted(names | {name.lstrip("0123456789") for name in names}))


def _letters(text: str) -> str:
    """The letters and digits of a heading or of a link to it.

    >>> _letters("`make check`: what it does") == _letters("make-check-what-it-does")
    True
    """
    return "".join(char for char in text.lower() if char.isalnum())
