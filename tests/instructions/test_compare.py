"""Several agents side by side."""

import pytest

import foretold
from foretold.dialects.registry import AGENTS, EVIDENCE, find_agents
from foretold.errors import ForetoldError
from foretold.instructions.compare import Cell
from foretold.storage.layers import CachingDisk
from foretold.storage.tree import Disk, Fault


def compared(place, *agents, cwd="proj", **options):
    return foretold.compare(place.path(cwd), agents or None, home=place.home, managed=place.managed, env={}, **options)


def states(place, found):
    """Short path -> the state for each agent."""
    return {place.short(path): [found.cell(path, view).state for view in found.views] for path in found.paths}


@pytest.fixture
def repo(place):
    place.git("init -q .")
    place.write("proj/CLAUDE.md", "See @docs/a.md\n")
    place.write("proj/docs/a.md", "A\n")
    place.write("proj/AGENTS.md", "Agents\n")
    place.write("proj/.claude/rules/ts.md", "---\npaths: '*.ts'\n---\nTS\n")
    place.write("proj/.github/instructions/ts.instructions.md", "---\napplyTo: '**/*.ts'\n---\nTS\n")
    place.write("proj/src/x.ts")
    return place


def test_what_becomes_of_each_file(repo):
    found = compared(repo, "claude-code", "codex", "copilot-cli", "opencode")
    assert states(repo, found) == {
        "proj/AGENTS.md": ["never", "always", "always", "always"],
        "proj/CLAUDE.md": ["always", "", "always", "never"],
        "proj/docs/a.md": ["always", "", "always", ""],
        "proj/.claude/rules/ts.md": ["waits", "", "listed", ""],
        "proj/.github/instructions/ts.instructions.md": ["", "", "listed", ""],
    }
    assert found.cell(f"{repo.proj}/CLAUDE.md", found.views[3]) == Cell("never", reason="shadowed")
    assert found.cell(f"{repo.proj}/AGENTS.md", found.views[1]) == Cell("always", 1, 2)


def test_with_a_file_that_is_read(repo):
    found = compared(repo, "claude-code", "copilot-cli", read="src/x.ts")
    assert states(repo, found)["proj/.claude/rules/ts.md"] == ["read", "read"]
    assert states(repo, found)["proj/.github/instructions/ts.instructions.md"] == ["", "read"]


def test_a_rule_that_can_never_match_does_not_wait(place):
    place.write("proj/.claude/rules/r.md", "---\npaths: './src/**'\n---\nR\n")
    found = compared(place, "claude-code")
    assert found.cell(f"{place.proj}/.claude/rules/r.md", found.views[0]) == Cell("never", reason="no-match")


def test_files_of_folders_below_on_request(repo):
    repo.write("proj/app/AGENTS.md", "A")
    repo.write("proj/app/CLAUDE.md", "C")
    agents = ("claude-code", "codex", "opencode")
    assert "proj/app/AGENTS.md" not in states(repo, compared(repo, *agents))
    found = states(repo, compared(repo, *agents, nested=True))
    assert found["proj/app/AGENTS.md"] == ["never", "never", "nested"]
    assert found["proj/app/CLAUDE.md"] == ["nested", "", "never"]


def test_agents_whose_files_are_there_are_compared(place):
    """An AGENTS.md concerns agents that are not set up."""
    place.folder("home/.claude")
    assert [view.dialect.agent for view in compared(place).views] == ["claude-code"]
    place.write("proj/AGENTS.md", "A")
    found = compared(place)
    shown = [view.dialect.agent for view in found.views]
    assert shown == ["claude-code", "codex", "opencode", "copilot-cli", "qwen-code", "cline", "continue"]
    assert set(found.others) == set(AGENTS) - set(shown)


def test_what_is_cut(place):
    place.write("proj/AGENTS.md", "x" * 40_000)
    found = compared(place, "codex")
    assert found.cell(f"{place.proj}/AGENTS.md", found.views[0])[:1] + found.cell(
        f"{place.proj}/AGENTS.md", found.views[0]
    )[3:4] == (
        "cut",
        40_000 - 32_768,
    )


def test_the_agents_that_are_set_up(place):
    place.git("init -q .")
    place.write("proj/GEMINI.md")
    place.folder("home/.codex")
    place.write("bin/cline", mode=0o755)
    place.folder("proj/a")
    found = find_agents(Disk(), place.path("proj/a"), place.home, {"PATH": f"{place.path('bin')}:/nowhere"})
    assert found == ["codex", "gemini-cli", "cline"]


def test_none_is_set_up(place):
    found = [view.dialect.agent for view in compared(place).views]
    assert found == ["claude-code", "codex", "opencode", "gemini-cli", "copilot-cli", "qwen-code", "cline", "continue"]


def test_every_agent_loads_what_it_loads_alone(repo):
    found = compared(repo, *AGENTS)
    for view in found.views:
        alone = foretold.load(repo.proj, agent=view.dialect.agent, home=repo.home, managed=repo.managed, env={})
        assert view.text == alone.text, view
        assert view.entries == alone.entries


def test_every_agent_has_signs():
    assert set(AGENTS) - set(EVIDENCE) == {"code-assist", "ex-athena", "mink", "notes"}


def test_no_agent(place):
    with pytest.raises(ForetoldError, match="no agent to compare"):
        foretold.compare(place.proj, [], home=place.home, env={})
    with pytest.raises(foretold.UnknownAgent):
        compared(place, "emacs")
    with pytest.raises(foretold.NotAFolder):
        compared(place, "codex", cwd="nowhere")


def test_a_tree_that_remembers(place):
    path = place.write("proj/a/x.md", "one")
    tree = CachingDisk()
    assert [tree.read(path, 100), tree.kind(path), tree.read(path, 2)] == [
        b"one",
        "file",
        Fault("too-large", "3 bytes, the limit is 2"),
    ]
    place.write("proj/a/x.md", "two")
    place.write("proj/a/y.md")
    assert [tree.read(path, 100), tree.kind(place.path("proj/a/y.md"))] == [b"one", "missing"]
    assert tree.kind(place.path("proj/none/at/all")) == "missing"
    assert tree.is_missing(place.path("proj/a/x.md/y"))
    assert not tree.is_missing("/")


def test_an_agent_that_refuses_to_start_loads_nothing(place):
    path = place.write("proj/GEMINI.md", "G")
    found = compared(place, "gemini-cli", read="GEMINI.md", nested=True)
    assert found.cell(path, found.views[0]) == Cell("never", reason="not-started")
    assert found.views[0].tokens == 0
