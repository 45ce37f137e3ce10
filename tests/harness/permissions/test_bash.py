"""Whether commands may run."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from foretold.harness.permissions.check import Permission


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path))
    for name in ("proj/sub", "home", "out"):
        (root / name).mkdir(parents=True)
    (root / "proj/a.py").write_text("", encoding="utf-8")
    (root / "proj/out").symlink_to(root / "out")
    (root / "out/o.py").write_text("", encoding="utf-8")
    return root / "proj"


def decided(permission: Permission, command: str) -> str:
    return permission.check("Bash", {"command": command}).decision


FREE = [
    "ls", "ls -la sub", "cat a.py", "cat *.py", "head -n 5 a.py | wc -l", "echo hi; pwd",
    "grep -rn 'x y' . 2>/dev/null", "grep /etc a.py", "find . -name '*.py'", "cd sub && ls", "git status",
    "git log --oneline -5", "git diff main..other", "git --no-pager show HEAD", "LANG=C ls", "diff a.py sub",
    "(ls; pwd)", "which python", "ls 2>&1 | head", "cat < a.py", "echo $HOME", 'echo "$(ls)"', "true && ls",
    "if ls; then pwd; fi", "sort -rn -k2,2 a.py | head", "date +%F", "printf '%s\\n' \"$x\"", "sha256sum a.py", "seq 3",
]  # fmt: skip
NOT_FREE = [
    "ls /etc", "cat ../x", "cat ~/x", "cat $x", "cat out/o.py",
    "cat out/../home/x", "ls > out/../y", "cat 'a.py '/../../x", "cat out/*", "find / -name x",
    "find . -delete", "find . -exec rm {} ;", "find . -fprintf x", "find . $x", "find . *", "cd /", "cd -",
    "cd sub; git status", "git push", "git -c core.pager=x log", "git log --output=x",
    "git diff /etc/passwd x", "git diff ../x y", "echo x > a.py", "echo x >> /tmp/y", "PATH=. ls",
    "ls; rm a.py", "ls & sleep 1", "touch a", "sed -i s/a/b/ a.py", "grep -f/etc/x a.py",
    "grep --file=/etc/x y", "cat < /etc/passwd", "$x", "ls `rm x`", "tail --pid=1 /etc/x", "sort -o x a.py",
    "env ls", "xargs cat", "cd sub; cat $y", "test -v 'a[$(x)]'", "printf -v PATH x", "",
    "for i in a; do ls; done", "cat {a,/etc/b}", "date 01010000", "date -s x", "sort --compress-program=x a.py",
    "sort /etc/x",
]  # fmt: skip


@pytest.mark.parametrize("command", FREE)
def test_looking_is_free(project: Path, command: str) -> None:
    assert decided(Permission(cwd=project, home=project.parent / "home"), command) == "allow"


@pytest.mark.parametrize("command", NOT_FREE)
def test_anything_else_is_not(project: Path, command: str) -> None:
    wanted = "allow" if not command else "ask"
    assert decided(Permission(cwd=project, home=project.parent / "home"), command) == wanted


@pytest.mark.parametrize(
    ("rule", "command", "decision"),
    [
        ("Bash(npm run test:*)", "npm run test", "allow"),
        ("Bash(npm run test:*)", "npm run test --watch 'a b'", "allow"),
        ("Bash(npm run test:*)", "npm run tests", "ask"),
        ("Bash(npm run test*)", "npm run tests", "allow"),
        ("Bash(git *)", "git push origin main", "allow"),
        ("Bash(git * main)", "git push origin main", "allow"),
        ("Bash(git:* push)", "git push", "ask"),
        ("Bash(npm test)", "npm test", "allow"),
        ("Bash(npm test)", "npm test x", "ask"),
        ("Bash(npm test)", "npm test 2>&1", "allow"),
        ("Bash(npm test)", "npm test > log", "ask"),
        ("Bash(npm *)", "timeout 60 npm test", "allow"),
        ("Bash(npm *)", "NO_COLOR=1 npm test | tail -5", "allow"),
        ("Bash(npm *)", "NODE_OPTIONS=x npm test", "ask"),
        ("Bash(npm *)", "npm test && rm x", "ask"),
        ("Bash(npm *)", "npm test $(rm x)", "ask"),
        ("Bash(npm *)", "npm test `rm x`", "ask"),
        ("Bash(npm *)", "npm test <(rm x)", "ask"),
        ("Bash(npm *)", "npm test\nrm x", "ask"),
        ("Bash(npm *)", "npm test & rm x", "ask"),
        ("Bash(npm *)", "npm test <<E\n$(rm x)\nE", "ask"),
        ("Bash(npm *)", "cd sub && npm test", "allow"),
        ("Bash(find *)", "find . -name x", "allow"),
        ("Bash(find *)", "find . -exec rm x ;", "ask"),
        ("Bash(find *)", "find . -delete", "ask"),
        ("Bash(find . -delete)", "find . -delete", "allow"),
        ("Bash(watch *)", "watch ls", "ask"),
        ("Bash(watch ls)", "watch ls", "allow"),
        ("Bash", "for i in a b; do rm $i; done", "allow"),
        ("Bash(*)", "anything | at all", "allow"),
        ("Bash(a && b)", "a && b", "allow"),
        ("Bash(rm *)", "rm -rf build", "allow"),
        ("Bash(rm *)", "rm -rf /", "ask"),
    ],
)
def test_rules(project: Path, rule: str, command: str, decision: str) -> None:
    assert decided(Permission(allow=[rule], cwd=project, home=project.parent / "home"), command) == decision


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("mkdir -p sub/x && touch sub/x/y", "allow"),
        ("cp a.py sub/ && mv sub/a.py b.py && rm b.py", "allow"),
        ("echo x > a.py", "allow"),
        ("cp /etc/passwd a", "ask"),
        ("touch out/x", "ask"),
        ("touch ../x", "ask"),
        ("rm -rf .git", "ask"),
        ("rm -rf .", "ask"),
        ("rm *", "ask"),
        ("touch $x", "ask"),
        ("cp -t/etc a.py", "ask"),
        ("npm install", "ask"),
        ("echo x > .bashrc", "ask"),
        ("cd sub; rm ../../x", "ask"),
    ],
)
def test_where_edits_are_accepted_files_may_be_arranged(project: Path, command: str, decision: str) -> None:
    assert decided(Permission("acceptEdits", cwd=project, home=project.parent / "home"), command) == decision


@pytest.mark.parametrize(
    "command",
    ["rm -rf /", "rm -rf /*", "rm -rf ~", "rm -r ~/", "rm -rf .", "rm -rf ..", "rm -rf *", "rm -rf /usr",
     "sudo rm -rf /etc", 'rm -rf "$DIR"/*', "rm -rf $DIR/", "echo $(rm -rf ~)", "(rm -rf ~)",
     "bash -c 'rm -rf /'", "cd sub && rm -rf ..",
     "rmdir /home", "rm -rf $HOME", "rm -rf {project}", "rm -rf {project}/"],
)  # fmt: skip
def test_nobody_removes_everything_without_being_asked(project: Path, command: str) -> None:
    permission = Permission("bypass", allow=["Bash"], cwd=project, home=project.parent / "home")
    assert decided(permission, command.replace("{project}", str(project))) == "ask"
    assert decided(permission, "rm -rf sub ./build /tmp/x/y") == "allow"


TOKENS = [
    "echo", "echo ", "evil", "evil ", "x", " ", " ", "\n", "'", '"', "\\", "\\\n", " \\\n", "$", "$(", "(",
    ")", "`", "<", "<(", ">(", ">", "<<E", "<<'E'", "E", "\nE\n", "&&", "||", "|", "&", ";", ";;", "#", "{",
    "}", "${", "$((", "$'", '$"', "a", "=", "a=evil", "[", "[[", "*", "!", "~", "if ", "then ", "fi", "for ",
    "do ", "done", "time ", "timeout 1 ", "xargs ", "eval ", "cat ", "cd sub", "2>&1", ">/dev/null", "<<<",
    "1", "f()", "coproc ", "\r", "\u00a0", "+=", "/", "../", "env ", "command ", "exec ", " . ", "|&", "&>",
    "{echo,evil}", "{evil,x}", "$x", '"$(', '")', "-", "ls ", "find . ",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_what_a_rule_permits_runs_nothing_else(project: Path, seed: int) -> None:
    """Random command lines: what a rule about `echo` permits is given to the shell, and must run nothing else."""
    programs = project.parent / "bin"
    programs.mkdir()
    mark = project.parent / "mark"
    for name in ("evil", "x"):
        (programs / name).write_text(f'#!/bin/sh\n: > "{mark}"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    permission = Permission("dontAsk", ["Bash(echo *)"], cwd=project, home=project.parent / "home")
    before = sorted(os.listdir(project))
    rnd = random.Random(seed)
    permitted = 0
    for _ in range(500):
        start = "echo " if rnd.random() < 0.7 else ""
        command = start + "".join(rnd.choice(TOKENS) for _ in range(rnd.randint(1, 9)))
        if decided(permission, command) != "allow":
            continue
        permitted += 1
        subprocess.run(
            ["/bin/bash", "-c", 'eval "$1"', "bash", command],
            cwd=project,
            env={"PATH": str(programs), "HOME": str(project.parent / "home")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert not mark.exists(), command
        assert sorted(os.listdir(project)) == before, command
    assert permitted > 40


REFUSED = [
    "$'curl' x", "$'\\x63url' x", "function f { curl x; }; f", "coproc curl x", "alias c=curl; c x",
    "alias c='curl -s'", "a=curl; $a x", "bash <<EOF\ncurl x\nEOF", "cat <<'EOF' | sh\ncurl x\nEOF",
    "bash <<< 'curl x'", "echo curl x | bash", "printf 'curl x' | sudo sh", "env -S'curl x'",
    "env --split-string='curl x'", "git -c core.pager='curl x' log", "git -c alias.z='!curl x' z",
    "git -C sub push", "git -c a=b push origin", "git --git-dir x push", "git --no-pager push",
]  # fmt: skip
REFUSED_FILES = [
    "mv a.py keys/", "cp a.py keys", "cp a.py -t keys", "cp --target-directory=keys a.py", "ln -s keys z", "rm -r keys",
    "cat {keys,sub}/k", "cat $PWD/keys/k", 'cat "${PWD}"/keys/k', "echo x > $PWD/keys/n", "pushd keys; cat k",
    "dd if=keys/k", "awk 1 keys/k", "unlink keys/k", "git show HEAD:keys/k", "grep -r x keys", "grep --file=keys/k x",
    "cd keys && grep --file=k x", "tar cf - keys", "cat $'keys/k'", "diff -r keys sub", ". keys/k",
]  # fmt: skip


@pytest.mark.parametrize("command", REFUSED)
def test_a_refused_command_is_refused_in_whatever_clothes(project: Path, command: str) -> None:
    for mode in ("default", "bypass"):
        permission = Permission(mode, ["Bash"], ["Bash(curl *)", "Bash(git push *)"], cwd=project, home="/home/ann")
        assert decided(permission, command) == "deny"


@pytest.mark.parametrize("command", REFUSED_FILES)
def test_a_refused_file_is_refused_however_it_is_named(project: Path, command: str) -> None:
    (project / "keys").mkdir()
    (project / "keys/k").write_text("", encoding="utf-8")
    for rule in ("Read(./keys/**)", "Edit(./keys/**)"):
        reads = rule.startswith("Read") or command.split()[0] in ("mv", "cp", "ln", "rm", "dd", "unlink", "echo")
        permission = Permission("bypass", deny=[rule], cwd=project, home="/home/ann")
        assert decided(permission, command) == ("deny" if reads else "allow")


@pytest.mark.parametrize(
    "command",
    ["git rm x", "git log -- curl", "echo curl", "env A=curl make", "ls keys", "cp a.py b.py", "a=curl; echo x"],
)
def test_what_only_looks_like_it_is_not_refused(project: Path, command: str) -> None:
    deny = ["Bash(curl *)", "Bash(rm *)", "Edit(./keys/**)", "Read(./keys/**)"]
    assert decided(Permission("bypass", deny=deny, cwd=project, home="/home/ann"), command) == "allow"


@pytest.mark.parametrize(
    ("command", "decision"),
    [("grep -r x .", "ask"), ("grep -r x", "ask"), ("grep -rn x sub", "allow"), ("grep x a.py", "allow")],
)
def test_a_search_is_free_where_nothing_is_refused(project: Path, command: str, decision: str) -> None:
    permission = Permission(deny=["Read(./keys/**)"], cwd=project, home=project.parent / "home")
    assert decided(permission, command) == decision
