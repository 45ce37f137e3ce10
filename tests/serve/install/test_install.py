"""Installing and uninstalling: all or nothing, and back byte for byte."""

import json
import os
import shlex
import sys
import tempfile

import pytest
from hypothesis import given, settings, strategies as st

from foretold.dialects.install_targets import INSTALLS
from foretold.errors import BadArgument, SettingsRefused, UnknownAgent
from foretold.extras import how_to_install, requirement_of
from foretold.serve.hooks import EVENTS
from foretold.serve.hooks.agent_protocols import PROTOCOLS
from foretold.serve.install.apply import apply_plan
from foretold.serve.install.backup import Backups, state_folder
from foretold.serve.install.ours import PARTS, is_our_call
from foretold.serve.install.plan import plan_install, plan_uninstall
from foretold.serve.install.program import doubts, is_there, our_command, python_of, without_package
from foretold.serve.install.targets import InstallPlace, find_installations
from foretold.storage.kernel import Kernel

COMMAND = [sys.executable, "-I", "-m", "foretold"]
ODD = {
    "claude-code": {
        ".claude/settings.json": '{"model":"opus",   "hooks":{"Stop":[ {"hooks":[{"type":"command","command":"x"}]}]}}',
        ".claude.json": '{\r\n\t"numStartups": 3,\r\n\t"projects": {}\r\n}',
    },
    "codex": {".codex/config.toml": "# mine\nmodel = 'x'\n[mcp_servers.other]\ncommand='y'", ".codex/hooks.json": "{}"},
    "gemini-cli": {".gemini/settings.json": '\ufeff{\n  // mine\n  "ui": {"theme": "x",},\n}'},
    "qwen-code": {".qwen/settings.json": ""},
    "opencode": {".config/opencode/opencode.jsonc": '{"$schema": "s", /* mcp */ "mcp": {}, }'},
    "copilot-cli": {".copilot/mcp-config.json": '{ "mcpServers" : { } }\n\n'},
    "cline": {".cline/data/settings/cline_mcp_settings.json": "{\n}"},
    "continue": {".continue/config.yaml": "name: x\nversion: 1.0.0\nschema: v1\nmodels: []"},
    "zed": {".config/zed/settings.json": '// Zed\n{\n  "vim_mode": true, // yes\n}\n'},
}


def setting(place):
    return InstallPlace(place.home, place.proj, {"PATH": os.environ["PATH"]}), Backups(state_folder(place.home, {}))


def install(place, agent="claude-code", **options):
    here, kept = setting(place)
    plan = plan_install(agent, here, kept, **{"command": COMMAND, **options})
    apply_plan(plan, kept)
    return plan


def uninstall(place, agent="claude-code", **options):
    here, kept = setting(place)
    plan = plan_uninstall(agent, here, kept, **options)
    apply_plan(plan, kept)
    return plan


def tree(place):
    """Every file and folder but our own, with content and mode."""
    found = {}
    for top in (place.home, place.proj):
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name != ".local"]
            for name in [*names, *folders]:
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        found[path] = (mode, file.read())
                else:
                    found[path] = mode
    return found


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("agent", INSTALLS)
def test_a_home_with_nothing_in_it_is_empty_again(place, agent, scope):
    before = tree(place)
    try:
        plan = install(place, agent, scope=scope)
    except SettingsRefused:
        assert tree(place) == before
        assert agent in ("continue", "cline", "windsurf", "roo", "vscode-copilot")
        return
    assert plan.edits
    assert not install(place, agent, scope=scope).edits
    assert {edit.how for edit in uninstall(place, agent, scope=scope).edits} == {"restored"}
    assert tree(place) == before


@pytest.mark.parametrize("agent", ODD)
def test_odd_files_come_back_byte_for_byte(place, agent):
    for path, text in ODD[agent].items():
        place.write(f"home/{path}", text, mode=0o640)
    before = tree(place)
    assert len(install(place, agent).edits) == len(ODD[agent])
    with_ours = tree(place)
    assert with_ours.keys() == before.keys()
    assert {path: each[0] for path, each in with_ours.items() if isinstance(each, tuple)} == {
        path: each[0] for path, each in before.items() if isinstance(each, tuple)
    }, "the modes stay"
    assert not install(place, agent).edits
    assert tree(place) == with_ours
    uninstall(place, agent)
    assert tree(place) == before
    assert not uninstall(place, agent).edits


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.dictionaries(st.text(max_size=5), NUMBERS | st.text(max_size=5) | st.lists(NUMBERS, max_size=3), max_size=4)


