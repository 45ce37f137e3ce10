"""A model that wants to write what it may not: through files, through the shell, through our own command."""

import json
import os

import pytest

from foretold.cli.memory import COMMANDS as MEMORY_COMMANDS
from foretold.memory.command_policy import MEMORY_LOOKS, MEMORY_WRITES, GuardedPlaces, judge_command

NOWHERE = GuardedPlaces((), (), "/proj", "/home/me")
KEY = "AKIA" + "IOSFODNN7ABCDEFG"


class Guard:
    """A project with memories, and the guard as an agent starts it: a real process for each call."""

    def __init__(self, place, installed):
        from foretold.dialects.claude_code.settings import slug

        self.place, self.installed = place, installed
        place.folder("proj/.git")
        self.memory = place.folder(f"home/.claude/projects/{slug(place.proj)}/memory")
        place.write(f"{self.memory}/a.md", "Tabs.\n")

    def policy(self, name, more=""):
        self.place.write("home/.config/foretold/config.toml", f'[memory]\npolicy = "{name}"\n{more}')

    def ask(self, tool, agent="claude-code", env=None, **given):
        """The verdict and its reason; empty if there is none."""
        payload = {"session_id": "s", "cwd": self.place.proj, "hook_event_name": "PreToolUse", "tool_name": tool}
        data = json.dumps({**payload, "tool_input": given}).encode()
        return self.answer(data, agent=agent, env=env)

    def answer(self, data, agent="claude-code", env=None):
        code, out, err = self.installed.run("hook", "PreToolUse", "--agent", agent, given=data, env=env)
        assert (code, err) == (0, b"")
        said = json.loads(out) if out else {}
        inside = said.get("hookSpecificOutput", said)
        verdict = inside.get("permissionDecision", inside.get("decision", ""))
        return verdict, inside.get("permissionDecisionReason", inside.get("reason", ""))

    def bash(self, command, **options):
        return self.ask("Bash", command=command.replace("$M", self.memory), **options)[0]

    def many(self, commands):
        """The verdicts on many commands, in this process: as the process of a hook decides."""
        from foretold.serve.hooks.context import Caller
        from foretold.serve.hooks.dispatch import handle_event

        caller = Caller("claude-code", self.place.home, "", {"HOME": self.place.home, "PATH": "/nowhere"}, is_dry=True)
        found = {}
        for command in commands:
            payload = {"cwd": self.place.proj, "tool_name": "Bash"}
            given = {"command": command.replace("$M", self.memory)}
            found[command] = handle_event("PreToolUse", {**payload, "tool_input": given}, caller)[0].verdict
        return found


@pytest.fixture
def guard(place, installed):
    return Guard(place, installed)


# The guard's own switches

SWITCHES = '[hooks]\nguard = false\noff = ["PreToolUse"]\n[memory]\npolicy = "auto"\n'


def test_a_repository_cannot_switch_off_the_guard(guard):
    guard.policy("manual")
    guard.place.write("proj/.foretold.toml", SWITCHES)
    assert guard.ask("Write", file_path=f"{guard.memory}/x.md", content="x")[0] == "deny"
    assert guard.bash(f"echo {KEY} > $M/x.md") == "deny"


@pytest.mark.parametrize("variable", ["FORETOLD_HOME", "XDG_CONFIG_HOME"])
@pytest.mark.parametrize("where", ["proj/conf", "elsewhere"])
def test_a_variable_that_a_repository_sets_cannot_switch_off_the_guard(guard, variable, where):
    """Claude Code gives hooks the `env` of a project's settings."""
    guard.policy("manual")
    for name in ("config.toml", "foretold/config.toml"):
        guard.place.write(f"{where}/{name}", SWITCHES)
    env = {variable: guard.place.path(where)}
    assert guard.ask("Write", file_path=f"{guard.memory}/x.md", content="x", env=env)[0] == "deny"


def test_a_linked_settings_file_of_a_repository_cannot_switch_off_the_guard(guard):
    guard.policy("manual")
    guard.place.write("outside.toml", SWITCHES)
    guard.place.link("proj/.foretold.toml", guard.place.path("outside.toml"))
    assert guard.ask("Write", file_path=f"{guard.memory}/x.md", content="x")[0] == "deny"


