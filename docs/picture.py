"""Draw docs/overview.svg and docs/compare.svg: what commands print in the sample repository, as a terminal shows it.

Run it again when the output changes: .venv/bin/python docs/picture.py
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "sample"))

from demo import places, stage, surroundings  # noqa: E402  the sample is not a package

LINE, CHAR, LEFT, TOP = 19, 8.43, 18, 48
STYLES = {"1": "font-weight:700", "2": "opacity:.62", "31": "fill:#ff8f7f"}


def main() -> None:
    root = os.path.join(os.path.realpath(tempfile.gettempdir()), "bakery")  # a name that is the same each time
    os.mkdir(root)
    try:
        stage(root)
        for name, words in PICTURES.items():
            with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
                file.write(draw(f"$ foretold {words}".rstrip() + "\n" + printed(root, words)))
    finally:
        shutil.rmtree(root)


PICTURES = {"overview.svg": "", "compare.svg": "compare --agent claude-code,codex,copilot-cli,opencode"}


def printed(root: str, words: str) -> str:
    """What a command prints on a terminal of 80 columns."""
    command = f"{sys.executable} -m foretold {words} {' '.join(places(root))}"
    env = {**surroundings(root), "COLUMNS": "80", "TERM": "xterm"}
    # `script` gives the command a terminal, so that it uses its colours
    done = subprocess.run(["script", "-qec", command, "/dev/null"], env=env, capture_output=True, check=False)
    return done.stdout.decode().replace("\r\n", "\n").rstrip("\n")


def draw(text: str) -> str:
    """A terminal window with coloured text in it."""
    lines = text.split("\n")
    width, height = round(LEFT * 2 + 80 * CHAR), TOP + LINE * len(lines) + 8
    rows = "\n".join(
        f'<text x="{LEFT}" y="{TOP + LINE * at}" xml:space="preserve">{_spans(line)}</text>'
        for at, line in enumerate(lines)
    )
    dots = "".join(
        f'<circle cx="{20 + 20 * at}" cy="16" r="6" fill="{c}"/>'
        for at, c in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f'<rect width="{width}" height="{height}" rx="10" fill="#1c1f26"/>{dots}\n'
        '<g fill="#e6e6e6" font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">\n'
        f"{rows}\n</g></svg>\n"
    )


def _spans(line: str) -> str:
    parts = re.split(r"\x1b\[(\d+)m", line)
    drawn = [html.escape(parts[0])]
    for code, text in zip(parts[1::2], parts[2::2], strict=True):
        style = STYLES.get(code)
        drawn.append(f'<tspan style="{style}">{html.escape(text)}</tspan>' if style else html.escape(text))
    return "".join(drawn)


if __name__ == "__main__":
    main()
