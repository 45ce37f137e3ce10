from __future__ import annotations

import os
import random

import pytest

from foretold.errors import ForetoldError
from foretold.sessions.fulltext.query import QueryMatcher, QueryTerm, SearchQuery, parse_query
from foretold.sessions.fulltext.search import Snippet, open_index, search, snippet_of
from foretold.sessions.model import Homes

from ..corpus import MOMENT, call, home_of, name_of, record, result, write


def keys(found):
    return [(hit.stored.id, hit.message) for hit in found.hits]


def both(query, homes, **more):
    """The answer, which is the same with and without the index."""
    with_index = search(query, homes=homes, **more)
    without = search(query, homes=homes, use_index=False, **more)
    assert with_index == without
    with open_index(homes) as index:
        assert search(query, homes=homes, index=index, **more) == with_index
    return with_index


def small(tmp_path):
    records = [
        record(1, "user", "Please set the Connection Pool size", MOMENT),
        record(2, "assistant", [{"type": "thinking", "thinking": "the pool again"}], MOMENT + 1),
        record(3, "assistant", call("toolu_1", "Bash", command="grep pool conf.py"), MOMENT + 2),
        record(4, "user", result("toolu_1", "max_pool = 5\npool_size = 7"), MOMENT + 3),
        record(5, "assistant", [{"type": "text", "text": "Pools are fine: pool connection."}], MOMENT + 4),
    ]
    write(str(tmp_path), 7, records)
    return Homes(str(tmp_path), {})


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("pool", [5, 4, 3, 2, 1]),
        ("POOL size", [4, 1]),
        ('"connection pool"', [1]),
        ("connection pool", [5, 1]),
        ("pool -the", [5, 4, 3]),
        ("pools*", [5]),
        ("po*", [5, 4, 3, 2, 1]),
        ('"pool si*"', []),
        ('"pool si"*', [4, 1]),
        ("pool_size", [4, 1]),
        ("poo", []),
        ('pool -"max pool"', [5, 3, 2, 1]),
        ("grep", [3]),
        ("Bash", [3]),
    ],
)
def test_what_a_query_finds(tmp_path, query, messages):
    found = both(query, small(tmp_path))
    assert keys(found) == [(name_of(7), name_of(number)) for number in messages]


@pytest.mark.parametrize(
    ("more", "messages"),
    [
        ({"roles": ["user"]}, [1]),
        ({"roles": ["tool"]}, [4]),
        ({"roles": ["assistant", "user"]}, [5, 3, 2, 1]),
        ({"tools": ["Bash"]}, [4, 3]),
        ({"tools": ["Read"]}, []),
        ({"after": MOMENT + 3}, [5, 4]),
        ({"before": MOMENT + 1}, [1]),
        ({"limit": 2}, [5, 4]),
        ({"project": "/home/ada"}, [5, 4, 3, 2, 1]),
        ({"project": "/home/ada/on"}, []),
        ({"agents": ["codex"]}, []),
    ],
)
def test_filters(tmp_path, more, messages):
    found = both("pool", small(tmp_path), **more)
    assert keys(found) == [(name_of(7), name_of(number)) for number in messages]
    assert found.more == ("limit" in more)


def test_a_hit_is_complete(tmp_path):
    hit = both("max", small(tmp_path)).hits[0]
    assert (hit.role, hit.tool, hit.time, hit.command) == (
        "tool",
        "Bash",
        float(MOMENT + 3),
        ("claude", "--resume", name_of(7)),
    )
    assert hit.snippet == Snippet("max_pool = 5 pool_size = 7", ((0, 3),))
    assert (hit.stored.cwd, hit.stored.title) == ("/home/ada/one", "Please set the Connection Pool size")


def test_ranked_puts_the_best_match_first(tmp_path):
    records = [
        record(1, "user", "pool pool pool", MOMENT),
        record(2, "user", "the pool " + "and other words " * 200, MOMENT + 1),
        record(3, "assistant", [{"type": "text", "text": "pool pool pool"}], MOMENT + 2),
    ]
    write(str(tmp_path), 7, records)
    found = both("pool", Homes(str(tmp_path), {}), order="ranked")
    assert [hit.message for hit in found.hits] == [name_of(1), name_of(3), name_of(2)]


