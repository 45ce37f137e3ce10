"""Running a state case: what its `kind` asks is answered, and only the keys of `expected` are compared.

`{root}` `{home}` `{cwd}` `{config}` `{memdir}` and `<slug>` stand for folders of the stage, and for the project's name.
"""

from __future__ import annotations

from collections.abc import Callable

from foretold.dialects.claude_code.settings import slug
from foretold.errors import BadCase
from foretold.memory.format.agent import Switch, switch
from foretold.proof.conform.cases import Case, Outcome
from foretold.proof.conform.stage import Stage, StagedTree
from foretold.types import NamedTuple

Answer = dict[str, object]
PATHS = ("directory", "memory_project", "transcript_project")  #: answers that are paths of the stage
SETTINGS = {
    "user": "{config}/settings.json",
    "project": "{cwd}/.claude/settings.json",
    "local": "{cwd}/.claude/settings.local.json",
    "managed": "{managed}/managed-settings.json",
}


def run_state_case(case: Case, kinds: Kinds) -> Outcome:
    """Compare our answer to a state case with the recorded one."""
    given, expected = case.get("input"), case.get("expected")
    if not isinstance(given, dict) or not isinstance(expected, dict):
        raise BadCase(f"{case['id']}: input and expected are objects")
    with Stage({"id": case["id"], "files": {}}, "2026-01-02") as stage:
        stage.prepare()
        scene = Scene(stage, f"{case['agent']}@{case['version']}")
        kind = kinds[str(case["kind"])]
        kind = kind if isinstance(kind, Kind) else Kind(kind)
        found = kind.plain(kind.answer(scene, given))
        wanted = kind.plain({key: scene.fill(value) if key in PATHS else value for key, value in expected.items()})
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


class Kind(NamedTuple):
    """What answers a kind of case, and what of an answer is compared: of ours and of the recorded one."""

    answer: Callable[[Scene, Answer], Answer]
    plain: Callable[[Answer], Answer] = dict


#: kind of a case -> what answers it
Kinds = dict[str, Callable[[Scene, Answer], Answer] | Kind]
