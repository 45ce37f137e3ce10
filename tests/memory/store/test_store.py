"""A store of memories: writing, comparing, restoring, policies, and other programs in between."""

import os
import subprocess
import threading

import pytest

from foretold.errors import (
    BadName,
    ForetoldError,
    MemoryChanged,
    MemoryExists,
    NoSuchMemory,
    NotSynced,
    StoreFailed,
    WriteRefused,
)
from foretold.memory.note import INDEX, MAX_FILE, read_note
from foretold.memory.store.index_file import entries_of
from foretold.memory.store.store import title_metadata
from foretold.storage.digest import digest_of
from foretold.storage.kernel import KERNEL

from ..machines import Quick, Worker, files_of, lost, problems, store_in, tree


@pytest.fixture
def store(tmp_path):
    return store_in(str(tmp_path / "store"))


def save(store, file, text):
    """What an editor does: write beside, rename."""
    path = os.path.join(store.path, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}~", "wb") as opened:
        opened.write(text)
    os.replace(f"{path}~", path)


def told(changes):
    return [(change.op, change.file, change.by) for change in changes]


ROLE = """---
name: my-role
description: a chemist
metadata:{}
  node_type: memory
  type: user
---

I work in a laboratory.
""".format(" ")


# Writing and reading


def test_a_memory_from_its_creation_to_its_end(store):
    made = store.create("My role", type="user", description="a  chemist", body="\nI work in a laboratory.\n\n")
    assert (made.file, made.text, made.digest) == ("user_my_role.md", ROLE, digest_of(ROLE.encode()))
    assert store.index() == "- [My role](user_my_role.md) — a chemist\n"
    edited = store.edit("my-role", description="a baker", body="I bake.")
    assert (edited.description, edited.body, edited.type) == ("a baker", "I bake.", "user")
    assert store.index() == "- [My role](user_my_role.md) — a baker\n"
    moved = store.rename("user_my_role", "My trade")
    assert (moved.file, moved.name, moved.body) == ("user_my_trade.md", "my-trade", "I bake.")
    assert store.index() == "- [My trade](user_my_trade.md) — a baker\n"
    gone = store.delete("my-trade", why="retired")
    assert (gone.op, gone.file, gone.why) == ("delete", "user_my_trade.md", "retired")
    assert (store.index(), files_of(store), store.memories()) == ("", {}, [])
    assert told(store.log("my-trade")) == [
        ("create", "user_my_role.md", "user"),
        ("edit", "user_my_role.md", "user"),
        ("rename", "user_my_trade.md", "user"),
        ("delete", "user_my_trade.md", "user"),
    ]
    assert problems(store, ()) == []


def test_what_is_returned_is_what_is_on_the_disk(store):
    for file, text, data in (
        ("user_a.md", "\ufeffText\r\n", b"\xef\xbb\xbfText\r\n"),
        ("user_b.md", b"\xff\xfe", b"\xff\xfe"),
        ("user_c.md", "\ud800", b"?"),
        ("user_d.md", "", b""),
    ):
        made = store.put(file, text)
        assert made._replace(changed=0.0) == read_note(file, data)
        assert store.read(file)._replace(changed=0.0) == read_note(file, data)


def test_names_that_a_memory_cannot_have(store):
    for file in (INDEX, "memory.md", "../a.md", "a.txt"):
        with pytest.raises(BadName, match="cannot be used as a file name"):
            store.put(file, "x")
    with pytest.raises(BadName, match="no letter or digit"):
        store.create("!!!", type="user", description="", body="")
    with pytest.raises(WriteRefused, match="is not a type of memory"):
        store.create("a", type="secret", description="", body="")
    store.put("user_a.md", "A.")
    with pytest.raises(MemoryExists):
        store.put("User_A.md", "B.")
    with pytest.raises(MemoryExists):
        store.create("a", type="user", description="", body="")
    assert files_of(store) == {"user_a.md": b"A."}
    assert told(store.log()) == [("create", "user_a.md", "user")]


def test_a_name_of_several_memories_is_none(store):
    store.put("one/a.md", "A.")
    store.put("two/a.md", "A.")
    with pytest.raises(NoSuchMemory, match=r"'a\.md' is the name of 2 memories; give the file: one/a\.md, two/a\.md"):
        store.edit("a.md", body="x")
    with pytest.raises(NoSuchMemory, match="no memory is named 'b'"):
        store.delete("b")
    assert store.edit("one/a", text="B.").file == "one/a.md"


