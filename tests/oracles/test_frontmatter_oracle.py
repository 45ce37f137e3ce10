"""Frontmatter against npm `yaml`, through one node process.

The reference splits with the regular expression of the specification, parses with npm `yaml` (repeated keys allowed,
as recorded in rule-fm-edge r11) and repairs as 13.2 says, but no line that ends in CR: so the released 2.1.197 and
2.1.325 answered. It is written anew in JavaScript. Compared are the parts of
the text and the `paths`, as far as they matter: strings, and the lists that hold them.

Where we are known to differ, `DIFFERENT` says so with both answers.
"""

from __future__ import annotations

import random

import pytest

from foretold.text.frontmatter import parse, split

from .node import ask

REFERENCE = r"""
const YAML = require('yaml');
const parse = text => YAML.parse(text, {logLevel: 'error', uniqueKeys: false});
const parses = text => { try { parse(text); return true } catch { return false } };
const split = text => {
  const found = /^---\s*\n([\s\S]*?)---\s*\n?/.exec(text);
  return found ? [found[1], text.slice(found[0].length)] : [null, text];
};
const mend = front => front.split('\n').map(line => {
  const found = /^([A-Za-z_-]+):[ \t]+(\S[^\r\n]*)$/.exec(line);
  if (!found || !/[{}[\]*&#!|>%@`]|: /.test(found[2])) return line;
  const value = found[2].trimEnd();
  if (/^(?:".*"|'.*'|["'])$/.test(value) || (/^\[.*\]$/.test(value) && parses(value))) return line;
  return `${found[1]}: ${JSON.stringify(found[2])}`;
}).join('\n');
const values = front => {
  for (const text of [front, mend(front)]) try { return parse(text) } catch {}
  return null;
};
const shape = value => typeof value === 'string' ? value : Array.isArray(value) ? value.map(shape) : null;
const paths = value => value && !Array.isArray(value) && typeof value === 'object' ? shape(value.paths) : null;
return question.map(text => {
  const [front, body] = split(text);
  return [front, body, front === null ? null : paths(values(front)) || null];
});
"""

#: a frontmatter text, our `paths`, those of npm `yaml`
DIFFERENT = {
    "paths: 012\n": ("012", None),  # ryaml reads no number with a leading zero
    "\tpaths: a\n": ("a", None),  # claude-code: rule-form-bad r12
    "paths:\n\t- a\n": (["a"], None),  # the same column rule, not recorded
    "paths: a\nx:\n  ? [b]\n  : c\n": (None, "a"),  # a list as a key
    "paths: &@x a\n": ("&@x a", "a"),  # an anchor with signs in its name
    "paths: a\n&x paths: b\n": (None, "b"),  # a repeated key behind an anchor
    "paths: a\nx:\n- [:b]\n": (None, "a"),  # a word that starts with a colon, in a list
    "paths: a\nx:\n- [b:, c]\n": (None, "a"),  # and one that ends with it
    "paths: a\nx:\n- [-, b]\n": ("a", None),  # a lone dash in a list
    "paths: [#c\n  a]\n": (["a"], None),  # a comment that sticks to a bracket
    "paths: a\n:\n": (None, "a"),  # an empty key
}


def reference(texts: list[str]) -> list[list[object]]:
    """Front, body and paths of each text, by npm `yaml`."""
    answer: list[list[object]] = ask(REFERENCE, texts)
    return answer


def shape(value: object) -> object:
    if isinstance(value, list):
        return [shape(item) for item in value]
    return value if isinstance(value, str) else None


def ours(text: str) -> list[object]:
    front, body = split(text, after_bom=False)
    paths = shape(parse(front).values.get("paths")) if front is not None else None
    return [front, body, paths or None]


def unlike(texts: list[str]) -> list[tuple[str, list[object], list[object]]]:
    """The texts that we read otherwise, with both answers."""
    pairs = zip(texts, map(ours, texts), reference(texts), strict=True)
    return [(text, mine, theirs) for text, mine, theirs in pairs if without_tags(mine) != without_tags(theirs)]


def without_tags(answer: list[object]) -> list[object]:
    """A tag with nothing behind it is null to us and an empty text to npm `yaml`; neither is a pattern."""
    return [*answer[:2], filled(answer[2])]


def filled(paths: object) -> object:
    return [filled(item) for item in paths if item] or None if isinstance(paths, list) else paths


