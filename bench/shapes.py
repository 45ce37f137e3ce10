"""Hostile documents of any size: each is made to be slow for a parser that is not careful.

Every one holds an import and a comment, so that none passes unparsed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from trees import cut, prose

HEAD = "See @docs/guide.md <!-- a note -->\n\n"
Shape = Callable[[int], str]


def fill(piece: str, *, head: str = HEAD, tail: str = "\n\n@docs/guide.md\n") -> Shape:
    """A piece, over and over, between a head and a tail."""

    def shape(size: int) -> str:
        room = size - len(head) - len(tail)
        return head + (piece * (room // len(piece) + 1))[:room] + tail

    return shape


def count(form: str, *, head: str = HEAD, tail: str = "\n") -> Shape:
    """A piece with a number in it, over and over; no two are equal."""

    def shape(size: int) -> str:
        pieces = (form.format(n=number) for number in itertools.count())
        return cut(itertools.chain((head,), pieces), size - len(tail)) + tail

    return shape


def around(left: str, middle: str, right: str) -> Shape:
    """A middle, nested as deep as the size allows."""

    def shape(size: int) -> str:
        depth = (size - len(HEAD) - len(middle)) // (len(left) + len(right))
        return HEAD + left * depth + middle + right * depth + "\n"

    return shape


def growing(sign: str, between: str) -> Shape:
    """Runs of a sign, each one longer than the one before: none closes another."""

    def shape(size: int) -> str:
        return cut(itertools.chain((HEAD,), (sign * n + between for n in itertools.count(1))), size)

    return shape


def stairs(item: str, indent: str) -> Shape:
    """A list in a list in a list: each line further in. The size grows with the square of the depth."""

    def shape(size: int) -> str:
        return cut(itertools.chain((HEAD,), (indent * n + item for n in itertools.count())), size)

    return shape


def front(body: Shape, *, before: str = "", after: str = "\n") -> Shape:
    """Frontmatter that takes all the size, and a short text behind."""

    def shape(size: int) -> str:
        rest = "---\n\n" + HEAD
        return "---\n" + before + body(size - len(before) - len(after) - len(rest) - 4) + after + rest

    return shape


def bare(piece: str) -> Shape:
    return fill(piece, head="", tail="")


def aliases(size: int) -> str:
    """Each line holds the one before twice: n lines stand for 2^n values."""
    doubled = (f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in itertools.count(1))
    return cut(itertools.chain(("a0: &a0 [x, x]\n",), doubled), size)


def plain(size: int) -> str:
    """Honest prose with one import and one comment: what the others are compared with."""
    return HEAD + prose(size - len(HEAD))


DOCUMENTS: dict[str, Shape] = {
    "comments, unclosed": fill("<!-- "),
    "comments, unclosed lines": fill("<!--\n\n"),
    "comments, tiny": fill("<!---->"),
    "comments, blocks": fill("<!-- x -->\n"),
    "comments, mentions": fill("<!-- @a.md\n--> @b.md\n"),
    "comments, half closed": fill("<!-- --"),
    "@": fill("@"),
    "@a": fill("@a "),
    "@a lines": fill("@a\n"),
    "@a paragraphs": fill("@a\n\n"),
    "@a distinct": count("@a{n} "),
    "@a prefixes": lambda size: cut(itertools.chain((HEAD,), ("@" + "a" * n + " " for n in itertools.count(1))), size),
    "@a escaped spaces": fill("@a\\ "),
    "@a escaped": fill("\\@a "),
    "@a.md in code spans": count("`@a{n}.md` "),
    "@a.md in code blocks": count("```\n@a{n}.md\n```\n"),
    "@a.md in links": count("[x](@a{n}.md) "),
    "@a.md in tags": count("<b @a{n}.md> "),
    "@a.md in stars": count("*@a{n}.md* "),
    "@a.md in brackets": count("(@a{n}.md) "),
    "@ missing": count("@missing/x{n}.md "),
    "@ missing, 100,000": count("@m/{n}.md\n"),
    "@ missing, commas": count("@missing/x{n}.md, "),
    "@ missing, list": count("- @missing/x{n}.md\n"),
    "@ outside": count("@/far/x{n}.md "),
    "@ folders": fill("@docs "),
    "@ one long path": fill("a/", head=HEAD + "@"),
    "@ one long name": fill("a", head=HEAD + "@"),
    "@ dots": fill("../", head=HEAD + "@"),
    "@ hashes": fill("#", head=HEAD + "@a"),
    "mails": fill("a@b.c "),
    "[": fill("["),
    "[@": fill("[@a "),
    "](": fill("]("),
    "[](": fill("[]("),
    "[@](": fill("[@a]("),
    "![": fill("!["),
    "![[]()": fill("![[]()"),
    "[@a][": fill("[@a]["),
    "[@a](<b": fill("[@a](<b"),
    "quotes": fill('"'),
    "quoted titles": fill('[@a](b "'),
    ">": fill(">"),
    "> lines": fill("> @a\n"),
    "> nested": stairs("@a\n", ">"),
    "> lazy": growing(">", "@a\nb\n"),
    "*": fill("*"),
    "**@a": fill("**@a "),
    "*@a_": fill("*@a_ "),
    "a**b": fill("a**b"),
    "*a **@a": fill("*a **@a "),
    "_": fill("_"),
    "_@a": fill("_@a "),
    "~~": fill("~~@a "),
    "backticks, pairs": fill("``@a "),
    "backticks, one run": fill("`"),
    "backticks, growing": growing("`", "@a "),
    "fences": fill("```\n"),
    "fences, growing": growing("`", "``\n@a\n"),
    "tildes": fill("~~~\n@a\n"),
    "<": fill("<"),
    "<a": fill("<a "),
    "<@": fill("<@a "),
    "<a x=": fill("<a x='@a "),
    "<!": fill("<!A @a "),
    "<?": fill("<? @a "),
    "<![CDATA[": fill("<![CDATA[ @a "),
    "</": fill("</a"),
    "<div> blocks": fill("<div>\n@a\n\n"),
    "<script> blocks": fill("<script>\n"),
    "<http:": fill("<http:@a"),
    "&": fill("&"),
    "&#": fill("&#1234567"),
    "backslashes": fill("\\"),
    "escapes": fill("\\[@a "),
    "|": fill("|"),
    "tables": fill("|@a|b|\n|-|-|\n"),
    "table, wide": fill("|@a", head=HEAD + "|a\n|-\n"),
    "#": fill("#"),
    "# lines": fill("# @a\n"),
    "setext": fill("@a\n=\n"),
    "setext, open": fill("@a\n ="),
    "tabs": fill("\t"),
    "tab lines": fill("\t@a\n"),
    "spaces": fill(" "),
    "space lines": fill("  \n"),
    "line ends": fill("\n"),
    "CR": fill("\r"),
    "CRLF": fill("@a\r\n"),
    "definitions": count("[x{n}]: /url\n"),
    "definitions, used": count("[x{n}]: /u\n\n[x{n}] @a [x0]\n\n"),
    "definitions, open": fill("[a]: <b\n"),
    "definitions, titles": fill('[a]: b "\n'),
    "lists": fill("- @a\n"),
    "lists, loose": fill("- @a\n\n"),
    "lists on a line": fill("- "),
    "lists, numbered": fill("1. @a\n"),
    "lists, marks in turn": fill("- @a\n* @a\n"),
    "lists, nested": stairs("- @a\n", "  "),
    "lists, nested loose": stairs("- @a\n\n", " "),
    "lists, 16 deep": fill("".join(" " * 2 * n + "- @a\n" for n in range(16))),
    "lists and quotes": fill("> - @a\n"),
    "quotes, 16 deep": fill(">" * 16 + " @a\n"),
    "lists, lazy": fill("- @a\nb\n"),
    "list of comments": fill("- <!-- @a\n"),
    "brackets, nested": around("[", "@a", "]"),
    "links, nested": around("[", "@a", "](b)"),
    "stars, nested": around("*a ", "@b", " a*"),
    "footnotes": count("[^{n}]: @a\n"),
    "NUL": fill("\0"),
    "emoji": lambda size: fill("\U0001f600 @a ")(size // 3),
    "not UTF-8": fill("\udcff @a "),
    "one long line": fill("word "),
}

FRONTS: dict[str, Shape] = {
    "front, unclosed": fill("a: b\n", head="---\n", tail="\n@docs/guide.md <!-- a -->\n"),
    "front, dashes": bare("-"),
    "front, dash lines": bare("---\n"),
    "front, spaces": fill(" ", head="---", tail="\nx\n"),
    "front, lines": fill("\n", head="---", tail="x\n---\n" + HEAD),
    "front, colons": front(bare(":")),
    "front, colon lines": front(bare(": \n")),
    "front, keys": front(count("key{n}: value\n", head="", tail="")),
    "front, same keys": front(bare("a: b\n")),
    "front, bad values": front(count("key{n}: a: b\n", head="", tail="")),
    "front, stars": front(count("key{n}: *a\n", head="", tail="")),
    "front, tabs": front(bare("\ta: b\n")),
    "front, quotes": front(bare('"')),
    "front, open quote": front(bare("a"), before='k: "'),
    "front, block text": front(bare("  a\n"), before="k: |\n"),
    "front, anchors": front(count("k{n}: &a{n} b\n", head="", tail="")),
    "front, tags": front(count("k{n}: !t{n} b\n", head="", tail="")),
    "front, documents": front(bare("--- \n"), before="a: b\n"),
    "front, comments": front(bare("# a\n")),
    "YAML [": front(bare("["), before="paths: "),
    "YAML {": front(bare("{"), before="paths: "),
    "YAML [] nested": front(bare("[]"), before="paths: "),
    "YAML - -": front(bare("- ")),
    "YAML ? ?": front(bare("? ")),
    "YAML stairs": front(lambda size: cut((" " * n + "a:\n" for n in itertools.count()), size)),
    "YAML list": front(bare("  - a/**\n"), before="paths:\n"),
    "YAML flow list": front(bare("a, "), before="paths: [", after="]\n"),
    "aliases": front(aliases),
    "alias, repeated": front(bare("*a, "), before="a: &a x\npaths: [", after="]\n"),
    "paths {a,b}": front(bare("{a,b}"), before='paths: "', after='"\n'),
    "paths {a,b}/": front(bare("{a,b}/"), before='paths: "', after='"\n'),
    "paths {": front(bare("{"), before='paths: "', after='"\n'),
    "paths }": front(bare("}"), before='paths: "', after='"\n'),
    "paths {}": front(bare("{}"), before='paths: "', after='"\n'),
    "paths commas": front(bare(","), before='paths: "', after='"\n'),
    "paths a,": front(bare("a,"), before='paths: "', after='"\n'),
    "paths {a,a,…}": front(bare("a,"), before='paths: "x{', after='}"\n'),
    "paths {,,…}{,,…}": front(bare("{,,,,,,,,}"), before='paths: "', after='"\n'),
    "paths stars": front(bare("*"), before='paths: "', after='"\n'),
    "paths *a": front(bare("*a"), before='paths: "', after='"\n'),
    "paths **/": front(bare("**/"), before='paths: "', after='"\n'),
    "paths [": front(bare("["), before='paths: "', after='"\n'),
    "paths [a]": front(bare("[a]"), before='paths: "', after='"\n'),
    "paths [[:alpha:]": front(bare("[[:"), before='paths: "', after='"\n'),
    "paths ?": front(bare("?"), before='paths: "', after='"\n'),
    "paths backslashes": front(bare("\\"), before="paths: '", after="'\n"),
    "paths slashes": front(bare("/"), before='paths: "', after='"\n'),
    "paths !": front(bare("!"), before='paths: "', after='"\n'),
    "paths distinct": front(count("  - src/m{n}/**\n", head="", tail=""), before="paths:\n"),
    "paths distinct *": front(count("  - '*x{n}*y*'\n", head="", tail=""), before="paths:\n"),
}
#: frontmatter that is also tried much longer than any that is parsed
LONG = ("front, unclosed", "front, dashes", "front, lines", "front, keys", "YAML [", "aliases", "paths {a,b}")
