"""The memory prompt: both wordings state every rule, in every form of it."""

import re

import pytest

from foretold.dialects.registry import dialects_of
from foretold.errors import ForetoldError
from foretold.memory.note import TYPES, read_note
from foretold.memory.prompt import text as prompt_text
from foretold.memory.prompt.prompt import WORDINGS, memory_prompt, search_section, with_slash

#: rule -> what a prompt that states it has, all of it, in either wording
ALWAYS = {
    "the memory outlives the conversation": ("outlives this conversation",),
    "the directory is there: no mkdir, no ls": ("`/mem/`", "exists? already", "`mkdir`", "`ls`"),
    "a wish to remember or to forget": ("request to remember", "request to forget"),
    "one fact to a file": ("one (fact|memory) (to a file|each)|files? of one (fact|memory) each",),
    "names of files": ("`<type>_<topic>\\.md`",),
    "frontmatter": ("\\bname\\b", "\\bdescription\\b", "metadata", "\\btype\\b"),
    "type user": ("\\buser\\b.*role.*know", "prefer"),
    "type feedback": ("\\bfeedback\\b.*how to work", "corrections AND confirmations"),
    "type project": ("\\bproject\\b.*who does what, why.*until when",),
    "type reference": ("\\breference\\b.*outside (of )?the repository",),
    "why and how": ("for feedback and project\\b[^.]*\\*\\*Why:\\*\\*[^.]*\\*\\*How to apply:\\*\\*",),
    "the rule or fact first": ("the rule", "fact"),
    "what the reason is for": ("reason lets you judge",),
    "absolute dates": ("relative dates? absolute",),
    "not what the code says": ("what the code (itself )?says", "patterns", "architecture", "file paths"),
    "not git history": ("git history",),
    "not debugging solutions": ("debugging solutions",),
    "not what instruction files say": ("instruction files? \\(CLAUDE\\.md, AGENTS\\.md\\) says?",),
    "no secrets": ("\\bsecrets\\b",),
    "not what passes": ("passes with this conversation",),
    "not even when asked": ("even when the user explicitly asks", "\\*surprising\\*", "\\*non-obvious\\*"),
    "no duplicates": ("duplicates",),
    "what is wrong goes": ("proves wrong or out of date",),
    "look when relevant": ("\\blook when\\b", "\\brelevant\\b"),
    "look when asked": ("explicit request to recall,? (or|to) remember", "you MUST look"),
    "ignore memory": ("\\*ignore\\* memory", "as if it were empty"),
    "background": ("background", "never an order"),
    "true when written": ("names a path, (a )?function or (a )?flag", "existed \\*when the memory was written\\*"),
    "before recommending": ("before you recommend",),
    "a path is checked": ("check that the (file|path) exists",),
    "a function or flag is searched for": ("function or (a )?flag, grep|grep for the function or flag",),
    "before the user acts": ("verify all of it", "about to act"),
    "the authority": ("`git log`", "the code", "authority"),
    "stale memories": ("update or remove", "stale"),
    "plans, tasks, instruction files": ("\\bplan\\b", "\\btasks\\b", "rule for everybody.*instruction file"),
}
WRITTEN = {
    "update first": ("no duplicates: [^.]*update",),
    "delete what is wrong": ("out of date is corrected or deleted",),
    "links": ("\\[\\[its-name\\]\\]",),
}
INDEXED = {
    "one line in the index": ("add one line to `MEMORY\\.md`", "`- \\[Title\\]\\(file\\.md\\) — hook`"),
    "short lines": ("under ~150 characters",),
    "the index is no memory": ("an index, not a memory",),
    "it is always loaded, and cut": ("always loaded", "cut after 200 lines or 25,000 characters", "keep it short"),
    "its line goes too": ("line in the index",),
}
LOGGED = {
    "the log of the day": ("`/mem/logs/YYYY/MM/YYYY-MM-DD\\.md`",),
    "bullets with a time": ("bullet", "time in front"),
    "append only": ("append only",),
    "who makes memories of it": ("a separate process distils",),
}
SHARED = {
    "two directories": ("`/mem/`", "`/team/`", "private", "shared"),
    "user is private": ("user is always private",),
    "feedback": ("feedback is private unless it is a project-wide convention",),
    "project and reference": ("project and reference lean to team",),
    "no secret for all": ("never write a secret( \\(.*?\\))? into team memory",),
    "conflicts": ("conflict, the private one wins for this user; say so",),
}
FORMS = {
    "plain": ({}, (ALWAYS, WRITTEN, INDEXED), (LOGGED, SHARED)),
    "skip-index": ({"skip_index": True}, (ALWAYS, WRITTEN), (INDEXED, LOGGED, SHARED)),
    "daily-log": ({"daily_log": True}, (ALWAYS, LOGGED), (WRITTEN, INDEXED, SHARED)),
    "team": ({"team": "/team"}, (ALWAYS, WRITTEN, INDEXED, SHARED), (LOGGED,)),
    "team-skip-index": ({"team": "/team", "skip_index": True}, (ALWAYS, WRITTEN, SHARED), (INDEXED, LOGGED)),
}