def test_what_is_too_large_is_refused_before_it_is_written(store):
    with pytest.raises(StoreFailed, match=r"would have more than 4,194,304 bytes\. Nothing was changed"):
        store.put("user_a.md", "x" * (MAX_FILE + 1))
    assert (store.log(), files_of(store)) == ([], {})
    assert store.put("user_a.md", "x" * MAX_FILE).digest == digest_of(b"x" * MAX_FILE)


def test_an_edit_compares(store):
    looked = store.put("user_a.md", "one")
    store.edit("user_a.md", text="two")
    for act in (lambda: store.edit("user_a.md", text="three", expect=looked.digest),
                lambda: store.delete("user_a.md", expect=looked.digest)):  # fmt: skip
        with pytest.raises(MemoryChanged):
            act()
    assert files_of(store) == {"user_a.md": b"two"}
    assert store.edit("user_a.md", text="two").digest == digest_of(b"two")
    assert len(store.log()) == 2


def test_what_an_editor_saves_between_look_and_write_is_kept(tmp_path):
    class Between(Quick):
        def call(self, name, *args, **options):
            if name == "exchange" and acts:
                acts.pop()()
            return super().call(name, *args, **options)

    acts = []
    store = store_in(str(tmp_path / "store"), Between())
    store.put("user_a.md", "one")
    acts.append(lambda: save(store, "user_a.md", b"theirs"))
    with pytest.raises(MemoryChanged):
        store.edit("user_a.md", text="ours")
    assert files_of(store) == {"user_a.md": b"theirs"}
    assert told(store.log())[1:] == [
        ("edit", "user_a.md", "user"),
        ("leftover", "leftover.md", "other"),  # what was met is written down at once: it may be gone by the next look
        ("edit", "user_a.md", "other"),
    ]
    acts.append(lambda: save(store, INDEX, b"Theirs.\n"))
    store.put("user_b.md", "B.")
    assert store.index() == "Theirs.\n\n- [User b](user_b.md)\n- [User a](user_a.md)\n"
    assert problems(store, ["Theirs."], leftovers=True) == []


def test_a_rename_that_cannot_take_the_old_file_takes_itself_back(tmp_path):
    class Between(Quick):
        def call(self, name, *args, **options):
            if name == "link" and acts:
                acts.pop()()
            return super().call(name, *args, **options)

    acts = []
    store = store_in(str(tmp_path / "store"), Between())
    store.put("user_a.md", "one")
    acts.append(lambda: save(store, "user_a.md", b"theirs"))
    with pytest.raises(MemoryChanged):
        store.rename("user_a.md", "b")
    assert files_of(store) == {"user_a.md": b"theirs"}
    assert problems(store, ()) == []


def test_a_file_without_utf8_comes_back_byte_by_byte(store):
    save(store, "user_a.md", b"\xff\x00 bytes")
    assert [finding.code for memory in store.memories() for finding in memory.findings] == ["not-utf8"]
    store.delete("user_a.md")
    store.restore("user_a.md")
    assert files_of(store) == {"user_a.md": b"\xff\x00 bytes"}


# The index


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_an_index_that_cannot_be_read_stops_writing_and_nothing_else(store, tmp_path, kind):
    store.put("user_a.md", "A.")
    path = os.path.join(store.path, INDEX)
    os.unlink(path)
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    if kind == "link":
        os.symlink(outside, path)
    else:
        os.mkdir(path)
    for act in (lambda: store.put("user_b.md", "B."), lambda: store.delete("user_a.md"), store.reindex):
        with pytest.raises(StoreFailed, match=r"^cannot read MEMORY\.md"):
            act()
    assert (files_of(store), outside.read_text()) == ({"user_a.md": b"A."}, "secret")
    assert [memory.body for memory in store.memories()] == ["A."]
    assert told(store.log()) == [("create", "user_a.md", "user")]


def test_what_an_agent_added_is_adopted(store):
    store.put("user_a.md", "A.")
    save(store, "user_agent.md", b"---\nname: agent\ndescription: said so\n---\nAgent.\n")
    save(store, INDEX, b"# Mine\n- [User a](user_a.md)\n- [Agent's own](user_agent.md): in its words\n")
    store.put("user_b.md", "B.")
    assert store.index() == (
        "# Mine\n- [User a](user_a.md)\n- [Agent's own](user_agent.md): in its words\n- [User b](user_b.md)\n"
    )
    assert told(store.log()) == [
        ("create", "user_a.md", "user"),
        ("create", "user_agent.md", "other"),
        ("edit", INDEX, "other"),
        ("create", "user_b.md", "user"),
    ]
    store.edit("user_agent.md", description="said otherwise")
    assert "- [Agent's own](user_agent.md): in its words" in store.index()