def test_the_user_can_switch_off_the_guard(guard):
    guard.policy("manual", '[hooks]\noff = ["PreToolUse"]\n')
    assert guard.ask("Write", file_path=f"{guard.memory}/x.md", content="x") == ("", "")


# Edits of what guards


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "qwen-code"])
@pytest.mark.parametrize(
    "path",
    [
        *("home/.config/foretold/config.toml", "proj/.foretold.toml", "home/.local/state/foretold/x/log.jsonl"),
        *("home/.cache/foretold/hooks/place-x", "home/.claude/settings.json", "proj/link.toml"),
    ],
)
def test_settings_state_and_hooks_of_ours_are_asked_about(guard, agent, path):
    guard.place.write("home/.claude/settings.json", '{"hooks": {"x": "foretold hook PreToolUse"}}')
    guard.place.link("proj/link.toml", guard.place.path("home/.config/foretold/config.toml"))
    tool = "write_file" if agent == "gemini-cli" else "Write"
    verdict, reason = guard.ask(tool, agent=agent, file_path=guard.place.path(path), content="x")
    assert verdict == ("ask" if agent == "claude-code" else "deny")
    assert "the user decides" in reason


def test_turning_off_all_hooks_is_asked_about(guard):
    path = guard.place.path("proj/.claude/settings.local.json")
    assert guard.ask("Write", file_path=path, content='{"disableAllHooks": true}')[0] == "ask"
    assert guard.ask("Write", file_path=path, content='{"disable\\u0041llHooks": true}')[0] == "ask"
    assert guard.ask("Write", file_path=path, content='{"model": "x"}')[0] == ""


def test_tools_of_other_servers_are_judged_by_every_text_that_they_are_given(guard):
    guard.policy("manual")
    path = f"{guard.memory}/x.md"
    for given in (
        {"command": f"echo x > {path}"},
        {"cmd": ["foretold", "-C", ".", "memory", "trust"]},
        {"uri": f"file://{path}", "data": "x"},
        {"uri": f"file://localhost{path}".replace("memory", "mem%6fry"), "data": "x"},
        {"files": [{"where": path, "body": "x"}]},
        {"steps": [{"command": "foretold memory trust"}]},
        {"target": guard.place.path("home/.config/foretold/config.toml"), "lines": ["x"]},
    ):
        assert guard.ask("mcp__other__do", **given)[0] in ("ask", "deny"), given
    for given in (
        {"command": "npm test"},
        {"path": path},
        {"url": "https://x/y", "body": "z"},
        {"path": "a/b", "x": "y"},
    ):
        assert guard.ask("mcp__other__do", **given)[0] == "", given
    assert guard.ask("mcp__other__read_files", paths=[path, path])[0] == ""


# Shell commands

OWN = (
    *(
        "foretold memory inbox accept all",
        "foretold memory add T -t project -d d -b b --anyway",
        "foretold memory trust",
    ),
    *(
        "foretold memory erase x",
        "foretold uninstall claude-code --yes",
        "foretold install claude-code",
        "foretold hook X",
    ),
    *("python -m foretold memory trust", "/opt/x/bin/foretold memory trust", "headnote memory inbox accept 1"),
    *(
        "env -u CLAUDECODE foretold memory trust",
        "sh -c 'foretold memory trust'",
        "echo 1 | xargs foretold memory inbox accept",
    ),
    *("F=foretold; $F memory trust", "${A}told memory inbox accept 1", "python3 -Im foretold memory trust"),
    *(
        "fore''told memory trust",
        'f"oretold" memory trust',
        "uvx foretold@1.0 memory trust",
        "timeout 5 foretold memory trust",
    ),
    *("bash <<< 'foretold memory trust'", "bash <<E\nforetold memory trust\nE", "pip uninstall -y foretold"),
    *("python -c 'import foretold; foretold.memory.open().inbox.accept(1)'", "true && foretold memory share x --yes"),
    *(
        "rm -rf ~/.local/state/foretold",
        "rm -r $HOME/.config/foretold",
        "echo x > .foretold.toml",
        "cd ~/.config && rm -r foretold",
        "rm -rf ~/.config",
        "find ~/.local -delete",
    ),
    *(
        "sed -i s/manual/auto/ ~/.config/foretold/config.toml",
        "mv ~/.cache/foretold /tmp",
        "rm -rf ~/.local/s*/foretold",
    ),
)

