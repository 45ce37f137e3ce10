"""Stances: which clauses deny, and when a claim takes another side than the user."""

import pytest

from foretold.memory.extraction.judge.names import NameVocabulary
from foretold.memory.extraction.judge.stances import (
    clauses_of,
    consent_of,
    is_exchanged,
    is_freed,
    is_opposed,
    is_unsaid,
)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("tests must not hit the network", [(("test", "hit", "networ"), -1)]),
        ("use uv, pip is banned here", [(("uv",), 1), (("pip",), -1)]),
        ("the flag stays off until Anna signs off", [(("flag", "stay"), -1), (("anna", "approv"), 0)]),
        ("the shell needs no explanation", [(("shell",), 0), (("explan",), -1)]),
        ("nothing goes out without a review", [(("go",), 0), (("review",), 0)]),
        ("names start with ft and get removed", [(("nam", "start", "ft"), 1), (("nam",), -1)]),
        ("there is nothing wrong with globals", [(("global",), 1)]),
    ],
)
def test_clauses(text, clauses):
    found = [tuple(each) for each in clauses_of(text)]
    assert found == clauses


@pytest.mark.parametrize(
    ("said", "claim", "is_other"),
    [
        ("use uv for everything, pip is banned", "Use pip for dependencies.", True),
        ("use uv for everything, pip is banned", "Use uv for dependencies; no pip.", False),
        ("don't open PRs against main, use develop", "Open PRs against develop.", False),
        ("don't open PRs against main, use develop", "Open PRs against main.", True),
        ("the key lives in vault, never in .env", "The key lives in .env.", True),
        ("the importer in legacy/ is dead code", "The importer in legacy/ is in use.", True),
        ("the importer in legacy/ is dead code", "Ignore the importer in legacy/.", False),
        ("we got rid of moment last year", "The project uses moment.", True),
        ("no long answers", "Keep answers short.", False),
        ("never go above 20 items a page", "At most 20 items a page.", False),
        ("don't run the migrations yourself, I do that", "The user runs the migrations.", False),
        ("dark mode is the default", "No dark mode.", True),
        ("walls of text are hard to read", "No walls of text.", False),
    ],
)
def test_opposed(said, claim, is_other):
    assert is_opposed(claim, said) is is_other


def test_what_another_statement_says_too_is_not_opposed():
    said = "use feature toggles for customers"
    assert is_opposed("Toggles are removed.", said) is True
    assert is_opposed("Toggles are removed.", said, ("the toggles get removed after a month",)) is False


@pytest.mark.parametrize(
    ("text", "consent"),
    [
        ("always ask before you delete a file", 1),
        ("never delete a file without asking", 1),
        ("without my ok nothing goes to prod", 1),
        ("you're not to restart it on your own", 1),
        ("files may be deleted without asking", -1),
        ("merging needs no approval", -1),
        ("never ask before deleting a file", -1),
        ("don't merge before it is approved", 1),
        ("interns cannot approve", 0),
    ],
)
def test_consent(text, consent):
    assert consent_of(text) == consent


def test_freed():
    assert is_freed("Changes go out without approval.", "without my ok nothing goes out") is True
    assert is_freed("Ask before pushing.", "no need to ask before branching, only before pushing") is False


@pytest.mark.parametrize(
    ("said", "claim", "is_other"),
    [
        ("I'm new to Go, come from ten years of Java", "New to Java, with ten years of Go.", True),
        ("I'm new to Go, come from ten years of Java", "New to Go, with ten years of Java.", False),
        ("Lena reviews Tom's code", "Tom reviews Lena.", True),
        ("Lena reviews Tom's code", "Tom is reviewed by Lena.", False),
        ("show the command before the output", "Show the output before the command.", True),
        ("run the formatter before the tests", "Run the tests, then the formatter.", True),
        ("the gateway calls billing", "Billing calls the gateway.", True),
    ],
)
def test_exchanged(said, claim, is_other):
    assert is_exchanged(claim, said) is is_other


@pytest.mark.parametrize(
    ("said", "claim", "is_new"),
    [
        ("Redis is only a cache here, losing it must be harmless", "Redis is the primary store.", True),
        ("Redis is only a cache here, losing it must be harmless", "Redis may lose its data.", False),
        ("we deploy on Mondays", "Deployments happen every Monday.", False),
    ],
)
def test_unsaid(said, claim, is_new):
    assert is_unsaid(claim, [NameVocabulary([said])]) is is_new


def test_long_lists_of_clauses_are_cut():
    assert len(clauses_of(", ".join(f"word{at} other{at}" for at in range(60)))) == 12