def test_an_index_of_windows_and_bytes_that_are_no_text(store):
    save(store, INDEX, b"# Mine \xff\r\n\r\nKeep.\r\n")
    store.put("user_a.md", "A.")
    with open(os.path.join(store.path, INDEX), "rb") as file:
        assert file.read() == b"# Mine \xff\r\n\r\nKeep.\r\n\r\n- [User a](user_a.md)\r\n"


def test_reindex_brings_the_index_in_step(store):
    save(store, INDEX, b"# Mine\n- [Never seen](later.md)\n- [A](user_a.md)\n")
    for name in "abc":
        save(store, f"user_{name}.md", name.encode())
    store.notice()
    os.unlink(os.path.join(store.path, "user_a.md"))
    assert store.reindex() == "# Mine\n- [Never seen](later.md)\n- [User b](user_b.md)\n- [User c](user_c.md)\n"
    assert next(change.data for change in store.log() if change.file == INDEX).startswith(b"# Mine\n- [Never")
    before = store.log()
    assert store.reindex() == store.index()
    assert store.log() == before


def test_the_index_cannot_follow_and_that_is_said(tmp_path):
    class Full(Quick):
        def call(self, name, *args, **options):
            if name == "link":
                linked.append(args)
            if name == "open" and linked:
                raise OSError(28, "No space left on device")
            return super().call(name, *args, **options)

    linked = []
    store = store_in(str(tmp_path / "store"), Full())
    with pytest.raises(NotSynced) as raised:
        store.put("user_a.md", "A.")
    assert str(raised.value) == (
        "user_a.md is changed, but MEMORY.md does not follow yet: cannot write MEMORY.md: the disk is full; "
        "free some space and try again. Try: foretold memory doctor --fix"
    )
    fresh = store_in(str(tmp_path / "store"))
    fresh.put("user_b.md", "B.")
    assert problems(fresh, ()) == []


# History


def test_restoring_what_was(store):
    store.put("user_a.md", "one")
    store.edit("user_a.md", text="two")
    store.edit("user_a.md", text="three")
    assert store.restore("user_a.md").text == "two"
    assert store.restore("user_a.md", at=1).text == "one"
    store.delete("user_a.md")
    back = store.restore("user_a.md", at=3)
    assert (back.file, back.text, store.log()[-1].why) == ("user_a.md", "three", "as of change 3")
    store.rename("user_a.md", "b")
    store.delete("user_b.md")
    assert store.restore("user_b.md").file == "user_b.md"
    assert store.restore("user_a.md", at=2).file == "user_a.md"
    assert sorted(files_of(store)) == ["user_a.md", "user_b.md"]
    with pytest.raises(NoSuchMemory, match=r"the history has no change 99 of 'user_a\.md'"):
        store.restore("user_a.md", at=99)
    with pytest.raises(NoSuchMemory, match="the history has no earlier version of 'never'"):
        store.restore("never")
    assert problems(store, ()) == []


def test_a_delete_by_another_program_can_be_undone(store):
    store.put("user_a.md", "A.")
    os.unlink(os.path.join(store.path, "user_a.md"))
    assert store.restore("user_a.md").text == "A."
    assert told(store.log()) == [
        ("create", "user_a.md", "user"),
        ("delete", "user_a.md", "other"),
        ("restore", "user_a.md", "user"),
    ]


# Policies


@pytest.mark.parametrize(
    ("policy", "user", "agent"),
    [("auto", True, True), ("confirm", True, False), ("manual", True, False), ("read-only", False, False)],
)
def test_who_may_write(tmp_path, policy, user, agent):
    store_in(str(tmp_path / "store")).put("user_a.md", "A.")
    store = store_in(str(tmp_path / "store"), policy=policy)
    for by, may in (("user", user), ("agent", agent)):
        acts = (
            lambda by=by: store.put(f"user_by_{by}.md", "B.", by=by),
            lambda by=by: store.edit("user_a.md", text=f"Edited by {by}.", by=by),
            lambda by=by: store.rename("user_a.md", f"Renamed by {by}", by=by),
            lambda by=by: store.restore("user_a.md", at=1, by=by),
            lambda by=by: store.delete(f"user_by_{by}.md", by=by),
            lambda by=by: store.reindex(by=by),
        )
        for act in acts:
            if may:
                act()
            else:
                with pytest.raises(WriteRefused, match=f"the write policy is {policy}"):
                    act()
    assert ("user_a.md" in files_of(store)) is True
    if not user:
        assert files_of(store) == {"user_a.md": b"A."}


