"""What has a form of its own: tokens of well-known issuers, and private keys.

1. A token whose issuer gave it a form is recognised by that form, unless it is filled with x.
2. A private key is recognised by its first line, unless dots or a placeholder stand below it and no line of a key
   follows. It ends at its last line, or, if that is missing, where the text stops
   looking like a key; its lines may be numbered or quoted. A last line without a first one ends a key whose beginning
   was cut off.
3. A form is searched only where its first characters are found, and begins only where a word does: the time is linear,
   also for a text that is written to cost time.
4. Where spans overlap, a token with a form of its own wins, then a value that was found before, then what its
   surroundings mark. Spans of equal rank become one, with the kind of the first. What a weaker span has outside a
   stronger one stays a span, unless it is only a name and punctuation (`ID=` before a key).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from foretold.text.patterns import lazy

#: kind, characters that must occur in the text, and the form; several forms may have one kind
FORMS: tuple[tuple[str, str, str], ...] = (
    ("private key", "PRIVATE KEY", r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
    *(("AWS access key", start, rf"\b{start}[A-Z0-9]{{16}}\b") for start in ("AKIA", "ASIA", "ABIA", "ACCA")),
    *(("GitHub token", f"gh{kind}_", rf"\bgh{kind}_[A-Za-z0-9]{{36,}}") for kind in "pousr"),
    ("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    *(
        ("GitLab token", f"{kind}-", rf"\b{kind}-[\w.-]{{19,}}\w")
        for kind in "glpat gloas glrt glptt gldt glcbt glft glimt glsoat glagent glffct".split()
    ),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", "xapp-", r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    ("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}"),
    ("Discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{10,}/[\w-]{40,}"),
    ("Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", "sk-", r"(?<![\w-])sk-(?!ant-)(?=[\w-]{0,99}[0-9])(?=[\w-]{0,99}[A-Z])[A-Za-z0-9_-]{32,}"),
    ("OpenAI key", "sk-", r"(?<![\w-])sk-(?:or-v1-)?[0-9a-f]{32,}\b"),
    ("xAI key", "xai-", r"\bxai-[A-Za-z0-9]{60,}"),
    ("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("Perplexity key", "pplx-", r"\bpplx-[A-Za-z0-9]{40,}"),
    ("Replicate token", "r8_", r"\br8_[A-Za-z0-9]{30,}"),
    ("Google key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("Google key", "ya29.", r"\bya29\.[\w-]{20,}"),
    ("Google key", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    ("Stripe key", "k_", r"\b[sr]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("Stripe key", "whsec_", r"\bwhsec_[0-9A-Za-z+/]{24,}"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("RubyGems token", "rubygems_", r"\brubygems_[0-9a-f]{48}"),
    ("Docker token", "dckr_", r"\bdckr_[po]at_[\w-]{20,}"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{32,}"),
    ("Twilio key", "SK", r"\bSK[0-9a-f]{32}\b"),
    ("Vault token", "hv", r"\bhv[sbr]\.[\w-]{24,}"),
    ("Terraform token", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    ("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    ("Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Square token", "sq0", r"\bsq0[a-z]{3}-[\w-]{22,}"),
    ("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}"),
    ("Grafana token", "glsa_", r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("Sentry token", "sntry", r"\bsntry[su]_[\w+/=-]{40,}"),
    ("New Relic key", "NRAK-", r"\bNRAK-[A-Z0-9]{27}"),
    ("Linear key", "lin_api_", r"\blin_api_[A-Za-z0-9]{32,}"),
    ("Notion token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}"),
    ("Figma token", "figd_", r"\bfigd_[\w-]{35,}"),
    ("Atlassian token", "ATATT3", r"\bATATT3[\w=-]{60,}"),
    ("Postman key", "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Supabase token", "sbp_", r"\bsbp_[0-9a-f]{40}"),
    ("Telegram token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[\w-]{33}(?![\w-])"),
    ("age key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("Azure key", "AccountKey=", r"\bAccountKey=[A-Za-z0-9+/]{40,}={0,2}"),
    ("Azure key", "SharedAccessKey=", r"\bSharedAccessKey=[A-Za-z0-9+/]{40,}={0,2}"),
    ("Slack token", "xoxe", r"\bxoxe\.xox[bp]-[A-Za-z0-9-]{10,}"),
    (
        "Teams webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/webhookb2/[\w@-]{36,}/IncomingWebhook/[\w/-]{20,}",
    ),
    ("Zapier webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/\d+/\w{5,}"),
    ("Mailgun key", "key-", r"(?<![\w-])key-[0-9a-f]{32}\b"),
    ("Mailchimp key", "-us", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    ("Brevo key", "xkeysib-", r"\bxkeysib-[0-9a-f]{40,}-\w{8,}"),
    ("Doppler token", "dp.", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,40}\.)?[A-Za-z0-9]{36,}"),
    ("Fly token", "fo1_", r"\bfo1_[\w-]{40,}"),
    ("Fly token", "fm2_", r"\bfm[12][ar]?_[\w+/=]{60,}"),
    ("Airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("Heroku key", "HRKU-", r"\bHRKU-[\w-]{30,}"),
    ("Bitbucket password", "ATBB", r"\bATBB[A-Za-z0-9]{24,}"),
    ("Atlassian token", "ATCTT3", r"\bATCTT3[\w=-]{60,}"),
    ("Tailscale key", "tskey-", r"\btskey-[a-z]{2,10}-[\w-]{16,}"),
    ("Netlify token", "nfp_", r"\bnf[pcoub]_[A-Za-z0-9]{32,}"),
    ("Pulumi token", "pul-", r"\bpul-[0-9a-f]{40}\b"),
    ("PlanetScale token", "pscale_", r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    ("Cloudflare key", "v1.0-", r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("Dynatrace token", "dt0", r"\bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("Contentful token", "CFPAT-", r"\bCFPAT-[\w-]{40,}"),
    ("EasyPost key", "EZ", r"\bEZ[AT]K[A-Za-z0-9]{54}\b"),
    ("Flutterwave key", "FLWSECK", r"\bFLWSECK(?:_TEST)?-[\w-]{20,}"),
    ("Mapbox token", "sk.eyJ", r"\bsk\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    ("Artifactory key", "AKCp", r"\bAKCp[A-Za-z0-9]{50,}"),
    ("New Relic key", "NRAL", r"\b[0-9a-f]{36,40}NRAL\b"),
    ("New Relic key", "NRI", r"\bNRI[IQ]-[\w-]{32}"),
    ("Nvidia key", "nvapi-", r"\bnvapi-[\w-]{60,}"),
    ("Tavily key", "tvly-", r"\btvly-[\w-]{28,}"),
    ("LangSmith key", "lsv2_", r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("Pinecone key", "pcsk_", r"\bpcsk_\w{40,}"),
    ("PostHog key", "phx_", r"\bphx_[A-Za-z0-9]{40,}"),
    ("Sourcegraph token", "sgp_", r"\bsgp_(?:[\w]{16}_)?[0-9a-f]{40}"),
    ("Supabase token", "sb_secret_", r"\bsb_secret_[\w-]{30,}"),
    ("Resend key", "re_", r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b"),
    ("Notion token", "secret_", r"\bsecret_[A-Za-z0-9]{43}\b"),
    ("1Password token", "ops_eyJ", r"\bops_eyJ[\w-]{60,}"),
    ("1Password key", "A3-", r"\bA3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){5}\b"),
    ("Alibaba key", "LTAI", r"\bLTAI[A-Za-z0-9]{20,26}\b"),
    ("Tencent key", "AKID", r"\bAKID[A-Za-z0-9]{32}\b"),
    ("Facebook token", "EAA", r"\bEAA[A-Za-z0-9]{80,}"),
    ("Dropbox token", "sl.", r"\bsl\.[\w-]{100,}"),
    ("Bedrock key", "ABSK", r"\bABSK[A-Za-z0-9+/]{60,}={0,2}"),
    ("Shippo key", "shippo_", r"\bshippo_(?:live|test)_[0-9a-f]{40}"),
    ("Docker token", "dckr_", r"\bdckr_[a-z]{3,5}_[\w-]{20,}"),
    ("Grafana key", "glc_", r"\bglc_[A-Za-z0-9+/=]{32,}"),
    ("Grafana key", "eyJrIjoi", r"\beyJrIjoi[\w=]{40,}"),
    ("Readme key", "rdme_", r"\brdme_[a-z0-9]{60,}"),
    ("Typeform token", "tfp_", r"\btfp_[\w.-]{40,}"),
    ("Duffel token", "duffel_", r"\bduffel_(?:test|live)_[\w-]{40,}"),
    ("Frame.io token", "fio-u-", r"\bfio-u-[\w=-]{60,}"),
    ("Prefect key", "pnu_", r"\bpnu_[a-z0-9]{36}"),
    ("Infracost key", "ico-", r"\bico-[A-Za-z0-9]{32}\b"),
    ("Google token", "1//0", r"(?<![\w/:])1//0[\w-]{40,}"),
    ("AWS session token", "IQoJb3JpZ2lu", r"\bIQoJb3JpZ2lu[A-Za-z0-9+/=]{80,}"),
    ("AWS session token", "FwoGZXIvYXdz", r"\bFwoGZXIvYXdz[A-Za-z0-9+/=]{80,}"),
    ("MWS token", "amzn.mws.", r"\bamzn\.mws\.[0-9a-f-]{36}"),
    *(
        (
            "service token",
            f"_{kind}_",
            rf"\b(?!pk_)[a-z][a-z0-9]{{1,12}}_{kind}_(?=[a-z]{{0,40}}[0-9A-Z])(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{20,}}",
        )
        for kind in ("live", "secret", "pat", "sk", "prod", "token", "key", "api")
    ),
    ("JSON web token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
)
#: a filled-in example: it opens nothing
_EXAMPLE = r"(?i)x{6,}|0{8,}|\.\.\."
AHEAD, AROUND = 64, 512  #: characters before the first characters of a form, and after them, that are searched
RARE = 50  #: characters of a text for each place of a form's first characters: matching there costs as much as a search
#: colours of a terminal, and characters that nobody sees
HIDDEN = (
    r"\x1b\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)"
    r"|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def tokens_in(text: str, low: str = "") -> Iterator[tuple[str, int, int]]:
    """Kind and place of what has the form of a token; `low`: in lower case. Private keys are not among them."""
    for kind, letters, form in FORMS[1:]:
        if low and not may_have(low, letters.lower()):
            continue
        for match in _find_form(text, letters, form):
            if not re.search(_EXAMPLE, match[0]):
                yield kind, match.start(), match.end()


def _find_form(text: str, letters: str, form: str) -> Iterator[re.Match[str]]:
    """Matches of a form. Where its first characters are rare, only their places are tried: ten times faster."""
    count = text.count(letters)
    if not count:
        return
    pattern = re.compile(form)
    if count * RARE > len(text):
        yield from pattern.finditer(text)
        return
    end, is_first = 0, re.sub(r"^(?:\\b|\(\?<!.*?\))", "", form).replace("\\", "").startswith(letters)
    for at in find_all(text, letters):
        if at < end:
            continue
        if is_first:
            match = pattern.match(text, at)
        else:  # the form begins a little before
            match = pattern.search(text, max(end, at - AHEAD), at + AROUND)
            end = at + AROUND // 2
            match = pattern.match(text, match.start()) if match else None
        if match:
            end = match.end()
            yield match


SAMPLE = 50_000  #: characters that tell whether a text repeats its words, as most do


@lru_cache(4)
def words_of(text: str) -> str:
    """The different words of a text, a fraction of it; the text itself if that is short, or its words are no fewer."""
    sample = text[:SAMPLE]
    if len(text) < SAMPLE or sum(map(len, set(sample.split()))) > len(sample) // 2:
        return text
    return "\n".join(set(text.split()))


@lru_cache(4)
def characters_of(text: str) -> frozenset[str]:
    """The ASCII characters of a text: what has others is not in it. A text that repeats itself has few."""
    return frozenset(char for char in map(chr, range(128)) if char in words_of(text) or char.isspace())


def may_have(text: str, part: str) -> bool:
    """Whether a text has the words of a part, or else parts of them: what is false is certain."""
    if not characters_of(text).issuperset(char for char in part if char.isascii()):
        return False
    words = words_of(text)
    return words is text or all(word in words for word in part.split())


def first_lines_of_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """The first lines of private keys; up to its first line of base64 if a placeholder stands before that."""
    kind, letters, form = FORMS[0]
    if letters not in text:
        return  # before anything is compiled: a hook waits for that
    skeleton, last, body = re.compile(_SKELETON), re.compile(_LAST), re.compile(_BODY)
    end, line = 0, 0  #: the next last line, and the next line of a key: each is searched once
    for match in re.finditer(form, text):
        first = match.end()
        if skeleton.match(text, first):
            if 0 <= end < first:
                end = found.start() if (found := last.search(text, first)) else -1
            if 0 <= line < first:
                line = _next_body(body, text, first)
            stop = end + BELOW if 0 <= end < first + LONGEST_KEY else first + LONGEST_KEY
            if not first <= line < stop:
                continue
            first = line
        yield kind, match.start(), first


def _next_body(body: re.Pattern[str], text: str, at: int) -> int:
    """Where the next lines are that a key is made of: letters of both cases, and digits; -1 if there are none."""
    for match in body.finditer(text, at):
        said = match[0]
        if any(map(str.isdigit, said)) and any(map(str.isupper, said)) and any(map(str.islower, said)):
            return match.start()
    return -1


def find_all(text: str, part: str) -> Iterator[int]:
    """Every place of a part in a text; they do not overlap."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


