"""Words that reports share: a finding in one piece of text, numbers with their nouns, names in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.releases.history import version_key
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.check.run import CheckReport
    from foretold.dialects.registry import DialectChoice

MOST_PINS = 3  #: that are named


def write_sentence(finding: CheckFinding) -> str:
    """What is wrong, and what to do; the agents, if the message does not name them.

    >>> write_sentence(CheckFinding("/a.md", 1, "import-missing", "@b.md: it is missing", "correct it", ("codex@1",)))
    '@b.md: it is missing (codex). To do: correct it.'
    """
    message = finding.message.rstrip(".") + name_agents(finding)
    return f"{message}. To do: {finding.hint.rstrip('.')}." if finding.hint else f"{message}."


def name_agents(finding: CheckFinding) -> str:
    """The agents that a finding holds for, in brackets; empty if its message names them, or it holds for any."""
    names = dict.fromkeys(agent.partition("@")[0] for agent in finding.agents)
    return "" if all(name in finding.message for name in names) else f" ({', '.join(names)})"


def name_choices(project: Project) -> str:
    """The agents that were checked for, with their versions; one that is known from its documents has none."""
    return join_words(_name_choice(choice, project) for choice in project.choices)


def _name_choice(choice: DialectChoice, project: Project) -> str:
    agent, version = choice.dialect.agent, choice.dialect.version
    pin = project.pin_of(agent)
    named = agent if choice.dialect.evidence == "documented" else f"{agent} {version}"
    if pin is None:
        return named
    return f"{named} ({pin})" if choice.asked == version else f"{named} ({pin.path} pins {pin.version})"


def list_pin_problems(project: Project) -> Iterator[str]:
    """What is said of files that pin another version than the one that counts, and of those that pin none."""
    for choice in project.choices:
        agent = choice.dialect.agent
        others = project.pins.list_conflicts(agent) if project.pin_of(agent) else ()
        named = [f"{each.version} in {each.place}" for each in others]
        more = [f"{len(named) - MOST_PINS} more"] if len(named) > MOST_PINS else []
        if named:
            yield f"pinned otherwise: {agent} {join_words([*named[:MOST_PINS], *more])}"
    for unread in project.pins.unread[:MOST_PINS]:
        yield f"{unread.path}{f':{unread.line}' if unread.line else ''} {unread.reason}"


def list_assumed(project: Project) -> Iterator[str]:
    """What is said of versions that were asked for and were not recorded: which one was used instead."""
    for choice in project.choices:
        if choice.assumed:
            agent, version = choice.dialect.agent, choice.dialect.version
            is_same = version_key(version) == version_key(choice.asked)  # known but for a change of unknown date
            yield f"{agent} {choice.note if is_same else f'{choice.asked} is not recorded; treated like {version}'}"


def count_files(report: CheckReport) -> int:
    """How many files were looked at: instructions, and whatever else has a finding, such as skills and settings."""
    return len({*report.project.instruction_files, *(each.path for each in report.findings)})


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "file"), count(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def join_words(words: Iterable[str]) -> str:
    """Words in a row.

    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    words = list(words)
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
