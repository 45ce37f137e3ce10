"""`Harness`: a conversation with tools, what it is told, what it writes down."""

import os
from itertools import pairwise

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.errors import ModelFailed, NotAFolder, SessionFailed, UnknownAgent, UnknownModel
from foretold.harness.events import AttachmentEvent, ReplyEvent, ToolCallEvent, ToolResultEvent, TurnEndEvent
from foretold.harness.harness import Harness
from foretold.harness.tools.registry import DEFAULT_TOOLS, Tool
from foretold.models.protocol import Reply
from foretold.models.scripted import Scripted
from foretold.sessions.catalog import list_sessions
from foretold.sessions.formats.readers import read
from foretold.sessions.model import Homes

from .scene import ENV, codes, harness, is_prefix, live, options, resumed, stored, texts, types

VERSIONS = ("2.1.197", "2.1.325")
MODELS = ("claude-opus-5-5", "claude-sonnet-4-5")


def project(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/CLAUDE.md", "Handlers return JSON.\n")
    place.write("proj/api/users.py", "LIMIT = 1\n")
    place.write("proj/.claude/rules/b.md", '---\npaths: "web/**/*.ts"\n---\nNo any.\n')
    place.write("proj/web/a.ts", "let a = 1\n")


def reads(place, *names):
    return [("Read", {"file_path": place.path(f"proj/{name}")}) for name in names]


def test_a_turn_reads_edits_and_ends(place):
    project(place)
    edit = {"file_path": place.path("proj/api/users.py"), "old_string": "1", "new_string": "2"}
    with harness(place, [*reads(place, "api/users.py"), ("Edit", edit), "Raised."]) as agent:
        turn = agent.prompt("Raise the limit.")
    with open(place.path("proj/api/users.py"), encoding="utf-8") as file:
        assert file.read() == "LIMIT = 2\n"
    assert (turn.text, turn.stop, turn.requests) == ("Raised.", "end_turn", 3)
    assert [message["role"] for message in turn.messages] == ["user", "system", *["assistant", "user"] * 2, "assistant"]
    assert turn.findings == ()


def test_events_tell_a_turn_as_it_happens(place):
    project(place)
    agent = harness(place, [reads(place, "api/users.py", "web/a.ts"), "Seen."])
    events = list(agent.run("Look."))
    kinds = [type(event) for event in events]
    assert kinds == [
        AttachmentEvent,
        ReplyEvent,
        ToolCallEvent,
        ToolResultEvent,
        ToolCallEvent,
        ToolResultEvent,
        AttachmentEvent,
        ReplyEvent,
        TurnEndEvent,
    ]
    assert [each.type for each in events[6].attachments] == ["nested_memory", "nested_memory"]
    assert events[-1].turn.text == "Seen."


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_a_resume_would_send_what_was_sent(place, version, model):
    """Instructions, mentions, results, nested instructions, changed files: the transcript tells all of it."""
    project(place)
    place.write("proj/note.txt", "one\n")
    changed = ("Write", {"file_path": place.path("proj/new.txt"), "content": "new\n"})
    agent = harness(
        place, [reads(place, "api/users.py", "web/a.ts"), changed, "Done.", "Yes.", "Third."], version, model
    )
    agent.prompt("Look.")
    os.utime(place.write("proj/new.txt", "other\n"), (4_000_000_000, 4_000_000_000))
    agent.prompt("And now?")
    agent.prompt("What is in @note.txt?")
    assert "edited_text_file" in types(agent)
    assert live(agent) == stored(agent)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", MODELS)
def test_each_request_begins_with_the_one_before(place, version, model):
    project(place)
    days = iter(["2026-01-02"] * 3 + ["2026-01-03"] * 20)
    lines = [reads(place, "api/users.py", "web/a.ts"), "One.", "Two.", ("Bash", {"command": "echo hi"}), "Three."]
    agent = harness(place, lines, version, model, now=lambda: next(days))
    for prompt in ("Look.", "And @web/a.ts?", "Run."):
        agent.prompt(prompt)
    requests = agent.model.requests
    assert [is_prefix(*pair) for pair in pairwise(requests)] == [True] * 4
    first, last = len(requests[0].messages) - 1, [len(request.messages) - 1 for request in requests]
    assert [request.cached for request in requests] == [
        (first,),
        (first, last[1]),
        *((first, last[number - 1], last[number]) for number in (2, 3, 4)),
    ]
    assert any("date has changed" in str(message) for message in requests[-1].messages)


def test_what_is_told_first(place):
    """The later version attaches everything; the earlier one has a system prompt and a block of context."""
    project(place)
    place.git("init -q -b main")
    agents = [harness(place, ["Hi."], version) for version in VERSIONS]
    for agent in agents:
        agent.prompt("Hello.")
    (old,), (new,) = (agent.model.requests for agent in agents)
    assert [text[:22] for text in old.system[1:]] == [
        "# auto memory\n\nYou hav",
        "# Environment\nYou have",
        "This is the git status",
    ]
    assert len(new.system) == 2
    assert [message["role"] for message in old.messages] == ["user"]
    assert [message["role"] for message in new.messages] == ["user", "system"]
    (view_block,) = agents[0].instructions.view.messages[0]["content"]
    assert texts(old.messages[0]) == [view_block["text"], "Hello."]
    assert texts(new.messages[0])[0] == agents[1].instructions.view.slots[0].block.text
    assert types(agents[1])[2:-1] == [
        *("environment", "model", "instructions", "session_context", "date"),
        "remote_session_change",
    ]


@pytest.mark.parametrize("text", ["Use <system-reminder> tags.", "Ends with space. \n\n", "Ünïcode {path} $&\n"])
def test_instructions_as_an_attachment_are_the_view(place, text):
    place.write("proj/CLAUDE.md", text)
    place.write("proj/CLAUDE.local.md", "Local.\n")
    place.write("home/.claude/CLAUDE.md", "Mine.\n")
    place.write("managed/CLAUDE.md", "Ours.\n")
    memory = place.write(f"home/.claude/projects/{slug(place.proj)}/memory/MEMORY.md", "- [a](a.md)\n")
    agent = harness(place, ["Hi."])
    agent.prompt("Hello.")
    assert [entry.layer for entry in agent.instructions.view.entries] == [
        "managed",
        "user",
        "project",
        "local",
        "memory",
    ]
    block = texts(agent.model.requests[0].messages[0])[0]
    assert block.removesuffix("\n") == agent.instructions.view.slots[0].block.text
    assert memory in block


def test_a_system_prompt_of_ones_own(place):
    agent = harness(place, ["Hi."], system="You bake.", memory=False)
    agent.prompt("Hello.")
    assert agent.model.requests[0].system == ("You bake.",)


def test_the_sessions_of_a_harness_are_listed_and_read(place):
    with harness(place, [("Bash", {"command": "echo hi"}), "Done."]) as agent:
        agent.prompt("Say hi.")
    (found,) = list_sessions(Homes(place.home, {}))
    assert (found.id, found.cwd, found.title, found.agent) == (agent.session, place.proj, "Say hi.", "claude-code")
    said = [message.text for message in read(found) if message.kind == "" and message.text]
    assert said == ["Say hi.", "Done."]


def test_nothing_said_leaves_no_file(place):
    with harness(place, []) as agent:
        pass
    assert not os.path.exists(agent.path)


def test_ids_that_a_server_repeats_are_made_new(place):
    class Repeats:
        name = "claude-opus-5-5"

        def __init__(self):
            self.replies = [("call_0",), ("call_0",), ()]

        def reply(self, request):
            calls = self.replies.pop(0)
            blocks = [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "echo"}} for name in calls]
            return Reply(
                tuple(blocks) or ({"type": "text", "text": "Done."},), "tool_use" if calls else "end_turn", id="x"
            )

    agent = Harness(place.proj, model=Repeats(), **options(place))
    turn = agent.prompt("Go.")
    ids = [
        block["id"]
        for message in turn.messages
        if message["role"] == "assistant"
        for block in message["content"][:1]
        if "id" in block
    ]
    assert len(set(ids)) == len(ids) == 2
    assert live(agent) == stored(agent)


