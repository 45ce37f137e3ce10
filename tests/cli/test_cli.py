"""The command, as real processes."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import termios

import pytest

import foretold
from foretold.cli import COMMANDS
from foretold.dialects.registry import AGENTS

from .documents import read_document

ESCAPE = re.compile(r"\x1b\[")
MANAGED = ("--managed", "/nowhere")


@pytest.fixture
def repo(place):
    """A project with something of everything."""
    place.write("home/.claude/CLAUDE.md", "Be brief.\n")
    place.write("proj/CLAUDE.md", "Use tabs. See @docs/a.md and @docs/gone.md\n\nAsk é世😀.\n")
    place.write("proj/docs/a.md", "---\ntitle: A\n---\nImported.\n")
    place.write("proj/.claude/rules/ts.md", "---\npaths: 'src/**/*.ts'\n---\nNo any.\n")
    place.write("proj/src/CLAUDE.md", "In src.\n")
    place.write("proj/src/x.ts")
    place.write("proj/README.md", "nobody imports this")
    place.write("proj/AGENTS.md", "agents")
    return place


def view_of(place, **options):
    return foretold.load(place.proj, home=place.home, managed="/nowhere", env={}, **options)


def text(done):
    return done.stdout.decode()


def errors(done):
    return done.stderr.decode()


def data(done):
    return read_document(done.stdout)


# -- show ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
def test_show_prints_the_exact_bytes(repo, version):
    agent = f"claude-code@{version}"
    done = repo.run("show", "--agent", agent, *MANAGED)
    assert done.stdout == view_of(repo, agent=agent).text.encode()
    assert (done.returncode, errors(done)) == (
        0,
        f"foretold: 1 finding; see: foretold explain --agent {agent}\n",
    )


def test_what_follows_show_runs_although_there_are_findings(repo):
    """Only an agent that refuses to start here cannot be shown."""
    codes = [repo.run("show", *words, *MANAGED).returncode for words in ([], ["--messages"], ["--json"])]
    assert codes == [0, 0, 0]
    assert repo.run("show", "--agent", "gemini-cli").returncode == 1


def test_show_of_a_clean_project_says_nothing_else(place):
    place.write("proj/CLAUDE.md", "clean\r\n\ttabs \n")
    done = place.run("show", *MANAGED)
    assert (done.stdout, done.stderr, done.returncode) == (view_of(place).text.encode(), b"", 0)


def test_show_of_nothing(place):
    done = place.run("show", *MANAGED)
    assert (done.stdout, done.returncode) == (b"", 0)
    assert errors(done) == "foretold: claude-code@2.1.325 receives nothing here; why: foretold explain\n"


def test_show_messages(repo):
    view = view_of(repo)
    done = repo.run("show", "--messages", *MANAGED)
    assert text(done) == f"--- user, before-prompt ---\n{view.slots[0].block.text}\n"


def test_show_messages_with_their_name(place):
    place.write("proj/AGENTS.md", "A")
    done = place.run("show", "--messages", "--agent", "ex-athena")
    assert text(done).startswith('--- user "memory", first ---\n<!-- memory: project ')


def test_a_boundary_that_is_not_there_is_said(place):
    place.write("proj/CLAUDE.md", "A")
    done = place.run("show", "--agent", "mink", "--", "--boundary", "repository")
    assert f"{place.proj} is not in one: what is above it is not read" in errors(done)


def test_a_loader_that_reads_nothing_later_says_so(place):
    place.write("proj/CLAUDE.md", "A")
    place.write("proj/api/CLAUDE.md", "B")
    assert "mink reads nothing after its start" in text(place.run("explain", "--agent", "mink", "--file", "api/x.py"))
    shown = text(place.run("--agent", "mink"))
    assert "not loaded: the agent reads such files only in the folder that it starts in" in shown


def test_show_json(repo):
    view = view_of(repo)
    found = data(repo.run("show", "--json", *MANAGED))
    assert (found["schema"], found["text"], found["messages"]) == ("foretold.show/1", view.text, view.messages)


def test_flags_of_the_agent_stand_behind_two_dashes(repo):
    done = repo.run("show", *MANAGED, "--", "--setting-sources", "user")
    assert done.stdout == view_of(repo, args=["--setting-sources", "user"]).text.encode()
    assert repo.run("show", *MANAGED, "--", "--bare").stdout == b""


def test_a_mistyped_flag_of_the_agent_is_said(repo):
    done = repo.run("show", *MANAGED, "--", "--setting-source", "user")
    assert (done.returncode, errors(done).split("\n")[:2]) == (
        0,
        [
            "foretold: --setting-source means nothing to claude-code; did you mean --setting-sources?",
            "foretold: 2 findings; see: foretold explain -- --setting-source user",
        ],
    )
    done = repo.run(*MANAGED, "--", "--setting-source", "user")
    assert (done.returncode, "did you mean --setting-sources?" in text(done)) == (1, True)


def test_the_environment_of_the_agent_counts(repo):
    repo.write("conf/CLAUDE.md", "elsewhere\n")
    done = repo.run("show", *MANAGED, env={"CLAUDE_CONFIG_DIR": repo.path("conf")})
    assert b"elsewhere" in done.stdout
    assert b"Be brief." not in done.stdout


def test_the_model_counts(repo):
    repo.write("home/.claude/settings.json", '{"includeCoAuthoredBy": false}')
    ends = [
        repo.run("show", "--messages", "--model", model, *MANAGED).stdout[-20:] for model in ("opus-5", "haiku-4-5")
    ]
    assert ends == [b"</system-reminder>\n\n", b"\n</system-reminder>\n"]


# -- the bare command ----------------------------------------------------------------------------------------


def test_bare(repo):
    done = repo.run(*MANAGED)
    lines = text(done).split("\n")
    assert lines[0].startswith("Claude Code 2.1.325, ")
    assert [line.split()[:3] for line in lines if re.match(r" +\d+  ", line)] == [
        ["1", "user", "~/.claude/CLAUDE.md"],
        ["2", "project", "CLAUDE.md"],
        ["3", "project", "└"],
    ]
    assert "1 rule waiting for a matching file, 1 other candidate not loaded." in lines
    assert "Not read at the start: 1 instruction file" in lines
    assert "    src/CLAUDE.md" in lines
    assert any("import-missing" in line for line in lines)
    assert lines[-2].startswith("next: foretold explain")
    assert (done.returncode, done.stderr) == (1, b"")


def test_bare_in_an_empty_folder(place):
    done = place.run(*MANAGED)
    assert "It receives nothing: no instruction file is delivered." in text(done)
    assert (done.returncode, done.stderr) == (0, b"")


def test_bare_writes_nothing(repo):
    def everything():
        return sorted(
            (path, os.lstat(path).st_mtime_ns)
            for folder, folders, names in os.walk(repo.root)
            for path in (os.path.join(folder, name) for name in (*folders, *names))
        )

    before = everything()
    repo.run(*MANAGED)
    repo.run("explain", *MANAGED)
    assert everything() == before


VIEW_KEYS = {
    *("schema", "agent", "version", "asked_version", "assumed", "evidence", "cwd", "home", "model", "tokens"),
    *("entries", "waiting", "skips", "findings", "absent", "refusal"),
}
ENTRY_KEYS = {
    *("path", "layer", "kind", "reason", "parent", "trigger", "globs", "includes", "bytes", "tokens", "text"),
    "differs_from_disk",
}
SKIP_KEYS = {"path", "reason", "detail", "layer", "parent", "line", "globs"}
FINDING_KEYS = {"path", "line", "code", "severity", "message", "hint"}


@pytest.mark.parametrize(("words", "kind"), [([], "overview"), (["show"], "show"), (["explain"], "explain")])
def test_the_shape_of_a_view(repo, words, kind):
    found = data(repo.run(*words, "--json", *MANAGED))
    assert found["schema"] == f"foretold.{kind}/1"
    more = {"text", "messages"} if kind == "show" else {"nested", "nested_cut"}
    assert set(found) == VIEW_KEYS | more
    nested = [(each["path"], each["loaded"]) for each in found.get("nested", ())]
    assert nested == [] if kind == "show" else [(repo.path("proj/src/CLAUDE.md"), "on-touch")]
    assert [set(each) for each in found["entries"]] == [ENTRY_KEYS] * 3
    assert [set(each) for each in found["waiting"]] == [ENTRY_KEYS | {"base", "paths"}]
    assert [set(each) for each in found["skips"]] == [SKIP_KEYS] * 3
    assert [set(each) for each in found["findings"]] == [FINDING_KEYS]
    view = view_of(repo)
    assert [each["path"] for each in found["entries"]] == [entry.path for entry in view.entries]
    assert [each["reason"] for each in found["skips"]] == [skip.reason for skip in view.skips]
    assert found["absent"] == list(view.absent)


# -- explain -------------------------------------------------------------------------------------------------


def test_explain_names_every_path(repo):
    done = repo.run("explain", "--all", *MANAGED)
    view = view_of(repo)
    shown = text(done)
    paths = [entry.path for entry in view.entries] + [skip.path for skip in view.skips] + list(view.absent)
    for path in paths:
        short = path.replace(repo.proj + "/", "").replace(repo.home, "~")
        assert short in shown or len(short) > 40
    assert (done.returncode, done.stderr) == (1, b"")


def test_paths_that_are_not_there_are_one_line(repo):
    lines = text(repo.run("explain", *MANAGED)).split("\n")
    count = len(view_of(repo).absent)
    assert f"Looked for, not found: {count} paths (--all)" in lines
    assert "  CLAUDE.local.md" not in lines
    assert "  CLAUDE.local.md" in text(repo.run("explain", "--all", *MANAGED)).split("\n")


def test_each_problem_is_printed_once(repo):
    """What has a finding is not listed as not loaded, too."""
    for words in ([], ["explain"], ["explain", "--all"]):
        assert text(repo.run(*words, *MANAGED)).count("docs/gone.md") == 1
    shown = text(repo.run("explain", *MANAGED))
    assert "\n  shadowed: another file takes its place\n      AGENTS.md, by CLAUDE.md\n" in shown


def test_tokens_add_up(repo):
    for words in ([], ["explain"]):
        lines = text(repo.run(*words, *MANAGED)).split("\n")
        start = next(at for at, line in enumerate(lines) if line.startswith("Loaded at the start"))
        rows = lines[start + 2 : lines.index("", start + 2)]
        tokens = [int(row.split()[-2].replace(",", "")) for row in rows]
        assert lines[start].endswith(f"about {sum(tokens):,} tokens")
        assert rows[-1].split()[:3] == ["what", "the", "agent"]


def test_many_rows_are_summed_up(place):
    for number in range(40):
        place.write(f"proj/.claude/rules/r{number:02}.md", "Rule.\n")
    lines = text(place.run(*MANAGED)).split("\n")
    assert any(line.split() == [*"… and 20 more files (foretold explain)".split(), "40", "tok"] for line in lines)
    assert not any("more files" in line for line in text(place.run("explain", *MANAGED)).split("\n"))


def test_findings_are_sorted_and_what_is_said_of_several_files_is_said_once(place):
    place.write("proj/CLAUDE.md", "\n@z.md and @b.md\n\n\n@y.md\n\n@x.md\n")
    for name in ("b", "a", "c"):
        place.write(f"proj/.claude/rules/{name}.md", "---\nglobs: '*.ts'\n---\nRule.\n")
    lines = text(place.run("explain", *MANAGED)).split("\n")
    at = lines.index("7 findings") + 2
    assert lines[at : at + 8] == [
        "  .claude/rules/a.md:2",
        "  .claude/rules/b.md:2",
        "  .claude/rules/c.md:2",
        "    warning rule-key-unread",
        "      `globs` is not a key that the agent reads, so the rule is always loaded",
        "      → write `paths`, with the patterns in quotes",
        "  CLAUDE.md:2  error import-missing",
        "      z.md: not imported, there is no such file",
    ]
    found = data(place.run("explain", "--json", *MANAGED))["findings"]
    assert [(place.short(each["path"])[5:], each["line"]) for each in found] == [
        *((f".claude/rules/{name}.md", 2) for name in "abc"),
        *(("CLAUDE.md", line) for line in (2, 2, 5, 7)),
    ]


def test_paths_of_a_rule_are_shown_as_written(place):
    place.write("proj/.claude/rules/a.md", "---\npaths: ['frontend/**', 'src/{a,b}/**/*.ts']\n---\nRule.\n")
    assert "      paths: frontend/**, src/{a,b}/**/*.ts" in text(place.run("explain", *MANAGED)).split("\n")
    (rule,) = data(place.run("explain", "--json", *MANAGED))["waiting"]
    assert (rule["paths"], rule["globs"][0]) == (["frontend/**", "src/{a,b}/**/*.ts"], "frontend")


def test_a_rule_that_can_never_match_is_not_said_to_wait(place):
    place.write("proj/.claude/rules/r.md", "---\npaths: './src/**'\n---\nR\n")
    for words in ([], ["explain"]):
        shown = text(place.run(*words, *MANAGED))
        assert "aiting for a matching file" not in shown
        lines = shown.split("\n")
        at = lines.index("      `./src/**`: it starts with `./`, as no path does")
        assert lines[at + 1].strip() == "→ write it without"


def test_files_below_are_listed_by_what_becomes_of_them(place):
    place.write("proj/CLAUDE.md", "Top.\n")
    for name in "abcde":
        place.write(f"proj/{name}/CLAUDE.md", "Below.\n")
    place.write("proj/a/AGENTS.md", "Hidden.\n")
    place.write("proj/.claude/rules/r.mdc", "Rule.\n")
    for words in ([], ["explain"]):
        lines = text(place.run(*words, *MANAGED)).split("\n")
        at = lines.index("Not read at the start: 7 instruction files") + (2 if words else 1)
        below = lines[at : lines.index("", at)]
        assert below[0] == "  loaded when a file in their folder is touched"
        if words:
            assert [line.split() for line in below[1:6]] == [[f"{name}/CLAUDE.md", "2", "tok"] for name in "abcde"]
        else:
            assert below[1] == "    a/CLAUDE.md, b/CLAUDE.md, c/CLAUDE.md … and 2 more (foretold explain)"
        assert below[-4:] == [
            "  not loaded: another file takes its place (by CLAUDE.md)",
            "    a/AGENTS.md",
            "  not loaded: the agent reads no files with this ending there (only .md)",
            "    .claude/rules/r.mdc" + ("  → rename it to r.md" if words else ""),
        ]


def test_explain_a_file_that_is_read(repo):
    done = repo.run("explain", "--file", "src/x.ts", *MANAGED)
    assert "Reading src/x.ts adds 2 files" in text(done)
    assert [line.split()[2] for line in text(done).split("\n") if re.match(r" +\d+  ", line)] == [
        "src/CLAUDE.md",
        ".claude/rules/ts.md",
    ]
    assert done.returncode == 0


def test_explain_a_file_that_adds_nothing(repo):
    done = repo.run("explain", "--file", "README.md", *MANAGED)
    assert "Reading README.md adds nothing" in text(done)
    assert done.returncode == 0


def test_explain_a_file_as_data(repo):
    done = repo.run("explain", "--file", "src/x.ts", "--json", *MANAGED)
    found = data(done)
    assert set(found) == {"schema", "file", "entries", "blocks", "skips", "findings"}
    assert (found["schema"], found["file"]) == ("foretold.explain-file/1", repo.path("proj/src/x.ts"))
    assert [set(each) for each in found["entries"]] == [ENTRY_KEYS] * 2
    assert [set(each) for each in found["blocks"]] == [{"role", "type", "text"}] * 2


@pytest.mark.parametrize(
    ("path", "loaded", "said", "code"),
    [
        ("CLAUDE.md", "start", "CLAUDE.md: loaded at the start of every session", 1),  # it has a finding
        ("docs/a.md", "start", "docs/a.md: loaded at the start of every session", 0),
        (".claude/rules/ts.md", "on-match", ".claude/rules/ts.md: loaded when a matching file is touched", 0),
        ("src/CLAUDE.md", "on-touch", "src/CLAUDE.md: loaded when a file in its folder is touched", 0),
        ("AGENTS.md", "never", "AGENTS.md: not loaded", 1),
        ("docs/gone.md", "never", "docs/gone.md: not loaded", 1),
        ("README.md", "never", "README.md: not loaded", 1),
        ("nothing.md", "never", "nothing.md: not loaded", 1),
    ],
)
def test_explain_one_instruction_file(repo, path, loaded, said, code):
    done = repo.run("explain", path, *MANAGED)
    assert said in text(done).split("\n")
    assert (done.returncode, done.stderr) == (code, b"")
    found = data(repo.run("explain", path, "--json", *MANAGED))
    keys = {"schema", "path", "loaded", "answer", "why", "change", "reason", "detail", "tokens", "findings"}
    assert set(found) == keys
    assert (found["schema"], found["path"], found["loaded"]) == (
        "foretold.explain-path/1",
        repo.path(f"proj/{path}"),
        loaded,
    )


def test_explain_one_says_why_and_what_to_change(repo):
    lines = text(repo.run("explain", "AGENTS.md", *MANAGED)).split("\n")
    assert any(line.startswith("  shadowed: another file takes its place") for line in lines)
    lines = text(repo.run("explain", "README.md", *MANAGED)).split("\n")
    assert any(line.startswith("  → import it (@README.md)") for line in lines)


def test_explain_takes_one_question(repo):
    done = repo.run("explain", "CLAUDE.md", "--file", "src/x.ts")
    assert (done.returncode, done.stdout) == (2, b"")
    said = "give an instruction file, --file or --session, not\nseveral of them\n"
    assert errors(done).endswith(f"\nforetold explain: error: {said}")


# -- where ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["-C", "{proj}", "show"],
        ["show", "-C", "{proj}"],
        ["-C{proj}", "show"],
        ["--home", "{home}", "-C", "{proj}", "show"],
        ["--home={home}", "show", "-C", "{proj}"],
        ["--managed", "/nowhere", "-C", "../proj", "show"],
        ["--model", "opus", "-C", "{proj}", "show"],
        ["--agent", "claude-code", "-C", "{proj}", "show"],
    ],
    ids=range(8),
)
def test_a_folder_before_or_after_the_command(repo, words):
    words = [word.format(proj=repo.proj, home=repo.home) for word in words]
    more = () if "--managed" in words else MANAGED
    done = repo.run(*words, *more, cwd="home")
    assert done.stdout == view_of(repo).text.encode()


def test_a_folder_for_the_bare_command(repo):
    there, here = (text(repo.run("-C", repo.proj, *MANAGED, cwd=cwd)) for cwd in ("home", "proj"))
    assert here == text(repo.run(*MANAGED))
    head, _, following = there.partition("\nnext: ")
    assert (head, following.split("\n")[0]) == (here.partition("\nnext: ")[0], f"foretold explain -C {repo.proj}")


@pytest.mark.parametrize("agent", ["mink", "code-assist", "ex-athena"])
def test_other_agents(repo, agent):
    repo.write("proj/AGENTS.md", "Agents.\n")
    done = repo.run("--agent", agent)
    assert f"{agent}, from its source" in text(done)
    assert f"foretold explain --agent {agent}" in text(done)
    assert repo.run("explain", "--agent", agent).returncode in (0, 1)
    assert "not recorded; treated like 1" in text(repo.run("--agent", f"{agent}@3"))
    assert "→ import it" not in text(repo.run("explain", "--agent", agent, "README.md")) or agent == "mink"
    assert data(repo.run("show", "--agent", agent, "--json"))["text"]


def test_options_of_mink(repo):
    repo.write("org/CLAUDE.md", "Orders.\n")
    repo.write("CLAUDE.md", "Above.\n")
    shown = repo.run("show", "--agent", "mink", "--managed", repo.path("org")).stdout
    assert b"Orders." in shown
    assert b"Above." in shown
    done = repo.run("show", "--agent", "mink", "--", "--boundary", "cwd", "--exclude", "**/CLAUDE.local.md")
    assert b"Above." not in done.stdout
    done = repo.run("explain", "--agent", "mink", "--", "--frob")
    assert "option-unknown" in text(done)
    done = repo.run("show", "--agent", "mink", "--", "--boundary", "here")
    assert errors(done) == "foretold: the boundary is 'here'; it can be top, repository, cwd\n"


def test_what_is_inlined_is_listed(repo):
    repo.write("proj/CLAUDE.md", "See @docs/a.md and @gone.md\n")
    repo.write("proj/.claude/rules/go.md", "---\npaths: '*.go'\n---\nGo.\n")
    lines = text(repo.run("explain", "--agent", "mink", "--", "--boundary", "cwd")).split("\n")
    assert any(line.strip() == "└ docs/a.md" for line in lines)
    at = lines.index("  no-match: its `paths` match nothing that is here")
    assert lines[at + 1] == "      .claude/rules/go.md, *.go"
    assert "its text is in" in text(repo.run("explain", "--agent", "mink", "docs/a.md"))


def test_reading_a_file_that_is_not_there(repo):
    assert "(it does not exist) adds nothing" in text(repo.run("explain", "--file", "nope.txt", *MANAGED))


def test_another_home(repo):
    repo.write("other/.claude/CLAUDE.md", "Other home.\n")
    done = repo.run("show", "--home", repo.path("other"), *MANAGED)
    assert b"Other home." in done.stdout
    assert b"Be brief." not in done.stdout


# -- mistakes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shwo"], "foretold: there is no command 'shwo', did you mean 'show'?; try: foretold --help\n"),
        (["frobnicate"], "foretold: there is no command 'frobnicate'; try: foretold --help\n"),
        (["show", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["show", "extra"], "unrecognized arguments: extra"),
        (["show", "-C"], "argument -C: expected one argument"),
        (["-C"], "argument -C: expected one argument"),
        (
            ["show", "-C", "/nowhere/at/all"],
            "foretold: /nowhere/at/all is not a folder; give the folder the agent starts in\n",
        ),
        (["show", "--agent", "emacs"], "foretold: unknown agent 'emacs'; known agents: aider, amp, claude-code, "),
        (
            ["show", "--agent", "claude-code@x"],
            "foretold: 'x' is not a version; known for claude-code: 1.0.0 to 2.1.325\n",
        ),
        (["conform"], "the following arguments are required: FILE"),
        (["conform", "/nowhere.jsonl"], "foretold: /nowhere.jsonl cannot be read"),
        (["completion"], "usage: foretold completion bash|zsh|fish"),
        (["completion", "tcsh"], "foretold completion: no script for 'tcsh'; supported shells: bash, zsh, fish\n"),
        (
            ["show", "--add-dir", "../x"],
            "unrecognized arguments: --add-dir ../x; flags of the agent\nitself go after --\n",
        ),
        (["compare", "--", "--bare"], "foretold compare: error: compare takes no flags of agents, but: --bare\n"),
        (
            ["probe", "--agent", "codx"],
            "foretold: unknown agent 'codx', did you mean 'codex'? Known agents: claude-code, ",
        ),
        (["sessions", "--agent", "codx"], "unknown agent 'codx', did you mean 'codex'? Known agents: claude-code, "),
        (["version", "extra"], "foretold version: error: unrecognized arguments: extra\n"),
        (["--json", "--version"], "unrecognized arguments: --version"),
        (["--jsn"], "foretold: error: unrecognized arguments: --jsn; did you mean --json?\n"),
        (["show", "--mesages"], "unrecognized arguments: --mesages; did you mean\n--messages?\n"),
        (["--agnt", "codex", "show"], "foretold: there is no option '--agnt'; did you mean --agent?\n"),
        (["recall", "x"], "there is no command 'recall', did you mean 'memory recall'?\n  try: foretold --help\n"),
        (["serch", "x"], "there is no command 'serch', did you mean 'sessions search'?\n  try: foretold --help\n"),
        (["lint"], "foretold: there is no command 'lint', did you mean 'check'?\n  try: foretold --help\n"),
        (["help", "shwo"], "foretold: there is no command 'shwo', did you mean 'show'?; try: foretold --help\n"),
        (["files", "src/x.ts"], "  try: foretold files --help, foretold files history src/x.ts\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(place, words, said):
    done = place.run(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in errors(done)
    assert "Traceback" not in errors(done)


def test_messages_fit_the_terminal_and_commands_stay_whole(place):
    for words, whole in (
        (["show", "--agent", "codx"], "did you mean 'codex'?"),
        (["files", "history", "src/app.py"], "see: foretold files list"),
        (["memory", "erase", "nope"], "see: foretold memory list"),
        (["sessions", "show", "zz"], "--all in"),
        (["hook", "Nope", "--explain"], "is not an event"),
        (["probe", "--agent", "nope"], "known agents: claude-code"),
    ):
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 60))
        with open(slave, "wb") as stream:
            done = subprocess.run(
                [sys.executable, "-m", "foretold", *words],
                cwd=place.proj,
                env=place.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stream,
                timeout=60,
                check=False,
            )
        with open(master, "rb") as shown:
            lines = os.read(shown.fileno(), 1 << 16).decode().replace("\r", "").splitlines()
        assert done.returncode in (1, 2), words
        assert [line for line in lines if len(line) > 60 and " " in line] == []
        assert any(whole in line for line in lines), lines


# -- help ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_names_every_command(place, word):
    done = place.run(word)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [name for name in COMMANDS if f"\n  {name} " not in text(done)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(place, command):
    done = place.run(command, "--help")
    assert done.returncode == 0
    said = text(done) + errors(done)
    assert said.startswith(f"usage: foretold {command}")
    assert f"foretold {command}" in said.partition("\n")[2]  # an example


@pytest.mark.parametrize("line", ["--version", "-V", "version", "--home x version", "version -C ."])
def test_the_version(place, line):
    assert text(place.run(*line.split())) == f"foretold {foretold.__version__}\n"


@pytest.mark.parametrize("line", ["--json version", "version --json"])
def test_the_version_as_data(place, line):
    said = {"schema": "foretold.version/1", "version": foretold.__version__}
    assert json.loads(text(place.run(*line.split()))) == said
    assert "\n  version " in text(place.run("--help"))


@pytest.mark.parametrize(
    "line",
    ["show --agent {}", "--agent {} --json", "compare --agent {} --json", "memory --agent {}", "install {} --dry-run"],
)
def test_the_name_of_an_agent_may_be_in_any_case(place, line):
    done = [place.run(*line.format(name).split()) for name in ("Codex", "codex")]
    assert (done[0].stdout, done[0].stderr, done[0].returncode) == (done[1].stdout, done[1].stderr, done[1].returncode)
    assert b"unknown agent" not in done[0].stderr


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["help", "memory"], ["memory", "--help"]),
        (["help", "memory", "add"], ["memory", "add", "--help"]),
        (["memory", "help", "add"], ["memory", "add", "--help"]),
        (["--help", "show"], ["show", "--help"]),
        (["help", "sessions", "show"], ["sessions", "show", "--help"]),
        (["help", "help"], ["--help"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_help_in_another_order(place, words, same):
    done = place.run(*words)
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", place.run(*same).stdout)


# -- conform -------------------------------------------------------------------------------------------------

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "conformance")


def cases(place, *wanted):
    """A file with some recorded cases."""
    with open(os.path.join(FOLDER, "claude-code@2.1.325.jsonl"), encoding="utf-8") as file:
        rows = {row["id"]: row for row in map(json.loads, file)}
    chosen = [change(dict(rows[name])) if change else rows[name] for name, change in wanted]
    return place.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in chosen))


def spoil(row):
    return {**row, "expect": {**row["expect"], "memory": "something else"}}


def test_conform_all_pass(place):
    path = cases(place, ("disc-basic", None), ("disc-none", None))
    done = place.run("conform", path, env={"PATH": os.environ["PATH"]})
    assert (text(done), done.returncode) == ("2 passed, 0 failed, 0 skipped\n", 0)


def test_conform_with_a_failure_and_a_skip(place):
    path = cases(
        place, ("disc-basic", spoil), ("disc-none", None), ("disc-basic", lambda row: {**row, "setup": ["true"]})
    )
    done = place.run("conform", path, env={"PATH": os.environ["PATH"]})
    lines = text(done).split("\n")
    assert lines[-2] == "1 passed, 1 failed, 1 skipped"
    assert "failed  disc-basic" in lines
    assert "skipped disc-basic: its setup runs shell commands; allow them with --allow-setup" in lines
    assert any("something else" in line for line in lines)
    assert (done.returncode, done.stderr) == (1, b"")


def test_conform_with_permission(place):
    path = cases(place, ("disc-basic", lambda row: {**row, "setup": ["true"]}))
    done = place.run("conform", "--allow-setup", path, env={"PATH": os.environ["PATH"]})
    assert text(done).endswith("1 passed, 0 failed, 0 skipped\n")


def test_conform_as_data(place):
    path = cases(place, ("disc-basic", spoil), ("disc-none", None))
    done = place.run("conform", "--json", path, env={"PATH": os.environ["PATH"]})
    found = data(done)
    assert {key: found[key] for key in ("schema", "passed", "failed", "skipped", "skips")} == {
        "schema": "foretold.conform/1",
        "passed": 1,
        "failed": 1,
        "skipped": 0,
        "skips": [],
    }
    (failure,) = found["failures"]
    assert (failure["id"], failure["status"], failure["differences"][0]["key"]) == ("disc-basic", "failed", "memory")
    assert failure["differences"][0]["expected"] == "something else"


def test_conform_only_some(place):
    path = cases(place, ("disc-basic", None), ("disc-none", None))
    done = place.run("conform", "--only", "none", path, env={"PATH": os.environ["PATH"]})
    assert text(done) == "1 passed, 0 failed, 0 skipped\n"


def test_conform_with_a_bad_line(place):
    path = place.write("cases.jsonl", '{"id": "a"}\n{')
    done = place.run("conform", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert errors(done).startswith(f"foretold: {path}:2: not valid JSON")


# -- terminals and pipes -------------------------------------------------------------------------------------


def on_a_terminal(place, *words, **env):
    """What a process writes when its output is a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "foretold", *words],
        cwd=place.proj,
        env=place.environment(TERM="xterm", **env),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.DEVNULL,
    )
    os.close(follower)
    written = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            more = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        written += more
    process.wait()
    os.close(leader)
    return written.decode().replace("\r\n", "\n")


