"""The family memory: the auto-memory of the project in the home of the user."""

import os
import stat

from foretold.check.memory import find_problems
from foretold.check.project import CheckOptions, Project
from foretold.check.settings import CheckSettings

NOTE = """\
---
name: dates
description: "where dates are parsed"
metadata:
  type: project
---

Dates are parsed in `src/lib/dates.ts`.
"""


def slug(path):
    return "".join(char if char.isalnum() else "-" for char in path)


def write_store(place, index="- [Dates](project_dates.md) — where dates are parsed\n", note=NOTE):
    place.git("init -q .")
    place.write("proj/src/lib/dates.ts", "export const one = 1;\n")
    place.write("proj/CLAUDE.md", "Be brief.\n")
    commit(place)
    store = f"home/.claude/projects/{slug(place.proj)}/memory"
    os.makedirs(place.path(store), 0o700)
    place.write(f"{store}/MEMORY.md", index)
    place.write(f"{store}/project_dates.md", note)
    return place.path(store)


def commit(place):
    place.git("add -A")
    place.git("-c user.name=a -c user.email=a@b commit -q -m change")


def check(place, home=None):
    options = CheckOptions(home=place.home if home is None else home, managed=place.managed, env={})
    found = find_problems(Project(place.proj, options), CheckSettings())
    return [(each.path, each.line, each.code, each.message, each.hint) for each in found]


def test_nothing_is_said_about_memories_that_hold(place):
    write_store(place)
    assert check(place) == []


def test_a_memory_that_names_what_is_gone(place):
    store = write_store(place)
    os.remove(place.path("proj/src/lib/dates.ts"))
    commit(place)
    ((path, line, code, message, hint),) = check(place)
    assert (path, line, code, hint) == (f"{store}/project_dates.md", 8, "memory-stale", "")
    assert message.startswith("src/lib/dates.ts: git deleted it in ")


def test_a_memory_that_names_what_moved(place):
    write_store(place)
    place.git("mv src/lib/dates.ts src/lib/days.ts")
    commit(place)
    ((_, _, code, message, hint),) = check(place)
    assert (code, hint) == ("memory-stale", "write src/lib/days.ts")
    assert message.startswith("src/lib/dates.ts: git moved it to src/lib/days.ts in ")


def test_names_of_code_are_left_to_verify(place):
    write_store(place, note=NOTE + "\nCall `parseDates()` and pass `--strict-dates`.\n")
    assert check(place) == []


def test_faults_of_the_index_have_their_absolute_path(place):
    store = write_store(place, index="- [Gone](project_gone.md) — gone\n")
    assert [each[:3] for each in check(place)] == [
        (f"{store}/MEMORY.md", 1, "index-dangling"),
        (f"{store}/project_dates.md", None, "index-unlisted"),
    ]


def test_without_a_home_nothing_is_looked_at(place):
    write_store(place, index="")
    assert check(place, home="") == []
    assert check(place, home=place.folder("other")) == []


def test_nothing_is_written_even_where_nothing_can_be(place):
    write_store(place, index="- [Gone](project_gone.md) — gone\n")
    os.remove(place.path("proj/src/lib/dates.ts"))
    before, found = snapshot(place), check(place)
    assert snapshot(place) == before
    folders = [folder for folder, _, _ in os.walk(place.home)]
    for folder in folders:
        os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert check(place) == found
    finally:
        for folder in folders:
            os.chmod(folder, 0o700)


def test_a_store_that_cannot_be_listed_is_named(place):
    store = write_store(place)
    os.remove(f"{store}/MEMORY.md")
    place.link(os.path.relpath(f"{store}/MEMORY.md", place.root), "/dev/zero")
    assert "unreadable" in [each[2] for each in check(place)]


def snapshot(place):
    """Every file below the home and the project, with its bytes and the time of its last change."""
    found = {}
    for top in (place.home, place.proj):
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[path] = file.read(), os.stat(path).st_mtime_ns
    return found
