"""Names of models, as two versions of the agent sent them (models.jsonl)."""

from __future__ import annotations

import json
import os

import pytest

from foretold.context.attribution import attribution
from foretold.context.environment import Environment, environment_section, identify_model
from foretold.dialects.claude_code.context import turn_context_of

with open(os.path.join(os.path.dirname(__file__), "models.jsonl"), encoding="utf-8") as file:
    MODELS = [json.loads(line) for line in file]


@pytest.mark.parametrize("case", MODELS, ids=lambda case: f"{case['agent'][-3:]}-{case['model']}")
def test_a_model_is_called_as_the_agent_calls_it(case: dict[str, str]) -> None:
    found = identify_model(case["model"], turn_context_of(case["agent"]))
    cutoff = f" Assistant knowledge cutoff is {found.cutoff}." if found.cutoff else ""
    assert found.sentence + cutoff == case["said"]
    assert attribution({}, agent=case["agent"], model=case["model"]).commit == case["commit"]


def test_the_lines_of_a_model_stand_in_the_section_of_the_earlier_version() -> None:
    model = identify_model("haiku", turn_context_of("claude-code@2.1.197"))
    here = Environment("/repo", False, False, (), "linux", "bash", "Linux 6.1", model)
    lines = environment_section(here, agent="claude-code@2.1.197").split("\n")[7:9]
    assert lines == [
        " - You are powered by the model named Haiku 4.5. The exact model ID is claude-haiku-4-5-20251001.",
        " - Assistant knowledge cutoff is February 2025.",
    ]