# Other programs


def test_files_whose_names_we_would_not_give_stop_nobody(store):
    store.put("user_a.md", "A.")
    for name in ("100%.md", "what?.md", "-x.md", "~x.md", "a:b.md"):
        save(store, name, b"theirs")
    with open(os.fsencode(store.path) + b"/\xff.md", "wb") as file:
        file.write(b"theirs")
    findings = []
    store.put("user_b.md", "B.")
    assert [memory.file for memory in store.memories(findings)] == ["user_a.md", "user_b.md"]
    assert {finding.code for finding in findings} == {"memory-name"}
    assert len(findings) == 6


def test_a_checkout_under_our_feet(tmp_path):
    root = str(tmp_path / "store")
    store = store_in(root)
    store.put("user_a.md", "A.")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]

    def git(*words):
        subprocess.run(["git", *who, *words], cwd=store.path, env=env, check=True, capture_output=True)

    git("init", "-q", "-b", "one")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "two")
    save(store, "user_a.md", b"A of two.")
    save(store, "user_two.md", b"Two.")
    git("add", ".")
    git("commit", "-qm", "two")
    workers = [Worker(root, f"g{number}", 12) for number in range(2)]
    for branch in ("one", "two") * 4:
        workers[0].line()
        git("checkout", "-qf", branch)
    assert [worker.end() for worker in workers] == ["", ""]
    git("checkout", "-qf", "one")
    store = store_in(root)
    store.put("user_last.md", "Last.")
    acknowledged = {key: ack for worker in workers for key, ack in worker.acknowledged().items()}
    changes = store.log()
    named = {change.session for change in changes}
    assert acknowledged.keys() <= named
    assert [each for each in lost(store, acknowledged) if "by nobody" not in each] == []
    assert problems(store, (), leftovers=True) == []
    texts = {change.data for change in changes}
    assert {b"A.", b"A of two.", b"Two."} <= texts


def test_the_folder_is_replaced_by_another_one_while_others_write(tmp_path):
    root = str(tmp_path / "store")
    store = store_in(root)
    store.put("user_a.md", "A.")
    other = f"{store.path}.other"
    os.mkdir(other)
    workers = [Worker(root, f"r{number}", 12) for number in range(2)]
    top = os.open(root, os.O_RDONLY)
    for _ in range(6):
        workers[0].line()
        KERNEL.exchange("memory", "memory.other", top, top)
    os.close(top)
    assert [worker.end() for worker in workers] == ["", ""]
    store = store_in(root)
    store.put("user_last.md", "Last.")
    acknowledged = {key: ack for worker in workers for key, ack in worker.acknowledged().items()}
    assert [each for each in lost(store, acknowledged) if "by nobody" not in each] == []
    assert problems(store, ()) == []


def test_threads_of_one_process_share_a_store(store):
    failed = []

    def work(number):
        try:
            for each in range(8):
                store.put(f"user_{number}_{each}.md", "x")
        except ForetoldError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (failed, len(files_of(store))) == ([], 32)
    assert problems(store, ()) == []


def test_a_store_that_is_not_there_is_empty_and_not_made_by_looking(store, tmp_path):
    assert (store.memories(), store.index(), store.notice(), store.log()) == ([], "", [], [])
    assert tree(tmp_path) == {}


def test_restoring_after_a_rename_takes_it_back(store):
    store.create("Retry", type="project", description="d", body="one")
    store.rename("retry", "Retry policy")
    assert store.restore("retry-policy").file == "project_retry.md"
    assert list(files_of(store)) == ["project_retry.md"]
    assert [(change.op, change.file, change.old) for change in store.log("retry")] == [
        ("create", "project_retry.md", ""),
        ("rename", "project_retry_policy.md", "project_retry.md"),
        ("restore", "project_retry.md", "project_retry_policy.md"),
    ]