def test_a_reply_without_a_word_is_named(place):
    class Silent:
        name = "claude-opus-5-5"

        def reply(self, request):
            return Reply((), "refusal")

    agent = Harness(place.proj, model=Silent(), **options(place))
    turn = agent.prompt("Go.")
    assert (turn.text, turn.stop, [finding.code for finding in turn.findings]) == ("", "refusal", ["reply-empty"])


class Replying:
    """A model that gives replies as they are."""

    name = "claude-opus-5-5"

    def __init__(self, *replies):
        self.replies, self.requests = list(replies), []

    def reply(self, request):
        self.requests.append(request)
        return self.replies.pop(0)


def replying(place, *replies, **more):
    return Harness(place.proj, model=Replying(*replies), **options(place, **more))


DONE = Reply(({"type": "text", "text": "Done."},))


def test_a_reply_of_thoughts_alone_is_named(place):
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    agent = replying(place, Reply((thought,)), DONE)
    assert [finding.code for finding in agent.prompt("Go.").findings] == ["reply-empty"]
    assert agent.prompt("Go on.").text == "Done."
    assert live(agent) == stored(agent)


def test_calls_that_no_server_would_take_back(place):
    calls = [{"type": "tool_use"}, {"type": "tool_use", "id": "t2", "name": "Bash", "input": "echo"}]
    agent = replying(place, Reply(tuple(calls), "tool_use"), DONE)
    assert agent.prompt("Go.").text == "Done."
    said, results = live(agent)[-3:-1]
    assert [(call["name"], call["input"]) for call in said["content"]] == [
        ("unnamed", {}),
        ("Bash", {"invalid_input": "echo"}),
    ]
    assert [result["is_error"] for result in results["content"]] == [True, True]
    assert live(agent) == stored(agent)


