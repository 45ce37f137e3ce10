"""What an editor is shown, without the protocol: diagnostics that change, places, hovers, imports, quick fixes."""

from foretold.check.baseline import write_baseline
from foretold.check.finding import CheckFinding, Fix, Rename, TextEdit
from foretold.check.project import CheckOptions, Project
from foretold.check.run import check_tree
from foretold.serve.lsp.actions import list_fixes
from foretold.serve.lsp.diagnostics import diagnose, diagnose_all, locate, locate_in
from foretold.serve.lsp.hover import HoverPart, describe_file, describe_place, describe_rule, render_parts
from foretold.serve.lsp.imports import find_import, find_target, list_imports
from foretold.serve.lsp.positions import EditorText, TextSpan, count_units, find_character, split_lines
from foretold.serve.lsp.workspace import EditorWorkspace

OPTIONS = CheckOptions(home="")


def opened(place, *folders):
    said = []
    workspace = EditorWorkspace(OPTIONS, said.append)
    for folder in folders or (place.proj,):
        workspace.add_folder(folder)
    return workspace, said


def codes(place, changed):
    return {place.short(path): [each.finding.code for each in found] for path, found in changed.items()}


def test_what_the_baseline_of_the_settings_has_is_not_shown(place):
    path = place.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    place.write("proj/.foretold.toml", 'baseline = "b.json"\n')
    project = Project(place.proj, OPTIONS)
    write_baseline(place.path("proj/b.json"), check_tree(project).findings, project)
    workspace, said = opened(place)
    assert (workspace.update(), said) == ({}, [])
    workspace.open_text(path, "See @docs/gone.md\n\nAnd @docs/lost.md\n")
    (found,) = workspace.update()[path]
    assert (found.finding.code, found.finding.line) == ("import-missing", 3)


def test_only_what_is_new_is_given(place):
    path = place.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    place.write("proj/web/CLAUDE.md", "See @lost.md\n")
    workspace, _ = opened(place)
    assert codes(place, workspace.update()) == {
        "proj/CLAUDE.md": ["import-missing"],
        "proj/web/CLAUDE.md": ["import-missing"],
    }
    assert workspace.update() == {}
    workspace.open_text(path, "\nSee @docs/gone.md\n")
    (moved,) = workspace.update()[path]
    assert moved.span == TextSpan(1, 4, 1, 17)
    workspace.open_text(path, "Use tabs.\n")
    assert workspace.update() == {path: ()}
    workspace.close_text(path)
    assert codes(place, workspace.update()) == {"proj/CLAUDE.md": ["import-missing"]}
    assert workspace.remove_folder(place.proj) == {path: (), place.path("proj/web/CLAUDE.md"): ()}


def test_files_of_no_folder_do_not_count(place):
    path = place.write("other/CLAUDE.md", "See @docs/gone.md\n")
    place.link("proj/linked.md", path)
    workspace, _ = opened(place)
    workspace.open_text(path, "x")
    workspace.open_text(place.path("proj/linked.md"), "x")
    workspace.note_saved(path)
    assert (workspace.texts, workspace.update()) == ({}, {})


def test_two_folders(place):
    for name in ("one", "two"):
        place.write(f"{name}/CLAUDE.md", "See @docs/gone.md\n")
    workspace, _ = opened(place, place.path("one"), place.path("two"), place.path("one/docs"), place.path("missing"))
    assert list(workspace.folders) == [place.path("one"), place.path("two")]
    assert codes(place, workspace.update()) == {
        "one/CLAUDE.md": ["import-missing"],
        "two/CLAUDE.md": ["import-missing"],
    }


def test_settings_that_cannot_be_read_are_said_once(place):
    place.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    place.write("proj/.foretold.toml", "selct = 1\n")
    workspace, said = opened(place)
    assert (workspace.update(), workspace.update()) == ({}, {})
    assert len(said) == 1
    place.write("proj/.foretold.toml", "")
    assert codes(place, workspace.update()) == {"proj/CLAUDE.md": ["import-missing"]}


