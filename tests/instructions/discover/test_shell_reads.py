"""Which shell commands plainly read a file: the examples of D4 and D4a."""

import pytest
from hypothesis import given, strategies as st

from foretold.instructions.discover.shell_reads import files_read, folder_after
from foretold.text.shell.parse import read_tokens

READS = {
    "cat f": ["f"],
    "cat -n f": ["f"],
    "cat ./a/f": ["./a/f"],
    "cat /abs/f": ["/abs/f"],
    "cat 'a b'": ["a b"],
    'cat "a b"': ["a b"],
    "cat a\\ b": ["a b"],
    "cat 'a'\"b\"c": ["abc"],
    "cat f ": ["f"],
    "  cat   f": ["f"],
    "cat f\n": ["f"],
    "head f": ["f"],
    "head -n 5 f": ["f"],
    "head -n5 f": ["f"],
    "head -3 f": ["f"],
    "tail f": ["f"],
    "tail -n 5 f": ["f"],
    "tail -2 f": ["f"],
    "sed -n 2p f": ["f"],
    "sed -n 1,5p f": ["f"],
    "sed -n '1,5p' f": ["f"],
    "nl f": ["f"],
    "grep x f": ["f"],
    "grep -n x f": ["f"],
    "grep -i x f": ["f"],
    "grep -ni x f": ["f"],
    "grep -E 'x+' f": ["f"],
    "grep -A1 x f": ["f"],
    "egrep x f": ["f"],
    "egrep -n x f": ["f"],
    "fgrep x f": ["f"],
    "rg x f": ["f"],
    "(cat f)": ["f"],
    "VAR=x cat f": ["f"],
    "cat f # why": ["f"],
    "cat f#1": ["f#1"],
    # the first command of a loop
    "for x in a; do cat f; done": ["f"],
    "while cat f; do true; done": ["f"],
    # names are taken as they are spelled: such a file is hardly there
    "cat *.ts": ["*.ts"],
    "cat f?": ["f?"],
    "cat [ab]": ["[ab]"],
    "cat {a,b}": ["{a,b}"],
    "cat ~/f": ["~/f"],
    "cat !f": ["!f"],
    # beside it
    "true; cat f": ["f"],
    "cat f; true": ["f"],
    "true && cat f": ["f"],
    "cat f && echo done": ["f"],
    "echo start\ncat f": ["f"],
    "printf '%s' x; cat f": ["f"],
    "cat f; cat g": ["f", "g"],
    "cat f && cat g": ["f", "g"],
    "cat f\nhead g": ["f", "g"],
}

OPAQUE = [
    # D4: not
    "cat f g",
    "cat $F",
    "cat ${F}",
    'cat "$F"',
    "cat `echo f`",
    "cat $(echo f)",
    "cat f | head",
    "grep 'x|y' f",
    "echo x | cat f",
    "cat < f",
    "cat f > g",
    "cat f >> g",
    "cat f 2>/dev/null",
    "cat f 2>&1",
    "cd a && cat f",
    "head -c 5 f",
    "sed 1p f",
    "sed -i s/a/b/ f",
    "ls f",
    "ls",
    "find . -name f",
    "grep -r x dir",
    "wc f",
    "awk '{print}' f",
    "cp f g",
    "tac f",
    "more f",
    "less f",
    "python f",
    "bat f",
    "env cat f",
    "git diff f",
    "echo f",
    "printf f",
    "true",
    # D4a: not beside it
    "cat f; ls",
    "cat f && pwd",
    "cat f; wc g",
    "cd . && cat f",
    "sleep 1; cat f",
    "export A=1; cat f",
    "git status; cat f",
    ": ; cat f",
    "false; cat f",
    "cat f && grep x g",
    "cat f; grep x g",
    "cat f || true",
    "true || cat f",
    "cat f; echo x | wc",
    "cat f; echo x > g",
    "cat f &",
    "cat f & cat g",
    # D4a: not these forms
    "cat -A f",
    "cat -- f",
    "/bin/cat f",
    "grep -c x f",
    "grep -e x f",
    "sed -n -e 1p f",
    "sed -n /x/p f",
    "nl -ba f",
    "tail -n +2 f",
    "tail -f f",
    # nothing at all
    "",
    "   ",
    "\n\n",
    "# cat f",
    "cat",
    "cat ''",
    "head",
    "head -n 5",
    "sed -n 1p",
    "grep x",
    "A=1",
    # what is not finished
    "cat 'f",
    'cat "f',
    "cat f\\",
    "if true; then cat f; fi",
    "! cat f",
    "cat <<EOF\nf\nEOF",
]


@pytest.mark.parametrize(("command", "files"), READS.items(), ids=READS.keys())
def test_commands_that_read(command, files):
    assert [reading.path for reading in files_read(command)] == files


@pytest.mark.parametrize(
    ("command", "first"), [("cat f", 1), ("head -n 3 f", 1), ("sed -n 7p f", 7), ("sed -n 12,20p f", 12), ("nl f", 1)]
)
def test_the_first_line_that_is_asked_for(command, first):
    assert [(read.path, read.first) for read in files_read(command)] == [("f", first)]


@pytest.mark.parametrize("command", OPAQUE)
def test_commands_that_do_something_else(command):
    assert files_read(command) == []


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("cd a", "/p/a"),
        ("cd a; cd b", "/p/a/b"),
        ("cd ..", "/"),
        ("cd /x/y", "/x/y"),
        ("cd 'a b' && ls", "/p/a b"),
        ("ls", "/p"),
        ("cd", "/p"),
        ("cd a b", "/p"),
        ("cd $HOME", "/p"),
        ("echo cd a", "/p"),
        ("", "/p"),
    ],
)
def test_where_the_shell_is_afterwards(command, folder):
    assert folder_after(command, "/p") == folder


SHELL = st.text(st.sampled_from("cat f-n'\"\\;&|<>()$`*?[]{}#!~=\n\t sedgrphx1,/."), max_size=40)


@given(SHELL)
def test_no_command_raises(command):
    assert all(reading.path and reading.first > 0 for reading in files_read(command))
    assert folder_after(command, "/p").startswith("/")
    assert isinstance(read_tokens(command), list)


@pytest.mark.parametrize("piece", ["'", '"', "\\", "(", "a=", '"\\', "a\\ ", "#", "cat f;", "$", "-n "])
def test_long_commands_end(piece):
    assert isinstance(files_read(piece * 20_000), list)


def test_commands_one_after_the_other():
    found = files_read("cat a; head -n 3 b; true && sed -n 2,4p c")
    assert [(read.path, read.first, read.most) for read in found] == [("a", 1, None), ("b", 1, 3), ("c", 2, 3)]
    assert (files_read("cat a | head"), files_read("wc -l a")) == ([], [])


def test_words_and_operators():
    tokens = read_tokens("cat 'a b' && echo $HOME")
    assert [token if isinstance(token, str) else token.text for token in tokens] == ["cat", "a b", "&&", "echo", ""]
