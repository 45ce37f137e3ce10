"""`foretold doctor`: what it finds, what it repairs, and what it leaves alone."""

import json
import os
from importlib.util import find_spec

import pytest

from foretold.cli import doctor
from foretold.cli.doctor import NOTHING
from foretold.cli.install import uninstall
from foretold.serve.install.backup import Backups, state_folder
from foretold.serve.install.leftovers import remove_leftovers
from foretold.serve.install.program import our_command
from foretold.serve.install.targets import InstallPlace

from .test_install import read, run

SETTINGS = ".claude/settings.json"


def hook(line, **more):
    return {"hooks": [{"type": "command", "command": line, **more}]}


def check(place, *words, **options):
    return run(place, doctor, *words, **options)


def codes(done):
    return [finding["code"] for finding in done.data["findings"]]


def line_of(place, event="Stop"):
    return json.loads(read(place.path(f"home/{SETTINGS}")))["hooks"][event][0]["hooks"][0]["command"]


def test_a_healthy_machine(place):
    done = check(place)
    assert (done.code, done.text, done.error) == (0, NOTHING + "\n", "")


def test_what_is_not_isolated_is_found_and_repaired_after_a_question(place):
    text = json.dumps({"model": "opus", "hooks": {"Stop": [hook("python3 -m foretold hook Stop", timeout=7)]}})
    path = place.write(f"home/{SETTINGS}", text)
    server = {"headnote": {"command": "python3", "args": ["-m", "headnote", "mcp"]}}
    place.write("home/.claude.json", json.dumps({"mcpServers": server}))
    done = check(place, "--json")
    assert (done.code, codes(done)) == (1, ["command-not-isolated"] * 2)
    asked = check(place, "--fix")
    assert (asked.code, asked.error) == (1, "Nothing was changed: add --yes to do it.\n")
    assert read(path) == text
    fixed = check(place, "--fix", "--yes")
    assert (fixed.code, "command-not-isolated" in fixed.text) == (0, False)
    command = our_command("user", {"PATH": "/nowhere"})
    assert line_of(place) == f"{' '.join(command)} hook Stop"
    assert json.loads(read(place.path("home/.claude.json")))["mcpServers"]["headnote"]["args"] == [*command[1:], "mcp"]
    assert json.loads(read(path))["model"] == "opus"
    assert check(place, "--json").code == 0


@pytest.mark.parametrize("agent", ["codex", "continue"])
def test_servers_in_other_formats_are_repaired_too(place, agent):
    toml = '# mine\n[mcp_servers.foretold]\ncommand = "python3"\nargs = ["-m", "foretold", "mcp"]\n'
    yaml = 'name: x\nmcpServers:\n  - name: foretold\n    command: python3\n    args: ["-m", "foretold", "mcp"]\n'
    path = {"codex": ".codex/config.toml", "continue": ".continue/config.yaml"}[agent]
    place.write(f"home/{path}", toml if agent == "codex" else yaml)
    assert codes(check(place, "--json")) == ["command-not-isolated"]
    done = check(place, "--fix", "--yes", "--json")
    missing = [] if find_spec("mcp") else ["server-package-missing"]  # the frameworks come after these tests
    assert (codes(done), done.data["fixed"]) == (missing, [f"home/{path}"])
    assert ("# mine" in read(place.path(f"home/{path}"))) == (agent == "codex")


def test_a_line_that_does_more_is_left_to_its_author(place):
    line = "cd /srv && python3 -m foretold hook Stop"
    path = place.write(f"home/{SETTINGS}", json.dumps({"hooks": {"Stop": [hook(line)]}}))
    before = read(path)
    done = check(place, "--fix", "--yes", "--json")
    assert (done.code, codes(done), done.data["fixed"], read(path)) == (1, ["command-not-isolated"], [], before)
    assert "change it by hand" in done.data["findings"][0]["message"]


def test_a_program_that_is_gone_and_settings_that_cannot_be_read(place):
    place.write(f"home/{SETTINGS}", json.dumps({"hooks": {"Stop": [hook("/gone/foretold hook Stop")]}}))
    place.write("home/.gemini/settings.json", "{")
    assert codes(check(place, "--json")) == ["command-gone", "settings-unreadable"]


def test_relative_entries_of_variables(place):
    done = check(place, "--json", env={"PATH": "/nowhere:", "PYTHONPATH": "src:/lib"})
    assert codes(done) == ["relative-search-path"] * 2
    assert codes(check(place, "--json", env={"PYTHONPATH": ""})) == []