def test_the_place_of_a_finding():
    lines = ["# Shop", "  See `@docs/a.md` first  ", ""]

    def at(line, message):
        return locate(CheckFinding("/a", line, "x", message), lines)

    assert at(2, "docs/a.md: not imported") == TextSpan(1, 7, 1, 17)
    assert at(2, "it is long") == TextSpan(1, 2, 1, 24)
    assert at(None, "it is long") == TextSpan(0, 0, 0, 6)
    assert at(99, "it is long") == TextSpan(2, 0, 2, 0)


def test_a_finding_points_to_the_files_that_it_names(place):
    path = place.write("proj/web/AGENTS.md")
    place.write("proj/CLAUDE.md")
    finding = CheckFinding(path, None, "file-shadowed", "never loaded (CLAUDE.md), see web/AGENTS.md.", "import it")
    found = diagnose(finding._replace(severity="note"), Project(place.proj, OPTIONS))
    assert (found.severity, found.message) == (3, f"{finding.message}\nimport it")
    assert found.others == (place.path("proj/CLAUDE.md"),)


def test_a_position_in_a_character_is_before_it():
    line = "a𝒳é@"
    for encoding, ends in (("utf-8", [0, 1, 5, 7, 8]), ("utf-16", [0, 1, 3, 4, 5]), ("utf-32", [0, 1, 2, 3, 4])):
        assert [count_units(line, at, encoding) for at in range(5)] == ends
        assert [find_character(line, units, encoding) for units in ends] == [0, 1, 2, 3, 4]
    assert find_character(line, 2) == 1


def test_what_becomes_of_a_file(place):
    path = place.write("proj/CLAUDE.md", "Use tabs.\n")
    nested = place.write("proj/web/AGENTS.md", "Use spaces.\n")
    rule = place.write("proj/.claude/rules/a.md", '---\npaths: "src/**"\n---\nx\n')
    place.write("proj/web/app.ts")
    place.write("proj/src/a.ts")
    project = Project(place.proj, OPTIONS)
    assert describe_file(path, 0, project)[0] == ("Claude Code", "always, 3 tokens")
    never, codex = describe_file(nested, 0, project)
    assert never[1].startswith("never: another file takes its place")
    assert codex == ("Codex", "always when it starts in web, 3 tokens")
    waits = ("Claude Code", "when a file that matches its patterns is touched, 1 token")
    assert describe_file(rule, 0, project)[0] == waits
    assert describe_file(place.path("proj/web/app.ts"), 0, project) == []


def test_imports_and_where_they_lead(place):
    text = "See @docs/a.md, @docs/b\\ c.md @~/x.md\n`@docs/a.md` @docs/a.md\n"
    path = place.write("proj/CLAUDE.md", text)
    for name in ("a.md", "b c.md"):
        place.write(f"proj/docs/{name}")
    project = Project(place.proj, CheckOptions(home=place.home))
    found = [find_import(path, text, 0, at, project) for at in (3, 6, 20, 33)]
    assert [each and find_target(each, project) for each in found] == [
        None,
        place.path("proj/docs/a.md"),
        place.path("proj/docs/b c.md"),
        "",
    ]
    links = [(each.span.line, each.span.start, each.written) for each in list_imports(path, text, project)]
    assert links == [(0, 16, "docs/b\\ c.md"), (1, 13, "docs/a.md")]


