"""Sessions that real agents wrote, resumed by them and by ours: the messages must be the same.

python tests/system/live_sessions.py             every agent that can be asked
python tests/system/live_sessions.py 2.1.325     only releases with this in their name

For each release a session is made: a prompt with a mention and instructions, tools side by side, a change behind the
agent's back, a compaction. After each step a copy of the transcript is resumed by ours, the original by the agent, and
what it sends is compared. Then the agent resumes sessions that `Transcript` wrote, and one that `fork` made.
Used by `make live`; nothing of this is part of `make test`. Each agent has a function in `AGENTS`.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from live import RELEASES, Release, install

from foretold.context.compaction.transcript import compaction_records
from foretold.dialects.claude_code.sessions import rules_of
from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import ask_agent
from foretold.sessions.formats.claude.attachments import contents_of
from foretold.sessions.formats.claude.records import prompt_of
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.transcript.fork import fork
from foretold.sessions.transcript.writer import Transcript, new_session, transcript_path

CONTEXT = "As you answer the user's questions"
TIMEOUT = 90.0


class Place:
    """A home and a project of their own, and an agent that works there."""

    def __init__(self, root, release, program):
        self.root, self.release, self.program = root, release, program
        self.home, self.folder = os.path.join(root, "home"), os.path.join(root, "proj")
        self.runs = 0
        for folder in (self.home, self.folder):
            os.mkdir(folder)

    def ask(self, prompt, *words, turns=()):
        """Run the agent once; the requests of its conversation."""
        recipe = RECIPES[self.release.agent]
        at = recipe.argv.index("-p")
        recipe = recipe._replace(argv=(*recipe.argv[:at], *words, *recipe.argv[at:]))
        self.runs += 1
        root = os.path.join(self.root, f"run{self.runs}")
        os.mkdir(root)
        calls = [[{"names": [name], "input": given} for name, given in turn] for turn in turns]
        answer, _ = ask_agent(
            recipe, self.program, self.folder, root, dict(recipe.files), calls, prompt, TIMEOUT, home=self.home
        )
        asked = [request for request in answer["requests"] if request["tools"]]
        if not asked and not prompt.startswith("/"):
            raise SystemExit(
                f"{self.release.version} asked nothing: {answer['stderr'][-300:]}{answer['stdout'][-300:]}"
            )
        return [request["body"] for request in asked]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)


def claude_code(place: Place) -> list[str]:
    """Make a session step by step, and compare each resume."""
    session = new_session()
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        place.write(name, f"{name}\nsecond line\n")
    place.write("CLAUDE.md", "Use tabs.\n")
    place.write("sub/CLAUDE.md", "Told below.\n")
    read = [("Read", {"file_path": place.path(name)}) for name in ("a.txt", "sub/c.txt")]
    edit = [("Edit", {"file_path": place.path("a.txt"), "old_string": "second", "new_string": "2nd"})]
    first = [[*read, ("Bash", {"command": "echo side by side"})], edit]
    place.ask("Look at @b.txt and @sub", "--session-id", session, turns=first)
    found = [_compared(place, session, "after tools side by side")]
    place.write("a.txt", "changed by somebody else\n")
    found.append(_compared(place, session, "after a change behind its back", turns=[[("Bash", {"command": "false"})]]))
    place.ask("/compact", "--resume", session)
    found.append(_compared(place, session, "after a compaction"))
    place.ask("And again", "--resume", session, turns=[[("Bash", {"command": "echo more"})]])
    place.ask("/compact", "--resume", session)
    found.append(_compared(place, session, "after a second compaction"))
    found.append(_compared(place, session, "and a prompt after that"))
    found.append(_compared(place, session, "cut at an older message", at=_second_answer(_transcript(place, session))))
    return [*found, _own_session(place), _own_compaction(place), _own_fork(place, session)]


def _transcript(place, session):
    (path,) = glob.glob(os.path.join(place.home, ".claude", "projects", "*", f"{session}.jsonl"))
    return path


def _second_answer(path):
    chain = [link for link in resume(path).chain if link.type == "assistant" and link.line]
    return chain[-1].id


def _compared(place, session, what, at=None, turns=(), words=()):
    """Resume a session with the agent, and with ours; empty if both send the same.

    Ours is asked twice: for the file as it was, with the prompt, and, where the agent attached something new to that
    prompt, for the file as it is now, cut before the answer.
    """
    path = _transcript(place, session)
    copy = os.path.join(place.root, f"copy{place.runs}.jsonl")
    shutil.copyfile(path, copy)
    cut = ("--resume-session-at", at) if at else ()
    body = place.ask("And then?", "--resume", session, *cut, *words, turns=turns)[0]
    real, context = _plain(body["messages"])
    asked = {"version": place.release.version, "model": body["model"].partition("[")[0], "context": context}
    prompt, attached = _asked(path, os.path.getsize(copy))
    mine, _ = _plain(resume(copy, "And then?", at=at, **asked).messages)
    if attached != prompt:
        mine, _ = _plain(resume(path, at=attached, **asked).messages)
    if real == mine:
        return ""
    longest = range(max(len(real), len(mine)) + 1)
    differ = next(number for number in longest if real[number : number + 1] != mine[number : number + 1])
    shown = [json.dumps(side[differ : differ + 1], ensure_ascii=False)[:600] for side in (real, mine)]
    return f"{what}: message {differ}\n      agent {shown[0]}\n      ours  {shown[1]}"


def _asked(path, since):
    """The last prompt that was written since, and the last record before its answer that the model reads."""
    prompt = attached = ""
    for record in records_of(path, since):
        value = record.value
        if value.get("type") == "assistant" and prompt:
            break
        if value.get("type") == "user" and prompt_of(value) == "And then?":
            prompt = attached = value["uuid"]
        elif value.get("type") == "attachment" and prompt and contents_of(value, rules_of(value["version"])):
            attached = value["uuid"]
    return prompt, attached


def _plain(messages):
    """Messages without marks for the cache, and the context block among them."""
    found, context = [], None
    for message in json.loads(json.dumps(list(messages))):
        content = message["content"]
        for block in content if isinstance(content, list) else []:
            block.pop("cache_control", None)
        texts = [content] if isinstance(content, str) else [str(block.get("text", "")) for block in content]
        for text in texts:
            if CONTEXT in text[:200]:
                context = text.rstrip("\n") + "\n"
        if message["role"] == "system" and not content:
            continue  # it only says how hard the model shall think
        if isinstance(content, list) and len(content) == 1 and set(content[0]) == {"type", "text"}:
            content = content[0]["text"]
        found.append({"role": message["role"], "content": content})
    return found, context


def _own_session(place):
    """A session that a harness wrote is resumed by the agent with the messages that ours gives."""
    session = new_session()
    path = transcript_path(place.folder, session, Homes(place.home, {}))
    with Transcript(path, cwd=place.folder, version=place.release.version) as said:
        said.user("Run two things")
        calls = [
            {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": {"command": name}} for name in "ab"
        ]
        said.assistant({"model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "I will."}, *calls]})
        said.tool_result("toolu_b", "b is done", result={"stdout": "b is done", "stderr": ""})
        said.tool_result("toolu_a", "a failed", is_error=True)
        said.assistant({"model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "One of two."}]})
        said.title("two things")
    return _compared(place, session, "a session of Transcript", words=("--model", "claude-sonnet-4-5"))


def _own_compaction(place):
    """So is one that ends with a compaction that keeps the last answer."""
    session = new_session()
    path = transcript_path(place.folder, session, Homes(place.home, {}))
    with Transcript(path, cwd=place.folder, version=place.release.version) as said:
        for number in range(3):
            said.user(f"Question {number}")
            said.assistant({"model": "claude-sonnet-4-5", "content": f"Answer {number}"})
        before = [record.value for record in records_of(path)]
        said.records(compaction_records(before, "<summary>Questions.</summary>", path).records)
    return _compared(place, session, "a compaction of Transcript", words=("--model", "claude-sonnet-4-5"))


def _own_fork(place, session):
    """A fork that ours made is resumed by the agent with the messages of the fork."""
    forked = fork(_transcript(place, session), version=place.release.version)
    return _compared(place, forked.session, "a session of fork")


#: agent -> what makes and compares its sessions; each returns what differs, empty texts for what does not
AGENTS = {"claude-code": claude_code}


def check(release: Release) -> list[str]:
    """What differs for a release."""
    root = os.path.realpath(tempfile.mkdtemp(prefix="foretold-live-"))
    try:
        return [text for text in AGENTS[release.agent](Place(root, release, install(release))) if text]
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main(words: list[str]) -> int:
    wrong = 0
    for release in RELEASES:
        name = f"{release.agent}@{release.version}"
        if release.agent not in AGENTS or (words and not any(word in name for word in words)):
            continue
        differences = check(release)
        wrong += len(differences)
        print(f"{name}: {'resumes as ours' if not differences else 'differs'}")
        for text in differences:
            print(f"    {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
