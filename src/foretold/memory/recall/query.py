r"""Words: what a query asks for, and the words inside names of code.

1. A query is its words without stopwords; if nothing else is left, with them.
2. Forms that no stemmer joins (`went` and `go`, `children` and `child`) are one group: either finds both. So are what
   developers write short, and what it stands for (`cfg`, `configuration`).
3. A name of code is found by its parts and as a whole: `parse_http`, `parseHttp` and `app/parse.http` have `parse` and
   `http`, the first two also `parsehttp`.
4. Chinese, Japanese, Korean and Thai are written without spaces. A run of characters is found by its pairs.
5. Only letters and digits ever reach an FTS5 expression, so no text is a syntax error or an operator.
"""

from __future__ import annotations

import re

MOST = 400  #: words of a query that are read

#: words of nearly every question that say nothing about its subject
STOPWORDS = frozenset(
    "a about after again all also am an and any are aren as at be been before being both but by can cannot could "
    "couldn d did didn do does doesn don down during each few for from further had hadn has hasn have haven having "
    "he her here hers him his how i if in into is isn it its just ll m many me more most much my no not of off on "
    "once only or other our out over own re s same she should shouldn so some such t than that the their them then "
    "there these they this those to too up us ve very was wasn we were weren what when where which while who whom "
    "whose why will with would wouldn you your".split()
)

#: forms of one word, where the stemmer leaves them apart
FORMS = (
    "arise arose arisen|awake awoke awoken|bear bore borne|become became|begin began begun|bend bent|bind bound|"
    "bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|"
    "buy bought|catch caught|child children|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|"
    "draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|"
    "feel felt|fight fought|find found|flee fled|fly flew flown|foot feet|forbid forbade forbidden|forget forgot "
    "forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grow grew "
    "grown|hang hung|hear heard|hide hid hidden|hold held|index indices|keep kept|knife knives|know knew known|"
    "lay laid|lead led|leaf leaves|learn learnt|leave left|lend lent|life lives|light lit|lose lost|make made|man men|"
    "mean meant|meet met|mouse mice|pay paid|person people|ride rode ridden|ring rang rung|rise rose risen|run ran|"
    "say said|see saw seen|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|"
    "shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|"
    "spin spun|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept|swim swam swum|"
    "swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|tooth teeth|"
    "understand understood|wake woke woken|wear wore worn|weave wove woven|wife wives|win won|withdraw withdrew "
    "withdrawn|woman women|write wrote written"
)

#: what developers write short, and what it stands for: the first finds the others. Those before `=` are the same word.
SHORT = (
    "cfg conf config configuration=|repo repository=|db database=|env environment=|doc documentation=|dir directory=|"
    "pkg package=|msg message=|img image=|btn button=|pwd passwd password=|dep dependency=|lib library=|"
    "impl implementation=|admin administrator=|k8s kubernetes=|i18n internationalization=|l10n localization=|"
    "a11y accessibility=|o11y observability=|tz timezone=|ts typescript=|js javascript=|py python=|"
    "postgres postgresql pg=|mongo mongodb=|gh github=|gha=github|regex regexp=|async asynchronous=|"
    "sync synchronization=|stmt statement=|fn func function=|var variable=|param parameter=|arg argument=|"
    "attr attribute=|prop property=|obj object=|str string=|int integer=|bool boolean=|num number=|char character=|"
    "cmd command=|exec execute=|init initialize=|ctx context=|err error=|req=request requirement|"
    "res=response resource|resp response=|ref=reference|addr address=|auth=authentication authorization|"
    "authn authentication=|authz authorization=|perms permissions=|perf performance=|prod=production|"
    "dev=development developer|stg=staging|preprod=staging|ops=operations|infra infrastructure=|deps dependencies=|"
    "devs developers=|mgr manager=|svc service=|srv=server service|sched scheduler=|calc calculate=|"
    "temp=temporary temperature|tmp temporary=|prev previous=|ver version=|spec specification=|info information=|"
    "stats statistics=|sec=second security|min=minute minimum|max=maximum|avg average=|qty quantity=|amt amount=|"
    "acct account=|cust customer=|inv invoice=|txn transaction=|tx=transaction|pr=pull|mr=merge|vm=virtual|"
    "os=operating|ui=interface|ci=continuous pipeline|win windows=|mac=macos|fs filesystem=|mem=memory|cpu=processor|"
    "net=network|conn connection=|cert certificate=|cred credential=|creds credentials=|tkn token=|sig signature=|"
    "enc=encoding encryption|seq sequence=|idx index=|cnt count=|src source=|dest destination=|dst=destination|"
    "lang language=|eng=engineering english|fe=frontend|be=backend|qa=quality|hw hardware=|sw=software|fw=firmware|"
    "bg=background|nav navigation=|pos=position|desc description=|orig original=|del=delete|upd update=|"
    "proj project=|org organization=|mon monday=|tue tues tuesday=|wed wednesday=|thu thurs thursday=|fri friday=|"
    "jan january=|feb february=|apr april=|aug august=|sept sep september=|oct october=|nov november=|dec december="
)

