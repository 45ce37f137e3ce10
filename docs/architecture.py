"""Draw `docs/rooms.svg` and write the map in `docs/architecture.md` from the modules themselves.

Run it when a module comes, goes or changes its first sentence: `.venv/bin/python docs/architecture.py`.
"""

import ast
import html
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.path.dirname(HERE), "src", "foretold")
PAGE = os.path.join(HERE, "architecture.md")
BEGIN, END = "<!-- the map: made by docs/architecture.py -->\n", "<!-- end of the map -->\n"

#: storeys from the top down: title, rooms with what they are about
STOREYS = (
    ("edges", (("cli", "the command"), ("serve", "hooks, MCP, install"))),
    (
        "built on them",
        (("harness", "an agent"), ("adapters", "frameworks"), ("compat", "other loaders"), ("proof", "conform, probe")),
    ),
    ("", (("context", "surrounds a turn"),)),
    ("the five nouns", (("memory", "remembered"), ("files", "touched"))),
    ("", (("sessions", "said"),)),
    ("", (("instructions", "told"),)),
    ("agents as data", (("dialects", "what each agent does"),)),
    (
        "foundations",
        (("text", ""), ("storage", ""), ("secrets", ""), ("git", ""), ("findings", ""), ("models", "")),
    ),
    ("values", (("types", ""), ("errors", ""), ("paths", ""), ("extras", ""), ("imports", ""))),
)
WIDTH, ROW, LEFT = 860, 58, 130


def draw() -> str:
    """The rooms as boxes, a storey a row; each may use its own row and those below."""
    parts = []
    for at, (title, rooms) in enumerate(STOREYS):
        top = 12 + at * ROW
        parts.append(f'<text x="10" y="{top + 27}" class="side">{title}</text>')
        width = (WIDTH - LEFT - 10) / len(rooms)
        for number, (name, about) in enumerate(rooms):
            x = LEFT + number * width
            parts.append(f'<rect x="{x:.0f}" y="{top}" width="{width - 10:.0f}" height="{ROW - 12}" rx="6"/>')
            middle = x + (width - 10) / 2
            parts.append(f'<text x="{middle:.0f}" y="{top + (20 if about else 28)}" class="room">{name}</text>')
            if about:
                parts.append(f'<text x="{middle:.0f}" y="{top + 36}" class="about">{html.escape(about)}</text>')
    height = 12 + len(STOREYS) * ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        "<style>text{font-family:ui-monospace,monospace;fill:#1c2733}rect{fill:#eef3f8;stroke:#8aa0b5}"
        ".room{font-size:15px;font-weight:700;text-anchor:middle}.about{font-size:11px;text-anchor:middle}"
        ".side{font-size:12px;fill:#5b6b7b}svg{background:#fff}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def make_map() -> str:
    """One table per folder: each module with the first sentence of its docstring."""
    parts = []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = os.path.relpath(folder, SOURCE)
        title = "foretold/" if inside == "." else f"{inside}/"
        about = "" if inside == "." else first_sentence(os.path.join(folder, "__init__.py"))
        parts.append(f"\n### `{title}`\n\n{about}\n\n" if about else f"\n### `{title}`\n\n")
        for name in sorted(names):
            if name.endswith(".py") and name not in ("__init__.py", "__main__.py"):
                parts.append(f"- `{name}`: {first_sentence(os.path.join(folder, name))}\n")
    return "".join(parts) + "\n"


def first_sentence(path: str) -> str:
    """The first paragraph of a module's docstring, on one line."""
    with open(path, encoding="utf-8") as file:
        text = ast.get_docstring(ast.parse(file.read())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def make_page(page: str) -> str:
    """The page with its map made from the modules as they are."""
    head, _, rest = page.partition(BEGIN)
    return head + BEGIN + make_map() + END + rest.partition(END)[2]


if __name__ == "__main__":
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(make_page(old))
    with open(os.path.join(HERE, "rooms.svg"), "w", encoding="utf-8") as file:
        file.write(draw())
