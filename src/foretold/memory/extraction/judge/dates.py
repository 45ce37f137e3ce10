"""The dates of a text, resolved against the day on which it was said.

1. A date is one or more *spans* of days: `2026-03-12` is one day, `March` the March of each year near, `last spring`
   three months. What is ambiguous has several: `3/12` has two readings, and so has `next Friday`.
2. A claim's date was said if a date of the user's lies within one of its spans (`12 March`, so `in March`), or if it is
   such a span's first or last day (`next week`, so `until 2026-03-15`). A day within a month that was said is made up.
3. Weekdays agree with weekdays, and with the days that fall on them.
4. Where the day of a message is not known, its relative dates agree with all dates, and a year is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta

from foretold.memory.extraction.judge.vocabulary import MONTHS, NUMBERS, SEASONS, WEEKDAYS
from foretold.types import NamedTuple

Span = tuple[int, int]  #: the ordinals of the first day and the last
ANY: Span = (1, date.max.toordinal())  #: a relative date that cannot be resolved
YEARS = (-1, 0, 1)  #: the years near, which a date without one may mean
_AMBIGUOUS = frozenset("may mar sun sat wed mon mai".split())  #: other words, too

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_SEASON = "|".join(SEASONS)
_COUNT = r"\d{1,3}|an?|" + "|".join(word for word, worth in NUMBERS.items() if 0 < worth < 13)
_DAY = r"(\d{1,2})(?:st|nd|rd|th|\.)?"
_TO = r"(?:\s?(?:-|–|to|until|bis)\s?" + _DAY + ")?"
_UNIT = "days?|weeks?|months?|years?"
_EDGE = "end|start|beginning|ende"
_PERIOD = "day|week|weekend|month|quarter|year|tag|woche|monat|jahr|sprint"


class DateFact(NamedTuple):
    """A date in a text."""

    text: str
    start: int
    end: int
    spans: tuple[Span, ...]
    weekday: int = -1  #: of a weekday that is named alone


def dates_of(text: str, days: Iterable[date] = ()) -> list[DateFact]:
    """The dates of a text that was said on one of some days, in their order. `text` has its capitals."""
    known = tuple(days)
    found: list[DateFact] = []
    low = text.lower().replace("ä", "a").replace("ü", "u")
    for pattern, resolve in RULES:
        for match in pattern.finditer(low):
            if _is_taken(match.span(), found) or not _is_name(text, match):
                continue
            fact = _resolve(match, resolve, known)
            if fact.spans or fact.weekday >= 0:
                found.append(fact)
    return sorted(found, key=lambda fact: fact.start)


def _is_taken(span: Span, found: list[DateFact]) -> bool:
    return any(span[0] < fact.end and fact.start < span[1] for fact in found)


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Whether a name that is also another word is a date: it has a capital inside a sentence, or `in` before it."""
    if match[0] not in _AMBIGUOUS:
        return True
    before = text[max(0, match.start() - 8) : match.start()].lower()
    is_capital = text[match.start()].isupper() and bool(re.search(r"\w", before))
    return is_capital or before.endswith((" in ", " until ", " since ", " by ", " on "))


def _resolve(match: re.Match[str], resolve: Resolver, days: tuple[date, ...]) -> DateFact:
    weekday = next((WEEKDAYS[word] for word in re.findall(r"[a-z]+", match[0]) if word in WEEKDAYS), -1)
    spans: dict[Span, None] = {}
    for day in days or (None,):
        try:
            spans.update(dict.fromkeys(resolve(match, day)))
        except (ValueError, OverflowError):
            continue  # 31 February
    return DateFact(match[0], match.start(), match.end(), tuple(spans), weekday)


