"""Run the hook of `.pre-commit-hooks.yaml` with the real pre-commit, in a real repository: `make integrations`.

1. pre-commit is installed into `.cache/pre-commit`, once. Where that is not possible, it says so and ends with 0.
2. This working tree is copied into a repository of its own, with a commit, as users would name it in their
   `.pre-commit-config.yaml`; pre-commit installs foretold from there, into a cache that is thrown away.
3. A commit with an import that fails is refused, the same commit with the file is made; a commit that concerns no file
   of an agent does not run the hook, one with a link does.
"""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, ".cache", "pre-commit")
PROGRAM = os.path.join(TOOL, "bin", "pre-commit")
CONFIG = """\
repos:
  - repo: {repo}
    rev: {rev}
    hooks:
      - id: foretold-check
"""


def install() -> bool:
    """Whether pre-commit is there; if not, it was said why."""
    if shutil.which("git") is None:
        print("the hook of pre-commit was not run: git is not installed")
        return False
    if os.path.exists(PROGRAM):
        return True
    for command in (
        [sys.executable, "-m", "venv", TOOL],
        [f"{TOOL}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pre-commit"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"the hook of pre-commit was not run: pre-commit could not be installed: {reason}")
            return False
    return True


class Stage:
    """A temporary home with two repositories: this one as it is now, and one that uses its hook."""

    def __init__(self, folder: str) -> None:
        self.hooks, self.project = (os.path.join(folder, name) for name in ("foretold", "project"))
        who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
        self.env = {**kept, "HOME": folder, "PRE_COMMIT_HOME": os.path.join(folder, "cache"), **who}
        self.env["PATH"] = f"{TOOL}/bin:{self.env['PATH']}"
        self.env["GIT_CONFIG_NOSYSTEM"] = "1"

    def git(self, folder: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *words], cwd=folder, env=self.env, capture_output=True, text=True, check=False)

    def copy_hooks(self) -> str:
        """Copy what git would commit of this working tree; the commit."""
        listed = subprocess.run(
            [
                "git",
                "ls-files",
                "-co",
                "--exclude-standard",
                "-z",
                "--",
                "src",
                "pyproject.toml",
                "README.md",
                "LICENSE",
            ],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in [*os.fsdecode(listed.stdout).split("\0")[:-1], ".pre-commit-hooks.yaml"]:
            if os.path.exists(os.path.join(ROOT, name)):
                os.makedirs(os.path.dirname(os.path.join(self.hooks, name)), exist_ok=True)
                shutil.copy(os.path.join(ROOT, name), os.path.join(self.hooks, name))
        self.git(self.hooks, "init", "-q")
        self.git(self.hooks, "add", "-A")
        self.git(self.hooks, "commit", "-qm", "all")
        return self.git(self.hooks, "rev-parse", "HEAD").stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = os.path.join(self.project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def commit(self) -> tuple[int, str]:
        self.git(self.project, "add", "-A")
        done = self.git(self.project, "commit", "-m", "change")
        return done.returncode, done.stdout + done.stderr


def main() -> int:
    if not install():
        return 0
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder)
        stage.write(".pre-commit-config.yaml", CONFIG.format(repo=stage.hooks, rev=stage.copy_hooks()))
        stage.git(stage.project, "init", "-q")
        installed = subprocess.run(
            [PROGRAM, "install"], cwd=stage.project, env=stage.env, capture_output=True, text=True, check=False
        )
        tries = [try_failing(stage), try_passing(stage), try_unrelated(stage), try_link(stage)]
        wrong = [said for said in tries if said]
    for said in wrong:
        print(f"{said}\n{installed.stdout}{installed.stderr}")
    print("the hook of pre-commit " + ("does NOT do what it should" if wrong else "refuses, passes and stays out"))
    return 1 if wrong else 0


def try_failing(stage: Stage) -> str:
    """What is wrong when an import fails; empty if it is refused with the reason."""
    stage.write("CLAUDE.md", "See @docs/style.md\n")
    status, said = stage.commit()
    return "" if status == 1 and "error import-missing" in said else f"an import that fails was not refused:\n{said}"


def try_passing(stage: Stage) -> str:
    stage.write("docs/style.md", "Use tabs.\n")
    status, said = stage.commit()
    is_right = status == 0 and "foretold check" in said and "Passed" in said
    return "" if is_right else f"a clean tree was not passed:\n{said}"


def try_unrelated(stage: Stage) -> str:
    stage.write("src/app.py", "x = 1\n")
    status, said = stage.commit()
    return "" if status == 0 and "Skipped" in said else f"a commit without such files ran the hook:\n{said}"


def try_link(stage: Stage) -> str:
    os.symlink("CLAUDE.md", os.path.join(stage.project, "AGENTS.md"))
    status, said = stage.commit()
    return (
        "" if "foretold check" in said and "Skipped" not in said else f"a link did not run the hook:\n{status} {said}"
    )


if __name__ == "__main__":
    sys.exit(main())