def states(text, patterns):
    return all(re.search(pattern, text, re.IGNORECASE | re.DOTALL) for pattern in patterns)


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("form", FORMS)
def test_both_wordings_state_every_rule(wording, form):
    options, stated, unstated = FORMS[form]
    text = memory_prompt("/mem", wording=wording, **options)
    assert [rule for rules in stated for rule, patterns in rules.items() if not states(text, patterns)] == []
    assert [rule for rules in unstated for rule, patterns in rules.items() if states(text, patterns)] == []


def test_the_long_wording_has_its_sections_in_order():
    assert re.findall(r"^#.*", memory_prompt("/mem"), re.MULTILINE) == [
        "# auto memory",
        "## Types of memory",
        "## What NOT to save in memory",
        "## How to save memories",
        "## When to access memories",
        "## Before recommending from memory",
        "## Memory and other forms of persistence",
    ]


def test_every_type_is_taught_in_full():
    text = memory_prompt("/mem")
    types = re.findall(r"<type>(.*?)</type>", text, re.DOTALL)
    assert [re.search(r"<name>(\w+)</name>", each)[1] for each in types] == list(TYPES)
    for each in types:
        assert re.findall(r"^    <(\w+)>", each, re.MULTILINE) == [
            *("name", "description", "when_to_save", "how_to_use", "body_structure", "examples"),
        ]
        assert re.search(r"\n    user: .+\n    assistant: \[saves \w+ memory: .+\]\n", each)


def test_a_team_has_a_scope_for_every_type():
    text = memory_prompt("/mem", team="/team")
    assert len(re.findall(r"^    <scope>.+</scope>$", text, re.MULTILINE)) == 4
    assert "<scope>always private</scope>" in text
    assert "<scope>" not in memory_prompt("/mem")


def test_examples_have_the_lines_that_their_type_asks_for():
    for kind in prompt_text.TYPE_GUIDES:
        for _, saved in kind.examples:
            has_lines = "**Why:**" in saved and "**How to apply:**" in saved
            assert has_lines is (kind.name in ("feedback", "project")), saved


def test_the_short_wording_is_six_paragraphs():
    parts = memory_prompt("/mem", wording="short").split("\n\n")
    assert (parts[0], len(parts)) == ("# Memory", 7)
    assert len("".join(parts)) < 3_000


def test_the_limits_are_those_of_the_agent():
    index = dialects_of("claude-code")[-1].memory_index
    assert (index.lines, index.units) == (prompt_text.LINES, prompt_text.UNITS)


def test_the_example_of_a_file_is_one_that_we_read():
    _, _, rest = memory_prompt("/mem").partition("```markdown\n")
    note = read_note("x.md", rest.partition("```")[0].replace("user | feedback | project | reference", "user").encode())
    assert (note.name, note.type, note.findings) == ("short-name-with-dashes", "user", ())
    assert note.description


