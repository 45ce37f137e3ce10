"""A repository of a stranger: what is in it does not run, whatever we start or an agent starts there for us."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig

import pytest

from foretold.dialects.install_targets import HOOKS
from foretold.serve.install.targets import InstallPlace, find_installations

from ...conftest import Place
from ..conftest import Canary

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

# Python modules: a user who ran `pip install --user foretold`, and agents that start our commands in a clone

#: every module that Python or foretold may import; not `this` and `antigravity`, which nobody does
NAMES = sorted(
    {*sys.stdlib_module_names} - {"this", "antigravity"}
    | {"foretold", "headnote", "pyromark", "ryaml", "mcp", "sitecustomize", "usercustomize", "anyio"}
)
#: what an agent's environment may say; `{proj}` is the clone
VARIABLES = {
    "plain": {},
    "dot": {"PYTHONPATH": "."},
    "empty entries": {"PYTHONPATH": ":/nowhere:"},
    "a path": {"PYTHONPATH": "{proj}"},
    "start": {"PYTHONSTARTUP": "{proj}/json.py", "PYTHONINSPECT": "", "PYTHONPLATLIBDIR": "."},
    "home": {"PYTHONHOME": "{proj}"},
}


class UserInstall:
    """foretold as `pip install --user` leaves it: the script in ~/.local/bin, the modules in a user's own packages."""

    def __init__(self, place):
        self.place, self.home, self.python = place, place.home, sys._base_executable
        self.script = os.path.join(self.home, ".local", "bin", "foretold")
        self._install()

    def _install(self):
        packages = sysconfig.get_path("purelib")
        options = "--user --no-deps --no-build-isolation --no-index --no-warn-script-location -q"
        done = subprocess.run(
            [self.python, "-m", "pip", "--disable-pip-version-check", "install", *options.split(), ROOT],
            env=self.environment(PYTHONPATH=packages, PIP_BREAK_SYSTEM_PACKAGES="1", PYTHONNOUSERSITE=""),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        own = os.path.join(self.home, ".local", "lib", f"python{sysconfig.get_python_version()}", "site-packages")
        for name in ("pyromark", "ryaml"):  # dependencies: compiled for this very Python
            shutil.copytree(os.path.join(packages, name), os.path.join(own, name))

    def environment(self, **more):
        path = os.pathsep.join([os.path.dirname(self.script), os.environ.get("PATH", os.defpath)])
        return {"PATH": path, "HOME": self.home, "LANG": "C.UTF-8", "COLUMNS": "80", **more}

    def run(self, words, cwd, given=b"", **more):
        return subprocess.run(
            words, cwd=cwd, env=self.environment(**more), input=given, capture_output=True, timeout=120, check=False
        )


@pytest.fixture(scope="module")
def user_install(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("user"))
    place.canary = Canary(place.root)
    return UserInstall(place)


@pytest.fixture(scope="module")
def stage(user_install):
    """A clone in which every module name, alone and as a package, is a payload; and agents' settings as
    `foretold install` wrote them from inside the clone."""
    place = user_install.place
    for name in NAMES:
        place.write(f"proj/{name}.py", place.canary.python)
    for name in ("foretold", "foretold/cli", "encodings", "headnote"):
        place.write(f"proj/{name}/__init__.py", place.canary.python)
    place.write("proj/foretold/__main__.py", place.canary.python)
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("bin/claude", "#!/bin/sh\nexit 1\n", mode=0o755)
    place.git("init -q")
    done = user_install.run([user_install.script, "install", *HOOKS, "--hooks", "--mcp", "--yes"], place.proj)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def hostile(stage):
    """The stage, before anything ran."""
    if stage.canary.ran:
        os.remove(stage.canary.path)
    return stage


def found_in(user_install, place):
    return find_installations(InstallPlace(place.home, place.proj, user_install.environment()))


def hook_lines(home):
    """Every command that an agent would run, with its event, from the settings files themselves."""
    for target in HOOKS.values():
        with open(os.path.join(home, target.where.home), encoding="utf-8") as file:
            hooks = json.load(file)["hooks"]
        for event, groups in hooks.items():
            yield from ((event, handler["command"]) for group in groups for handler in group["hooks"])


def payload(place, event):
    fields = {"session_id": "11111111-2222-4333-8444-555555555555", "cwd": place.proj, "hook_event_name": event}
    tool = {"tool_name": "Bash", "tool_input": {"command": "cat CLAUDE.md"}, "tool_response": {"stdout": "x"}}
    return json.dumps({**fields, **tool, "prompt": "how do we indent?", "source": "startup"}).encode()


@pytest.mark.parametrize("variables", VARIABLES)
def test_no_hook_of_any_agent_imports_from_the_clone(user_install, hostile, variables):
    more = {name: value.format(proj=hostile.proj) for name, value in VARIABLES[variables].items()}
    lines = list(hook_lines(hostile.home))
    assert len(lines) == sum(len(target.events) for target in HOOKS.values())
    for event, line in dict(reversed(lines)).items():  # one for each event; the agents' differ in an option
        done = user_install.run(["/bin/sh", "-c", line], hostile.proj, payload(hostile, event), **more)
        assert (done.returncode, done.stderr, hostile.canary.ran) == (0, b"", False), line


@pytest.mark.parametrize("variables", VARIABLES)
def test_the_server_imports_nothing_from_the_clone(user_install, hostile, variables):
    more = {name: value.format(proj=hostile.proj) for name, value in VARIABLES[variables].items()}
    servers = {each.command for each in found_in(user_install, hostile) if each.part == "mcp"}
    assert len(servers) == 1
    done = user_install.run(servers.pop(), hostile.proj, **more)
    assert b"foretold mcp needs a package that is not installed" in done.stderr  # so it did start
    assert not hostile.canary.ran


def test_what_we_wrote_is_isolated_and_works(user_install, hostile):
    found = found_in(user_install, hostile)
    assert [(each.agent, each.part) for each in found if not each.is_valid] == []
    assert {each.part for each in found} == {"hooks", "mcp"}


COMMANDS = """
--version
install --list
doctor
doctor --fix --yes
show
explain
completion bash
sessions list
sessions search tabs
memory list
memory doctor
hook UserPromptSubmit --explain --prompt hi
probe --program {agent}
"""


@pytest.mark.parametrize("line", COMMANDS.strip().splitlines())
def test_no_command_imports_from_the_clone(user_install, hostile, line):
    script = user_install.script
    done = user_install.run([script, *shlex.split(line.format(agent=hostile.path("bin/claude")))], hostile.proj)
    assert done.returncode in (0, 1, 3), done.stderr
    assert b"Traceback" not in done.stderr
    assert not hostile.canary.ran


#: how each of our own processes is started, in code that a hook or a command runs
STARTS = {
    "background job": (
        "import os; from foretold.serve.hooks import background; "
        "pid = background.start(['--work', 'archive', '-C', os.getcwd()], os.environ); "
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    ),
    "index worker": (
        "import os; from foretold.sessions.fulltext.index import ShardHelper; "
        "folder = os.environ['HOME'] + '/index'; os.makedirs(folder, exist_ok=True); "
        "helper = ShardHelper(folder, 0, [], os.open('/dev/null', 0)); "
        "helper.follow(print, []); print(helper._process.wait())"
    ),
    "scanner": (
        "import os; from foretold.sessions.fulltext.scan import ParallelScan; "
        "scan = ParallelScan([b'x'], []); scan._start(); "
        "print(scan._worker.wait())"
    ),
    "search of the harness": (
        "import os; from foretold.harness.tools.search import SearchRequest, run_search; "
        "print(run_search(SearchRequest(os.getcwd() + '/CLAUDE.md', 'tabs'), {}).problem or 0)"
    ),
    "probe": (
        "import os; from foretold.proof.probe import run; from foretold.errors import ProbeFailed\n"
        "try: run.probe('claude-code@2.1.325', program=os.environ['AGENT'])\n"
        "except ProbeFailed as error: print(0 if 'ended with 1' in str(error) else error)"
    ),
}


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("variables", ["plain", "dot", "empty entries"])
def test_no_process_of_ours_imports_from_the_clone(user_install, hostile, kind, variables):
    """The process that starts it is isolated; the variables are still in its environment."""
    words = [user_install.python, "-E", "-P", "-c", STARTS[kind]]
    done = user_install.run(words, hostile.proj, **VARIABLES[variables], AGENT=hostile.path("bin/claude"))
    assert (done.stdout.split()[-1:], hostile.canary.ran) == ([b"0"], False), done.stderr


def test_a_relative_entry_of_the_variable_is_forgotten_by_the_program(user_install, hostile):
    """The script itself is not isolated: what Python imports before it is beyond us, what we import later is not."""
    for name in ("argparse", "tomllib", "textwrap", "difflib"):
        hostile.write(f"other/{name}.py", hostile.canary.python)
    done = user_install.run([user_install.script, "install", "--list"], hostile.path("other"), PYTHONPATH=".")
    # the server lacks its package
    assert (done.returncode, done.stderr, hostile.canary.ran) == (1, b"", False)


def test_a_clone_with_an_innocent_module_can_be_probed(place):
    from foretold.errors import ProbeFailed
    from foretold.proof.probe.run import probe

    place.write("proj/typing.py", "class Typing: ...\n")
    agent = place.write("bin/claude", "#!/bin/sh\nexit 7\n", mode=0o755)
    before = os.getcwd()
    os.chdir(place.proj)
    try:
        with pytest.raises(ProbeFailed, match="ended with 7 without asking its model"):
            probe("claude-code@2.1.325", program=agent, home=place.home)
    finally:
        os.chdir(before)


def test_what_others_wrote_is_reported_and_repaired(user_install, hostile):
    """As an older version wrote it after `pip install --user`: it did run files of the clone."""
    path, script = hostile.path("home/.claude/settings.json"), user_install.script
    with open(path, encoding="utf-8") as file:
        settings = json.load(file)
    for event, groups in settings["hooks"].items():
        groups[0]["hooks"][0]["command"] = f"{user_install.python} -m foretold hook {event}"
    hostile.write("home/.claude/settings.json", json.dumps(settings))
    loose = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    user_install.run(["/bin/sh", "-c", loose], hostile.proj, payload(hostile, "Stop"))
    assert hostile.canary.ran  # else the rest would prove nothing
    os.remove(hostile.canary.path)
    for words in (["install", "--list"], ["doctor"]):
        done = user_install.run([script, *words], hostile.proj)
        assert (done.returncode, b"command-not-isolated" in done.stdout) == (1, True)
    user_install.run([script, "doctor", "--fix", "--yes"], hostile.proj)
    for event, line in hook_lines(hostile.home):
        user_install.run(["/bin/sh", "-c", line], hostile.proj, payload(hostile, event))
    done = user_install.run([script, "install", "--list"], hostile.proj)
    assert (b"command-not-isolated" in done.stdout, hostile.canary.ran) == (False, False)
