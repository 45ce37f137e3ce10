"""Calls of tools: what Claude Code was recorded to answer, and the order in which a call is looked at."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from foretold.errors import StoreFailed
from foretold.harness.permissions.check import Permission, PermissionVerdict
from foretold.harness.tools.registry import DEFAULT_TOOLS, Result, Tool, ToolContext, run_tool, tool_definitions

RECORDED = [
    json.loads(line) for line in (Path(__file__).parent / "recorded_tools.jsonl").read_text("utf-8").splitlines()
]
PATH = "/usr/bin:/bin"


def hands_in(folder: Path, **given: object) -> ToolContext:
    home = folder.parent / "home"
    given.setdefault("permission", Permission("bypass", cwd=folder, home=home))
    return ToolContext(folder, home=home, env={"PATH": PATH, "HOME": str(home)}, **given)  # type: ignore[arg-type]


def call(context: ToolContext, tool: str, **given: object) -> Result:
    return run_tool(context, DEFAULT_TOOLS, {"type": "tool_use", "id": "toolu_1", "name": tool, "input": given})


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_answers_are_those_of_the_agent(tmp_path: Path, number: int) -> None:
    recorded = RECORDED[number]
    root = Path(os.path.realpath(tmp_path))
    (root / "proj").mkdir()
    for name, text in recorded["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for command in recorded["setup"]:
        subprocess.run(["bash", "-c", command], cwd=root / "proj", check=True, env={"PATH": PATH, "HOME": str(root)})
    settings = Permission.load(root / "proj", home=root, env={}, managed=str(root / "none"), mode="bypass")
    context = hands_in(root / "proj", permission=settings)
    for step in recorded["steps"]:
        given = json.loads(json.dumps(step["input"]).replace("{root}", str(root)))
        result = call(context, step["tool"], **given)
        assert str(result.content).replace(str(root), "{root}") == step["content"], step
        if isinstance(step["value"], dict):
            value = json.loads(json.dumps(result.value).replace(str(root), "{root}"))
            for key in ("durationMs", "totalFiles", "totalLines"):
                value.pop(key, None)
            assert value == step["value"], step


def test_a_call_is_looked_at_in_order(tmp_path: Path) -> None:
    context = hands_in(tmp_path, permission=Permission("dontAsk", deny=["Read(./no)"], cwd=tmp_path, home=tmp_path))
    assert call(context, "Paint").content == "<tool_use_error>Error: No such tool available: Paint</tool_use_error>"
    assert call(context, "Read", path="no").content == (
        "<tool_use_error>InputValidationError: Read failed due to the following issues:\n"
        "The required parameter `file_path` is missing\nAn unexpected parameter `path` was provided</tool_use_error>"
    )
    denied = call(context, "Read", file_path="no")
    said = "File is in a directory that is denied by your permission settings."
    assert denied == Result(
        f"<tool_use_error>{said}</tool_use_error>",
        is_error=True,
        value=f"Error: {said}",
        verdict=PermissionVerdict("deny", said, "Read(./no)"),
    )
    assert call(context, "Read", file_path="other").outcome is not None


def test_what_has_to_be_asked_is_asked_with_the_call_and_the_reason(tmp_path: Path) -> None:
    seen: list[tuple[object, PermissionVerdict]] = []

    def ask(call: object, verdict: PermissionVerdict) -> bool:
        seen.append((call, verdict))
        return len(seen) == 1

    permission = Permission(cwd=tmp_path, home=tmp_path)
    context = hands_in(tmp_path, permission=permission, ask=ask)
    assert not call(context, "Write", file_path="a.txt", content="a").is_error
    again = call(context, "Write", file_path="b.txt", content="b")
    said = f"Writing to {tmp_path}/b.txt needs the user's permission."
    told = (
        f"{said} The user was asked and said no. It was not done: do not try it in another way, ask what to do instead."
    )
    assert (again.content, again.is_error, again.verdict) == (told, True, PermissionVerdict("deny", told))
    asked = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": {"file_path": "b.txt", "content": "b"}}
    assert seen[1] == (asked, PermissionVerdict("ask", said))
    assert sorted(os.listdir(tmp_path)) == ["a.txt"]


def test_nobody_to_ask_means_no(tmp_path: Path) -> None:
    context = hands_in(tmp_path, permission=Permission(cwd=tmp_path, home=tmp_path))
    refused = call(context, "Bash", command="touch a")
    said = "This command requires approval. No one can be asked here, so it was not done."
    said += " Do without it, or tell the user which permission is missing."
    assert (refused.content, refused.is_error) == (said, True)
    assert os.listdir(tmp_path) == []


def test_faults_of_the_machine_are_answers(tmp_path: Path) -> None:
    def refuse(_path: str) -> None:
        raise StoreFailed("the disk is full")

    context = hands_in(tmp_path, before_edit=refuse)
    result = call(context, "Write", file_path="a.txt", content="a")
    assert (result.content, result.is_error) == ("Write failed: the disk is full", True)
    assert os.listdir(tmp_path) == []

    def run(_hands: ToolContext, _given: object) -> Result:
        raise OSError("no space")

    broken = Tool("Broken", "", {"type": "object"}, run)
    assert run_tool(context, [broken], {"name": "Broken", "input": {}}).content == "Broken failed: no space"


def test_definitions_are_what_a_model_is_told() -> None:
    told = tool_definitions(DEFAULT_TOOLS)
    assert [sorted(one) for one in told] == [["description", "input_schema", "name"]] * 6
    json.dumps(told)
    for one in told:
        schema = one["input_schema"]
        assert isinstance(schema, dict)
        assert set(schema["required"]) <= set(schema["properties"])
        assert schema["additionalProperties"] is False


def test_a_result_is_a_block() -> None:
    assert Result("no", is_error=True).block("t") == {
        "tool_use_id": "t",
        "type": "tool_result",
        "content": "no",
        "is_error": True,
    }


ANY = {"type": "object", "properties": {}}


def used(run: object) -> Result:
    context = ToolContext(
        "/repo", home="/home/ann", env={}, permission=Permission("bypass", cwd="/repo", home="/home/ann")
    )
    return run_tool(context, [Tool("Own", "Does.", ANY, run)], {"id": "t", "name": "Own", "input": {}})  # type: ignore[arg-type]


def test_a_tool_that_raises_is_an_answer_and_a_fault() -> None:
    said = "Own failed: KeyError: 'bread'"
    assert used(lambda context, given: given["bread"]) == Result(said, True, f"Error: {said}", fault=said)


def test_a_text_is_as_good_as_a_result() -> None:
    assert used(lambda context, given: "hot") == Result("hot")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "it returned no Result but NoneType"),
        ({"a": 1}, "it returned no Result but dict"),
        (Result(None), "the content of its Result is neither a text nor blocks"),  # type: ignore[arg-type]
        (Result(["a"]), "the content of its Result is neither a text nor blocks"),  # type: ignore[list-item]
        (
            Result("a", value={1, 2}),
            "its Result cannot be written as JSON: Object of type set is not JSON serializable",
        ),
    ],
)
def test_what_no_model_can_be_sent_is_a_fault(given: object, said: str) -> None:
    result = used(lambda context, _: given)
    assert (result.content, result.fault, result.is_error) == (f"Own failed: {said}",) * 2 + (True,)


def test_of_a_long_text_the_middle_is_left_out() -> None:
    cut = "a" * 50_000 + "\n\n... [900000 characters truncated] ...\n\n" + "a" * 50_000
    assert used(lambda context, given: "a" * 1_000_000) == Result(cut)
    picture: dict[str, object] = {"type": "image", "source": {"data": "a" * 200_000}}
    blocks = [{"type": "text", "text": "a" * 1_000_000}, picture]
    assert used(lambda context, given: Result(blocks)) == Result([{"type": "text", "text": cut}, picture])