def test_an_unknown_order_is_refused(tmp_path):
    with pytest.raises(ForetoldError, match="newest, ranked"):
        search("pool", homes=Homes(str(tmp_path), {}), order="oldest")


def test_with_and_without_the_index_answers_are_the_same(tmp_path):
    homes = home_of(tmp_path)
    queries = [
        "the",
        "pool size",
        '"of the"',
        "-the pool",
        "größe",
        "ПРИВЕТ",
        "制表",
        "表",
        "naïve -pool",
        "tabs",
        "k",
        "so",
    ]
    queries += ["it", "par* http", '"max size"', "nothing_at_all", "制表 使用", "4"]
    for query in queries:
        for order in ("newest", "ranked"):
            both(query, homes, order=order, limit=7)
        both(query, homes, roles=["user"], after=MOMENT + 12_000.0)
        both(query, homes, tools=["Read"], before=MOMENT + 22_000.0, limit=500)


def test_a_subagent_says_whose_it_is(tmp_path):
    hit = both("helper", home_of(tmp_path)).hits[0]
    assert (hit.stored.kind, hit.stored.parent, hit.command) == (
        "subagent",
        name_of(1),
        ("claude", "--resume", name_of(1)),
    )


def test_the_newest_come_first_across_sessions(tmp_path):
    times = [hit.time for hit in both("the", home_of(tmp_path), limit=200).hits]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) > 50


def test_any_text_is_a_query(tmp_path):
    homes = small(tmp_path)
    chance = random.Random(3)
    pieces = [*"ab\"*-()^:'{}[]\\/%_;,.\0\n\ud800 ", "NEAR", "AND", "OR", "NOT", "pool", "制"]
    for _ in range(150):
        both("".join(chance.choice(pieces) for _ in range(chance.randint(0, 12))), homes)


def test_a_folder_that_cannot_be_written_is_named_and_the_files_are_searched(tmp_path):
    homes = small(tmp_path)
    (tmp_path / "file").write_text("")
    found = search("pool", homes=homes, cache=str(tmp_path / "file" / "cache"))
    assert [finding.code for finding in found.findings] == ["index-unusable"]
    assert found.hits == search("pool", homes=homes).hits


def test_deleted_sessions_vanish(tmp_path):
    homes = small(tmp_path)
    assert len(both("pool", homes).hits) == 5
    os.unlink(f"{tmp_path}/.claude/projects/-home-ada-one/{name_of(7)}.jsonl")
    assert both("pool", homes).hits == ()


def test_a_query_is_taken_apart():
    assert parse_query('a "b c" -d e* -"f g" --h-i') == SearchQuery(
        (QueryTerm(("a",)), QueryTerm(("b", "c")), QueryTerm(("e",), is_prefix=True), QueryTerm(("h", "i"))),
        (QueryTerm(("d",)), QueryTerm(("f", "g"))),
    )
    assert parse_query('"open quote') == SearchQuery((QueryTerm(("open", "quote")),))
    assert len(parse_query(" ".join(f"w{number}" for number in range(500))).wanted) == 50


@pytest.mark.parametrize(
    ("query", "text", "spans"),
    [
        ("tabs", "使用tabs的", [(2, 6)]),
        ("用t", "使用tabs的", []),
        ("cafe", "caf\u00e9 cafe", [(5, 9)]),
        ("größe", "GRÖSSE Größe", [(7, 12)]),
        ("istanbul", "İstanbul", [(0, 8)]),
        ("a", "a_a-b aa", [(0, 1), (2, 3)]),
        ('"a b"', "a" + " " * 64 + "b", [(0, 66)]),
        ('"a b"', "a" + " " * 65 + "b", []),
    ],
)
def test_where_words_are(query, text, spans):
    assert QueryMatcher(parse_query(query)).spans(text) == spans


def test_a_snippet_is_one_line_of_its_width():
    text = "x " * 500 + "the\tpool\nof " + "y " * 500
    made = snippet_of(text, [(1000, 1003), (1004, 1008)], 60)
    assert len(made.text) <= 60
    assert [made.text[start:end] for start, end in made.marks] == ["the", "pool"]
    assert made.text[0] == made.text[-1] == "…"