#: an option before the subcommand, and words that are known only when they run
HIDDEN = (
    *("foretold -C . memory trust --yes", "foretold -C . memory inbox accept 1", "foretold -C . memory share x"),
    *("foretold -C . memory add T --anyway --body ghp_x", "foretold -C . memory erase x", "foretold -C . uninstall"),
    *("foretold --agent X memory trust", "foretold --home /h memory trust", "foretold --home=/h uninstall codex"),
    *(
        "foretold memory -C list trust --yes",
        "foretold memory --folder list erase x",
        "foretold --new show memory trust",
    ),
    *("foretold -C --help memory trust", "foretold memory erase -- --help", "F=foretold; $F -C . memory trust"),
    *("m=mem; foretold ${m}ory trust", 'foretold "$(echo memory)" trust', "echo memory trust | xargs foretold"),
    *('set -- memory trust; foretold "$@"', "foretold {memory,trust}", "alias f=foretold; f memory trust"),
    *("F=foretold; S=memory; $F $S trust", "${a}told ${m}ory trust", "fore$(echo told) ${m}ory trust"),
    *("echo trust | xargs foretold memory", "echo memory | xargs -I@ foretold @ trust", 'f() { foretold "$@"; }; f x'),
    *("~/bin/foretold memory trust", "$HOME/bin/foretold -C . memory trust"),
    *("python3 -m pip uninstall -y foretold", "uv pip uninstall foretold", "x=--anyway; foretold memory add T $x"),
)


@pytest.mark.parametrize("policy", ["auto", "manual"])
def test_a_call_of_ours_that_is_not_known_before_it_runs_is_asked_about(guard, policy):
    guard.policy(policy)
    assert {command for command, verdict in guard.many(HIDDEN).items() if verdict not in ("ask", "deny")} == set()


@pytest.mark.parametrize("policy", ["auto", "confirm", "manual", "read-only"])
def test_what_consents_for_the_user_is_asked_about_under_every_policy(guard, policy):
    guard.policy(policy)
    found = guard.many(OWN)
    assert {command: verdict for command, verdict in found.items() if verdict not in ("ask", "deny")} == {}


WRITING = (
    *("foretold memory add T -t project -d d -b b", "python -m foretold memory edit a -b b", "foretold memory rm a"),
    *("echo x > $M/x.md", "cd $M && echo x > y.md", "foretold memory import x.json", "rm $M/a.md"),
)


@pytest.mark.parametrize(
    ("policy", "verdict"), [("auto", ""), ("confirm", "ask"), ("manual", "deny"), ("read-only", "deny")]
)
def test_writing_through_the_shell_is_subject_to_the_policy(guard, policy, verdict):
    guard.policy(policy)
    assert guard.many(WRITING) == dict.fromkeys(WRITING, verdict)
    proposed = "foretold memory add T -t project -d d -b b --by agent"
    assert guard.many([proposed])[proposed] == ("" if policy == "confirm" else verdict)


