"""Which versions are kept: by age, by what can be undone, and under a bound."""

import os
from datetime import date, timedelta

from foretold.memory.store.journal import Change
from foretold.memory.store.retention import check_history, compact_history, keep_bound, plan_compaction
from foretold.storage.digest import digest_of

from ..machines import store_in

TODAY = date(2026, 11, 18)
NUMBER = TODAY.toordinal() - date(1970, 1, 1).toordinal()


def fill(store, rows):
    """Records of other days: how long ago, which operation, which file."""
    os.makedirs(store.state, exist_ok=True)
    before = {}
    changes = []
    for number, (ago, op, file) in enumerate(rows, 1):
        data = None if op == "delete" else f"{number} {os.urandom(1500).hex()}".encode()
        after = None if data is None else digest_of(data)
        time = f"{TODAY - timedelta(days=ago)}T12:00:00Z"
        changes.append(Change(number, time, op, file, before.get(file), after, data=data))
        before[file] = after
    store.journal.append(changes)
    return store.journal


def drop(journal, **options):
    return sorted(plan_compaction(journal, today=NUMBER, **options).drop)


def test_ninety_days_then_one_a_day_then_one_a_week(tmp_path):
    ages = [800, 799, 798, 797, 796, 795, 794, 200, 200, 200, 199, 90, 90, 89, 89, 1, 1]
    journal = fill(store_in(str(tmp_path)), [(ago, "edit", "user_a.md") for ago in ages])
    days = [(TODAY - timedelta(days=ago)).strftime("%G-%V") for ago in ages[:7]]
    weekly = [number for number in range(1, 7) if days[number - 1] in days[number:]]
    assert drop(journal) == [*weekly, 8, 9, 12]
    assert drop(journal, days=0)[-4:] == [9, 12, 14, 16]


def test_what_an_undo_needs_is_kept(tmp_path):
    rows = [
        (300, "create", "user_a.md"),  # 1: before a deletion
        (300, "delete", "user_a.md"),
        (300, "restore", "user_a.md"),  # 3
        (300, "edit", "user_a.md"),  # 4: before a restore
        (300, "restore", "user_a.md"),  # 5
        (300, "edit", "user_a.md"),  # 6: the last
        (300, "create", "user_gone.md"),  # 7: before its deletion
        (300, "delete", "user_gone.md"),
    ]
    journal = fill(store_in(str(tmp_path)), rows)
    assert drop(journal, bound=1) == [3, 5]


def test_a_bound_takes_from_the_memory_that_takes_most_the_oldest_first(tmp_path):
    rows = [(5, "edit", "user_small.md")] * 3 + [(4, "edit", "user_large.md")] * 12
    journal = fill(store_in(str(tmp_path)), rows)
    assert drop(journal, bound=journal.size - 1) == [4, 5, 6, 7]
    assert drop(journal, bound=journal.size) == []


def test_dropping_twice_is_dropping_once_and_every_record_stays(tmp_path):
    store = store_in(str(tmp_path))
    journal = fill(store, [(300, "edit", "user_a.md")] * 5)
    plan = plan_compaction(journal, today=NUMBER)
    size = compact_history(journal, plan, by="user", when="2026-11-18T00:00:00Z", why="test")
    assert size == os.path.getsize(journal.lines.path) < plan.size / 2
    assert [(change.number, change.op, change.has_text) for change in journal.changes()] == [
        *((number, "edit", number == 5) for number in range(1, 6)),
        (6, "compact", False),
    ]
    assert drop(journal) == []


def test_a_log_that_cannot_be_made_smaller_is_not_tried_again_at_once(tmp_path):
    store = store_in(str(tmp_path))
    journal = fill(store, [(1, "create", f"user_{number}.md") for number in range(5)])
    before = journal.size
    keep_bound(journal, 1000, "2026-11-18T00:00:00Z")
    assert (journal.size, journal.tried) == (before, before)
    store.versioned.bound = 1000
    assert [finding.code for finding in check_history(store, journal.changes())] == ["history-large"]
