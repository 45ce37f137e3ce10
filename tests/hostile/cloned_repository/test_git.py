"""The author of a repository that someone clones, or unpacks from an archive."""

import json
import os
import re
import subprocess

import pytest

from foretold.context.git import git_status
from foretold.harness.harness import Harness
from foretold.harness.permissions.check import Permission
from foretold.models.scripted import Scripted

from .git_repository import NO_PROGRAMS, PROGRAMS, Attacker

# Git settings


@pytest.fixture
def attacker(place, canary):
    return Attacker(place, canary)


def git_environment(place):
    return {"PATH": os.environ["PATH"], "HOME": place.home, "GIT_CONFIG_NOSYSTEM": "1"}


def status(place, folder="proj"):
    return git_status(place.path(folder), env=git_environment(place), timeout=30)


FORMS = ["local", "worktree", "included"]


@pytest.mark.parametrize("key", ["filter.x.clean", "filter.x.process", "core.fsmonitor", "core.hooksPath"])
@pytest.mark.parametrize("form", FORMS)
def test_a_plain_git_status_would_run_it(attacker, canary, key, form):
    attacker.repository()
    attacker.add_settings(attacker.settings([key], switches=False), form)
    attacker.git("status", "--short")
    assert canary.ran


@pytest.mark.parametrize(
    ("key", "commit"), [("gpg.program", "HEAD~2"), ("gpg.ssh.program", "HEAD~1"), ("gpg.x509.program", "HEAD")]
)
def test_a_plain_git_log_would_run_it(attacker, canary, key, commit):
    """One commit at a time: git itself ends by SIGPIPE if `ssh-keygen` gives up before it has read the one it is at."""
    attacker.repository()
    attacker.add_settings(attacker.settings([key]), "local")
    attacker.git("log", "--oneline", "-n", "1", commit)
    assert canary.ran


def test_a_plain_git_would_run_it_in_an_embedded_repository(attacker, canary):
    attacker.embed(attacker.settings(["filter.x.clean"], switches=False))
    attacker.git("status", "--short", folder="proj/pkg")
    assert canary.ran


@pytest.mark.parametrize("key", PROGRAMS)
def test_no_setting_runs_a_program(attacker, canary, place, key):
    attacker.repository()
    attacker.add_settings(attacker.settings([key]), "local")
    found = status(place)
    assert not canary.ran
    assert found.status is not None
    assert found.status.split("\n")[0] == " M a.txt"
    assert len(found.commits.split("\n")) == 3


@pytest.mark.parametrize("form", FORMS)
def test_all_settings_together_run_nothing(attacker, canary, place, form):
    attacker.repository()
    attacker.add_settings(attacker.settings(), form)
    found = status(place)
    assert not canary.ran
    assert found.status is not None
    assert found.status.split("\n")[0] == " M a.txt"
    assert [finding.code for finding in found.findings] == ["git-program-not-run"]
    assert "filter.x.clean" in found.findings[0].message
    assert "filter.a=b.clean" in found.findings[0].message
    assert "log.showsignature" in found.findings[0].message


def test_every_name_of_git_that_sounds_like_a_program_is_in_the_table():
    listed = subprocess.run(["git", "help", "-c"], capture_output=True, text=True, check=True).stdout.split("\n")
    ending = (
        r"(?i).*(cmd|command|program|helper|driver|textconv|askpass|editor|pager|hook|hooksPath|proxy|clean|smudge)"
    )
    sounding = {name for name in listed if re.fullmatch(ending + "|.*(browser|tool|tunnel|httpd|uploadpack|vcs)", name)}
    known = {re.sub(r"<[^>]*>", "x", name).lower() for name in PROGRAMS}
    known |= {re.sub(r"\.(sub|origin|openpgp|https://x)\.", ".x.", name) for name in known}
    left = {
        name for name in sounding
        if re.sub(r"<[^>]*>", "x", name).lower() not in known and not name.startswith(tuple(NO_PROGRAMS))
        and name not in ("http.proxy", "remote.<name>.proxy", "pager.<cmd>", "column.clean")
    }  # fmt: skip
    assert left == set()


def test_an_embedded_bare_repository_is_not_asked(attacker, canary, place):
    attacker.embed(attacker.settings())
    found = status(place, "proj/pkg")
    assert not canary.ran
    assert (found.status, [finding.code for finding in found.findings]) == (None, ["git-unavailable"])
    assert status(place, "proj").status == "?? pkg/\n"
    assert not canary.ran


