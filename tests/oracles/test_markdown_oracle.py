"""Instruction files against npm `marked`: seeded documents, answered by one node process.

Which `marked`? The one that does what Claude Code does. 2.1.197 and 2.1.325 were asked about 5,379 documents such as
these: 15.0.12 gives the same text and the same imports, in the same order, for all of them. 14 escapes quotes in paths,
which the agents do not; 16.4 differs in 2 documents, 17 in hundreds, 18 in more.
"""

import json
import os
import random
import re

import pytest

from foretold.instructions.text.markdown import scan

from .node import ask

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "fixtures", "markdown.json")
ANSWER = r"""
const { Lexer } = await import('marked');
const isComment = token => token.type === 'html' && /^\s*<!--/.test(token.raw) && token.raw.includes('-->');
const rest = token => { const left = token.raw.replace(/<!--[\s\S]*?-->/g, ''); return left.trim() ? left : ''; };
const shown = tokens => tokens.map(token => isComment(token) ? rest(token) : token.raw).join('');
const paths = text => [...text.matchAll(/(?:^|\s)@((?:[^\s\\]|\\ )+)/g)]
  .map(match => match[1].split('#')[0].replaceAll('\\ ', ' '))
  .filter(path => /^(?:[A-Za-z0-9._\/-]|~\/)/.test(path)).map(path => path.trim());
const imports = tokens => tokens.flatMap(token => {
  if (['code', 'codespan', 'image'].includes(token.type)) return [];
  if (token.type === 'html') return isComment(token) ? paths(rest(token)) : [];
  return [...(token.type === 'text' ? paths(token.text) : []),
          ...imports(token.tokens ?? []), ...imports(token.items ?? [])];
});
return question.map(text => {
  const tokens = new Lexer({ gfm: false }).lex(text);
  return [text.includes('<!--') ? shown(tokens) : text, [...new Set(imports(tokens))]];
});
"""

#: kind -> how many of its documents differ; why, see below
KINDS = {
    "documents": 0,
    "html": 0,
    "definitions": 1,
    "lists": 1,
    "quotes": 3,
    "lines": 4,
    "soup": 5,
    "inline": 4,
}
DOCUMENTS_PER_KIND = 1500


#: what is not followed, with the smallest document that shows it: each would be a rule of its own, and no instruction
#: file was seen to need it
DIFFERENCES = {
    "> > a\n> ```b\nc <!--\n": "a nested quote, lazy lines and a fence: `marked` miscounts and drops the fence",
    "> - a \nb\n\n<!--": "a list in a quote that ends with a blank, before a lazy line: `marked` adds line ends",
    "**a*@b.md": "emphasis whose marks do not balance, with text right behind it",
    "(__@b.md  c_": "underscores that do not balance",
    "a <!X<b @c.md>": "`<!X` without white space behind the name is text inside a paragraph",
}


# -- documents ---------------------------------------------------------------------------------------------------

