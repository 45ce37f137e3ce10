"""Why a model did not answer, in one line that says what to do next.

1. The packages of both vendors name their errors alike: one with a `status_code` was answered, one without was not. So
   this needs neither package.
2. The vendor's own words are kept where they help (what is wrong with a request), on one line of at most 300 signs.
   Where a key was refused they are not: some vendors repeat a part of it. A key that we know, and whatever looks like
   a credential, never stands in a line.
3. What a package raises is a failure; what the caller's own callback raises is the caller's, and goes through.
"""

from __future__ import annotations

from foretold.errors import ModelFailed
from foretold.secrets.forms import credentials_in
from foretold.types import NamedTuple

LONGEST = 300
#: what to do about a status; others are by their first digit
ADVICE = {
    400: "the request was refused; if it is too long, compact the conversation",
    401: "the key was refused; set {variable} to a valid one",
    403: "this key may not use this model; choose another model or key",
    404: "there is no such model, or no such address; check the name of the model and the base URL",
    408: "the server gave up waiting; try again",
    413: "the request is too large; compact the conversation, or send smaller files",
    429: "the limit of requests is reached; wait a minute and try again, or raise the limit of the key",
    529: "the model is overloaded; wait a minute and try again",
}
SILENT = (401, 403)
#: what an error is called that comes in the middle of a stream, when the status was sent long ago
KINDS = {"rate_limit_error": 429, "overloaded_error": 529, "invalid_request_error": 400, "api_error": 500}
PACKAGES = ("anthropic", "openai", "httpx", "httpx2", "httpcore", "httpcore2", "pydantic", "json")


class Vendor(NamedTuple):
    """Whose model it is, for the words of a failure."""

    name: str
    variable: str  #: of the environment, that holds the key
    address: str = ""
    key: str = ""  #: to be kept out of every line


def is_of_package(error: BaseException) -> bool:
    """Whether an error was raised by a vendor's package, or by what that stands on.

    >>> import json
    >>> is_of_package(json.JSONDecodeError("", "", 0)), is_of_package(KeyError("a"))
    (True, False)
    """
    return any(kind.__module__.partition(".")[0] in PACKAGES for kind in type(error).__mro__)


def failed(error: BaseException, vendor: Vendor) -> ModelFailed:
    """The failure that an error of a vendor's package is.

    >>> print(failed(ValueError("no route"), Vendor("Anthropic", "ANTHROPIC_API_KEY", "http://127.0.0.1:1")))
    Anthropic: cannot reach http://127.0.0.1:1: no route; check the connection and the base URL
    """
    status = _status(error)
    if not status:
        return ModelFailed(_one_line(_unanswered(error, vendor), vendor))
    said = "" if status in SILENT else _message(error)
    advice = ADVICE.get(status, "the vendor's server failed; try again later" if status >= 500 else ADVICE[400])
    parts = (f"{vendor.name} answered {status}", said, advice.format(variable=vendor.variable))
    return ModelFailed(_one_line(": ".join(filter(None, parts)), vendor))


def _status(error: BaseException) -> int:
    """The status of an answer that is an error; 0 if there was none."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        return status
    kind = getattr(error, "type", None)
    return KINDS.get(kind, 500) if isinstance(kind, str) else 0


def _unanswered(error: BaseException, vendor: Vendor) -> str:
    text = str(error)
    if "api_key" in text or "auth" in text.lower() or "credential" in text.lower():
        return f"{vendor.name}: there is no key; set {vendor.variable}"
    if isinstance(error, ValueError) and type(error).__module__.startswith("json"):
        return f"{vendor.name}: {vendor.address} answered something else than JSON; check the base URL"
    if "imeout" in type(error).__name__:
        return f"{vendor.name}: {vendor.address} did not answer in time; try again"
    return f"{vendor.name}: cannot reach {vendor.address}: {_cause(error)}; check the connection and the base URL"


def _cause(error: BaseException) -> str:
    """What the machine said: an error of a package tells less than the one it stands for."""
    while error.__cause__ is not None:
        error = error.__cause__
    return (str(error) or type(error).__name__).rstrip(".")


def _message(error: BaseException) -> str:
    """The vendor's own words, out of the JSON they came in."""
    body: object = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    return body if isinstance(body, str) else ""


def _one_line(text: str, vendor: Vendor) -> str:
    if len(vendor.key) >= 4:
        text = text.replace(vendor.key, "[key]")
    for found in reversed(credentials_in(text)):
        text = f"{text[: found.start]}[key]{text[found.end :]}"
    line = " ".join(text.split())
    if len(line) <= LONGEST + 100:
        return line
    head, _, advice = line.rpartition(": ")
    return f"{head[:LONGEST]}…: {advice}"