def test_colours_only_where_a_terminal_wants_them(repo):
    assert ESCAPE.search(text(repo.run(*MANAGED))) is None
    assert ESCAPE.search(on_a_terminal(repo, *MANAGED))
    assert ESCAPE.search(on_a_terminal(repo, *MANAGED, NO_COLOR="1")) is None
    assert ESCAPE.search(on_a_terminal(repo, *MANAGED, NO_COLOR=""))


def test_on_a_terminal_a_line_end_follows(repo):
    assert on_a_terminal(repo, "show", *MANAGED) == view_of(repo).text + "\n"


def test_files_cannot_colour_the_terminal(place):
    """Names and messages are written by strangers."""
    place.write("proj/CLAUDE.md", "@x\x1b[31m.md\n")
    place.write("proj/.claude/rules/\x1b]0;title\x07.md", "---\npaths: ['\x1b[31m*.ts', './x']\n---\nrule")
    place.write("proj/.claude/rules/a\nb.md", "rule")
    for words in ([], ["explain"], ["explain", "--file", "\x1b[31m.ts"], ["explain", "\x1b[31m.md"]):
        shown = text(place.run(*words, *MANAGED))
        assert "\x1b" not in shown
        assert "\x07" not in shown


@pytest.mark.parametrize("words", [[], ["show"], ["explain"], ["explain", "--json"], ["--help"]], ids=" ".join)
def test_a_pipe_that_closes_early(repo, words):
    """`foretold | head -1` is no error worth a word."""
    repo.write("proj/CLAUDE.md", "x\n" * 200_000)
    more = () if words == ["--help"] else MANAGED
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "foretold", *words, *more],
            cwd=repo.proj,
            env=repo.environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr
    assert done.returncode in (0, 1, 3)