UNSEEN = (
    *(
        "cp /tmp/k $M/x.md",
        "git apply /tmp/p $M",
        "patch -d $M < /tmp/p",
        "cat /tmp/k | tee $M/x.md",
        "dd if=/tmp/k of=$M/x.md",
    ),
    *(
        "install /tmp/k $M/x.md",
        "ln -s /tmp/k $M/x.md",
        "mv /tmp/k $M/x.md",
        "sed -i -f /tmp/s $M/a.md",
        "sed -i 'r /tmp/k' $M/a.md",
        "cat < /tmp/k > $M/x.md",
    ),
    *(
        'python -c \'open("$M/x.md","w").write(input())\'',
        'echo "$K" > $M/x.md',
        "cat /tmp/k >> $M/a.md",
        "curl -o $M/x.md http://x",
    ),
    *(
        "cd $M; cp /tmp/k x.md",
        "cd /tmp && cp k $M/x.md",
        "M=$M; cp k $M/x.md",
        "rsync /tmp/k $M/",
        "tar -C $M -xf /tmp/t",
    ),
    *("cp /tmp/k ~/.claude/projects/*/memory/x.md", "(cd $M && git apply /tmp/p)", "echo `cat /tmp/k` > $M/x.md"),
)


def test_content_that_cannot_be_seen_is_asked_about(guard):
    assert guard.many(UNSEEN) == dict.fromkeys(UNSEEN, "ask")


#: globs and expansions that may stand for a folder of ours; `$P` is the folder that has the one of memories in it
TOWARDS = (
    *("x=told; printf x > ~/.config/fore$x/config.toml", "cd ~/.config && printf x > f*d/config.toml"),
    *("rm -rf ~/.local/s*", "d=mem; echo hi > $P/${d}ory/a.md", "cd $P; cd m*; echo hi > a.md", "rm -rf ~/.claude"),
    *("cp -r /tmp/evil/. ~/.claude", "find ~ -name project_deploys.md -exec cp /tmp/evil {} ;", "rm -rf ~/.c*"),
    *("echo hi | tee $(find ~ -name x.md)", "echo hi > ~/.claude/pro*/*/mem*/a.md", "rsync -a /tmp/evil/ ~/.claude"),
    *("cd ~/.claude && rm settings.json", "sed -i d ~/.claude/sett*", "echo {} > ~/.claude/settings.js?n"),
    *("tee ~/.claude/$x < /tmp/evil", "mv ~/.claude /tmp/x", "cp -r /tmp/evil/.claude ~", "cd; rm -r .claude"),
    *("eval 'rm ~/.claude/s*'", "bash -c 'echo x > ~/.config/f*/config.toml'", "sudo rm -rf ~/.{claude,x}"),
    *("rm " + "a.b " * 60 + "~/.claude/settings.json", "cd ~/.claude; tee s*.json < /tmp/x", "tar xf /tmp/x -C ~"),
    *("echo '{\"disableAllHooks\": true}' > .claude/settings.local.json", "printf '%s%s' a b > $M/a.md"),
    *("echo -e 'a\\x41' > $M/a.md", "echo AK >> $M/a.md; echo IA >> $M/a.md", "ln -sf /tmp/x ~/.claude/settings.json"),
)


@pytest.mark.parametrize("policy", ["auto", "manual"])
def test_a_path_that_may_lead_into_a_folder_of_ours_is_asked_about(guard, policy):
    guard.policy(policy)
    guard.place.write("home/.claude/settings.json", '{"hooks": {"x": "foretold hook PreToolUse"}}')
    rows = [row.replace("$P", os.path.dirname(guard.memory)) for row in TOWARDS]
    assert [row for row, verdict in guard.many(rows).items() if verdict not in ("ask", "deny")] == []


