"""The simple commands of a command line."""

from __future__ import annotations

import pytest

from foretold.text.shell.commands import find_command
from foretold.text.shell.parse import last_words, read_command
from foretold.text.shell.wrappers import allowed_texts, possible_texts, strip_wrappers


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("a && b || c; d | e |& f & g\nh", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("a 'b; c' \"d && e\" f\\;g", ["a 'b; c' \"d && e\" f\\;g"]),
        ("a # b && c", ["a"]),
        ("a#b", ["a#b"]),
        ("a   b\t c \\\n d", ["a b c d"]),
        ("a $(b $(c))", ["c", "b $(c)", "a $(b $(c))"]),
        ('a "x $(b) y"', ["b", 'a "x $(b) y"']),
        ("a `b \\`c\\``", ["c", "b `c`", "a `b \\`c\\``"]),
        ("a <(b) >(c)", ["b", "c", "a <(b) >(c)"]),
        ("(a; b) && { c; }", ["a", "b", "c"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("while ! a; do b; done", ["a", "b"]),
        ("a <<E; b\n$(c) ; d\nE\ne", ["a", "b", "c", "e"]),
        ("a <<'E'\n$(c)\nE\ne", ["a", "e"]),
        ("a <<-E\n\tx\n\tE\ne", ["a", "e"]),
        ("a > f 2>&1 < g >> 'h i' &> k <<< l", ["a"]),
        ("LANG=C X=$(y) a", ["y", "a"]),
    ],
)
def test_parts(command: str, parts: list[str]) -> None:
    assert [part.text for part in read_command(command).parts] == parts


def test_redirections_have_their_targets() -> None:
    part = read_command("a > f 2>&1 < g >> 'h i' &> k {fd}> m").parts[0]
    assert [(one.operator, one.target.text) for one in part.redirects] == [
        (">", "f"),
        (">&", "1"),
        ("<", "g"),
        (">>", "h i"),
        ("&>", "k"),
        (">", "m"),
    ]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("$a b", "the name of a command depends on an expansion"),
        ("/bin/?cho a", "the name of a command depends on an expansion"),
        ("{a,b} c", "the name of a command depends on an expansion"),
        ("~/a", "the name of a command depends on an expansion"),
        ("PATH=/x; a", "it sets a variable for later commands"),
        ("a() { b; }", "it defines a function"),
        ("for a in b; do c; done", "it is not certain what `for` runs"),
        ("case a in b) c;; esac", "it is not certain what `case` runs"),
        ("[[ a ]]", "it is not certain what `[[` runs"),
        ("a $((b))", "the value of arithmetic is not known"),
        ("a ${b:-c}", "an expansion does more than give a variable"),
        ("a 'b", "a quote is not closed"),
        ('a "b', "a quote is not closed"),
        ("a `b", "a backquote is not closed"),
        ("a $(b", "a bracket or a here-document is not closed"),
        ("a )", "a bracket is closed that was not opened"),
        ("a <<E\nb", "a here-document is not closed"),
        ('a "$\\\n(b)"', "a line is continued inside a word"),
        ("a >", "a redirection has no target"),
        ("a " + "$(" * 300, "it is nested too deeply"),
    ],
)
def test_what_cannot_be_told_is_opaque(command: str, why: str) -> None:
    assert read_command(command).opaque == why


@pytest.mark.parametrize("command", ["a b", "a $b ${c}", "a *.py ~/x", "a {b,c}", "X=1 a", "a $'b\\'c' d", "a [b]"])
def test_what_can_be_told_is_not(command: str) -> None:
    assert read_command(command).opaque == ""


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("npm test", ["npm test"]),
        ("timeout 5 npm test", ["timeout 5 npm test", "npm test"]),
        ("timeout --unknown 5 npm", ["timeout --unknown 5 npm"]),
        ("nice -n 5 nohup stdbuf -oL npm test", ["nice -n 5 nohup stdbuf -oL npm test", "npm test"]),
        ("xargs grep a", ["xargs grep a", "grep a"]),
        ("xargs -n1 grep a", ["xargs -n1 grep a"]),
        ("LANG=C npm test", ["npm test"]),
        ("LD_PRELOAD=x npm test", ["LD_PRELOAD=x npm test"]),
        ("LANG=$x npm test", ["LANG=$x npm test"]),
    ],
)
def test_only_harmless_clothes_are_taken_off_to_permit(command: str, texts: list[str]) -> None:
    assert allowed_texts(read_command(command).parts[-1]) == texts


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "'rm' x",
        "r\\m x",
        "sudo -u ann rm x",
        "env A=1 rm x",
        "timeout 5 nohup rm x",
        "find . -exec rm x ;",
        "xargs -n1 rm x",
        "bash -c 'cd /; rm x'",
        'eval "true && rm x"',
        "sudo sh -c \"bash -c 'rm x'\"",
    ],
)
def test_to_refuse_all_clothes_are_taken_off(command: str) -> None:
    texts = [text for part in read_command(command).parts for text in possible_texts(part)]
    assert [text for text in texts if text.removesuffix(" ;") == "rm x"]


def test_what_is_known_of_a_command():
    assert (find_command("/bin/cp").files, find_command("paint").files) == ("brings", "")


def test_the_words_of_the_last_command():
    assert last_words("cd a; grep x y") == ["grep", "x", "y"]


def test_words_without_wrappers():
    words = strip_wrappers(read_command("timeout -s KILL 5 nice npm test").parts[0].words)
    assert [word.text for word in words] == ["npm", "test"]


def test_commands_of_a_line():
    parts = read_command("cd a && ls | wc -l > n; echo $(date)").parts
    assert [part.text for part in parts] == ["cd a", "ls", "wc -l", "date", "echo $(date)"]
    assert read_command("$x y").opaque == "the name of a command depends on an expansion"
