"""openai-agents: instructions, session and filter in real runs, on both of its wires, against a model on loopback."""

import asyncio
import json
import os

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)
from openai import AsyncOpenAI

from foretold.adapters.openai_agents import Additions, Histories, ItemSession, input_filter, instructions
from foretold.errors import NotAFolder
from foretold.extras import missing
from foretold.proof.probe.server import ModelServer, ToolCall

from .bakery import ANSWER, QUESTION, around, bake, blocked, talk_in

WIRES = {"responses": OpenAIResponsesModel, "chat": OpenAIChatCompletionsModel}


def run(place, wire, talks, *prompts, turns=(), **options):
    """Runs of one agent, one after the other; the requests, and what the last run said."""

    @function_tool
    def read_file(path: str) -> str:
        """Reads a file."""
        with open(os.path.join(place.proj, path), encoding="utf-8") as file:
            return file.read()

    async def main(url):
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="not-a-key") as client:
            for talk, prompt in zip(talks, prompts, strict=True):
                model = WIRES[wire]("gpt-5", client)
                agent = Agent(name="Baker", instructions=instructions(talk), tools=[read_file], model=model)
                config = RunConfig(call_model_input_filter=input_filter(talk), tracing_disabled=True)
                session = ItemSession("monday", home=place.home, env={}, **options)
                result = await Runner.run(agent, prompt, session=session, run_config=config)
        return result.final_output

    with ModelServer(turns) as server:
        said = asyncio.run(main(server.url))
    assert server.problems == []
    return [exchange.body for exchange in server.conversation], said


def items_of(body):
    """The items of a request without its instructions, each as a text."""
    items = body.get("input") or [each for each in body["messages"] if each["role"] not in ("system", "developer")]
    return [json.dumps(each, ensure_ascii=False, sort_keys=True) for each in items]


def told_in(body):
    return body["instructions"] if "input" in body else body["messages"][0]["content"]


@pytest.mark.parametrize("wire", sorted(WIRES))
def test_a_conversation_over_two_runs(place, wire):
    bake(place)
    talk = talk_in(place)
    turns = [[ToolCall(("read_file",), {"path": "api/users.py"})]]
    bodies, said = run(place, wire, [talk, talk], QUESTION, "And how hot is the oven?", turns=turns)
    first, second, third = map(items_of, bodies)
    assert (said, talk.findings) == ("Done.", [])
    assert [told_in(body) for body in bodies] == [talk.start()] * 3
    assert second[: len(first)] == first  # what a provider has read before is at the front, byte for byte
    assert third[: len(second)] == second
    assert (ANSWER in first[1], "Handlers return JSON." in second[4], "230 degrees" in third[-1]) == (True, True, True)


def test_another_process_goes_on_with_the_same_bytes(place):
    bake(place)
    turns = [[ToolCall(("read_file",), {"path": "api/users.py"})]]
    before, _ = run(place, "responses", [talk_in(place)], QUESTION, turns=turns)
    after, _ = run(place, "responses", [talk_in(place)], "Thanks!")
    last = items_of(before[-1])
    assert items_of(after[0])[: len(last)] == last


def test_what_was_added_is_not_kept_as_said(place):
    bake(place)
    run(place, "responses", [talk_in(place)], QUESTION)
    items = asyncio.run(ItemSession("monday", home=place.home, env={}).get_items())
    assert [each["role"] for each in items] == ["user", "assistant"]


def call(name, **given):
    return {"type": "function_call", "call_id": name, "name": "f", "arguments": json.dumps(given)}


def result(name):
    return {"type": "function_call_output", "call_id": name, "output": ""}


def texts(items):
    return [each.get("content") or each["type"] for each in items]


def test_nothing_is_put_between_calls_and_their_results(place):
    bake(place)
    given = [call("1", path="api/users.py"), call("2", path="web/shop.ts"), result("1"), result("2")]
    made = Additions(talk_in(place)).insert_into(given)
    assert made[:4] == given
    assert [each["content"].split("\n")[1] for each in made[4:]] == [
        f"Contents of {place.proj}/api/CLAUDE.md:",
        f"Contents of {place.proj}/.claude/rules/ts.md:",
    ]


@pytest.mark.parametrize(
    "action",
    [
        {"type": "exec", "command": ["cat", "api/users.py"]},
        {"type": "exec", "command": ["bash", "-lc", "cat api/users.py"]},
    ],
)
def test_a_shell_that_reads(place, action):
    bake(place)
    shell = {"type": "local_shell_call", "call_id": "1", "action": action}
    made = Additions(talk_in(place)).insert_into(
        [shell, {"type": "local_shell_call_output", "call_id": "1", "output": ""}]
    )
    assert "Handlers return JSON." in made[2]["content"]


def test_a_shortened_history_gets_everything_again_at_the_front(place):
    bake(place)
    talk = talk_in(place)
    added = Additions(talk)
    prompt = {"role": "user", "content": QUESTION}
    added.insert_into([prompt, call("1", path="api/users.py"), result("1")])
    place.write("proj/api/CLAUDE.md", "Handlers return YAML.\n")
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    summary = {"type": "compaction", "id": "c", "encrypted_content": "x"}
    more = [call("2", path="api/orders.py"), result("2")]
    made = added.insert_into([summary, prompt, *more])
    assert texts(made) == ["compaction", made[1]["content"], QUESTION, made[3]["content"], *texts(more)]
    assert "Handlers return YAML." in made[1]["content"]
    assert ANSWER in made[3]["content"]
    assert "Use spaces." in talk.start()
    assert added.insert_into([summary, prompt, *more]) == made


def test_an_agent_that_runs_as_a_tool_has_a_history_of_its_own(place):
    bake(place)
    talk = talk_in(place)
    main = [{"role": "user", "content": QUESTION}, call("1", path="api/users.py"), result("1")]
    inner = [{"role": "user", "content": "Look when we deploy."}, call("2", path="api/orders.py"), result("2")]
    both = Histories(talk)
    before = both.extend("Baker", main)
    assert [len(before), len(both.extend("Scout", inner))] == [5, 5]
    assert both.extend("Baker", main) == before
    assert both.extend("Seller", main) == before  # a handoff
    again = [{"role": "user", "content": "Look again when we deploy."}]
    assert len(both.extend("Scout", again)) == 2


@pytest.mark.parametrize("items", [[3], [None], [{"type": "function_call", "call_id": 1, "arguments": "{"}, result(1)]])
def test_items_of_another_form_go_out_as_they_are(place, items):
    bake(place)
    assert Additions(talk_in(place)).insert_into(items) == items


def test_the_callers_mistakes_raise_at_once(place):
    for adapter in (instructions, input_filter):
        with pytest.raises(NotAFolder):
            adapter(place.path("gone"), **around(place))


def test_ones_own_instructions_come_before(place):
    bake(place)
    talk = talk_in(place)
    told = instructions(talk, before="You bake.")
    assert asyncio.run(told(None, None)) == f"You bake.\n\n{talk.start()}"


def test_without_the_package(place):
    code = "from foretold.adapters.openai_agents import input_filter\ninput_filter()"
    wanted = f"foretold.errors.ExtraMissing: {missing('foretold.adapters.openai_agents', 'openai-agents')}"
    assert blocked("agents", code, place) == wanted
