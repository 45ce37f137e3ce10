"""The labelled set is what its description says."""

import os
import runpy

SET = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "labelled.py"))
SECRETS, LOOKALIKES = SET["SECRETS"], SET["LOOKALIKES"]


def test_the_set_is_large_and_various():
    assert len(SECRETS) >= 300
    assert len({row.kind for row in SECRETS}) >= 100
    assert len({row.context for row in SECRETS}) >= 200
    assert len(LOOKALIKES) >= 350
    texts = [row.text for row in (*SECRETS, *LOOKALIKES)]
    assert len(set(texts)) == len(texts)


def test_every_secret_has_a_place_and_no_look_alike_has_one():
    assert [row.text for row in SECRETS if not row.secrets or not all(row.secrets)] == []
    assert [row.text for row in LOOKALIKES if row.secrets] == []


def test_a_third_is_held_out():
    for rows in (SECRETS, LOOKALIKES):
        assert 0.25 < sum(row.held_out for row in rows) / len(rows) < 0.42