WORDS = (
    "the agent reads build tests with care never commit secrets use uv and ruff for lint see docs always run".split()
)
INLINE = [
    *("@M", "see @M now", "`@M`", "`x @M y`", "``a ` @M``", "**@M**", "*@M*", "_@M_ x", "**see @M now**"),
    *("[@M](u)", "[t](@M)", '[t](u "a @M b")', "![@M](x.png)", "![a @M b](x)", "<@M>", "<a@M>", "<http://x/@M>"),
    *("<b>@M</b>", "<i> @M </i>", '<b x="@M">', "<b x=' @M '>", "<!-- c @M -->", "<!-- @M --> @M", "\\@M", "\\\\@M"),
    *("\\*@M", "x\\ @M", "&#64;M", "&amp; @M", "&amp;@M", "(@M)", '"@M"', "x@M", "a@b.com", "@M,", "[@M]"),
    *("[x][@M]", "[@M][ref]", "[ref] @M", "[ref][] @M", "[x @M][ref]", "@M  ", "@M\\", "@M<br>", "~~@M~~"),
    *("~~ @M ~~", "|@M|", "| @M |", "*a @M", "a* @M *", "`open @M", "**open @M", "<b @M", "<b @M >", "[open @M"),
    *("](@M)", "@@M", "@ M", "@M#frag", "***@M***", "__@M__", "*a*@M", "`a`@M", "[ref]@M", "<b>@M", "a\tb\t@M"),
]
ODD = [
    *("\u00a0@M", "\u3000@M", "\u200b@M", "\u2028@M", "\x0b@M", "\x0c@M", "\x85@M", "\x1c@M", "\ufeff@M", "\x00@M"),
    *("<?x @M?>", "<![CDATA[ @M ]]>", "<!X @M >", "[a](<b @M>)", "[a]( @M )", "![x][ref] @M", "a_b_@M", "é @M"),
    *("😀@M", "😀 @M", "$@M", "<!-- open @M", "-- @M -->", "<!--> @M -->", "<!---> @M", "x > y", "a <b", "* * *"),
]
BEGINNINGS = [
    *("# ", "## ", "####### ", "#", "> ", ">", "> > ", "- ", "* ", "+ ", "1. ", "2) ", "10. ", "- - ", "- > ", "> - "),
    *("-   ", "-     ", "-\t", "    ", "\t", "  ", " ", "  - ", "    - ", "- [ ] ", "<div>", "</div>", "<b>", "<pre>"),
    *("<script>", "</script>", "<?", "?>", "<!X", "<![CDATA[", "]]>", "<!--", "<!-- x -->", " <!-- x -->", "-->"),
    *("    <!-- x -->", "<!-- x --> tail ", "- <!-- x -->", "> <!-- x -->", "```", "~~~", "````", "  ```", "- ```"),
    *("[ref]: ", "[l]: http://x", "[l]: <u> 't'", "[l]:\n", "[^1]: ", "- [l]: u", '[l]: u "a\n', "===", "---", "***"),
    *("|a|b|\n|-|-|\n|", "<x-y>", '<x-y a="@M">', "</x-y>", "<textarea>", "\u00a0", "\x0c", "\ufeff"),
]
ENDS = ["\n"] * 10 + ["\n\n"] * 8 + ["\n\n\n", "\n \n", "\n\t\n", "  \n", "\\\n", "\r\n", "\r\n\r\n", "\r", "\n\x0c\n"]
SOUP = [
    *["@M"] * 8,
    *[" "] * 6,
    *["\n"] * 6,
    *"*_`[]()<>!&\\#-+>~|=:\"'\t;a1.",
    *("\n\n", "<!--", "-->", "<!-- x -->", "<b>", "</b>", "<div>", "```", "~~~", "[l]: u", "[ref]", "- ", "> ", "1. "),
    *(
        "    ",
        "  ",
        "\r\n",
        "**",
        "__",
        "![",
        "](",
        "<?",
        "?>",
        "<a@b.c>",
        "&amp;",
        "\\\n",
        "  \n",
        "<pre>",
        "===",
        "---",
    ),
]
LABELS = ["[l]", "[a b]", "[ref]", "[^1]", "[x\ny]", "[]", "[ ]", "[a]b]", "[a\\]b]", "[A]", "[é]", "[l", "[ l ]"]
TARGETS = ["u", "http://x", "<u>", "<a b>", "<>", "@M", "", "\n u", "\n", "u v", "<u", "u\t", "\tu", "  u  ", "(u)"]
TITLES = [
    *("", "", " 't'", ' "t @M"', "\n 't'", '\n"t"', " (t)", " 'a\nb'", ' "a\n\nb"', " 't' x", "\n't' x", ' "open'),
    *("\t't'", ' "a\\"b"', "'t'"),
]
TAGS = [
    *(
        "<div>",
        "</div>",
        "<DIV>",
        "<div",
        '<div class="x">',
        "<div @M>",
        "<p>x @M",
        "<b>",
        "</b>",
        "<b>x",
        "<a href=x >",
    ),
    *("<x-y>", "<x.y>", "<x/>", "<x / >", "<pre>", "<pre @M>", "</pre>", "<SCRIPT>", "</SCRIPT> @M", "<style>"),
    *("</style>", "<?", "<?x ?>", "?> @M", "<?x @M", "<!X", "<!X>", "<!X @M> @M", "<![CDATA[", "]]>", "]]> @M", "<!--"),
    *("-->", "--> @M", "<!-- x -->", "<!-- x --> @M", "<!--> @M", "<!---> @M", "<!-- a --> <!-- b", "<!-- -- -->"),
    *(
        "<! -- x -->",
        "<preview>",
        "<h1>",
        "<hr/>",
        "<br>",
        "<br> @M",
        '<img src="@M">',
        "<details><summary>@M</summary>",
    ),
]
TEXTS = ["text", "@M", "see @M", "`x @M`", "**@M** @M", "# @M", "- @M", "> @M", "    @M", "[l]: u", "---", "", "@M\\"]
MARKS = [
    *("- ", "- ", "* ", "+ ", "1. ", "2. ", "10. ", "1) ", "-", "-\t", "-   ", "-     ", "1.\t", "", "", "", "", "> "),
    *("# ", "```", "~~~", "    ", "* * *", "---", "===", "<!-- x -->", "<b>", "<div>", "[l]: u", "[ ] "),
]
INDENTS = ["", "", "", "", " ", "  ", "  ", "   ", "    ", "    ", "     ", "      ", "\t", "\t\t", " \t", "  \t"]
QUOTES = [
    *(
        "> ",
        ">",
        "> > ",
        ">> ",
        ">  ",
        "> - ",
        "> 1. ",
        ">\t",
        "",
        "",
        "",
        "",
        " > ",
        "    > ",
        "- > ",
        "> ```",
        "> # ",
    ),
    *(">     ", "> <!-- x -->", "> [l]: u", "> <div>"),
]


