"""What an occurrence of a name proves, in the languages that people write."""

import time

import pytest

from foretold.memory.drift.definitions import COMMENT, DEFINITION, LIVE, MENTION, TEXT, rank_name


@pytest.mark.parametrize(
    ("ending", "line"),
    [
        *[("py", line) for line in ("def name(x):", "    async def name(self):", "class name(Base):", "name = 3")],
        *[("py", line) for line in ("name: int = 3", "    name: str", "first, name = 1, 2", 'X = {"name": 1}')],
        *[("ts", line) for line in ("export function name(a) {", "export const name: number = 3", "  name?: string")],
        *[
            ("ts", line)
            for line in ("interface name {", "type name = string", "  private name(a) {", "  async name() {")
        ],
        *[("js", line) for line in ("exports.name = 3", "Shop.prototype.name = function () {", "  name: 3,")],
        *[("go", line) for line in ("func name() {", "func (s *Shop) name() {", "\tname string", "type name struct {")],
        *[("rs", line) for line in ("pub fn name() {", "pub struct name;", "let name = 1;")],
        *[("c", line) for line in ("static int name(void)", "#define name 3", "char *name(int x)")],
        *[("toml", line) for line in ("name = 3", "[tool.name]")],
        *[("py", line) for line in ("x = os.environ.get('name')", 'os.environ["name"]', "os.getenv('name', 1)")],
        *[("ts", "if (process.env.name) {"), ("go", 'os.Getenv("name")'), ("rb", "ENV['name']")],
        *[("json", line) for line in ('  "name": 3',)],
        *[("yml", line) for line in ("name: 3", "  - name: 3")],
    ],
)
def test_a_definition(ending, line):
    assert rank_name(b"name", f"before\n{line}\nafter\n".encode(), ending).rank == DEFINITION


@pytest.mark.parametrize(
    ("ending", "line", "rank"),
    [
        ("py", "from a import name", LIVE),
        ("ts", "import { name } from './a'", LIVE),
        ("ts", "import type { name } from './a'", LIVE),
        ("ts", "  name,", LIVE),
        ("ts", "  type name,", MENTION),
        ("py", "x = name(3)", LIVE),
        ("py", "class Big(name):", LIVE),
        ("py", "raise name", LIVE),
        ("py", "x.name()", MENTION),
        ("py", "self.name = 3", MENTION),
        ("py", "x = 'name'", TEXT),
        ("py", 'if which == "name":', TEXT),
        ("py", "x = 3  # name = 3", COMMENT),
        ("py", "#name = 3", COMMENT),
        ("ts", "// name()", COMMENT),
        ("ts", " * Calls name()", COMMENT),
        ("py", "names(3)", 0),
    ],
)
def test_less_than_a_definition(ending, line, rank):
    assert rank_name(b"name", f"before\n{line}\nafter\n".encode(), ending).rank == rank


def test_texts_of_python():
    data = b'"""\nname = 3\n"""\nx = "\'\'\'"\nname = 3  # \'\'\'\n'
    assert rank_name(b"name", data, "py") == (DEFINITION, data.rindex(b"name"))
    assert rank_name(b"name", b'def f():\n    """\n    name()\n', "py").rank == TEXT


def test_the_best_occurrence_counts():
    data = b"# name\nname()\nother\ndef name(): ...\n"
    assert rank_name(b"name", data, "py") == (DEFINITION, data.rindex(b"name"))
    assert rank_name(b"name", b"names " * 10_000 + b"\nname = 1\n", "py").rank == DEFINITION


@pytest.mark.parametrize(
    "unit",
    [b"name ", b"public ", b"x, ", b"a.b.", b"name(", b'"', b"'''name", b" name = " * 3, b"<name>", b"int *name"],
)
def test_a_hostile_file_takes_linear_time(unit):
    def measure(size):
        data = unit * (size // len(unit)) + b"name"
        start = time.process_time()
        for ending in ("py", "ts", "c"):
            rank_name(b"name", data, ending)
        return time.process_time() - start

    assert measure(1_600_000) < 12 * min(measure(400_000) for _ in range(3)) + 0.2