def test_a_call_that_was_cut_off_is_not_run(place):
    one = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo hi"}}
    half = {
        "type": "tool_use",
        "id": "t2",
        "name": "Write",
        "input": {"file_path": place.path("proj/a"), "content": "h"},
    }
    agent = replying(place, Reply((one, half), "max_tokens"), DONE, max_tokens=4096)
    assert agent.prompt("Go.").text == "Done."
    whole, cut = live(agent)[-2]["content"]
    assert whole["content"] == "hi"
    assert cut["content"] == (
        "<tool_use_error>This call was cut off: an answer has 4,096 tokens at most. It was not run. Make it again,"
        " in smaller pieces.</tool_use_error>"
    )
    assert not os.path.exists(place.path("proj/a"))
    assert live(agent) == stored(agent)


def test_a_tool_that_raises_is_told_to_both(place):
    broken = Tool("Own", "Does.", {"type": "object", "properties": {}}, lambda context, given: given["bread"])
    agent = harness(place, [("Own", {}), "It is broken."], tools=[broken])
    turn = agent.prompt("Go.")
    assert turn.text == "It is broken."
    assert [(finding.code, finding.message) for finding in turn.findings] == [
        ("tool-failed", "Own failed: KeyError: 'bread'")
    ]


def test_a_mode_is_a_permission(place):
    lines = [("Write", {"file_path": place.path("proj/a"), "content": "x"}), "Done."]
    for mode, is_written in (("plan", False), ("acceptEdits", True)):
        harness(place, lines, permission=mode).prompt("Go.")
        assert os.path.exists(place.path("proj/a")) is is_written


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"permission": "yolo"}, ValueError, "there is no mode 'yolo'"),
        ({"tools": ["Read"]}, TypeError, "'Read' is not a tool"),
        ({"tools": [*DEFAULT_TOOLS, DEFAULT_TOOLS[0]]}, ValueError, "two tools are called Read"),
        ({"window": 0}, ValueError, "window is a number of at least 1, not 0"),
        ({"max_turns": -1}, ValueError, "max_turns is a number of at least 0, not -1"),
        ({"session": "../../notes"}, SessionFailed, "is not a UUID"),
    ],
)
def test_options_that_can_only_be_a_mistake(place, given, error, said):
    with pytest.raises(error, match=said):
        harness(place, [], **given)


