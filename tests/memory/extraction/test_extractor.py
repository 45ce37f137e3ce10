"""Extraction as a whole: when it runs, what it shares with the conversation, where it stops, and what it leaves."""

import fcntl
import json
import os

import pytest

from foretold.errors import BadName, ModelFailed
from foretold.memory.extraction.extractor import Extraction, Extractor, Gate
from foretold.memory.extraction.request import OWN_TOOLS
from foretold.memory.extraction.transcript import pieces_of
from foretold.memory.note import read_note
from foretold.models.protocol import ModelRequest, Usage
from foretold.models.scripted import Scripted

from .stage import SESSION, TODAY, Call, Note, assistant, calls, opened, put, recalled, records, request_of, tool, user

TURNS = [user("please use tabs for indentation"), assistant("Ok.")]
TABS = Note("feedback_tabs.md", "tabs", "Use tabs for indentation.")


def tries(memories, *notes):
    return Scripted([calls(memories, notes), "Done."])


def made_by(memories, *, gate=None, **options):
    return Extractor(memories, gate=gate or Gate.always(), today=TODAY, **options)


# -- the gate and the mark


def test_it_is_due_by_tokens_or_by_calls_since_the_last_time(place):
    memories = opened(place)
    short, long = pieces_of(records(TURNS)), pieces_of(records([user("use tabs " * 50), assistant("Ok.")]))
    busy = pieces_of(records([user("go"), tool("x"), tool("x"), assistant("Ok.")]))
    gate = Gate(tokens=100, tool_calls=2)
    assert [made_by(memories, gate=gate).due(each) for each in (short, long, busy)] == [False, True, True]
    assert [made_by(memories, gate=Gate.never()).due(each) for each in (short, long, busy)] == [False] * 3
    assert [made_by(memories).due(each) for each in (short, long, busy)] == [True] * 3
    assert made_by(memories).due(pieces_of(records([tool("x"), assistant("Ok.")]))) is False


def test_what_was_looked_at_is_not_looked_at_again(place):
    memories = opened(place)
    extractor = made_by(memories)
    first = pieces_of(records(TURNS))
    assert extractor.run(tries(memories, TABS), None, first, session=SESSION).added == ("feedback_tabs.md",)
    assert (extractor.due(first), made_by(opened(place)).due(first)) == (False, False)
    more = pieces_of(records([*TURNS, user("and keep functions short"), assistant("Ok.")]))
    model = tries(memories, Note("feedback_short.md", "short functions", "Keep functions short."))
    assert extractor.due(more)
    assert extractor.run(model, None, more, session=SESSION).added == ("feedback_short.md",)
    asked = json.dumps(model.requests[0].messages)
    assert ("keep functions short" in asked, "use tabs for indentation" in asked) == (True, False)


@pytest.mark.parametrize(
    ("gate", "policy", "skipped"),
    [
        (Gate.never(), "", "never"),
        (Gate(tokens=10_000), "", "not-due"),
        (Gate.always(), "manual", "policy"),
        (Gate.always(), "read-only", "policy"),
    ],
)
def test_why_nothing_is_asked(place, gate, policy, skipped):
    memories = opened(place, policy)
    model = Scripted([])
    done = made_by(memories, gate=gate).run(model, None, pieces_of(records(TURNS)), session=SESSION)
    assert (done, model.requests) == (Extraction(session=SESSION, skipped=skipped), [])


def test_force_passes_the_gate(place):
    memories = opened(place)
    extractor = made_by(memories, gate=Gate(tokens=10_000))
    done = extractor.run(tries(memories, TABS), None, pieces_of(records(TURNS)), session=SESSION, force=True)
    assert done.added == ("feedback_tabs.md",)


def test_one_run_at_a_time_for_a_session(place):
    memories = opened(place)
    extractor = made_by(memories)
    with extractor.marks.held(SESSION), open(extractor.marks.path(SESSION)) as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        said = pieces_of(records(TURNS))
        assert made_by(memories).run(Scripted([]), None, said, session=SESSION).skipped == "running"


