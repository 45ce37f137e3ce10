"""Agents that are known from source or documents: which files they take, in which order. Recorded ones have cases."""

import pytest

from foretold.dialects.registry import AGENTS, dialects_of

TS = "---\n{}: '**/*.ts'\n---\nTS\n"


@pytest.mark.parametrize(
    ("agent", "files", "told", "skipped"),
    [
        ("zed", {"AGENTS.md": "A", ".rules": "R", "CLAUDE.md": "C"}, [".rules"], ["AGENTS.md", "CLAUDE.md"]),
        (
            "crush",
            {"AGENTS.md": "A", "CRUSH.md": "X", ".cursor/rules/a/b.mdc": "R"},
            ["AGENTS.md", "CRUSH.md", ".cursor/rules/a/b.mdc"],
            [],
        ),
        ("crush", {"agents.md": "lower"}, [], []),
        (
            "goose",
            {".goosehints": "H @docs/x.md", "AGENTS.md": "A", "docs/x.md": "X"},
            [".goosehints", "AGENTS.md"],
            [],
        ),
        (
            "roo",
            {
                "AGENTS.md": " ",
                "AGENT.md": "A",
                "AGENTS.local.md": "L",
                ".roo/rules/B.md": "b",
                ".roo/rules/a.txt": "a",
            },
            ["AGENT.md", "AGENTS.local.md", ".roo/rules/a.txt", ".roo/rules/B.md"],
            ["AGENTS.md"],
        ),
        (
            "vscode-copilot",
            {
                "AGENTS.md": "A",
                ".github/instructions/t.instructions.md": TS.format("applyTo"),
                ".github/instructions/n.instructions.md": "N",
            },
            ["AGENTS.md"],
            [".github/instructions/n.instructions.md", ".github/instructions/t.instructions.md"],
        ),
        (
            "cursor",
            {
                ".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nA",
                ".cursor/rules/t.mdc": TS.format("globs"),
                ".cursor/rules/x.md": "X",
            },
            [".cursor/rules/a.mdc"],
            [".cursor/rules/t.mdc", ".cursor/rules/x.md"],
        ),
        (
            "windsurf",
            {
                ".windsurf/rules/a.md": "A",
                ".windsurf/rules/m.md": "---\ntrigger: manual\n---\nM",
                "AGENTS.md": "x" * 13_000,
            },
            [".windsurf/rules/a.md"],
            [".windsurf/rules/m.md", "AGENTS.md"],
        ),
        ("amp", {"AGENT.md": "A", "CLAUDE.md": "C"}, ["AGENT.md"], ["CLAUDE.md"]),
        (
            "kiro",
            {".kiro/steering/a.md": "A", ".kiro/steering/m.md": "---\ninclusion: manual\n---\nM", "AGENTS.md": "G"},
            [".kiro/steering/a.md", "AGENTS.md"],
            [".kiro/steering/m.md"],
        ),
        ("warp", {"WARP.md": "W", "AGENTS.md": "A"}, ["WARP.md"], ["AGENTS.md"]),
        ("junie", {".junie/guidelines.md": "G", "AGENTS.md": "A"}, ["AGENTS.md"], [".junie/guidelines.md"]),
        (
            "aider",
            {".aider.conf.yml": "read: [CONVENTIONS.md]", "CONVENTIONS.md": "C", "AGENTS.md": "A"},
            ["CONVENTIONS.md"],
            [],
        ),
        (
            "deepagents",
            {".deepagents/AGENTS.md": "D <!-- c -->", "AGENTS.md": "A"},
            [".deepagents/AGENTS.md", "AGENTS.md"],
            [],
        ),
    ],
)
def test_what_an_agent_takes(place, agent, files, told, skipped):
    place.git("init -q .")
    for path, text in files.items():
        place.write(f"proj/{path}", text)
    view = place.load(agent=agent)
    assert [path.removeprefix("proj/") for path in place.told(view)] == told
    assert sorted(path.removeprefix("proj/") for path, _ in place.skipped(view)) == sorted(skipped)
    assert bool(view.text) == bool(told)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_table_says_how_sure_it_is(agent):
    for dialect in dialects_of(agent):
        assert dialect.agent == agent
        assert dialect.evidence in ("recorded", "source", "documented")


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_nothing_and_nonsense_raise_nothing(place, agent):
    assert place.load(agent=agent).entries == ()
    place.folder("proj/AGENTS.md")
    place.fifo("proj/CLAUDE.md")
    for name in (".clinerules", "GEMINI.md", "QWEN.md", ".rules", ".goosehints", "WARP.md"):
        place.write(f"proj/{name}", b"\xff\xfe\0 @x @./none.md `")
    for name in (
        ".codex/config.toml",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".config/opencode/opencode.json",
        ".continue/config.yaml",
    ):
        place.write(f"home/{name}", b"{[\xff")
    view = place.load(agent=agent)
    assert isinstance(view.text, str | None)
    assert all(finding.path for finding in view.findings)