def test_a_submodule_with_a_configuration_of_its_own_runs_nothing(attacker, canary, place):
    attacker.repository()
    attacker.repository("proj/sub")
    attacker.git("add", ".")  # a repository in a folder is added as a submodule
    attacker.git("commit", "-qm", "c")
    attacker.add_settings(attacker.settings(), "local", "proj/sub")
    found = status(place)
    assert not canary.ran
    assert found.status == ""
    assert "filter.x.clean of sub" in found.findings[0].message
    attacker.git("status", "--short")
    assert canary.ran


def test_a_submodule_in_a_submodule_runs_nothing(attacker, canary, place):
    for folder in ("proj/sub/deep", "proj/sub", "proj"):
        attacker.repository(folder)
        attacker.git("add", ".", folder=folder)
        attacker.git("commit", "-qm", "c", folder=folder)
    attacker.add_settings(attacker.settings(), "local", "proj/sub/deep")
    assert "filter.x.clean of sub/deep" in status(place).findings[0].message
    assert not canary.ran


def test_a_plain_submodule_is_shown_as_git_shows_it(attacker, place):
    attacker.repository("proj/sub")
    attacker.git("add", ".", folder="proj/sub")
    attacker.git("commit", "-qm", "c", folder="proj/sub")
    attacker.repository()
    attacker.git("add", ".")
    attacker.git("commit", "-qm", "c")
    place.write("proj/sub/new")
    found = status(place)
    assert found.status == attacker.git("status", "--short") == " ? sub\n"
    assert found.findings == ()


def test_a_partial_clone_fetches_nothing(attacker, canary, place):
    attacker.repository()
    attacker.git("add", ".")
    attacker.git("commit", "-qm", "c")
    blob = attacker.git("rev-parse", "HEAD:a.txt").strip()
    os.remove(place.path(f"proj/.git/objects/{blob[:2]}/{blob[2:]}"))
    os.remove(place.path("proj/a.txt"))
    place.write("proj/moved.txt", "two\nmore\n")
    attacker.git("add", "-A")
    helper = canary.program(place.path("attack/helper"))
    remote = f'[remote "origin"]\n\turl = ext::{helper}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n'
    remote += "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n"
    attacker.add_settings(remote, "local")
    status(place)
    assert not canary.ran
    attacker.git("status", "--short")
    assert canary.ran


def test_a_filter_of_the_users_own_configuration_runs(attacker, canary, place):
    """As the filters of git-lfs do: else every file that they changed would be shown as modified."""
    attacker.repository()
    attacker.git("config", "--global", "filter.x.clean", f"{place.path('own')} clean")
    place.write("own", f"#!/bin/sh\ntouch {place.path('own-ran')}\nsed s/two/one/\n", mode=0o755)
    assert status(place).status == "?? .gitattributes\n"
    assert os.path.exists(place.path("own-ran"))
    attacker.add_settings(attacker.settings(["filter.x.clean"], switches=False), "local")
    found = status(place)
    assert not canary.ran
    assert found.status == "?? .gitattributes\n"


def test_a_work_tree_elsewhere_is_named_and_not_listed(attacker, place):
    attacker.repository()
    place.write("home/.ssh/id_rsa", "secret\n")
    attacker.git("config", "core.worktree", place.home)
    found = status(place)
    assert (found.status, [finding.code for finding in found.findings]) == (None, ["git-work-tree-elsewhere"])
    assert place.home in found.findings[0].message


def test_a_configuration_that_never_ends_is_given_up(attacker, place):
    attacker.repository()
    place.fifo("proj/pipe")
    attacker.add_settings("[include]\n\tpath = ../pipe\n", "local")
    found = git_status(place.proj, env=git_environment(place), timeout=0.5)
    assert found.status is None


HOOK_EVENTS = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "how do we deploy?"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "git status"}},
    "PostToolUse": {"tool_name": "Read", "tool_input": {"file_path": "a.txt"}},
    "PreCompact": {"trigger": "auto"},
    "Stop": {},
    "SessionEnd": {},
}
CALLS = [
    [], ["show"], ["explain"], ["explain", "--file", "a.txt"], ["compare"], ["memory", "list"],
    ["memory", "recall", "deploy"], ["memory", "verify"], ["memory", "doctor"], ["memory", "log"], ["sessions", "list"],
    ["files", "list"], ["memory", "add", "New", "-t", "project", "-d", "d", "-b", "`a.txt` and `gone.txt`"],
]  # fmt: skip