def test_a_run_that_failed_is_made_again_and_writes_once(place):
    memories = opened(place)
    said = pieces_of(records([*TURNS, user("keep functions short"), assistant("Ok.")]))
    short = Note("feedback_short.md", "short functions", "Keep functions short.")

    def fails(_):
        raise ModelFailed("overloaded")

    done = made_by(memories).run(Scripted([calls(memories, [TABS]), fails]), None, said, session=SESSION)
    assert (done.added, done.stopped, done.requests) == (("feedback_tabs.md",), "model-failed: overloaded", 1)
    again = made_by(memories).run(tries(memories, TABS, short), None, said, session=SESSION)
    assert (again.added, again.unchanged, again.stopped) == (("feedback_short.md",), ("feedback_tabs.md",), "")
    assert [(change.op, change.file) for change in memories.log()] == [
        ("create", "feedback_tabs.md"),
        ("create", "feedback_short.md"),
    ]


def test_a_model_that_never_ends(place):
    memories = opened(place)
    said = pieces_of(records(TURNS))
    model = Scripted([("Glob", {"pattern": "*"})] * 9)
    done = made_by(memories, rounds=3).run(model, None, said, session=SESSION)
    assert (done.stopped, done.requests) == ("rounds", 3)
    assert made_by(memories).run(Scripted([]), None, said, session=SESSION).skipped == "nothing-new"


def test_the_mark_tells_numbers_and_no_text(place):
    memories = opened(place)
    secret = "AKIA" + "IOSFODNN7ABCDEFG"
    wanted = [TABS, Note("reference_key.md", "key", f"Use tabs and {secret}.")]
    done = made_by(memories).run(tries(memories, *wanted), None, pieces_of(records(TURNS)), session=SESSION)
    assert [each[:2] for each in done.refused] == [("reference_key.md", "secret")]
    with open(made_by(memories).marks.path(SESSION)) as file:
        record = json.loads(file.read())
    values = {key: record[key] for key in ("session", "last", "end", "mode", "requests", "refused", "added", "updated")}
    assert values == {
        "session": SESSION,
        "last": "a-2",
        "end": 0,
        "mode": "digest",
        "requests": 2,
        "refused": {"secret": 1},
        "added": ["feedback_tabs.md"],
        "updated": [],
    }


# -- the fork


def test_the_fork_begins_with_the_conversation_byte_for_byte(place):
    memories = opened(place, there=[TABS])
    made = records([recalled("Use tabs."), user("call it `guest`"), tool("x"), assistant("Ok.")])
    request = request_of(made)
    model = tries(memories, Note("feedback_guest.md", "wording", "Call it `guest`."))
    done = made_by(memories).run(model, request, pieces_of(made), session=SESSION)
    assert (done.mode, done.added) == ("fork", ("feedback_guest.md",))
    for number, asked in enumerate(model.requests):
        same = ModelRequest(
            asked.system, asked.messages[: len(request.messages)], asked.tools, asked.max_tokens, asked.cached
        )
        assert json.dumps(same) == json.dumps(request)
        assert len(asked.messages) == len(request.messages) + 1 + 2 * number
    prompt = model.requests[0].messages[-1]
    assert prompt["role"] == "user"
    assert "- feedback_tabs.md [feedback] tabs" in prompt["content"]
    assert model.requests[1].messages[:-2] == model.requests[0].messages


def test_a_conversation_without_tools_to_write_is_asked_about_in_a_digest(place):
    memories = opened(place)
    made = records([recalled("A chemist."), *TURNS])
    bare = request_of(made)._replace(tools=({"name": "Read"},))
    model = tries(memories, TABS)
    done = made_by(memories).run(model, bare, pieces_of(made), session=SESSION)
    asked = model.requests[0]
    assert (done.mode, done.masked, done.added) == ("digest", 1, ("feedback_tabs.md",))
    assert (asked.tools, len(asked.messages), "A chemist." in json.dumps(asked)) == (OWN_TOOLS, 1, False)


