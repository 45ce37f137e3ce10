"""What else in the frontmatter of a rule decides whether it is loaded: one strategy an agent, by name."""

from __future__ import annotations

from foretold.instructions.text.read import Text
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _cline(text: Text) -> tuple[str, str]:
    """# cline: cline-006, cline-007: a broken header drops the rule, and so does `disabled`"""
    front = text.front
    is_odd = not isinstance(front.get("name", ""), str) or not isinstance(front.get("disabled", False), bool)
    if is_odd or any(finding.code == "frontmatter-invalid" for finding in text.findings):
        return "bad-frontmatter", ""
    return ("disabled", "disabled in its frontmatter") if text.front.get("disabled") is True else ("", "")


def _continue(text: Text) -> tuple[str, str]:
    """# continue: continue-006: always, unless it says otherwise or waits for files"""
    front = text.front
    if front.get("invokable") is True:
        return "disabled", "it is invokable: only by name"
    always = front.get("alwaysApply")
    if always is False or (always is not True and (front.get("globs") or front.get("regex"))):
        return "disabled", "alwaysApply is not true"
    return "", ""


def _cursor(text: Text) -> tuple[str, str]:
    """Always, when a file matches, or only when it is asked for."""
    if text.front.get("alwaysApply") is True:
        return "", ""
    return (WAITS, "") if text.globs.patterns else ("disabled", "only when it is asked for, by name or description")


def _windsurf(text: Text) -> tuple[str, str]:
    trigger = text.front.get("trigger", "always_on")
    if trigger in ("always_on", "glob"):
        return (WAITS if trigger == "glob" and text.globs.patterns else ""), ""
    return "disabled", f"its trigger is {trigger}"


def _kiro(text: Text) -> tuple[str, str]:
    inclusion = text.front.get("inclusion", "always")
    if inclusion in ("always", "fileMatch"):
        return (WAITS if inclusion == "fileMatch" and text.globs.patterns else ""), ""
    return "disabled", f"its inclusion is {inclusion}"


def _vscode(text: Text) -> tuple[str, str]:
    """Without the key, never by itself."""
    if "applyTo" not in text.front:
        return "disabled", "it has no applyTo"
    return (WAITS if text.globs.patterns else ""), ""


WAITS = "waits"
STRATEGIES: dict[str, Callable[[Text], tuple[str, str]]] = {
    "cline": _cline,
    "continue": _continue,
    "cursor": _cursor,
    "kiro": _kiro,
    "vscode": _vscode,
    "windsurf": _windsurf,
}


def refusal_of(strategy: str, text: Text) -> tuple[str, str]:
    """The reason and its detail why a rule is not loaded; two empty texts if it is; `WAITS` if it waits for a file."""
    return STRATEGIES[strategy](text) if strategy else ("", "")