def test_as_many_requests_as_are_allowed(place):
    echo = ("Bash", {"command": "echo hi"})
    agent = harness(place, [echo] * 5, max_turns=2)
    turn = agent.prompt("Go on.")
    assert (turn.stop, turn.requests) == ("max_turns", 2)
    assert live(agent)[-1]["content"][0]["type"] == "tool_result"


def test_a_mention_that_is_not_attached_is_found(place):
    agent = harness(place, ["Hm."])
    turn = agent.prompt("See @gone.txt")
    assert [(place.short(finding.path), finding.code) for finding in turn.findings] == [
        ("proj/gone.txt", "mention-not-attached")
    ]


def test_a_mentioned_file_counts_as_read(place):
    path = place.write("proj/a.txt", "one\n")
    agent = harness(
        place, [("Edit", {"file_path": path, "old_string": "one", "new_string": "two"}), "Done."], "2.1.197"
    )
    agent.prompt("Change @a.txt")
    with open(path, encoding="utf-8") as file:
        assert file.read() == "two\n"


def test_instructions_that_are_not_loaded_are_found(place):
    place.write("proj/CLAUDE.md", "See @gone.md\n")
    place.fifo("proj/CLAUDE.local.md")
    place.write("proj/.claude/settings.json", '{"claudeMdExcludes": ["**/.claude/CLAUDE.md"]}')
    place.write("proj/.claude/CLAUDE.md", "Excluded.\n")
    agent = harness(place, [])
    assert sorted(codes(agent)) == ["import-missing", "instructions-skipped", "not-a-file"]


