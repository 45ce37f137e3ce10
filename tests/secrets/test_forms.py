"""What looks like a credential, and what does not. Tokens are put together at run time: none stands here."""

import random
import string
import time

import pytest

from foretold.secrets.forms import credentials_in

HEX = "0123456789abcdef"
MIXED = string.ascii_letters + string.digits


def made(alphabet, count, seed=1):
    """Letters that look random, and are the same every time; the first are of every kind there is."""
    chance = random.Random(seed)
    first = "aB3" if alphabet is MIXED else "a1" if alphabet is HEX else ""
    return first + "".join(chance.choice(alphabet) for _ in range(count - len(first)))


def upper(count):
    return made(string.ascii_uppercase + string.digits, count)


TRUE = {
    "private key": "-----BEGIN " + "RSA PRIVATE " + "KEY-----",
    "private key 2": "-----BEGIN " + "PRIVATE " + "KEY-----",
    "private key 3": "-----BEGIN PGP " + "PRIVATE KEY " + "BLOCK-----",
    "AWS access key": "AK" + "IA" + upper(16),
    "AWS access key 2": "AS" + "IA" + upper(16),
    **{f"GitHub token {kind}": f"gh{kind}" + "_" + made(MIXED, 36) for kind in "pousr"},
    "GitHub token pat": "github" + "_pat_" + made(MIXED, 22) + "_" + made(MIXED, 59),
    "GitLab token": "glp" + "at-" + made(MIXED, 20),
    "GitLab token 2": "gld" + "t-" + made(MIXED, 20),
    "Slack token": "xo" + "xb-" + made(string.digits, 12) + "-" + made(MIXED, 24),
    "Slack token 2": "xa" + "pp-1-" + made(MIXED, 30),
    "Slack webhook": "https://hooks.slack" + ".com/services/T0/B0/" + made(MIXED, 24),
    "Discord webhook": "https://discord" + ".com/api/webhooks/" + "1" * 18 + "/" + made(MIXED, 68),
    "Anthropic key": "sk-" + "ant-api03-" + made(MIXED, 90),
    "OpenAI key": "sk-" + made(MIXED, 48),
    "OpenAI key 2": "sk-" + "proj-" + made(MIXED, 100),
    "OpenAI key 3": "sk-" + "or-v1-" + made(HEX, 64),
    "xAI key": "xa" + "i-" + made(MIXED, 80),
    "Groq key": "gs" + "k_" + made(MIXED, 52),
    "Perplexity key": "pp" + "lx-" + made(MIXED, 48),
    "Replicate token": "r8" + "_" + made(MIXED, 37),
    "Google key": "AI" + "za" + made(MIXED, 35),
    "Google key 2": "ya" + "29." + made(MIXED, 60),
    "Google key 3": "GOC" + "SPX-" + made(MIXED, 28),
    "Stripe key": "sk" + "_live_" + made(MIXED, 24),
    "Stripe key 2": "rk" + "_test_" + made(MIXED, 24),
    "Stripe key 3": "wh" + "sec_" + made(MIXED, 32),
    "npm token": "np" + "m_" + made(MIXED, 36),
    "PyPI token": "py" + "pi-" + made(MIXED, 80),
    "RubyGems token": "ruby" + "gems_" + made(HEX, 48),
    "Docker token": "dckr" + "_pat_" + made(MIXED, 27),
    "Hugging Face token": "h" + "f_" + made(MIXED, 34),
    "SendGrid key": "S" + "G." + made(MIXED, 22) + "." + made(MIXED, 43),
    "Twilio key": "S" + "K" + made(HEX, 32),
    "Vault token": "hv" + "s." + made(MIXED, 24),
    "Terraform token": made(MIXED, 14) + ".atlas" + "v1." + made(MIXED, 60),
    "DigitalOcean token": "do" + "p_v1_" + made(HEX, 64),
    "Shopify token": "shp" + "at_" + made(HEX, 32),
    "Square token": "sq0" + "atp-" + made(MIXED, 22),
    "Databricks token": "da" + "pi" + made(HEX, 32),
    "Grafana token": "gl" + "sa_" + made(MIXED, 32) + "_" + made(HEX, 8),
    "Sentry token": "snt" + "rys_" + made(MIXED, 60),
    "New Relic key": "NR" + "AK-" + upper(27),
    "Linear key": "lin" + "_api_" + made(MIXED, 40),
    "Notion token": "nt" + "n_" + made(MIXED, 46),
    "Figma token": "fi" + "gd_" + made(MIXED, 40),
    "Atlassian token": "ATA" + "TT3" + made(MIXED, 180),
    "Postman key": "PM" + "AK-" + made(HEX, 24) + "-" + made(HEX, 34),
    "Supabase token": "sb" + "p_" + made(HEX, 40),
    "Telegram token": "123456789" + ":A" + "A" + made(MIXED, 33),
    "age key": "AGE-SECRET" + "-KEY-1" + upper(58),
    "Azure key": "Account" + "Key=" + made(MIXED, 86) + "==",
    "JSON web token": "ey" + "J" + made(MIXED, 20) + ".ey" + "J" + made(MIXED, 30) + "." + made(MIXED, 43),
    "password in a URL": "postgres://app:" + "s3cr" + "3tpw" + "@db.internal/x",
    "password in a URL 2": "redis://:" + made(MIXED, 12) + "@cache:6379",
}


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("around", ["{}", "one\ntwo `{}` three", "key={}\n", '{{"k": "{}"}}', "({})."])
def test_tokens_by_their_form(name, around):
    token = TRUE[name]
    text = around.format(token)
    kinds = [found.kind for found in credentials_in(text)]
    assert len(kinds) == 1
    assert name.startswith(kinds[0])
    [found] = credentials_in(text)
    assert found.line == text.count("\n", 0, text.index(token)) + 1
    assert token[-8:] not in repr(found)


