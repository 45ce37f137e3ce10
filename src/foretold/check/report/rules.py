"""A rule for readers: its page in `docs/rules/`, its help in SARIF, what `foretold rule` prints. Fixed headings."""

from __future__ import annotations

from foretold.findings.registry import FAMILIES, Rule, family_of
from foretold.types import NamedTuple

FIXABLE = {
    "safe": "yes: `foretold check --fix`",
    "unsafe": "yes, but read what it changes: `foretold check --fix --unsafe`",
    "": "no",
}


class RuleSection(NamedTuple):
    """A heading and its text. `is_code`: the text is to be copied, or stands for what a file has."""

    title: str
    text: str
    is_code: bool = False


def describe_rule(rule: Rule) -> list[RuleSection]:
    """What there is to say about a rule, in order; what it leaves open is left out."""
    sections = [
        RuleSection("What it finds", f"{rule.what[:1].upper()}{rule.what[1:]}."),
        RuleSection("Why it matters", rule.why),
        RuleSection("Example", rule.example, is_code=True),
        RuleSection("Write instead", rule.instead, is_code=True),
        RuleSection("What to do", f"{rule.fix[:1].upper()}{rule.fix[1:]}."),
        RuleSection("Agents", rule.agents or "all"),
        RuleSection("Fixable", FIXABLE[rule.fixable]),
    ]
    return [section for section in sections if section.text]


def render_rule(rule: Rule, level: int = 1) -> str:
    """A rule as Markdown, with headings from this level on."""
    parts = [f"{'#' * level} {rule.code}\n\n*{rule.severity}*, family [*{family_of(rule.code)}*](README.md): "]
    parts.append(f"{FAMILIES[family_of(rule.code)]}.\n")
    for section in describe_rule(rule):
        text = _fence(section.text) if section.is_code else section.text
        parts.append(f"\n{'#' * (level + 1)} {section.title}\n\n{text}\n")
    return "".join(parts)


def render_help(rule: Rule) -> tuple[str, str]:
    """The help of a rule, as plain text and as Markdown, without its name."""
    sections = describe_rule(rule)[1:]
    plain = "\n\n".join(f"{section.title}: {section.text}" for section in sections)
    marked = "\n\n".join(
        f"**{section.title}**\n\n{_fence(section.text)}" if section.is_code else f"**{section.title}**: {section.text}"
        for section in sections
    )
    return plain, marked


def _fence(text: str) -> str:
    """A text as a code block, whatever fences it has itself."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"