ORDINARY = (
    *("mv $X/a.zip .", "rm -rf ~/.cache/pip/*", "bash -c 'rm -rf build/*'"),
    *(
        "git status",
        "git add -A && git commit -m 'x $y'",
        "git checkout -- src/*.py",
        "git stash",
        "git push origin HEAD",
    ),
    *("npm ci", "npm run build -- --out $OUT", "pytest -q tests/*.py", "python -m pytest -k 'a or b' > $OUT/log.txt"),
    *(
        "rm -rf build",
        "rm -rf build/* dist/",
        "rm -f *.pyc",
        "cp a.txt b.txt",
        "cp -r src/. build/",
        "cp -r dist /tmp/x",
    ),
    *("find . -name '*.pyc' -delete", "find src -type f -exec sed -i s/a/b/ {} +", "sed -i s/a/b/ src/*.py"),
    *("echo $x > out/$name.txt", 'for f in src/*.c; do cc -c "$f" -o "build/$f.o"; done', "make -j$(nproc) > $LOG"),
    *(
        "ls ~ > files.txt",
        "cat ~/.bashrc",
        "mkdir -p build/{a,b}",
        "touch src/a.py",
        "tar czf x.tgz src",
        "tar xf x.tgz",
    ),
    *(
        "cd src && npm test",
        "cd /tmp && rm -rf x",
        'echo "${A[@]}" | tee log.txt',
        "docker run -v $PWD:/x img",
        "rm $F",
    ),
    *("curl -s http://x | jq '.[]' > a.json", "awk '{print $1}' a.txt > b.txt", "git log --format='%h %s' | head -5"),
    *(
        "mv a.txt $OUT/",
        "cp $SRC/a.txt .",
        "chmod +x run.sh",
        "ln -s a b",
        "xargs rm < list.txt",
        "diff <(ls a) <(ls b)",
    ),
    *(
        "export A=1; node x.js",
        "test -f x && rm x",
        "kill $PID",
        "VAR=$(cat x) make",
        "rm -rf ./node_modules",
        "cp x ~/",
    ),
)


@pytest.mark.parametrize("policy", ["auto", "manual"])
def test_ordinary_commands_are_free(guard, policy):
    guard.policy(policy)
    guard.place.write("home/.claude/settings.json", '{"hooks": {"x": "foretold hook PreToolUse"}}')
    assert [row for row, verdict in guard.many(ORDINARY).items() if verdict] == []


SECRET = (
    *(f"echo {KEY} > $M/x.md", f"echo {KEY[:9]}''{KEY[9:]} > $M/x.md", f'echo {KEY[:9]}""{KEY[9:]} >> $M/a.md'),
    *(
        f"cat > $M/x.md <<E\n{KEY}\nE",
        f"foretold memory add T -t project -d d -b {KEY}",
        f"printf '{KEY}' | tee $M/x.md",
    ),
    *(f"sh -c \"foretold memory add T -b {KEY[:7]}''{KEY[7:]}\"", f"foretold memory add T -b {KEY} --anyway"),
    *(f"sed -i 's/Tabs/{KEY}/' $M/a.md", f"echo {KEY[:6]}\\{KEY[6:]} > $M/x.md"),
)


@pytest.mark.parametrize("policy", ["auto", "confirm"])
def test_a_credential_is_refused_however_it_is_written(guard, policy):
    guard.policy(policy)
    assert guard.many(SECRET) == dict.fromkeys(SECRET, "deny")


FREE = (
    *(
        "cat $M/a.md",
        "grep -r tabs $M | head",
        "ls -la $M",
        "foretold memory list",
        "foretold memory recall 'how do we?'",
    ),
    *(
        "foretold show",
        "foretold explain --json",
        "foretold install",
        "foretold install --list",
        "foretold memory inbox",
    ),
    *("git commit -m 'memory add'", "echo foretold memory trust", "grep -rn 'foretold memory trust' docs", "npm test"),
    *(
        "cd foretold && make test",
        "pip install foretold",
        "foretold memory trust --help",
        "cat ~/.config/foretold/config.toml",
    ),
    *(
        "python -m pytest tests/memory",
        "python script.py --memory add",
        "git -C foretold status",
        "foretold hook X --explain",
    ),
    *("foretold -C . memory list", "foretold -C x", "foretold --agent codex show", "foretold memory -C . recall x"),
    *('foretold memory recall "$Q"', "foretold --json -C .. explain", "foretold -C . memory inbox list"),
)


def test_what_only_looks_is_free(guard):
    guard.policy("manual")
    assert guard.many(FREE) == dict.fromkeys(FREE, "")


# Out of time


