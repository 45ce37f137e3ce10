"""One instruction file: loaded when, and if not, why and what to change."""

import pytest

from foretold.instructions.explain import FileVerdict, verdict_of
from foretold.types import REASONS


def ask(place, path, **options):
    verdict = verdict_of(place.load(**options), path)
    return verdict._replace(
        path=place.short(verdict.path),
        why=tuple(map(place.short, verdict.why)),
        change=tuple(map(place.short, verdict.change)),
    )


def test_loaded_at_the_start(place):
    place.write("home/.claude/CLAUDE.md", "user")
    place.write("proj/CLAUDE.md", "Use tabs.")
    start = "loaded at the start of every session"
    expected = FileVerdict("proj/CLAUDE.md", "start", start, ("number 2 of 2, layer project, about 3 tokens",), ())
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
            "line 5: proj/docs/gone.md: not imported, there is no such file: imports are relative to the folder of the "
            "importing file, proj/docs",
        ),
        (),
    )


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
        ("its paths wait for a file that matches: src, *.ts, seen from proj",),
        (),
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
    assert verdict == FileVerdict("proj/CLAUDE.md", "never", "not loaded", ("there is no such file",), ("create it",))


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
