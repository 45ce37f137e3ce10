"""A harness in a temporary project, with a model that plays a script."""

import json

from foretold.harness.harness import Harness
from foretold.harness.messages import blocks_form, messages_of_records
from foretold.harness.permissions.check import Permission
from foretold.models.scripted import Scripted

DATE = "2026-01-02"
ENV = {"PATH": "/usr/bin:/bin"}


def options(place, version="2.1.325", **more):
    """What every harness of a test is given."""
    free = Permission("bypassPermissions", cwd=place.proj, home=place.home)
    around = {"home": place.home, "managed": place.managed, "env": ENV, "now": DATE, "sync": False}
    return {"agent": f"claude-code@{version}", "permission": free, "recall": False, **around, **more}


def harness(place, lines, version="2.1.325", model="claude-opus-5-5", **more):
    """A harness that plays lines."""
    return Harness(place.proj, model=Scripted(lines, model), **options(place, version, **more))


def resumed(place, old, lines, version="2.1.325", **more):
    """A harness that goes on with the conversation of another."""
    model = Scripted(lines, old.model.name)
    return Harness.resume(old.session, place.proj, model=model, **options(place, version, **more))


def live(agent):
    """The messages that were sent, in one form."""
    return [blocks_form(message) for message in agent.dialogue.messages]


def stored(agent):
    """The messages that the records tell of."""
    context = agent.system_prompt.context()
    records = agent.recorder.records()
    return messages_of_records(records, version=agent.version, model=agent.model.name, context=context)[0]


def texts(message):
    """What a message says, block by block."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block.get("text", block.get("content", block.get("name"))) for block in blocks]


def is_prefix(before, after):
    """Whether a request begins with all bytes of another."""
    front = json.dumps(after.messages[: len(before.messages)])
    return (before.system, before.tools, json.dumps(before.messages)) == (after.system, after.tools, front)


def codes(agent):
    return [finding.code for finding in agent.findings]


def types(agent):
    """The records of a transcript, by type; of attachments and the system's, by what they are."""
    names = []
    for record in agent.recorder.records():
        kind = record["type"]
        names.append(record["attachment"]["type"] if kind == "attachment" else record.get("subtype", kind))
    return names
