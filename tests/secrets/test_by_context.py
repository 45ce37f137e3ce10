"""What stands around a credential betrays it; code and prose about credentials stay."""

import base64
import json

import pytest

from foretold.secrets.by_context import is_secret_field
from foretold.secrets.detector import find_secrets
from foretold.secrets.redactor import Redactor

PW, TOKEN = "Kq92-mmPl0t7", "abCD1234efGH5678ijKL9012mnOP"
LOGIN = base64.b64encode(f"me:{PW}".encode()).decode()
BEGIN, END = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
KEY = f"{BEGIN}\nMIIEowIBAAKCAQEA0Z3VS5JJcds3xfn\nq9Xyz8AAAA\n{END}"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Authorization: Bearer {TOKEN}", TOKEN),
        (f"authorization: Basic {LOGIN}", LOGIN),
        (json.dumps({"auths": {"x": {"auth": LOGIN}}}), LOGIN),
        (f"curl -u admin:{PW} https://x.y/", PW),
        (f"Cookie: session={TOKEN}; a=b", TOKEN),
        ("12\tDB_PASSWORD=hunter2horse\n13\tA=b", "hunter2horse"),
        ("     1→POSTGRES_PASSWORD=correcthorsebattery", "correcthorsebattery"),
        ("DB_PASSWORD=a(b)C9$xY;zq1!", "zq1!"),
        ('DB_PASSWORD="my p4ss Phrase with!"', "p4ss"),
        ('password = "hunter2horse"', "hunter2horse"),
        ("SECRET_KEY_BASE=0123456789abcdef0123456789abcdef", "0123456789abcdef"),
        (json.dumps({"a": json.dumps({"password": PW})}), PW),
        (json.dumps({"a": json.dumps({"b": json.dumps({"password": PW})})}), PW),
        (json.dumps("a\n" + "ghp_" + "a1B2c3D4e5F6a7B8c9D0" * 2), "c3D4e5F6a7B8c9D0"),
        (f"x=1%26password%3D{PW}%26y", PW),
        (f"&quot;password&quot;: &quot;{PW}&quot;", PW),
        (f"https://x/c?sv=2022&sig={TOKEN}%3D&se=1", TOKEN),
        ("postgres://me:s3cr3/tPw9@db:5432/x", "tPw9"),
        (f"https://{TOKEN}@github.com/x", TOKEN),
        (f"mysql --password {PW} -h x", PW),
        (f"mysql -uroot -p{PW} x", PW),
        (f"sshpass -p {PW} ssh x", PW),
        (f"machine api.x login me password {PW}", PW),
        (f"| password | {PW} |", PW),
        (f"<password>{PW}</password>", PW),
        (f"Password:\n    {PW}", PW),
        ("me:$apr1$abcd1234$abcdefghijklmnopqrstu/", "abcdefghij"),
        ("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "JBSWY3DP"),
        ("secret=" + "aB3xY9kLmQ2w" * 50, "aB3xY9"),
        (KEY, "q9Xyz8"),
        (KEY.replace("\n", "\\n"), "q9Xyz8"),
        (KEY.replace("\n", "\\\\n"), "q9Xyz8"),
        ("\n".join(f"{number}\t{line}" for number, line in enumerate(KEY.split("\n"))), "q9Xyz8"),
        ("A" * 60 + "q9Xyz8\n" + END, "q9Xyz8"),
        (KEY[: -len(END)], "q9Xyz8"),
        ("\x1b[31mAKIA\x1b[0m" + "IOSFODNN7ABCDEFG", "IOSFODNN"),
        ("AKIA\u200b" + "IOSFODNN7ABCDEFG", "IOSFODNN"),
    ],
)
def test_no_part_of_a_secret_stays(text, secret):
    assert secret in text
    assert secret not in Redactor().text(text)


HARMLESS = """\
password = get_password()
password = os.environ["DB_PASSWORD"]
self.token = self._next_token(stream)
const apiKey = process.env.API_KEY;
token = tokens[i + 1]
commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad
session 11111111-2222-4333-8444-555555555555
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
max_tokens=100000; input_tokens: 28471
{"usage": {"input_tokens": 3, "cache_creation_input_tokens": 12345}}
raise ValueError("password must be 8 characters")
token: str | None = None
def __init__(self, token: Token2, secret: SecretStr):
toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvvXKD1
Authorization: Bearer $TOKEN
-H "Authorization: Bearer ${GITHUB_TOKEN}"
DB_PASSWORD=${DB_PASSWORD:-postgres} TOKEN=$(cat token)
PASSWORD=<your password> API_KEY=changeme
private_key = rsa.generate_private_key(65537, 2048)
docker run -u 1000:1000 -p 8080:80 image
https://host:8080/path@x and git@github.com:me/x.git
basic authentication with a bearer token"""


@pytest.mark.parametrize("text", [*HARMLESS.split("\n"), f'mark = "{BEGIN}"\nx = 1\ny = 2'])
def test_what_is_harmless_stays(text):
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"env": [{"name": "DB_PASSWORD", "value": PW}]},
        {"args": ["--password", PW]},
        {"password": {"value": PW}},
        {"headers": {"Authorization": f"Bearer {PW}{PW}"}},
        {"passwords": [PW]},
        {"password": f'a"b{PW}'},
        {"password": f"password {PW}"},
        {"first": f"DB_PASSWORD={PW}", "then": f"again {PW} alone"},
    ],
)
def test_fields_are_read_with_what_names_them(value):
    assert PW not in json.dumps(Redactor().value(value))


def test_fields_of_other_names_stay():
    value = {"max_tokens": "100000", "token_type": "bearer", "n": [1, True, None], "password": "", "apiKey": "$KEY"}
    assert Redactor().value(value) == value


def test_a_number_may_be_a_password_and_lines_may_be_a_key():
    assert is_secret_field("password", "12345678")
    assert "q9Xyz8" not in json.dumps(Redactor().value({"key": KEY.split("\n")}))


def test_what_is_quoted_in_json_is_json_again():
    inner = json.dumps({"password": PW, "n": 1})
    out = Redactor().text(json.dumps({"a": inner}))
    assert json.loads(json.loads(out)["a"])["n"] == 1


@pytest.mark.parametrize(
    "text", ["password", "token=", 'password="', f"{BEGIN}\n", f"{END}\n", "\\", "%3D", "://a:", "\x1b]", "cookie: a="]
)
def test_hostile_texts_cost_no_more_than_long_ones(text):
    find_secrets(text * (20_000 // len(text)))
