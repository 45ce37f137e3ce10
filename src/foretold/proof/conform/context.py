"""State cases about what surrounds a turn: what answers each kind."""

from __future__ import annotations

from foretold.context.attachments import Attachment
from foretold.context.attribution import attribution
from foretold.context.mentions import resolve_mentions
from foretold.proof.conform.scene import Answer, Kinds, Scene

FILE = ("content", "numLines", "startLine", "totalLines")


def _mentions(scene: Scene, given: Answer) -> Answer:
    files, home = given.get("files") or {}, scene.stage.places["home"]
    assert isinstance(files, dict)
    scene.stage.change({scene.text(path if path[:1] in "/{" else f"{scene.cwd}/{path}"): files[path] for path in files})
    found = resolve_mentions(
        scene.text(given["prompt"]), scene.cwd, scene.tree, agent=scene.agent, home=home
    ).attachments
    return {"attachments": [_shown(each) for each in found]}


def _shown(found: Attachment) -> Answer:
    """An attachment with the fields of its file beside its own, as the cases have it."""
    fields = dict(found.fields)
    shown: Answer = {"type": found.type, "displayPath": fields.get("displayPath")}
    content = fields.get("content")
    if isinstance(content, str):
        return shown | {"content": content}
    file = content.get("file") if isinstance(content, dict) else None
    return shown | {key: file[key] for key in FILE if isinstance(file, dict) and key in file}


def _attribution(scene: Scene, given: Answer) -> Answer:
    settings, env = given.get("settings") or {}, given.get("env") or {}
    assert isinstance(settings, dict)
    assert isinstance(env, dict)
    name = str(given.get("model_display_name") or "")
    return dict(attribution(settings, name, agent=scene.agent, env=env)._asdict())


KINDS: Kinds = {"at_mention": _mentions, "attribution": _attribution}