# Private keys

LONGEST_KEY = 32_768  #: characters from the first line of a private key to its last
MOST_LINES, LONGEST_LINE = 200, 400
_LAST = r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BEFORE = r"""[ \t]*(?:\d{1,6}[\t→:| ]|[+>#|*-])?[ \t"'`]{0,8}"""  # the number of a line, a mark of a diff, a quote
_LINE = _BEFORE + r"(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .{1,200})"
_SHORT = _BEFORE + r"""[A-Za-z0-9+/]{1,64}={0,2}[ \t"'`\\+,;)]{0,8}(?=\n|\Z)"""


_SKELETON = (  #: what stands for a key in documentation, after its first line
    r"(?i)(?:\s|\\+[nr]){0,20}(?:[a-z0-9+/]{0,16}(?:\.\.\.|…)|\*{3}|x{3,}\s|<[a-z]|\[[a-z .]+\]|\$\{?\w|\{\{|your|-----END)"  # noqa: E501
)


#: what no documentation has below such a first line: a long line of base64, or two shorter ones
_BODY = r"[A-Za-z0-9+/]{40,400}|\n[ \t]{0,8}[A-Za-z0-9+/]{16,39}[ \t]{0,8}\r?\n[ \t]{0,8}[A-Za-z0-9+/]{16,39}(?=\s|\Z)"
BELOW = 200  #: characters after a last line in which the key may yet follow


