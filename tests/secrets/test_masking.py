"""Masking a private key that was cut off: too much rather than too little."""

from foretold.secrets.masking import mask_credentials

FIRST = "-----BEGIN RSA " + "PRIVATE KEY-----"
LINES = ["MIIEpAIBAAKCAQEA1234567890abcdefgh", "qRstuvWxyz0987654321ABCDEFGHijklmn"]
MASKED = ("Before\n[credential: private key]\nAfter that, words.", ("private key",))


def mask(*lines):
    return mask_credentials("\n".join(["Before", FIRST, *lines, "After that, words."]))


def test_a_key_that_was_cut_off_is_masked_to_the_first_line_of_words():
    assert mask(*LINES) == MASKED
    assert mask(LINES[0], "[…]", LINES[1]) == MASKED
    assert mask(LINES[0], "abc_def-ghi.jkl~mno", "", LINES[1], "Zm9v…") == MASKED
    assert mask("\\n".join(LINES)) == MASKED


def test_headers_and_numbers_of_lines_do_not_end_a_key():
    assert mask("Proc-Type: 4,ENCRYPTED", LINES[0], "[…]", LINES[1]) == MASKED
    assert mask(f"12 {LINES[0]}", f"13 {LINES[1]}", "Zm9v…") == MASKED


def test_a_key_is_masked_to_its_last_line_whatever_is_before_it():
    last = FIRST.replace("BEGIN", "END")
    assert mask(LINES[0], "a line of words", LINES[1], f"{last}  # the end") == MASKED
    far = ["words " * 8_000, LINES[1], last]
    assert mask(LINES[0], *far) == MASKED
