"""What calls and tools are given, and what they print."""

import base64

import pytest

from foretold.secrets.forms import credentials_in
from foretold.secrets.masking import mask_credentials

PW, TOKEN, HEX = "Xk4-heron" + "-Q9", "aB3xY9kLmQ2w" + "Z77pTqRs90aa", "9f3a61c07be2d845" * 4
SEED, PHRASE = "JBSWY3DP" + "EHPK3PXP", "moth_by" + "_the_pond"
CODED = base64.b64encode(PW.encode()).decode()
GIVEN = [
    *((TOKEN, text) for text in ("[b]\ntype = s3\nkey = {}\n", "[w]\npass = {}\n", "[d]\ndns_x_api_token = -{}")),
    *((TOKEN, text) for text in ('Client("{}")', 'bot.run("{}")', "user,tokens\nbob,{}\n", "hcloud_token=-{}")),
    *((TOKEN, text) for text in ('const TOKEN: string = "{}";', 'static API_SECRET: &[u8] = b"{}";')),
    *((HEX, text) for text in ('new ethers.Wallet("0x{}", p)', 'Account.from_key("{}")', "PK=0x{}", "vm.addr(0x{})")),
    *((HEX, text) for text in ('accounts: ["0x' + HEX[::-1] + '", "0x{}"]', 'Keypair.fromSecretKey("{}")')),
    *((SEED, text) for text in ("oathtool --totp -b {}", "pyotp.TOTP('{}').now()", "ykman oath accounts add x {}")),
    (SEED.lower(), "oathtool -b --totp {}"),
    *((PW, text) for text in ("Das Passwort f\u00fcr \u201eshop\u201c lautet {} \u2013 bitte", "auth: [bob, {}]")),
    (PW, "Le mot de passe de l\u2019utilisateur \u00ab shop \u00bb est {}"),
    *((PW, f"$ {text}\n{{}}\n") for text in ("kubectl get secret x -o json | base64 -d", "op read op://v/i/password")),
    *((PW, text) for text in ("$ vault kv get -field=password kv/db\n{}", "net use \\\\srv\\x {} /user:a")),
    *((CODED, text) for text in ("echo {} | base64 -d", "base64 --decode <<< {}")),
    *((PHRASE, text) for text in ('psk="{}"', "psk={}\n", "  wpa-psk {}\n", "wpa_passphrase={}\n", "nmcli x wifi-sec.psk {}")),  # noqa: E501
    (PHRASE.replace("_", " "), "gpg --passphrase '{}' -d x"),
]  # fmt: skip
OTHERS = [
    *(
        f"tx 0x{HEX} mined",
        f'getAccount("0x{HEX}")',
        f'blockHash: "0x{HEX}"',
        "[a]\nkey = my-cache-key-for-all-tests\n",
    ),
    *("[a]\nkey = 550e8400-e29b-41d4-a716-446655440000\n", "echo aGVsbG8gd29ybGQ= | base64 -d\nhello world"),
    *("key_mgmt=WPA-PSK\n", "psk = get_psk()", "psk = config.psk", "TOTP has six digits, see RFC6238"),
    *('Client("https://acme.dev/api/v1")', 'Client("prod-eu-west-1-cluster-01")', "auth: [read, write]"),
    *("model,max_tokens\nx,128000\n", "password: Optional[str] = None", "db.password=@db.password@"),
    *("$ vault kv get -field=password kv/db\nError: no value", "password: {{ .x.password | b64enc | quote }}"),
    *(
        "val token: AuthToken?, val x: Int",
        "net use Z: \\\\fs01\\x /persistent:yes",
        r"re.compile(r'password\s*[:=]\s*')",
    ),
]


@pytest.mark.parametrize(("value", "text"), GIVEN)
def test_nothing_of_it_stays(value, text):
    out = mask_credentials(text.replace("{}", value))[0]
    assert value not in out
    assert not any(value[at : at + 8] in out for at in range(len(value) - 7))


@pytest.mark.parametrize("text", OTHERS)
def test_what_looks_like_it_stays(text):
    assert credentials_in(text) == []
