"""Taking memories along: nothing is lost, whatever happens on the way."""

import os
import tarfile

import pytest

import foretold
from foretold.errors import ForetoldError, MemoryChanged, NoSuchMemory, StoreFailed
from foretold.memory.relocate import plan_relocation, relocate
from foretold.storage.kernel import Kernel


def opened(place, cwd, **options):
    place.folder(cwd)
    given = {"home": place.home, "managed": place.managed, "env": {}, **options}
    return foretold.memory.open(place.path(cwd), **given)


def put(memories, file, text):
    path = f"{memories.place.store}/{file}"
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with open(path, "wb") as out:
        out.write(text if isinstance(text, bytes) else text.encode())
    return path


def files(memories):
    """Every file of a store with its bytes."""
    folder = memories.own.folder
    names = [*folder.files(), *(["MEMORY.md"] if os.path.exists(f"{folder.path}/MEMORY.md") else [])]
    return {name: folder.read(name).data.decode("utf-8", "replace") for name in names}


def moves(plan):
    return [(move.what, move.file, move.to) for move in plan.moves]


def archived(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive.getmembers()}


@pytest.fixture
def both(place):
    """An old store, and a new one with a memory of the same text and one of the same file."""
    old, new = opened(place, "old app"), opened(place, "new")
    for name, text in (("copy.md", "only old\r\n"), ("sub/same.md", "same\n"), ("differs.md", "\ufeffold text")):
        put(old, name, text)
    put(old, "MEMORY.md", "# Mine\n\n- [Copy](copy.md)\n- [Gone](gone.md)\n\nBy hand.\n")
    put(new, "sub/same.md", "same\n")
    put(new, "differs.md", "new text")
    put(new, "MEMORY.md", "By hand.\n- [Differs](differs.md)\n")
    return old, new


def test_the_plan(both):
    old, new = both
    before = files(old), files(new)
    plan = plan_relocation(old, new)
    assert moves(plan) == [
        ("copy", "copy.md", "copy.md"),
        ("beside", "differs.md", "differs_from_old_app.md"),
        ("same", "sub/same.md", "sub/same.md"),
    ]
    assert (plan.notes, plan.left) == ("# Mine", ())
    assert (files(old), files(new)) == before


def test_everything_is_taken_along(both):
    old, new = both
    before = {f"old/{file}": text for file, text in files(old).items()} | {
        f"new/{file}": text for file, text in files(new).items()
    }
    archive = relocate(plan_relocation(old, new))
    found = files(new)
    index = found.pop("MEMORY.md")
    assert found == {
        "copy.md": "only old\r\n",
        "differs.md": "new text",
        "differs_from_old_app.md": "\ufeffold text",
        "sub/same.md": "same\n",
    }
    assert index.startswith("By hand.\n- [Differs](differs.md)\n")
    assert "\n# Mine\n" in index
    assert "(copy.md)" in index
    assert files(old) == {"MEMORY.md": "# Mine\n\n- [Gone](gone.md)\n\nBy hand.\n"}
    assert archived(archive) == before
    assert os.stat(archive).st_mode & 0o777 == 0o600
    assert [old.restore(name).text for name in ("copy", "differs")] == ["only old\r\n", "old text"]
    assert [(each.op, each.why) for each in new.log("copy")] == [
        ("create", ""),  # its life before the move came along
        ("bring", f"relocated from {old.place.store}"),
    ]


def test_twice_is_once(both):
    old, new = both
    relocate(plan_relocation(old, new))
    put(old, "differs.md", "\ufeffold text")
    again = plan_relocation(old, new)
    assert moves(again) == [("same", "differs.md", "differs_from_old_app.md")]
    put(old, "differs.md", "third text")
    assert moves(plan_relocation(old, new)) == [("beside", "differs.md", "differs_from_old_app_2.md")]


def test_names_that_some_systems_cannot_tell_apart(place):
    old, new = opened(place, "old"), opened(place, "new")
    put(old, "Notes.md", "old")
    put(new, "notes.md", "new")
    plan = plan_relocation(old, new)
    assert moves(plan) == [("beside", "Notes.md", "Notes_from_old.md")]
    relocate(plan)
    assert files(new) | {"MEMORY.md": ""} == {"Notes_from_old.md": "old", "notes.md": "new", "MEMORY.md": ""}


def test_what_stays_is_named(both, place):
    old, new = both
    os.symlink(place.write("out.md"), f"{old.place.store}/link.md")
    put(old, "latin.md", b"caf\xe9")
    plan = plan_relocation(old, new)
    assert [(each.path, each.code) for each in plan.left] == [("link.md", "memory-link"), ("latin.md", "not-utf8")]
    relocate(plan)
    assert sorted(os.listdir(old.place.store)) == ["MEMORY.md", "latin.md", "link.md", "sub"]


def test_to_itself(place):
    old = opened(place, "old")
    with pytest.raises(NoSuchMemory, match="have the same memories"):
        plan_relocation(old, opened(place, "old"))


def test_a_memory_that_changes_meanwhile(both):
    old, new = both
    plan = plan_relocation(old, new)
    put(old, "copy.md", "newer\n")
    with pytest.raises(MemoryChanged, match="nothing was deleted"):
        relocate(plan)
    assert files(old)["copy.md"] == "newer\n"
    assert len(files(old)) == 4


def test_a_copy_that_changes_meanwhile(both):
    old, new = both
    plan = plan_relocation(old, new)
    put(new, "sub/same.md", "other\n")
    with pytest.raises(MemoryChanged, match="nothing was deleted"):
        relocate(plan)
    assert len(files(old)) == 4


class Failing(Kernel):
    """A system whose n-th write fails."""

    def __init__(self, at):
        self.left = at

    def write(self, *words):
        self.left -= 1
        if self.left == 0:
            raise OSError(28, "No space left on device")
        return super().write(*words)


@pytest.mark.parametrize("at", range(1, 12))
def test_a_failure_on_the_way_loses_nothing(both, place, at):
    old, new = both
    texts = {text for file, text in files(old).items() if file != "MEMORY.md"}
    failing = Failing(at)
    try:
        relocate(plan_relocation(opened(place, "old app", kernel=failing), opened(place, "new", kernel=failing)))
    except StoreFailed:
        pass
    else:
        assert failing.left > 0
    everywhere = {**{f"o/{file}": text for file, text in files(old).items()}, **files(new)}
    assert texts <= set(everywhere.values())
    backups = f"{new.own.state}/backups"
    assert [name for name in os.listdir(backups) if name.endswith(".part")] == []
    assert {archived(f"{backups}/{name}")["old/copy.md"] for name in os.listdir(backups)} == {"only old\r\n"}
    relocate(plan_relocation(old, new))  # and again, to the end
    assert texts <= set(files(new).values())
    assert set(files(old)) == {"MEMORY.md"}


def test_without_an_archive_nothing_is_touched(both):
    old, new = both
    before = files(old), files(new)
    os.makedirs(new.own.state)
    with open(f"{new.own.state}/backups", "w", encoding="utf-8") as file:
        file.write("in the way")
    with pytest.raises(ForetoldError, match="so nothing was changed"):
        relocate(plan_relocation(old, new))
    assert (files(old), files(new)) == before


def test_archives_do_not_take_each_others_name(both):
    old, new = both
    first = relocate(plan_relocation(old, new))
    put(old, "copy.md", "more")
    second = relocate(plan_relocation(old, new))
    assert first != second
    assert archived(first)["old/copy.md"] == "only old\r\n"
