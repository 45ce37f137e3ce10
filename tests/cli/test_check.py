"""`foretold check`, as a process: paths, formats, exit status, settings, baseline."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from foretold.cli import main

from .documents import read_document

RULES = "--select=import-missing,import-in-code,ignore-unused"


@pytest.fixture
def stage(place):
    """A repository with an import that fails, a folder below with another, and a clean file."""
    place.git("init -q", "proj")
    place.write("proj/CLAUDE.md", "See @docs/missing.md\n")
    place.write("proj/web/CLAUDE.md", "See @docs/gone.md\n")
    place.write("proj/api/CLAUDE.md", "Use tabs.\n")
    return place


def run(place, *words, **options):
    done = place.run("check", "--no-home", *words, **options)
    assert done.returncode in (0, 1, 2, 3), done.stderr.decode()
    return done


def paths(place, *words, **options):
    """The paths of the findings, and the exit status."""
    done = run(place, RULES, *words, "--json", **options)
    assert done.stderr == b""
    return [each["path"] for each in read_document(done.stdout)["findings"]], done.returncode


def said(done):
    return " ".join(done.stderr.decode().split())


# What is asked about


def test_this_folder(stage):
    assert paths(stage) == (["CLAUDE.md", "web/CLAUDE.md"], 1)


def test_a_folder_of_a_repository_is_judged_as_part_of_it(stage):
    """What is above decides whether a file is delivered; what is reported is in the folder."""
    for words, cwd in ((["web"], "proj"), ([], "proj/web"), (["-C", "web"], "proj"), (["."], "proj/web")):
        assert paths(stage, *words, cwd=cwd) == (["web/CLAUDE.md"], 1)
    document = json.loads(run(stage, "web", "--json").stdout)
    assert document["top"] == stage.proj


def test_a_file(stage):
    assert paths(stage, "web/CLAUDE.md") == (["web/CLAUDE.md"], 1)
    assert paths(stage, "api/CLAUDE.md") == ([], 0)


def test_several_paths(stage):
    assert paths(stage, "web", "api") == (["web/CLAUDE.md"], 1)
    assert paths(stage, "web", "CLAUDE.md") == (["CLAUDE.md", "web/CLAUDE.md"], 1)


def test_a_folder_outside_of_any_repository(place):
    place.write("proj/CLAUDE.md", "See @docs/missing.md\n")
    assert paths(place, place.proj, cwd="home") == (["CLAUDE.md"], 1)


def test_a_fixture_is_left_out_and_can_be_asked_about(stage):
    stage.write("proj/tests/fixtures/one/CLAUDE.md", "See @docs/x.md\n")
    assert paths(stage) == (["CLAUDE.md", "web/CLAUDE.md"], 1)
    assert json.loads(run(stage, "--json").stdout)["left_out"] == ["tests/fixtures/one/CLAUDE.md"]
    assert paths(stage, "tests/fixtures/one") == (["CLAUDE.md"], 1)
    found = ["CLAUDE.md", "tests/fixtures/one/CLAUDE.md", "web/CLAUDE.md"]
    assert paths(stage, "--include-fixtures") == (found, 1)


def test_a_link_to_a_project(stage):
    stage.link("link", "proj")
    assert paths(stage, stage.path("link"), cwd="home") == (["CLAUDE.md", "web/CLAUDE.md"], 1)


def test_paths_of_two_projects(stage):
    stage.write("other/CLAUDE.md")
    done = run(stage, ".", "../other")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "the paths are in several projects" in said(done)


def test_a_path_that_is_not_there(stage):
    done = run(stage, "nowhere")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "nowhere is not a file or folder" in said(done)


def test_a_folder_that_is_a_file(stage):
    """As for every other command."""
    done = run(stage, "-C", "CLAUDE.md")
    assert (done.returncode, done.stdout) == (2, b"")
    assert said(done) == "foretold: CLAUDE.md is not a folder; check a file with: foretold check CLAUDE.md"


# What is reported


def test_the_exit_status(stage):
    assert run(stage, RULES).returncode == 1
    assert run(stage, RULES, "--exit-zero").returncode == 0
    assert run(stage, "--select=ignore-unused").returncode == 0
    stage.write("proj/.foretold.toml", 'severity = {import-missing = "note"}\n')
    assert paths(stage) == (["CLAUDE.md", "web/CLAUDE.md"], 0)  # notes do not count
    assert paths(stage, "--severity=warning") == ([], 0)


def test_text(stage):
    done = run(stage, RULES)
    assert re.sub(r"claude-code \d+\n", "claude-code 75\n", done.stdout.decode()) == (  # the path is sent, too
        """\
