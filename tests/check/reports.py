"""A report made by hand, so that tests of formats do not depend on what rules find."""

from foretold.check.finding import CheckFinding, Fix, TextEdit
from foretold.check.project import CheckOptions, Project
from foretold.check.run import AgentCost, CheckReport

CLAUDE, CODEX = "claude-code@2.1.325", "codex@0.166.0"


def make_project(place, **options):
    place.write("proj/CLAUDE.md", "Intro.\n\nSee @docs/a.md,\n")
    place.write("proj/AGENTS.md", "# Büro\n\nText.\n")
    return Project(place.proj, CheckOptions(home=place.home, managed=place.managed, env={}, **options))


def make_report(place, findings=None, **more):
    project = make_project(place)
    path = place.path("proj/CLAUDE.md")
    fix = Fix("write @docs/a.md ,", (TextEdit(path, 22, 22, " "),))
    if findings is None:
        findings = [
            CheckFinding(
                place.path("proj/AGENTS.md"), None, "budget-cut", "23 bytes are lost", "shorten it", (CODEX,), "error"
            ),
            CheckFinding(
                path, 3, "import-punctuation", "docs/a.md,: not imported", "add a space", (CLAUDE,), "error", fix
            ),
            CheckFinding(path, 3, "text-repeated", "AGENTS.md has it, too", "keep one", (), "warning"),
            CheckFinding(place.path("home/.claude/x.md"), 2, "file-long", "it has 300 lines", "", (), "note"),
        ]
    costs = (AgentCost(CLAUDE, 2, 1200), AgentCost(CODEX, 1, 300))
    return CheckReport(project, tuple(findings), costs, **more)