@pytest.mark.parametrize("folder", ["proj", "proj/pkg"])
def test_no_command_and_no_hook_runs_a_program(attacker, canary, place, installed, folder):
    if folder == "proj":
        attacker.repository()
        attacker.add_settings(attacker.settings(), "local")
    else:
        attacker.embed(attacker.settings())
    claims = "`a.txt` and `b.txt` use `removed_name()` since commit 1234567; see `old/gone.py`."
    add = ("memory", "add", "Deploy", "-t", "project", "-d", "how to deploy", "-b", claims)
    assert installed.run(*add, cwd=folder)[0] == 0
    for words in CALLS:
        code, _, err = installed.run(*words, cwd=folder)
        assert code in (0, 1), (words, err)
    for event, more in HOOK_EVENTS.items():
        payload = {"session_id": "s", "cwd": place.path(folder), "hook_event_name": event, **more}
        assert installed.run("hook", event, cwd=folder, given=json.dumps(payload).encode())[0] == 0
    assert not canary.ran


def harness(place, folder, lines, mode="default"):
    permission = Permission(mode, cwd=place.path(folder), home=place.home)
    around = {"home": place.home, "managed": place.managed, "env": git_environment(place), "sync": False}
    model = Scripted(lines, "claude-opus-5-5")
    return Harness(place.path(folder), model=model, permission=permission, recall=False, **around)


def bash(place, command, folder="proj", mode="default"):
    """What a model gets that runs a command, in a conversation in which no one can be asked."""
    with harness(place, folder, [("Bash", {"command": command}), "Done."], mode) as agent:
        return str(agent.prompt("Look.").messages[-2]["content"][0]["content"])


LOOKING = [
    "git status", "git status --short", "git --no-pager diff", "git log -p", "git log --show-signature",
    "git show", "git show '--format=%G?' HEAD", "git blame a.txt", "git describe --always --dirty", "git ls-files -m",
    "git rev-parse HEAD", "git shortlog HEAD", "ls && git status", "git status | head -n 1", "LANG=C git diff",
]  # fmt: skip


@pytest.mark.parametrize("form", [*FORMS, "embedded", "submodule"])
def test_starting_a_conversation_and_looking_with_git_runs_nothing(attacker, canary, place, form):
    folder = "proj/pkg" if form == "embedded" else "proj"
    if form == "embedded":
        attacker.embed(attacker.settings())
    else:
        attacker.repository()
    if form == "submodule":
        attacker.repository("proj/sub")
        attacker.git("add", ".")
        attacker.add_settings(attacker.settings(), "local", "proj/sub")
    elif form != "embedded":
        attacker.add_settings(attacker.settings(), form)
    for command in LOOKING:
        said = bash(place, command, folder)
        assert not canary.ran, command
        assert "names programs that git may run: " in said, command
        assert ("core.fsmonitor of sub" if form == "submodule" else "core.fsmonitor") in said


@pytest.mark.parametrize(
    "key",
    ["filter.x.clean", "filter.x.process", "core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command",
     "gpg.program", "core.pager", "pager.log", "merge.x.driver", "core.hooksPath", "hook.x.command"],
)  # fmt: skip
def test_the_question_names_the_setting(attacker, canary, place, key):
    attacker.repository()
    attacker.add_settings(attacker.settings([key], switches=False), "local")
    named = "the hook post-index-change" if key == "core.hooksPath" else key
    verdict = Permission(cwd=place.proj, home=place.home).check("Bash", {"command": "git diff"})
    assert verdict.decision == "ask"
    assert verdict.reason.endswith(f"names programs that git may run: {named}")
    assert named in bash(place, "git diff")
    assert not canary.ran


def test_a_hook_that_looking_runs_is_asked_about(attacker, canary, place):
    attacker.repository()
    canary.program(place.path("proj/.git/hooks/post-index-change"))
    assert "the hook post-index-change" in bash(place, "git status")
    assert not canary.ran
    attacker.git("status")
    assert canary.ran


def test_a_partial_clone_with_a_program_for_its_remote_is_asked_about(attacker, place):
    attacker.repository()
    attacker.add_settings(attacker.settings(["core.sshCommand"], switches=False), "local")
    assert "M a.txt" in bash(place, "git status --short")
    attacker.git("config", "remote.origin.promisor", "true")
    assert "core.sshcommand" in bash(place, "git status --short")


def test_a_repository_that_names_nothing_is_free_to_look_at(attacker, place):
    attacker.repository()
    attacker.git("config", "alias.st", "!sh")
    attacker.git("config", "core.hooksPath", ".husky")
    attacker.git("config", "core.fsmonitor", "false")
    attacker.git("config", "pager.log", "false")
    attacker.git("config", "core.editor", "vim")
    attacker.git("config", "--global", "filter.x.clean", "cat")
    place.folder("proj/.husky")
    assert "M a.txt" in bash(place, "git status --short")
    assert "M a.txt" in bash(place, "git status --short", mode="plan")


def test_a_rule_of_the_user_allows_git_all_the_same(attacker, canary, place):
    attacker.repository()
    attacker.add_settings(attacker.settings(["filter.x.clean"], switches=False), "local")
    permission = Permission(allow=["Bash(git status:*)"], cwd=place.proj, home=place.home)
    assert permission.check("Bash", {"command": "git status"}).decision == "allow"
    assert permission.check("Bash", {"command": "git diff"}).decision == "ask"


