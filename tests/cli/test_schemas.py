"""Documents that `--json` prints are as `docs/schemas` says: one project, and every command in it."""

import io
import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress

import pytest

import foretold
from foretold.cli import main
from foretold.dialects.claude_code.settings import slug
from foretold.files.history.history import FileHistory

from ..sessions.talk import Talk
from .documents import SCHEMAS, read_document

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SESSION = "11111111-2222-4333-8444-555555555555"
BROKEN = "22222222-2222-4333-8444-555555555555"

#: command lines in the order in which they run, by the kind of document that each prints; {…} comes from the stage
LINES = """
overview                --json
show                    show --json
explain                 explain --json
explain-file            explain --file src/app.py --json
explain-path            explain docs/notes.md --json
explain-path            explain CLAUDE.md --json
explain-session         explain --session 1111 --json
compare                 compare --json
check                   check --json --exit-zero
rule                    rule import-missing --json
version                 version --json
releases                releases --json
release-history         releases claude-code 2.1.250.. --json
release                 releases claude-code@2.1.288 --json
upgrade                 upgrade --from 2.1.197 --file src/app.py --json
memory                  memory add short -t feedback -d about,short -b Use,tabs,in,Python,files. --json
memory                  memory add whole -t feedback -d whole -b Use,tabs,in,Python,files.;Spaces,in,YAML. --json
memory                  memory add entry -t project -d entry -b It,starts,in,`src/app.py`. --json
memory                  memory show short --json
memories                memory list --json
index                   memory show --index --json
budget                  memory budget --json
log                     memory log --json
recall                  memory recall tabs always --json
verify                  memory verify --all --json
vectors                 memory vectors --json
doctor                  memory doctor --json
compact                 memory compact --json
prompt                  memory prompt --json
share                   memory share short --json
trust                   memory trust --yes --json
inbox                   memory inbox --json
consolidation           memory consolidate --json
consolidations          memory consolidate --list --json
consolidation           memory consolidate --apply {plan} --yes --json
consolidation-undo      memory consolidate --undo {plan} --json
diff                    memory diff entry --json
deleted                 memory rm entry --json
relocate                memory relocate {cwd} {old} --json
compact-history         memory compact --history --json
compact-history         memory compact --history --days 0 --yes --json
erase                   memory erase entry --json
erase                   memory erase entry --yes --json
sessions                sessions list --json
session                 sessions show 1111 --json
sessions-resume         sessions resume 1111 --json
search                  sessions search deploy --json
sessions-du             sessions du --json
sessions-repair         sessions repair 2222 --json
sessions-repair-all     sessions repair --all --json
sessions-archive        sessions archive --json
sessions-verify         sessions archive --verify --json
sessions-archived       sessions restore --json
sessions-restore        sessions restore 1111 --json
sessions-prune          sessions prune --older-than 0d --json
sessions-relocate       sessions relocate {cwd} {old} --json
file-sessions           files list --json
file-history            files history src/app.py --json
file-diff               files diff src/app.py --json
file-checkpoints        files rewind 1111 --json
file-restore            files rewind 1111 {prompt} --json
file-restore            files rewind 1111 {prompt} --yes --json
file-restores           files undo --json
install                 install claude-code --json
installed               install --list --json
uninstall               uninstall claude-code --json
checkup                 doctor --json
checkup                 doctor --fix --yes --json
hook-explain            hook SessionStart --explain --json
hook-explain            hook PostToolUse --explain --file src/app.py --json
hook-log                hook --log --json
conform                 conform {cases} --json
"""
SPACES = str.maketrans(",;", " \n")
#: documents that are checked in the tests of their commands: they need a model, a program, or a proposal of an agent
ELSEWHERE = {
    "baseline",
    "check-diff",
    "check-fix",
    "extraction",
    "import",
    "probe",
    "probe-failed",
    "proposal",
    "refused",
}
SETTINGS = "settings.1.json"  #: of a file that people write, not of a document: see tests/check/test_settings.py


def run(words):
    out, problems = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(problems), suppress(SystemExit):
        main(words)
    assert out.getvalue(), (words, problems.getvalue())
    return out.getvalue()


@pytest.fixture
def stage(place, monkeypatch):
    """A repository with instructions, a session with changed files in it, and a session whose chain is broken."""
    monkeypatch.chdir(place.proj)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in place.environment(TZ="UTC", PATH=os.path.dirname(sys.executable) + ":/usr/bin:/bin").items():
        monkeypatch.setenv(name, value)
    foretold.invalidate()
    place.write("proj/CLAUDE.md", "See @docs/missing.md and @docs/notes.md, please.\n")
    place.write("proj/docs/notes.md", "Notes.\n")
    place.write("proj/.claude/rules/python.md", "---\npaths: '*.py'\n---\nRule.\n")
    place.write("proj/src/app.py", "one = 1\n")
    place.git("init -q", "proj")
    talk = Talk(SESSION, cwd=place.proj).user("Why does the deploy fail?").says("Let me look.")
    history = FileHistory(place.path("home/.claude/file-history"), SESSION, place.proj)
    prompt = talk.records[0]["uuid"]
    talk.records.append(history.prompt(prompt))
    talk.records += filter(None, [history.before_edit("src/app.py", "edit")])
    place.write("proj/src/app.py", "one = 2\ntwo = 2\n")
    talk.calls("Bash", command="cat x").result("KEY").says("It is the key.").user("Thanks").says("Good.")
    talk.write(place.home, slug(place.proj))
    broken = Talk(BROKEN, cwd=place.proj).user("First").says("One").user("Second").says("Two")
    broken.records[2]["parentUuid"] = "33333333-2222-4333-8444-555555555555"
    broken.write(place.home, slug(place.proj))
    place.old = place.path("old")
    place.ids = {"prompt": prompt, "cwd": place.proj, "old": place.old}
    place.ids["cases"] = os.path.join(ROOT, "tests", "conformance", "cline.jsonl")
    return place


def test_every_document_is_as_its_schema_says(stage):
    for line in LINES.strip().splitlines():
        kind, *words = line.split()
        words = [
            word.format(**stage.ids) if word[0] == "{" else word.replace(",", " ").replace(";", "\n") for word in words
        ]
        document = read_document(run(words))
        assert document["schema"] == f"foretold.{kind}/1", line
        if kind == "consolidation":
            stage.ids["plan"] = document["id"]


def test_every_kind_of_document_has_a_schema():
    kinds = set()
    for folder, _, names in os.walk(os.path.join(ROOT, "src", "foretold", "cli")):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    kinds |= set(re.findall(r'\bemit\(\s*"([a-z-]+)"', file.read()))
    files = {name.removesuffix(".1.json") for name in os.listdir(SCHEMAS) if name != SETTINGS}
    tried = {line.split()[0] for line in LINES.strip().splitlines()} | ELSEWHERE
    with open(os.path.join(ROOT, "docs", "formats", "json.md"), encoding="utf-8") as file:
        described = set(re.findall(r"foretold\.([a-z-]+)/1", file.read()))
    assert (kinds - files, files - tried, files - described) == (set(), set(), set())


@pytest.mark.parametrize("name", sorted({*os.listdir(SCHEMAS)} - {SETTINGS} if os.path.isdir(SCHEMAS) else ()))
def test_a_schema_names_its_kind_and_requires_keys(name):
    with open(os.path.join(SCHEMAS, name), encoding="utf-8") as file:
        schema = json.load(file)
    title = f"foretold.{name.removesuffix('.1.json')}/1"
    assert schema["title"] == schema["properties"]["schema"]["const"] == title
    assert "schema" in schema["required"]
