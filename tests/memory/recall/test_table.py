"""The table of word vectors: what it holds, what it finds, and what happens without it. No package is needed."""

import importlib.util
import os
import sqlite3

import pytest

from foretold.memory.note import read_note
from foretold.memory.recall import table as module
from foretold.memory.recall.cache import QuickCache
from foretold.memory.recall.index import WORD_TABLE, index_memories
from foretold.memory.recall.recall import recall
from foretold.memory.recall.table import (
    BIAS,
    SIZE,
    START,
    WordTable,
    code_of,
    complete_vectors,
    find_table_nearness,
    open_table,
    pack_vector,
    remove_table,
    table_path,
    table_state,
    write_table,
)

with_table = pytest.mark.skipif(
    not importlib.util.find_spec("wordllama"), reason="wordllama is not installed: it is the extra vectors"
)
#: words, and which of the first numbers of their vectors are large: those that share one mean something alike
MEANING = {"car": (0,), "automobile": (0,), "garage": (1,), "parked": (1,), "bread": (2,), "flour": (2,), "the": ()}


def row_of(large):
    return bytes(BIAS + (100 if at in large else at % 2) for at in range(SIZE))


def build(home, meaning=None):
    """A table of a few words: each word is a token, and so are all letters."""
    words = MEANING if meaning is None else meaning
    letters = sorted({char for word in words for char in word} | {START})
    merged = [START + word[:size] for word in words for size in range(1, len(word))]
    tokens = [*letters, *dict.fromkeys(merged), *(START + word for word in words)]
    rows = [row_of(words.get(token.removeprefix(START), ())) for token in tokens]
    numbered = [(token, number) for number, token in enumerate(tokens)]
    write_table(str(home), numbered, rows, {"digest": "d1", "source": "a test", "tokens": len(tokens)})
    return str(home)


