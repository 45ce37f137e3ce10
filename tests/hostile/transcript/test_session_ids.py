"""An id of a session that is a path: no function leaves the folder of the sessions with it, to read or to write."""

import os

import pytest

from foretold.compat import notes
from foretold.errors import ForetoldError
from foretold.files.history.history import FileHistory
from foretold.harness.harness import Harness
from foretold.memory.extraction.session_notes import SessionNotes
from foretold.models.scripted import Scripted
from foretold.sessions.formats.claude.reader import sibling_path
from foretold.sessions.model import Homes
from foretold.sessions.transcript.fork import fork
from foretold.sessions.transcript.writer import subagent_path, transcript_path

IDS = ("../evil", "..", ".", "/abs", "a/b", "x\0y", "a\\..\\b", " ", "x\ny", "../../.ssh/id", "n" * 300, "\udcff")


def around(place):
    return {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": {}}


def files_below(folder):
    return sorted(os.path.join(top, name) for top, folders, names in os.walk(folder) for name in (*folders, *names))


@pytest.mark.parametrize("name", IDS)
def test_nothing_is_written_for_an_id_that_is_a_path(place, name):
    before = files_below(place.root)
    for use in (
        lambda: notes.get_transcript_path(name, **around(place)),
        lambda: notes.open_transcript(name, sync=False, **around(place)),
        lambda: notes.open_session_memory(name, **around(place)),
        lambda: SessionNotes(place.home, name),
        lambda: transcript_path(place.proj, name, Homes(place.home, {})),
        lambda: subagent_path(f"{place.home}/4d1f.jsonl", name),
        lambda: sibling_path(f"{place.home}/4d1f.jsonl", name),
        lambda: FileHistory(f"{place.home}/file-history", name, place.proj),
        lambda: Harness(place.proj, model=Scripted([]), session=name, home=place.home, env={}),
    ):
        with pytest.raises(ForetoldError, match=r"cannot be the id of a session|is not a UUID"):
            use()
    assert files_below(place.root) == before


@pytest.mark.parametrize("name", IDS)
def test_nothing_is_read_for_an_id_that_is_a_path(place, name, monkeypatch):
    monkeypatch.chdir(place.proj)
    place.write("home/.claude/sessions/keep/transcript.jsonl", "")
    place.write("home/.claude/evil/transcript.jsonl", '{"type": "user"}\n')
    place.write("home/.claude/transcript.jsonl", '{"type": "user"}\n')
    place.write("home/.claude/projects/evil.jsonl", '{"type": "user"}\n')
    for use in (
        lambda: notes.find_transcript(name, **around(place)),
        lambda: notes.file_history_state(name, **around(place)),
        lambda: notes.resume_session(name, **around(place)),
        lambda: Harness.resume(name, place.proj, model=Scripted([]), home=place.home, env={}),
    ):
        with pytest.raises(ForetoldError, match=r"no session is called|named by its id"):
            use()


def test_a_fork_stays_next_to_its_session(place):
    with notes.open_transcript("4d1f", sync=False, **around(place)) as transcript:
        transcript.user("Hello")
        transcript.assistant({"model": "m", "content": "Hi."})
    with pytest.raises(ForetoldError, match="cannot be the id"):
        fork(transcript.path, session="../../evil")
    assert not os.path.exists(f"{place.home}/evil")


def test_a_title_with_a_slash_still_finds_its_session(place):
    with notes.open_transcript("4d1f", sync=False, **around(place)) as transcript:
        transcript.user("Hello")
        transcript.title("fix a/b")
    assert notes.find_transcript("fix a/b", **around(place)) == transcript.path
