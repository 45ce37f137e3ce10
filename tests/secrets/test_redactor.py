"""Credentials do not leave: whatever they stand in."""

import json

import pytest

from foretold.secrets.redactor import Redactor, fingerprint

AWS = "AKIA" + "IOSFODNN7ABCDEFG"
GITHUB = "ghp_" + "a1B2c3D4e5F6a7B8c9D0" * 2
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + "x" * 40 + "\nAAAA\n-----END RSA PRIVATE KEY-----"


def test_what_stands_in_its_place_says_what_it_was():
    assert Redactor().text(f"a {AWS} b") == f"a [redacted: AWS access key {fingerprint(AWS)}] b"


def test_equal_values_have_equal_fingerprints_and_are_counted():
    redactor = Redactor()
    redactor.text(f"{AWS} {GITHUB} {AWS}")
    assert {found.kind: times for found, times in redactor.found.items()} == {"AWS access key": 2, "GitHub token": 1}


def test_a_private_key_goes_from_its_first_line_to_its_last():
    out = Redactor().text(f"before\n{KEY}\nafter")
    assert out.startswith("before\n[redacted: private key ")
    assert out.endswith("]\nafter")
    assert "MIIEow" not in out


def test_a_private_key_without_an_end_goes_on_while_it_looks_like_one():
    out = Redactor().text(f"{KEY[:60]}\n\nThat is all of the file, it was cut.")
    assert out.startswith("[redacted: private key ")
    assert out.endswith("]\n\nThat is all of the file, it was cut.")


def test_values_are_read_with_their_keys():
    value = {"env": {"DB_PASSWORD": "Kq92-mmPl0t7"}, "args": ["--token", GITHUB], "n": 3, "none": None}
    out = json.dumps(Redactor().value(value))
    assert "Kq92" not in out
    assert GITHUB not in out
    assert json.loads(out)["n"] == 3


def test_credentials_in_names_of_fields_go_too():
    assert AWS not in json.dumps(Redactor().value({AWS: 1}))


def test_plain_words_stay():
    text = "the password is kept in the vault, see docs/secrets.md; commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
    redactor = Redactor()
    assert redactor.text(text) == text
    assert redactor.found == {}


def test_a_text_is_the_same_the_second_time():
    redactor = Redactor()
    once = redactor.text(f"x {AWS} y {KEY} password='Kq92-mmPl0t7'")
    assert redactor.text(once) == once


PW = "Kq92mmPl0t7"


@pytest.mark.parametrize(
    "text",
    [
        "key {}",
        "AWS_ACCESS_KEY_ID={}",
        "aws_access_key_id = {}",
        '"access_key": "{}", "n": 1',
        "Authorization: Bearer {}",
        "https://{}@host/x",
        "password={};",
        "Cookie: session={}",
    ],
)
def test_a_token_is_itself_wherever_it_stands(text):
    marked = f"[redacted: AWS access key {fingerprint(AWS)}]"
    redactor = Redactor()
    assert redactor.text(text.format(AWS)).rstrip(";") == text.format(marked).rstrip(";")
    assert redactor.value({"access_key": AWS, "token": AWS}) == {"access_key": marked, "token": marked}
    assert len(redactor.found) == 1


def test_of_a_url_only_the_password_goes_and_it_goes_everywhere():
    marked = f"[redacted: password in a URL {fingerprint(PW)}]"
    redactor = Redactor()
    assert redactor.text(f"{PW} in postgres://app:{PW}@db/x") == f"{marked} in postgres://app:{marked}@db/x"
    assert redactor.text(f"the word {PW} again, DB_PASSWORD={PW}") == f"the word {marked} again, DB_PASSWORD={marked}"
    assert redactor.value({"password": PW}) == {"password": marked}
    assert [(found.kind, times) for found, times in redactor.found.items()] == [("password in a URL", 5)]


def test_what_stands_beside_a_token_in_a_secret_goes_too():
    out = Redactor().text(f"Cookie: session={AWS}; other={PW}")
    assert out.startswith(f"Cookie: session=[redacted: AWS access key {fingerprint(AWS)}][redacted: cookie ")
    assert PW not in out


def test_colours_and_the_sign_behind_a_value_make_no_other_value_of_it():
    redactor = Redactor()
    redactor.text(f"{AWS[:4]}\x1b[1m{AWS[4:]} {AWS}")
    redactor.text(f"DB_PASSWORD={PW};\nDB_PASSWORD='{PW}'\n")
    assert set(redactor.found.values()) == {2}
