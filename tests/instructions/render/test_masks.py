"""What Copilot CLI hides in the text that a view adds, and what is reported of it."""

import time

import pytest

import foretold
from foretold.dialects.copilot import V1_0_102
from foretold.instructions.render.masks import mask_secrets

NESTED = V1_0_102.nested
KEY = "A1b2C3" * 6


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("Server=prod;Password=hunter2&quot;;", "Server=prod;******;;"),
        ("PWD=a pwd=b;c my_pwd=d", "****** ******;c my_pwd=d"),
        ("password: a, password = b, passwords=c, Password=", "password: a, password = b, passwords=c, Password="),
        ("run -Password a --password b", "run****** --password b"),
        ("Bearer a.b=;c bearer d", "******;c bearer d"),
        (
            "https://a:b@c https://a@c https://a:b/c@d 1http://a:b@c",
            "******c https://a@c https://a:b/c@d 1http://a:b@c",
        ),
        (f"ghp_{KEY} ghp_{KEY}x gha_{KEY}", f"****** ghp_{KEY}x gha_{KEY}"),
        (f"npm_{KEY}-", "******-"),
        ("éeyJhbGciOiJ9.e30.x y", "é****** y"),
        ("pwd=a\u00a0b\u0085c", "******\u00a0b\u0085c"),
        ("pa\u017f\u017fword=a", "******"),
    ],
)
def test_forms(text, sent):
    assert mask_secrets(text, NESTED) == sent


def test_a_later_pattern_sees_what_an_earlier_one_left():
    assert mask_secrets("https://u:pwd=x@host", NESTED) == "******host"
    assert mask_secrets("pwd=Bearer x y", NESTED) == "****** y"
    assert mask_secrets("eyJhbGciOi.Bearer x", NESTED) == "****** x"


def test_long_texts_take_no_longer_than_their_length():
    for text in (" " * 300_000, "a." * 200_000, "http://a:" * 50_000, "pwd=a\n" * 50_000, "a/" * 200_000):
        begun = time.perf_counter()
        mask_secrets(text, NESTED)
        assert time.perf_counter() - begun < 5


def test_masked_lines_are_reported_where_the_model_misses_them(place):
    place.git("init -q .")
    place.write("proj/AGENTS.md", "Password=hunter2\n")
    place.write("proj/sub/AGENTS.md", "one\npwd=a\n\n-pwd b\n@more.md\n")
    place.write("proj/sub/CLAUDE.md", "@more.md\n")
    place.write("proj/sub/more.md", "Bearer abc\n")
    place.write("proj/sub/x.py", "x = 1\n")
    session = foretold.Session(place.proj, agent="copilot-cli@1.0.102", home=place.home, env={})
    assert session.start().findings == ()
    attached = session.use([foretold.Call("view", {"path": "sub/x.py"})])
    said = "the agent sends ****** in place of {}; the model does not see it"
    assert [(place.short(each.path), each.line, each.code, each.message) for each in attached.findings] == [
        ("proj/sub/AGENTS.md", 2, "text-masked", said.format("a password")),
        ("proj/sub/AGENTS.md", 4, "text-masked", said.format("a password")),
        ("proj/sub/CLAUDE.md", None, "text-masked", said.format("`Bearer` and the word after it")),
    ]


def test_other_agents_hide_nothing(place):
    place.git("init -q .")
    place.write("proj/sub/GEMINI.md", "pwd=a\n")
    place.write("proj/sub/x.py", "x = 1\n")
    session = foretold.Session(place.proj, agent="gemini-cli", home=place.home, env={})
    session.start()
    attached = session.use([foretold.Call("read_file", {"file_path": "sub/x.py"})])
    assert ["pwd=a" in block.text for block in attached.blocks] == [True]
    assert attached.findings == ()
