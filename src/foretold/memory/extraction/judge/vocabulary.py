"""The words of facts: numbers, units, months, opposites, rivals and abbreviations, as tables.

All words are folded (`words.fold_text`) and without apostrophes. English first; German where a prompt needs it.
"""

from __future__ import annotations

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_SMALL_DE = (
    "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn"
    " achtzehn neunzehn"
)
#: number words, and what they are worth
NUMBERS: dict[str, int] = (
    {word: at for at, word in enumerate(_SMALL.split())}
    | {word: at for at, word in enumerate(_SMALL_DE.split()) if word != "ein"}
    | {word: 10 * at for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
    | {word: 10 * at for at, word in enumerate("zwanzig dreissig vierzig funfzig sechzig".split(), 2)}
    | {"single": 1, "twice": 2, "thrice": 3, "couple": 2, "both": 2, "dozen": 12, "dutzend": 12}
)
#: words that multiply the number before them
SCALES = {"hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000, "k": 1000, "million": 10**6, "m": 10**6}
SCALES |= {"mio": 10**6, "dozen": 12, "dutzend": 12, "billion": 10**9, "bn": 10**9}

_SECOND, _BYTE = 1.0, 1.0
_DAY = 86400.0


def _units(dimension: str, **rows: float) -> dict[str, tuple[str, tuple[float, ...]]]:
    return {word: (dimension, (worth,)) for words, worth in rows.items() for word in words.split("_")}


#: units: their dimension, and what one of them is worth; more than one value where usage differs
UNITS: dict[str, tuple[str, tuple[float, ...]]] = {
    **_units("time", ms_msec_millisecond_milliseconds=0.001, s_sec_secs_second_seconds_sekunde_sekunden=1.0),
    **_units("time", min_mins_minute_minutes_minuten=60.0, h_hr_hrs_hour_hours_stunde_stunden=3600.0),
    **_units("time", d_day_days_tag_tage_tagen=_DAY, week_weeks_wk_woche_wochen=7 * _DAY),
    **_units("time", fortnight=14 * _DAY),
    **_units("share", percent_pct_prozent=1.0),
    **_units("lines", line_lines_zeile_zeilen_loc=1.0),
    **_units("characters", char_chars_character_characters_column_columns_zeichen=1.0),
    **_units("words", word_words=1.0),
    **_units("pixels", px_pixel_pixels=1.0),
}
for _word in ("month", "months", "monat", "monate"):
    UNITS[_word] = ("time", (30 * _DAY, 31 * _DAY, 28 * _DAY))
for _word in ("quarter", "quarters"):
    UNITS[_word] = ("time", (90 * _DAY, 91 * _DAY, 92 * _DAY))
for _word in ("year", "years", "yr", "yrs", "jahr", "jahre"):
    UNITS[_word] = ("time", (365 * _DAY, 360 * _DAY, 366 * _DAY))
for _power, _words in enumerate(
    ("b byte bytes", "kb kib", "mb mib meg megs megabytes", "gb gib gig gigs gigabytes", "tb tib")
):
    for _word in _words.split():
        UNITS[_word] = ("bytes", (1000.0**_power, 1024.0**_power))

MONTHS: dict[str, int] = {}
for _at, _words in enumerate(
    "january jan januar|february feb februar|march mar marz|april apr|may mai|june jun juni|july jul juli|"
    "august aug|september sep sept|october oct oktober okt|november nov|december dec dezember dez".split("|"),
    1,
):
    MONTHS.update(dict.fromkeys(_words.split(), _at))
WEEKDAYS: dict[str, int] = {}
for _at, _words in enumerate(
    "monday mon montag montags|tuesday tue tues dienstag dienstags|wednesday wed mittwoch mittwochs|"
    "thursday thu thurs donnerstag donnerstags|friday fri freitag freitags|saturday sat samstag samstags|"
    "sunday sun sonntag sonntags".split("|")
):
    WEEKDAYS.update(dict.fromkeys(_words.split(), _at))
for _word in "monday tuesday wednesday thursday friday saturday sunday".split():
    WEEKDAYS[f"{_word}s"] = WEEKDAYS[_word]
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "sommer": 6, "herbst": 9, "fruhling": 3}

#: what denies whatever follows it; two of them cancel out
NEGATING = frozenset(
    "not never no non none nothing nobody neither nor without dont doesnt didnt isnt wasnt arent werent cannot cant"
    " wont wouldnt shouldnt mustnt neednt havent hasnt aint nope avoid avoids avoided avoiding stop stops stopped"
    " stopping afraid formerly previously former"
    " forbid forbids forbidden ban banned bans prohibit prohibits prohibited refuse refuses reject rejects rejected"
    " rejecting skip skips skipped skipping forget forgets hesitate omit omits omitted fail fails exclude excludes"
    " excluded excluding disable disables disabled disabling remove removes removed removing delete deletes deleted"
    " deleting drop drops dropped dropping strip ignore ignores ignored ignoring hate hates dislike dislikes except"
    " against quit unused undocumented untyped unsupported unused disallow disallowed disallows deny denies denied"
    " prevent prevents block blocks blocked freeze freezes freezing sick annoyed annoying deprecated"
    " nicht kein keine keinen keiner keinem nie niemals ohne niemand verboten nirgends pas jamais sans aucun interdit"
    " nunca sin jamas nao sem mai senza нет не никогда без nie bez".split()
)
#: words that carry no meaning of their own between a denial and what it denies
LIGHT = frozenset(
    "ever dare you need needs needed point reason want wants wanted bother try let go do does doing did done make makes"
    " making please directly more longer any anything anyone anymore be been being is are was were am get gets getting"
    " have has had having use uses used using must should shall may might can could will would to the a an of in on at"
    " for with by it its them this that these those my your our their me we i he she they us and or true fan problem"
    " just even really ever too also very much always allowed allow allows user users people supposed require requires"
    " required keep keeps kept keeping leave leaves leaving left add adds adding added put puts run runs running wait"
    " see hear like likes think default other else one ones some such so as than then there here".split()
)
#: words that a model adds to any claim, and that carry none
WEAK = frozenset(
    "ask asks permission approval approve approved change changes changing project team code user assistant later"
    " require requires required support supports supported allow allowed possible need needs contact call work works"
    " working task tasks done file files version versions interval minimum maximum limit take takes stay since until"
    " because matter matters fine first short long item items system service application tool name named new current"
    " currently write written make made show set give given keep happen happens start starts begin end larger bigger"
    " smaller reviewer access experience person people question questions answer answers thing api ci important accept"
    " acceptable prefer prefers preferred use used using include includes via per within during yet still away every"
    " each everything anything know knows well good go goes several many few number size value approach way own place"
    " line lines data handle handled".split()
)
#: words that begin a clause of which a denial before them says nothing
CLAUSES = frozenset(
    "but because since so just unless until if when while whenever instead though although which who that where then"
    " before after once aber weil denn sondern wenn dass damit bevor nachdem only as".split()
)

#: words that say the opposite of one another, and are not denials
OPPOSITES: tuple[tuple[str, str], ...] = tuple(
    (one, two)
    for line in (
        "public|private internal|external newest|oldest newer|older new|old first|last ascending|descending asc|desc"
        " upper|lower uppercase|lowercase synchronous|asynchronous sync|async required|optional mandatory|optional"
        " open|closed start|end begin|end input|output read|write manual|automatic manually|automatically left|right"
        " top|bottom long|short large|small big|small bigger|smaller longer|shorter fast|slow static|dynamic"
        " strict|loose frontend|backend client|server inside|outside early|late mutable|immutable increase|decrease"
        " raise|lower upgrade|downgrade push|pull singular|plural weekday|weekend local|remote encrypted|unencrypted"
        " enable|disable allow|deny sometimes|always rarely|often light|dark online|offline stable|unstable"
        " accept|reject approve|reject more|fewer more|less simple|complex verbose|terse formal|informal hot|cold"
        " horizontal|vertical before|after lenient|strict eager|lazy eagerly|lazily on|off"
    ).split()
    for one, two in (line.split("|"),)
)
#: names of which one excludes the others, wherever a project has decided
RIVALS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in (
        "npm pnpm yarn bun|pip poetry uv pipenv conda|jest vitest mocha jasmine|pytest unittest nose|"
        "black yapf autopep8 ruff|eslint biome tslint prettier|postgres mysql sqlite mariadb mongodb oracle mssql"
        " dynamodb cassandra|redis memcached valkey|aws gcp azure heroku vercel netlify fly cloudflare digitalocean|"
        "github gitlab bitbucket gitea|jenkins buildkite circleci travis teamcity|docker podman|"
        "react vue angular svelte solid|slack teams discord mattermost|jira linear asana trello notion monday|"
        "vim emacs vscode|bash zsh fish powershell|tabs spaces|staging production qa|json yaml toml xml csv|"
        "rest graphql grpc soap|kafka rabbitmq sqs nats|python ruby golang rust java kotlin swift php|"
        "webpack vite rollup parcel esbuild|terraform pulumi cloudformation ansible|datadog sentry newrelic|"
        "chrome firefox safari edge|linux windows macos|ubuntu debian fedora alpine|flask django fastapi|"
        "requests httpx aiohttp axios|sequelize prisma typeorm|daily weekly monthly yearly hourly quarterly nightly|"
        "grep ripgrep|merge rebase|maven gradle bazel|ssh telnet|http https|utf8 latin1|camelcase snakecase kebabcase|"
        "english german french spanish italian portuguese|stripe paypal adyen|figma sketch"
    ).split("|")
)
#: abbreviations of developers, and what they stand for
SHORT: dict[str, str] = dict(
    pair.split("=")
    for pair in (
        "prod=production db=database dbs=database repo=repository repos=repository k8s=kubernetes ts=typescript"
        " js=javascript py=python env=environment envs=environment conf=config configuration=config"
        " auth=authentication doc=documentation docs=documentation deps=dependency dep=dependency"
        " dependencies=dependency infra=infrastructure msg=message msgs=message pg=postgres postgresql=postgres"
        " psql=postgres dev=development devs=developer dir=directory dirs=directory folder=directory folders=directory"
        " compat=compatibility perf=performance impl=implementation fn=function fns=function func=function"
        " param=parameter params=parameter arg=argument args=argument var=variable vars=variable gh=github"
        " vs=versus spec=specification specs=specification app=application apps=application max=maximum min=minimum"
        " chars=character char=character licence=license licences=license colour=color colours=color ie=explorer"
        " e2e=endtoend intl=international i18n=internationalization l10n=localization a11y=accessibility"
        " ms=millisecond sec=second secs=second pct=percent tmp=temporary temp=temporary utils=utility util=utility"
        " intro=introduction intros=introduction addr=address admin=administrator admins=administrator"
        " ops=operations mgmt=management"
    ).split()
)
#: German words of developers, so that a memory in English can be compared with a prompt in German
GERMAN: dict[str, str] = dict(
    pair.split("=")
    for pair in (
        "montag=monday dienstag=tuesday mittwoch=wednesday donnerstag=thursday freitag=friday freitags=friday"
        " samstag=saturday sonntag=sunday januar=january februar=february marz=march mai=may juni=june juli=july"
        " oktober=october dezember=december datenbank=database lauft=run laufen=run kunde=customer kunden=customer"
        " loschen=delete loscht=delete pushen=push mergen=merge verwende=use verwenden=use datei=file dateien=file"
        " ordner=directory fehler=error antwort=answer antworten=answer antworte=answer kommentar=comment"
        " kommentare=comment sprache=language deutsch=german englisch=english kurz=short kurze=short lang=long"
        " fragen=ask frag=ask andern=change schreiben=write schreibe=write umgebung=environment zeile=line zeilen=line"
        " zeichen=character stunden=hour minuten=minute sekunden=second tage=day wochen=week uhr=oclock"
        " ansprechpartner=contact zustandig=responsible verantwortlich=responsible projekt=project nachricht=message"
        " nachrichten=message funktion=function funktionen=function klassen=class klasse=class rechnung=invoice"
        " rechnungen=invoice einstellungen=settings schnittstelle=interface benutzer=user anmeldung=login"
        " passwort=password abnahme=acceptance lieber=prefer bevorzuge=prefer deployen=deploy direkt=directly"
        " sicherung=backup sicherungen=backup zweig=branch hauptzweig=main version=version prozent=percent"
    ).split()
)
SHORT |= GERMAN
#: acronyms that every text about software may use, whatever was said
GENERIC = frozenset(
    "api apis ui ux url urls id ids ci cd pr prs os cli gui ai llm ok todo todos readme db sql http io it cpu ram qa mr"
    " mrs faq n/a ide sdk i".split()
)
#: a permission for one time is not a rule
ONCE = r"\b(?:just|only) (?:this|that) (?:once|time)|\bthis once\b|\b(?:just|only) (?:for )?today\b|\bone.off\b"
#: what holds at times does not always hold
HEDGES = r"\b(?:sometimes|occasionally|now and then|maybe|perhaps|might|rarely|manchmal|vielleicht)\b"
ALWAYS = r"\b(?:always|every time|each time|all|every|everyone|everybody|any|anyone|everything|never|immer|alle)\b"
EVERYONE = r"\b(?:all|every|everyone|everybody|any|anyone|anybody|everything|each|alle|jeder)\b"
ONLY = r"\b(?:only|solely|exclusively|except|apart from|nobody but|no one but|nur|ausser)\b"
#: what is bad may be denied by a memory, though the user denied nothing
BAD = (
    r"\b(?:hard|difficult|annoying|annoys?|bad|worse|worst|terrible|awful|slow|confus\w+|unreadable|nois[ey]|ugly|wast\w+"
    r"|wrong|broken?|breaks|dead|useless|expensive|risky|dangerous|painful|tired|unreliable|flaky|burn(?:ed|t)"
    r"|too(?= \w)|bit us"
    r"|bugs?|worthless|pointless|nonsense|trap|mistakes?|unsafe|insecure|outdated|obsolete|overkill|garbage"
    r"|blind|fail(?:s|ed)?|nightmare|mess|pain|schlecht|schwer|langsam|nervt)(?!\w)"
)
#: the next prompt corrects the one before it
CORRECTION = r"\W*(?:no|nope|nah|wait|sorry|actually|oops|correction|i meant|rather|instead|nein|doch|halt)\b"
#: a task that someone else has, so that `do not` says the same
DELEGATED = r"\b(?:myself|themselves|himself|herself|let me|i will|ill do|i do (?:it|that)|leave .{1,40} to|selbst)\b"