def test_usage_is_added_up_and_all_of_it_is_plain_values(place):
    memories = opened(place)
    model = tries(memories, TABS)
    done = made_by(memories).run(model, None, pieces_of(records(TURNS)), session=SESSION)
    assert done.usage.input > done.usage.output > 0
    plain = json.loads(json.dumps(done.to_json()))
    assert plain == {**done.to_json(), "added": ["feedback_tabs.md"], "requests": 2, "usage": done.usage._asdict()}
    assert (Extraction().usage, plain["refused"], plain["last"]) == (Usage(), [], "a-2")


# -- where a memory comes from


def test_a_memory_records_its_session_and_its_message(place):
    memories = opened(place)
    turns = [user("hello"), assistant("Hi."), *TURNS, user("thanks"), assistant("Bye.")]
    made_by(memories).run(tries(memories, TABS), None, pieces_of(records(turns)), session=SESSION)
    with open(os.path.join(memories.own.path, "feedback_tabs.md")) as file:
        assert file.read() == (
            "---\nname: feedback-tabs\ndescription: tabs\nmetadata: \n  node_type: memory\n  type: feedback\n"
            f'  source: u-3\n  originSessionId: "{SESSION}"\n---\n\nUse tabs for indentation.\n'
        )
    change = memories.log()[-1]
    assert (change.by, change.session, change.why) == ("agent", SESSION, "message u-3")
    assert memories.index() == "- [Feedback tabs](feedback_tabs.md) — tabs\n"


def test_no_frontmatter_says_where_a_memory_comes_from(place):
    memories = opened(place)
    forged = "metadata:\n  source: u-99\n  originSessionId: other\n  trust: full\n  origin: user\n"
    text = TABS.text.replace("metadata:\n", f"trust: user\npaths: '**'\n{forged}")
    write = Call("Write", {"file_path": "{memory}/feedback_tabs.md", "content": text})
    made_by(memories).run(tries(memories, write), None, pieces_of(records(TURNS)), session=SESSION)
    first = dict(memories.get("feedback_tabs").metadata)
    assert (first["source"], first["originSessionId"], "trust" in first, "origin" in first) == (
        "u-1",
        SESSION,
        False,
        False,
    )
    later = pieces_of(records([user("hello"), user("no, use spaces for indentation")], "later"))
    edit = Call("Write", {"file_path": "{memory}/feedback_tabs.md", "content": text.replace("Use tabs", "Use spaces")})
    made_by(memories).run(tries(memories, edit), None, later, session="later")
    second = dict(memories.get("feedback_tabs").metadata)
    assert (second["source"], second["sourceSessionId"], second.keys() - first.keys()) == (
        "u-2",
        "later",
        {"sourceSessionId"},
    )


def test_a_change_keeps_the_history_and_both_sessions(place):
    memories = opened(place)
    made_by(memories).run(tries(memories, TABS), None, pieces_of(records(TURNS)), session=SESSION)
    later = pieces_of(records([user("no, use spaces for indentation"), assistant("Ok.")], "other"))
    spaces = TABS._replace(body="Use spaces for indentation.")
    done = made_by(memories).run(tries(memories, spaces), None, later, session="other")
    note = memories.get("feedback_tabs")
    assert (done.updated, note.body) == (("feedback_tabs.md",), "Use spaces for indentation.")
    origin = {key: note.metadata[key] for key in ("originSessionId", "sourceSessionId", "source")}
    assert origin == {"originSessionId": SESSION, "sourceSessionId": "other", "source": "u-1"}
    assert memories.restore("feedback_tabs").body == "Use tabs for indentation."