def test_memories_of_this_project(place):
    folder = f"home/.claude/projects/{''.join(c if c.isalnum() else '-' for c in place.proj)}/memory"
    place.write(f"{folder}/plain.md", "No frontmatter.\n")
    done = check(place, "--json")
    assert set(codes(done)) == {"memory-plain", "index-unlisted"}
    fixed = check(place, "--fix", "--yes", "--json")
    assert (codes(fixed), fixed.data["fixed"]) == (["memory-plain"], [f"{folder}/MEMORY.md"])


def test_a_repair_can_be_taken_back(place):
    text = json.dumps({"hooks": {"Stop": [hook("python3 -m foretold hook Stop")]}})
    path = place.write(f"home/{SETTINGS}", text)
    assert check(place, "--fix", "--yes").code == 0
    assert read(path) != text
    kept = os.listdir(f"{state_folder(place.home, {})}/objects")
    assert any(read(f"{state_folder(place.home, {})}/objects/{name}") == text for name in kept)


def test_a_hook_written_by_hand_stays(place):
    """Byte for byte if the file is as we left it; and if it was changed since, or we never wrote it."""
    from foretold.cli import install

    text = json.dumps({"hooks": {"Stop": [hook("/opt/bin/foretold hook Stop")]}}, indent=3)
    path = place.write(f"home/{SETTINGS}", text)
    done = run(place, uninstall, "claude-code", "--yes")
    assert (read(path), "1 hook that calls foretold was not written" in done.text) == (text, True)
    run(place, install, "claude-code", "--hooks", "--yes", "--command", "/opt/bin/foretold")
    assert read(path) != text
    run(place, uninstall, "claude-code", "--yes")
    assert read(path) == text


# What a killed install leaves


def leave(place, content, name=".foretold-4d2-0f3a-0"):
    return place.write(f"home/.claude/{name}", content)


def test_what_a_killed_install_left_is_found_and_removed(place):
    backups = Backups(state_folder(place.home, {}))
    backups.keep(b'{"whole": true}')
    known = [leave(place, '{"whole": true}'), leave(place, '{"who', ".foretold-4d2-0f3b-1-old")]
    known.append(leave(place, "", ".foretold-4d2-0f3c-0"))
    unknown = leave(place, '{"of": "another program"}', ".headnote-4d2-0f3d-0")
    other = leave(place, "x", ".foretold-notes")
    assert codes(check(place, "--json")) == ["install-leftover"] * 4
    done = check(place, "--fix", "--yes", "--json")
    assert codes(done) == ["install-leftover"]
    assert [os.path.exists(path) for path in (*known, unknown, other)] == [False, False, False, True, True]


def test_what_a_running_install_needs_stays(place):
    from foretold.files.restore.restore import Undo

    backups = Backups(state_folder(place.home, {}))
    backups.keep(b"{}")
    path = leave(place, "{}")
    here = InstallPlace(place.home, place.proj, {})
    with Undo(backups.folder, backups.kernel).locked():
        assert remove_leftovers(here, backups) == []
    assert remove_leftovers(here, backups) == [path]


@pytest.mark.parametrize("words", [("install", "claude-code"), ("uninstall", "claude-code")])
def test_a_later_run_removes_it_also_if_there_is_nothing_else_to_do(place, words):
    from foretold.cli import install

    module = install if words[0] == "install" else uninstall
    if module is install:
        run(place, install, words[1], "--yes", "--command", "/opt/bin/foretold")
    backups = Backups(state_folder(place.home, {}))
    backups.keep(b"{}")
    path = leave(place, "{}")
    more = ("--command", "/opt/bin/foretold") if module is install else ()
    done = run(place, module, words[1], "--yes", *more)
    assert "nothing to change" in done.text
    assert not os.path.exists(path)


def test_the_hint_for_a_loose_command_is_what_repairs_it():
    """Not an install, and not `--fix` for a line that only a person can change."""
    from foretold.serve.install.targets import BY_HAND, LOOSE, Installation, findings_of

    whys = (f"{LOOSE}why", f"{LOOSE}why{BY_HAND}")
    found = [Installation("claude-code", "user", "/s", "hooks", problem=why, is_valid=False) for why in whys]
    first, second = (finding.hint for finding in findings_of(found))
    assert first == "foretold doctor --fix"
    assert ("doctor" in second, second.startswith("in that line")) == (False, True)