def write(folder, **texts):
    os.makedirs(folder, exist_ok=True)
    for name, text in texts.items():
        with open(f"{folder}/{name}.md", "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(f"{folder}/{name}.md", (1e9, 1e9))
    return folder


def test_a_text_is_the_sum_of_its_tokens(tmp_path):
    table = WordTable(table_path(build(tmp_path)))
    assert table.embed("car garage")[:3] == [100 + 0, 1 + 100, 0]
    assert table.embed("car " * 300)[0] == 100 * module.MOST_WORDS
    assert table.embed("") == table.embed(" \n ") == []
    alone = table.embed("bread")
    table.read_tokens()
    assert table.embed("bread") == alone
    table.base.close()


def test_sums_that_are_dropped_are_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_SUMS", 1)
    table = WordTable(table_path(build(tmp_path)))
    first = table.embed("car bread the")
    assert table.embed("car garage the") != first
    assert table.embed("car bread the") == first
    table.base.close()


def test_other_words_are_found_once_the_table_is_built(tmp_path):
    folder = write(f"{tmp_path}/memory", a="the automobile parked garage", b="bread flour")
    cache = f"{tmp_path}/cache"
    assert recall(folder, "car", cache=cache).hits == ()
    build(cache)
    found = recall(folder, "car", cache=cache).hits
    assert [hit.memory.file for hit in found][:1] == ["a.md"]
    assert list(found[0].why.values()) == [("other words",)]
    remove_table(cache)
    assert recall(folder, "car", cache=cache).hits == ()


def test_words_come_first_where_they_are_shared(tmp_path):
    folder = write(f"{tmp_path}/memory", a="the automobile parked", b="a bread car")
    cache = build(f"{tmp_path}/cache")
    assert next(hit.memory.file for hit in recall(folder, "car", cache=cache).hits) == "b.md"


def test_vectors_are_made_once_and_follow_the_files(tmp_path):
    folder = write(f"{tmp_path}/memory", a="automobile", b="bread")
    cache = build(f"{tmp_path}/cache")
    first = [hit.memory.file for hit in recall(folder, "car", cache=cache).hits]
    assert first[0] == "a.md"
    write(folder, a="flour automobile garage parked", b="automobile")
    assert next(hit.memory.file for hit in recall(folder, "car", cache=cache).hits) == "b.md"


def test_a_hook_makes_few_vectors_and_leaves_the_rest(tmp_path):
    texts = {f"m{number}": "bread" for number in range(module.QUICK + 5)}
    folder = write(f"{tmp_path}/memory", **texts, a="automobile")
    cache = build(f"{tmp_path}/cache")
    quick = QuickCache(cache)
    recall(folder, "car", cache=quick)
    assert quick.stale == [folder]


def test_missing_vectors_are_made_in_a_hurry_only_if_they_are_few(tmp_path):
    index = index_memories([read_note(f"m{number}.md", b"bread") for number in range(5)])
    table = WordTable(table_path(build(tmp_path)))
    assert not complete_vectors(index, table, 4)
    assert index.vectors(table.name) == []
    assert complete_vectors(index, table, 5)
    assert complete_vectors(index, table, 0)
    assert len(index.vectors(table.name)) == len(index.codes(table.name, 10)) == 5
    table.base.close()
    index.base.close()


def test_a_large_store_scores_the_nearest_and_what_words_found(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ALL", 10)
    monkeypatch.setattr(module, "NEAREST", 2)
    notes = [read_note(f"m{number}.md", b"bread flour") for number in range(30)]
    index = index_memories([*notes, read_note("a.md", b"the automobile")])
    table = WordTable(table_path(build(tmp_path)))
    assert complete_vectors(index, table)
    near, usual = find_table_nearness(index, table, "car", [5])
    assert max(near, key=near.__getitem__) == 31
    assert 5 in near
    assert near[31] > 0.9 > usual
    monkeypatch.setattr(module, "SCAN", 5)
    assert 31 in find_table_nearness(index, table, "car")[0]
    table.base.close()
    index.base.close()


@pytest.mark.parametrize("broken", [b"", b"not a database" * 100, None])
def test_a_table_that_cannot_be_read_is_not_used(tmp_path, broken):
    folder = write(f"{tmp_path}/memory", a="automobile")
    cache = f"{tmp_path}/cache"
    os.makedirs(cache)
    if broken is None:
        os.mkfifo(f"{cache}/{WORD_TABLE}")
    else:
        with open(f"{cache}/{WORD_TABLE}", "wb") as file:
            file.write(broken)
    assert open_table(cache) is None
    assert table_state(cache).problem
    assert [hit.memory.file for hit in recall(folder, "automobile", cache=cache).hits] == ["a.md"]


def test_a_table_of_another_version_is_not_used(tmp_path):
    cache = build(tmp_path)
    with sqlite3.connect(table_path(cache)) as base:
        base.execute("UPDATE about SET value = 'foretold word vectors 0' WHERE key = 'schema'")
    base.close()
    assert open_table(cache) is None
    assert table_state(cache).problem == "another schema"


def test_codes_have_a_bit_for_each_number():
    packed = pack_vector([-3, 5, *[0] * (SIZE - 2)])
    assert (packed[0], packed[1], packed[2]) == (BIAS - 77, BIAS + 127, BIAS)
    assert int.from_bytes(code_of(packed), "little") == 0b10


@with_table
def test_tokens_and_vectors_are_those_of_the_package(tmp_path):
    import numpy

    from foretold.memory.recall.vectors import WordLlama, build_table

    build_table(str(tmp_path))
    table, model = WordTable(table_path(str(tmp_path))), WordLlama()
    for text in (
        "how do we rotate the keys?",
        "src/app.py: parseHttp() fails",
        "Pseudonymisierung der Betriebe",
        "天线有多大",
    ):
        own, theirs = numpy.array(table.embed(text), dtype=float), numpy.asarray(model.embed([text]))[0]
        assert own @ theirs / numpy.linalg.norm(own) / numpy.linalg.norm(theirs) > 0.99
    table.base.close()
