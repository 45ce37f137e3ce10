"""A title is cut after credentials were taken out of it."""

from foretold.secrets.redactor import Redactor, fingerprint
from foretold.sessions.catalog import list_sessions
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.redacted_summary import clean_title, without_credentials

from .talk import Talk

AWS = "AKIA" + "IOSFODNN7ABCDEFG"


def titled(tmp_path, prompt):
    Talk().user(prompt).says("Yes.").write(str(tmp_path))
    return list_sessions(Homes(str(tmp_path), {}))[0]


def test_a_key_that_the_title_cuts_is_taken_out_whole(tmp_path):
    stored = titled(tmp_path, "w" * 104 + f" {AWS} and more")
    assert stored.title == "w" * 104 + " AKIAIOSFODNN7A…"
    redactor = Redactor()
    assert clean_title(stored, redactor) == "w" * 104 + f" [redacted: AWS access key {fingerprint(AWS)}]…"
    assert [found.fingerprint for found in redactor.found] == [fingerprint(AWS)]


def test_a_cut_title_whose_text_is_nowhere_loses_the_cut_word():
    assert clean_title(StoredSession("codex", "1", "/nonexistent", title="use AKIAIOSF…"), Redactor()) == "use …"


def test_all_of_the_card_is_cleaned(tmp_path):
    stored = titled(tmp_path, f"use {AWS}")._replace(cwd=f"/p/{AWS}", branch=AWS)
    card = without_credentials(stored, Redactor())
    marked = f"[redacted: AWS access key {fingerprint(AWS)}]"
    assert card == stored._replace(title=f"use {marked}", cwd=f"/p/{marked}", branch=marked)
