"""Findings about instructions that contradict each other."""

from __future__ import annotations

from foretold.findings.registry import Rule

RULES = (
    Rule(
        "contradiction",
        "note",
        what="two instructions that an agent is given together contradict each other",
        why="The model follows one of them, and nobody knows which.",
        example="Use npm. in CLAUDE.md, and Use pnpm. in .claude/rules/dependencies.md",
        fix="keep one of the two, or say for which files each of them is meant",
        instead="Use pnpm.",
    ),
)