def test_what_somebody_else_changed_meanwhile_is_shown_and_judged_again(place):
    memories = opened(place, there=[TABS])
    said = pieces_of(records([user("no, use spaces for indentation"), assistant("Ok.")]))
    spaces = TABS._replace(body="Use spaces for indentation.")

    def changed(_):
        memories.edit("feedback_tabs", body="Use tabs for indentation, eight wide.")
        return calls(memories, [spaces])

    model = Scripted([changed, lambda _: calls(memories, [spaces]), "Done."])
    done = made_by(memories).run(model, None, said, session=SESSION)
    answer = model.requests[1].messages[-1]["content"][0]
    assert (answer["is_error"], "eight wide" in answer["content"]) == (True, True)
    assert (done.updated, memories.get("feedback_tabs").body) == (("feedback_tabs.md",), "Use spaces for indentation.")
    assert [change.op for change in memories.log("feedback_tabs")] == ["create", "edit", "edit"]


def test_the_index_is_never_written_by_a_model(place):
    memories = opened(place, there=[TABS])
    memories.own.add_to_index("My own line.")
    before = memories.index()
    path = f"{memories.own.path}/MEMORY.md"
    written = ("Write", {"file_path": path, "content": "- gone"})
    edited = ("Edit", {"file_path": path, "old_string": "My own line.", "new_string": ""})
    model = Scripted([[written, edited], "Done."])
    done = made_by(memories).run(model, None, pieces_of(records(TURNS)), session=SESSION)
    results = model.requests[1].messages[-1]["content"]
    assert [("is_error" in each, "nothing was changed" in each["content"]) for each in results] == [(False, True)] * 2
    assert (memories.index(), done.refused) == (before, ())


