"""An index that answers at a glance answers as the other does, as long as nothing was changed in its place."""

import os
import random

import pytest

from foretold.memory.recall.cache import QuickCache, RecallCache
from foretold.memory.recall.file_stamps import has_many_files, is_unchanged, scan_folder
from foretold.memory.recall.recall import recall

WORDS = "tabs deploy staging router token budget cache index memory folder branch review release cluster parser".split()
WORDS += "went gone children parseHttp src/web_app.py 使用制表符 naïve billing ran running deployment".split()
NOW = 1_700_000_000.0
OLD = NOW - 86400


def fill(folder, count, seed):
    made = random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        words = made.choices(WORDS, [1 / (at + 2) for at in range(len(WORDS))], k=made.randint(3, 60))
        write(f"{folder}/d{number % 3}/note_{number}.md", " ".join(words[3:]), " ".join(words[:3]))
    age(folder)
    return made


def write(path, body, description="about it"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"---\nname: {os.path.basename(path)[:-3]}\ndescription: {description}\n---\n{body}\n")
    os.utime(path, (OLD, OLD))


def age(folder):
    """Make all folders look old enough to be believed."""
    for top, _, _ in os.walk(folder):
        os.utime(top, (OLD, OLD))


def told(found):
    return [(hit.memory, hit.score, hit.why, hit.excerpt) for hit in found.hits], found.left_out, found.named


@pytest.mark.parametrize("seed", range(5))
def test_the_answers_are_equal(tmp_path, seed):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    made = fill(folder, 120, seed)
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    for _ in range(15):
        query = " ".join(made.choices([*WORDS, "what", "the", "zebra"], k=made.randint(1, 8)))
        glance = QuickCache(cache, few=10)
        quick = recall(folder, query, cache=glance, now=NOW, budget=900)
        assert told(quick) == told(recall(folder, query, cache=f"{cache}-2", now=NOW, budget=900)), query
        assert glance.stale == []


def test_a_small_store_is_always_up_to_date(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    fill(folder, 8, 1)
    glance = QuickCache(cache, few=10)
    recall(folder, "zebra", cache=glance, now=NOW)
    write(f"{folder}/d1/new.md", "A zebra.")
    assert [hit.memory.file for hit in recall(folder, "zebra", cache=glance, now=NOW).hits] == ["d1/new.md"]
    assert {*glance.stale} == {folder}  # nobody has stored an index yet
    assert glance.unbuilt == []


@pytest.mark.parametrize("change", ["new", "deleted", "renamed", "folder"])
def test_a_large_store_that_changed_is_named(tmp_path, change):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    fill(folder, 30, 1)
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    before = told(recall(folder, "deploy", cache=QuickCache(cache, few=10), now=NOW))
    path = f"{folder}/d1/note_1.md"
    if change == "new":
        write(f"{folder}/d1/new.md", "A zebra.")
    elif change == "deleted":
        os.unlink(path)
    elif change == "renamed":
        os.rename(path, f"{folder}/d2/zebra.md")
    else:
        os.makedirs(f"{folder}/d9")
    glance = QuickCache(cache, few=10)
    recall(folder, "deploy", cache=glance, now=NOW)
    assert glance.stale == [folder]
    age(folder)
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    glance = QuickCache(cache, few=10)
    after = told(recall(folder, "deploy", cache=glance, now=NOW))
    assert glance.stale == []
    assert after == told(recall(folder, "deploy", now=NOW))
    assert change != "folder" or after == before


def test_a_file_of_another_kind_leaves_the_index_as_it_is(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    fill(folder, 30, 1)
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    write(f"{folder}/MEMORY.md", "- an entry")
    age(folder)
    os.utime(folder, (OLD + 5, OLD + 5))
    glance = QuickCache(cache, few=10)
    recall(folder, "deploy", cache=glance, now=NOW)
    assert glance.stale == [folder]
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    glance = QuickCache(cache, few=10)
    recall(folder, "deploy", cache=glance, now=NOW)
    assert glance.stale == []


def test_a_large_store_without_an_index_is_left_for_later(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    fill(folder, 30, 1)
    glance = QuickCache(cache, few=10)
    assert recall(folder, "deploy", cache=glance, now=NOW).hits == ()
    assert (glance.stale, os.path.exists(cache)) == ([folder], False)


def test_an_index_that_somebody_wrote_to_is_not_believed(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    fill(folder, 30, 1)
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    (name,) = os.listdir(cache)
    os.utime(f"{cache}/{name}", (OLD, OLD))
    glance = QuickCache(cache, few=10)
    assert recall(folder, "deploy", cache=glance, now=NOW).hits == ()
    assert glance.stale == [folder]


def test_a_memory_that_was_edited_in_its_place_is_quoted_as_it_is_now(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    fill(folder, 30, 1)
    write(f"{folder}/d1/zebra.md", "A zebra.")
    age(folder)
    RecallCache(cache).ask(folder, lambda index: index.get_value("count"))
    with open(f"{folder}/d1/zebra.md", "r+", encoding="utf-8") as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace("A zebra.", "A quagga"))
    found = recall(folder, "zebra", cache=QuickCache(cache, few=10), now=NOW)
    assert [hit.excerpt for hit in found.hits] == ["A quagga"]


def test_folders_that_are_young_prove_nothing(tmp_path):
    write(f"{tmp_path}/a.md", "A.")
    assert scan_folder(str(tmp_path)).folders == b""
    age(tmp_path)
    packed = scan_folder(str(tmp_path)).folders
    assert is_unchanged(str(tmp_path), packed)
    os.utime(tmp_path, (OLD + 1, OLD + 1))
    assert not is_unchanged(str(tmp_path), packed)


def test_counting_ends_early(tmp_path):
    fill(str(tmp_path), 12, 1)
    assert (has_many_files(str(tmp_path), 11), has_many_files(str(tmp_path), 12)) == (True, False)
