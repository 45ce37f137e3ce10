"""What a scripted transcript is made of: turns as records of Claude Code, memories, and what a model tries to write."""

import json
import os
from typing import NamedTuple

import foretold
from foretold.memory.recall.render import Quote, render_quotes
from foretold.models.protocol import ModelRequest

SESSION = "5e55-10"
TODAY = "Monday, 2026-03-02"
TOOLS = tuple(
    {"name": name, "description": f"{name}.", "input_schema": {"type": "object"}}
    for name in ("Bash", "Read", "Write", "Edit", "Glob", "Grep")
)


class Note(NamedTuple):
    """A memory file: one that is there, or one that a model writes."""

    file: str
    description: str
    body: str
    scope: str = "private"
    type: str = ""

    @property
    def kind(self):
        return self.type or self.file.rpartition("/")[2].partition("_")[0]

    @property
    def text(self):
        name = self.file.rpartition("/")[2].removesuffix(".md").replace("_", "-")
        front = f"name: {name}\ndescription: {json.dumps(self.description)}\nmetadata:\n  type: {self.kind}"
        return f"---\n{front}\n---\n\n{self.body}\n"


class Change(NamedTuple):
    """An Edit that a model makes."""

    file: str
    old: str
    new: str


class Call(NamedTuple):
    """Any other call."""

    name: str
    input: dict


class Scene(NamedTuple):
    """A transcript, what an eager model tries, and what has to come of it."""

    name: str
    turns: list
    tries: list  #: Note, Change, Call
    kept: dict  #: file: body, of everything that is new or changed afterwards
    refused: list  #: (file, reason), in their order
    there: tuple = ()  #: memories before
    instructions: tuple = ()
    proposed: tuple = ()
    warned: tuple = ()
    options: tuple = ()  #: of the extractor, that are switched on
    policy: str = ""


# -- turns


def user(text):
    return {"type": "user", "message": {"role": "user", "content": text}}


def assistant(text):
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}


def tool(output, name="Bash", said="", **given):
    """A call and its result."""
    block = {"type": "tool_use", "id": "toolu_{n}", "name": name, "input": given or {"command": "true"}}
    before = [{"type": "text", "text": said}] if said else []
    result = {"type": "tool_result", "tool_use_id": "toolu_{n}", "content": output}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [*before, block]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {}},
    ]


def attached(kind, **fields):
    return {"type": "attachment", "attachment": {"type": kind, **fields}}


def mention(path, text):
    return attached("file", filename=path, content={"type": "text", "file": {"content": text, "startLine": 1}})


def nested(path, text):
    return attached("nested_memory", path=path, content={"path": path, "content": text})


def hook(text, event="UserPromptSubmit"):
    return attached("hook_additional_context", hookName=event, hookEvent=event, content=[text])


def recalled(*texts):
    """What our own hook for recall gives."""
    return hook(recall_text(*texts))


def recall_text(*texts):
    return render_quotes([Quote(f"m{at}.md", "feedback", "private", "today", text) for at, text in enumerate(texts)])


def records(turns, session=SESSION):
    """The turns as a transcript has them."""
    flat = [each for turn in turns for each in (turn if isinstance(turn, list) else [turn])]
    made, parent, call = [], None, 0
    for number, each in enumerate(flat, 1):
        text = json.dumps(each)
        call += text.count('"type": "tool_use"')
        record = json.loads(text.replace("toolu_{n}", f"toolu_{call}"))
        ids = {"uuid": f"{record['type'][0]}-{number}", "parentUuid": parent, "sessionId": session}
        made.append({**ids, "timestamp": f"2026-03-02T10:{number // 60:02}:{number % 60:02}.000Z", **record})
        parent = ids["uuid"]
    return made


def request_of(made):
    """The conversation's last request with the answer to it, in a simple form."""
    messages = []
    for record in made:
        if "message" in record:
            messages.append(record["message"])
        else:
            text = f"<system-reminder>\n{json.dumps(record['attachment'])}\n</system-reminder>"
            messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
    return ModelRequest(("You are an agent.", "# Memory"), tuple(messages), TOOLS, 4096, (0, max(0, len(messages) - 2)))


# -- the store


def opened(place, policy="", there=()):
    memories = foretold.memory.open(place.proj, home=place.home, managed=place.managed, env={}, policy=policy)
    for note in there:
        put(memories, note)
    return memories


def put(memories, note):
    store = memories.team if note.scope == "team" else memories.own
    store.with_approval().put(note.file, note.text)


def calls(memories, tries):
    """What a model calls to do what it tries."""
    made = []
    for each in tries:
        if isinstance(each, Call):
            given = {key: filled(value, memories) for key, value in each.input.items()}
            made.append((each.name, given))
        elif isinstance(each, Change):
            path = os.path.join(memories.own.path, each.file)
            made.append(("Edit", {"file_path": path, "old_string": each.old, "new_string": each.new}))
        else:
            folder = memories.team.path if each.scope == "team" else memories.own.path
            made.append(("Write", {"file_path": os.path.join(folder, each.file), "content": each.text}))
    return made


def filled(value, memories):
    return value.replace("{memory}", memories.own.path) if isinstance(value, str) else value


def bodies(memories):
    """File and body of every memory; those of the team with `team:` before them."""
    return {"team:" * (note.scope == "team") + note.file: note.body for note in memories.memories()}
