"""Listings and their changes, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import foretold
from foretold.context.attachments import (
    DateReminder,
    TaskReminder,
    TurnAttachment,
    edited_file,
    hook_context,
    hook_output,
    nested_attachments,
    texts,
)
from foretold.context.listings import Agent, Listings, Skill, ranked_attachment, ranked_skills
from foretold.dialects.claude_code.context import turn_context_of

V2_1_197, V2_1_325 = turn_context_of("claude-code@2.1.197"), turn_context_of("claude-code@2.1.325")

SKILLS = [
    Skill("deploy", "How to deploy the app", "When asked to ship"),
    Skill("pdf", "Read and fill PDF forms"),
    Skill("sql", "Write migrations for the database"),
]


def _said(attachment: TurnAttachment | None) -> str:
    assert attachment is not None
    (text,) = texts(attachment, V2_1_325)
    return text


def test_agents_are_sorted_and_then_only_changes_are_said() -> None:
    listings = Listings()
    agents = [Agent("rev", "Reviews code", ("Read", "Grep")), Agent("Plan", "Plans"), Agent("all", "Does all")]
    first = _said(listings.agents(agents))
    assert first.split("\n")[:4] == [
        "Available agent types for the Agent tool:",
        "- all: Does all (Tools: All tools)",
        "- Plan: Plans (Tools: All tools)",
        "- rev: Reviews code (Tools: Read, Grep)",
    ]
    assert listings.agents(agents) is None
    assert _said(listings.agents([*agents[1:], Agent("newag", "New agent")])) == (
        "New agent types are now available for the Agent tool:\n- newag: New agent (Tools: All tools)\n\n"
        "The following agent types are no longer available:\n- rev\n\nThis is ambient context — do not narrate it to "
        "the user unless they ask or it is directly relevant to their request."
    )


def test_skills_are_listed_once_and_again_after_a_compaction() -> None:
    listings = Listings()
    assert _said(listings.skills(SKILLS[:1])).endswith("\n\n- deploy: How to deploy the app - When asked to ship")
    later = listings.skills(SKILLS[1:2])
    assert later is not None
    assert later.record == {
        "type": "skill_listing",
        "content": "- pdf: Read and fill PDF forms",
        "skillCount": 1,
        "isInitial": False,
        "names": ["pdf"],
    }
    assert listings.skills(SKILLS[:1]) is None
    listings.forget("skills")
    again = listings.skills(SKILLS)
    assert again is not None
    assert again.fields["isInitial"] is True


def test_a_long_description_is_cut() -> None:
    line = Skill("longd", "word " * 400).line
    assert (len(line), line[-6:]) == (len("- longd: ") + 1536, "word …")


def test_tools_and_servers() -> None:
    listings = Listings()
    assert _said(listings.tools(["WebFetch", "mcp__a__ping"])).endswith("calling them:\nWebFetch\nmcp__a__ping")
    assert _said(listings.tools(["WebFetch"])).split("\n")[1] == "mcp__a__ping"
    assert _said(listings.servers({"alpha": "Use alpha wisely.", "beta": "Beta text.\n", "mute": ""})) == (
        "# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to use their tools "
        "and resources:\n\n## alpha\nUse alpha wisely.\n\n## beta\nBeta text.\n"
    )
    gone = listings.servers({"alpha": "Use alpha wisely."})
    assert gone is not None
    assert gone.fields == {"addedNames": [], "addedBlocks": [], "removedNames": ["beta"]}


def test_skills_that_a_prompt_is_about() -> None:
    assert [skill.name for skill in ranked_skills("fill in this PDF form, then ship it", SKILLS)] == ["pdf", "deploy"]
    assert ranked_attachment("nothing of that", SKILLS) is None
    assert _said(ranked_attachment("a migration", SKILLS)).endswith("\n- sql: Write migrations for the database")


def test_dates() -> None:
    dates = DateReminder(agent="claude-code@2.1.325")
    assert [_said(dates.check("2026-01-02")), dates.check("2026-01-02"), _said(dates.check("2026-01-03"))] == [
        "Today's date is 2026-01-02.",
        None,
        (
            "The date has changed. Today's date is now 2026-01-03. No need to announce the new date — the user's "
            "own clock "
            "shows it."
        ),
    ]
    changed = DateReminder("2026-01-02", agent="claude-code@2.1.197").check("2026-01-03")
    assert changed is not None
    assert texts(changed, V2_1_197) == (
        (
            "The date has changed. Today's date is now 2026-01-03. DO NOT mention this to the user explicitly "
            "because they "
            "are already aware."
        ),
    )


def test_tasks_left_alone() -> None:
    reminder, due = TaskReminder(), []
    reminder.count("TaskCreate")
    for number in range(1, 25):
        if reminder.due([{"id": "1", "status": "pending", "subject": "Sub one"}]):
            due.append(number)
        reminder.count()
    assert due == [11, 21]
    tasks = {"content": [{"id": "1", "status": "pending", "subject": "Sub one"}], "itemCount": 1}
    assert _said(TurnAttachment("task_reminder", tasks)).endswith(
        "\n\n\nHere are the existing tasks:\n\n#1. [pending] Sub one"
    )


def test_hooks() -> None:
    assert _said(hook_output("SessionStart", "ready", "startup")) == "SessionStart:startup hook success: ready"
    assert _said(hook_context("PostToolUse", "a", "b", tool="Read")) == "PostToolUse:Read hook additional context: a\nb"
    assert texts(TurnAttachment("hook_success", {"hookEvent": "PostToolUse", "content": "x"}), V2_1_325) == ()


def test_a_changed_file() -> None:
    assert edited_file("/a", "") is None
    found = edited_file("/a", "x{snippet}\n", agent="claude-code@2.1.325")
    assert _said(found).startswith("Note: /a changed on disk since you last read it.")
    assert _said(found).endswith("(shown with line numbers):\n1\tx{snippet}")
    bare = TurnAttachment("edited_text_file", {"filename": "/a", "snippet": ""})
    assert "/a" in _said(bare)
    assert "line numbers" not in _said(bare)


def test_nested_instructions_keep_what_is_on_disk(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "CLAUDE.md").write_text("<!-- note -->\nReturn JSON.\n")
    session = foretold.Session(tmp_path, agent="claude-code@2.1.325", home=tmp_path, env={})
    (found,) = nested_attachments(session.read("api/users.py").entries, session.view)
    content = found.fields["content"]
    assert isinstance(content, dict)
    assert (found.fields["displayPath"], content["type"]) == ("api/CLAUDE.md", "Project")
    assert content["contentDiffersFromDisk"] is True
    assert content["rawContent"] == "<!-- note -->\nReturn JSON.\n"
    assert content["content"].strip() == "Return JSON."
