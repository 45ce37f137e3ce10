"""Read, Write and Edit as tools: who is told, what a transcript gets, images."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from foretold.harness.permissions.check import Permission
from foretold.harness.tools.files import hunks_of
from foretold.harness.tools.registry import DEFAULT_TOOLS, Result, ToolContext, run_tool

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def hands_in(folder: Path, **given: object) -> ToolContext:
    return ToolContext(folder, home=folder, env={}, permission=Permission("bypass", cwd=folder, home=folder), **given)  # type: ignore[arg-type]


def call(context: ToolContext, tool: str, **given: object) -> Result:
    return run_tool(context, DEFAULT_TOOLS, {"type": "tool_use", "id": "toolu_1", "name": tool, "input": given})


def test_a_file_is_told_of_before_it_is_changed_and_only_then(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    def before(path: str) -> None:
        told.append((os.path.basename(path), Path(path).read_text("utf-8") if os.path.exists(path) else "-"))

    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    context = hands_in(tmp_path, before_edit=before)
    assert call(context, "Edit", file_path="a.txt", old_string="one", new_string="two").is_error  # not read
    assert told == []
    call(context, "Read", file_path="a.txt")
    assert call(context, "Edit", file_path="a.txt", old_string="none", new_string="two").is_error
    assert told == []
    assert not call(context, "Edit", file_path="a.txt", old_string="one", new_string="two").is_error
    assert not call(context, "Write", file_path="sub/b.txt", content="b").is_error
    assert told == [("a.txt", "one\n"), ("b.txt", "-")]
    assert (tmp_path / "a.txt").read_text("utf-8") == "two\n"


def test_paths_are_those_that_were_read_or_changed(tmp_path: Path) -> None:
    context = hands_in(tmp_path)
    assert call(context, "Write", file_path="a.txt", content="a").paths == (f"{tmp_path}/a.txt",)
    assert call(context, "Read", file_path="a.txt").paths == (f"{tmp_path}/a.txt",)
    assert call(context, "Read", file_path="none").paths == ()


def test_an_image_comes_as_one(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    (tmp_path / "not.png").write_bytes(b"text")
    context = hands_in(tmp_path)
    data = base64.b64encode(PNG).decode()
    result = call(context, "Read", file_path="dot.png")
    assert result.content == [{"type": "image", "source": {"type": "base64", "data": data, "media_type": "image/png"}}]
    assert (
        call(context, "Read", file_path="not.png").content == f"{tmp_path}/not.png is not an image, despite its name."
    )


def test_a_pdf_comes_as_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    data = base64.b64encode(b"%PDF-1.4").decode()
    assert call(hands_in(tmp_path), "Read", file_path="a.pdf").content == [
        {"type": "text", "text": f"PDF file read: {tmp_path}/a.pdf (8 bytes)"},
        {"type": "document", "source": {"type": "base64", "data": data, "media_type": "application/pdf"}},
    ]


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 one\n")
    context = hands_in(tmp_path)
    call(context, "Read", file_path="a.txt")
    result = call(context, "Edit", file_path="a.txt", old_string="one", new_string="two")
    assert str(result.content).endswith("\n\nNote: bytes that are not UTF-8 were replaced by U+FFFD.")


def test_hunks_have_three_lines_around_what_changed() -> None:
    before = "".join(f"{number}\n" for number in range(1, 31))
    after = before.replace("5\n", "five\n", 1).replace("28\n", "").replace("30\n", "30")
    assert hunks_of(before, after) == [
        {
            "oldStart": 2,
            "oldLines": 7,
            "newStart": 2,
            "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"],
        },
        {
            "oldStart": 25,
            "oldLines": 6,
            "newStart": 25,
            "newLines": 5,
            "lines": [" 25", " 26", " 27", "-28", " 29", "-30", "+30", "\\ No newline at end of file"],
        },
    ]
    assert hunks_of("a\n", "a\n") == []
    assert hunks_of("", "a\n") == [{"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+a"]}]


def test_hunks_lead_from_one_text_to_the_other() -> None:
    import random

    rnd = random.Random(3)
    for _ in range(200):
        old = [rnd.choice("abc") for _ in range(rnd.randint(0, 30))]
        new = [line for line in old if rnd.random() > 0.2]
        for _ in range(rnd.randint(0, 3)):
            new.insert(rnd.randint(0, len(new)), rnd.choice("abcd"))
        hunks = hunks_of("".join(line + "\n" for line in old), "".join(line + "\n" for line in new))
        assert _applied(old, hunks) == new


def _applied(old: list[str], hunks: list[dict[str, object]]) -> list[str]:
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start, lines = hunk["oldStart"], hunk["lines"]
        assert isinstance(start, int)
        assert isinstance(lines, list)
        made += old[at : start - 1]
        at = start - 1
        for line in lines:
            if line[0] != "+":
                assert old[at] == line[1:]
                at += 1
            if line[0] != "-":
                made.append(line[1:])
    return made + old[at:]
