"""Secrets that their place in a document marks: a column, a line of `.pgpass`, a `Secret` of Kubernetes, a list.

1. CSV: the values under a column that is named like a secret.
2. `host:port:database:user:password`, a line of its own.
3. What is next to the id of an AWS key and has the form of its secret.
4. `data` and `stringData` of a Kubernetes `Secret`.
5. Twelve or more words in a row of the list of BIP-39; words after "seed phrase"; codes after "recovery codes".
6. A run that is base64 of a login, of a token or of an assignment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from foretold.secrets.by_context import ASSIGNED, find_assigned, is_secret_name
from foretold.secrets.headers import decode_base64, match_at_words
from foretold.secrets.tokens import Span, find_all, tokens_in
from foretold.secrets.values import is_chosen, is_given, is_placeholder, is_quoted, is_random, is_told
from foretold.text.patterns import lazy

MNEMONIC, CODES, CODED = "mnemonic", "recovery codes", "encoded secret"
MOST_HEADERS = 10_000  #: lines with a word for a secret and a comma that are taken for the titles of columns
WIDEST, NEAR = 4_000, 300  #: characters of a row, and between the two parts of a key
FEWEST_WORDS = 12  #: BIP-39 has 12, 15, 18, 21 or 24
_PGPASS = lazy(r":(?:\d{2,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:((?:[^\s:\\]|\\.){4,128})(?=\r?\n|\Z)")
_HOST = lazy(r"[^\s:#]{1,100}")
_AWS_KEY = lazy(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|ccess ?[kK]ey ?I[dD]")
_AWS_SECRET = lazy(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_FIELD = lazy(r"""(?m)^[ \t]+["']?[\w.-]{1,80}["']?:[ \t]+["']?([^\s"'#|>{][^\s"']{3,4000})""")
_TITLES = lazy(r"[^\W\d_](?:[^\W\d]|[ \-\"'`*|│,;\t\r])*|[ \-\"'`*|│](?:[^\W\d]|[ \-\"'`*|│,;\t\r])*")
_RULE = lazy(r"[\s|│:+=─┼├┤═╪-]{3,}")  #: the line below the titles of a table
_RUN = lazy(r"(?<![\w+/=.-])[A-Za-z0-9+/_-]{16,4096}={0,2}(?![\w+/-])")
_DISCORD = lazy(r"(?<![\w.-])[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w.-])")
_WORDS = lazy(
    r"(?<![\w.'’-])[a-z]{3,8}(?:(?:[ \t]+|,[ \t]*|[ \t]*\n[ \t]*)(?:\d{1,2}[.):]?[ \t]+)?[a-z]{3,8}(?![\w'’-]))*"
)
#: twelve words of three letters at least, and what may stand between them
_LOWER, LEAST_LOWER = b"abcdefghijklmnopqrstuvwxyz \t\n,0123456789.):", 47
_CODE, LEAST_CODE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-", 16
_PHRASE = lazy(
    r"(?i)(?:mnemonic|seed[ _-]?(?:phrase|words?)?|recovery[ _-]?phrase|wallet[ _-]?phrase"
    r"|secret[ _-]?phrase|wiederherstellungsphrase)"
    r"""[^\S\n]{0,3}(?:is|ist|lautet)?["'`]?\s{0,3}[:=]?\s{0,3}["'`]?((?-i:[a-z]{3,9}(?:[ ,]{1,3}[a-z]{3,9}){10,24}))"""
)
_CODES = lazy(
    r"(?i)(?:recovery|backup|rescue|emergency|one-time|scratch|wiederherstellungs|ersatz|notfall"
    r"|einmal)[ _-]?(?:codes?|keys?|schlüssel)"
    r"""[^\n:]{0,40}:?["'`]?\s{0,4}((?:[-*\d.) \t"'`]{0,6}(?:[A-Za-z0-9]{4,8}(?:[-"""
    r""" ][A-Za-z0-9]{4,8}){1,5}|(?=[a-z]{0,11}\d)[A-Za-z0-9]{8,12})[",'`]{0,2}\s{0,3}){1,32})"""
)
_MASTER = lazy(
    r"(?:master|secret|credentials|private)[\w/.]{0,20}\.(?:key|txt)[^\n]{0,20}\n\s{0,4}([0-9a-f]{32,128})\b"
)
_PIN = lazy(
    r"\bPIN\b(?=[^\n]{0,80}\d{4})(?:[ \t]+[^\W\d_][\w-]{0,20}){0,5}[ \t]*(?:\bis\b|\bist\b"
    r"|\blautet\b|:|=)[ \t]*[\"'`]?(\d{4,8})\b(?!\.\d)"
)


def find_in_documents(text: str, low: str) -> Iterator[Span]:
    """Secrets by their place in a document; `low` is the text in lower case."""
    if any(mark in text for mark in ",\t;|│"):
        yield from _find_in_columns(text, low)
    for match in _PGPASS.finditer(text) if ":" in text else ():
        start = text.rfind("\n", max(0, match.start() - 102), match.start()) + 1
        if not _HOST.fullmatch(text, start, match.start()):
            continue
        if is_given(match[1]) and not match[1].isdigit() and (len(match[1]) > 4 or is_chosen(match[1])):
            yield ASSIGNED, *match.span(1)
    yield from _find_aws_secrets(text)
    yield from _find_in_secret(text)
    yield from _find_words(text, low)
    for word in "recovery backup rescue emergency one-time scratch wiederherstellungs ersatz notfall einmal".split():
        for match in match_at_words(_CODES, text, low, word):
            if sum(map(str.isdigit, match[1])) >= 2:
                yield CODES, *match.span(1)
    for letters, form in ((".key", _MASTER), ("PIN", _PIN)):
        for match in form.finditer(text) if letters in text else ():
            yield ASSIGNED, *match.span(1)
    yield from _find_coded(text)


def _find_aws_secrets(text: str) -> Iterator[Span]:
    """What is near the id of a key, or a title of it, and has the form of its secret."""
    done = 0
    words = ("AKIA", "ASIA", "ccess key", "ccessKey", "ccess Key", "ccesskey")
    for at in sorted(at for letters in words for at in find_all(text, letters)):
        if _AWS_KEY.match(text, at) and at + NEAR > done:
            start, done = max(done, at - NEAR), at + NEAR
            for near in _AWS_SECRET.finditer(text, start, done + 40):
                if _is_mixed(near[0]) and near.start() >= start:
                    yield "AWS secret key", *near.span()


def _is_mixed(value: str) -> bool:
    kinds = (any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value)))
    return all(kinds) and not is_placeholder(value)


