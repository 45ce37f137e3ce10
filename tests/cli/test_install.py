"""`foretold install` and `foretold uninstall`: what a person reads, what a program reads, what a script gets."""

import io
import os
import pty
import sys
from typing import NamedTuple

import pytest

from foretold.cli import install
from foretold.cli.install import uninstall
from foretold.errors import ForetoldError

from .documents import read_document

PROGRAM = "/opt/bin/foretold"
SETTINGS = '{\n  "model": "opus",\n  "hooks": {\n    "Stop": []\n  }\n}\n'
KEY = "sk-ant-" + "api03-Zq8" * 5 + "R2d2"


class Done(NamedTuple):
    code: int
    text: str
    error: str

    @property
    def data(self):
        return read_document(self.text)


def run(place, module, *words, env=None, stdin=None):
    """A command in this process; without a terminal, unless one is given."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place.proj)
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in place.environment(**(env or {})).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", stdin or io.StringIO(""))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            code = module.command(words)
        except SystemExit as left:
            code = left.code
        except ForetoldError as error:
            print(f"foretold: {error}", file=sys.stderr)
            code = error.exit_code
    return Done(code, place.short(out.getvalue()), place.short(err.getvalue()))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


WITH = ("--command", PROGRAM)
SHOWN = """\
~/.claude/settings.json:
  line 3
      "hooks": {
        "Stop": [
  +       {"hooks": [{"type": "command", "command": "/opt/bin/foretold hook
  +           Stop", "timeout": 10}]}
        ]
      }

claude-code gets 1 hook: /opt/bin/foretold
"""


def stop_only(place, module, *words, **options):
    return run(place, module, "claude-code", "--no-mcp", "--events", "Stop", *WITH, *words, **options)


def test_it_shows_the_change_and_changes_nothing_without_consent(place):
    path = place.write(
        "home/.claude/settings.json", '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n'
    )
    before = read(path)
    done = stop_only(place, install)
    assert done.code == 1
    assert done.text == SHOWN
    assert done.error == "Nothing was changed: add --yes to do it.\n"
    dry = stop_only(place, install, "--dry-run")
    assert (dry.code, dry.text) == (0, SHOWN + "Nothing was changed (--dry-run).\n")
    assert read(path) == before


def test_it_asks_at_a_terminal(place, monkeypatch):
    path = place.write("home/.claude/settings.json", SETTINGS)
    for answer, code in (("n", 1), ("\4", 1), ("y", 0)):
        main, side = pty.openpty()
        os.write(main, f"{answer}\n".encode())
        with open(side, encoding="utf-8") as terminal:
            done = stop_only(place, install, stdin=terminal)
        os.close(main)
        assert (done.code, "foretold\nChange 1 file? [y/N]" in done.text) == (code, True)
        assert done.text.endswith("Nothing was changed.\n") == (answer != "y")
        assert ("foretold hook Stop" in read(path)) == (answer == "y")


def test_done_and_taken_back(place):
    path = place.write("home/.claude/settings.json", SETTINGS)
    done = run(place, install, "claude-code", "--yes", *WITH)
    assert done.code == 0
    assert done.text.endswith("Done: 2 files changed.\nNew sessions have it. To undo: foretold uninstall claude-code\n")
    again = run(place, install, "claude-code", "--yes", *WITH)
    assert (again.code, again.text) == (0, "claude-code: already installed (user), nothing to change\n")
    gone = run(place, uninstall, "claude-code", "--yes")
    assert gone.code == 0
    assert gone.text.startswith("~/.claude/settings.json: as it was before foretold, byte for byte\n")
    assert "~/.claude.json: was created for foretold, and is deleted\n" in gone.text
    assert read(path) == SETTINGS
    assert not os.path.exists(place.path("home/.claude.json"))
    none = run(place, uninstall, "claude-code")
    assert (none.code, none.text) == (0, "claude-code: not installed (user), nothing to change\n")


def test_of_a_file_that_was_changed_since_only_ours_goes(place):
    path = place.write("home/.claude/settings.json", '{\n  "model": "opus"\n}\n')
    stop_only(place, install, "--yes")
    place.write("home/.claude/settings.json", read(path).replace("opus", "sonnet"))
    done = run(place, uninstall, "claude-code", "--yes")
    assert done.text.startswith("~/.claude/settings.json: was changed since; only foretold's entries are removed\n")
    assert read(path) == '{\n  "model": "sonnet"\n}\n'


def test_it_fits_into_eighty_columns_and_hides_secrets(place):
    place.write("home/.claude.json", '{\n  "x": "' + "long " * 40 + '",\n  "apiKey": "' + KEY + '"\n}\n')
    done = run(place, install, "claude-code", "--no-hooks", *WITH)
    assert KEY[:20] not in done.text
    assert max(map(len, done.text.split("\n"))) <= 80
    assert run(place, install, "claude-code", "--no-hooks", "--dry-run", "--json", *WITH).text.count(KEY) == 0


def test_a_file_with_two_names_is_told_of(place):
    path = place.write("home/.claude/settings.json", SETTINGS)
    os.link(path, place.path("home/other.json"))
    done = stop_only(place, install, "--yes")
    assert done.text.startswith("~/.claude/settings.json (it has 2 hard links; the others are not changed):\n")
    assert read(place.path("home/other.json")) == SETTINGS


def test_what_is_installed_where(place):
    nothing = run(place, install)
    assert nothing.code == 0
    assert nothing.text == (
        "foretold is not installed in any agent yet. See what would change:\n  foretold install claude-code --dry-run\n"
    )
    assert run(place, install, "--list", "codx").error.startswith(
        "foretold: the agent 'codx' is not known. Did you mean 'codex'? Known agents:"
    )
    run(place, install, "claude-code", "--yes", *WITH)
    assert run(place, install, "codex", "--list").text.startswith("foretold is not installed in codex yet. See what")
    run(place, install, "codex", "--project", "--yes", "--no-hooks")
    shown = run(place, install, "--list")
    assert shown.code == 1
    assert shown.text == (
        "claude-code (user): hooks for 8 events  ~/.claude/settings.json\n"
        "  cannot be started: /opt/bin/foretold\n"
        "  because the program does not exist\n"
        "  try: foretold install claude-code\n"
        "claude-code (user): MCP server  ~/.claude.json\n"
        "  cannot be started: /opt/bin/foretold mcp\n"
        "  because the program does not exist\n"
        "  try: foretold install claude-code\n"
        "codex (project): MCP server  .codex/config.toml\n"
        "  cannot be started: foretold mcp\n"
        "  because the program does not exist\n"
        "  try: foretold install codex --project\n"
    )
    data = run(place, install, "--json").data
    assert data["schema"] == "foretold.installed/1"
    assert [(each["agent"], each["part"], each["is_valid"]) for each in data["installed"]] == [
        ("claude-code", "hooks", False),
        ("claude-code", "mcp", False),
        ("codex", "mcp", False),
    ]


def test_for_programs(place):
    place.write("home/.codex/config.toml", "# mine\n")
    asked = run(place, install, "codex", "--no-hooks", "--json", *WITH)
    assert asked.code == 1
    assert asked.data == {
        "schema": "foretold.install/1",
        "plans": [
            {
                "agent": "codex",
                "scope": "user",
                "done": False,
                "changes": [
                    {
                        "path": "home/.codex/config.toml",
                        "file": "home/.codex/config.toml",
                        "action": "write",
                        "how": "added",
                        "diff": "@@ -1 +1,5 @@\n # mine\n+\n+[mcp_servers.foretold]\n"
                        '+command = "/opt/bin/foretold"\n+args = ["mcp"]',
                    }
                ],
                "same": [],
                "notes": [],
            }
        ],
    }
    done = run(place, install, "codex", "--no-hooks", "--json", "--yes", *WITH)
    assert (done.code, done.data["plans"][0]["done"]) == (0, True)
    back = run(place, uninstall, "codex", "--json", "--yes")
    assert (back.code, back.data["schema"], back.data["plans"][0]["changes"][0]["how"]) == (
        0,
        "foretold.uninstall/1",
        "restored",
    )
    assert read(place.path("home/.codex/config.toml")) == "# mine\n"


def test_several_agents_all_or_none(place):
    place.write("home/.gemini/settings.json", "{")
    done = run(place, install, "codex", "gemini-cli", "--yes", *WITH)
    assert done.code == 3
    assert done.error == (
        "foretold: ~/.gemini/settings.json cannot be changed safely: line 1: expected a\n"
        "key, found the end. Fix it, or change it by hand. Nothing was changed\n"
    )
    assert not os.path.exists(place.path("home/.codex"))


@pytest.mark.parametrize(
    ("module", "words", "code", "said"),
    [
        (
            install,
            ["claud-code"],
            2,
            "foretold: the agent 'claud-code' is not known. Did you mean 'claude-code'? Known agents:",
        ),
        (install, ["foo"], 2, "foretold: the agent 'foo' is not known. Known agents: claude-code, codex,"),
        (install, ["claude-code", "--command", "true"], 2, "--command must end with the program foretold"),
        (install, ["claude-code", "--no-hooks", "--no-mcp"], 2, "there is nothing left to do"),
        (uninstall, ["claude-code", "--no-hooks", "--no-mcp"], 2, "there is nothing left to do"),
        (install, ["opencode", "--hooks"], 2, "opencode has no hooks that foretold knows. Nothing was changed"),
        (install, ["claude-code", "--events", "Foo"], 2, "claude-code has no event Foo; there are: SessionStart,"),
        (install, ["claude-code", "--events", ","], 2, "--events needs names of events"),
        (install, ["claude-code", "--mcp", "--events", "Stop"], 2, "--events is about hooks"),
        (install, ["claude-code", "--user", "--project"], 2, "not allowed with argument --user"),
        (uninstall, [], 2, "from which agent? `foretold install` lists where foretold is"),
        (uninstall, ["nobody"], 2, "the agent 'nobody' is not known. Known agents:"),
    ],
)
def test_wrong_usage(place, module, words, code, said):
    done = run(place, module, *words)
    assert (done.code, said in done.error.replace("\n", " "), done.text) == (code, True, "")
    assert max(map(len, done.error.split("\n"))) <= 80


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([], ["hooks", "mcp"]),
        (["--hooks"], ["hooks"]),
        (["--mcp"], ["mcp"]),
        (["--hooks", "--mcp"], ["hooks", "mcp"]),
        (["--no-hooks"], ["mcp"]),
        (["--no-mcp"], ["hooks"]),
        (["--mcp", "--no-hooks"], ["mcp"]),
    ],
)
def test_a_part_that_is_named_is_the_only_one(place, words, parts):
    files = {"hooks": "home/.claude/settings.json", "mcp": "home/.claude.json"}
    done = run(place, install, "claude-code", "--json", *words, *WITH)
    assert [each["path"] for each in done.data["plans"][0]["changes"]] == [files[part] for part in parts]
    run(place, install, "claude-code", "--yes", *WITH)
    gone = run(place, uninstall, "claude-code", "--json", *words)
    assert [each["path"] for each in gone.data["plans"][0]["changes"]] == [files[part] for part in parts]


def test_a_server_that_cannot_start_is_told_of(place):
    place.write("venv/pyvenv.cfg", "")
    python = place.write("venv/bin/python3", "", mode=0o755)
    program = place.write("venv/bin/foretold", f"#!{python}\n", mode=0o755)
    words = ("--command", program)
    done = run(place, install, "claude-code", "--yes", *words)
    said = "Note: the MCP server is left out: the package that it needs is not installed.\n"
    remedy = "  try: venv/bin/python3 -m pip install 'mcp>=2.3,<3'\n"
    assert (done.code, said + remedy in done.text) == (0, True)
    assert "\nclaude-code gets 8 hooks:\n" in done.text
    assert (run(place, install, "opencode", "--yes", *words)) == Done(
        1, "opencode: it takes only the MCP server, nothing to change\n" + said + remedy, ""
    )
    assert run(place, install).code == 0
    run(place, install, "claude-code", "--mcp", "--yes", *words)
    listed = run(place, install)
    assert (listed.code, listed.text.endswith(remedy)) == (1, True)
    assert "MCP server  ~/.claude.json\n  cannot be started:" in listed.text


def test_what_is_shown_is_short_and_whole_words(place):
    place.write("home/.claude/settings.json", '{"model":"opus","env":{' + '"A":"b", ' * 400 + '"C":"d"}}')
    shown = run(place, install, "claude-code", *WITH).text.split("\n")
    assert len(shown) < 40
    assert max(map(len, shown)) <= 80
    assert shown[:4] == [
        "~/.claude/settings.json:",
        "  line 1",
        '  - …":"b", "A":"b", "C":"d"}}',
        '  + …":"b", "A":"b", "C":"d"},',
    ]
    start = shown.index('  +     "UserPromptSubmit": [{"hooks": [{"type": "command", "command":')
    assert shown[start + 1] == '  +         "/opt/bin/foretold hook UserPromptSubmit", "timeout": 10}]}],'


def test_a_question_about_several_agents_fits_too(place):
    done = run(place, install, "claude-code", "codex", "gemini-cli", "qwen-code", "--yes", *WITH)
    assert done.text.endswith(
        "New sessions have it. To undo:\n  foretold uninstall claude-code codex gemini-cli qwen-code\n"
    )
    gone = run(place, uninstall, "claude-code", "codex", "gemini-cli", "qwen-code", "--yes")
    assert max(map(len, (done.text + gone.text).split("\n"))) <= 80


def test_help_names_the_agents_in_eighty_columns(place):
    for module in (install, uninstall):
        done = run(place, module, "--help")
        assert done.code == 0
        assert "claude-code, codex, gemini-cli" in done.text.replace("\n", " ")
        assert max(map(len, done.text.split("\n"))) <= 80


def test_another_home_is_not_mixed_with_variables_of_this_one(place):
    other = place.folder("other")
    done = run(
        place, install, "claude-code", "--home", other, "--json", *WITH, env={"CLAUDE_CONFIG_DIR": place.path("cc")}
    )
    assert [each["path"] for each in done.data["plans"][0]["changes"]] == [
        "other/.claude/settings.json",
        "other/.claude.json",
    ]