def test_memory_that_is_off_says_why(place):
    agent = harness(place, ["Hi."], env={**ENV, "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    agent.prompt("Hello.")
    assert [(finding.code, finding.message) for finding in agent.findings] == [
        ("memory-off", "memory is switched off: CLAUDE_CODE_DISABLE_AUTO_MEMORY")
    ]
    assert len(agent.model.requests[0].system) == 1


def test_memories_are_recalled_once(place):
    agent = harness(place, ["On Tuesdays.", "As I said."], recall=True)
    agent.memory.create("Deploys", type="project", description="when we deploy", body="On Tuesdays only.")
    agent.prompt("On which day do we deploy?")
    agent.prompt("When do we deploy, again?")
    hooks = [record["attachment"] for record in agent.recorder.records() if record["type"] == "attachment"]
    (found,) = [each for each in hooks if each["type"] == "hook_additional_context"]
    assert found["hookName"] == "UserPromptSubmit"
    assert "On Tuesdays only." in found["content"][0]
    assert live(agent) == stored(agent)


def test_what_cannot_begin(place):
    with pytest.raises(NotAFolder):
        Harness(place.path("nowhere"), model=Scripted([]), **options(place))
    with pytest.raises(UnknownAgent):
        Harness(place.proj, model=Scripted([]), **{**options(place), "agent": "codex"})
    agent = harness(place, ["Hi."], session="5c1a0000-0000-4000-8000-000000000000")
    agent.prompt("Hello.")
    with pytest.raises(SessionFailed, match="exists already"):
        harness(place, [], session=agent.session)


def test_a_model_that_fails_leaves_a_whole_conversation(place):
    agent = harness(place, [("Bash", {"command": "echo hi"})])
    with pytest.raises(ModelFailed):
        agent.prompt("Go.")
    assert live(agent) == stored(agent)
    assert types(agent)[-2:] == ["assistant", "user"]


def test_an_interrupt_answers_open_calls(place):
    def interrupted(context, given):
        raise KeyboardInterrupt

    tools = (*DEFAULT_TOOLS, Tool("Stop", "Stops.", {"type": "object", "properties": {}}, interrupted))
    calls = [("Bash", {"command": "echo hi"}), ("Stop", {}), ("Bash", {"command": "echo no"})]
    agent = harness(place, [calls, "Where was I?"], tools=tools)
    with pytest.raises(KeyboardInterrupt):
        agent.prompt("Go.")
    results = live(agent)[-1]["content"]
    assert [result.get("is_error", False) for result in results] == [False, True, True]
    assert "interrupted" in results[1]["content"]
    assert live(agent) == stored(agent)
    assert agent.prompt("Go on.").text == "Where was I?"
    assert texts(live(agent)[-2])[-1] == "Go on."  # in the message of the results
    assert live(agent) == stored(agent)


def test_a_turn_that_nobody_runs_to_its_end(place):
    agent = harness(place, [("Bash", {"command": "echo hi"}), "Done."])
    events = agent.run("Go.")
    while not isinstance(next(events), ToolCallEvent):
        pass
    events.close()
    assert live(agent)[-1]["content"][0]["is_error"] is True
    assert live(agent) == stored(agent)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("last", range(1, 14))
def test_an_interrupt_at_any_record(place, version, last):
    """Ctrl-C right behind the write of any record: what is written down is what was said."""
    project(place)
    agent = harness(place, [reads(place, "api/users.py", "web/a.ts"), "Seen.", "Again.", "More."], version)
    file, count = agent.recorder.transcript._file, 0
    written = file._write

    def write(descriptor, data):
        nonlocal count
        size, count = written(descriptor, data), count + 1
        if count == last:
            raise KeyboardInterrupt
        return size

    file._write = write
    try:
        agent.prompt("Look.")
    except KeyboardInterrupt:
        assert count == last
    assert live(agent) == stored(agent)
    count = 100
    agent.prompt("Go on.")
    assert live(agent) == stored(agent)
    asked = [block["id"] for message in live(agent) for block in message["content"] if block["type"] == "tool_use"]
    given = [block["tool_use_id"] for message in live(agent) for block in message["content"] if "tool_use_id" in block]
    assert asked == given


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_prompt_that_says_nothing_is_refused_at_once(place, text):
    agent = harness(place, ["Hi."])
    for ask in (agent.prompt, agent.run, agent.subagent):
        with pytest.raises(ValueError, match="the prompt is empty"):
            ask(text)
    assert (agent.model.requests, os.path.exists(agent.path)) == ([], False)
    assert agent.prompt("Hello.").text == "Hi."


def test_a_model_may_be_a_name(place):
    with pytest.raises(UnknownModel, match="write vendor:model"):
        Harness(place.proj, model="claude", **options(place))
    with pytest.raises(TypeError, match=r"it needs a name and reply\(request\)"):
        Harness(place.proj, model=Scripted, **options(place))


def test_an_id_that_is_none_is_refused(place):
    with pytest.raises(SessionFailed, match="'abc' is not a UUID; leave the id of a new session out"):
        harness(place, [], session="abc")


def test_prompts_are_those_that_can_be_gone_back_to(place):
    agent = harness(place, ["One.", "Two.", "Three.", "<summary>Counted.</summary>", "Four."], memory=False)
    assert agent.prompts == ()
    turns = [agent.prompt(text) for text in ("First.", "Second.", "Third.")]
    assert [tuple(each) for each in agent.prompts] == [
        (turns[0].id, "First."),
        (turns[1].id, "Second."),
        (turns[2].id, "Third."),
    ]
    again = resumed(place, agent, [], memory=False)
    assert again.prompts == agent.prompts == agent.fork().prompts
    again.rewind(turns[1].id, dry_run=False)
    assert [each.text for each in again.prompts] == ["First."]
    agent.compact()
    assert agent.prompts == ()
    agent.prompt("Fourth.")
    agent.close()
    assert [each.text for each in agent.prompts] == ["Fourth."]
