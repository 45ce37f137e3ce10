import os

import pytest

from foretold.dialects.claude_code.files import rules_of
from foretold.files import ReadState
from foretold.files.read_state.notice import Notice, snippet_of, units_in

V2_1_197, V2_1_325 = rules_of("2.1.197"), rules_of("2.1.325")

LATER = 4_000_000_000


def changed(folder, texts, version="2.1.197"):
    """A state that has written files, which somebody else has changed since."""
    state = ReadState(folder, version=version)
    for name, text in texts.items():
        state.write(name, "mine\n")
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (LATER, LATER))
    return state


def test_a_change_is_told_once(tmp_path):
    state = changed(tmp_path, {"a.txt": "x\ny\n"})
    assert state.changed() == [
        Notice(
            f"{tmp_path}/a.txt",
            "1\tx\n2\ty",
            f"Note: {tmp_path}/a.txt was modified, either by the user or by a linter. This change was intentional, so"
            " make sure to take it into account as you proceed (ie. don't revert it unless the user asks you to). Don't"
            " tell the user this, since they are already aware. Here are the relevant changes (shown with line"
            " numbers):\n1\tx\n2\ty",
        )
    ]
    assert state.changed() == []
    assert state.read("a.txt").kind == "unchanged_stub"
    assert state.edit("a.txt", "x", "z").kind == "updated"


def test_the_attachment_of_a_transcript():
    assert Notice("/a", "1\tx", "…").attachment == {"type": "edited_text_file", "filename": "/a", "snippet": "1\tx"}


# measured: 8,190 and 8,191 letters, and lines that end at the limit
@pytest.mark.parametrize(
    ("text", "units", "tail"),
    [
        ("z" * 8190, 8192, "zzz"),
        ("q" * 8191, 8221, "qqq\n\n... [1 lines truncated] ..."),
        ("v" * 8189 + "\nb\n", 8220, "vvv\n\n... [1 lines truncated] ..."),
        ("u" * 8190 + "\nb\n", 8221, "uuu\n\n... [1 lines truncated] ..."),
        ("short\n" + "y" * 20000 + "\nend\n", 36, "1\tshort\n\n... [2 lines truncated] ..."),
        ("x" * 20000 + "\nend\nend2\n", 8221, "xxx\n\n... [3 lines truncated] ..."),
        ("😀" * 3000 + "\n" + "é" * 3000 + "\nend\n", 6031, "😀\n\n... [2 lines truncated] ..."),
        ("\n\n", 5, "1\t\n2\t"),
        ("a\nb\n\n\n", 13, "1\ta\n2\tb\n3\t\n4\t"),
    ],
)
def test_a_snippet_is_cut_behind_a_line(text, units, tail):
    snippet, is_whole = snippet_of(text, V2_1_197)
    assert (units_in(snippet), snippet[-len(tail) :], is_whole) == (units, tail, "truncated" not in tail)


# measured: two snippets of 8,192 and 8,191 units leave room for another, two of 8,192 do not
@pytest.mark.parametrize(("letters", "third"), [(8189, "1\tsmall"), (8190, ""), (8191, "")])
def test_the_budget_of_all_snippets(tmp_path, letters, third):
    state = changed(tmp_path, {"a": "z" * 8190, "b": "y" * letters, "c": "small\n", "d": "small\n"})
    assert [notice.snippet for notice in state.changed()][2:] == [third, ""]


OMITTED = {
    "2.1.197": "The diff was omitted because other modified files in this turn already exceeded the snippet budget; use"
    " the Read tool if you need the current content.",
    "2.1.325": "The changes are not shown here; use Read if you need the current content.",
}


@pytest.mark.parametrize(("version", "said"), OMITTED.items())
def test_what_is_said_without_a_snippet(tmp_path, version, said):
    state = changed(tmp_path, {"a": "z" * 9000, "b": "z" * 9000, "c": "small\n"}, version)
    assert state.changed()[2].text.endswith(f". {said}")
    assert state.edit("c", "small", "s").ok


def test_what_is_not_told(tmp_path):
    state = changed(tmp_path, {"same": "mine\n", "empty": "", "large": "x" * 262_145, "n.ipynb": "{}", "gone": "x"})
    os.remove(tmp_path / "gone")
    (tmp_path / "only-read").write_text("a\n")
    state.read("only-read")
    (tmp_path / "only-read").write_text("b\n")
    os.utime(tmp_path / "only-read", (LATER, LATER))
    state.write("older", "mine\n")
    (tmp_path / "older").write_text("other\n")
    os.utime(tmp_path / "older", (1, 1))
    assert state.changed() == []
    assert sorted(map(os.path.basename, state.entries)) == ["empty", "large", "n.ipynb", "older", "only-read", "same"]


def test_a_notice_that_is_cut_leaves_the_newer_model_without_the_whole(tmp_path):
    state = changed(tmp_path, {"a": "line\n" * 3000 + "end\n"}, "2.1.325")
    assert state.changed()[0].snippet.endswith("lines truncated] ...")
    assert state.edit("a", "end", "END").text == "The file a has been updated successfully."


def test_the_limits_are_the_same_in_both():
    assert (V2_1_197.snippet, V2_1_197.snippets) == (V2_1_325.snippet, V2_1_325.snippets)
