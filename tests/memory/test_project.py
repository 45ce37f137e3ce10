"""The memories of a project: stores on top of each other, policies, proposals, names."""

import os

import pytest

import foretold
from foretold.errors import BadName, MemoryChanged, MemoryExists, NoSuchMemory, WriteRefused
from foretold.memory import Memory, Proposal
from foretold.memory.location import load_identity

AGENT = {"by": "agent", "session": "s1", "why": "it was said"}


def opened(place, cwd="proj", **options):
    given = {"home": place.home, "managed": place.managed, "env": {}, **options}
    return foretold.memory.open(place.path(cwd), **given)


def add(memories, topic="Tabs", body="Use tabs.", **said):
    return memories.create(topic, type="feedback", description=f"about {topic}", body=body, **said)


def told(memories):
    return [(each.file, each.scope, each.body) for each in memories.memories()]


@pytest.fixture
def trees(place):
    """A repository with a worktree, and settings that lay its memories over those of the main one."""
    place.git("init -q")
    place.write("proj/a", "a")
    place.git("add -A")
    place.git("commit -qm a")
    place.git("worktree add -q ../tree")
    place.write("home/.config/foretold/config.toml", '[memory]\nworktrees = "overlay"\n')
    return place


# -- overlay ---------------------------------------------------------------------------------------------------


def test_an_overlay_reads_through(trees):
    main, tree = opened(trees), opened(trees, "tree")
    add(main, "Low", "below")
    add(tree, "High", "on top")
    assert told(main) == [("feedback_low.md", "private", "below")]
    assert told(tree) == [("feedback_high.md", "private", "on top"), ("feedback_low.md", "private", "below")]
    assert tree.get("low").body == "below"


def test_an_edit_copies_up(trees):
    main, tree = opened(trees), opened(trees, "tree")
    add(main, "Low", "below")
    made = tree.edit("low", body="changed here")
    assert (made.body, tree.get("low").body, main.get("low").body) == ("changed here", "changed here", "below")
    assert told(tree) == [("feedback_low.md", "private", "changed here")]
    tree.edit("low", body="again")
    assert (tree.get("low").body, main.get("low").body) == ("again", "below")


def test_an_edit_from_below_compares(trees):
    main, tree = opened(trees), opened(trees, "tree")
    digest = add(main, "Low", "below").digest
    main.edit("low", body="newer")
    with pytest.raises(MemoryChanged):
        tree.edit("low", body="lost", expect=digest)
    assert told(tree) == [("feedback_low.md", "private", "newer")]


def test_deleting_takes_the_nearest_and_not_the_lower_one(trees):
    main, tree = opened(trees), opened(trees, "tree")
    add(main, "Low", "below")
    tree.edit("low", body="on top")
    tree.delete("low")
    assert told(tree) == [("feedback_low.md", "private", "below")]
    for change in (lambda: tree.delete("low"), lambda: tree.rename("low", "Lower")):
        with pytest.raises(WriteRefused, match="'low' belongs to the repository, not to this worktree; run this with"):
            change()
    assert told(main) == [("feedback_low.md", "private", "below")]


# -- policies --------------------------------------------------------------------------------------------------


def test_auto_lets_agents_write(place):
    memories = opened(place)
    assert isinstance(add(memories, **AGENT), Memory)
    assert [(each.by, each.session, each.why) for each in memories.log()] == [("agent", "s1", "it was said")]


def test_confirm_makes_proposals_of_what_agents_write(place):
    memories = opened(place, policy="confirm")
    kept = add(memories, "Kept")
    new = add(memories, **AGENT)
    changed = memories.edit("kept", body="Other.", **AGENT)
    gone = memories.delete("kept", **AGENT)
    assert [type(each) for each in (new, changed, gone)] == [Proposal] * 3
    assert [(each.op, each.file, each.expect, each.scope) for each in memories.inbox.waiting()] == [
        ("create", "feedback_tabs.md", "", "private"),
        ("edit", "feedback_kept.md", kept.digest, "private"),
        ("delete", "feedback_kept.md", kept.digest, "private"),
    ]
    assert told(memories) == [("feedback_kept.md", "private", "Use tabs.")]
    assert memories.inbox.accept(new.id).body == "Use tabs."
    assert memories.inbox.accept(changed.id).body == "Other."
    with pytest.raises(MemoryChanged):
        memories.inbox.accept(gone.id)
    assert [each.id for each in memories.inbox.waiting()] == [gone.id]
    assert memories.inbox.refuse(gone.id[:5]).file == "feedback_kept.md"
    assert memories.inbox.waiting() == []


@pytest.mark.parametrize(("policy", "user_may"), [("manual", True), ("read-only", False)])
def test_manual_and_read_only_refuse(place, policy, user_may):
    add(opened(place), "Old")
    memories = opened(place, policy=policy)
    for change in (
        lambda: add(memories, **AGENT),
        lambda: memories.edit("old", body="x", **AGENT),
        lambda: memories.delete("old", **AGENT),
        lambda: memories.rename("old", "New", **AGENT),
        lambda: memories.inbox.propose("create", "a.md", "x"),
    ):
        with pytest.raises(WriteRefused):
            change()
    if user_may:
        assert add(memories).file == "feedback_tabs.md"
    else:
        with pytest.raises(WriteRefused):
            add(memories)
    assert memories.get("old").body == "Use tabs."


