"""What looks like a credential in a memory is not quoted."""

from foretold.memory.recall.render import parse_rendered
from foretold.secrets.masking import mask_credentials

TOKEN = "AKIA" + "IOSFODNN7ABCDEFG"
MARK = "[credential: AWS access key]"
LINES = ["MIIEpAIBAAKCAQEA1234567890abcdefgh", "qRstuvWxyz0987654321ABCDEFGHijklmn"]
KEY = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *LINES, "-----END RSA " + "PRIVATE KEY-----"])


def test_a_credential_is_masked_by_its_kind():
    assert mask_credentials(f"Log in with {TOKEN}, then {TOKEN}.") == (
        f"Log in with {MARK}, then {MARK}.",
        ("AWS access key",),
    )
    assert mask_credentials("Log in by hand.") == ("Log in by hand.", ())


def test_a_private_key_is_masked_to_its_last_line():
    assert mask_credentials(f"Before\n{KEY}\nAfter") == ("Before\n[credential: private key]\nAfter", ("private key",))
    torn = KEY.rpartition("\n")[0]
    assert mask_credentials(f"Before\n{torn}") == ("Before\n[credential: private key]", ("private key",))


def test_a_part_of_a_credential_in_an_excerpt_is_masked():
    part = f"[…]\n{LINES[1]}\n{KEY.rpartition(chr(10))[2]}\nAfter"
    assert mask_credentials(part, f"Before\n{KEY}\nAfter") == (
        "[…]\n[credential: private key]\nAfter",
        ("private key",),
    )


def test_a_prompt_recalls_no_credential(hooks):
    hooks.remember("project_deploys.md", f"how we deploy, with {TOKEN}", f"Deploy with {TOKEN} on Tuesdays.")
    why = hooks.why("UserPromptSubmit", prompt="how do we deploy?")
    said = "recall: project_deploys.md holds what looks like a credential (AWS access key); it is masked"
    assert said in why
    text = hooks.context("UserPromptSubmit", prompt="how do we deploy?")
    (quote,) = parse_rendered(text)
    assert quote.text == f"how we deploy, with {MARK}\n\nDeploy with {MARK} on Tuesdays."
    assert hooks.log() == [f"UserPromptSubmit s1 {said}"]


def test_a_key_that_is_quoted_in_part_is_masked(hooks):
    long = "\n".join(f"Step {number} of how we deploy the shop on Tuesdays." for number in range(200))
    hooks.remember("project_deploys.md", "how we deploy", f"{KEY}\n{long}\n{KEY}")
    text = hooks.context("UserPromptSubmit", prompt="how do we deploy?")
    assert not any(line in text for line in LINES)


def test_an_index_and_a_drift_line_have_no_credential(hooks):
    for number, folder in enumerate(("proj/.foretold/memory", hooks.memory)):
        hooks.remember(f"project_{number}.md", f"deploys with {TOKEN}", "By `src/ship.py`.", folder=folder)
    hooks.place.write("proj/src/ship.py")
    start = hooks.context("SessionStart", source="startup")
    change = {"tool_name": "Edit", "tool_input": {"file_path": f"{hooks.place.proj}/src/ship.py"}}
    new = hooks.context("PostToolUse", **change)
    hooks.work()
    old = hooks.context("PostToolUse", session="s2", **change)
    assert [(TOKEN in text, MARK in text) for text in (start, new, old)] == [(False, True)] * 3
