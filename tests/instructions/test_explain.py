"""One instruction file: loaded when, and if not, why and what to change."""

import pytest

from foretold.instructions.explain import FileVerdict, find_nested, verdict_of
from foretold.instructions.session import Call
from foretold.types import REASONS

RELATIVE = "imports are relative to the folder of the importing file"


def ask(place, path, **options):
    verdict = verdict_of(place.load(**options), path)
    return verdict._replace(
        path=place.short(verdict.path),
        why=tuple(map(place.short, verdict.why)),
        change=tuple(map(place.short, verdict.change)),
        detail=place.short(verdict.detail),
    )


def test_loaded_at_the_start(place):
    place.write("home/.claude/CLAUDE.md", "user")
    place.write("proj/CLAUDE.md", "Use tabs.")
    start = "loaded at the start of every session"
    expected = FileVerdict(
        "proj/CLAUDE.md", "start", start, ("number 2 of 2, layer project, about 3 tokens",), (), tokens=3
    )
    for path in ("CLAUDE.md", "./x/../CLAUDE.md", place.path("proj/CLAUDE.md")):
        assert ask(place, path) == expected


def test_loaded_as_an_import_with_what_is_wrong(place):
    place.write("proj/CLAUDE.md", "@docs/a.md")
    place.write("proj/docs/a.md", "---\nx: 1\n---\n\n@gone.md\n")
    verdict = ask(place, "docs/a.md")
    assert verdict == FileVerdict(
        "proj/docs/a.md",
        "start",
        "loaded at the start of every session",
        (
            "number 2 of 2, layer project, about 3 tokens",
            "imported by proj/CLAUDE.md",
            "shown without its frontmatter or comments",
        ),
        (),
        tokens=3,
        findings=verdict.findings,
    )
    [finding] = verdict.findings
    said = f"proj/docs/gone.md: not imported, there is no such file: {RELATIVE}, proj/docs"
    assert (finding.line, finding.code, place.short(finding.message)) == (5, "import-missing", said)


def test_a_link_is_asked_by_either_name(place):
    place.write("proj/docs/rules.md", "text")
    place.link("proj/CLAUDE.md", "docs/rules.md")
    place.link("proj/.claude/rules/r.md", "../../shared.md")
    place.write("proj/shared.md", "shared")
    loaded = {
        path: ask(place, path).loaded for path in ("CLAUDE.md", ".claude/rules/r.md", "shared.md", "docs/rules.md")
    }
    assert loaded == dict.fromkeys(loaded, "start")


def test_waiting(place):
    place.write("proj/.claude/rules/r.md", "---\npaths: [src/**, '*.ts']\n---\nrule")
    assert ask(place, ".claude/rules/r.md") == FileVerdict(
        "proj/.claude/rules/r.md",
        "on-match",
        "loaded when a matching file is touched",
        ("its paths wait for a file that matches: src/**, *.ts, seen from proj",),
        (),
        tokens=1,
    )


def test_skipped_with_what_to_change(place):
    place.write("proj/CLAUDE.md", "see @../out.md\n")
    place.write("out.md")
    assert ask(place, "../out.md") == FileVerdict(
        "out.md",
        "never",
        "not loaded",
        ("proj/CLAUDE.md:1: outside-project: it lies outside the working directory",),
        ("start the agent higher up, move the file, or approve external imports",),
        "outside-project",
    )


def test_an_import_with_a_comma_behind_it(place):
    place.write("proj/CLAUDE.md", "\n\nsee @docs/a.md, and more\n")
    place.write("proj/docs/a.md")
    assert ask(place, "docs/a.md") == FileVerdict(
        "proj/docs/a.md",
        "never",
        "not loaded",
        ("proj/CLAUDE.md:3: the import is taken to mean proj/docs/a.md,",),
        ("put white space after the path",),
        "missing",
    )