def test_a_write_of_ten_megabytes_is_judged_or_refused(guard):
    content = (KEY[:4] + " ") * (10 * 1024 * 1024 // 5) + KEY
    assert guard.ask("Write", file_path=f"{guard.memory}/x.md", content=content)[0] == "deny"
    elsewhere = guard.place.path("proj/x.md")
    assert guard.ask("Write", file_path=elsewhere, content="x" * (10 * 1024 * 1024))[0] == ""


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "qwen-code"])
def test_a_payload_that_is_too_long_is_refused(guard, agent):
    verdict, reason = guard.answer(b'{"tool_name": "Write", "x": "' + b"x" * (17 * 1024 * 1024), agent=agent)
    assert (verdict, "too long" in reason) == ("deny", True)


def test_an_input_that_does_not_end_is_refused_and_other_events_say_nothing(guard):
    for event, expected in (("PreToolUse", b"deny"), ("PostToolUse", b"")):
        process = guard.installed.start("hook", event)
        try:
            process.stdin.write(b'{"tool_name": "Write"')
            process.stdin.flush()
            out = process.stdout.read()
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.communicate()
        assert expected in out
        assert bool(out) == bool(expected)


def test_what_is_not_json_is_let_through(guard):
    assert guard.answer(b"not JSON") == ("", "")


def test_a_folder_of_memories_that_is_entered_is_guarded(guard):
    guard.policy("manual")
    payload = {"cwd": guard.memory, "tool_name": "Bash", "tool_input": {"command": "cp /tmp/k x"}}
    env = {"CLAUDE_PROJECT_DIR": guard.place.proj}
    assert guard.answer(json.dumps(payload).encode(), env=env)[0] == "deny"
    assert os.listdir(guard.memory) == ["a.md"]


# Our command in the shell of an agent

AGENT = {"CLAUDECODE": "1"}
ADD = ("memory", "add", "Deploys", "-t", "project", "-d", "when", "-b")


@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "CURSOR_AGENT"])
def test_the_command_knows_that_an_agent_started_it(guard, mark):
    """Under `manual` nothing is written, whoever the command line says is writing; a person still can."""
    guard.policy("manual")
    code, _, err = guard.installed.run(*ADD, "On Tuesdays.", "--by", "user", env={mark: "1"})
    assert (code != 0, b"policy" in err) == (True, True)
    assert os.listdir(guard.memory) == ["a.md"]
    assert guard.installed.run(*ADD, "On Tuesdays.")[0] == 0


def test_what_an_agent_adds_is_proposed_and_cannot_be_accepted_by_it(guard):
    guard.policy("confirm")
    assert b"proposed" in guard.installed.run(*ADD, "On Tuesdays.", env=AGENT)[1]
    code, _, err = guard.installed.run("memory", "inbox", "accept", "all", env=AGENT)
    assert (code != 0, b"for the user to decide" in err) == (True, True)
    assert os.listdir(guard.memory) == ["a.md"]
    assert guard.installed.run("memory", "inbox", "accept", "all")[0] == 0


def test_an_agent_cannot_write_a_credential_anyway(guard):
    code, _, err = guard.installed.run(*ADD, f"key {KEY}", "--anyway", env=AGENT)
    assert (code != 0, b"for the user to decide" in err, KEY.encode() in err) == (True, True, False)
    assert os.listdir(guard.memory) == ["a.md"]


# Our own commands


def test_every_command_for_memories_is_judged():
    """A new one is asked about until a table says that it only looks, or writes as the policy says."""
    judged = {
        name: judge_command(f"foretold memory {name} accept", NOWHERE, "auto").decision for name in MEMORY_COMMANDS
    }
    asked = {name for name, decision in judged.items() if decision}
    assert asked == {"erase", "inbox", "share", "trust"}
    assert {*MEMORY_COMMANDS} - asked == MEMORY_LOOKS | MEMORY_WRITES
    assert judge_command("foretold memory new-one", NOWHERE, "auto").decision == "ask"


@pytest.mark.parametrize("policy", ["auto", "confirm"])
def test_old_versions_are_not_dropped_without_asking(policy):
    for words in ("compact --history --yes", "compact --days 0 --history --yes --by agent"):
        assert judge_command(f"foretold memory {words}", NOWHERE, policy).decision == "ask"
    assert judge_command("foretold memory compact --yes", NOWHERE, "auto").decision == ""