def test_a_proposal_for_what_lies_below_is_made_where_it_belongs(trees):
    main, tree = opened(trees, policy="confirm"), opened(trees, "tree", policy="confirm")
    add(main, "Low", "below")
    edit = tree.edit("low", body="on top", **AGENT)
    assert (tree.inbox.accept(edit.id).body, main.get("low").body) == ("on top", "below")
    tree.delete("low")
    with pytest.raises(WriteRefused, match="to the repository"):
        tree.delete("low", **AGENT)
    assert told(main) == [("feedback_low.md", "private", "below")]


def test_agents_propose_to_the_team_also_if_they_may_write(place):
    place.folder("proj/.git")
    memories = opened(place)
    add(memories)
    memories.share(memories.plan_share("tabs"))
    memories.delete("tabs")
    proposal = memories.edit("tabs", body="Spaces.", **AGENT)
    assert (proposal.scope, memories.get("tabs").body) == ("team", "Use tabs.")
    assert memories.inbox.diff(proposal).endswith("-Use tabs.\n+Spaces.\n")
    assert memories.inbox.accept(proposal.id).scope == "team"
    assert told(memories) == [("feedback_tabs.md", "team", "Spaces.")]
    with pytest.raises(WriteRefused, match="credential"):
        memories.edit("tabs", body="password: " + "hG7" + "$kq9Zp2", **AGENT)


def test_a_type_that_is_none_is_refused_before_it_is_proposed(place):
    memories = opened(place, policy="confirm")
    with pytest.raises(WriteRefused, match="'secret' is not a type of memory; use one of user, feedback"):
        memories.create("A", type="secret", description="d", body="b", by="agent")
    with pytest.raises(BadName):
        memories.create("A", type="user", description="d", body="b", file="../a.md", by="agent")
    assert memories.inbox.waiting() == []


def test_a_credential_is_refused_unless_it_is_allowed(place):
    memories, token = opened(place), "gh" + "p_" + "a1B2" * 9
    about = {"type": "project", "description": "how we deploy"}
    for by in ("user", "agent"):
        with pytest.raises(WriteRefused, match=r"credential \(GitHub token\).*allow_credentials=True") as refused:
            memories.create("Deploys", body=f"Use {token}.", by=by, **about)
        assert token not in str(refused.value)
    with pytest.raises(WriteRefused, match="credential"):
        memories.create(token, body="Use it.", **about)
    assert memories.memories() == []
    made = memories.create("Deploys", body=f"Use {token}.", allow_credentials=True, **about)
    assert memories.edit(made.file, description="known ones stay").description == "known ones stay"
    with pytest.raises(WriteRefused, match="credential"):
        memories.edit(made.file, body=f"Use {token[:-4]}zZ09.")
    assert memories.edit(made.file, body="Use it.", allow_credentials=True).body == "Use it."


# -- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["feedback_tabs.md", "feedback_tabs", "tabs"])
def test_a_memory_by_file_or_name(place, name):
    memories = opened(place)
    made = add(memories)
    assert memories.get(name).text == made.text


def test_a_name_of_two(place):
    memories = opened(place)
    add(memories)
    memories.create("Tabs", type="user", description="d", body="b")
    said = "'tabs' is the name of 2 memories; give the file: feedback_tabs.md, user_tabs.md"
    for ask in (memories.get, memories.delete, lambda name: memories.edit(name, body="x")):
        with pytest.raises(NoSuchMemory) as caught:
            ask("tabs")
        assert str(caught.value) == said
    assert memories.get("user_tabs").body == "b"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("feedback_tab", ", did you mean 'feedback_tabs'?"),
        ("zzz", ""),
        ("", ""),
        ("../x", ""),
        ("\x1b[31m", ""),
    ],
)
def test_a_name_of_none(place, name, meant):
    memories = opened(place)
    add(memories)
    with pytest.raises(NoSuchMemory) as caught:
        memories.get(name)
    assert str(caught.value) == f"no memory is named {name!r}{meant}; see: foretold memory list"


def test_the_same_topic_twice(place):
    memories = opened(place)
    add(memories)
    with pytest.raises(MemoryExists):
        add(memories, body="other")
    assert memories.get("tabs").body == "Use tabs."


# -- agents and places -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["qwen-code", "codex", "claude-code@2.1.197"])
def test_agents(place, agent):
    place.folder("proj/.git")
    memories = opened(place, agent=agent)
    made = add(memories)
    assert os.path.exists(f"{memories.place.store}/{made.file}")
    assert opened(place, agent=agent).get("tabs").text == made.text
    assert memories.index() == "- [Tabs](feedback_tabs.md) — about Tabs\n"
    assert memories.budget().lines == 1
    if agent == "qwen-code":
        shown = foretold.load(place.proj, agent=agent, home=place.home, env={}).text
        assert "- [Tabs](feedback_tabs.md) — about Tabs" in shown


def test_a_project_is_remembered_to_be_found_again(place):
    place.git("init -q")
    place.git("remote add origin https://me:pw@example.org/app.git")
    memories = opened(place)
    add(memories)
    known = load_identity(memories.own.state)
    assert (known.project, known.store, known.remote) == (
        place.proj,
        memories.place.store,
        "https://example.org/app.git",
    )


def test_an_index_that_is_a_link_is_no_index(place):
    memories = opened(place)
    add(memories)
    index = f"{memories.place.store}/MEMORY.md"
    os.rename(index, place.path("elsewhere.md"))
    os.symlink(place.path("elsewhere.md"), index)
    assert (memories.index(), memories.budget().lines) == ("", 0)


def test_looking_makes_nothing(place):
    memories = opened(place)
    assert (memories.memories(), memories.log(), memories.log("x"), memories.index(), memories.inbox.waiting()) == (
        [],
        [],
        [],
        "",
        [],
    )
    assert os.listdir(place.home) == []
