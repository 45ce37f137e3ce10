"""Gather the fragments of `changes/` into CHANGELOG.md: `python changes/gather.py 0.2.0`."""

import datetime
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHANGELOG = os.path.join(os.path.dirname(HERE), "CHANGELOG.md")
KINDS = ("added", "changed", "fixed", "removed")
UNRELEASED = "## Unreleased\n"


def read_fragments() -> dict[str, list[str]]:
    """The texts of all fragments by kind, in the order of their names."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name in sorted(os.listdir(HERE)):
        kind = name.removesuffix(".md").rpartition(".")[2]
        if name.endswith(".md") and kind in KINDS:
            with open(os.path.join(HERE, name), encoding="utf-8") as file:
                found[kind].append(" ".join(file.read().split()))
    return found


def make_section(version: str, date: str, fragments: dict[str, list[str]]) -> str:
    """The section of a release."""
    parts = [f"## {version} ({date})\n"]
    for kind, texts in fragments.items():
        if texts:
            parts.append(f"\n### {kind.capitalize()}\n\n" + "".join(f"- {text}\n" for text in texts))
    return "".join(parts)


def main(version: str) -> None:
    section = make_section(version, datetime.date.today().isoformat(), read_fragments())
    with open(CHANGELOG, encoding="utf-8") as file:
        text = file.read()
    with open(CHANGELOG, "w", encoding="utf-8") as file:
        file.write(text.replace(UNRELEASED, f"{UNRELEASED}\n{section}", 1))
    for name in os.listdir(HERE):
        if name.removesuffix(".md").rpartition(".")[2] in KINDS:
            os.remove(os.path.join(HERE, name))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python changes/gather.py VERSION")
    main(sys.argv[1])
