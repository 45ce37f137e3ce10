"""Sessions of claude-agent-sdk in files of ours: the SDK's own conformance, and what is beyond it."""

import asyncio
import itertools
import os
import subprocess
import sys

import pytest
from claude_agent_sdk import fork_session_via_store, get_session_messages_from_store, list_sessions_from_store
from claude_agent_sdk.testing import run_session_store_conformance

from foretold.adapters.claude_store import ClaudeSessionStore
from foretold.errors import NoSuchSession, SessionFailed, StoreFailed
from foretold.extras import missing
from foretold.sessions.catalog import list_sessions
from foretold.sessions.model import Homes

from .bakery import blocked

ID = "4d1f0000-0000-4000-8000-000000004d1f"
KEY = {"project_key": "-home-me-app", "session_id": ID}
SUB = {**KEY, "subpath": "subagents/agent-1"}
APPEND = """\
import asyncio, sys
from foretold.adapters.claude_store import ClaudeSessionStore
async def main():
    store = ClaudeSessionStore(sys.argv[1])
    for number in range(20):
        entry = {"type": "x", "uuid": f"{sys.argv[2]}-{number}", "pad": "x" * 5000}
        await store.append({"project_key": "p", "session_id": "s"}, [entry, {"type": "y", "of": entry["uuid"]}])
asyncio.run(main())
"""


def said(number, role="user", text="hi"):
    parent = f"0000000{number - 1}-0000-4000-8000-000000000000" if number else None
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    head = {"type": role, "uuid": f"0000000{number}-0000-4000-8000-000000000000", "parentUuid": parent}
    return {
        **head,
        "sessionId": ID,
        "timestamp": f"2026-01-02T03:04:0{number}.000Z",
        "cwd": "/home/me/app",
        "message": message,
    }


def test_the_conformance_of_the_sdk(tmp_path):
    folders = (str(tmp_path / str(number)) for number in itertools.count())
    asyncio.run(run_session_store_conformance(lambda: ClaudeSessionStore(next(folders))))


def test_the_sdk_lists_reads_and_forks_what_is_kept(place):
    async def main():
        store = ClaudeSessionStore(home=place.home, env={})
        key = {**KEY, "project_key": place.proj.replace("/", "-").replace("_", "-")}
        await store.append(key, [said(0), said(1, "assistant", "Hello.")])
        (listed,) = await list_sessions_from_store(store, directory=place.proj)
        messages = await get_session_messages_from_store(store, ID, directory=place.proj)
        forked = await fork_session_via_store(store, ID, directory=place.proj)
        return listed, messages, await store.load({**key, "session_id": forked.session_id})

    listed, messages, forked = asyncio.run(main())
    assert (listed.session_id, listed.first_prompt) == (ID, "hi")
    assert [message.type for message in messages] == ["user", "assistant"]
    assert [entry["message"]["content"][0]["text"] for entry in forked if "message" in entry] == ["hi", "Hello."]


def test_our_own_readers_find_them(place):
    store = ClaudeSessionStore(home=place.home, env={})
    asyncio.run(store.append(KEY, [said(0, text="Bake bread."), said(1, "assistant", "Done.")]))
    (found,) = list_sessions(homes=Homes(place.home, {"CLAUDE_CONFIG_DIR": store.folder}))
    assert (found.id, found.agent) == (ID, "claude-code")


def test_a_retry_is_read_once(place):
    store = ClaudeSessionStore(place.path("store"))
    title = {"type": "custom-title", "customTitle": "Bread"}

    async def main():
        for _ in range(2):
            await store.append(KEY, [said(0), title])
        return await store.load(KEY)

    assert asyncio.run(main()) == [said(0), title, title]


def test_several_processes_append_to_one_session(place):
    crew = [
        subprocess.Popen([sys.executable, "-c", APPEND, place.path("store"), str(who)], env=place.environment())
        for who in range(2)
    ]
    assert [process.wait() for process in crew] == [0, 0]
    loaded = asyncio.run(ClaudeSessionStore(place.path("store")).load({"project_key": "p", "session_id": "s"}))
    names = [entry["uuid"] for entry in loaded[::2]]
    assert [entry["of"] for entry in loaded[1::2]] == names  # what was given together stands together
    assert [name for name in names if name[0] == "0"] == [f"0-{number}" for number in range(20)]
    assert len(names) == 40


def test_what_was_deleted_can_be_restored(place):
    store = ClaudeSessionStore(place.path("store"))

    async def main():
        await store.append(KEY, [said(0)])
        await store.append(SUB, [said(1)])
        await store.delete(KEY)
        assert (await store.load(KEY), await store.load(SUB), await store.list_sessions("-home-me-app")) == (
            None,
            None,
            [],
        )
        await store.restore(KEY)
        assert (await store.load(KEY), await store.load(SUB)) == ([said(0)], [said(1)])
        await store.delete(SUB)
        await store.append(SUB, [said(2)])
        with pytest.raises(StoreFailed, match="exists again"):
            await store.restore(SUB)
        with pytest.raises(NoSuchSession):
            await store.restore({**KEY, "session_id": "never"})

    asyncio.run(main())


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "a\0b", "../../etc", "a.jsonl", ".hidden", "ü", "a" * 300])
def test_a_name_that_could_lead_elsewhere_is_refused(place, name):
    store = ClaudeSessionStore(place.path("store"))
    for key in ({**KEY, "session_id": name}, {**KEY, "project_key": name}, {**KEY, "subpath": f"a//{name}"}):
        with pytest.raises(SessionFailed, match="cannot be the name"):
            asyncio.run(store.append(key, [said(0)]))
    assert not os.path.exists(place.path("store"))


def test_summaries_go_on_from_where_they_were(place):
    store = ClaudeSessionStore(place.path("store"))

    async def main():
        await store.append(KEY, [said(0, text="first")])
        before = await store.list_session_summaries("-home-me-app")
        await store.append(KEY, [{"type": "custom-title", "customTitle": "Bread"}])
        after = await store.list_session_summaries("-home-me-app")
        fresh = await ClaudeSessionStore(place.path("store")).list_session_summaries("-home-me-app")
        return before, after, fresh

    before, after, fresh = asyncio.run(main())
    assert after == fresh
    assert (before[0]["data"].get("custom_title"), after[0]["data"]["custom_title"]) == (None, "Bread")


def test_without_the_package(place):
    code = "from foretold.adapters.claude_store import ClaudeSessionStore\nClaudeSessionStore()"
    wanted = f"foretold.errors.ExtraMissing: {missing('foretold.adapters.claude_agent', 'claude-agent-sdk')}"
    assert blocked("claude_agent_sdk", code, place) == wanted