def _find_in_columns(text: str, low: str) -> Iterator[Span]:
    """The values under columns that are named like secrets."""
    at = 0
    next_hit = {word: low.find(word) for word in _COLUMNS}
    for _ in range(MOST_HEADERS):
        next_hit = {
            word: found
            for word, hit in next_hit.items()
            if hit >= 0 and (found := hit if hit >= at else low.find(word, at)) >= 0
        }
        if not next_hit:
            return
        hit = min(next_hit.values())
        start, end = text.rfind("\n", max(0, hit - WIDEST), hit) + 1, text.find("\n", hit)
        if end < 0:
            return
        at = end + 1
        if end - start <= WIDEST and (start or hit <= WIDEST):
            for mark in (",", ";", "\t", "|", "│"):
                columns, width = _secret_columns(text[start:end], mark)
                if columns:
                    for stop, secrets in _rows(text, at, mark, columns, width):
                        at = stop + 1
                        yield from ((ASSIGNED, one, two) for one, two in secrets)
                    break


Columns = dict[int, Callable[[str], bool]]  #: number of a column, and what judges its values


def _secret_columns(line: str, mark: str) -> tuple[Columns, int]:
    """The columns that are named like secrets, and how many there are in all. Numbers of tokens are no secrets."""
    if mark not in line or not _TITLES.fullmatch(line):
        return {}, 0
    names = [name.strip(_AROUND).lower() for name in line.split(mark)]
    judge: Callable[[str], bool] = is_given if mark in ",;\t" else is_told
    columns: Columns = {
        number: is_random if name.endswith("tokens") else judge for number, name in enumerate(names) if _is_column(name)
    }
    titles = names[1:-1] if mark in "|│" and not names[0] and not names[-1] else names
    return (columns, len(names)) if all(map(_is_title, titles)) else ({}, 0)


