"""Write `docs/findings.md` from the registry: `.venv/bin/python docs/findings.py`. A test compares the two.

The rules of `foretold check` have pages of their own (`docs/rules.py`); here they are listed.
"""

import os

from foretold.findings.registry import CHECKED, FAMILIES, load_families

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "findings.md")
HEAD = """\
# Findings

What the author of a file should know. A finding has a path, a line where there is one, a code, a message and a hint. It
is never an exception; commands that have findings exit with 1. `foretold rule CODE` prints an entry of this page.

*error*: something is lost or harmful. *warning*: it costs or misleads. *note*: good to know.

This page is generated from `src/foretold/findings/` by `docs/findings.py`.

## Rules of `foretold check`

Each of them has [a page](rules/README.md); other commands report some of them, too.
"""


def make_page() -> str:
    """The whole page: links to rules of a check, then a section per family and an entry per code."""
    parts, families = [HEAD], load_families()
    for family in CHECKED:
        links = ", ".join(f"[`{rule.code}`](rules/{rule.code}.md)" for rule in families[family])
        parts.append(f"\n*{family}*: {links}\n" if links else "")
    for family, rules in families.items():
        if family in CHECKED:
            continue
        parts.append(f"\n## {FAMILIES[family]}\n")
        for rule in rules:
            parts.append(f"\n### `{rule.code}`\n\n*{rule.severity}*: {rule.what}. {rule.why}\n")
            parts.append(f"\n```text\n{rule.example}\n```\n\nWhat to do: {rule.fix}.\n")
    return "".join(parts)


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(make_page())
