"""State cases about memory: what answers each kind."""

from __future__ import annotations

import hashlib
import os
import shlex

from foretold.dialects.claude_code.settings import slug
from foretold.errors import BadCase
from foretold.instructions.load import load
from foretold.memory.format.agent import note_days, project_of, style_of, writes_without_asking
from foretold.memory.format.write import normalize_note
from foretold.proof.conform.scene import Answer, Kinds, Scene

TAIL = 24
#: how a step of a layout is made; its last word is the folder, the one before what it is made from
LAYOUT = {
    "dir": "mkdir -p {at}",
    "symlink": "mkdir -p {above} && ln -s {of} {at}",
    "git": "git init -q {at} && git -C {at} commit -q --allow-empty -m x",
    "bare": "git init -q {at}.made && git -C {at}.made commit -q --allow-empty -m x"
    " && git clone -q --bare {at}.made {at} && rm -r {at}.made",
    "worktree": "git -C {of} worktree add -q --detach {at}",
    "submodule": "cd $(git -C {above} rev-parse --show-toplevel)"
    " && git -c protocol.file.allow=always submodule add -q {of} $(realpath -m --relative-to=. {at})",
}


def _slug(_: Scene, given: Answer) -> Answer:
    return {"slug": slug(str(given["path"]))}


def _project(scene: Scene, given: Answer) -> Answer:
    layout = given["layout"]
    assert isinstance(layout, list)
    for step, *words in layout:
        at, of = scene.text(words[-1]), scene.text(words[0])
        places = {"at": at, "of": of, "above": os.path.dirname(at)}
        command = LAYOUT[step].format(**{name: shlex.quote(path) for name, path in places.items()})
        if scene.stage.run_shell(command, scene.stage.root):
            raise BadCase(f"the layout cannot be made: {command}")
    memory, transcript = project_of(scene.text(given["cwd"]), scene.tree)
    return {"memory_project": memory, "transcript_project": transcript}


def _index(scene: Scene, given: Answer) -> Answer:
    """What the model sees of an index, through the whole engine."""
    folder = scene.switch({}).directory
    if not given.get("missing"):
        parts = given.get("parts")
        text = "".join(text * count for text, count in parts) if isinstance(parts, list) else None
        scene.stage.change({f"{folder}MEMORY.md": given if text is None else {"text": text}})
    places = scene.stage.places
    view = load(scene.cwd, agent=scene.agent, home=places["home"], managed=places["managed"], env={}, tree=scene.tree)
    if view.text is None:
        return {"loaded": False}
    body, warning = view.text.partition("persists across conversations):\n\n")[2], None
    if any(finding.code == "index-cut" for finding in view.findings):
        body, _, warning = body.rpartition("\n\n")
    return {
        "loaded": True,
        "body_utf16_len": len(body.encode("utf-16-le", "surrogatepass")) // 2,
        "body_sha256": hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest(),
        "body_tail": body[-TAIL:],
        "lines": body.count("\n") + 1,
        "warning": warning,
    }


def _stored(scene: Scene, given: Answer) -> Answer:
    content, found = str(given["content"]), str(given["content"])
    if str(given["relative_path"]).endswith(".md"):
        found = normalize_note(content, str(given["session_id"]), style_of(scene.agent), str(given.get("now", "")))
    return {"stored": found, "changed": found != content}


def _staleness(_: Scene, given: Answer) -> Answer:
    return {"note_days": note_days(float(str(given["age_days"])))}


def _switch(scene: Scene, given: Answer) -> Answer:
    found = scene.switch(given)
    return {"enabled": found.enabled, "directory": found.directory}


def _permission(scene: Scene, given: Answer) -> Answer:
    folder = scene.switch(given).directory or ""
    scene.places["{memdir}"] = folder.rstrip("/")
    return {"allowed_without_asking": writes_without_asking(scene.text(given["path"]), folder, scene.tree)}


KINDS: Kinds = {
    "project_slug": _slug,
    "memory_project": _project,
    "memory_index": _index,
    "memory_frontmatter_write": _stored,
    "memory_staleness": _staleness,
    "auto_memory_switch": _switch,
    "memory_write_permission": _permission,
}
