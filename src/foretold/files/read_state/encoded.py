"""Bytes of a file as text, and back, as the agent does it.

1. Read decodes UTF-8 with replacements and drops a byte order mark; some versions decode UTF-16 (little-endian), too.
2. Edit decodes UTF-16 after its mark, else UTF-8, and keeps the mark as a character.
3. Both turn CRLF into a plain newline. An Edit puts CRLF back where the first 4,096 characters have more of it than of
   plain newlines; a Write takes the text as it is given.
4. What cannot be decoded is lost when it is written again: `encoding_problem` reports that before.
"""

from __future__ import annotations

from foretold.types import NamedTuple

MARK = "\ufeff"
_WIDE = b"\xff\xfe"
HEAD = 4096  #: characters by which the line ends are known
NUL_HEAD = 8000  #: bytes in which a NUL makes a file binary; the agent calls them 8 KB


class DecodedText(NamedTuple):
    """A decoded file."""

    text: str  #: with plain newlines
    wide: bool = False  #: UTF-16, little-endian
    crlf: bool = False
    lossy: bool = False  #: some bytes are not characters


def decode_for_reading(data: bytes, *, wide: bool) -> str:
    """The text that Read shows."""
    text = decode_for_editing(data).text if wide else data.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removeprefix(MARK)


def is_wide(data: bytes) -> bool:
    """Whether bytes are UTF-16, little-endian, after a mark."""
    return data.startswith(_WIDE)


def decode_for_editing(data: bytes) -> DecodedText:
    """The text that Edit works on."""
    wide = is_wide(data)
    if wide:
        text = data[: len(data) // 2 * 2].decode("utf-16-le", "surrogatepass")
        lossy = len(data) % 2 == 1
    else:
        text = data.decode("utf-8", "replace")
        lossy = "\ufffd" in text and text.encode() != data
    head = text[:HEAD]
    crlf = head.count("\r\n")
    return DecodedText(text.replace("\r\n", "\n"), wide, crlf > head.count("\n") - crlf, lossy)


def encode(text: str, *, wide: bool, crlf: bool = False) -> bytes:
    """The bytes to write."""
    if crlf:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if wide:
        return text.encode("utf-16-le", "surrogatepass")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def encoding_problem(data: bytes) -> str:
    r"""Why a file cannot be written again without loss; empty if it can.

    >>> [encoding_problem(data) for data in (b"a", b"\xfe\xff\0a", b"a\0", b"\xe9", b"\xff\xfea\0")]
    ['', 'big-endian', 'nul', 'not-utf-8', '']
    """
    if is_wide(data):
        return ""
    if data.startswith(b"\xfe\xff"):
        return "big-endian"
    if b"\0" in data[:NUL_HEAD]:
        return "nul"
    return "" if data.decode("utf-8", "replace").encode() == data else "not-utf-8"