def test_a_fix_stays_in_the_folder(place):
    path = place.write("proj/CLAUDE.md", "é @a.md.\n")
    project = Project(place.proj, OPTIONS)
    inside = Fix("write it", (TextEdit(path, 3, 8, "@a.md"),), is_safe=False)
    new = Fix("write a file", (TextEdit(place.path("proj/docs/new.md"), 0, 0, "x"),))
    renamed = Fix("rename it", renames=(Rename(path, place.path("proj/AGENTS.md")),))
    outside = Fix("write there", (TextEdit(place.path("other.md"), 0, 0, "x"),))
    moved = Fix("move it", renames=(Rename(path, place.path("other.md")),))
    findings = [CheckFinding(path, 1, "x", "y", fix=fix) for fix in (inside, new, renamed, outside, moved)]
    one, two, three = list_fixes(findings, project)
    assert (one.title, one.is_safe) == ("Write it (changes what is meant)", False)
    assert one.edits == ((path, False, ((TextSpan(0, 2, 0, 7), "@a.md"),)),)
    assert two.edits == ((place.path("proj/docs/new.md"), True, ((TextSpan(0, 0, 0, 0), "x"),)),)
    assert three.renames == ((path, place.path("proj/AGENTS.md")),)


def test_a_hover_shows_marks_as_they_are():
    parts = [HoverPart("[a](b)", (("x\u202ey", "<img>"), ("", "plain")))]
    assert render_parts(parts, markdown=True) == "**\\[a\\]\\(b\\)**\n\nx\\[U\\+202E\\]y: \\<img\\>\n\nplain"
    assert render_parts(parts, markdown=False) == "[a](b)\nx[U+202E]y: <img>\nplain"
    assert describe_rule("import-missing").title == "import-missing (error)"
    assert describe_rule("no-such-code") == HoverPart("no-such-code", ())


def test_a_folder_in_another_one_is_checked_with_that(place):
    """Whichever comes first; and by itself again, when the other one goes."""
    outer = place.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    inner = place.write("proj/web/CLAUDE.md", "See @lost.md\n")
    workspace, _ = opened(place, place.path("proj/web"))
    assert codes(place, workspace.update()) == {"proj/web/CLAUDE.md": ["import-missing"]}
    workspace.open_text(inner, "See @lost.md and @more.md\n")
    workspace.add_folder(place.proj)
    assert list(workspace.folders) == [place.proj]
    assert codes(place, workspace.update()) == {
        "proj/CLAUDE.md": ["import-missing"],
        "proj/web/CLAUDE.md": ["import-missing", "import-missing"],
    }
    assert workspace.remove_folder(place.proj) == {outer: ()}
    assert list(workspace.folders) == [place.path("proj/web")]
    assert codes(place, workspace.update()) == {"proj/web/CLAUDE.md": ["import-missing", "import-missing"]}
    assert workspace.remove_folder(place.path("proj/web")) == {inner: ()}
    assert (list(workspace.folders), workspace.update()) == ([], {})


def test_a_folder_in_another_one_may_go_first(place):
    path = place.write("proj/web/CLAUDE.md", "See @lost.md\n")
    workspace, _ = opened(place, place.proj, place.path("proj/web"))
    assert codes(place, workspace.update()) == {"proj/web/CLAUDE.md": ["import-missing"]}
    assert workspace.remove_folder(place.path("proj/web")) == {}
    assert workspace.update() == {}
    assert workspace.remove_folder(place.proj) == {path: ()}


def test_what_only_a_folder_in_another_one_shows_goes_with_it(place):
    """The outer folder leaves fixtures out."""
    path = place.write("proj/tests/fixtures/CLAUDE.md", "See @lost.md\n")
    workspace, _ = opened(place, place.path("proj/tests/fixtures"))
    assert codes(place, workspace.update()) == {"proj/tests/fixtures/CLAUDE.md": ["import-missing"]}
    workspace.add_folder(place.proj)
    assert workspace.update() == {path: ()}


def test_a_text_that_is_opened_before_its_folder_counts(place):
    path = place.write("proj/CLAUDE.md", "Use tabs.\n")
    workspace, _ = opened(place, place.folder("other"))
    workspace.open_text(path, "See @docs/gone.md\n")
    assert workspace.update() == {}
    workspace.add_folder(place.proj)
    assert codes(place, workspace.update()) == {"proj/CLAUDE.md": ["import-missing"]}
    workspace.remove_folder(place.proj)
    workspace.add_folder(place.proj)
    assert codes(place, workspace.update()) == {"proj/CLAUDE.md": ["import-missing"]}
    workspace.remove_folder(place.proj)
    workspace.close_text(path)
    workspace.add_folder(place.proj)
    assert workspace.update() == {}