CLAUDE.md
    1  error import-missing
       docs/missing.md: not imported, there is no such file
       → fix the path, or write it without @

web/CLAUDE.md
    1  error import-missing
       web/docs/gone.md: not imported, there is no such file: imports are
       relative to the folder of the importing file, web
       → fix the path, or write it without @

2 errors in 2 files
checked 3 files for claude-code 2.1.325
tokens in every session that starts at the top: claude-code 75

what it means:   foretold rule import-missing
"""
    )


def test_a_version_that_is_not_recorded_is_named_with_the_one_that_is_used(stage):
    words = (RULES, "--agent", "claude-code@9.9.9,codex")
    line = "claude-code 9.9.9 is not recorded; treated like 2.1.325"
    assert f"\n{line}\n" in run(stage, *words).stdout.decode()
    assert f"\n{line}\n" in run(stage, *words, "api").stdout.decode()  # no problems there
    assert f"\n# {line}\n" in run(stage, *words, "--show-settings").stdout.decode()
    document = json.loads(run(stage, *words, "--json").stdout)
    assert document["assumed"] == [{"agent": "claude-code", "asked_version": "9.9.9", "version": "2.1.325"}]
    assert read_document(run(stage, RULES, "--json").stdout)["assumed"] == []


def test_commands_to_type_next_are_about_the_same_folder(stage):
    stage.write("proj/CLAUDE.md", "See @docs/a.md, and more.\n")
    stage.write("proj/docs/a.md", "Use tabs.\n")
    where = ["-C", "../proj"]
    assert "fix 1 of them:   foretold -C ../proj check --fix\n" in run(stage, *where, cwd="home").stdout.decode()
    done = run(stage, *where, "--write-baseline", "b.json", cwd="home")
    assert said(done).endswith("from now on: foretold -C ../proj check --baseline b.json")
    fixed = run(stage, *where, "--fix", cwd="home").stdout.decode()
    assert "undo it: foretold -C ../proj check --undo\n" in fixed
    done = run(stage, *where, "--undo", cwd="home")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stdin", [subprocess.DEVNULL, None], ids=["stdin", "closed stdin"])
def test_a_closed_stream(stage, stdin):
    """Standard output cannot be written: one line. Without standard error, the report is the same."""
    call = f"exec {sys.executable} -m foretold check --no-home {RULES}" + ("" if stdin else " <&-")

    def shell(more):
        words = ["/bin/sh", "-c", f"{call} {more}"]
        return subprocess.run(words, cwd=stage.proj, env=stage.environment(), capture_output=True, timeout=60)

    done = shell(">&-")
    assert (done.returncode, done.stderr) == (3, b"foretold: the output cannot be written: Bad file descriptor\n")
    whole = run(stage, RULES).stdout
    assert shell("2>&-").stdout == whole
    assert shell("2>&-").returncode == 1
    assert shell(">&- 2>&-").returncode == 3
    assert shell("--output report.txt >&- 2>&-").returncode == 1
    with open(stage.path("proj/report.txt"), "rb") as file:
        assert file.read() == whole


def test_a_clean_tree_gets_one_line(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    done = run(place)
    assert (done.stdout.decode(), done.stderr, done.returncode) == ("no problems in 1 file of 1 agent\n", b"", 0)


@pytest.mark.parametrize("name", ["json", "sarif", "gitlab"])
def test_formats_that_are_data(stage, name):
    json.loads(run(stage, RULES, "--format", name).stdout)


def test_workflow_commands(stage):
    lines = run(stage, RULES, "--format=github").stdout.decode().splitlines()
    assert lines[0].startswith("::error file=CLAUDE.md,line=1,title=foretold import-missing::docs/missing.md: not imp")
    assert len(lines) == 2


def test_markdown(stage):
    assert run(stage, RULES, "--format=markdown").stdout.decode().startswith("### foretold check\n\n**2 errors** in 3 ")


def test_statistics(stage):
    lines = run(stage, RULES, "--statistics").stdout.decode().splitlines()
    assert lines == ["    2  error    import-missing an import names a file that does not exist"]


def test_a_report_in_a_file(stage):
    done = run(stage, RULES, "--json", "--output", "report.json")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    with open(stage.path("proj/report.json"), encoding="utf-8") as file:
        assert len(read_document(file.read())["findings"]) == 2
    assert run(stage, RULES, "--output", "report.json").returncode == 1  # a report may be written again


def test_a_report_never_replaces_an_instruction_file(stage):
    done = run(stage, "--output", "web/CLAUDE.md")
    assert done.returncode == 2
    assert "web/CLAUDE.md is an instruction file" in said(done)
    with open(stage.path("proj/web/CLAUDE.md"), encoding="utf-8") as file:
        assert file.read() == "See @docs/gone.md\n"


def test_a_report_that_cannot_be_written(stage):
    done = run(stage, "--output", "no/such/folder.json")
    assert done.returncode == 3
    assert b"no/such" in done.stderr


def test_colour(stage):
    assert b"\x1b[" not in run(stage, RULES).stdout
    assert b"\x1b[31merror import-missing\x1b[0m" in run(stage, RULES, env={"FORCE_COLOR": "1"}).stdout
    assert b"\x1b[" not in run(stage, RULES, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    run(stage, RULES, "--output=r.txt", env={"FORCE_COLOR": "1"})
    with open(stage.path("proj/r.txt"), "rb") as file:
        assert b"\x1b[" not in file.read()


# What is checked


def test_agents(stage):
    assert json.loads(run(stage, "--json").stdout)["agents"] == ["claude-code@2.1.325"]
    words = ("--agent", "codex,Gemini-CLI", "--agent=claude-code@2.1.197", "--json")
    agents = json.loads(run(stage, *words).stdout)["agents"]
    assert agents == ["codex@0.166.0", "gemini-cli@0.61.0", "claude-code@2.1.197"]


def test_homes(stage):
    stage.write("home/.claude/CLAUDE.md", "See @missing.md\n")
    tokens = [
        json.loads(stage.run("check", *words, "--json").stdout)["costs"][0]["tokens"]
        for words in (["--no-home"], ["--home", stage.path("managed")], [])
    ]
    assert tokens[0] == tokens[1] < tokens[2]


def test_rules(stage):
    assert paths(stage, "--ignore=delivery") == (["CLAUDE.md", "web/CLAUDE.md"], 1)  # a code says more than a family
    assert paths(stage, "--ignore", "import-missing,truth") == ([], 0)
    assert paths(stage, "--exclude", "web/") == (["CLAUDE.md"], 1)


WRONG = {
    ("--select", "import-mising"): "'import-mising' is not a rule or a family, did you mean 'import-missing'?",
    ("--ignore", "deliver"): "'deliver' is not a rule or a family, did you mean 'delivery'?",
    ("--agent", "claud-code"): "unknown agent 'claud-code', did you mean 'claude-code'?",
    ("--agent", "codex@x"): "'x' is not a version",
    ("--format", "xml"): "invalid choice: 'xml'",
    ("--severity", "fatal"): "invalid choice: 'fatal'",
    ("--home", "x", "--no-home"): "give --home or --no-home, not both",
    ("--unsafe",): "--unsafe is for --fix",
    ("--dry-run",): "--dry-run is for --fix",
    (
        "--fix",
        "--diff",
        "HEAD",
    ): ("give only one of --fix, --undo, --diff, --watch, --write-baseline and --show-settings"),
    ("--baseline", "none.json"): "the baseline none.json cannot be read: No such file or directory",
    ("--exclud", "x"): "did you mean --exclude?",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_usage(stage, words):
    done = stage.run("check", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert WRONG[words] in said(done)


def test_wrong_settings(stage):
    path = stage.write("proj/.foretold.toml", 'selct = ["truth"]\n')
    done = run(stage)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said(done) == f"foretold: {path}: 'selct' is not a setting, did you mean 'select'?"


def test_settings_of_the_folder_that_is_asked_about(stage):
    stage.write("proj/.foretold.toml", 'ignore = ["import-missing"]\n')
    stage.write("proj/web/.foretold.toml", 'severity = {import-missing = "note"}\n')
    assert json.loads(run(stage, "--json").stdout)["findings"] == []
    (finding,) = json.loads(run(stage, "web", "--json").stdout)["findings"]
    assert finding["severity"] == "note"


def test_shown_settings(stage):
    stage.write("proj/.foretold.toml", 'ignore = ["cost"]\n')
    assert run(stage, "--show-settings", "--select=truth").stdout.decode() == (
        """\
