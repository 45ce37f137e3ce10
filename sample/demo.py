"""`make demo`: foretold in a small company where every layer of instructions is used, and some things are wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile

from foretold.dialects.claude_code.settings import slug

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = (
    ("What is the agent told in this repository?", []),
    ("Why, file by file?", ["explain"]),
    ("What does it get when it reads a file of the API?", ["explain", "--file", "services/api/src/orders.ts"]),
    ("And this one file: is it loaded?", ["explain", "docs/testing.md"]),
    ("What do other agents see here?", ["compare", "--agent", "claude-code,codex,copilot-cli,opencode"]),
    ("What does it remember about deploying?", ["memory", "recall", "when may I deploy?"]),
    ("Is all that it remembers still true?", ["memory", "verify"]),
    ("What would a hook add to a prompt?", ["hook", "UserPromptSubmit", "--explain", "--prompt", "may I deploy?"]),
    ("The exact text, as the model receives it:", ["show"]),
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="foretold-demo-") as folder:
        root = os.path.realpath(folder)
        stage(root)
        for question, words in STEPS:
            run(question, words, root)
    print("Now in a folder of yours: .venv/bin/foretold")
    return 0


def stage(root: str) -> None:
    """Copy the sample, and put the memories where the agent keeps them for this repository."""
    for name in ("handbook", "home", "managed", "repo"):
        shutil.copytree(os.path.join(HERE, name), os.path.join(root, name))
    repo = os.path.join(root, "repo")
    os.mkdir(os.path.join(repo, ".git"))
    memory = os.path.join(root, "home", ".claude", "projects", slug(repo), "memory")
    os.makedirs(memory)
    shutil.copy(os.path.join(HERE, "memory.md"), os.path.join(memory, "MEMORY.md"))
    for name in ("project_friday.md", "feedback_reviews.md"):
        shutil.copy(os.path.join(HERE, name), os.path.join(memory, name))


def places(root: str) -> list[str]:
    """The options that make foretold look at the sample instead of this machine."""
    return ["-C", f"{root}/repo", "--home", f"{root}/home", "--managed", f"{root}/managed"]


def surroundings(root: str) -> dict[str, str]:
    """This machine's environment without what would change an agent's answer."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "ANTHROPIC"))}
    return {**kept, "HOME": f"{root}/home", "PATH": "/usr/bin:/bin"}


def run(question: str, words: list[str], root: str) -> None:
    """Show one command and what it prints."""
    print(f"\x1b[1m# {question}\x1b[0m" if sys.stdout.isatty() else f"# {question}")
    print("$ foretold", *words, flush=True)
    command = [sys.executable, "-m", "foretold", *words, *places(root)]
    done = subprocess.run(command, env=surroundings(root), check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    print("\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