@pytest.mark.parametrize("buffering", ["", "1"])
@pytest.mark.parametrize(
    "words", [[], ["show"], ["explain", "--json"], ["--help"], ["sessions", "--all"], ["files"]], ids=" ".join
)
def test_a_disk_that_is_full_is_said_in_one_line(repo, words, buffering):
    more = MANAGED if not words or words[0] in ("show", "explain") else ()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "foretold", *words, *more],
            cwd=repo.proj,
            env=repo.environment(PYTHONUNBUFFERED=buffering),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 3
    assert errors(done).endswith("foretold: the output cannot be written: No space left on device\n")
    assert "Traceback" not in errors(done)


LONG = "a-rather-long-name-for-a-folder/" * 5


@pytest.mark.parametrize(
    "words", [[], ["explain"], ["explain", "--file", LONG + "x.ts"], ["explain", LONG + "CLAUDE.md"]], ids=range(4)
)
@pytest.mark.parametrize("columns", ["80", "100"])
def test_no_line_is_longer_than_the_terminal(place, words, columns):
    long = LONG + "with-a-long-name-too.md"
    place.write("proj/CLAUDE.md", f"@{long} @{LONG}gone.md @{LONG}x.bin\n\n`@{long}`\n")
    place.write(f"proj/{long}", f"imported @{LONG}far-away.md")
    place.write(f"proj/{LONG}x.bin")
    place.write(f"proj/{LONG}CLAUDE.md", "nested @gone.md")
    place.write(
        "proj/.claude/rules/" + LONG + "r.md", "---\npaths: ['./" + LONG + "**', '" + LONG + "*.ts']\n---\nrule"
    )
    place.write("home/.claude/settings.json", "{" + "nonsense" * 20)
    done = place.run(*words, *MANAGED, env={"COLUMNS": columns})
    assert [line for line in text(done).split("\n") if len(line) > int(columns)] == []
    assert done.stderr == b""


