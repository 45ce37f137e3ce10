"""Notes of a conversation: when they are written, what is taken of an answer, what is left out."""

import os
import stat

from foretold.memory.extraction.session_notes import CUT, LEFT_OUT, SECTIONS, NotesUpdate, SessionNotes, Thresholds
from foretold.memory.extraction.transcript import TranscriptPiece
from foretold.models.protocol import ModelRequest
from foretold.models.scripted import Scripted
from foretold.types import Finding

REQUEST = ModelRequest(
    ("You are an agent.",), ({"role": "user", "content": "Hello"},), ({"name": "Read"},), cached=(0,)
)
SMALL = Thresholds(begin=100, tokens=50, tool_calls=2)
NOTES = "# Title\nParser\n# Now\nMeasuring."


def turns(count, start=0, origin="assistant", length=100):
    """Messages of 25 tokens each."""
    return [TranscriptPiece(f"m{number}", "user", "x" * length, origin) for number in range(start, start + count)]


def test_short_conversations_have_no_notes(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    assert [notes.due(turns(count), is_end=True) for count in (0, 3, 4)] == [False, False, True]


def test_in_the_middle_of_work_it_takes_tools(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    said = turns(4)
    assert not notes.due(said, is_end=False)
    assert not notes.due([*said, *turns(1, 4, "tool")], is_end=False)
    assert notes.due([*said, *turns(2, 4, "tool")], is_end=False)


def test_after_notes_only_what_is_new_counts(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    said = turns(4)
    assert notes.update(Scripted([NOTES]), REQUEST, said).is_written
    assert not notes.due([*said, *turns(1, 4)], is_end=True)
    assert notes.due([*said, *turns(2, 4)], is_end=True)
    assert SessionNotes(str(tmp_path), "s", SMALL).covers == "m3"  # another process knows it, too


def test_a_conversation_that_was_rewound_counts_from_its_start(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    notes.update(Scripted([NOTES]), REQUEST, turns(6))
    assert not notes.due(turns(3), is_end=True)
    assert notes.due(turns(5), is_end=True)


def test_the_request_begins_with_the_conversation(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    model = Scripted([NOTES, NOTES])
    notes.update(model, REQUEST, turns(4))
    notes.update(model, REQUEST, turns(8))
    first, second = model.requests
    assert (first.system, first.tools, first.cached) == (REQUEST.system, REQUEST.tools, REQUEST.cached)
    assert first.messages[:1] == REQUEST.messages
    assert "(none yet)" in first.messages[1]["content"]
    assert second.messages[1]["content"].endswith(NOTES)
    assert [f"# {name}\n" in first.messages[1]["content"] for name, _ in SECTIONS] == [True] * len(SECTIONS)


def test_a_tool_is_refused_once(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    model = Scripted([("Read", {"file_path": "a"}), NOTES])
    noted = notes.update(model, REQUEST, turns(4))
    assert (noted.is_written, notes.text()) == (True, NOTES)
    (result,) = model.requests[1].messages[-1]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("toolu_0001_0", True)
    assert noted.usage.output > 0


def test_an_answer_without_headings_changes_nothing(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    notes.update(Scripted([NOTES]), REQUEST, turns(4))
    model = Scripted(["I cannot do that."])
    noted = notes.update(model, REQUEST, turns(8))
    assert (noted.is_written, noted.reason, notes.text(), notes.covers) == (False, "no-notes", NOTES, "m3")
    said = "the notes were rejected, and the former stay: the model answered without the headings that notes have"
    assert noted.findings == (Finding(notes.path, None, "notes-failed", said),)


def test_nothing_said_is_nothing_to_note(tmp_path):
    assert SessionNotes(str(tmp_path), "s").update(Scripted([]), REQUEST, []) == NotesUpdate(False, "too-early")


def test_credentials_are_left_out(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL)
    key = "-----BEGIN RSA PRIVATE " + "KEY-----\nabc\ndef\n-----END RSA PRIVATE " + "KEY-----"
    token = "ghp_" + "a1B2" * 10
    text = f"# Title\nDeploy\n# Commands\nuse {token}\nrun make\n# Learned\n{key}\nafter"
    noted = notes.update(Scripted([text]), REQUEST, turns(4))
    assert [finding.code for finding in noted.findings] == ["credential", "credential"]
    kept = notes.text()
    assert (token in kept, "abc" in kept, "def" in kept, kept.count(LEFT_OUT)) == (False, False, False, 2)
    assert "run make" in kept
    assert kept.endswith("after")


def test_long_sections_are_cut_and_said_so(tmp_path):
    notes = SessionNotes(str(tmp_path), "s", SMALL, limit=900)
    text = "# Title\nLong\n# Log\n" + "step and step and step\n" * 300 + "# Now\nmeasure"
    noted = notes.update(Scripted([text]), REQUEST, turns(4))
    assert [finding.code for finding in noted.findings] == ["notes-cut"]
    kept = notes.text().splitlines()
    assert (kept[-3:], kept[:2]) == ([CUT, "# Now", "measure"], ["# Title", "Long"])


def test_the_file_is_for_its_owner(tmp_path):
    notes = SessionNotes(str(tmp_path / "notes"), "s", SMALL)
    notes.update(Scripted([NOTES]), REQUEST, turns(4))
    assert stat.S_IMODE(os.stat(notes.path).st_mode) == 0o600
    assert os.listdir(tmp_path / "notes") == ["s.md"]


def test_notes_that_another_process_wrote_meanwhile_stay(tmp_path):
    mine, theirs = (SessionNotes(str(tmp_path), "s", SMALL) for _ in range(2))

    def meanwhile(_):
        theirs.update(Scripted(["# Title\nTheirs\n# Now\nNewer."]), REQUEST, turns(6))
        return NOTES

    noted = mine.update(Scripted([meanwhile]), REQUEST, turns(4))
    assert (noted.is_written, noted.reason, mine.covers) == (False, "older", "m5")
    said = "the notes were rejected, and the former stay: another process has written newer ones"
    assert noted.findings == (Finding(mine.path, None, "notes-failed", said),)
