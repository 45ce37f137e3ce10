"""A text is taken out of an archive, and the archive still restores everything else."""

import os

import pytest

from foretold.secrets.erasure.spellings import Spellings
from foretold.sessions.archive.erasure import erase_in_archive
from foretold.sessions.archive.snapshot import ArchiveContents, ArchivedFile, ArchiveSnapshot, encode_snapshot
from foretold.storage.digest import digest_of
from foretold.storage.frames import Frames

SECRET = "hunter2-hunter2"


@pytest.fixture
def frames(tmp_path):
    return Frames(str(tmp_path / "session.frames"))


def put(frames, *pieces, stream=1):
    """A stream in pieces, and a snapshot after each: a file that grew."""
    whole = b""
    for piece in pieces:
        with frames.writing() as writer:
            writer.append({"kind": "data", "stream": stream, "at": len(whole)}, piece)
            whole += piece
            file = ArchivedFile("a.jsonl", "transcripts", stream, len(whole), digest_of(whole), 0o600, 7)
            shot = ArchiveSnapshot("claude-code", "a", "/", "/a.jsonl", 1.0, title=f"use {SECRET}", files=(file,))
            writer.finish({"kind": "snapshot"}, encode_snapshot(shot))
    return whole


def read(frames):
    findings = []
    contents = ArchiveContents(frames, findings)
    assert findings == []
    return [b"".join(contents.read_file(shot.files[0])) for shot in contents.snapshots]


def test_a_text_across_frames_goes_and_every_snapshot_can_be_restored(frames):
    whole = put(frames, b"one " * 3000 + b"hunter2-", b"hunter2 two " + b"three " * 3000, SECRET.encode() + b" end")
    spellings = Spellings(SECRET)
    assert erase_in_archive(frames, spellings, apply=False) == 2 + 3  # and in the title of each snapshot
    assert read(frames)[-1] == whole
    assert erase_in_archive(frames, spellings, apply=True) == 5
    assert erase_in_archive(frames, spellings, apply=False) == 0
    clean = whole.replace(SECRET.encode(), b"x" * len(SECRET))
    assert read(frames) == [clean[:12008], clean[: 12008 + 18012], clean]
    assert [shot.title for shot in ArchiveContents(frames).snapshots] == ["use " + "x" * 15] * 3


def test_an_archive_without_it_keeps_its_bytes(frames):
    put(frames, b"nothing here\n" * 50)
    with open(frames.path, "rb") as file:
        before = file.read()
    assert erase_in_archive(frames, Spellings("not there at all"), apply=True) == 0
    with open(frames.path, "rb") as file:
        assert file.read() == before


def test_what_is_archived_later_is_in_the_new_file(frames):
    put(frames, SECRET.encode() * 3)
    old = os.stat(frames.path).st_ino
    assert erase_in_archive(frames, Spellings(SECRET), apply=True) == 4
    assert os.stat(frames.path).st_ino != old
    put(frames, b"more", stream=2)
    assert read(frames)[-1] == b"more"
