"""`make demo`: foretold in a small company where every layer of instructions is used, and some things are wrong.

The sample is copied to a temporary folder and stays there until the next demo, so that every command shown can be
pasted: a `foretold` in its own `bin` folder looks at the sample instead of this machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from foretold.dialects.claude_code.settings import slug

HERE = os.path.dirname(os.path.abspath(__file__))
MARKER = ".foretold-demo"  #: in a folder that an earlier demo made, and that this one may replace
STEPS = (
    ("What is the agent told in this repository?", []),
    ("Why is this file not loaded?", ["explain", "docs/testing.md"]),
    ("What does it remember about deploying?", ["memory", "recall", "when may I deploy?"]),
)
NEXT = (
    (["explain", "--file", "services/api/src/orders.ts"], "what reading a file adds"),
    (["compare", "--agent", "claude-code,codex"], "what several agents see here"),
    (["hook", "UserPromptSubmit", "--explain", "--prompt", "may I deploy?"], "what a hook would inject"),
    (["show"], "the exact text, as the model receives it"),
)


def main() -> int:
    root = make_folder()
    stage(root)
    write_program(root)
    os.chdir(f"{root}/repo")
    print(f"$ cd {shlex.quote(f'{root}/repo')} && PATH={shlex.quote(f'{root}/bin')}:$PATH\n")
    for question, words in STEPS:
        run(question, words, root)
    print(bold("# Try next, in that folder"))
    for words, about in NEXT:
        command = f"$ foretold {shlex.join(words)}"
        print(f"{command}  # {about}" if len(command + about) <= 76 else f"# {about}\n{command}")
    program = os.path.join(os.path.dirname(sys.executable), "foretold")
    print(f"\nIn a folder of yours: {shlex.quote(program)}")
    return 0


def make_folder() -> str:
    """A temporary folder for the sample: the one of the last demo, emptied, or a new one."""
    root = os.path.join(os.path.realpath(tempfile.gettempdir()), f"foretold-demo-{os.getuid()}")
    if os.path.isfile(f"{root}/{MARKER}") and os.lstat(root).st_uid == os.getuid():
        shutil.rmtree(root)
    try:
        os.mkdir(root, 0o700)
    except FileExistsError:
        root = os.path.realpath(tempfile.mkdtemp(prefix="foretold-demo-"))
    with open(f"{root}/{MARKER}", "x", encoding="utf-8"):
        return root


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


def write_program(root: str) -> None:
    """A `foretold` that looks at the sample."""
    os.mkdir(f"{root}/bin")
    options = shlex.join([sys.executable, "-I", "-m", "foretold", *places(root)[2:]])
    with open(f"{root}/bin/foretold", "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nHOME={shlex.quote(root)}/home exec {options} "$@"\n')
    os.chmod(f"{root}/bin/foretold", 0o755)


def run(question: str, words: list[str], root: str) -> None:
    """Show one command and what it prints."""
    print(bold(f"# {question}"))
    print(f"$ foretold {shlex.join(words)}".rstrip(), flush=True)
    done = subprocess.run([f"{root}/bin/foretold", *words], env=surroundings(root), check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    print(flush=True)


def bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text


if __name__ == "__main__":
    sys.exit(main())
