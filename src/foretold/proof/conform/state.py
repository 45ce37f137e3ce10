"""Running a state case: the function of its `kind` answers, and only the keys of `expected` are compared.

`{root}` `{home}` `{cwd}` `{config}` `{memdir}` and `<slug>` stand for folders of the stage, and for the project's name.
"""

from __future__ import annotations

from collections.abc import Callable

from foretold.dialects.claude_code.settings import slug
from foretold.dialects.registry import make_request
from foretold.errors import BadCase
from foretold.memory.format.agent import Switch, switch
from foretold.proof.conform.cases import Case, CaseOutcome, dict_at, outcome_of
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


def run_state_case(case: Case, kinds: Kinds) -> CaseOutcome:
    """Compare our answer to a state case with the recorded one."""
    given, expected = case.get("input"), case.get("expected")
    if not isinstance(given, dict) or not isinstance(expected, dict):
        raise BadCase(f"{case['id']}: input and expected must be objects")
    with Stage({"id": case["id"], "files": {}}, "2026-01-02") as stage:
        stage.prepare()
        agent = StagedAgent(stage, f"{case['agent']}@{case['version']}")
        kind = kinds[str(case["kind"])]
        kind = kind if isinstance(kind, CaseKind) else CaseKind(kind)
        recorded = {key: agent.fill(value) if key in PATHS else value for key, value in expected.items()}
        found, wanted = kind.fit(kind.answer(agent, given), recorded)
    differences = [
        {"key": key, "expected": value, "actual": found.get(key)}
        for key, value in wanted.items()
        if found.get(key) != value
    ]
    return outcome_of(case, differences)


class StagedAgent:
    """An agent that works in the project of a stage."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage, self.name = stage, name
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
        settings = dict_at(given, "settings")
        env = {name: self.text(value) for name, value in dict_at(given, "env").items()}
        self.places["{config}"] = env.get("CLAUDE_CONFIG_DIR", self.places["{config}"])
        for scope, values in settings.items():
            if scope != "flag":
                self.stage.change({self.text(SETTINGS[scope]): {"json": values}})
        home, managed, flag = self.stage.places["home"], self.stage.places["managed"], settings.get("flag")
        args = self.text(given.get("flag") or "").split()
        _, request = make_request(self.cwd, self.name, home=home, managed=managed, env=env, args=args, settings=flag)
        return switch(request, self.tree)


class CaseKind(NamedTuple):
    """The function that answers a kind of case, and what is compared of our answer and of the recorded one."""

    answer: Callable[[StagedAgent, Answer], Answer]
    fit: Callable[[Answer, Answer], tuple[Answer, Answer]] = lambda found, recorded: (found, recorded)


#: kind of a case -> the function that answers it
Kinds = dict[str, Callable[[StagedAgent, Answer], Answer] | CaseKind]