@pytest.mark.parametrize(
    ("prepare", "path", "reason"),
    [
        (lambda place: place.write("proj/CLAUDE.md", " \n"), "CLAUDE.md", "empty"),
        (lambda place: place.folder("proj/CLAUDE.md"), "CLAUDE.md", "folder"),
        (lambda place: place.fifo("proj/CLAUDE.md"), "CLAUDE.md", "not-a-file"),
        (lambda place: place.link("proj/CLAUDE.md", "CLAUDE.md"), "CLAUDE.md", "symlink-loop"),
        (lambda place: place.link("proj/CLAUDE.md", "gone"), "CLAUDE.md", "missing"),
        (lambda place: place.write("proj/CLAUDE.md", "x" * (4 * 1024 * 1024 + 1)), "CLAUDE.md", "too-large"),
        (lambda place: (place.write("proj/CLAUDE.md"), place.write("proj/AGENTS.md")), "AGENTS.md", "shadowed"),
        (lambda place: (place.write("proj/CLAUDE.md", "`@a.md`"), place.write("proj/a.md")), "a.md", "in-code"),
        (
            lambda place: (place.write("proj/CLAUDE.md", "@a.bin"), place.write("proj/a.bin")),
            "a.bin",
            "not-a-text-file",
        ),
        (lambda place: place.write("proj/CLAUDE.md", "@a.md"), "a.md", "missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_reasons(place, prepare, path, reason):
    prepare(place)
    verdict = ask(place, path)
    assert (verdict.loaded, verdict.answer) == ("never", "not loaded")
    assert any(f"{reason}: {REASONS[reason]}" in why for why in verdict.why), verdict.why


def test_switched_off(place):
    place.write("proj/CLAUDE.local.md", "local")
    verdict = ask(place, "CLAUDE.local.md", args=["--setting-sources", "project"])
    assert verdict.why == ("disabled: a switch turns this off (--setting-sources leaves out local)",)


def test_excluded(place):
    place.write("proj/CLAUDE.md", "text")
    verdict = ask(place, "CLAUDE.md", settings={"claudeMdExcludes": ["**/CLAUDE.md"]})
    assert verdict.why == ("excluded: an exclude pattern matches it",)


def test_a_hint_for_another_import_is_not_given(place):
    """What is to be changed concerns this file, not its neighbours."""
    place.write("proj/CLAUDE.md", "@a.md,\n\n`@b.md`\n")
    place.write("proj/a.md")
    place.write("proj/b.md")
    assert ask(place, "a.md").change == ("put white space after the path",)
    assert ask(place, "b.md").change == ("write it as plain text",)


def test_missing(place):
    verdict = ask(place, "CLAUDE.md")
    why, change = ("there is no such file",), ("create it",)
    assert verdict == FileVerdict("proj/CLAUDE.md", "never", "not loaded", why, change, "missing")


@pytest.mark.parametrize(
    ("path", "version", "loaded"),
    [
        ("a/CLAUDE.md", "2.1.197", "on-touch"),
        ("a/CLAUDE.md", "2.1.325", "on-touch"),
        ("a/.claude/CLAUDE.md", "2.1.325", "on-touch"),
        ("a/b/CLAUDE.local.md", "2.1.325", "on-touch"),
        ("a/.claude/rules/r.md", "2.1.325", "on-touch"),
        ("a/AGENTS.md", "2.1.325", "on-touch"),
        ("a/AGENTS.md", "2.1.197", "never"),
        ("a/claude.md", "2.1.325", "never"),
        ("README.md", "2.1.325", "never"),
        ("../other/CLAUDE.md", "2.1.325", "never"),
        ("../other/.claude/rules/r.md", "2.1.325", "never"),
    ],
)
def test_files_that_the_start_does_not_look_at(place, path, version, loaded):
    place.write(f"proj/{path}", "text")
    verdict = ask(place, path, version=version)
    assert verdict.loaded == loaded
    assert bool(verdict.change) == (loaded == "never")


def test_a_nested_agents_md_that_a_parent_hides(place):
    place.write("proj/CLAUDE.md", "text")
    place.write("proj/a/AGENTS.md", "text")
    assert ask(place, "a/AGENTS.md").loaded == "never"


def test_nothing_is_loaded_on_touch_when_loading_is_off(place):
    place.write("proj/a/CLAUDE.md", "text")
    assert ask(place, "a/CLAUDE.md", args=["--bare"]).loaded == "never"


def test_a_nested_file_that_is_empty_is_never_loaded(place):
    """What a touch would skip is not promised."""
    place.write("proj/a/CLAUDE.md", " \n")
    assert ask(place, "a/CLAUDE.md").loaded == "never"


def test_a_nested_file_that_is_excluded_is_never_loaded(place):
    place.write("proj/a/CLAUDE.md", "text")
    assert ask(place, "a/CLAUDE.md", settings={"claudeMdExcludes": ["**/a/CLAUDE.md"]}).loaded == "never"


@pytest.mark.parametrize("path", ["nul\0.md", "x" * 5000, "a/" * 200 + "b\0/x.md", "", "\ud800", "/", "..", "a\nb.md"])
def test_impossible_paths(place, path):
    assert ask(place, path).loaded == "never"


def test_an_import_that_fails_does_not_hide_that_it_comes_otherwise(place):
    place.write("proj/CLAUDE.md", "See @pay/CLAUDE.md.\n")
    place.write("proj/pay/CLAUDE.md", "Amounts are in cents.\n")
    verdict = ask(place, "pay/CLAUDE.md")
    assert (verdict.loaded, verdict.answer) == ("on-touch", "loaded when a file in its folder is touched")
    assert verdict.why == ("in proj/pay", "proj/CLAUDE.md:1: the import is taken to mean proj/pay/CLAUDE.md.")
    assert verdict.change == ("put white space after the path",)


# -- rules that are never loaded ----------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["", "apps/web/"])
@pytest.mark.parametrize(
    ("name", "right"),
    [("x.txt", "x.md"), ("x.mdc", "x.md"), ("deep/x.markdown", "x.md"), ("notes", "notes.md"), (".keep", ".keep.md")],
)
def test_a_file_in_a_rules_folder_with_another_ending(place, folder, name, right):
    path = f"{folder}.claude/rules/{name}"
    place.write(f"proj/{path}", "rule")
    place.write(f"proj/{folder}a.py")
    assert ask(place, path) == FileVerdict(
        f"proj/{path}",
        "never",
        "not loaded",
        ("wrong-extension: the agent reads no files with this ending there (only .md)",),
        (f"rename it to {right}",),
        "wrong-extension",
        "only .md",
    )
    assert place.session().read(f"{folder}a.py").entries == ()


@pytest.mark.parametrize(
    ("agent", "path", "loaded", "change"),
    [
        ("copilot-cli", ".github/instructions/a.md", "never", ("rename it to a.instructions.md",)),
        ("cursor", ".cursor/rules/a.md", "never", ("rename it to a.mdc",)),
        ("cursor", ".cursor/rules/a.mdc", "never", ()),  # without `alwaysApply`: only by name
    ],
)
def test_endings_are_those_of_the_agent(place, agent, path, loaded, change):
    place.write(f"proj/{path}", "rule")
    verdict = ask(place, path, agent=agent)
    assert (verdict.loaded, verdict.change) == (loaded, change)


def test_a_rule_that_can_never_match_is_never_loaded(place):
    """It agrees with its finding."""
    path = place.write("proj/.claude/rules/r.md", "---\npaths: ['./src/**', '~/x']\n---\nrule")
    verdict = ask(place, ".claude/rules/r.md")
    findings = [f"{each.message}: {each.hint}" for each in place.load().findings if each.code == "glob-never-matches"]
    assert (verdict.loaded, verdict.why) == ("never", ("its paths can match no file", *findings))
    assert verdict.change == ("write paths that match, relative to proj",)
    place.write(path, "---\npaths: ['./src/**', lib/**]\n---\nrule")
    verdict = ask(place, ".claude/rules/r.md")
    assert verdict.loaded == "on-match"
    assert verdict.why[1:] == ("`./src/**`: it starts with `./`, as no path does: write it without",)


def test_a_nested_rule_waits_for_its_paths(place):
    place.write("proj/a/.claude/rules/r.md", "---\npaths: '*.ts'\n---\nrule")
    place.write("proj/a/.claude/rules/never.md", "---\npaths: './x'\n---\nrule")
    verdict = ask(place, "a/.claude/rules/r.md")
    assert (verdict.loaded, verdict.why) == (
        "on-match",
        ("its paths wait for a file that matches: *.ts, seen from proj/a",),
    )
    assert ask(place, "a/.claude/rules/never.md").loaded == "never"


# -- names that are nearly right, and files that something hides ---------------------------------------------------


def test_the_file_that_hides_a_nested_one_is_named(place):
    place.write("proj/CLAUDE.md", "text")
    place.write("proj/a/AGENTS.md", "text")
    verdict = ask(place, "a/AGENTS.md")
    assert verdict.why == ("shadowed: another file takes its place (by proj/CLAUDE.md)",)
    assert (verdict.reason, verdict.detail) == ("shadowed", "by proj/CLAUDE.md")
    assert verdict.change == ("create proj/a/CLAUDE.md with the line @AGENTS.md",)
    place.write("proj/a/CLAUDE.md", "@AGENTS.md")
    entries = place.session().read("a/x.py").entries
    assert [place.short(entry.path) for entry in entries] == ["proj/a/CLAUDE.md", "proj/a/AGENTS.md"]


def test_the_file_next_to_a_nested_one_that_hides_it_is_named(place):
    place.write("proj/a/CLAUDE.md", "text")
    place.write("proj/a/AGENTS.md", "text")
    assert ask(place, "a/AGENTS.md").why == ("shadowed: another file takes its place (by proj/a/CLAUDE.md)",)


@pytest.mark.parametrize(
    ("agent", "name", "right"),
    [
        ("claude-code", "claude.md", "CLAUDE.md"),
        ("claude-code", "a/Claude.md", "CLAUDE.md"),
        ("claude-code", "a/.claude/claude.md", "CLAUDE.md"),
        ("claude-code", "agents.md", "AGENTS.md"),
        ("codex", "agents.md", "AGENTS.md"),
        ("opencode", "a/Agents.md", "AGENTS.md"),
        ("gemini-cli", "gemini.md", "GEMINI.md"),
    ],
)
def test_other_capitals(place, agent, name, right):
    place.write(f"proj/{name}", "text")
    verdict = ask(place, name, agent=agent, trust=True)
    said = "its name has other capitals than the name that the agent looks for"
    assert (verdict.loaded, verdict.why) == ("never", (f"wrong-case: {said} (it looks for {right})",))
    assert verdict.change == (f"rename it to {right}",)


def test_copilot_reads_agents_md_in_small_letters(place):
    place.write("proj/agents.md", "text")
    assert ask(place, "agents.md", agent="copilot-cli").loaded == "start"


def test_an_agent_that_reads_no_nested_files(place):
    place.write("proj/a/AGENTS.md", "text")
    verdict = ask(place, "a/AGENTS.md", agent="codex")
    assert (verdict.loaded, verdict.reason, verdict.change) == ("never", "start-only", ("start the agent in proj/a",))


# -- every file of a tree ------------------------------------------------------------------------------------------


def nested(place, **options):
    found = find_nested(place.load(**options))
    return {place.short(verdict.path): (verdict.loaded, verdict.reason) for verdict in found.verdicts}


@pytest.fixture
def monorepo(place):
    place.write("proj/CLAUDE.md", "See @docs/CLAUDE.md\n")
    place.write("proj/docs/CLAUDE.md", "imported")
    place.write("proj/claude.md", "small letters")
    place.write("proj/.claude/rules/a.md", "always")
    place.write("proj/.claude/rules/b.mdc", "wrong ending")
    place.write("proj/apps/web/CLAUDE.md", "web")
    place.write("proj/apps/web/AGENTS.md", "web agents")
    place.write("proj/apps/api/CLAUDE.local.md", "local")
    place.write("proj/apps/api/.claude/rules/r.md", "---\npaths: '*.py'\n---\nrule")
    place.write("proj/apps/empty/CLAUDE.md", "\n")
    place.write("proj/node_modules/x/CLAUDE.md", "a package")
    place.write("proj/README.md", "text")
    return place


def test_what_the_start_does_not_account_for(monorepo):
    assert nested(monorepo) == {
        "proj/claude.md": ("never", "wrong-case"),
        "proj/.claude/rules/b.mdc": ("never", "wrong-extension"),
        "proj/apps/api/CLAUDE.local.md": ("on-touch", ""),
        "proj/apps/empty/CLAUDE.md": ("never", "empty"),
        "proj/apps/web/AGENTS.md": ("never", "shadowed"),
        "proj/apps/web/CLAUDE.md": ("on-touch", ""),
        "proj/apps/api/.claude/rules/r.md": ("on-match", ""),
    }


def test_a_page_among_others_is_not_a_misspelt_instruction_file(place):
    for name in ("docs/agents.md", "docs/tools.md", "app/agents.md", "app/README.md"):
        place.write(f"proj/{name}", "text")
    assert nested(place) == {"proj/app/agents.md": ("never", "wrong-case")}


def test_a_link_to_a_file_that_is_loaded_is_accounted_for(place):
    place.write("proj/AGENTS.md", "text")
    place.link("proj/CLAUDE.md", "AGENTS.md")
    assert nested(place) == {}


def test_each_agent_has_its_own_nested_files(monorepo):
    assert nested(monorepo, agent="codex") == {"proj/apps/web/AGENTS.md": ("never", "start-only")}
    assert nested(monorepo, agent="opencode") == {
        "proj/claude.md": ("never", "wrong-case"),
        "proj/apps/empty/CLAUDE.md": ("on-touch", ""),
        "proj/apps/web/AGENTS.md": ("on-touch", ""),
        "proj/apps/web/CLAUDE.md": ("never", "shadowed"),
        "proj/docs/CLAUDE.md": ("on-touch", ""),
    }


@pytest.mark.parametrize(
    "agent", ["claude-code@2.1.325", "claude-code@2.1.197", "opencode", "gemini-cli", "copilot-cli"]
)
def test_what_is_said_of_a_nested_file_comes_true(monorepo, agent):
    """Whatever is promised for a touched file is attached when one next to it is read, and nothing else of these is."""
    monorepo.write("proj/apps/web/GEMINI.md", "gemini")
    view = monorepo.load(agent=agent, trust=True)
    for verdict in find_nested(view).verdicts:
        if "rules" in verdict.path:
            continue
        touched = monorepo.write(f"{verdict.path.rpartition('/')[0]}/x.py", "x")
        session = monorepo.session(agent=agent, trust=True)
        trigger = session.view.dialect.triggers[0]
        attached = session.use([Call(trigger.tool, {trigger.key: touched})])
        is_attached = verdict.path in [entry.path for entry in attached.entries]
        assert is_attached == (verdict.loaded == "on-touch"), verdict


# -- one truth everywhere ------------------------------------------------------------------------------------------


def test_a_rule_that_is_listed_and_waits(place):
    place.write("proj/.git/HEAD", "ref: refs/heads/main\n")
    path = ".github/instructions/ts.instructions.md"
    place.write(f"proj/{path}", '---\napplyTo: "**/*.ts,**/*.tsx"\n---\nUse strict types.\n')
    place.write("proj/src/a.ts", "")
    verdict = ask(place, path, agent="copilot-cli")
    assert (verdict.loaded, verdict.answer) == (
        "on-match",
        "listed at the start of every session, by its name and patterns, and loaded when a matching file is touched",
    )
    session = place.session(agent="copilot-cli")
    assert [place.short(entry.path) for entry in session.read("src/a.ts").entries] == [f"proj/{path}"]


def test_where_the_agent_refuses_to_start_nothing_is_loaded(place):
    place.write("proj/GEMINI.md", "text")
    place.write("proj/a/GEMINI.md", "text")
    verdict = ask(place, "GEMINI.md", agent="gemini-cli")
    assert (verdict.loaded, verdict.reason) == ("never", "not-started")
    assert verdict.change == ("start the agent here once, and trust the folder",)
    view = place.load(agent="gemini-cli")
    assert (view.refusal, view.tokens, find_nested(view).verdicts) == (55, 0, ())


def test_misspelt_names_in_a_folder_with_code_are_listed(place):
    for name in ("Claude.md", "agents.md", "main.py", "notes.md"):
        place.write(f"proj/z/{name}", "text")
    found = {place.short(verdict.path): verdict.reason for verdict in find_nested(place.load()).verdicts}
    assert found == {"proj/z/Claude.md": "wrong-case", "proj/z/agents.md": "wrong-case"}


# -- findings of files that the start does not load ----------------------------------------------------------------


def test_the_findings_of_a_nested_file(place):
    place.write("proj/a/CLAUDE.md", "x\n@docs/two.md\n@docs/one.md\n")
    verdict = ask(place, "a/CLAUDE.md")
    assert [(each.line, each.code) for each in verdict.findings] == [(2, "import-missing"), (3, "import-missing")]
    assert find_nested(place.load()).findings == verdict.findings


def test_the_findings_of_a_rule_that_waits(place):
    place.write("proj/.claude/rules/r.md", "---\npaths: *.ts\n---\n@gone.md\n")
    assert [each.code for each in ask(place, ".claude/rules/r.md").findings] == [
        "frontmatter-repaired",
        "import-missing",
    ]


def test_a_file_that_a_nested_file_imports(place):
    place.write("proj/a/CLAUDE.md", "@docs/x.md\n")
    place.write("proj/a/docs/x.md", "@gone.md\n")
    verdict = ask(place, "a/docs/x.md")
    assert (verdict.loaded, verdict.answer) == ("on-touch", "loaded when a file in a folder above it is touched")
    assert verdict.why == ("imported by proj/a/CLAUDE.md, when a file in proj/a is touched",)
    assert [each.code for each in verdict.findings] == ["import-missing"]


@pytest.mark.parametrize(
    ("path", "code", "fix"),
    [
        ("claude.md", "name-case", "rename it to CLAUDE.md"),
        ("a/Claude.md", "name-case", "rename it to CLAUDE.md"),
        (".claude/rules/x.mdc", "rule-extension", "rename it to x.md"),
        (".claude/rules/x.txt", "rule-extension", "rename it to x.md"),
        (".claude/rules/README.txt", "", ""),
        (".claude/rules/check.py", "", ""),
    ],
)
def test_a_name_that_keeps_a_file_from_being_loaded_is_a_finding(place, path, code, fix):
    place.write(f"proj/{path}", "text")
    findings = find_nested(place.load()).findings
    assert [(place.short(each.path), each.code, each.hint) for each in findings] == [
        (f"proj/{path}", code, fix)
    ] * bool(code)


# -- advice that works ---------------------------------------------------------------------------------------------


def test_the_line_of_a_directive_is_named(place):
    place.write("proj/CLAUDE.md", "x\n- @include docs/k.md\n")
    place.write("proj/docs/k.md", "text")
    verdict = ask(place, "docs/k.md")
    assert verdict.why == ("proj/CLAUDE.md:2: @include is not a directive of this agent",)
    assert verdict.change == ("write @docs/k.md there",)


def test_a_hint_for_another_import_of_the_line_is_not_given(place):
    place.write("proj/CLAUDE.md", "@docs/real.md. and @docs/missing.md\n")
    place.write("proj/docs/real.md", "text")
    assert ask(place, "docs/real.md").change == ("put white space after the path",)


@pytest.mark.parametrize(
    ("path", "why", "change"),
    [
        ("src/a.ts", "it is not an instruction file", ("foretold explain --file src/a.ts says what reading it adds",)),
        (".cursorrules", "zed, crush and cursor look for it; this agent does not", ()),
        (".cursor/rules/a.mdc", "crush and cursor look for it; this agent does not", ()),
        (".claude/skills/x/SKILL.md", "it is a skill: ", ()),
        ("../notes.md", "it is outside the folder that the agent starts in", ()),
        ("docs/x.md", "the agent does not look there, and nothing imports it", None),
    ],
)
def test_advice_fits_the_file(place, path, why, change):
    place.write(f"proj/{path}", "text")
    verdict = ask(place, path)
    assert verdict.why[0].startswith(why)
    if change is not None:
        assert verdict.change == change
    else:
        assert verdict.change == (
            f"import it (@{path}) from a file in proj that is loaded, or move it to .claude/rules/",
        )


def test_a_memory_is_not_to_be_imported(place):
    store = place.load().surroundings.memory
    path = place.write(f"{store}/tabs.md", "text")
    verdict = ask(place, path)
    assert (verdict.why[0][:14], verdict.change) == ("it is a memory", ("foretold memory show tabs",))


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("Docs.md", ("did you mean proj/docs.md?",)),
        ("api.md", ("did you mean proj/.claude/rules/api.md?",)),
        ("zzzzz.md", ()),
        ("a/CLAUDE.md", ("create it",)),
    ],
)
def test_a_path_that_is_not_there(place, path, change):
    place.write("proj/docs.md", "text")
    place.write("proj/.claude/rules/api.md", "text")
    verdict = ask(place, path)
    assert (verdict.why, verdict.change) == (("there is no such file",), change)


def test_a_folder(place):
    place.write("proj/a/CLAUDE.md", "text")
    place.write("proj/b/x.py", "text")
    assert ask(place, "a").why == ("it is a folder; its instruction files are CLAUDE.md",)
    assert ask(place, "b").why == ("it is a folder, and there is no instruction file in it",)


def test_a_new_name_that_would_hide_another_file(place):
    place.write("proj/claude.md", "text")
    place.write("proj/AGENTS.md", "text")
    said = "and import AGENTS.md there (@AGENTS.md): with a CLAUDE.md, no AGENTS.md is read here"
    assert ask(place, "claude.md").change == (f"rename it to CLAUDE.md, {said} or below",)
    place.write("proj/a/Claude.md", "text")
    place.write("proj/a/AGENTS.md", "text")
    assert ask(place, "a/Claude.md").change == (f"rename it to CLAUDE.md, {said}",)


@pytest.mark.parametrize("start", ["proj", "proj/a"])
def test_the_advice_for_a_hidden_file_is_the_same_from_every_folder(place, start):
    place.write("proj/CLAUDE.md", "text")
    path = place.write("proj/a/AGENTS.md", "text")
    verdict = ask(place, path, cwd=start)
    assert (verdict.reason, verdict.change) == ("shadowed", ("create proj/a/CLAUDE.md with the line @AGENTS.md",))


def test_a_link_is_named(place):
    place.write("proj/docs/r.md", "text")
    place.link("proj/.claude/rules/r.md", "../../docs/r.md")
    assert ask(place, ".claude/rules/r.md").why[0] == "proj/.claude/rules/r.md is a link to proj/docs/r.md"
