"""What Claude Code 2.1.197 and 2.1.325 did with files, asked on the loopback interface, and what we do.

A case of `recorded.jsonl` has files, steps, and per step of a tool whether it failed and what the model received (null:
not compared, as something else was appended to it), the notices, and the files afterwards. `{current}` and the like
stand for longer sentences, each of which is spelled out in other cases. `shell.jsonl` has commands, and what an edit
said after each: at once, and after a touch.
"""

import base64
import json
import os

import pytest

from foretold.dialects.claude_code import files as said
from foretold.files.read_state.state import LocalDisk, ReadState
from foretold.proof.conform.files import FileSession


class Quick(LocalDisk):
    syncs = False


HERE = os.path.dirname(os.path.dirname(__file__))
SENTENCES = {
    "{current}": said.CURRENT,
    "{stale}": said.STALE,
    "{not-read}": said.NOT_READ,
    "{modified}": said.MODIFIED,
    "{encoding}": said.KEPT_ENCODING,
    "{later}": said.REFUSED_LATER,
    "{swapped}": said.SWAPPED,
    "{stub}": said.rules_of("2.1.197").stub,
}


def lines_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def topics():
    cases = {}
    for case in lines_of("recorded.jsonl"):
        cases.setdefault((case["id"].partition("-")[0], case["version"], case["model"]), []).append(case)
    return cases


TOPICS = topics()


class Stage:
    """A folder for a case, and its placeholders."""

    def __init__(self, root):
        self.places = {"{cwd}": f"{root}/proj", "{home}": f"{root}/home", "{root}": str(root)}
        for place in self.places.values():
            os.makedirs(place, exist_ok=True)

    def fill(self, value):
        for name, place in self.places.items():
            value = value.replace(name, place) if isinstance(value, str) else value
        return value

    def clean(self, text):
        for name, place in self.places.items():
            text = text.replace(place, name)
        return text

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.places["{cwd}"]):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        found[self.clean(path)] = readable(file.read())
        return found


def readable(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def spelled_out(text):
    for name, sentence in SENTENCES.items():
        text = text.replace(name, sentence)
    return text


def played(case, root):
    stage = Stage(root)
    play = FileSession(stage.places["{cwd}"], case["version"], case["model"], stage.places["{home}"])
    for name, content in case["files"].items():
        play.stage(stage.fill(name), content)
    for step in case["steps"]:
        play.do(
            {key: stage.fill(value) if key in ("path", "text", "command") else value for key, value in step.items()}
        )
    results = [
        outcome and [not outcome.ok, stage.clean(outcome.text) if wanted and wanted[1] is not None else None]
        for outcome, wanted in zip(play.outcomes, case["results"], strict=True)
    ]
    notices = sorted([stage.clean(each["filename"]), each["snippet"]] for each in play.attachments)
    return {"results": results, "notices": notices, "disk": stage.files()}


def wanted(case):
    results = [one and [one[0], one[1] and spelled_out(one[1])] for one in case["results"]]
    return {"results": results, "notices": sorted(case["notices"]), "disk": case["disk"]}


@pytest.mark.parametrize("topic", TOPICS, ids="-".join)
def test_recorded(topic, tmp_path):
    different = {}
    for case in TOPICS[topic]:
        found = played(case, tmp_path / case["id"])
        if found != wanted(case):
            different[case["id"]] = found, wanted(case)
    assert different == {}


def test_enough_was_recorded():
    assert sum(map(len, TOPICS.values())) > 300
    assert {version for _, version, _ in TOPICS} == {"2.1.197", "2.1.325"}


CODES = ((said.STALE, "stale"), (said.CURRENT, "known"), ("updated successfully", "unknown"))
COMMANDS = lines_of("shell.jsonl")
MODELS = {"2.1.197": "", "2.1.325": "claude-sonnet-4-5"}


def edited_after(folder, version, row, *, touched):
    """What an edit says after a shell command."""
    os.makedirs(folder / "sub")
    for name, text in (("a.txt", "alpha\nbeta\ngamma\n"), ("b.txt", "bb\n")):
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (1_000_000_000, 1_000_000_000))
    os.symlink("a.txt", folder / "l.txt")
    state = ReadState(folder, version=version, model=MODELS[version], disk=Quick())
    state.shell(row["command"], succeeded=row["status"] == 0)
    if touched:
        os.utime(folder / "a.txt", (1_000_000_005, 1_000_000_005))
    outcome = state.edit("a.txt", "beta", "B")
    if not outcome.ok:
        return {"not_read": "not-read", "modified_since_read": "modified"}[outcome.code]
    return next(code for words, code in CODES if words in outcome.text)


@pytest.mark.parametrize("version", MODELS)
def test_shell(version, tmp_path):
    found = {
        row["command"]: [
            edited_after(tmp_path / f"{number}-{touched}", version, row, touched=touched) for touched in (False, True)
        ]
        for number, row in enumerate(COMMANDS)
    }
    assert found == {row["command"]: row[version] for row in COMMANDS}
