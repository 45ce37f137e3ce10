"""What the real Codex sends when it resumes a session, compared with ours: part of `make live`.

python tests/system/live_codex.py PROGRAM            every way
python tests/system/live_codex.py PROGRAM "a way"    only these

A session is held by the program itself, with calls that succeed and fail; then its rollout is changed in each of the
ways of `tests/sessions/codex_damage.py`, and the program resumes it. Sessions that were killed, compacted and forked
come besides. Compared is the whole `input` but for what depends on the moment: the first item (the base instructions),
context that is sent again before the prompt (whether it is, is compared), and the id of the prompt.
"""

from __future__ import annotations

import glob
import json
import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import ask_agent
from foretold.proof.probe.sandbox import fill_places
from foretold.sessions.resumption.codex import resume_codex

HERE = os.path.dirname(os.path.abspath(__file__))
DAMAGE = runpy.run_path(os.path.join(os.path.dirname(HERE), "sessions", "codex_damage.py"))
FREE = "--dangerously-bypass-approvals-and-sandbox"
PROMPT = "And now?"
COMPACT = ("-c", "model_auto_compact_token_limit=2000")
Turns = Sequence[Sequence[object]]


class Place(NamedTuple):
    """A home and a folder for one session, and the program that holds it."""

    program: str
    root: str

    @property
    def home(self) -> str:
        return os.path.join(self.root, "home")

    @property
    def rollout(self) -> str:
        return sorted(glob.glob(os.path.join(self.home, ".codex", "sessions", "*", "*", "*", "*.jsonl")))[-1]


def shell(command: str) -> dict[str, object]:
    return {"names": ["exec_command", "shell_command", "shell"], "input": {"cmd": command, "command": command}}


def ask(
    place: Place, prompt: str, turns: Turns = (), *, resume: str = "", more: Sequence[str] = (), timeout: float = 30
) -> list[list[object]]:
    """Give the program a prompt, in a new session or an old one; the `input` of each of its requests."""
    recipe = RECIPES["codex"]
    words = ("exec", "resume") if resume else ("exec",)
    argv = (*words, FREE, *more, "--skip-git-repo-check", *((resume,) if resume else ()), "{prompt}")
    files = {name: fill_places(text, {"kept": ""}) for name, text in recipe.files.items()}
    folder, scratch = os.path.join(place.root, "project"), os.path.join(place.root, "scratch")
    for each in (place.home, folder, scratch):
        os.makedirs(each, exist_ok=True)
    with open(os.path.join(folder, "AGENTS.md"), "w", encoding="utf-8") as file:
        file.write("Be brief.\n")
    recipe = recipe._replace(argv=argv, tools=())
    answer, _ = ask_agent(recipe, place.program, folder, scratch, files, turns, prompt, timeout, home=place.home)
    requests = answer["requests"]
    assert isinstance(requests, list)
    return [request["body"]["input"] for request in requests if request["path"].endswith("/responses")]


def hold(place: Place) -> tuple[str, str]:
    """A session of two prompts; its rollout and its id."""
    ask(place, "Read a.txt — ünï 日本", [[shell("echo alpha")], [shell("echo one"), shell("echo two; exit 3")]])
    path = place.rollout
    with open(path, encoding="utf-8") as file:
        name = str(json.loads(file.readline())["payload"]["id"])
    ask(place, "Second prompt", [[shell("seq 1 9")]], resume=name)
    return path, name


def compared(place: Place, path: str, name: str) -> tuple[bool, str]:
    """Whether the program sends what we say; what is different."""
    ours = resume_codex(path, PROMPT)
    for index in glob.glob(os.path.join(place.home, ".codex", "*.sqlite*")):
        os.remove(index)  # the rollout alone is the truth
    requests = ask(place, PROMPT, resume=name)
    if not requests:
        return bool(ours.refused), f"the program refuses; we say {ours.refused or 'that it does not'}"
    if ours.refused:
        return False, f"we say that the program refuses: {ours.refused}"
    sent, prompt = requests[0][1:-1], requests[0][-1]
    assert isinstance(prompt, dict)
    prompt.pop("id")
    mine = [*ours.messages]
    again = sent[len(mine) - 1 :]
    if [*sent[: len(mine) - 1], prompt] != mine:
        return False, f"sent {json.dumps([*sent, prompt])[:2000]}, ours {json.dumps(mine)[:2000]}"
    if bool(again) != ours.context_again:
        return False, f"context sent again: {len(again)} messages, ours {ours.context_again}"
    return True, ""


def run(program: str, names: Iterable[str] = ()) -> list[tuple[str, bool, str]]:
    """Every way: its name, whether both are the same, and what is not."""
    wanted, found = list(names), []
    root = os.path.realpath(tempfile.mkdtemp(prefix="foretold-live-"))
    try:
        place = Place(program, os.path.join(root, "one"))
        path, name = hold(place)
        with open(path, "rb") as file:
            lines = file.read().splitlines(keepends=True)
        for way, change in DAMAGE["WAYS"].items():
            if not wanted or way in wanted:
                with open(path, "wb") as file:
                    file.write(change(lines))
                found.append((way, *compared(place, path, name)))
        for way, scene in SCENES.items():
            if not wanted or way in wanted:
                found.append((way, *scene(Place(program, os.path.join(root, way)))))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return found


def killed(place: Place) -> tuple[bool, str]:
    """The program is killed while two calls run."""
    ask(place, "Go", [[shell("echo hi")], [shell("sleep 60"), shell("echo two")]], timeout=4)
    return compared(place, place.rollout, place.rollout[-42:-6])


def compacted(place: Place) -> tuple[bool, str]:
    """The program has compacted the conversation itself."""
    ask(place, "Go", [[shell("seq 1 3000")]])
    path, name = place.rollout, place.rollout[-42:-6]
    ask(place, "Go on", [[shell("echo three")]], resume=name, more=COMPACT)
    with open(path, encoding="utf-8") as file:
        if '"type":"compacted"' not in file.read():
            return False, "the program did not compact"
    return compared(place, path, name)


def forked(place: Place) -> tuple[bool, str]:
    """A fork begins with another rollout."""
    path, name = hold(place)
    child = "01a1e279-eb7d-7471-b883-2bd416b51a38"
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    beside = os.path.join(os.path.dirname(path), f"rollout-2026-11-16T03-50-03-{child}.jsonl")
    with open(beside, "wb") as file:
        file.write(DAMAGE["fork_of"](lines, name, child))
    return compared(place, beside, child)


SCENES = {"killed": killed, "compacted by itself": compacted, "forked": forked}

if __name__ == "__main__":
    results = run(sys.argv[1], sys.argv[2:])
    for way, same, detail in results:
        print(f"{'same     ' if same else 'different'} {way} {'' if same else detail}")
    print(f"{sum(same for _, same, _ in results)} of {len(results)} the same")
    sys.exit(any(not same for _, same, _ in results))