def test_restoring_a_version_changes_no_other_memory(store):
    store.create("Mocks", type="feedback", description="d", body="one")
    store.create("Other", type="feedback", description="d", body="other")
    store.rename("mocks", "Sandbox")
    store.edit("sandbox", body="two")
    assert store.restore("sandbox", at=1).file == "feedback_sandbox.md"
    assert list(files_of(store)) == ["feedback_other.md", "feedback_sandbox.md"]
    assert store.get("feedback_sandbox.md").body == "one"
    with pytest.raises(NoSuchMemory, match=r"'feedback_mocks.md' is called feedback_sandbox.md now"):
        store.restore("feedback_mocks.md")


def test_a_hand_worded_entry_comes_back_with_its_memory(store):
    store.create("Small PRs", type="feedback", description="tiny pull requests", body="b")
    store.create("Other", type="user", description="d", body="b")
    line = "- [Small PRs](feedback_small_prs.md) — in my own words"
    index = store.index().split("\n")
    with open(f"{store.path}/MEMORY.md", "w", encoding="utf-8") as file:
        file.write("\n".join(["# Mine", "", line, *index[1:]]))
    store.delete("feedback_small_prs")
    assert line not in store.index()
    store.restore("feedback_small_prs")
    assert line in store.index().split("\n")


def test_an_index_that_somebody_deletes_is_missed_and_comes_back_in_step(store):
    for topic in ("a", "b", "c"):
        store.create(topic, type="user", description="d", body="b")
    with open(f"{store.path}/MEMORY.md", "a", encoding="utf-8") as file:
        file.write("\nMine.\n")
    store.notice()
    os.unlink(f"{store.path}/MEMORY.md")
    store.create("d", type="user", description="d", body="b")
    assert [(change.op, change.by) for change in store.log("MEMORY.md")] == [("edit", "other"), ("delete", "other")]
    assert "Mine." not in store.index()
    store.restore("MEMORY.md")
    assert "Mine." in store.index()
    assert [entry.file for entry in entries_of(store.index())] == [f"user_{topic}.md" for topic in "abcd"]


def test_title_metadata():
    assert (title_metadata("Deploys"), title_metadata("GraphQL URLs")) == ({}, {"title": "GraphQL URLs"})


def test_a_file_that_the_index_does_not_name_is_adopted_at_once(store):
    store.put("user_a.md", "A.")
    store.add_to_index("My own line.")
    save(store, "auto/later.md", b"---\nname: later\ndescription: about later\n---\nL.")
    assert "later.md" not in store.index()
    assert store.adopt() == ("auto/later.md",)
    lines = store.index().splitlines()
    assert lines[:2] == ["- [User a](user_a.md)", "- [Later](auto/later.md) — about later"]
    assert "My own line." in lines
    changes = [(change.op, change.file, change.why) for change in store.log()][-2:]
    assert changes == [
        ("create", "auto/later.md", ""),
        ("edit", "MEMORY.md", "files that the index did not name"),
    ]
    before = store.index()
    assert (store.adopt(), store.index()) == ((), before)


def test_who_may_not_write_adopts_nothing(tmp_path):
    store = store_in(str(tmp_path / "store"), policy="confirm")
    save(store, "later.md", b"L.")
    with pytest.raises(WriteRefused):
        store.adopt(by="agent")
    assert (store.index(), store.adopt(by="user")) == ("", ("later.md",))


def test_files_with_the_type_at_the_top_level(store):
    """An option of the store: for programs that know this form alone."""
    store.flat = True
    made = store.create("user role", type="user", description="a data scientist", body="Works on logging.")
    assert made.text == "---\nname: user role\ndescription: a data scientist\ntype: user\n---\nWorks on logging.\n"
    assert (made.file, made.name, made.type, made.title) == ("user_role.md", "user role", "user", "User role")
    assert store.index() == "- [User role](user_role.md) — a data scientist\n"
    edited = store.edit("user role", body="Works on traces.", type="project")
    assert edited.text.endswith("type: project\n---\nWorks on traces.\n")
    signed = store.create("Tabs", type="feedback", description="d", body="Use tabs.", session="s-1")
    assert signed.text.replace("metadata: \n", "metadata:\n") == (
        "---\nname: Tabs\ndescription: d\ntype: feedback\nmetadata:\n  originSessionId: s-1\n---\nUse tabs.\n"
    )
    assert signed.metadata == {"type": "feedback", "originSessionId": "s-1"}
