"""Values that memories state: what is one, and what the files have now."""

import time

import pytest

from foretold.memory.drift.sentences import split_sentences
from foretold.memory.drift.values import find_values, holds, is_literal, read_values

from .test_verify import Repository


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repo")


def values_of(text):
    return [(each.key, each.value) for piece in split_sentences(text) for each in find_values(piece)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("`DEFAULT_LIMIT = 20`", [("DEFAULT_LIMIT", "20")]),
        ('`"target": "ES2022"` in `tsconfig.json`', [("target", '"ES2022"')]),
        ("`node_version: [14, 16]`", [("node_version", "[14, 16]")]),
        ("`RETRY_TIMES` is 2.", [("RETRY_TIMES", "2")]),
        ("`RETRY_TIMES` defaults to 2.", [("RETRY_TIMES", "2")]),
        ("a `testTimeout` of 20000 ms", [("testTimeout", "20000")]),
        ("`MAX_SIZE` is set to `1_000`.", [("MAX_SIZE", "1_000")]),
        ("The limit is 4096 (`INLINE_LIMIT`).", [("INLINE_LIMIT", "4096"), ("limit", "4096")]),
        ("It listens on port 8080.", [("port", "8080")]),
        ("The timeout is 30 s.", [("timeout", "30")]),
        ("We need `w3lib>=1.17.0`.", [("w3lib", ">=1.17.0")]),
        ("Python 3.9 or later is required.", [("requires-python", "3.9")]),
        ("The version in `package.json` is 2.1.", [("version", "2.1")]),
        ("Python 3.9 was nice.", []),
        ("`make_part` is 3 times faster.", []),
        ("`make_part` is one of 30 functions.", []),
        ("`a == 3` and `f(x) = 3`", []),
        ("Call `make_part(3)`.", []),
    ],
)
def test_what_states_a_value(text, values):
    assert values_of(text) == values


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("A = 3\n", "A", ["3"]),
        ("A: int = 3  # why\n", "A", ["3"]),
        ("export const A: number = 3;\n", "A", ["3"]),
        ("A := 3\n", "A", ["3"]),
        ('  "a": "x",\n', "a", ['"x"']),
        ("a: 20000,\n", "a", ["20000"]),
        ("def f(b, a=3, c=4): ...\n", "a", ["3"]),
        ("# A = 3\n// A = 4\nAB = 5\n", "A", []),
        ('"Twisted[tls]>=21.7.0",\n', "Twisted", [">=21.7.0"]),
        ("DEV_PORT = 1\nserver:\n  port: 2\n", "port", ["1", "2"]),
        ("module x\n\ngo 1.21\n", "go", ["1.21"]),
        ("if A == 3 => 4\n", "A", []),
    ],
)
def test_read_values(text, key, values):
    assert [each.value for each in read_values(text, key)] == values


@pytest.mark.parametrize(
    ("stated", "raw"),
    [
        *[("20", "20"), ("20", "20.0"), ("1000", "1_000"), ("3", "180"), ("4", "4096"), ("180", "3 * 60")],
        *[
            ("3.10", '">=3.10"'),
            ("18", '"^18.0.0 || >=20"'),
            ("ES2022", '"es2022"'),
            (">=1.2", ">=1.2"),
            ("2", "[1, 2]"),
        ],
    ],
)
def test_what_holds(stated, raw):
    assert holds(stated, raw)


@pytest.mark.parametrize(
    ("stated", "raw"),
    [("20", "200"), ("3.9", '">=3.10"'), ("3.1", "3.10"), ("'node14'", "'node20'"), ("2", "[12, 20]")],
)
def test_what_does_not(stated, raw):
    assert not holds(stated, raw)


def test_what_can_be_compared():
    assert all(map(is_literal, ["3", "-1.5", "'x'", "true", "[1, 'a']", "1024 * 1024", ">=2.1", "^1.2.3"]))
    assert not any(map(is_literal, ["other", "f(3)", "a + 1", "{", "["]))


def test_a_changed_value_says_the_present_one(repository):
    repository.commit(files={"src/limits.py": "DEFAULT_LIMIT = 50\nOTHER = 20\n"})
    for text in ("`DEFAULT_LIMIT = 20` in `src/limits.py`.", "`DEFAULT_LIMIT` is 20."):
        assert repository.check(text)[-1] == ("DEFAULT_LIMIT = 20", "changed", "src/limits.py:1 has 50")
    assert repository.check("`DEFAULT_LIMIT` is 50.")[-1] == (
        "DEFAULT_LIMIT = 50",
        "valid",
        "src/limits.py:1 has 50",
    )


