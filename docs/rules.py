"""Write `docs/rules/`, a page per rule of `foretold check`, from the registry: `.venv/bin/python docs/rules.py`.

A test compares the pages with what this makes. `docs/findings.py` makes the page for findings of other commands.
"""

import os

from foretold.check.report.rules import render_rule
from foretold.findings.registry import CHECKED, FAMILIES, load_families

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules")
HEAD = """\
# Rules of `foretold check`

A rule has a code, and belongs to a family; both can be named in `--select`, `--ignore` and
[settings](../check.md#settings). `foretold rule CODE` prints its page.

*error*: something is lost or harmful. *warning*: it costs or misleads. *note*: good to know; notes do not change the
exit status. A rule with ✓ can be fixed by `foretold check --fix`, one with ! by `foretold check --fix --unsafe`.

These pages are generated from `src/foretold/findings/` by `docs/rules.py`.
"""
MARKS = {"safe": "✓", "unsafe": "!", "": ""}


def make_pages() -> dict[str, str]:
    """Every page by its name: one per rule, and the list of all."""
    families = {name: rules for name, rules in load_families().items() if name in CHECKED}
    pages = {f"{rule.code}.md": render_rule(rule) for rules in families.values() for rule in rules}
    return {"README.md": "".join([HEAD, *(_make_table(name, rules) for name, rules in families.items())]), **pages}


def _make_table(family: str, rules) -> str:
    parts = [f"\n## {family}\n\n{FAMILIES[family]}.\n\n| rule | severity | fix | what |\n|---|---|---|---|\n"]
    for rule in rules:
        what, mark = rule.what.replace("|", "&#124;"), MARKS[rule.fixable]
        parts.append(f"| [`{rule.code}`]({rule.code}.md) | {rule.severity} | {mark} | {what} |\n")
    return "".join(parts)


def main() -> None:
    pages = make_pages()
    os.makedirs(FOLDER, exist_ok=True)
    for name in set(os.listdir(FOLDER)) - set(pages):
        os.remove(os.path.join(FOLDER, name))
    for name, text in pages.items():
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