class Writer:
    """Writes documents of each kind."""

    def __init__(self, kind):
        self.kind = kind
        self.chance = random.Random(f"markdown {kind}")

    def documents_of_kind(self):
        write = getattr(self, self.kind)
        return [self.numbered(write()) for _ in range(DOCUMENTS_PER_KIND)]

    def numbered(self, text):
        numbers = iter(range(1, 1000))
        return re.sub("M", lambda _: f"m{next(numbers)}.md", text)

    def some(self, parts, least, most, between=""):
        return between.join(self.chance.choices(parts, k=self.chance.randint(least, most)))

    def rows(self, *columns, ends=ENDS):
        """Lines made of one part of each column."""
        return "".join(
            "".join(self.chance.choice(column) for column in columns) + self.chance.choice(ends)
            for _ in range(self.chance.randint(2, 9))
        )

    def soup(self):
        return self.some(SOUP, 3, 40)

    def inline(self):
        parts = [*SOUP, "word", "é", "<http://a>", "[ref]", "<b x='", "'>", ". "]
        return "[ref]: u\n\n" * self.chance.randint(0, 1) + "x" + self.some(parts, 3, 25).replace("\n", " ") + "\n"

    def lines(self):
        parts = ["".join((self.some(BEGINNINGS, 0, 2), self.some(INLINE + ODD, 0, 3, " "))) for _ in range(9)]
        return self.rows(parts)

    def lists(self):
        return self.rows(INDENTS, MARKS, [*TEXTS, *INLINE], ends=["\n"] * 6 + ["\n\n", "\n  \n", "\n\t\n"])

    def quotes(self):
        return self.rows(QUOTES, [*TEXTS, "===", "  @M", "<!-- c @M -->"], ends=["\n"] * 7 + ["\n\n", "\n \n"])

    def html(self):
        return self.rows(["", "", "", " ", "   ", "    ", "- ", "> ", "a "], [*TAGS, *TAGS, *TEXTS])

    def definitions(self):
        one = ["".join(map(self.chance.choice, (LABELS, [":", ": ", " :", ":\t"], TARGETS, TITLES))) for _ in range(4)]
        others = ["para", "[ref] @M `x`", "# h", "- item", "<!-- c -->", "<div>", "> q", "```", "a\n===", "[l]@M"]
        return self.rows(["", "", " ", "   ", "    ", "- ", "> ", "1. "], [*one, *others])

    def documents(self):
        text = "".join(
            self.block() + self.chance.choice(["\n\n"] * 6 + ["\n"]) for _ in range(self.chance.randint(1, 8))
        )
        return text if self.chance.random() < 0.85 else text.replace("\n", "\r\n")

    def block(self):
        code = "\n".join(self.chance.choices(["@app.get('/x')", "@M", "x = 1", "<!-- c -->", "", "[l]: u"], k=3))
        one = [
            *[self.paragraph] * 4,
            *[lambda: "## " + self.paragraph(1)] * 2,
            *[lambda: "\n".join(self.item() for _ in range(self.chance.randint(1, 4)))] * 3,
            lambda: f"```py\n{code}\n```",
            lambda: self.chance.choice(
                ["<!-- note @M -->", "<!--\na @M\n\nb\n-->", "<!-- a --> tail @M", "<!-- open @M"]
            ),
            lambda: "> " + self.paragraph().replace("\n", self.chance.choice(["\n> ", "\n"])),
            lambda: self.chance.choice(["[ref]: http://x", "[a b]: u\n  't @M'", "[ref]: @M", "[^n]: note @M here"]),
            lambda: self.chance.choice(
                ["<div>\n@M\n</div>", "<br>\n@M", "    code @M", "---", "Title @M\n===", "| @M |"]
            ),
        ]
        return self.chance.choice(one)()

    def paragraph(self, lines=3):
        rows = [self.some([*WORDS * 4, *INLINE], 3, 9, " ") for _ in range(self.chance.randint(1, lines))]
        return "\n".join(row.strip() or "word" for row in rows)

    def item(self, indent="", depth=0):
        mark = self.chance.choice(["- ", "* ", "1. "])
        inner = indent + " " * len(mark)
        text = indent + mark + self.paragraph().replace("\n", self.chance.choice(["\n" + inner, "\n" + inner, "\n"]))
        if depth < 2 and self.chance.random() < 0.35:
            text += self.chance.choice(["\n", "\n\n"]) + self.item(inner, depth + 1)
        if self.chance.random() < 0.1:
            text += f"\n\n{inner}" + self.chance.choice(["<!-- c @M -->", f"```\n{inner}@M\n{inner}```", "para @M"])
        return text