def test_an_order_that_is_left_open_is_said(place):
    place.write("proj/AGENTS.md", "A")
    place.write("proj/CRUSH.md", "C")
    assert [code for _, _, code in place.found(place.load(agent="crush"))] == ["order-unspecified"]


def test_order_of_names(place):
    """Seen by probing Cline 3.0.65."""
    for name in ("B", "a b", "a_b", "a-b", "10", "9", "é", "_u", ".h", "$d", "~t"):
        place.write(f"proj/.clinerules/{name}.md", name)
    view = place.load(agent="cline")
    assert [entry.name for entry in view.entries] == ["_u", ".h", "~t", "$d", "10", "9", "a b", "a_b", "a-b", "B", "é"]


def test_odd_frontmatter_of_cline(place):
    """Seen by probing Cline 3.0.65."""
    place.write("proj/AGENTS.md", "---\nname: Mine\n---\nA")
    place.write("proj/.clinerules/n.md", "---\nname: 5\n---\nN")
    place.write("proj/.clinerules/d.md", "---\ndisabled: 'yes'\n---\nD")
    view = place.load(agent="cline")
    assert ([entry.name for entry in view.entries], {reason for _, reason in place.skipped(view)}) == (
        ["Mine"],
        {"bad-frontmatter"},
    )


def test_order_of_copilot(place):
    """Seen by probing Copilot CLI 1.0.102: the top, the working directory, then what is between, folder by folder."""
    place.git("init -q .")
    for folder in ("", "a/", "a/b/"):
        for name in ("CLAUDE.md", "AGENTS.md", ".github/copilot-instructions.md"):
            place.write(f"proj/{folder}{name}", folder + name)
    assert [path.removeprefix("proj/") for path in place.told(place.load("proj/a/b", agent="copilot-cli"))] == [
        *(".github/copilot-instructions.md", "a/b/.github/copilot-instructions.md"),
        *("AGENTS.md", "CLAUDE.md", "a/b/AGENTS.md", "a/b/CLAUDE.md"),
        *("a/.github/copilot-instructions.md", "a/AGENTS.md", "a/CLAUDE.md"),
    ]


def test_codex_goes_on_with_a_conversation(place):
    path = place.write("proj/AGENTS.md", "ONE")
    session = place.session(agent="codex")
    before = session.start()
    assert session.resume(before).blocks == ()
    place.write("proj/AGENTS.md", "TWO")
    (block,) = session.resume(before).blocks
    assert block.text == (
        f"# AGENTS.md instructions for {place.proj}\n\n<INSTRUCTIONS>\nThese AGENTS.md instructions replace all "
        "previously provided AGENTS.md instructions.\n\nTWO\n</INSTRUCTIONS>"
    )
    import os

    os.remove(path)
    (block,) = session.resume(before).blocks
    assert block.text == (
        "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nThe previously provided AGENTS.md instructions no longer apply.\n"
        "</INSTRUCTIONS>"
    )


def test_imports_of_copilot(place):
    """Seen by probing Copilot CLI 1.0.102: indented code is no code to it, and GEMINI.md imports nothing."""
    place.write("proj/x.md", "X")
    for name in ("AGENTS.md", "GEMINI.md"):
        place.write(f"proj/{name}", f"{name}\n\n    @x.md\n\n~~~\n@x.md\n~~~\n")
    agents, gemini = place.load(agent="copilot-cli").entries
    assert (agents.text.count("\nX\n</imported"), "imported" in gemini.text) == (1, False)


def test_code_of_qwen(place):
    """Seen by probing Qwen Code 0.24.4: indented code is code to it."""
    place.write("proj/x.md", "X")
    place.write("proj/QWEN.md", "Q\n\n    @x.md\n\n@x.md\n")
    (entry,) = place.load(agent="qwen-code").entries
    assert entry.text.startswith("Q\n\n    @x.md\n\n<!-- Imported from: x.md -->")
