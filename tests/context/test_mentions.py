"""Mentions, as two versions of the agent recorded them for the files below (mentions.jsonl)."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from foretold.context.attachments import TurnAttachment, texts
from foretold.context.mentions import PromptMention, parse_mentions, resolve_mentions
from foretold.dialects.claude_code.context import turn_context_of
from foretold.types import Skip

V2_1_197, V2_1_325 = turn_context_of("claude-code@2.1.197"), turn_context_of("claude-code@2.1.325")

with open(os.path.join(os.path.dirname(__file__), "mentions.jsonl"), encoding="utf-8") as file:
    MENTIONS: list[dict[str, Any]] = [json.loads(line) for line in file]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = (
    b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 3 3]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)
CELL = {"cell_type": "code", "source": ["1+1"], "outputs": [], "metadata": {}, "execution_count": None, "id": "a"}
BOOK = {"cells": [CELL], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
FILES: dict[str, bytes | str] = {
    "a.txt": "alpha\nbeta\ngamma\n",
    "b c.txt": "spaced\n",
    "dir/x.py": "x=1\n",
    "dir/sub/y.py": "y\n",
    "dir/.hid": "h",
    "noeol.txt": "one\ntwo",
    "empty.txt": "",
    "crlf.txt": "a\r\nb\r\n",
    "bom.txt": b"\xef\xbb\xbfx\ny\n",
    "bin.dat": bytes(range(256)),
    "latin.txt": b"caf\xe9\n",
    "img.png": base64.b64decode(PNG),
    "doc.pdf": PDF,
    "nb.ipynb": json.dumps(BOOK),
    "long.txt": "".join(f"line {number}\n" for number in range(1, 3001)),
    "k257.txt": ("y" * 63 + "\n") * (257 * 16),
    "k300.txt": ("y" * 63 + "\n") * (300 * 16),
    "tabs.txt": "a\tb\n\n\nc\n",
    "a.b-c_d+e.txt": "w\n",
    "ümlaut.txt": "ü\n",
    "(paren).txt": "p\n",
    "x,y.txt": "c\n",
    "nl.txt": "\n",
    "two.txt": "\n\n",
    "data.json": "{}\n",
    "Makefile": "all:\n",
    "secret.env": "K=V\n",
    "only.txt#L2": "hash\n",
    "trail.txt.": "dot\n",
    "many/f0001": "",
    "many/f0002": "",
    "../out.txt": "outside\n",
    "../home/h.txt": "home\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("mentions") / "proj"
    for name, content in FILES.items():
        path = Path(os.path.normpath(root / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (root / "link.txt").symlink_to("a.txt")
    (root / "ldir").symlink_to("dir")
    (root / "edir").mkdir()
    return os.path.realpath(root)


def _ordered(record: dict[str, Any]) -> dict[str, Any]:
    """The names in a folder have the file system's order, which differs between machines."""
    return {**record, "content": sorted(record["content"].split("\n"))} if record["type"] == "directory" else record


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
@pytest.mark.parametrize("case", MENTIONS, ids=lambda case: repr(case["prompt"]))
def test_a_prompt_attaches_what_the_agent_attached(case: dict[str, Any], version: str, folder: str) -> None:
    home = os.path.join(os.path.dirname(folder), "home")
    found = resolve_mentions(
        case["prompt"], folder, agent=f"claude-code@{version}", home=home, agents=["Explore", "Plan"]
    ).attachments
    records = [json.loads(json.dumps(each.record).replace(folder, "{cwd}")) for each in found]
    records = json.loads(json.dumps(records).replace(os.path.dirname(folder), "{root}"))
    expected = case["both"] if "both" in case else case[version]
    if "both" in case and version == "2.1.325":
        expected = [
            {**each, "savedCopyFraming": {"enveloped": False}} if each["type"] == "file" else each for each in expected
        ]
    if case["prompt"] == "@doc.pdf" and version == "2.1.325":
        records[0]["content"]["file"]["base64"] = ""  # it keeps the bytes of a PDF out of its transcript
    assert [_ordered(each) for each in records] == [_ordered(each) for each in expected]


