"""What the tests of the families schema and safety need: the findings of one family in a project that a test writes."""

from __future__ import annotations

import json

from foretold.check.finding import merge_findings
from foretold.check.project import CheckOptions, Project
from foretold.check.settings import CheckSettings


def findings_of(place, family, *agents):
    """Path, line, code, message and hint of every finding of a family, in order."""
    project = Project(place.proj, CheckOptions(agents=agents, home=place.home, managed=place.managed, env={}))
    find = __import__(f"foretold.check.{family}", fromlist=["find_problems"]).find_problems
    found = merge_findings(find(project, CheckSettings(select=(family,))))
    return [each._replace(path=project.relative(each.path)) for each in found]


def seen(place, family, *agents):
    """Path, line and code of every finding of a family."""
    return [(each.path, each.line, each.code) for each in findings_of(place, family, *agents)]


def codes(place, family, *agents):
    """The codes of the findings of a family."""
    return [each.code for each in findings_of(place, family, *agents)]


def write_json(place, path, value):
    return place.write(f"proj/{path}", json.dumps(value, indent=2))
