"""What the clients of all vendors share: their options, the text of a failure, and which texts can be sent.

1. The key, the address and retries are left to the vendor's package.
2. A reply has content. A refusal, silence, and whatever the package raises is a ModelFailed of one line that says what
   to do next. What the caller's own callback raises goes through.
3. The vendors' packages name their errors alike: an error with a `status_code` was an answer, one without was not. So
   this needs no package.
4. The vendor's own message is kept where it helps (what is wrong with a request), on one line of at most 300
   characters. Where a key was refused it is not: some vendors repeat a part of it. A known key, and whatever looks like
   a credential, never appears in a line.
5. Half of a surrogate pair is sent as U+FFFD. Names of files that are not UTF-8, and text cut by other programs, bring
   such halves; the packages cannot send them, and one in any message would end the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from foretold.errors import ModelFailed, UnknownModel
from foretold.extras import missing
from foretold.models.protocol import ModelRequest, Reply
from foretold.secrets.forms import credentials_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from foretold.models.protocol import Model

    Json = dict[str, object]

#: vendor -> class of its client, in the module of the vendor's name
VENDORS = {"anthropic": "AnthropicModel", "openai": "OpenAIModel"}
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
#: what an error in the middle of a stream is called, when the status was sent long ago
KINDS = {"rate_limit_error": 429, "overloaded_error": 529, "invalid_request_error": 400, "api_error": 500}
PACKAGES = ("anthropic", "openai", "httpx", "httpx2", "httpcore", "httpcore2", "pydantic", "json")
_HALF = re.compile("[\ud800-\udfff]")


def from_name(name: str, **options: Any) -> Model:
    """The model of a name in settings and commands, `vendor:model`; `options` are those of its client.

    >>> from_name("claude")
    Traceback (most recent call last):
        ...
    foretold.errors.UnknownModel: 'claude' is not a model; write vendor:model, with one of the vendors anthropic, openai
    """
    vendor, _, model = name.partition(":")
    if vendor not in VENDORS or not model.strip():
        said = f"{name!r} is not a model; write vendor:model, with one of the vendors {', '.join(VENDORS)}"
        raise UnknownModel(said)
    module = __import__(f"foretold.models.{vendor}", fromlist=[VENDORS[vendor]])
    made: Model = getattr(module, VENDORS[vendor])(model.strip(), **options)
    return made


class Vendor(NamedTuple):
    """Whose model it is, for the text of a failure."""

    name: str
    variable: str  #: of the environment, that holds the key
    address: str = ""
    key: str = ""  #: to be kept out of every line


class VendorModel:
    """A model behind a vendor's package.

    `client` is a client of that package (or of its variant for a cloud); by default one is made. `max_tokens` replaces
    that of the requests. `on_text` gets the text while it arrives. `options` go into every call. What `system_role` is
    depends on the vendor.
    """

    vendor = Vendor("", "")
    package = ""

    def __init__(
        self,
        model: str,
        *,
        client: Any = None,
        base_url: str | None = None,
        api_key: str | None = None,
        max_tokens: int | None = None,
        stream: bool = False,
        on_text: Callable[[str], None] | None = None,
        system_role: bool | str | None = None,
        **options: object,
    ) -> None:
        self.name, self.max_tokens, self.stream, self.on_text = model, max_tokens, stream, on_text
        self.system_role, self.options = system_role, options
        self.client = client if client is not None else self._make_client(base_url, api_key)

    def reply(self, request: ModelRequest) -> Reply:
        """The answer; ModelFailed if there is none."""
        limit = self.max_tokens or request.max_tokens
        try:
            reply, refusal = self._ask({**sendable(self._call_of(request, limit)), **self.options}, limit)
        except Exception as error:
            if not self._is_of_package(error):
                raise
            key, address = (getattr(self.client, name, "") for name in ("api_key", "base_url"))
            vendor = self.vendor._replace(address=str(address), key=key if isinstance(key, str) else "")
            raise failed(error, vendor) from error
        reply = reply if reply.model else reply._replace(model=self.name)
        if refusal is not None:
            why = f": {' '.join(refusal.split())}" if refusal else ""
            raise ModelFailed(f"{reply.model} refused to answer{why}; rephrase it, or ask another model")
        if self._has_content(reply):
            return reply
        if reply.stop == "max_tokens":
            raise ModelFailed(f"{reply.model} thought for all {limit:,} tokens and said nothing; allow it more tokens")
        raise ModelFailed(f"{reply.model} said nothing ({reply.stop}); ask again")

    def _client_class(self) -> Any:
        """The class of the package's clients; ImportError without the package."""
        raise NotImplementedError

    def _call_of(self, request: ModelRequest, limit: int) -> Json:
        """What the API is called with."""
        raise NotImplementedError

    def _ask(self, call: Json, limit: int) -> tuple[Reply, str | None]:
        """The reply, and if it is a refusal, the vendor's explanation of it."""
        raise NotImplementedError

    def _has_content(self, reply: Reply) -> bool:
        return bool(reply.content)

    def _is_of_package(self, error: Exception) -> bool:
        """Whether an error was raised by the vendor's package, or by what that is built on."""
        return any(kind.__module__.partition(".")[0] in PACKAGES for kind in type(error).__mro__)

    def _make_client(self, base_url: str | None, api_key: str | None) -> Any:
        try:
            kind = self._client_class()
        except ImportError as error:
            raise missing(f"a model of {self.vendor.name}", self.package) from error
        try:
            return kind(base_url=base_url, api_key=api_key)
        except Exception as error:
            raise failed(error, self.vendor._replace(address=base_url or "")) from error


def failed(error: BaseException, vendor: Vendor) -> ModelFailed:
    """The failure for an error of a vendor's package."""
    status = _status(error)
    if not status:
        return ModelFailed(_one_line(_describe_silence(error, vendor), vendor))
    said = "" if status in SILENT else _message(error)
    advice = ADVICE.get(status, "the vendor's server failed; try again later" if status >= 500 else ADVICE[400])
    parts = (f"{vendor.name} answered {status}", said, advice.format(variable=vendor.variable))
    return ModelFailed(_one_line(": ".join(filter(None, parts)), vendor))


def _status(error: BaseException) -> int:
    """The status of an answer that is an error; 0 if there was no answer."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        return status
    kind = getattr(error, "type", None)
    return KINDS.get(kind, 500) if isinstance(kind, str) else 0


def _describe_silence(error: BaseException, vendor: Vendor) -> str:
    text = str(error)
    if "api_key" in text or "auth" in text.lower() or "credential" in text.lower():
        return f"{vendor.name}: there is no key; set {vendor.variable}"
    if isinstance(error, ValueError) and type(error).__module__.startswith("json"):
        return f"{vendor.name}: {vendor.address} did not answer with JSON; check the base URL"
    if "imeout" in type(error).__name__:
        return f"{vendor.name}: {vendor.address} did not answer in time; try again"
    while error.__cause__ is not None:  # an error of a package says less than its cause
        error = error.__cause__
    cause = (str(error) or type(error).__name__).rstrip(".")
    return f"{vendor.name}: cannot reach {vendor.address}: {cause}; check the connection and the base URL"


def _message(error: BaseException) -> str:
    """The vendor's own message, out of the JSON it came in."""
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


def sendable(value: Any) -> Any:
    """What an API is called with, in texts that can be sent."""
    if isinstance(value, str):
        return value if value.isascii() else _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {sendable(key): sendable(each) for key, each in value.items()}
    return [sendable(each) for each in value] if isinstance(value, list | tuple) else value


def blocks_of(content: object) -> list[Json]:
    """The blocks of a message's content; a text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list | tuple) else []