_COLUMNS = ("pass", "secret", "token", "pwd", "kennwort", "api key", "api_key", "apikey")


_AROUND = " \"'`*\r"  #: what may stand around the value of a cell


def _is_title(name: str) -> bool:
    return len(name) <= 40 and name.replace("_", "").replace(" ", "").replace("-", "").isalpha()


def _is_column(name: str) -> bool:
    return is_secret_name(name) or is_secret_name(name.replace(" ", "_"))


def _rows(text: str, at: int, mark: str, columns: Columns, width: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """The end of each row below a header, and where its secrets are."""
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if mark in "|│" and _RULE.fullmatch(text, at, end):
            at = end + 1
            continue
        if end - at > WIDEST or text.count(mark, at, end) != width - 1:
            return
        found, place = [], at
        for number, cell in enumerate(text[at:end].split(mark)):
            value = cell.strip(_AROUND)
            if number in columns and is_given(value) and not value.isalpha() and columns[number](value):
                begin = place + cell.index(value)
                found.append((begin, begin + len(value)))
            place += len(cell) + 1
        yield end, found
        at = end + 1


def _find_in_secret(text: str) -> Iterator[Span]:
    """The fields of `data` and `stringData` in documents of YAML whose kind is `Secret`."""
    stop = 0
    for match in re.finditer(r"kind: Secret\s", text) if "kind: Secret" in text else ():
        at = match.start()
        if at < stop:
            continue
        start = max(text.rfind("\n---", max(0, at - WIDEST), at), stop)
        stop = text.find("\n---", at, at + 4 * WIDEST)
        stop = min(len(text), at + 4 * WIDEST) if stop < 0 else stop
        for section in ("\ndata:\n", "\nstringData:\n"):
            begin = text.find(section, start, stop)
            if begin < 0:
                continue
            begin += len(section)
            end = re.compile(r"(?m)^\S").search(text, begin, stop)
            for match in _FIELD.finditer(text, begin, end.start() if end else stop):
                if is_given(match[1]):
                    yield "kubernetes secret", *match.span(1)


def _find_words(text: str, low: str) -> Iterator[Span]:
    for word in "mnemonic seed recovery wallet secret wiederherstellungsphrase".split():
        for match in match_at_words(_PHRASE, text, low, word):
            yield MNEMONIC, *match.span(1)
    for start, stop in find_runs(text, _LOWER, LEAST_LOWER):
        for match in _WORDS.finditer(text, start, stop):
            if match.end() - match.start() >= 4 * FEWEST_WORDS - 1:
                yield from _find_mnemonic(text, *match.span())


def find_runs(text: str, characters: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Runs of certain characters. Marking them first, a byte for each, is ten times faster than a pattern."""
    table = bytes(1 if code in characters else 0 for code in range(256))
    marks = text.encode("latin-1", "replace").translate(table)
    run, at = b"\1" * least, 0
    while (at := marks.find(run, at)) >= 0:
        end = marks.find(b"\0", at)
        end = len(text) if end < 0 else end
        yield at, end
        at = end


def _find_mnemonic(text: str, start: int, end: int) -> Iterator[Span]:
    """Runs of twelve words of the list and more."""
    if sum(map(WORDS.__contains__, text[start:end].replace(",", " ").split())) < FEWEST_WORDS:
        return
    first, last, count = start, start, 0
    for match in re.compile(r"[a-z]+").finditer(text, start, end):
        if match[0] in WORDS:
            first, last, count = (match.start() if not count else first), match.end(), count + 1
            continue
        if count >= FEWEST_WORDS:
            yield MNEMONIC, first, last
        count = 0
    if count >= FEWEST_WORDS:
        yield MNEMONIC, first, last


def _find_coded(text: str) -> Iterator[Span]:
    """Runs that say a secret in base64, and tokens of three parts."""
    pieces: dict[str, list[int]] = {}  #: what runs say, and where they are
    for start, end in find_runs(text, _CODE, LEAST_CODE):
        match = _RUN.match(text, start, end + 3)
        if match and (said := decode_base64(match[0])) and said.isprintable():
            pieces.setdefault(said, []).extend(match.span())
    for said in _secret_pieces(list(pieces)):
        places = pieces[said]
        yield from ((CODED, *span) for span in zip(places[::2], places[1::2], strict=True))
    for match in _DISCORD.finditer(text) if text.count(".") > 1 else ():
        if is_quoted(match[0], strict=True):
            yield "Discord token", *match.span()


_LOGIN = lazy(r"[A-Za-z][\w.@+-]{1,40}:([^\s:/]{4,128})")


_JOINT = "\n;\n"  #: no name reaches over it


def _secret_pieces(pieces: list[str]) -> set[str]:
    """The pieces that say a secret. They are searched together, because a search has a price of its own."""
    from bisect import bisect_right
    from itertools import accumulate

    if not pieces:
        return set()
    starts = list(accumulate((len(piece) + len(_JOINT) for piece in pieces), initial=0))
    whole = _JOINT.join(pieces)
    low = whole.lower()
    found = {
        pieces[bisect_right(starts, at) - 1]
        for spans in (tokens_in(whole, low), find_assigned(whole, low))
        for _, at, _ in spans
    }
    logins = ((piece, _LOGIN.fullmatch(piece)) for piece in pieces)
    return found.union(piece for piece, login in logins if login and is_chosen(login[1]))


#: The English words of BIP-39 (github.com/bitcoin/bips, bip-0039/english.txt, MIT), from which wallets make their seed
#: phrases. Without the list, twelve names of fruit or of the radio alphabet would look like a wallet.
WORDS = frozenset(
    """
abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all
alley allow almost alone alpha already also alter always amateur amazing among amount amused analyst anchor ancient
anger angle angry animal ankle announce annual another answer antenna antique anxiety any apart apology appear apple
approve april arch arctic area arena argue arm armed armor army around arrange arrest arrive arrow art artefact
artist artwork ask aspect assault asset assist assume asthma athlete atom attack attend attitude attract auction
audit august aunt author auto autumn average avocado avoid awake aware away awesome awful awkward axis baby bachelor
bacon badge bag balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach
bean beauty because become beef before begin behave behind believe below belt bench benefit best betray better
between beyond bicycle bid bike bind biology bird birth bitter black blade blame blanket blast bleak bless blind
blood blossom blouse blue blur blush board boat body boil bomb bone bonus book boost border boring borrow boss
bottom bounce box boy bracket brain brand brass brave bread breeze brick bridge brief bright bring brisk broccoli
broken bronze broom brother brown brush bubble buddy budget buffalo build bulb bulk bullet bundle bunker burden
burger burst bus business busy butter buyer buzz cabbage cabin cable cactus cage cake call calm camera camp can
canal cancel candy cannon canoe canvas canyon capable capital captain car carbon card cargo carpet carry cart case
cash casino castle casual cat catalog catch category cattle caught cause caution cave ceiling celery cement census
century cereal certain chair chalk champion change chaos chapter charge chase chat cheap check cheese chef cherry
chest chicken chief child chimney choice choose chronic chuckle chunk churn cigar cinnamon circle citizen city civil
claim clap clarify claw clay clean clerk clever click client cliff climb clinic clip clock clog close cloth cloud
clown club clump cluster clutch coach coast coconut code coffee coil coin collect color column combine come comfort
comic common company concert conduct confirm congress connect consider control convince cook cool copper copy coral
core corn correct cost cotton couch country couple course cousin cover coyote crack cradle craft cram crane crash
crater crawl crazy cream credit creek crew cricket crime crisp critic crop cross crouch crowd crucial cruel cruise
crumble crunch crush cry crystal cube culture cup cupboard curious current curtain curve cushion custom cute cycle
dad damage damp dance danger daring dash daughter dawn day deal debate debris decade december decide decline
decorate decrease deer defense define defy degree delay deliver demand demise denial dentist deny depart depend
deposit depth deputy derive describe desert design desk despair destroy detail detect develop device devote diagram
dial diamond diary dice diesel diet differ digital dignity dilemma dinner dinosaur direct dirt disagree discover
disease dish dismiss disorder display distance divert divide divorce dizzy doctor document dog doll dolphin domain
donate donkey donor door dose double dove draft dragon drama drastic draw dream dress drift drill drink drip drive
drop drum dry duck dumb dune during dust dutch duty dwarf dynamic eager eagle early earn earth easily east easy echo
ecology economy edge edit educate effort egg eight either elbow elder electric elegant element elephant elevator
elite else embark embody embrace emerge emotion employ empower empty enable enact end endless endorse enemy energy
enforce engage engine enhance enjoy enlist enough enrich enroll ensure enter entire entry envelope episode equal
equip era erase erode erosion error erupt escape essay essence estate eternal ethics evidence evil evoke evolve
exact example excess exchange excite exclude excuse execute exercise exhaust exhibit exile exist exit exotic expand
expect expire explain expose express extend extra eye eyebrow fabric face faculty fade faint faith fall false fame
family famous fan fancy fantasy farm fashion fat fatal father fatigue fault favorite feature february federal fee
feed feel female fence festival fetch fever few fiber fiction field figure file film filter final find fine finger
finish fire firm first fiscal fish fit fitness fix flag flame flash flat flavor flee flight flip float flock floor
flower fluid flush fly foam focus fog foil fold follow food foot force forest forget fork fortune forum forward
fossil foster found fox fragile frame frequent fresh friend fringe frog front frost frown frozen fruit fuel fun
funny furnace fury future gadget gain galaxy gallery game gap garage garbage garden garlic garment gas gasp gate
gather gauge gaze general genius genre gentle genuine gesture ghost giant gift giggle ginger giraffe girl give glad
glance glare glass glide glimpse globe gloom glory glove glow glue goat goddess gold good goose gorilla gospel
gossip govern gown grab grace grain grant grape grass gravity great green grid grief grit grocery group grow grunt
guard guess guide guilt guitar gun gym habit hair half hammer hamster hand happy harbor hard harsh harvest hat have
hawk hazard head health heart heavy hedgehog height hello helmet help hen hero hidden high hill hint hip hire
history hobby hockey hold hole holiday hollow home honey hood hope horn horror horse hospital host hotel hour hover
hub huge human humble humor hundred hungry hunt hurdle hurry hurt husband hybrid ice icon idea identify idle ignore
ill illegal illness image imitate immense immune impact impose improve impulse inch include income increase index
indicate indoor industry infant inflict inform inhale inherit initial inject injury inmate inner innocent input
inquiry insane insect inside inspire install intact interest into invest invite involve iron island isolate issue
item ivory jacket jaguar jar jazz jealous jeans jelly jewel job join joke journey joy judge juice jump jungle junior
junk just kangaroo keen keep ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi knee knife
knock know lab label labor ladder lady lake lamp language laptop large later latin laugh laundry lava law lawn
lawsuit layer lazy leader leaf learn leave lecture left leg legal legend leisure lemon lend length lens leopard
lesson letter level liar liberty library license life lift light like limb limit link lion liquid list little live
lizard load loan lobster local lock logic lonely long loop lottery loud lounge love loyal lucky luggage lumber lunar
lunch luxury lyrics machine mad magic magnet maid mail main major make mammal man manage mandate mango mansion
manual maple marble march margin marine market marriage mask mass master match material math matrix matter maximum
maze meadow mean measure meat mechanic medal media melody melt member memory mention menu mercy merge merit merry
mesh message metal method middle midnight milk million mimic mind minimum minor minute miracle mirror misery miss
mistake mix mixed mixture mobile model modify mom moment monitor monkey monster month moon moral more morning
mosquito mother motion motor mountain mouse move movie much muffin mule multiply muscle museum mushroom music must
mutual myself mystery myth naive name napkin narrow nasty nation nature near neck need negative neglect neither
nephew nerve nest net network neutral never news next nice night noble noise nominee noodle normal north nose
notable note nothing notice novel now nuclear number nurse nut oak obey object oblige obscure observe obtain obvious
occur ocean october odor off offer office often oil okay old olive olympic omit once one onion online only open
opera opinion oppose option orange orbit orchard order ordinary organ orient original orphan ostrich other outdoor
outer output outside oval oven over own owner oxygen oyster ozone pact paddle page pair palace palm panda panel
panic panther paper parade parent park parrot party pass patch path patient patrol pattern pause pave payment peace
peanut pear peasant pelican pen penalty pencil people pepper perfect permit person pet phone photo phrase physical
piano picnic picture piece pig pigeon pill pilot pink pioneer pipe pistol pitch pizza place planet plastic plate
play please pledge pluck plug plunge poem poet point polar pole police pond pony pool popular portion position
possible post potato pottery poverty powder power practice praise predict prefer prepare present pretty prevent
price pride primary print priority prison private prize problem process produce profit program project promote proof
property prosper protect proud provide public pudding pull pulp pulse pumpkin punch pupil puppy purchase purity
purpose purse push put puzzle pyramid quality quantum quarter question quick quit quiz quote rabbit raccoon race
rack radar radio rail rain raise rally ramp ranch random range rapid rare rate rather raven raw razor ready real
reason rebel rebuild recall receive recipe record recycle reduce reflect reform refuse region regret regular reject
relax release relief rely remain remember remind remove render renew rent reopen repair repeat replace report
require rescue resemble resist resource response result retire retreat return reunion reveal review reward rhythm
rib ribbon rice rich ride ridge rifle right rigid ring riot ripple risk ritual rival river road roast robot robust
rocket romance roof rookie room rose rotate rough round route royal rubber rude rug rule run runway rural sad saddle
sadness safe sail salad salmon salon salt salute same sample sand satisfy satoshi sauce sausage save say scale scan
scare scatter scene scheme school science scissors scorpion scout scrap screen script scrub sea search season seat
second secret section security seed seek segment select sell seminar senior sense sentence series service session
settle setup seven shadow shaft shallow share shed shell sheriff shield shift shine ship shiver shock shoe shoot
shop short shoulder shove shrimp shrug shuffle shy sibling sick side siege sight sign silent silk silly silver
similar simple since sing siren sister situate six size skate sketch ski skill skin skirt skull slab slam sleep
slender slice slide slight slim slogan slot slow slush small smart smile smoke smooth snack snake snap sniff snow
soap soccer social sock soda soft solar soldier solid solution solve someone song soon sorry sort soul sound soup
source south space spare spatial spawn speak special speed spell spend sphere spice spider spike spin spirit split
spoil sponsor spoon sport spot spray spread spring spy square squeeze squirrel stable stadium staff stage stairs
stamp stand start state stay steak steel stem step stereo stick still sting stock stomach stone stool story stove
strategy street strike strong struggle student stuff stumble style subject submit subway success such sudden suffer
sugar suggest suit summer sun sunny sunset super supply supreme sure surface surge surprise surround survey suspect
sustain swallow swamp swap swarm swear sweet swift swim swing switch sword symbol symptom syrup system table tackle
tag tail talent talk tank tape target task taste tattoo taxi teach team tell ten tenant tennis tent term test text
thank that theme then theory there they thing this thought three thrive throw thumb thunder ticket tide tiger tilt
timber time tiny tip tired tissue title toast tobacco today toddler toe together toilet token tomato tomorrow tone
tongue tonight tool tooth top topic topple torch tornado tortoise toss total tourist toward tower town toy track
trade traffic tragic train transfer trap trash travel tray treat tree trend trial tribe trick trigger trim trip
trophy trouble truck true truly trumpet trust truth try tube tuition tumble tuna tunnel turkey turn turtle twelve
twenty twice twin twist two type typical ugly umbrella unable unaware uncle uncover under undo unfair unfold unhappy
uniform unique unit universe unknown unlock until unusual unveil update upgrade uphold upon upper upset urban urge
usage use used useful useless usual utility vacant vacuum vague valid valley valve van vanish vapor various vast
vault vehicle velvet vendor venture venue verb verify version very vessel veteran viable vibrant vicious victory
video view village vintage violin virtual virus visa visit visual vital vivid vocal voice void volcano volume vote
voyage wage wagon wait walk wall walnut want warfare warm warrior wash wasp waste water wave way wealth weapon wear
weasel weather web wedding weekend weird welcome west wet whale what wheat wheel when where whip whisper wide width
wife wild will win window wine wing wink winner winter wire wisdom wise wish witness wolf woman wonder wood wool
word work world worry worth wrap wreck wrestle wrist write wrong yard year yellow you young youth zebra zero zone
zoo
""".split()
)
