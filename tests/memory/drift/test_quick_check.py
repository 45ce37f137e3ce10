"""Whether a memory still holds, in a word: a kept verdict of the same text, else a look at the paths it names."""

import os

from foretold.memory.drift.claims import DriftClaim
from foretold.memory.drift.quick_check import CachedVerdict, QuickCheck, load_verdicts, save_verdicts
from foretold.memory.drift.verify import CheckedClaim, MemoryVerdict
from foretold.memory.note import read_note

DAY = 86400.0
NOTE = read_note("a.md", b"`deploy()` in `src/ship.py` ships.\n")


def verdict(state, *claims):
    return MemoryVerdict(
        "a.md", state, tuple(CheckedClaim(DriftClaim("path", text, 1, True), state, "gone") for text in claims)
    )


def test_nothing_is_known_and_the_path_is_not_there(place):
    assert (
        QuickCheck(place.proj, place.path("cache"))(NOTE) == "not found here: src/ship.py (run foretold memory verify)"
    )


def test_nothing_is_known_and_the_path_is_there(place):
    place.write("proj/src/ship.py")
    assert QuickCheck(place.proj, place.path("cache"))(NOTE) == "the paths it names exist"


def test_a_memory_that_names_no_path(place):
    holding = QuickCheck(place.proj, place.path("cache"))
    assert holding(read_note("a.md", b"Use tabs.\n")) == ""
    assert holding(read_note("a.md", b"Be kind")) == ""


def test_paths_outside_are_not_looked_at(place):
    place.write("secret.md")
    holding = QuickCheck(place.proj, place.path("cache"))
    assert holding(read_note("a.md", b"See `../secret.md` and `/etc/passwd` and `src/*.py`.\n")) in (
        "",
        "the paths it names exist",
    )


def test_a_verdict_is_kept_and_told(place):
    cache = place.path("cache")
    save_verdicts(cache, [NOTE], [verdict("missing", "src/ship.py", "src/a.py")], now=10 * DAY)
    assert load_verdicts(cache) == {NOTE.digest: CachedVerdict("missing", "src/ship.py: gone, and 1 more", 10 * DAY)}
    for now, when in ((10, "today"), (11, "yesterday"), (13, "3 days ago")):
        said = QuickCheck(place.proj, cache, now=now * DAY)(NOTE)
        assert said == f"missing, verified {when}: src/ship.py: gone, and 1 more"


def test_a_verdict_of_another_text_does_not_count(place):
    cache = place.path("cache")
    save_verdicts(cache, [NOTE], [verdict("missing", "src/ship.py")], now=0)
    other = read_note("a.md", b"`deploy()` in `src/b.py` ships.\n")
    assert QuickCheck(place.proj, cache, now=0)(other) == "not found here: src/b.py (run foretold memory verify)"


def test_a_good_verdict_and_one_that_says_nothing(place):
    cache = place.path("cache")
    save_verdicts(cache, [NOTE], [verdict("valid", "src/ship.py")], now=0)
    assert QuickCheck(place.proj, cache, now=0)(NOTE) == "valid, verified today"
    save_verdicts(cache, [NOTE], [verdict("unknown", "src/ship.py")], now=0)
    assert QuickCheck(place.proj, cache, now=0)(NOTE) == "not found here: src/ship.py (run foretold memory verify)"


def test_a_cache_that_is_not_ours_is_passed_over(place):
    cache = place.path("cache")
    for text in ("", "[]", "{", '{"schema": 9, "verdicts": {}}', '{"schema": 1, "verdicts": [1]}', "\0"):
        place.write("cache/verdicts.json", text)
        assert load_verdicts(cache) == {}
    save_verdicts(cache, [NOTE], [verdict("valid")], now=0)
    assert len(load_verdicts(cache)) == 1
    assert os.listdir(cache) == ["verdicts.json"]


def test_a_cache_that_cannot_be_written_prevents_nothing(place):
    save_verdicts(place.write("file", "x") + "/cache", [NOTE], [verdict("valid")], now=0)
    assert load_verdicts(place.path("file/cache")) == {}
