"""Findings about what instructions cost: in every session, and for nothing."""

from __future__ import annotations

from foretold.findings.registry import Rule

RULES = (
    Rule(
        "file-long",
        "note",
        what="an instruction file is longer than the documentation of its agent asks for",
        why="It is sent in every session; the longer it is, the less of it is followed.",
        example="a CLAUDE.md of 600 lines; the documentation asks for at most 200",
        fix="move what concerns some files only into rules with `paths`, and details into documents",
        instead="a CLAUDE.md of 80 lines, and .claude/rules/api.md with paths: src/api/**",
        agents="claude-code (200 lines), cursor (500 a rule), windsurf (12,000 characters), skills (500 lines)",
    ),
    Rule(
        "instructions-long",
        "warning",
        what="an instruction file has more characters than the agent itself warns of",
        why="It is sent whole with every request; a long text costs tokens and is followed less well.",
        example="a CLAUDE.md of 44,000 characters; Claude Code warns of more than 40,000",
        fix="split it into rules, or name the document instead of repeating it",
        instead="a short CLAUDE.md that says which document is for what",
        agents="claude-code, code-assist (40,000 characters)",
    ),
    Rule(
        "text-repeated",
        "warning",
        what="paragraphs are repeated in a file that is delivered together with another",
        why="They are paid for twice, and when one of them is changed the model is given two versions.",
        example="the section on testing of CLAUDE.md, copied into packages/api/CLAUDE.md",
        fix="keep the paragraphs in the file that is loaded first",
        instead="packages/api/CLAUDE.md with only what differs there",
    ),
    Rule(
        "tokens-over-budget",
        "error",
        what="the instructions of an agent cost more than the repository's own budget",
        why="The budget is what the team agreed to pay for in every session.",
        example="[tool.foretold.budget] claude-code = 4000, and 5,200 tokens",
        fix="shorten the largest file, or raise the budget",
        instead="[tool.foretold.budget] claude-code = 6000",
    ),
)