def agree(claim: DateFact, said: DateFact) -> bool:
    """Whether a date of a claim is what a date of the user's says, or follows from it."""
    if claim.weekday >= 0 and claim.weekday == said.weekday:
        return True
    if said.weekday >= 0 and (not said.spans or said.spans == (ANY,)):
        return any(one == two and date.fromordinal(one).weekday() == said.weekday for one, two in claim.spans)
    if claim.weekday >= 0:
        return any(one == two and date.fromordinal(one).weekday() == claim.weekday for one, two in said.spans)
    if said.text == claim.text or ANY in said.spans or ANY in claim.spans:
        return said.text == claim.text or ANY not in claim.spans
    return any(_covers(one, two) for one in claim.spans for two in said.spans)


def _covers(claim: Span, said: Span) -> bool:
    if claim[0] <= said[0] and said[1] <= claim[1]:
        return True
    return said[0] <= claim[0] and claim[1] <= said[1] and (claim[0] == said[0] or claim[1] == said[1])


# How dates are written. A resolver gives the spans of a match, for a day on which it was said, or None

Resolver = Callable[[re.Match[str], "date | None"], Iterable[Span]]


def _day(year: int, month: int, day: int) -> Span:
    at = date(year, month, day).toordinal()
    return at, at


def _months(year: int, month: int, count: int = 1) -> Span:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = month - 1 + count
    return date(year, month, 1).toordinal(), date(year + after // 12, after % 12 + 1, 1).toordinal() - 1


def _years(day: date | None) -> Iterator[int]:
    yield from (day.year + each for each in YEARS) if day is not None else range(1990, 2060)


def _full(match: re.Match[str], _: date | None) -> Iterable[Span]:
    return [_day(int(match[1]), int(match[2]), int(match[3]))]


def _month_of_year(match: re.Match[str], _: date | None) -> Iterable[Span]:
    return [_months(int(match[1]), int(match[2]))]


def _numeric(match: re.Match[str], day: date | None) -> Iterable[Span]:
    """`12.3.2026`, `3/12`: the day first or the month first; a dot has the day first."""
    one, two = int(match[1]), int(match[3])
    years = [int(match[4]) + 2000 * (len(match[4]) < 4)] if match[4] else list(_years(day))
    orders = [(two, one)] if match[2] == "." else [(two, one), (one, two)]
    for month, number in orders:
        if 1 <= month <= 12:
            yield from _each_year(years, month, number)


def _each_year(years: Iterable[int], month: int, number: int) -> Iterator[Span]:
    for year in years:
        try:
            yield _day(year, month, number)
        except ValueError:
            continue  # 29 February


def _named(match: re.Match[str], day: date | None) -> Iterable[Span]:
    """`12 March 2026`, `May 5-7`."""
    given = match.groupdict()
    years = [int(given["year"])] if given.get("year") else list(_years(day))
    for number in re.findall(r"\d{1,2}(?!\d)", match[0].replace(given.get("year") or "-", " ")):
        yield from _each_year(years, MONTHS[given["month"]], int(number))


def _month_name(match: re.Match[str], day: date | None) -> Iterable[Span]:
    years = [int(match[2])] if match[2] else list(_years(day))
    return [_months(year, MONTHS[match[1]]) for year in years]


def _season(match: re.Match[str], day: date | None) -> Iterable[Span]:
    month = SEASONS[match[2]]
    if match[3]:
        years = [int(match[3])]
    elif day is None:
        return [ANY]
    else:
        past = [day.year - 1 if month + 2 >= day.month else day.year]
        coming = [day.year if month >= day.month else day.year + 1]
        years = {"last": past, "letzten": past, "next": coming}.get(match[1] or "", [*past, *coming])
    return [_months(year, month, 3) for year in dict.fromkeys(years)]


def _quarter(match: re.Match[str], day: date | None) -> Iterable[Span]:
    size = 3 if match[1] == "q" else 6
    years = [int(match[3])] if match[3] else list(_years(day))
    return [_months(year, size * (int(match[2]) - 1) + 1, size) for year in years]


def _weekday(match: re.Match[str], day: date | None) -> Iterable[Span]:
    """The one before and the one after; `next` and `last` also a week farther."""
    if day is None:
        return [ANY]
    ahead = (WEEKDAYS[match[2]] - day.weekday()) % 7
    given = (match[1] or "").split(" ")[0]
    if given in ("next", "nachsten", "kommenden") or match[3]:
        offsets = [ahead or 7, ahead + 7]
    elif given in ("last", "letzten"):
        offsets = [ahead - 7, ahead - 14]
    else:
        offsets = [ahead, ahead - 7, ahead or 7]
    return [(day.toordinal() + offset,) * 2 for offset in offsets]


_NEAR = {"today": 0, "tonight": 0, "heute": 0, "tomorrow": 1, "morgen": 1, "yesterday": -1, "gestern": -1}
_NEAR |= {"day after tomorrow": 2, "ubermorgen": 2, "day after": 2, "day before yesterday": -2, "vorgestern": -2}


def _near_day(match: re.Match[str], day: date | None) -> Iterable[Span]:
    return [ANY] if day is None else [(day.toordinal() + _NEAR[match[1]],) * 2]


def _distance(match: re.Match[str], day: date | None) -> Iterable[Span]:
    """`in two weeks`, `three days ago`."""
    if day is None:
        return [ANY]
    word = match["count"]
    count = int(word) if word.isdigit() else NUMBERS.get(word, 1)
    back = -1 if match.groupdict().get("ago") or match[0].startswith("vor ") else 1
    if match["unit"].startswith(("mon",)):
        return [
            _months(day.year, day.month + back * count),
            (day.toordinal() + back * count * 30,) * 2,
            *_same_day(day, back * count),
        ]
    size = {"d": 1, "t": 1, "w": 7}.get(match["unit"][0], 365)
    return [(day.toordinal() + back * count * size,) * 2]


def _same_day(day: date, months: int) -> list[Span]:
    try:
        return [_day(day.year + (day.month - 1 + months) // 12, (day.month - 1 + months) % 12 + 1, day.day)]
    except ValueError:
        return []


def _period(match: re.Match[str], day: date | None) -> Iterable[Span]:
    """`next week`, `the end of the month`, `this quarter`."""
    if day is None:
        return [ANY]
    step = {"next": 1, "coming": 1, "nachste": 1, "nachsten": 1, "last": -1, "past": -1, "previous": -1}
    offset = step.get(match["which"] or "", -1 if (match["which"] or "").startswith("letzte") else 0)
    whole = _period_span(match["unit"], offset, day)
    edge = match.groupdict().get("edge") or ""
    if edge.startswith(("end", "ende")):
        return [(whole[1],) * 2, (_last_workday(whole[1]),) * 2]
    return [(whole[0],) * 2] if edge else [whole]


def _last_workday(at: int) -> int:
    return at - max(0, date.fromordinal(at).weekday() - 4)


def _period_span(unit: str, offset: int, day: date) -> Span:
    monday = day.toordinal() - day.weekday() + 7 * offset
    if unit == "weekend":
        return monday + 5, monday + 6
    if unit.startswith(("week", "woche", "sprint")):
        return monday, monday + 6
    if unit.startswith(("day", "tag")):
        return (day.toordinal() + offset,) * 2
    if unit.startswith(("month", "monat")):
        return _months(day.year, day.month + offset)
    if unit == "quarter":
        return _months(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    return _months(day.year + offset, 1, 12)


def _edge_of_month(match: re.Match[str], day: date | None) -> Iterable[Span]:
    for year in [int(match[3])] if match[3] else list(_years(day)):
        whole = _months(year, MONTHS[match[2]])
        at = {"e": whole[1], "m": whole[0] + 14}.get(match[1][0], whole[0])
        yield at, at
        yield whole


def _day_of_month(match: re.Match[str], day: date | None) -> Iterable[Span]:
    """`the 12th`: of this month, the next and the one before."""
    number = int(match[1])
    if day is None:
        return [span for year in _years(day) for month in range(1, 13) for span in _each_year([year], month, number)]
    around = [date.fromordinal(day.toordinal() + 31 * step - (day.day - 15)) for step in (-1, 0, 1, 2)]
    return [span for each in around for span in _each_year([each.year], each.month, number)]


def _year(match: re.Match[str], _: date | None) -> Iterable[Span]:
    return [_months(int(match[1]), 1, 12)]


RULES: tuple[tuple[re.Pattern[str], Resolver], ...] = tuple(
    (re.compile(pattern), resolve)
    for pattern, resolve in (
        (r"(?<![\w.-])(\d{4})[-/](\d\d?)[-/](\d\d?)(?![\w-])", _full),
        (r"(?<![\w.-])((?:19|20)\d\d)-(0\d|1[0-2])(?![\w-])", _month_of_year),
        (r"(?<![\w./-])(\d{1,2})(\.)(\d{1,2})\.((?:20)?\d\d)(?!\w|\.\w)", _numeric),
        (r"(?:(?<=\bam )|(?<=\bbis )|(?<=\bvom )|(?<=\bzum )|(?<=\bden ))(\d{1,2})(\.)(\d{1,2})\.()(?!\w)", _numeric),
        (r"(?<![\w./-])(\d{1,2})(/)(\d{1,2})(?:/((?:20)?\d\d))?(?![\w/]|\.\d)", _numeric),
        (rf"\b(end|ende|start|beginning|early|mid|late)(?: of|-)? (?:of )?({_MONTH})\b(?: (\d{{4}}))?", _edge_of_month),
        (rf"(?<![\w.]){_DAY}{_TO} ?(?:of )?(?P<month>{_MONTH})\b\.?(?:,? (?P<year>\d{{4}}))?", _named),
        (rf"\b(?P<month>{_MONTH})\b\.? (?:the )?{_DAY}(?!\d|:){_TO}(?:,? (?P<year>\d{{4}})\b)?", _named),
        (rf"\b(?:(?:last|next|this) )?({_MONTH})\b(?:,? ?(?:of )?(\d{{4}})\b)?", _month_name),
        (rf"\b(?:(last|next|this|letzten) )?({_SEASON})\b(?: (?:of )?(\d{{4}}))?", _season),
        (r"\b(q)([1-4])\b(?: ?/? ?(\d{4}))?", _quarter),
        (
            rf"\b(?P<which>)(?P<edge>{_EDGE}) (?:of |der |des )?(?:the |this )?(?P<unit>{_PERIOD})s?\b",
            _period,
        ),
        (
            rf"\b(?P<edge>end|start|beginning) of (?P<which>next|last) (?P<unit>{_PERIOD})\b",
            _period,
        ),
        (
            rf"\b(next |last |this |coming |nachsten |kommenden |letzten )?({_WEEKDAY})\b( next week| in a week)?",
            _weekday,
        ),
        (r"\b(day after tomorrow|day before yesterday|day after|ubermorgen|vorgestern)\b", _near_day),
        (r"\b(today|tonight|tomorrow|yesterday|heute|morgen|gestern)\b", _near_day),
        (
            rf"\b(?:in|within|vor) (?P<count>{_COUNT}) (?P<unit>{_UNIT}|tagen?|wochen?|monaten?)(?: time)?\b(?! long)",
            _distance,
        ),
        (rf"\b(?P<count>{_COUNT}) (?P<unit>{_UNIT}) (?:(?P<ago>ago)|from now)\b", _distance),
        (rf"\b(?P<which>next|last|this|coming|past|previous|nachsten?|letzten?) (?P<unit>{_PERIOD})\b", _period),
        (r"\b(?:the |on |am |until |by )+(\d{1,2})(?:st|nd|rd|th)\b", _day_of_month),
        (r"\b(?:in|since|until|by|of|from|seit|bis) ((?:19|20)\d\d)\b(?![-.]\d)", _year),
    )
)


def days_of(time: float | None) -> tuple[date, ...]:
    """The day of a time, as its record has it and where this machine is."""
    if time is None:
        return ()
    utc = date(1970, 1, 1) + timedelta(seconds=time)
    here = date.fromtimestamp(time)
    return (utc,) if utc == here else (utc, here)