def test_a_word_counts_only_next_to_its_file(repository):
    repository.commit(files={"compose.yaml": "services:\n  web:\n    port: 9090\n", "app.toml": "timeout = 30\n"})
    assert repository.check("It listens on port 8080 (`compose.yaml`).")[-1] == (
        "port = 8080",
        "changed",
        "compose.yaml:3 has 9090",
    )
    assert repository.check("In `app.toml` the timeout is 30 s.")[-1][1] == "valid"
    assert repository.check("It listens on port 8080.") == []


def test_versions_of_a_language(repository):
    repository.commit(files={"pyproject.toml": '[project]\nrequires-python = ">=3.11"\n', "go.mod": "go 1.22\n"})
    assert repository.check("It needs Python 3.9 or later.") == [
        ("requires-python = 3.9", "changed", 'pyproject.toml:2 has ">=3.11"')
    ]
    assert [each[1] for each in repository.check("It needs Python 3.11 or later, and at least Go 1.22.")] == [
        "valid",
        "valid",
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "MAX_SIZE = 30\n", "b.py": "MAX_SIZE = 40\n"},  # not unique
        {"a.py": "MAX_SIZE = compute()\n"},  # no literal
        {"a.py": "size(MAX_SIZE)\n"},  # no value
        {"a.py": "MAX_SIZE = read()\n", "tests/test_a.py": "MAX_SIZE = 30\n"},
    ],
)
def test_what_cannot_be_compared_is_not_said(repository, files):
    repository.commit(files=files)
    assert [each for each in repository.check("`MAX_SIZE` is 20.") if each[1] == "changed"] == []


def test_a_test_may_have_another_value(repository):
    repository.commit(files={"a.py": "MAX_SIZE = 20\n", "tests/test_a.py": "MAX_SIZE = 3\n"})
    assert repository.check("`MAX_SIZE` is 20.")[-1][1] == "valid"


def test_requirements_are_read_in_all_their_files(repository):
    files = {"requirements/default.txt": "kombu>=5.6.0\n", "setup.cfg": "requires = kombu >= 5.3.4\n"}
    repository.commit(files=files)
    assert repository.check("`kombu>=5.6.0` is the oldest that works.")[-1][1] == "valid"
    assert repository.check("We need `kombu>=5.2.0`.") == []  # they disagree


def test_a_former_value_is_not_claimed(repository):
    repository.commit(files={"a.py": "MAX_SIZE = 30\n"})
    for text in ("`MAX_SIZE` is no longer 20.", "`MAX_SIZE = 20` was removed.", "We plan to have `MAX_SIZE = 20`."):
        assert "changed" not in {each[1] for each in repository.check(text)}


@pytest.mark.parametrize(
    "unit", ["port ", "port = ", "port: int", "a_port", '"port"', " ", "port" + " " * 50, "port>=1", "x port=\t"]
)
def test_a_hostile_file_takes_linear_time(unit):
    def measure(size):
        text = unit * (size // len(unit))
        start = time.process_time()
        read_values(text, "port")
        read_values(text, "MAX_PORT")
        return time.process_time() - start

    assert measure(800_000) < 12 * min(measure(200_000) for _ in range(3)) + 0.2


@pytest.mark.parametrize(
    "unit",
    [
        "port ",
        "`a_b` is ",
        "`a_b` of 3 ",
        "version in of ",
        "Python 3.",
        "`x_y` `a.py` ",
        "`f_g` in ",
        "port   ",
        "1" * 9,
    ],
)
def test_a_hostile_sentence_takes_linear_time(unit):
    from foretold.memory.drift.claims import find_claims
    from foretold.memory.note import read_note

    def measure(count):
        text = "\n\n".join(unit * (16_000 // len(unit)) for _ in range(count))
        note = read_note("a.md", text.encode())
        start = time.process_time()
        find_claims(note, places=True)
        return time.process_time() - start

    assert min(measure(8) for _ in range(3)) < 12 * min(measure(2) for _ in range(3)) + 0.2
