"""The examples of docs/adapters.md are short, and run: each in a process of its own, against a model on loopback.

Addresses and keys come by the variables that the packages themselves read, so the examples are what anybody would
write. There is no other way out: a proxy that is not there stands before every other address.
"""

import json
import os
import re
import subprocess
import sys

import pytest

from foretold.proof.probe.server import ModelServer

from .bakery import ANSWER, bake

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "adapters.md")
LONGEST = 10
KEY = "not-a-key"

#: what the first example under a heading must tell the model; others need only run, and print what it said
TOLD = {
    "claude-agent-sdk": ("Use tabs.", ANSWER),
    "openai-agents": ("Use tabs.", ANSWER),
    "litellm, and everything else": ("Use tabs.", ANSWER),
    "pydantic-ai": ("Use tabs.", ANSWER),
    "langchain / deepagents": ("Use tabs.", ANSWER),
    "google-adk": ("Use tabs.", ANSWER),
}

#: what is tried in the same process, because a package takes seconds to import: its requests must hold the same
MORE = {
    "litellm, and everything else": """
import asyncio
from foretold.adapters.plain import litellm_context
claude = {"model": "anthropic/claude-3-opus-20240229", "max_tokens": 99}
answer = litellm.completion(messages=with_context(messages, "."), **claude)
litellm.callbacks.append(litellm_context("."))
asyncio.run(litellm.acompletion(messages=messages, model="openai/gpt-5"))
assert litellm.callbacks[0].findings == []
"""
}


def examples():
    """Every Python example of the page with the heading it stands under, and its number there."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL), 1):
            yield pytest.param(heading, number, code, id=f"{re.sub('[^a-z]+', '-', heading)}-{number}")


EXAMPLES = list(examples())


def environment(place, url):
    """The surroundings of an example: addresses, keys that are none, and no telemetry."""
    off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    off += ("DISABLE_AUTOUPDATER", "OPENAI_AGENTS_DISABLE_TRACING", "DO_NOT_TRACK")
    return {
        "PATH": os.environ["PATH"],
        "HOME": place.home,
        "PYTHONPATH": place.environment()["PYTHONPATH"],
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GOOGLE_API_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LANGSMITH_TRACING": "false",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
        **dict.fromkeys(off, "1"),
    }


@pytest.mark.parametrize(("heading", "number", "code"), EXAMPLES)
def test_an_example_is_short_and_runs(place, heading, number, code):
    assert len([line for line in code.splitlines() if line.strip()]) <= LONGEST
    bake(place)
    with ModelServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", code + MORE.get(heading, "")],
            cwd=place.proj,
            env=environment(place, server.url),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "Done." in done.stdout
    sent = [json.dumps(each.body, ensure_ascii=False) for each in server.requests if each.format]
    told = any if heading not in MORE else all
    wanted = TOLD.get(heading, ()) if number == 1 else ()
    assert [words for words in wanted if not told(words in body for body in sent)] == []
    assert len(sent) > MORE.get(heading, "").count("completion(")


def test_every_framework_has_an_example():
    """Sections that still wait for theirs would be seen here."""
    with_example = {example.values[0] for example in EXAMPLES}
    assert set(TOLD) | {"anthropic"} == with_example