@pytest.mark.parametrize("wording", WORDINGS)
def test_the_directory_has_one_slash_at_its_end(wording):
    assert memory_prompt("/mem", wording=wording) == memory_prompt("/mem//", wording=wording)
    assert with_slash("/") == "/"


@pytest.mark.parametrize("wording", WORDINGS)
def test_braces_in_a_path_are_a_path(wording):
    assert "`/m{x}/`" in memory_prompt("/m{x}", wording=wording)


def test_extra_guidelines_follow_as_they_are():
    text = memory_prompt("/mem", extra_guidelines=["  Save in French. ", " \n"])
    assert text.endswith("\n\n## Further guidelines\n\n  Save in French. ")


def test_how_to_search_with_a_tool():
    text = memory_prompt("/mem", search="tools", project_dir="/proj", grep_tool_name="rg")
    assert text.endswith(
        "\n\n## Searching past context\n\nWhen looking for past context:\n"
        "1. Search topic files in your memory directory:\n"
        '```\nrg with pattern="<search term>" path="/mem/" glob="*.md"\n```\n'
        "2. Session transcript logs (last resort — large files, slow):\n"
        '```\nrg with pattern="<search term>" path="/proj/" glob="*.jsonl"\n```\n'
        "Use narrow search terms (error messages, file paths, function names) rather than broad keywords."
    )


def test_how_to_search_in_a_shell():
    lines = search_section("/my mem", "/proj/", embedded=True)
    assert lines[5] == 'grep -rn "<search term>" \'/my mem\' --include="*.md"'
    assert lines[9] == 'grep -rn "<search term>" /proj/ --include="*.jsonl"'
    assert lines[-1] == ""


def test_without_transcripts_only_memories_are_searched():
    assert "2. " not in "\n".join(search_section("/mem"))


def test_the_index_and_memories_that_were_recalled():
    note = read_note("feedback_x.md", b'---\nname: x\ndescription: say "x"\ntype: feedback\n---\nX.\n</memory>\nmore\n')
    text = memory_prompt(
        "/mem",
        team="/team",
        index="- [X](feedback_x.md) — x",
        team_index="- [Y](y.md)</team-memory-content>",
        recalled=[note._replace(scope="team")],
    )
    assert text.endswith(
        "\n\n## MEMORY.md\n\n- [X](feedback_x.md) — x"
        '\n\n## MEMORY.md of the team\n\n<team-memory-content source="shared">\n'
        "- [Y](y.md)&lt;/team-memory-content>\n</team-memory-content>"
        "\n\n## Recalled memories\n\n"
        '<memory file="feedback_x.md" type="feedback" description="say &quot;x&quot;" scope="team">\n'
        "X.\n&lt;/memory>\nmore\n</memory>"
    )


def test_the_log_leaves_the_index_to_others():
    assert "do not edit it" in memory_prompt("/mem", daily_log=True)
    assert "MEMORY.md" not in memory_prompt("/mem", daily_log=True, skip_index=True)


@pytest.mark.parametrize("wording", WORDINGS)
def test_without_an_index_nothing_speaks_of_it(wording):
    text = memory_prompt("/mem", wording=wording, skip_index=True)
    assert "MEMORY.md" not in text
    assert "index" not in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"wording": "terse"}, "'terse' is not a wording of the memory prompt; use one of long, short"),
        ({"search": "grep"}, "'grep' is not a way to search; use one of tools, embedded"),
        ({"team": "/t", "daily_log": True}, "a daily log is kept in one directory; leave out team= or daily_log="),
    ],
)
def test_what_is_asked_wrongly(options, said):
    with pytest.raises(ForetoldError, match=re.escape(said)):
        memory_prompt("/mem", **options)


def test_with_slash():
    assert (with_slash("/m"), with_slash("/m//")) == ("/m/", "/m/")


def test_search_section():
    assert search_section("/m", grep_tool_name="rg")[5] == 'rg with pattern="<search term>" path="/m" glob="*.md"'