def by_hand(memories, file, text):
    path = os.path.join(memories.own.path, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as opened:
        opened.write(text)


LATER = Note("auto/later.md", "release on Fridays", "Releases are on Fridays.", type="project")


@pytest.mark.parametrize("call", ["Write", "Edit", "none"])
def test_a_file_without_a_line_in_the_index_gets_one(place, call):
    """As the model wants it that writes the line, or at the end of the run; the index is still made from the files."""
    memories = opened(place, there=[TABS])
    by_hand(memories, LATER.file, LATER.text)
    assert "later.md" not in memories.index()
    path = f"{memories.own.path}/MEMORY.md"
    line = "- [Later](auto/later.md) — anything the model says"
    given = {"Write": {"content": line}, "Edit": {"old_string": "- [Tabs]", "new_string": f"{line}\n- [Tabs]"}}
    asked = [[(call, {"file_path": path, **given[call]})]] if call in given else []
    model = Scripted([*asked, "Done."])
    done = made_by(memories).run(model, None, pieces_of(records(TURNS)), session=SESSION)
    assert memories.index().splitlines() == [
        "- [Feedback tabs](feedback_tabs.md) — tabs",
        "- [Later](auto/later.md) — release on Fridays",
    ]
    assert (done.added, done.refused) == ((), ())
    if asked:
        (answer,) = model.requests[1].messages[-1]["content"]
        assert "It has a line now for: auto/later.md" in answer["content"]
    change = memories.own.log()[-1]
    assert (change.op, change.file, change.by, change.session) == ("edit", "MEMORY.md", "agent", SESSION)


def test_where_an_agent_may_not_write_the_index_stays(place):
    memories = opened(place, "confirm", there=[TABS])
    by_hand(memories, LATER.file, LATER.text)
    before = memories.index()
    written = ("Write", {"file_path": f"{memories.own.path}/MEMORY.md", "content": "- [Later](auto/later.md)"})
    done = made_by(memories).run(Scripted([[written], "Done."]), None, pieces_of(records(TURNS)), session=SESSION)
    assert (memories.index(), done.stopped, done.refused) == (before, "", ())


def test_new_memories_go_into_a_folder(place):
    """With `into`, whether the model names the folder or not; what exists is changed where it is."""
    memories = opened(place, there=[TABS])
    said = pieces_of(records([*TURNS, user("keep functions short, and use two spaces after all"), assistant("Ok.")]))
    short = Note("auto/short.md", "short functions", "Keep functions short.", type="feedback")
    spaces = Note("feedback_tabs.md", "two spaces", "Use two spaces after all.")
    model = Scripted([calls(memories, [short, spaces]), "Done."])
    done = made_by(memories, into="auto").run(model, request_of(records(TURNS)), said, session=SESSION)
    assert (done.added, done.updated, done.refused) == (("auto/short.md",), ("feedback_tabs.md",), ())
    prompt = model.requests[0].messages[-1]["content"]
    assert "`auto/<topic>.md`" in prompt
    assert "<type>_<topic>" not in prompt
    assert "- [Short](auto/short.md) — short functions" in memories.index().splitlines()
    assert [change.op for change in memories.log("auto/short.md")] == ["create"]


def test_a_new_memory_without_a_folder_is_moved_there(place):
    memories = opened(place)
    path = os.path.join(memories.own.path, TABS.file)
    again = ("Edit", {"file_path": path, "old_string": "indentation.", "new_string": "indentation, never spaces."})
    said = pieces_of(records([user("please use tabs for indentation, never spaces"), assistant("Ok.")]))
    model = Scripted([calls(memories, [TABS]), [("Read", {"file_path": path}), again], "Done."])
    done = made_by(memories, into="auto").run(model, None, said, session=SESSION)
    assert (done.added, done.updated, done.refused) == (("auto/feedback_tabs.md",), (), ())
    assert [(each.file, each.body) for each in memories.memories()] == [
        ("auto/feedback_tabs.md", "Use tabs for indentation, never spaces.")
    ]
    assert memories.index() == "- [Feedback tabs](auto/feedback_tabs.md) — tabs\n"
    assert memories.restore("auto/feedback_tabs.md").body == "Use tabs for indentation."


@pytest.mark.parametrize("into", ["..", "/tmp", "a/../b", "~x"])
def test_a_folder_out_of_the_store_is_refused(place, into):
    with pytest.raises(BadName):
        made_by(opened(place), into=into)


def test_a_store_with_types_at_the_top_level(place):
    memories = opened(place)
    memories.own.flat = True
    model = tries(memories, TABS)
    made_by(memories, into="auto").run(model, None, pieces_of(records(TURNS)), session=SESSION)
    text = memories.get("auto/feedback_tabs.md").text
    assert text.startswith("---\nname: Feedback tabs\ndescription: tabs\ntype: feedback\nmetadata:")
    assert "node_type" not in text
    assert "\ntype: user | feedback" in model.requests[0].messages[0]["content"][1]["text"]


def test_a_proposal_says_where_it_comes_from(place):
    memories = opened(place)
    made = records([user("why does CI fail?"), tool("The runner uses Python 3.9.2"), assistant("Python 3.9.2 it is.")])
    note = Note("project_runner.md", "Python of the CI", "The CI runner uses Python 3.9.2.")
    done = made_by(memories, discoveries=True).run(tries(memories, note), None, pieces_of(made), session=SESSION)
    (waiting,) = memories.inbox.waiting()
    assert (done.proposed, done.added) == (("project_runner.md",), ())
    assert waiting.why == "found with tools, not said by the user; message u-1"
    assert read_note("x.md", waiting.text.encode()).metadata["origin"] == "tool"
    assert memories.inbox.accept(waiting.id).body == "The CI runner uses Python 3.9.2."


def test_another_process_creates_the_file_first(place):
    memories = opened(place)
    mine = Note("feedback_tabs.md", "tabs", "Use tabs for indentation.")

    def created(_):
        put(memories, mine._replace(body="Use tabs for indentation, said somebody else."))
        return calls(memories, [mine])

    done = made_by(memories).run(Scripted([created, "Done."]), None, pieces_of(records(TURNS)), session=SESSION)
    assert (done.updated, memories.get("feedback_tabs").body) == (("feedback_tabs.md",), "Use tabs for indentation.")