# settings of .foretold.toml
# checked for: claude-code 2.1.325 (in use here)

select = ["truth"]  # the command line
ignore = ["cost"]  # .foretold.toml
per-file-ignores = {}  # the default
severity = {}  # the default
agents = []  # the default
exclude = []  # the default
include-fixtures = false  # the default
baseline = ""  # the default
budget = {}  # the default
"""
    )


# Baseline


def test_a_baseline(stage):
    done = run(stage, RULES, "--write-baseline", "known.json")
    assert (done.returncode, done.stdout) == (0, b"")
    assert said(done) == "known.json: 2 findings; from now on: foretold check --baseline known.json"
    assert paths(stage, "--baseline", "known.json") == ([], 0)
    stage.write("proj/CLAUDE.md", "New.\n\nSee @docs/missing.md\n\nSee @docs/second.md\n")
    stage.write("proj/web/CLAUDE.md", "Good.\n")
    document = json.loads(run(stage, RULES, "--baseline", "known.json", "--json").stdout)
    assert [(each["path"], each["line"]) for each in document["findings"]] == [("CLAUDE.md", 5)]
    assert (document["known"], [each["path"] for each in document["fixed"]]) == (1, ["web/CLAUDE.md"])
    text = run(stage, RULES, "--baseline", "known.json").stdout.decode()
    assert "known: 1 finding of the baseline\n" in text
    assert "fixed: 1 finding of the baseline; write it again (--write-baseline)\n" in text


def test_a_baseline_is_written_over_a_baseline_only(stage):
    stage.write("proj/notes.json", '{"mine": 1}')
    done = run(stage, "--write-baseline", "notes.json")
    assert done.returncode == 2
    assert said(done) == "foretold: notes.json is not a baseline, and is not overwritten; give another file"
    before = stage.path("proj/CLAUDE.md")
    done = run(stage, "--write-baseline", before)
    assert said(done) == f"foretold: {before} is not a baseline, and is not overwritten; give another file"
    assert "cannot be read" in said(run(stage, "--write-baseline", "web"))
    with open(stage.path("proj/notes.json"), encoding="utf-8") as file:
        assert file.read() == '{"mine": 1}'
    assert run(stage, "--write-baseline", "b.json").returncode == 0
    assert run(stage, "--write-baseline", "b.json").returncode == 0


def test_a_baseline_of_the_settings(stage):
    stage.write("proj/.foretold.toml", 'baseline = "known/b.json"\n')
    done = run(stage, RULES)
    assert (done.returncode, said(done)[:14]) == (2, "foretold: the ")  # it is not there yet
    os.mkdir(stage.path("proj/known"))
    assert run(stage, RULES, "--write-baseline", "known/b.json").returncode == 0
    assert paths(stage) == ([], 0)
    assert paths(stage, cwd="proj/web") == ([], 0)
    assert run(stage, RULES, "--write-baseline", "known/b.json").returncode == 0
    assert paths(stage) == ([], 0)  # it was written with all findings again
    shown = run(stage, "--show-settings").stdout.decode()
    assert 'baseline = "known/b.json"  # .foretold.toml\n' in shown
    shown = run(stage, "--show-settings", "--baseline", "none.json").stdout.decode()
    assert 'baseline = "none.json"  # the command line\n' in shown
    stage.write("proj/none.json", '{"schema": "foretold.baseline/1", "findings": []}')
    assert paths(stage, "--baseline", "none.json") == (["CLAUDE.md", "web/CLAUDE.md"], 1)


# Strangers


def test_nothing_of_the_tree_is_run_or_written(stage):
    marker = stage.path("ran")
    stage.write("proj/foretold/__init__.py", f"open({marker!r}, 'w')\n")
    stage.write("proj/tomllib.py", f"open({marker!r}, 'w')\n")
    before = listing(stage.proj)
    words = [sys.executable, "-I", "-m", "foretold", "check", "--no-home"]
    done = subprocess.run(words, cwd=stage.proj, env=stage.environment(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert not os.path.exists(marker)
    assert listing(stage.proj) == before


def listing(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)


def test_names_that_are_not_utf8(stage):
    folder = os.fsencode(stage.proj) + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/CLAUDE.md", "wb") as file:
        file.write(b"See @docs/x.md\n")
    for name in ("text", "json", "sarif", "github", "gitlab", "markdown"):
        done = run(stage, RULES, "--format", name)
        assert (done.returncode, done.stderr) == (1, b""), name
        done.stdout.decode()


def test_the_guide_shows_what_the_command_prints(place):
    """The sample of this repository, as a repository of its own."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for name in ("repo", "handbook"):
        shutil.copytree(os.path.join(root, "sample", name), place.path(name))
    place.git("init -q", "repo")
    place.git("add -A", "repo")
    with open(os.path.join(root, "docs", "check.md"), encoding="utf-8") as file:
        shown = re.search(r"```console\n\$ foretold check --no-home\n(.*?)```", file.read(), re.DOTALL)[1]
    printed = (
        run(place, cwd="repo", env={"PATH": os.environ["PATH"], "COLUMNS": "500"})
        .stdout.decode()
        .replace(place.root, "/tmp/bakery")
    )
    assert words_of(printed) == words_of(shown)