@settings(max_examples=10)
@given(VALUES, st.sampled_from([None, 1, "\t"]), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_any_settings_come_back_byte_for_byte(value, indent, eol, mark):
    data = (mark + json.dumps({**value, "hooks": {}}, indent=indent)).replace("\n", eol).encode()
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        path = os.path.join(folder, ".claude", "settings.json")
        os.mkdir(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(data)
        here, kept = InstallPlace(folder, folder, {}), Backups(state_folder(folder, {}))
        apply_plan(plan_install("claude-code", here, kept, command=COMMAND, parts=["hooks"]), kept)
        with open(path, encoding="utf-8-sig") as file:
            found = json.load(file)
        assert {**value, "hooks": {}} == {**found, "hooks": {}}
        assert len(found["hooks"]) == 8
        apply_plan(plan_uninstall("claude-code", here, kept), kept)
        with open(path, "rb") as file:
            assert file.read() == data


def test_parts_one_after_the_other_come_back_too(place):
    place.write("home/.gemini/settings.json", '{"a":1}')
    before = tree(place)
    install(place, "gemini-cli", parts=["mcp"])
    install(place, "gemini-cli", parts=["hooks"], events=["SessionStart"])
    install(place, "gemini-cli")
    assert [edit.how for edit in uninstall(place, "gemini-cli", parts=["mcp"]).edits] == ["removed"]
    assert [edit.how for edit in uninstall(place, "gemini-cli").edits] == ["restored"]
    assert tree(place) == before


def test_of_a_file_that_somebody_changed_only_ours_goes(place):
    path = place.write("home/.claude/settings.json", '{\n  "model": "opus"\n}\n')
    install(place, parts=["hooks"])
    with open(path, encoding="utf-8") as file:
        text = file.read().replace('"opus"', '"sonnet"')
    place.write("home/.claude/settings.json", text)
    assert [edit.how for edit in uninstall(place).edits] == ["removed"]
    with open(path, encoding="utf-8") as file:
        assert file.read() == '{\n  "model": "sonnet"\n}\n'


def test_a_change_between_two_installs_is_kept(place):
    path = place.write("home/.claude/settings.json", '{\n  "model": "opus"\n}\n')
    install(place, parts=["hooks"], events=["Stop"])
    with open(path, encoding="utf-8") as file:
        text = file.read().replace('"opus"', '"sonnet"')
    place.write("home/.claude/settings.json", text)
    install(place, parts=["hooks"])
    uninstall(place)
    with open(path, encoding="utf-8") as file:
        assert file.read() == '{\n  "model": "sonnet"\n}\n'


def test_so_is_its_form(place):
    path = place.write("home/.claude/settings.json", '{"model":"opus"}')
    install(place, parts=["hooks"], events=["Stop"])
    for other in ("sonnet", "haiku"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        place.write("home/.claude/settings.json", text.replace("opus", other).replace("sonnet", other))
        install(place, parts=["hooks"])
    uninstall(place)
    with open(path, encoding="utf-8") as file:
        assert file.read() == '{"model":"haiku"}'


def test_without_our_records_only_ours_goes(place):
    import shutil

    place.write("home/.claude/settings.json", '{\n  "model": "opus"\n}\n')
    before = tree(place)
    install(place, parts=["hooks"])
    shutil.rmtree(place.path("home/.local"))
    assert [edit.how for edit in uninstall(place).edits] == ["removed"]
    assert tree(place) == before


def test_with_a_backup_that_was_spoiled_only_ours_goes(place):
    place.write("home/.claude/settings.json", '{"model":"opus"}')
    install(place, parts=["hooks"])
    folder = place.path("home/.local/state/foretold/installs/objects")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "ab") as file:
            file.write(b"spoiled")
    assert [edit.how for edit in uninstall(place).edits] == ["removed"]
    with open(place.path("home/.claude/settings.json"), encoding="utf-8") as file:
        assert json.load(file) == {"model": "opus"}


def test_a_link_is_followed_and_stays(place):
    target = place.write("home/dotfiles/claude.json", '{"a": 1}')
    place.link("home/.claude/settings.json", "../dotfiles/claude.json")
    before = tree(place)
    plan = install(place, parts=["hooks"])
    assert [edit.settings.target for edit in plan.edits] == [target]
    assert os.path.islink(place.path("home/.claude/settings.json"))
    uninstall(place)
    assert tree(place) == before


def refused(place, agent="claude-code", **options):
    before = tree(place)
    with pytest.raises(SettingsRefused) as error:
        install(place, agent, **options)
    assert tree(place) == before
    return str(error.value).replace(place.home, "~")


def test_what_cannot_be_changed_safely_is_refused(place):
    path = "home/.claude/settings.json"
    place.write(path, "{")
    said = "line 1: expected a key, found the end. Fix it, or change it by hand. Nothing was changed"
    assert refused(place) == f"~/.claude/settings.json cannot be changed safely: {said}"
    place.write(path, b'{"a": "\xff"}')
    assert refused(place) == "~/.claude/settings.json cannot be changed: it is not UTF-8. Nothing was changed"
    place.write(path, "{}", mode=0o444)
    assert refused(place) == (
        "~/.claude/settings.json cannot be changed: it is read-only (mode 444). Nothing was changed"
    )
    os.remove(place.path(path))
    place.folder(path)
    assert refused(place) == "~/.claude/settings.json cannot be changed: it is a folder. Nothing was changed"
    os.rmdir(place.path(path))
    place.link(path, "nowhere.json")
    assert refused(place) == ("~/.claude/settings.json is a broken link to ~/.claude/nowhere.json. Nothing was changed")
    os.remove(place.path(path))
    place.fifo(path)
    assert refused(place) == "~/.claude/settings.json cannot be changed: it is not a file. Nothing was changed"


def test_a_second_file_that_is_refused_leaves_the_first_alone(place):
    place.write("home/.claude/settings.json", "{}")
    place.write("home/.claude.json", "[1]")
    assert refused(place).startswith("~/.claude.json cannot be changed safely: line 1: it is not an object")


def test_unknown_agents_and_events_are_named_with_the_known_ones(place):
    for act in (install, uninstall):
        with pytest.raises(UnknownAgent) as unknown:
            act(place, "gemini")
        start = "the agent 'gemini' is not known. Did you mean 'gemini-cli'? Known agents: claude-code, codex,"
        assert str(unknown.value).startswith(start)
    with pytest.raises(UnknownAgent, match=r"the agent 'foo' is not known\. Known agents: claude-code"):
        install(place, "foo")
    with pytest.raises(BadArgument, match="claude-code has no event Stopp; there are: SessionStart, UserPromptSubmit,"):
        install(place, events=["Stopp"])
    for options in ({"events": ["Stop"]}, {"parts": ["hooks"]}):
        with pytest.raises(BadArgument, match=r"cursor has no hooks that foretold knows\. Nothing was changed"):
            install(place, "cursor", **options)
    assert install(place, "cursor", parts=PARTS, command=["/usr/bin/foretold"]).notes == (
        "cursor has no hooks that foretold knows",
    )
    assert refused(place, "roo") == "roo has no settings for this (user). Nothing was changed"


def test_somebody_who_is_faster_is_not_overwritten(place):
    here, kept = setting(place)
    place.write("home/.claude/settings.json", "{}")
    place.write("home/.claude.json", "{}")
    plan = plan_install("claude-code", here, kept, command=COMMAND)
    place.write("home/.claude.json", '{"theirs": 1}')
    before = tree(place)
    with pytest.raises(SettingsRefused) as refused:
        apply_plan(plan, kept)
    said = f"{place.home}/.claude.json was changed by another program meanwhile; read it again. Nothing was changed"
    assert str(refused.value) == said
    assert tree(place) == before
    install(place)
    uninstall(place)
    assert tree(place) == before


def test_two_installs_at_once(place):
    here, kept = setting(place)
    place.write("home/.claude/settings.json", '{"a":1}')
    before = tree(place)
    plans = [plan_install("claude-code", here, kept, command=COMMAND, events=[each]) for each in ("Stop", "PreCompact")]
    apply_plan(plans[0], kept)
    with pytest.raises(SettingsRefused):
        apply_plan(plans[1], kept)
    uninstall(place)
    assert tree(place) == before, "the record of the first is still there"


class Killed(BaseException):
    pass


class Dying(Kernel):
    """Dies at the n-th call."""

    def __init__(self, left):
        self.left = left
        for name in ("open", "write", "fsync", "fchmod", "link", "rename", "unlink", "mkdir", "exchange"):
            setattr(self, name, self._counted(getattr(Kernel, name)))

    def _counted(self, call):
        def dying(*args, **options):
            self.left -= 1
            if self.left < 0:
                raise Killed
            return call(*args, **options)

        return dying


def test_a_process_that_is_killed_anywhere_loses_nothing(place):
    """In this process its cleaning up runs, too; the calls that it makes die as well, as they would not happen."""
    here, kept = setting(place)
    texts = {".claude/settings.json": '{"a":1}', ".claude.json": '{\n  "b": 2\n}\n'}
    deaths = 0
    for left in range(0, 200, 3):
        for path, text in texts.items():
            place.write(f"home/{path}", text)
        before = tree(place)
        plan = plan_install("claude-code", here, kept, command=COMMAND)
        try:
            apply_plan(plan, Backups(kept.folder, Dying(left)))
        except Killed:
            deaths += 1
        else:
            break
        for edit in plan.edits:
            with open(edit.path, "rb") as file:
                assert file.read() in (edit.settings.data, edit.after)
        install(place)
        uninstall(place)
        assert tree(place) == before, f"killed at call {left}"
    assert deaths > 10


def test_what_is_kept_is_ours_alone(place):
    place.write("home/.claude/settings.json", "{}")
    install(place)
    folder = place.path("home/.local/state/foretold/installs")
    modes = {
        os.stat(os.path.join(above, name)).st_mode & 0o777 for above, _, names in os.walk(folder) for name in names
    }
    assert (modes, os.stat(folder).st_mode & 0o777) == ({0o600}, 0o700)


def test_a_state_folder_that_cannot_be_written_stops_everything(place):
    place.write("home/.claude/settings.json", "{}")
    place.write("home/.local/state", "a file")
    assert "Nothing was changed" in refused(place)


def test_variables_of_agents_are_followed(place):
    env = {"CLAUDE_CONFIG_DIR": place.path("cc"), "CODEX_HOME": place.path("cx"), "XDG_CONFIG_HOME": place.path("xdg")}
    here, kept = InstallPlace(place.home, place.proj, env), Backups(state_folder(place.home, {}))
    paths = {
        agent: [edit.path for edit in plan_install(agent, here, kept, command=COMMAND).edits]
        for agent in ("claude-code", "codex", "opencode")
    }
    assert paths == {
        "claude-code": [place.path("cc/settings.json"), place.path("cc/.claude.json")],
        "codex": [place.path("cx/hooks.json"), place.path("cx/config.toml")],
        "opencode": [place.path("xdg/opencode/opencode.json")],
    }


def test_a_project_is_its_repository_and_calls_the_program_by_name(place):
    place.folder("proj/.git")
    place.folder("proj/sub")
    here, kept = InstallPlace(place.home, place.path("proj/sub"), {}), Backups(state_folder(place.home, {}))
    plan = plan_install("claude-code", here, kept, scope="project")
    assert [edit.path for edit in plan.edits] == [
        place.path("proj/.claude/settings.json"),
        place.path("proj/.mcp.json"),
    ]
    assert json.loads(plan.edits[1].after)["mcpServers"]["foretold"]["command"] == "foretold"
    assert plan.notes == ("foretold is not on your PATH: until it is, the agent cannot start it",)


def test_what_is_installed_where(place):
    here, _ = setting(place)
    assert find_installations(here) == []
    install(place, events=["Stop"])
    install(place, "opencode", command=["/gone/foretold"])
    place.write("home/.gemini/settings.json", "{")
    missing = tuple(hook.event for hook in INSTALLS["claude-code"].hooks.events if hook.event != "Stop")
    found = [each._replace(path=os.path.relpath(each.path, place.home)) for each in find_installations(here)]
    assert [tuple(each) for each in found] == [
        ("claude-code", "user", ".claude/settings.json", "hooks", ("Stop",), missing, tuple(COMMAND), True, "", ""),
        ("claude-code", "user", ".claude.json", "mcp", (), (), (*COMMAND, "mcp"), True, "", ""),
        (
            *("gemini-cli", "user", ".gemini/settings.json", "", (), (), (), False),
            *("it cannot be read: line 1: expected a key, found the end", ""),
        ),
        (
            *("opencode", "user", ".config/opencode/opencode.json", "mcp", (), (), ("/gone/foretold", "mcp"), False),
            *("the program does not exist", ""),
        ),
    ]


def environment(place, *packages):
    """A virtual environment with our program, and what it takes to get the server's package there."""
    place.write("venv/pyvenv.cfg", "include-system-site-packages = false\n")
    python = place.write("venv/bin/python3", "", mode=0o755)
    place.folder("venv/lib/python3.11/site-packages")
    for package in packages:
        place.folder(f"venv/lib/python3.11/site-packages/{package}")
    return place.write("venv/bin/foretold", f"#!{python}\nimport sys\n", mode=0o755), python


def test_a_server_without_its_package_is_left_out_unless_asked_for(place):
    program, python = environment(place)
    remedy = f"{python} -m pip install 'mcp>=2.3,<3'"
    note = f"the MCP server is left out: the package that it needs is not installed; try: {remedy}"
    plan = install(place, command=[program])
    assert ([edit.settings.parts for edit in plan.edits], plan.notes[0]) == ([("hooks",)], note)
    again = install(place, command=[program])
    assert (again.edits, again.notes) == ((), (note,))
    assert install(place, "cursor", command=[program]) == ("cursor", "user", (), (), (note,), (), ())
    asked = install(place, parts=["mcp"], command=[program])
    assert ([edit.settings.parts for edit in asked.edits], asked.notes[0]) == (
        [("mcp",)],
        note.replace("is left out", "cannot start yet"),
    )
    here, _ = setting(place)
    assert [(each.part, each.is_valid, each.problem, each.remedy) for each in find_installations(here)] == [
        ("hooks", True, "", ""),
        (
            *("mcp", False, f"{python} does not have the package mcp, which the server needs"),
            remedy,
        ),
    ]
    environment(place, "mcp")
    assert [(each.part, each.is_valid) for each in find_installations(here)] == [("hooks", True), ("mcp", True)]
    assert not install(place, command=[program]).edits


def test_which_python_would_run_a_command(place):
    program, python = environment(place)
    env = {"PATH": os.path.dirname(program)}
    assert python_of(["foretold", "mcp"], env) == python_of([program], {}) == python_of([python, "-m"], {}) == python
    place.write("venv/bin/foretold", f"#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n", mode=0o755)
    assert python_of([program], {}) == python
    place.write("venv/bin/foretold", "#!/bin/sh\nexec true\n", mode=0o755)
    assert [python_of(words, {}) for words in ([program], ["/gone"], ["uvx", "foretold"], [])] == [""] * 4


def test_nothing_is_said_of_a_python_that_nobody_can_look_into(place):
    program, python = environment(place)
    assert without_package([program], {}) == python
    place.write("venv/pyvenv.cfg", "include-system-site-packages = true\n")
    assert without_package([program], {}) == ""
    os.remove(place.path("venv/pyvenv.cfg"))
    assert without_package([program], {}) == ""
    assert without_package([sys.executable, "-m", "foretold"], {}) == ""


#: what an installer writes -> what installs the same again
ORIGINS = {
    "index": (None, "foretold[mcp]"),
    "folder": ({"url": "file:///src/foretold", "dir_info": {}}, "foretold[mcp] @ file:///src/foretold"),
    "editable": (
        {"url": "file:///my%20src/foretold", "dir_info": {"editable": True}},
        "foretold[mcp] @ file:///my%20src/foretold",
    ),
    "wheel": (
        {"url": "file:///dist/foretold-1.0-py3-none-any.whl", "archive_info": {"hash": "sha256=0"}},
        "foretold[mcp] @ file:///dist/foretold-1.0-py3-none-any.whl",
    ),
    "address": (
        {"url": "https://example.org/foretold-1.0.tar.gz", "archive_info": {}},
        "foretold[mcp] @ https://example.org/foretold-1.0.tar.gz",
    ),
    "repository": (
        {"url": "https://example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}, "subdirectory": "py"},
        "foretold[mcp] @ git+https://example.org/r.git@abc#subdirectory=py",
    ),
    "branch": (
        {
            "url": "https://example.org/r.git",
            "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "abc"},
        },
        "foretold[mcp] @ git+https://example.org/r.git@main",
    ),
}


def installed_from(place, folder, origin):
    """An environment in which foretold was installed from somewhere; its Python."""
    metadata = f"{folder}/lib/python3.13/site-packages/foretold-1.0.dist-info"
    place.write(f"{metadata}/METADATA", "Name: foretold\n")
    if origin is not None:
        place.write(f"{metadata}/direct_url.json", json.dumps(origin))
    return place.write(f"{folder}/bin/python3", "", mode=0o755)


@pytest.mark.parametrize("name", sorted(ORIGINS))
def test_a_command_names_the_origin_of_this_foretold(place, name):
    origin, wanted = ORIGINS[name]
    uvx = place.write("bin/uvx", "#!/bin/sh\n", mode=0o755)
    env = {"PATH": os.path.dirname(uvx)}
    fleeting = installed_from(place, "uv/archive-v0/x", origin)
    command = our_command("user", env, fleeting)
    assert command == ["uvx", "--from", wanted, "foretold"]
    assert doubts(command, env)[0].endswith(f"; try: {shlex.join(['uv', 'tool', 'install', wanted])}")
    tool = installed_from(place, "share/uv/tools/foretold", origin)
    bare = shlex.quote(wanted.replace("[mcp]", ""))
    assert how_to_install("mcp", tool) == f"uv tool install --with 'mcp>=2.3,<3' {bare}"
    assert how_to_install("mcp", installed_from(place, "pipx/venvs/foretold", origin)) == (
        "pipx inject foretold 'mcp>=2.3,<3'"
    )
    python = installed_from(place, "venv", origin)
    assert how_to_install("mcp", python) == f"{shlex.quote(python)} -m pip install 'mcp>=2.3,<3'"


def test_a_python_without_foretold_gets_that_of_the_running_one(place):
    assert requirement_of(place.path("nowhere/bin/python")) == requirement_of(sys.executable)


def test_metadata_that_cannot_be_read_counts_as_an_index(place):
    python = installed_from(place, "venv", None)
    place.write("venv/lib/python3.13/site-packages/foretold-1.0.dist-info/direct_url.json", "[")
    assert requirement_of(python, "mcp") == "foretold[mcp]"


def test_every_agent_gets_what_its_table_says(place):
    found = {}
    for agent in INSTALLS:
        scope = "user" if INSTALLS[agent].mcp.where.home else "project"
        for path, text in ODD.get(agent, {}).items():
            place.write(f"home/{path}", text)
        install(place, agent, scope=scope, command=["/opt/foretold"])
    here, _ = setting(place)
    for each in find_installations(here):
        found.setdefault(each.agent, []).append(each.part)
    assert found == {agent: [part for part in PARTS if getattr(INSTALLS[agent], part)] for agent in INSTALLS}


def test_every_hook_of_the_table_is_an_event_that_we_hear():
    for agent, table in INSTALLS.items():
        hooks = table.hooks
        for hook in hooks.events if hooks else ():
            assert hook.ours in EVENTS, agent
            assert PROTOCOLS[agent].events.get(hook.event, hook.event) == hook.ours


def test_the_command_is_one_that_stays(place):
    program = place.write("venv/bin/foretold", "#!/bin/sh\n", mode=0o755)
    interpreter = place.write("venv/bin/python3", "", mode=0o755)
    assert our_command("user", {}, interpreter) == [program]
    place.folder("bin")
    link = place.link("bin/foretold", program)
    assert our_command("user", {"PATH": place.path("bin")}, interpreter) == [link]
    os.remove(program)
    assert our_command("user", {"PATH": place.path("bin")}, interpreter) == [interpreter, "-I", "-m", "foretold"]
    assert our_command("project", {}, interpreter) == ["foretold"]
    uvx = place.write("bin/uvx", "#!/bin/sh\n", mode=0o755)
    fleeting = installed_from(place, "uv/archive-v0/x", None)
    assert our_command("user", {"PATH": os.path.dirname(uvx)}, fleeting) == [
        "uvx",
        "--from",
        "foretold[mcp]",
        "foretold",
    ]
    assert "slow" in doubts(["uvx", "foretold"], {"PATH": os.path.dirname(uvx)})[0]


def test_every_command_that_we_choose_is_known_again():
    for command in (
        ["foretold"],
        ["/a b/foretold"],
        ["/a'b/python3", "-m", "foretold"],
        ["uvx", "--from", "x[y]", "foretold"],
    ):
        assert is_our_call(shlex.join([*command, "hook", "Stop"]))
    for line in ("foretold-hook Stop", "my-foretold hook Stop", "foretold memory hook", "", 5):
        assert not is_our_call(line)


def test_a_command_that_may_vanish_is_doubted(place):
    assert doubts(["/usr/bin/foretold"], {}) == []
    assert "not on your PATH" in doubts(["foretold"], {})[0]
    assert "temporary files" in doubts(["/tmp/v/bin/foretold"], {})[0]
    assert (is_there([sys.executable], {}), is_there(["/gone"], {}), is_there([], {})) == (True, False, False)