def test_a_carriage_return_ends_a_line_for_an_editor(place):
    text = "one\rtwo\r\nthree\r\rSee @gone.md and @docs/a.md\rfour\n@lost.md\n"
    path = place.write("proj/CLAUDE.md", text)
    place.write("proj/docs/a.md", "x\n")
    workspace, _ = opened(place)
    assert [each.span for each in workspace.update()[path]] == [TextSpan(4, 4, 4, 12), TextSpan(6, 0, 6, 8)]
    project = Project(place.proj, OPTIONS)
    links = [(each.span, each.written) for each in list_imports(path, text, project)]
    assert links == [(TextSpan(4, 17, 4, 27), "docs/a.md")]
    findings = [CheckFinding(path, 2, "import-missing", "gone.md: not imported")]
    titles = [[part.title for part in describe_place(path, line, 6, project, findings)] for line in (1, 3, 4, 6)]
    assert titles == [
        ["CLAUDE.md"],
        ["CLAUDE.md"],
        ["@gone.md", "import-missing (error)", "CLAUDE.md"],
        ["@lost.md", "CLAUDE.md"],
    ]
    rows = [describe_place(path, line, 6, project, ())[0].rows for line in (4, 6)]
    assert rows == [(("Claude Code", "does not import it: there is no such file"),)] * 2


def test_an_import_with_punctuation_is_said_to_mean_another_file(place):
    """As on the command line: the file itself is there."""
    path = place.write("proj/CLAUDE.md", "See @docs/a.md, please.\n")
    place.write("proj/docs/a.md", "x\n")
    part = describe_place(path, 0, 8, Project(place.proj, OPTIONS), ())[0]
    said = "does not import it: the import is taken to mean docs/a.md,"
    assert (part.title, part.rows) == ("@docs/a.md", (("Claude Code", said),))


def test_a_cut_in_a_text_with_carriage_returns(place):
    text = "".join(f"{number}\r{'x' * 80}\n" for number in range(1, 600))
    path = place.write("proj/AGENTS.md", text)
    last = len(split_lines(text[:32_768])) - 1
    project = Project(place.proj, OPTIONS)
    given, lost = (describe_file(path, line, project)[0][1] for line in (last - 1, last))
    assert given.endswith(f"cut after line {last}")
    assert lost.endswith(f"cut after line {last}; this line is not given")


def test_lines_that_others_count(place):
    """Most rules count the line feeds, those about Markdown all ends of lines: what a finding is about decides."""
    text = "one\rtwo\nthree\r@a.md\rfour\n\u202e five\n"

    def at(line, message):
        return locate_in(CheckFinding("/a", line, "x", message), EditorText(text))

    assert at(4, "a.md: not imported") == at(2, "a.md: not imported") == TextSpan(3, 0, 3, 5)
    assert at(3, "it is long") == TextSpan(5, 0, 5, 6)
    assert at(99, "it is long") == TextSpan(6, 0, 6, 0)
    assert at(None, "it is long") == TextSpan(0, 0, 0, 3)


def test_many_findings_are_placed_as_each_one_is(place):
    texts = {"CLAUDE.md": "See @a.md\rand @b.md\n@c.md\n", "AGENTS.md": "Use tabs.\n\nNever @a.md\n"}
    paths = [place.write(f"proj/{name}", text) for name, text in texts.items()]
    project = Project(place.proj, OPTIONS)
    rows = [(path, row, f"{name}.md: x") for path in paths for row in (1, 2, 3) for name in "abc"]
    findings = [CheckFinding(path, row, "import-missing", said) for path, row, said in rows]
    assert diagnose_all(findings, project) == tuple(diagnose(each, project) for each in findings)