ASSIGNED = [
    "password: {}",
    "Password = {}",
    "the password is {}",
    'db_password="{}"',
    "export API_KEY={}",
    "api-key: {}",
    "SECRET_KEY = '{}'",
    "client_secret: {}",
    '{{"token": "{}"}}',
    "auth_token => '{}'",
    "accessKey: {}",
    "passphrase := {}",
    "**Token:** `{}`",
    "PGPASSWORD={}",
    "credentials: {}",
    "?token={}",
    "mysql --pass={}",
]


@pytest.mark.parametrize("form", ASSIGNED)
@pytest.mark.parametrize(
    "value", ["hunter" + "2!", "Tr0ub4" + "dor&3", made(MIXED, 24), made(HEX, 40), "Summer" + "2024"]
)
def test_values_by_what_stands_before(form, value):
    text = form.format(value)
    [found] = credentials_in(text)
    assert (found.kind, text[found.start : found.end]) == ("assigned secret", value)


INNOCENT = [
    "The password is kept in the vault.",
    "Ask Grace for the password; it is in 1Password.",
    "password: <your password>",
    "password: ********",
    "password: changeme123",
    "password: your_password_here1",
    "PASSWORD=$DB_PASSWORD",
    "token=${{ secrets.NPM_TOKEN }}",
    "password: {{ vault.db.password2 }}",
    "api_key = os.environ['API_KEY_2']",
    "token: process.env.DATABASE_PASSWORD",
    "const token = getUserToken2(session)",
    "secret = settings.SECRET_KEY_V2",
    "token: TokenStream2",
    "token: MyVeryLongClassNameForTokens",
    "password: correct-horse-battery-staple",
    "max_tokens: 100000, tokens=25,000",
    "tokenizer: bert-base-uncased2",
    "The first pass: 12 of 15 tests",
    "secret: /run/secrets/db_password_2",
    "secret: ~/.config/app/Secret2.json",
    "token: https://example.org/Login?x=1A",
    "api key: see docs/Keys-2.md",
    "credentials: AWS_PROFILE=dev2",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "/usr/lib/python3.11/site-packages/foretold/memory/store.py:120",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "sk-learn is a library; sk-some-very-long-kebab-case-name-2024-with-words",
    "task-force-2024-abcdefghijklmnopqrstuvwxyz-012345",
    "disk-usage and risk-management-of-the-year-2026-for-everybody",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "https://user@example.org/x and https://example.org:8080/a@b",
    "postgres://postgres:postgres@localhost/test",
    "postgres://user:password@host/db",
    "https://user:<token>@example.org",
    "https://$USER:$TOKEN@example.org",
    "eyJ is how base64 of a JSON object begins",
    "def test_token_is_refreshed_2(): assert token == other",
    "if (password !== confirmPassword2) {",
    "type: feedback\nname: real-databases-in-tests-2026",
    "see ghp_ and xoxb- prefixes, AKIA... keys, npm_config_registry",
    "the glossary of github_pat_ tokens",
    "Contents of MEMORY.md: 200 lines, 25,000 characters",
    "hf_hub_download and do_v1_migration",
    "password123",
    "ssh-ed25519 public keys go into authorized_keys",
    "Kennwort: geheim, mot de passe: secret",
]


@pytest.mark.parametrize("text", INNOCENT, ids=range(len(INNOCENT)))
def test_innocents(text):
    assert credentials_in(text) == []


def test_several_in_the_order_of_the_text():
    one, two = TRUE["npm token"], TRUE["Stripe key"]
    text = f"a {one}\n\nb {two} and {one}\n"
    found = credentials_in(text)
    assert [(each.kind, each.line) for each in found] == [("npm token", 1), ("Stripe key", 3), ("npm token", 3)]
    assert found[0].fingerprint == found[2].fingerprint != found[1].fingerprint
    assert [text[each.start : each.end] for each in found] == [one, two, one]


PIECES = [
    "a", "a.", "-", "_", " ", "\n", "é", "sk-", "sk-abc-", "sk-A1-", "ey" + "J-", "ey" + "Jaaaaaaaaaa.", "password",
    "password=", "password   ", "token is ", "a://", "aaaa://aaaaaa:", "-----BEGIN A ", "SG.", "glpat-", "12345678:AA",
    "secret.", "api_", "api-key ", "key: ", "AccountKey=", "pypi-", "ya29.", "dop_v1_", "x" * 13 + ".atlasv1.", "xoxb",
    "AK" + "IA" + "ABCDEFGHIJKLMNOP\n", "password: aB3$efgh12\n", "hooks.slack.com/services/", "https://a:b",
]  # fmt: skip


QUARTER = 256 * 1024


def test_no_text_takes_time_that_grows_with_its_square():
    """A quarter of a megabyte takes a fraction of a second; the first form of a key took ten minutes for it."""
    slow = {}
    for piece in PIECES:
        text = (piece * (QUARTER // len(piece) + 1))[:QUARTER]
        begun = time.process_time()
        credentials_in(text)
        spent = time.process_time() - begun
        if spent > 20:
            slow[piece] = spent
    assert slow == {}
