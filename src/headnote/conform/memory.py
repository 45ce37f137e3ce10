"""Running a state case about memory: what `kind` asks is answered, and only the keys of `expected` are compared.

`{root}` `{home}` `{cwd}` `{config}` `{memdir}` and `<slug>` stand for folders of the stage, and for the project's name.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable

from headnote.conform.cases import Case, Outcome
from headnote.conform.stage import Stage, StagedTree
from headnote.dialects.claude_world import slug
from headnote.errors import BadCase
from headnote.instructions.load import load
from headnote.memory.agent import Switch, form_of, note_days, project_of, switch, writes_without_asking
from headnote.memory.stored import stored

Answer = dict[str, object]
TAIL = 24
PATHS = ("directory", "memory_project", "transcript_project")  #: answers that are paths of the stage
SETTINGS = {
    "user": "{config}/settings.json",
    "project": "{cwd}/.claude/settings.json",
    "local": "{cwd}/.claude/settings.local.json",
    "managed": "{managed}/managed-settings.json",
}
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


def run_memory_case(case: Case) -> Outcome:
    """Compare our answer to a state case with the recorded one."""
    given, expected = case.get("input"), case.get("expected")
    if not isinstance(given, dict) or not isinstance(expected, dict):
        raise BadCase(f"{case['id']}: input and expected are objects")
    with Stage({"id": case["id"], "files": {}}, "2026-01-02") as stage:
        stage.prepare()
        scene = Scene(stage, f"{case['agent']}@{case['version']}")
        found = KINDS[str(case["kind"])](scene, given)
        wanted = {key: scene.fill(value) if key in PATHS else value for key, value in expected.items()}
    differences = [
        {"key": key, "expected": value, "actual": found.get(key)}
        for key, value in wanted.items()
        if found.get(key) != value
    ]
    return Outcome(str(case["id"]), "failed" if differences else "passed", differences=tuple(differences))


class Scene:
    """A stage, and an agent that works in its project."""

    def __init__(self, stage: Stage, agent: str) -> None:
        self.stage, self.agent = stage, agent
        self.tree = StagedTree(stage, {})
        self.cwd = stage.places["proj"]
        self.places = {"{cwd}": self.cwd, "{config}": stage.places["home"] + "/.claude", "<slug>": slug(self.cwd)}
        self.places |= {"{" + name + "}": stage.places[name] for name in ("root", "home", "proj", "managed")}

    def fill(self, value: object) -> object:
        """A text with its placeholders replaced; any other value as it is."""
        if isinstance(value, str):
            for name, place in self.places.items():
                value = value.replace(name, place)
        return value

    def text(self, value: object) -> str:
        return str(self.fill(value))

    def switch(self, given: Answer) -> Switch:
        """Write the settings of a case, and ask whether memory is on."""
        env, settings = given.get("env") or {}, given.get("settings") or {}
        assert isinstance(env, dict)
        assert isinstance(settings, dict)
        env = {name: self.text(value) for name, value in env.items()}
        self.places["{config}"] = env.get("CLAUDE_CONFIG_DIR", self.places["{config}"])
        for scope, values in settings.items():
            if scope != "flag":
                self.stage.change({self.text(SETTINGS[scope]): {"json": values}})
        return switch(
            self.cwd,
            agent=self.agent,
            home=self.stage.places["home"],
            managed=self.stage.places["managed"],
            env=env,
            args=self.text(given.get("flag") or "").split(),
            settings=settings.get("flag"),
            tree=self.tree,
        )


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
        found = stored(content, str(given["session_id"]), form_of(scene.agent), str(given.get("now", "")))
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


KINDS: dict[str, Callable[[Scene, Answer], Answer]] = {
    "project_slug": _slug,
    "memory_project": _project,
    "memory_index": _index,
    "memory_frontmatter_write": _stored,
    "memory_staleness": _staleness,
    "auto_memory_switch": _switch,
    "memory_write_permission": _permission,
}