WORDS = r"""
src/** lib/**,src/*.ts **/*.ts *.ts {a,b}/*.ts src/{a,b}/** @x/** !src/** !foo/bar [a] [ab].ts a/[xy]/b ./a ../a /a
.github/** .x it's a"b a'b 'a' "b" 'a''b' "a\/b" "a\tb" "open 'open a#c &x *x | > -a ?a % %a `a` a` ~ 5 -5 0x1f 1e3 .5
true null yes no on 2024-01-02 12:30 a:b a\b \* <a> $x ^a a?b ?? ** * (a) = , a, ,a ; a;b ä/** 日本 << {} [] [""] "" ''
"""
PHRASES = r"""
src/**, lib/** ¦ src/** lib/** ¦ a # c ¦ a #c ¦ foo: bar ¦ a: b: c ¦ !foo bar ¦ !!str 5 ¦ [a, b] ¦ [a, 'b', "c"] ¦ [ a
[**/*.ts] ¦ [a, *.ts] ¦ a ] ¦ [[a], b] ¦ [5, a] ¦ [a b: c] ¦ [a,] ¦ [a, !b] ¦ [!a, b] ¦ [a, {b: c}] ¦ {a: b} ¦ {a, b}
say "x" to ¦ "a" # b ¦ 'a' # b ¦ "a" b ¦ 'a' 'b' ¦ a - b ¦ - a ¦ [?a, b] ¦ [a\, b] ¦ [a #b] ¦ "*.ts" ¦ '**/*.{ts,tsx}'
"{a,b}" ¦ ["{a,b}/*", c] ¦ R&D, \n ¦ <!-- c --> ¦ &a b ¦ a, , b ¦ "a"" ¦ 'a'b' ¦ @a b ¦ a @b ¦ 100% ¦ a | b ¦ >- a
"""
ODD = ["", "a\u00a0b", "a\u0085b", "a\u2028b", "a\x07b", "\x7f", '"a\u2028b"', "\u200b"]
VALUES = [WORDS.split(), PHRASES.strip().replace("\n", " ¦ ").split(" ¦ "), ODD]
KEYS = ["paths", "paths", "paths", "description", "name", "alwaysApply", '"paths"', "'paths'", "paths ", "x1", "my key"]


def entry(choose: random.Random) -> str:
    """A key with a value, in one of the ways that people write them."""
    key, value = choose.choice(KEYS), lambda: choose.choice(choose.choice(VALUES))
    inner = " " * choose.choice([1, 2, 2, 2, 4])
    lines = [value() for _ in range(choose.randint(1, 3))]
    return choose.choice(
        [
            f"{key}: {value()}",
            f"{key}: {value()}" + choose.choice([" ", "  # c", "\t"]),
            f"{key}:  {value()}",
            f"{key}: #c",
            f"{key}:" + "".join(f"\n{inner}- {line}" for line in lines),
            f"{key}:" + "".join(f"\n- {line}" for line in lines),
            f"{key}: # c" + "".join(f"\n\n{inner}-  {line}" for line in lines),
            f"{key}: [" + f",\n{inner}".join(lines) + choose.choice(["]", "\n]", f"\n{inner}]"]),
            f"{key}: "
            + choose.choice(["|", ">", "|-", ">-", "|+", ">-  # c"])
            + "".join(f"\n{inner}{x}" for x in lines),
            f"{key}: {value()}" + "".join(f"\n{inner}{line}" for line in lines),
            f"{key}:" + "".join(f"\n{inner}k{n}: {line}" for n, line in enumerate(lines)),
            choose.choice(["", " ", "# c", f"{inner}# c", "...", "just words", "{paths: a}", "- a"]),
        ]
    )


def document(choose: random.Random) -> str:
    front = "\n".join(entry(choose) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
    if choose.random() < 0.05:
        front = "".join(f" {line}\n" for line in front.split("\n"))
    text = choose.choice(OPENINGS) + front + choose.choice(CLOSINGS)
    return text.replace("\n", "\r\n") if choose.random() < 0.05 else text


OPENINGS = ["---\n"] * 9 + [
    "--- \n",
    "---\n\n",
    "---\t\r\n",
    "---\u00a0\n",
    "----\n",
    "---x\n",
    "\ufeff---\n",
    "---",
    "---\x1c\n",
]
CLOSINGS = ["\n---\nb\n"] * 9 + [
    "\n---",
    "\n---b",
    "\n--- \n\n  b",
    "\n...\n",
    "",
    "\n---\u2003\ufeff\x1cb",
    "\n---\x85b",
    "---",
]


@pytest.mark.parametrize("seed", range(4))
def test_generated_frontmatter_reads_as_with_npm_yaml(seed: int) -> None:
    choose = random.Random(seed)
    assert unlike([document(choose) for _ in range(1500)]) == []


def test_we_differ_where_we_say() -> None:
    answers = reference([f"---\n{front}---\nb\n" for front in DIFFERENT])
    found = {
        front: (parse(front).values.get("paths"), answer[2]) for front, answer in zip(DIFFERENT, answers, strict=True)
    }
    assert found == DIFFERENT