def test_a_file_may_be_called_like_an_agent(tmp_path: Path) -> None:
    (tmp_path / "agent-notes.txt").write_text("x\n")
    found = resolve_mentions("@agent-notes.txt and @agent-Plan", tmp_path, agents=["Plan"]).attachments
    assert [each.fields.get("displayPath", each.type) for each in found] == ["agent-notes.txt", "agent_mention"]


@pytest.mark.parametrize(
    "prompt", ["@\0", "@a\ud800b", "@" + "!" * 100_000, "@" + "a/" * 5000, '@"' + "x" * 100_000, "@~/"]
)
def test_hostile_prompts_attach_nothing(prompt: str, tmp_path: Path) -> None:
    assert resolve_mentions(prompt, tmp_path, home=str(tmp_path / "none")).attachments == ()


def test_quoted_mentions_come_first() -> None:
    assert parse_mentions('@a.txt @"b c.txt" @dir/x.py @"a.txt"') == [
        PromptMention("b c.txt"),
        PromptMention("a.txt"),
        PromptMention("dir/x.py"),
    ]


def test_a_folder_shows_its_first_thousand_names(tmp_path: Path) -> None:
    for number in range(1100):
        (tmp_path / f"f{number:04}").touch()
    (found,) = resolve_mentions(f"@{tmp_path}", tmp_path).attachments
    lines = str(found.fields["content"]).split("\n")
    assert (len(lines), lines[-1]) == (1001, "… and 100 more entries")


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"text")
    (tmp_path / "long.txt").write_text("word and more\n" * 8000)
    (tmp_path / "bare").write_bytes(b"x" * 300_000)
    here = os.path.realpath(tmp_path)
    found = resolve_mentions("@no.txt @a.zip @long.txt @bare", here)
    assert found.attachments == ()
    assert found.skips == (
        Skip(f"{here}/no.txt", "missing"),
        Skip(f"{here}/a.zip", "not-a-text-file", "the agent attaches no .zip of this content"),
        Skip(f"{here}/long.txt", "too-large", "more than 25,000 tokens"),
        Skip(f"{here}/bare", "too-large", "300000 bytes, the limit is 262144"),
    )


def test_utf16_is_text_in_the_later_version(tmp_path: Path) -> None:
    (tmp_path / "u.txt").write_bytes("a\nb\n".encode("utf-16"))

    def content(version: str) -> object:
        (found,) = resolve_mentions("@u.txt", tmp_path, agent=f"claude-code@{version}").attachments
        return found.fields["content"]["file"]["content"]  # type: ignore[index]

    assert (content("2.1.325"), content("2.1.197")) == ("a\nb\n", "\ufffd\ufffda\0\n\0b\0\n\0")


def test_a_notebook_is_shown_with_its_outputs(tmp_path: Path) -> None:
    outputs = [
        {"output_type": "execute_result", "data": {"text/plain": ["1"]}},
        {"output_type": "stream", "name": "stdout", "text": ["out\n"]},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["tb"]},
    ]
    cells = [
        {"cell_type": "markdown", "source": "# T\n"},
        {"cell_type": "code", "source": ["a=1\n", "a"], "outputs": outputs, "execution_count": 3},
    ]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": {"language": "r"}}}))
    (found,) = resolve_mentions("@n.ipynb", tmp_path).attachments
    said = (
        '[{"text":"<cell id=\\"cell-0\\"><cell_type>markdown</cell_type># T\\n</cell id=\\"cell-0\\">\\n'
        '<cell id=\\"cell-1\\">a=1\\na</cell id=\\"cell-1\\">\\n\\n1\\n\\nout\\n\\n\\nE: v\\ntb","type":"text"}]'
    )
    assert texts(found, V2_1_325)[1] == f"Result of calling the Read tool:\n{said}"


def test_lines_past_the_end() -> None:
    file = {"filePath": "/a", "content": "", "numLines": 0, "startLine": 9, "totalLines": 4}
    found = TurnAttachment("file", {"filename": "/a", "content": {"type": "text", "file": file}})
    said = "Warning: the file exists but is shorter than the provided offset (9). The file has 4 lines."
    for around in (V2_1_197, V2_1_325):
        assert texts(found, around)[1] == f"Result of calling the Read tool:\n<system-reminder>{said}</system-reminder>"
