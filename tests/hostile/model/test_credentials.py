"""Attacks by a model: what it writes with the tools that it has."""

import json
import uuid

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.secrets.forms import credentials_in
from foretold.secrets.masking import mask_credentials
from foretold.secrets.redactor import Redactor

# The guard and credentials

KEY = "AKIA" + "QYLPMN5HF2Z7KX4D"
SIZE = 2 << 20  #: ten megabytes take five times as long, which a busy machine would not have


@pytest.mark.parametrize("filling", ["AKIA", "a=", "password ", "x", "\n"])
def test_a_credential_at_the_end_of_a_long_text_is_refused(place, installed, filling):
    """The time of the search is linear: the hook ends within its own limit, and refuses."""
    place.folder("proj/.git")
    path = place.path(f"home/.claude/projects/{slug(place.proj)}/memory/project_a.md")
    place.folder(f"home/.claude/projects/{slug(place.proj)}/memory")
    content = f"{filling * (SIZE // len(filling))}\n{KEY}\n"
    given = {"session_id": str(uuid.uuid4()), "cwd": place.proj, "tool_name": "Write", "hook_event_name": "PreToolUse"}
    given["tool_input"] = {"file_path": path, "content": content}
    _, out, _ = installed.run("hook", "PreToolUse", given=json.dumps(given).encode())
    said = json.loads(out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert KEY not in out.decode()


@pytest.mark.parametrize(
    "text",
    [
        "mein Passwort lautet Wg7-kalmar-Drift",
        "curl -u ann:Wg7-kalmar-Drift https://acme.dev",
        "Authorization: Basic YW5uOldnNy1rYWxtYXItRHJpZnQ=",
        '{"body": "{\\"password\\": \\"Wg7-kalmar-Drift\\"}"}',
        "\x1b[31mpass\x1b[0mword: Wg7-kalmar-Drift",
        "pass\u200bword: Wg7-kalmar-Drift",
    ],
)
def test_a_disguised_password_is_refused(place, installed, text):
    place.folder("proj/.git")
    folder = f"home/.claude/projects/{slug(place.proj)}/memory"
    place.folder(folder)
    given = {"session_id": str(uuid.uuid4()), "cwd": place.proj, "tool_name": "Write", "hook_event_name": "PreToolUse"}
    given["tool_input"] = {"file_path": place.path(f"{folder}/a.md"), "content": text}
    _, out, _ = installed.run("hook", "PreToolUse", given=json.dumps(given).encode())
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"


BEGIN, END = "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----"
LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + "BKcwggSjAgEAAoIBAQC7"
STAND_INS = ["...", "\u2026", "<word>", "${KEY}", "your", "***", "[key]", "{{ key }}"]
KEYS = [
    f"{LINE}\n{LINE}\n{END}",
    LINE,
    f"{LINE[:30]}\n{LINE[22:]}\n",
    "as agreed.\n" * 50 + LINE,
    f"-----END CERTIFICATE-----\n{LINE}",
    f"{END}\n{LINE}",
]


@pytest.mark.parametrize("stand_in", STAND_INS)
@pytest.mark.parametrize("key", KEYS)
def test_a_placeholder_before_a_private_key_does_not_make_it_a_skeleton(stand_in, key):
    text = f"{BEGIN}\n{stand_in}\n{key}\n"
    assert credentials_in(text)
    for out in (mask_credentials(text)[0], Redactor().text(text)):
        assert LINE not in out
        assert LINE[:30] not in out


@pytest.mark.parametrize("stand_in", ["...", "\u2026", "<your key>", "${KEY}", "***", "{{ key }}"])
def test_a_skeleton_of_a_private_key_may_be_written(stand_in):
    assert credentials_in(f"{BEGIN}\n{stand_in}\n{END}\n\nIt is in the safe, since {'9f3a61c0' * 8}.\n") == []