_RUN = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS = f"[{_RUN}]+"
_WORD = r"(?:[^\W_]|[\u0300-\u036f])+"
_JOINED = r"[A-Za-z0-9_]+(?:(?:[./\\]|::|->)[A-Za-z0-9_]+)*"  # these are compiled when they are needed first
_HUMP = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_forms: dict[str, tuple[str, ...]] = {}
_short: dict[str, tuple[str, ...]] = {}


def word_groups(query: str) -> list[tuple[str, ...]]:
    """The words of a query; each with the other forms that count as the same word."""
    words = [word for word in _words(query) if word not in STOPWORDS]
    found: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    for word in words or _words(query):
        if word not in seen:
            forms = (*(forms_of(word) or _with_ment(word)), *long_forms(word))
            found[word] = (word, *(form for form in forms if form != word))
            seen.update(found[word])
    return list(found.values())


def _words(text: str) -> list[str]:
    """Every word once, in order, lower case; names of code whole and in parts; runs as pairs of characters."""
    found: dict[str, None] = {}
    for word in "".join(each if _is_letter(each) else " " for each in text).split():
        if not word.isascii() and (runs := letter_pairs(word)):
            found.update(dict.fromkeys(runs))
            word = re.sub(_RUNS, " ", word)
        for piece in word.split():
            found[piece.lower()] = None
            found.update(dict.fromkeys(part.lower() for part in split_camel_case(piece)))
        if len(found) >= MOST:
            break
    if "_" in text[:10_000]:
        for match in re.finditer(_JOINED, text[:10_000]):
            found.update(dict.fromkeys(_joined_names(match[0])))
    return list(found)[:MOST]


def _is_letter(each: str) -> bool:
    """Whether a character is part of a word: as `_WORD`, without the cost of compiling it at a cold start."""
    return each.isalnum() or "\u0300" <= each <= "\u036f"


def forms_of(word: str) -> tuple[str, ...]:
    """All forms of a word, the first one first; none of a word that the stemmer is enough for."""
    if not _forms:
        for line in FORMS.split("|"):
            forms = tuple(line.split())
            _forms.update(dict.fromkeys(forms, forms))
    return _forms.get(word, ())


def long_forms(word: str) -> tuple[str, ...]:
    """What a developer may mean by a short word, and the short words for a long one.

    >>> long_forms("cfg"), long_forms("repos"), long_forms("prod"), long_forms("production")
    (('conf', 'config', 'configuration'), ('repository',), ('production',), ())
    """
    if not _short:
        for line in SHORT.split("|"):
            same, _, meant = line.partition("=")
            words = same.split()
            for each in words:
                others = (*(other for other in words if other != each), *meant.split())
                _short[each] = (*_short.get(each, ()), *others)
    return _short.get(word) or _short.get(word.removesuffix("s"), ())


def _with_ment(word: str) -> tuple[str, ...]:
    """A verb that ends in a vowel and `y`, and its noun: the stemmer makes `deploi` of `deploy`, and `deploy` of
    `deployment`.
    """
    base = word.removesuffix("s")
    if base.endswith("yment"):
        return (base[:-4],)
    for ending in ("ing", "ed"):
        base = base.removesuffix(ending)
    return (f"{base}ment",) if len(base) > 4 and base[-1] == "y" and base[-2] in "aeo" else ()


def anchor_words(text: str) -> str:
    """The words inside names and paths of code in a text, for a separate column."""
    found: dict[str, None] = {}
    for name in re.findall(_JOINED, text):
        parts = re.findall(r"[A-Za-z0-9]+", name)
        if len(parts) > 1 or not (name.islower() or name.isdigit()):
            pieces = [piece.lower() for part in parts for piece in split_camel_case(part) or [part]]
            if len(pieces) > 1:
                found.update(dict.fromkeys(pieces))
                found.update(dict.fromkeys(_joined_names(name)))
    if not text.isascii():
        found.update(dict.fromkeys(letter_pairs(text)))
    return " ".join(found)


def _joined_names(name: str) -> list[str]:
    """The names in a path, between dots and slashes, without underscores; only those with several parts."""
    wholes = [
        re.sub("_+", "", whole)
        for whole in re.split(r"[./\\:>-]+", name)
        if "_" in whole.strip("_") or split_camel_case(whole)
    ]
    return [whole.lower() for whole in wholes if whole]


def split_camel_case(word: str) -> list[str]:
    """The parts of a name in camel case; none if it has only one."""
    if word.islower() or word.isupper() or word[1:].islower() or not word.isascii():
        return []
    parts = re.findall(_HUMP, word)
    return parts if len(parts) > 1 else []


def letter_pairs(text: str) -> list[str]:
    """The pairs of characters in runs without spaces; a single character is itself."""
    found = []
    for run in re.findall(_RUNS, text):
        found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return found


def fts_expression(chosen: list[tuple[str, ...]]) -> str:
    """An FTS5 expression that finds any of these words."""
    return " OR ".join(f'"{word}"' for group in chosen for word in group)


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin: the n-th word of the index is the n-th here."""
    return [match.start() for match in re.finditer(_WORD, text)]