def test_a_narrow_terminal(repo):
    done = repo.run("explain", *MANAGED, env={"COLUMNS": "5"})
    assert done.stderr == b""


# -- other locales and names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["show"], ["explain"], ["--json"], ["explain", "CLAUDE.md"]], ids=" ".join)
def test_an_output_that_is_not_utf8(repo, words):
    """A terminal of another encoding, or none, gets what it can show, never a traceback."""
    done = repo.run(*words, *MANAGED, env={"PYTHONIOENCODING": "ascii"})
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1)
    if words == ["show"]:
        assert done.stdout == view_of(repo).text.encode()


@pytest.mark.parametrize(
    "words", [[], ["show"], ["show", "--messages"], ["explain"], ["--json"], ["show", "--json"]], ids=" ".join
)
def test_names_that_are_not_utf8(place, words):
    folder = os.fsencode(place.folder("proj/.claude/rules"))
    with open(folder + b"/caf\xe9.md", "wb") as file:
        file.write(b"rule")
    done = place.run(*words, *MANAGED)
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1)
    if "--json" in words:
        assert [entry["text"] for entry in data(done)["entries"]] == ["rule"]


# -- columns ----------------------------------------------------------------------------------------------------


def test_a_name_that_cannot_be_shown_next_to_its_change_is_whole(place):
    place.write("proj/CLAUDE.md", "x")
    name = ".claude/rules/a-folder-of-rules/python-for-the-shop.instructions.mdc"
    place.write(f"proj/{name}", "Rule.\n")
    lines = text(place.run("explain", *MANAGED)).split("\n")
    at = next(at for at, line in enumerate(lines) if "python-for-the-shop.instructions.mdc" in line)
    assert lines[at + 1] == "      → rename it to python-for-the-shop.instructions.md"
    assert [line for line in lines if len(line) > 80] == []


