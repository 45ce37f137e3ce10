"""The memory folder under the context of a model."""

import os

import pytest

from .scene import harness, live

NOTE = "---\nname: Deploys\ntype: project\n---\nOn Tuesdays.\n"
KEPT = {
    "2.1.197": (
        "---\nname: deploys\nmetadata: \n  node_type: memory\n  type: project\n  originSessionId: {}\n"
        "---\n\nOn Tuesdays.\n"
    ),
    "2.1.325": (
        "---\nname: deploys\nmetadata:\n  node_type: memory\n  type: project\n  originSessionId: {}\n"
        "  modified: 2026-01-02T03:04:05.678Z\n---\n\nOn Tuesdays.\n"
    ),
}


def store_of(place):
    agent = harness(place, [])
    return agent.memory.place.store


@pytest.mark.parametrize("version", KEPT)
def test_a_memory_is_kept_as_the_agent_keeps_it(place, version):
    path = f"{store_of(place)}/project_deploys.md"
    edit = ("Edit", {"file_path": path, "old_string": "Tuesdays", "new_string": "Fridays"})
    lines = [("Write", {"file_path": path, "content": NOTE}), "Saved.", edit, "Changed."]
    agent = harness(place, lines, version, clock=lambda: 1767323045.678)
    agent.prompt("Remember it.")
    with open(path, encoding="utf-8") as file:
        assert file.read() == KEPT[version].format(agent.session)
    assert [each.name for each in agent.memory.memories()] == ["deploys"]
    agent.prompt("Fridays.")
    assert agent.memory.get("deploys").body == "On Fridays."


def test_an_old_memory_says_how_old_it_is(place):
    path = place.write(os.path.relpath(f"{store_of(place)}/project_old.md", place.root), NOTE)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    agent = harness(place, [("Read", {"file_path": path}), "Read."], clock=lambda: 1_700_000_000 + 3 * 86_400)
    agent.prompt("Read it.")
    (result,) = live(agent)[-2]["content"]
    assert result["content"].startswith("<system-reminder>This memory is 3 days old.")


@pytest.mark.parametrize("policy", ["confirm", "manual", "read-only"])
def test_who_may_write_is_a_setting(place, policy):
    place.git("init -q")
    place.write("proj/.foretold.toml", f'[memory]\npolicy = "{policy}"\n')
    path = f"{store_of(place)}/project_deploys.md"
    agent = harness(place, [("Write", {"file_path": path, "content": NOTE}), "Hm."])
    agent.prompt("Remember it.")
    (result,) = live(agent)[-2]["content"]
    assert (result["is_error"], f'policy = "{policy}"' in result["content"], os.path.exists(path)) == (
        True,
        True,
        False,
    )


def test_a_credential_is_no_memory(place):
    path = f"{store_of(place)}/project_key.md"
    agent = harness(place, [("Write", {"file_path": path, "content": "AKIA" + "ABCDEFGHIJKLMNOP"}), "Hm."])
    agent.prompt("Remember it.")
    assert (live(agent)[-2]["content"][0]["is_error"], os.path.exists(path)) == (True, False)


def test_other_files_are_left_alone(place):
    path = place.path("proj/note.md")
    agent = harness(place, [("Write", {"file_path": path, "content": NOTE}), "Saved."])
    agent.prompt("Write it.")
    with open(path, encoding="utf-8") as file:
        assert file.read() == NOTE
