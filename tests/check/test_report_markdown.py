"""Markdown for a pull request: a table that no text of a stranger can break, or use to call people."""

import html
import re

import pyromark
import pytest

from foretold.check.finding import CheckFinding
from foretold.check.report.markdown import LONGEST, escape_markdown, quote_code, render_markdown

from .reports import make_report


def to_html(text):
    return pyromark.html(text, options=pyromark.Options.ENABLE_TABLES)


def test_a_report(place):
    home = place.path("home/.claude/x.md").replace("_", "&#95;")
    assert (
        render_markdown(make_report(place, ignored=1))
        == f"""\
### foretold check

**2 errors, 1 warning, 1 note** in 3 files, for claude-code 2.1.325 and codex 0.166.0.

| | Where | Rule | What, and what to do |
|---|---|---|---|
| 🔴 error | <code>AGENTS.md</code> | <code>budget-cut</code> | 23 bytes are lost &#40;codex&#41;<br>→ shorten it |
| 🔴 error | <code>CLAUDE.md&#58;3</code> | <code>import-punctuation</code> | docs/a.md,&#58; not imported \
&#40;claude-code&#41;<br>→ add a space |
| 🟡 warning | <code>CLAUDE.md&#58;3</code> | <code>text-repeated</code> | AGENTS.md has it, too<br>→ keep one |
| 🔵 note | <code>{home}&#58;2</code> | <code>file-long</code> | it has 300 lines |

Tokens in every session that starts at the top: claude-code 1,200, codex 300.

Ignored by comments or settings: 1 finding.
"""
    )


def test_a_clean_tree(place):
    assert render_markdown(make_report(place, [])).startswith(
        "### foretold check\n\nNo problems in 2 files of 2 agents.\n"
    )


HOSTILE = [
    "@octocat please look",
    "a | b | c",
    "](https://example.com) [x](https://example.com) ![i](https://example.com/p.png)",
    "<script>alert(1)</script> <img src=x onerror=y> <!-- hidden",
    "` ``` ~~~ `` code",
    "\n\n# heading\n\n- list\n\n```\nblock\n",
    "*bold* _it_ **x** ~~y~~ $z$ \\| \\` &lt; &#64;octocat",
    "#123 owner/repo#5 GH-7 https://example.com www.example.com me@example.com",
    "bidi \u202e zero\u200bwidth \x1b[31m",
    "deadbeefcafe1234 @org/team",
    "`@octocat` and `a|b`",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_stranger_can_neither_break_the_table_nor_call_anybody(place, text):
    finding = CheckFinding(place.path(f"proj/{text.replace(chr(0), '')}"), 1, "import-missing", text, text, (), "error")
    page = to_html(render_markdown(make_report(place, [finding])))
    assert page.count("<tr>") == 2
    assert page.count("<td>") == 4
    assert {tag.split()[0].strip("</>") for tag in re.findall(r"<[^>]+>", page)} <= {
        *("h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code", "br")
    }
    outside = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)))
    assert re.search(r"@\w|#\d|https?://|www\.|GH-\d|\u202e|\u200b|\x1b", outside) is None


@pytest.mark.parametrize("text", HOSTILE)
def test_the_words_are_shown_as_they_are(text):
    shown = html.unescape(re.sub(r"<[^>]+>", "", to_html(escape_markdown(text)))).strip()
    plain = re.sub(r"`([^`\s][^`]{0,199})`", r"\1", " ".join(text.split()))
    plain = "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in plain)
    assert shown == plain


def test_code():
    assert quote_code("") == ""
    assert html.unescape(to_html(quote_code("a`b|c<d"))) == "<p><code>a`b|c<d</code></p>\n"


def test_it_is_bounded(place):
    findings = [
        CheckFinding(place.path(f"proj/{number}.md"), 1, "import-missing", "x @y | " * 200, "z" * 5000, (), "note")
        for number in range(3000)
    ]
    findings.append(CheckFinding(place.path("proj/last.md"), 1, "import-form", "worst", "", (), "error"))
    text = render_markdown(make_report(place, findings))
    assert LONGEST - 10_000 < len(text) <= LONGEST
    assert text.index("last.md") < text.index("0.md")
    left = int(re.search(r"… and ([\d,]+) more findings", text)[1].replace(",", ""))
    assert to_html(text).count("<tr>") - 1 + left == 3001