# A .git file that names another project


@pytest.fixture
def neighbour(place):
    """A project of the user with a memory and a worktree, next to the folder that the attacker made."""
    place.folder("shop")
    place.git("init -q -b main .", "shop")
    place.git("commit -q --allow-empty -m c", "shop")
    place.git("worktree add -q ../tree", "shop")
    added = place.run("memory", "add", "Deploy", "-t", "project", "-d", "how to deploy", "-b", "Key 4711.", cwd="shop")
    assert added.returncode == 0
    return place.path("shop")


def recalled(place, folder="proj"):
    return b"4711" in place.run("memory", "recall", "how to deploy", cwd=folder).stdout


def forge(place, neighbour, way):
    """What an attacker can write to be taken for a worktree of another project."""
    private = f"{neighbour}/.git/worktrees/tree"
    if way == "named":
        place.write("proj/.git", f"gitdir: {private}\n")
    elif way == "own":  # the attacker's own folder names it back
        place.write("proj/.git", "gitdir: private\n")
        place.write("proj/private/commondir", f"{neighbour}/.git\n")
        place.write("proj/private/gitdir", f"{place.proj}/.git\n")
    elif way == "relative":
        place.write("proj/.git", "gitdir: worktrees/x\n")
        place.write("proj/worktrees/x/commondir", f"{neighbour}/.git\n")
        place.write("proj/worktrees/x/gitdir", "../../.git\n")
    elif way == "linked folder":
        place.link("proj/private", private)
        place.write("proj/.git", "gitdir: private\n")
    elif way == "linked file":
        place.link("proj/.git", f"{place.path('tree')}/.git")
    else:
        place.link("proj/.git", f"{neighbour}/.git")


@pytest.mark.parametrize("way", ["named", "own", "relative", "linked folder", "linked file", "linked repository"])
def test_a_git_file_does_not_bring_the_memories_of_another_project(place, neighbour, way):
    forge(place, neighbour, way)
    assert not recalled(place)
    payload = {"session_id": "s", "cwd": place.proj, "hook_event_name": "UserPromptSubmit", "prompt": "how to deploy?"}
    told = place.run("hook", "UserPromptSubmit", input=json.dumps(payload).encode())
    assert (told.returncode, b"4711" in told.stdout) == (0, False)
    if way != "linked repository":
        assert b"worktree-not-linked" in place.run("memory", "doctor", "--json").stdout
    place.run("memory", "add", "Mine", "-t", "project", "-d", "mine", "-b", "4712")
    assert b"4712" not in place.run("memory", "recall", "mine", cwd="shop").stdout


def test_a_git_file_does_not_bring_the_trust_of_another_project(place, neighbour):
    place.write("home/.claude.json", json.dumps({"projects": {neighbour: {"hasTrustDialogAccepted": True}}}))
    place.write("proj/.claude/settings.json", json.dumps({"permissions": {"allow": ["Bash(touch *)"]}}))
    place.write("tree/.claude/settings.json", json.dumps({"permissions": {"allow": ["Bash(touch *)"]}}))
    forge(place, neighbour, "named")
    for folder, decision in (("proj", "ask"), ("tree", "allow")):
        found = Permission.load(place.path(folder), home=place.home, env={}, managed=place.managed)
        assert found.check("Bash", {"command": "touch x"}).decision == decision


def test_worktrees_that_are_linked_back_share_their_memories(place, neighbour):
    assert recalled(place, "tree")
    os.rename(place.path("tree"), place.path("moved"))
    assert not recalled(place, "moved")
    place.git("worktree repair ../moved", "shop")
    assert recalled(place, "moved")
    private = f"{neighbour}/.git/worktrees/tree"
    place.write("moved/.git", "gitdir: ../shop/.git/worktrees/tree\n")  # as newer versions of git write them
    place.write(f"{private}/gitdir", "../../../../moved/.git\n")
    assert recalled(place, "moved")
    place.link("elsewhere", place.path("moved"))
    assert recalled(place, "elsewhere")


def test_a_submodule_keeps_its_own_memories(place, neighbour):
    place.folder("proj")
    place.git("init -q -b main .", "proj")
    place.git("submodule --quiet add ../shop lib", "proj")
    add = ("memory", "add", "Lib", "-t", "project", "-d", "how the lib works", "-b", "Key 4713.")
    assert place.run(*add, cwd="proj/lib").returncode == 0
    assert b"4713" in place.run("memory", "recall", "how the lib works", cwd="proj/lib").stdout
    assert not recalled(place, "proj/lib")
