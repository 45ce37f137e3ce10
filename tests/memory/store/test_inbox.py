"""Proposed changes that wait for a person."""

import pytest

from foretold.errors import BadName, MemoryChanged, MemoryExists, NoSuchMemory, NotSynced, WriteRefused
from foretold.memory.store.inbox import Inbox, Proposal

from ..machines import Quick, files_of, problems, store_in, text_of


@pytest.fixture
def store(tmp_path):
    made = store_in(str(tmp_path / "store"), policy="confirm")
    made.put("user_a.md", text_of("a", "A."))
    return made


def test_a_proposal_waits_until_it_is_accepted(store):
    inbox = Inbox(store)
    made = inbox.propose("create", "user_b.md", text_of("b", "B."), session="s", why="because")
    assert inbox.waiting() == [
        Proposal(made.id, made.time, "create", "user_b.md", text_of("b", "B."), "", "s", "because")
    ]
    assert inbox.diff(made).splitlines()[:3] == ["--- a/user_b.md", "+++ b/user_b.md", "@@ -0,0 +1,9 @@"]
    assert "user_b.md" not in files_of(store)
    assert inbox.accept(made.id[:4]).text == text_of("b", "B.")
    assert (inbox.waiting(), files_of(store)["user_b.md"]) == ([], text_of("b", "B.").encode())
    assert [(change.by, change.session, change.why) for change in store.log("user_b.md")] == [
        ("agent", "s", f"because, proposal {made.id}, accepted")
    ]
    assert problems(store, ()) == []


def test_edits_and_deletes_compare(store):
    inbox = Inbox(store)
    looked = store.read("user_a.md").digest
    edit = inbox.propose("edit", "user_a.md", text_of("a", "Edited."), expect=looked)
    gone = inbox.propose("delete", "user_a.md", expect=looked)
    store.edit("user_a.md", text=text_of("a", "By the user."))
    for proposal in (edit, gone):
        with pytest.raises(MemoryChanged):
            inbox.accept(proposal.id)
    assert [each.id for each in inbox.waiting()] == [edit.id, gone.id]
    assert files_of(store) == {"user_a.md": text_of("a", "By the user.").encode()}
    store.restore("user_a.md")
    assert inbox.accept(gone.id).op == "delete"
    with pytest.raises(NoSuchMemory):
        inbox.accept(edit.id)
    inbox.refuse(edit.id, "too late")
    assert (inbox.waiting(), files_of(store)) == ([], {})


def test_a_proposal_does_not_replace_what_is_there(store):
    inbox = Inbox(store)
    made = inbox.propose("create", "user_a.md", "Other.")
    with pytest.raises(MemoryExists):
        inbox.accept(made.id)
    assert inbox.refuse(made.id) == made
    with pytest.raises(NoSuchMemory, match="0 proposals match"):
        inbox.accept(made.id)
    assert files_of(store) == {"user_a.md": text_of("a", "A.").encode()}


@pytest.mark.parametrize("op", ["create", "edit", "delete"])
def test_an_answer_that_was_lost_can_be_given_again(tmp_path, store, op):
    class Lost(Quick):
        def call(self, name, *args, **options):
            if name == "open" and str(args[0]).endswith("inbox.jsonl"):
                raise OSError(28, "No space left on device")
            return super().call(name, *args, **options)

    file = "user_b.md" if op == "create" else "user_a.md"
    expect = "" if op == "create" else store.read(file).digest
    made = Inbox(store).propose(op, file, "" if op == "delete" else "New.", expect=expect)
    with pytest.raises(NotSynced, match=r"is changed, but the inbox does not record that yet: .*\. Accept it again"):
        Inbox(store_in(str(tmp_path / "store"), Lost())).accept(made.id)
    after, changes = files_of(store), len(store.log())
    Inbox(store).accept(made.id)
    assert (Inbox(store).waiting(), files_of(store), len(store.log())) == ([], after, changes)
    assert after.get(file) == (None if op == "delete" else b"New.")


@pytest.mark.parametrize("policy", ["manual", "read-only"])
def test_nothing_is_proposed_where_agents_have_no_say(tmp_path, policy):
    store = store_in(str(tmp_path / "store"), policy=policy)
    with pytest.raises(WriteRefused, match=f"the write policy is {policy}: nothing is proposed here"):
        Inbox(store).propose("create", "user_a.md", "A.")
    assert Inbox(store).waiting() == []


@pytest.mark.parametrize("file", ["../a.md", "/etc/a.md", "a\0.md", "a.txt", "..\\a.md"])
def test_no_proposal_leads_out_of_the_store(store, file):
    for op in ("create", "edit", "delete"):
        with pytest.raises(BadName):
            Inbox(store).propose(op, file, "x")
    assert Inbox(store).waiting() == []


def test_ids_that_mean_several_are_none(store):
    inbox = Inbox(store)
    for number in range(20):
        inbox.propose("create", f"user_{number}.md", str(number))
    for short in ("", inbox.waiting()[0].id[:3]):  # not even one that no other starts with
        with pytest.raises(NoSuchMemory, match=f"0 proposals match '{short}'"):
            inbox.get(short)


def test_renames_and_stale_proposals(store):
    inbox = Inbox(store)
    store.create("Old", type="user", description="d", body="b")
    made = inbox.propose("rename", "user_old.md", "New", expect=store.get("old").digest)
    assert (inbox.diff(made), inbox.is_stale(made)) == ("the new name: New\n", False)
    store.edit("old", body="c")
    assert inbox.is_stale(made)
    with pytest.raises(MemoryChanged):
        inbox.accept(made.id)
    again = inbox.propose("rename", "user_old.md", "New", expect=store.get("old").digest)
    assert inbox.accept(again.id).file == "user_new.md"