def end_of_key(text: str, start: int) -> int:
    """Where the private key ends whose first line ends at `start`.

    >>> end_of_key("\\nMIIEowIBAAKCAQEA0Z3VS5\\nq9==\\n\\nSo it is.", 0)
    28
    """
    last = re.compile(_LAST).search(text, start, start + LONGEST_KEY)
    if last:
        return last.end()
    return _end_of_lines(text, start)


def _end_of_lines(text: str, start: int) -> int:
    """Where the lines stop looking like a key."""
    at, whole, short = start, re.compile(_LINE), re.compile(_SHORT)
    while at < len(text) and at - start < LONGEST_KEY:
        line = at + 1 if text[at] == "\n" else at
        match = whole.match(text, line)
        if match is None:
            final = short.match(text, line) if at > start else None
            return final.end() if final else at
        end = text.find("\n", match.end())
        at = len(text) if end < 0 else end
    return at


def keys_in(text: str, first_lines: Iterable[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    """Private keys from their first line to their end; a first line alone occurs in code about keys."""
    last = done = 0
    for _, start, first in first_lines:
        if start < done:
            continue
        last = text.find("-----END", first) if 0 <= last < first else last
        is_near = 0 <= last < first + LONGEST_KEY
        done = end_of_key(text, first) if is_near else _end_of_lines(text, first)
        if done > first:
            yield start, done


def key_tails(text: str) -> Iterator[tuple[int, int]]:
    """The ends of private keys, from where the lines look like a key."""
    if "-----END" not in text:
        return
    whole, short = re.compile(_LINE), re.compile(_SHORT)
    for last in re.finditer(_LAST, text):
        start = last.start()
        for _ in range(MOST_LINES):
            line = text.rfind("\n", max(0, start - LONGEST_LINE), max(0, start - 1)) + 1
            if line == start or (line == 0 and start > LONGEST_LINE):
                break
            if not whole.match(text, line, start) and not short.match(text, line, start):
                break
            start = line
        if start < last.start():
            yield start, last.end()


# Spans of secrets in a text

Span = tuple[str, int, int]  #: kind, start, end

URL = "password in a URL"
TOKENS = frozenset(kind for kind, _, _ in FORMS)
_ONLY_NAME = lazy(r"[\W_]*(?:[A-Za-z][\w.-]{0,60}[\"'`\s\\]{0,8}[=:][\W_]*|\w{0,3}[\W_]*)")


def resolve_overlaps(text: str, found: Iterable[Span], known: Iterable[Span] = ()) -> list[Span]:
    """The spans to replace in a text, sorted and without overlaps."""
    ranks: tuple[list[Span], ...] = ([], list(known), [])
    for span in found:
        ranks[0 if span[0] in TOKENS else 2].append(span)
    held: list[Span] = []
    for spans in filter(None, ranks):
        held = sorted([*held, *_cut_out(text, _merge(spans), held)], key=lambda span: span[1])
    return held


def _merge(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for kind, start, end in sorted(spans, key=lambda span: (span[1], -span[2])):
        if found and start < found[-1][2]:
            first = found.pop()
            kind, start, end = first[0], first[1], max(end, first[2])
        found.append((kind, start, end))
    return found


def _cut_out(text: str, weaker: list[Span], held: list[Span]) -> Iterator[Span]:
    """What is left of weaker spans outside the held ones; both are sorted."""
    first = 0
    for kind, start, end in weaker:
        while first < len(held) and held[first][2] <= start:
            first += 1
        pieces, at, number = [], start, first
        while number < len(held) and held[number][1] < end:
            pieces.append((at, held[number][1]))
            at, number = max(at, held[number][2]), number + 1
        for begin, stop in (*pieces, (at, end)):
            if not pieces or (begin < stop and not _ONLY_NAME.fullmatch(text, begin, stop)):
                yield kind, begin, stop