# -- tests ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def answers():
    """Per kind: documents and what `marked` says; and the recorded fixtures with what it says now."""
    with open(FIXTURES, encoding="utf-8") as file:
        recorded = json.load(file)
    rows = {kind: Writer(kind).documents_of_kind() for kind in KINDS}
    rows["fixtures"] = [text for text, *_ in recorded]
    rows["differences"] = list(DIFFERENCES)
    said = iter(ask(ANSWER, [text for kind in rows for text in rows[kind]]))
    return recorded, {kind: [(text, *next(said)) for text in rows[kind]] for kind in rows}


def ours(text):
    document = scan(text)
    assert document.problem is None
    return document.text, [mention.path for mention in document.mentions if mention.region == "text"]


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_marked(answers, kind):
    rows = answers[1][kind]
    unlike = [(text, shown, imports) for text, shown, imports in rows if ours(text) != (shown, imports)]
    assert len(unlike) <= KINDS[kind], unlike[:3]
    assert sum(len(imports) for _, _, imports in rows) > DOCUMENTS_PER_KIND / 3  # enough of them import
    assert sum(shown != text for text, shown, _ in rows) > DOCUMENTS_PER_KIND / 100  # and enough are rewritten


def test_the_recorded_fixtures_still_hold(answers):
    recorded, rows = answers
    assert [[text, shown, imports] for text, shown, imports in rows["fixtures"]] == recorded


def test_we_differ_where_we_say(answers):
    assert [text for text, shown, imports in answers[1]["differences"] if ours(text) == (shown, imports)] == []
