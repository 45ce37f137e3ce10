"""Asking the agent on this machine which instructions it sends to its model here, and comparing that with our answer.

1. It runs in the folder itself, with a temporary home that has copies of instruction files and the few settings about
   them, never credentials, and with a clean environment and a fake key.
2. Where the system allows it, it runs in a network that has only a loopback interface, and in a process tree that ends
   with it; if not, the answer says so.
3. Settings of the project that lead it to another server or start programs are covered by copies without them, which
   only the agent sees; the answer names them. Where the system does not allow that, the agent is not run.
4. The temporary folder is always removed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from foretold.dialects.registry import AGENTS, installed_version, unknown_agent
from foretold.dialects.settings_files import read_json, read_toml
from foretold.errors import ProbeFailed
from foretold.git.runner import SAFE
from foretold.instructions.session import Call, Session
from foretold.paths import python_words
from foretold.proof.probe.failure import require_conversation
from foretold.proof.probe.project_settings import Cover, find_covers, write_covers
from foretold.proof.probe.recipes import KEY, RECIPES, Recipe
from foretold.proof.probe.sandbox import fill_places, write_files
from foretold.proof.probe.segments import Segment, find_segments, order_first_request
from foretold.storage.tree import Disk
from foretold.types import Finding

PROMPT = "Answer with one word."
TIMEOUT = 60.0
NAMESPACES = (
    ("unshare", "-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"),
    ("unshare", "-U", "-r", "-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"),
)
#: settings of git with which a repository starts no program when the agent asks git
GIT_ENV = {
    "GIT_CONFIG_COUNT": str(len(SAFE)),
    **{f"GIT_CONFIG_KEY_{at}": each.partition("=")[0] for at, each in enumerate(SAFE)},
    **{f"GIT_CONFIG_VALUE_{at}": each.partition("=")[2] for at, each in enumerate(SAFE)},
}


class Probe(NamedTuple):
    """The instructions that an agent sent to its model, and those that we expected."""

    agent: str
    version: str
    program: str
    exit: int
    isolated: bool  #: whether it could reach nothing but the loopback interface
    requests: int
    sent: tuple[Segment, ...]
    expected: tuple[Segment, ...]
    problems: tuple[str, ...]
    cwd: str = ""
    home: str = ""  #: the temporary one, whose paths are in the texts
    set_aside: tuple[str, ...] = ()  #: settings of the project that the agent did not see: they lead it elsewhere

    @property
    def same(self) -> bool:
        return self.sent == self.expected


def probe(
    agent: str,
    cwd: str = ".",
    *,
    read: Sequence[str] = (),
    program: str = "",
    home: str = "",
    prompt: str = PROMPT,
    timeout: float = TIMEOUT,
) -> Probe:
    """Run an agent against our model server, which makes it `read` files, a turn each; what it sends."""
    name, _, version = agent.lower().partition("@")
    recipe = find_recipe(name)
    program = find_given(program) if program else find_program(recipe)
    version = version or installed_version(recipe.programs, {"PATH": os.path.dirname(program)})
    folder = os.path.realpath(cwd)
    if not os.path.isdir(folder):
        raise ProbeFailed(f"{folder} is not a folder")
    covers = find_covers(folder, recipe.project)
    require_cover(covers, folder, program)
    root = os.path.realpath(tempfile.mkdtemp(prefix="foretold-probe-"))
    seeded = os.path.join(root, "home")
    try:
        files = _seed(recipe, home or os.path.expanduser("~"), seeded)
        paths = [os.path.join(folder, path) for path in read]
        answer, isolated = _converse(recipe, program, folder, root, files, paths, prompt, timeout, covers)
        expected = _expected(name, version, folder, seeded, recipe, files, paths, prompt)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    require_conversation(answer, program, timeout)
    sent = find_segments(answer["requests"], name)
    if "@" in prompt:
        sent, expected = order_first_request(sent), order_first_request(expected)
    return Probe(
        agent=name,
        version=version,
        program=program,
        exit=int(answer["exit"]),
        isolated=isolated,
        requests=len(answer["requests"]),
        sent=tuple(sent),
        expected=tuple(expected),
        problems=tuple(answer["problems"]),
        cwd=folder,
        home=seeded,
        set_aside=tuple(cover.describe(folder) for cover in covers) if isolated else (),
    )


def find_recipe(agent: str) -> Recipe:
    """How an agent is run."""
    if agent in RECIPES:
        return RECIPES[agent]
    if agent not in AGENTS:
        raise unknown_agent(agent, RECIPES)
    raise ProbeFailed(f"{agent} cannot be run; supported agents: {', '.join(RECIPES)}")


def _converse(
    recipe: Recipe,
    program: str,
    folder: str,
    root: str,
    files: dict[str, str],
    paths: Sequence[str],
    prompt: str,
    timeout: float,
    covers: Sequence[Cover],
) -> tuple[dict[str, Any], bool]:
    """Run the agent in its seeded home, a turn for each file; its requests, and whether it was isolated."""
    seeded = os.path.join(root, "home")
    before = _files_in(seeded)
    turns = [[{"names": recipe.reads[0], "input": recipe.read_input(path)}] for path in paths]
    answer, isolated = ask_agent(
        recipe._replace(env={**GIT_ENV, **recipe.env}),
        program,
        folder,
        root,
        files,
        turns,
        prompt,
        timeout,
        home=seeded,
        covers=write_covers(root, covers),
    )
    for path in _files_in(seeded) - before - {os.path.join(seeded, name) for name in recipe.writes}:
        os.remove(path)  # left by the agent, not part of what it reads
    return answer, isolated


def require_cover(covers: Sequence[Cover], folder: str, program: str) -> None:
    """ProbeFailed where files would lead the agent away and cannot be covered."""
    obeyed = [cover.describe(folder) for cover in covers if cover.obeyed]
    if obeyed and not namespace():
        raise ProbeFailed(
            f"{program} was not run, because settings of this folder can lead it to another server or start programs, "
            "and this system cannot hide them from it (unshare):\n  " + "\n  ".join(obeyed),
            {"program": program, "settings": obeyed},
        )


def find_program(recipe: Recipe) -> str:
    """The program of an agent on PATH."""
    found = next(filter(None, map(shutil.which, recipe.programs)), None)
    if not found:
        raise ProbeFailed(f"{recipe.programs[0]} is not on PATH; install it, or give --program PATH")
    return found


def find_given(program: str) -> str:
    """The program that a caller names, by a path or a name on PATH."""
    if not (found := shutil.which(program)):
        why = "it is not a program" if os.path.lexists(program) else "there is no such program"
        raise ProbeFailed(f"{program} could not be run: {why}; give the agent's own with --program PATH")
    return found


def _files_in(folder: str) -> set[str]:
    return {os.path.join(here, name) for here, _, names in os.walk(folder) for name in names}


def _seed(recipe: Recipe, home: str, seeded: str) -> dict[str, str]:
    """Copy instruction files into the temporary home; the settings files to write there."""
    os.makedirs(seeded)
    for name in recipe.copies:
        source, target = os.path.join(home, name), os.path.join(seeded, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, ignore_dangling_symlinks=True)
        elif os.path.isfile(source):
            shutil.copyfile(source, target)
    files = dict(recipe.files)
    if recipe.settings:
        path, unused = os.path.join(home, recipe.settings), list[Finding]()
        is_toml = path.endswith(".toml")
        found = read_toml(Disk(), path, unused) if is_toml else read_json(Disk(), path, unused, comments=True)
        kept = {key: value for key, value in found.items() if key in recipe.keeps}
        if is_toml:
            lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in kept.items())
            files[recipe.settings] = fill_places(files[recipe.settings], {"kept": lines})
        elif kept or recipe.settings in files:
            files[recipe.settings] = json.dumps({**json.loads(files.get(recipe.settings, "{}")), **kept})
    return files


def _expected(
    name: str,
    version: str,
    folder: str,
    seeded: str,
    recipe: Recipe,
    files: dict[str, str],
    paths: list[str],
    prompt: str,
) -> list[Segment]:
    """What we expect, with the same home: its settings are written before, as the run will write them."""
    write_files(seeded, files)
    places = {"home": seeded, "key": KEY, "url": "http://127.0.0.1:1", "prompt": ""}
    session = Session(
        folder,
        agent=f"{name}@{version}" if version else name,
        home=seeded,
        env={key: fill_places(value, places) for key, value in recipe.env.items()},
        args=[fill_places(word, places) for word in recipe.argv],
        trust=True if recipe.trust else None,
    )
    view = session.start()
    if view.dialect.parts:
        found = [Segment(0, slot.block.role, slot.block.text) for slot in view.slots]
    else:  # without its envelope, which may have the date alone (claude-code 2.1.197)
        found = [Segment(0, slot.block.role, view.text) for slot in view.slots if view.text is not None]
    if recipe.records_blocks:
        mentioned = [Segment(0, block.role, block.text) for block in session.prompt(prompt).blocks]
        found += [segment for segment in mentioned if segment.role != "system"]
    for number, path in enumerate(paths, 1):
        call = Call(recipe.reads[0][0], recipe.read_input(path))
        found += [Segment(number, block.role, block.text) for block in session.use([call]).blocks]
    return found


def ask_agent(
    recipe: Recipe,
    program: str,
    folder: str,
    root: str,
    files: dict[str, str],
    turns: Sequence[Sequence[object]],
    prompt: str,
    timeout: float,
    *,
    home: str,
    covers: Sequence[tuple[str, str]] = (),
) -> tuple[dict[str, Any], bool]:
    """Run the agent with a home; what it sent, and whether it was alone. `root` is a temporary folder of its own."""
    prefix = namespace()
    at = first_option(recipe.argv)
    argv = (*recipe.argv[:at], *(recipe.tools if turns else ()), *recipe.argv[at:])
    path = os.environ.get("PATH", os.defpath)
    spec: dict[str, object] = {
        "program": program,
        "isolated": bool(prefix),
        "covers": list(covers),
        "argv": [program, *argv],
        "env": {"PATH": path, "HOME": home, "TERM": "dumb", "NO_COLOR": "1", "TMPDIR": root, **recipe.env},
        "files": files,
        "cwd": folder,
        "home": home,
        "key": KEY,
        "prompt": prompt,
        "turns": turns,
        "pages": {},
        "timeout": timeout,
        "answer": os.path.join(root, "answer.json"),
    }
    return _run_inside(spec, prefix, root, timeout), bool(prefix)


def _run_inside(spec: dict[str, object], prefix: Sequence[str], root: str, timeout: float) -> dict[str, Any]:
    """Run what a description says, in a process next to the agent; its answer."""
    path = os.path.join(root, "run.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    done = subprocess.run(
        [*prefix, *python_words("foretold.proof.probe.sandbox", "main", path)],
        env={"PATH": os.environ.get("PATH", os.defpath)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout + 30,
        check=False,
    )
    try:
        with open(str(spec["answer"]), encoding="utf-8") as file:
            answer: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise ProbeFailed(f"{spec['program']} could not be run: {said or 'no answer'}") from None
    return answer


def first_option(argv: Sequence[str]) -> int:
    """Where more words may go: before the prompt and its flag."""
    return argv.index("-p") if "-p" in argv else argv.index("{prompt}")


def namespace() -> tuple[str, ...]:
    """The command that gives a process a network of its own; empty where the system does not allow it."""
    for command in NAMESPACES:
        if shutil.which(command[0]):
            done = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
            if done.returncode == 0:
                return command
    return ()