def test_the_readme_shows_what_the_command_prints(place):
    """A tree with the three files that it names."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        shown = re.search(r"```console\n\$ foretold check --no-home\n(.*?)```", file.read(), re.DOTALL)[1]
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Use pnpm. Run the tests before you commit.\n")
    rule = "---\nglobs: services/api/**\n---\n\nHandlers validate their input, and return JSON.\n"
    place.write("proj/.claude/rules/api.md", rule)
    place.write("proj/services/api/AGENTS.md", "Every handler has a test.\n")
    place.write("proj/services/api/server.ts")
    assert words_of(run(place).stdout.decode()) == words_of(shown)


def words_of(text):
    """The words of a text; the path of the folder is sent, too, so tokens differ."""
    text = re.sub(r"(claude-code|codex) \d+(?=[, ])", r"\1 N", " ".join(text.split()))
    return re.sub(r"it costs \d+ tokens", "it costs N tokens", text)


def test_the_help_fits_80_columns(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


# What a stranger's names cannot do


def test_a_key_of_the_settings_is_no_command_to_ci(stage):
    stage.write("proj/.foretold.toml", '"x\\n::stop-commands::abc\\n::error file=a::b" = 1\n')
    done = run(stage, "--format", "github")
    assert (done.returncode, done.stdout) == (2, b"")
    assert not [line for line in done.stderr.decode().split("\n") if line.lstrip().startswith("::")]


def test_the_name_of_a_folder_is_no_command_to_ci(place, capsys):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.git("init -q")
    place.git("add -A")
    place.git("commit -q -m one")
    place.write("proj/a\n::error file=x::b/AGENTS.md", "Use npm.\n")
    main(["check", "--no-home", "-C", place.proj, "--agent", "codex", "--diff", "HEAD"])
    printed = capsys.readouterr().out
    assert "tokens in every session in" in printed
    assert not [line for line in printed.split("\n") if line.lstrip().startswith("::")]