def test_a_terminal_without_a_width_is_80_wide(place):
    shown = text(place.run("rule", env={"COLUMNS": "0"}))
    assert shown == text(place.run("rule", env={"COLUMNS": "80"}))
    assert "…" not in shown
    assert len({found.end() - found.start() for found in re.finditer(r"(?m)^  [a-z]\S+ +\w+ +", shown)}) == 1
    assert max(map(len, shown.split("\n"))) <= 80


@pytest.mark.parametrize("words", [["files"], ["memory"], ["--agent", "codex", "--", "--cd", ".."], ["doctor"]])
def test_what_is_said_of_nothing_fits_80_columns(place, words):
    lines = text(place.run(*words)).split("\n")
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []


# -- compare ----------------------------------------------------------------------------------------------------


def test_compare_says_the_differences_first(repo):
    done = repo.run("compare", "--agent", "claude-code,codex")
    lines = text(done).split("\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[0].startswith("2 agents in /")
    assert lines[2].startswith("- only Claude Code sees ~/.claude/CLAUDE.md, CLAUDE.md and ")
    assert "A  Claude Code 2.1.325, recorded" in lines
    assert all(len(line) <= 82 for line in lines)


def test_what_only_one_agent_sees_is_one_line(place):
    place.write("proj/AGENTS.md", "Both.\n")
    for number in range(9):
        place.write(f"proj/.claude/rules/r{number}.md", "Rule.\n")
    found = data(place.run("compare", "--agent", "claude-code,codex", "--json", *MANAGED))
    [only] = [line for line in found["differences"] if line.startswith("only ")]
    assert re.fullmatch(r"only Claude Code sees (\.claude/rules/r\d\.md,? ){6}and 3 more", only)


def test_compare_as_markdown(repo):
    lines = text(repo.run("compare", "--agent", "claude-code", "--agent", "codex", "--format", "markdown")).split("\n")
    assert "| file | Claude Code | Codex |" in lines
    assert any(line.startswith(("| `CLAUDE.md` | ● 1", "| `CLAUDE.md` | ● 2")) for line in lines)


def test_compare_as_data(repo):
    found = data(repo.run("compare", "--agent", "all", "--json"))
    assert set(found) == {"schema", "cwd", "differences", "agents", "files", "others", "nested_cut"}
    assert len(found["agents"]) == 25
    (file,) = [each for each in found["files"] if each["path"] == repo.path("proj/CLAUDE.md")]
    assert file["agents"]["claude-code"]["state"] == "always"
    assert set(file["agents"]["codex"]) == {"state", "order", "tokens", "lost", "reason"}


def test_compare_names_the_agents_that_are_not_shown(place):
    """An AGENTS.md concerns agents that are not set up, too; the rest is one option away."""
    place.write("proj/CLAUDE.md", "Text.\n")
    place.write("proj/AGENTS.md", "Text.\n")
    lines = text(place.run("compare")).split("\n")
    shown = [line.split()[1] for line in lines if re.match(r"[A-H]  ", line)]
    assert shown == ["Claude", "Codex", "opencode", "Copilot", "Qwen", "Cline", "Continue"]
    others = len(AGENTS) - len(shown)
    assert lines[-2] == f"{others} other agents: foretold compare --agent all"
    assert len(data(place.run("compare", "--json"))["others"]) == others
    assert "other agents" not in text(place.run("compare", "--agent", "codex,claude-code"))


def test_compare_lists_files_of_folders_below(place):
    place.write("proj/CLAUDE.md", "Text.\n")
    for number in range(25):
        place.write(f"proj/d{number:02}/AGENTS.md", "Text.\n")
    shown = text(place.run("compare", "--agent", "claude-code,opencode"))
    row = next(line for line in shown.split("\n") if line.startswith("d00/AGENTS.md"))
    assert row.split() == ["d00/AGENTS.md", "×", "◌"]
    assert "… and 5 more files in folders below (--all)" in shown
    assert "d24/AGENTS.md" in text(place.run("compare", "--agent", "claude-code,opencode", "--all"))
    files = data(place.run("compare", "--agent", "claude-code,opencode", "--json"))["files"]
    assert files[-1]["agents"]["claude-code"]["reason"] == "shadowed"


def test_compare_of_nobody(repo):
    assert errors(repo.run("compare", "--agent", "nobody")).startswith("foretold: unknown agent 'nobody'")


def test_an_agent_that_refuses(repo):
    done = repo.run("show", "--agent", "gemini-cli")
    assert "refuses to start here" in errors(done)
    for words in ((), ("explain",)):
        assert "It refuses to start here (exit status 55)" in text(repo.run(*words, "--agent", "gemini-cli"))
    assert "Gemini CLI refuses to start here" in text(repo.run("compare", "--agent", "gemini-cli,codex"))


# -- one answer for each file --------------------------------------------------------------------------------


def test_the_findings_of_folders_below_count(place):
    place.write("proj/a/CLAUDE.md", "@docs/gone.md\n")
    for words in ((), ("explain",), ("explain", "a/CLAUDE.md")):
        done = place.run(*words, *MANAGED)
        assert done.returncode == 1
        assert "1 finding\n\n  a/CLAUDE.md:1  error import-missing" in text(done)
        assert "→ fix the path, or write it without @" in text(done)
    assert [each["code"] for each in data(place.run("--json", *MANAGED))["findings"]] == ["import-missing"]
    assert [each["line"] for each in data(place.run("explain", "a/CLAUDE.md", "--json", *MANAGED))["findings"]] == [1]


def test_a_project_with_only_a_misspelt_file_is_not_clean(place):
    place.write("proj/claude.md", "text")
    done = place.run(*MANAGED)
    assert done.returncode == 1
    assert "claude.md  warning name-case" in text(done)
    assert "→ rename it to CLAUDE.md" in text(done)


def test_a_rule_that_is_listed_and_attached_later(place):
    place.write("proj/.git/HEAD", "ref: refs/heads/main\n")
    place.write("proj/.github/instructions/ts.instructions.md", "---\napplyTo: '**/*.ts'\n---\nTypes.\n")
    place.write("proj/src/a.ts", "")
    agent = ("--agent", "copilot-cli")
    assert "Loaded at the start: 0 files, 0 B and the names of 1 more" in text(place.run("explain", *agent, *MANAGED))
    place.write("proj/.claude/rules/src.md", "---\npaths: 'lib/**'\n---\nLib.\n")
    assert "      paths: lib/**\n" in text(place.run("explain", *agent, *MANAGED))
    assert "adds 1 file, about" in text(place.run("explain", *agent, "--file", "src/a.ts", *MANAGED))


def test_an_agent_that_refuses_to_start_says_what_to_do(place):
    place.write("proj/GEMINI.md", "text")
    shown = text(place.run("--agent", "gemini-cli", *MANAGED))
    assert shown.endswith("\nnext: start Gemini CLI here once, and trust the folder\n")
