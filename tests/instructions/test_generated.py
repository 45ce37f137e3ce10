"""Generated trees and conversations: nothing raises, nothing is silent, nothing is delivered twice."""

import os
import tempfile

from hypothesis import HealthCheck, given, settings, strategies as st

import foretold
from foretold.instructions.explain import verdict_of
from foretold.text.frontmatter import trim
from foretold.types import REASONS

FOLDERS = ["", "proj/", "proj/sub/", "proj/sub/deep/", "home/", "managed/", "out/"]
FILES = [
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    ".claude/CLAUDE.md",
    ".claude/AGENTS.md",
    ".claude/CLAUDE.local.md",
    ".claude/rules/r.md",
    ".claude/rules/s.md",
    ".claude/rules/t/u.md",
    ".claude/rules/t",
    ".claude/rules",
    ".claude",
    "docs/x.md",
    "docs/y.txt",
    "docs",
    "z.bin",
    ".claude/settings.json",
    ".git",
    "x.ts",
]
PATHS = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(FILES))
TARGETS = st.one_of(
    st.builds(
        str.__add__,
        st.sampled_from(["", "../", "../../", "./", "~/", "proj/", "../proj/", "sub/", "../out/"]),
        st.sampled_from(FILES),
    ),
    st.sampled_from([".", "..", "/", "nothing", "~nobody/x", "a\0b.md", "/dev/zero", "CLAUDE.md", "r.md", "x" * 300]),
)
FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            "text\n",
            "\n\n",
            " ",
            "`code` ",
            "```\n",
            "<!-- note -->\n",
            "<!--",
            "-->",
            "---\n",
            "# Head\n",
            "- item\n",
            "    indented\n",
            "[l]: http://x\n",
            "\ufeff",
            "\0",
            "\r\n",
            "<div>\n",
            "> quote\n",
            "é世😀",
            "**",
            "[a](b)",
        ]
    ),
    TARGETS.map(lambda path: f"@{path} "),
    TARGETS.map(lambda path: f"`@{path}`\n"),
    st.binary(max_size=4).map(lambda data: data.decode("latin-1")),
)
FRONT = st.sampled_from(
    [
        "",
        "",
        "---\npaths: '**/*.ts'\n---\n",
        "---\npaths: [x.ts, sub]\n---\n",
        "---\npaths: [\n---\n",
        "---\npaths: **/*.ts\n---\n",
        "---\ntitle: x\n---\n",
        "---\n",
    ]
)
TEXTS = st.builds(lambda front, parts: front + "".join(parts), FRONT, st.lists(FRAGMENTS, max_size=6))
NODES = st.one_of(
    TEXTS.map(lambda text: ("file", text)),
    TEXTS.map(lambda text: ("file", text)),
    TEXTS.map(lambda text: ("file", text)),
    st.binary(max_size=20).map(lambda data: ("file", data)),
    PATHS.map(lambda path: ("link", path)),
    st.sampled_from(["", "proj", "nothing", "proj/.claude/rules", "/dev/zero"]).map(lambda path: ("link", path)),
    st.just(("loop", "")),
    st.just(("folder", "")),
    st.just(("fifo", "")),
    st.just(("file", "")),
)
TREES = st.lists(st.tuples(PATHS, NODES), max_size=14)
ARGS = st.sampled_from([(), (), (), ("--setting-sources", "user"), ("--setting-sources", "project,local"), ("--bare",)])
SETTINGS_VALUES = st.sampled_from(
    [
        {},
        {},
        {"claudeMdExcludes": ["**/CLAUDE.md"]},
        {"claudeMdExcludes": ["**/rules/**"]},
        {"pluginConfigs": {"agents-md@builtin": {"options": {"instructionFiles": "claude-md-and-agents-md"}}}},
        {"pluginConfigs": {"agents-md@builtin": {"options": {"instructionFiles": "managed-only"}}}},
    ]
)
VERSIONS = st.sampled_from(["2.1.197", "2.1.325"])
SEARCH = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def build(place_type, root, tree):
    """Put what can be put: nothing over what is there, nothing through a link, and so nothing outside the root."""
    place = place_type(root)
    for path, (kind, value) in tree:
        whole = place.path(path)
        parent = os.path.dirname(whole)
        if os.path.lexists(whole) or os.path.realpath(parent) != parent:
            continue
        try:
            os.makedirs(parent, exist_ok=True)
        except OSError:
            continue
        if kind == "file":
            place.write(path, value)
        elif kind == "link":
            os.symlink(os.path.join(place.root, value), whole)
        elif kind == "loop":
            os.symlink(os.path.basename(whole), whole)
        elif kind == "folder":
            os.mkdir(whole)
        else:
            os.mkfifo(whole)
    return place


def candidates(place, version):
    """What is there of all that the agent looks for at the start, as the file system lists it."""
    found = [f"{place.managed}/CLAUDE.md", f"{place.home}/.claude/CLAUDE.md"]
    folders = [f"{place.managed}/.claude/rules", f"{place.home}/.claude/rules"]
    for folder in (place.root, place.proj):
        found += [f"{folder}/{name}" for name in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")]
        folders.append(f"{folder}/.claude/rules")
        if version == "2.1.325":
            found += [f"{folder}/{name}" for name in ("AGENTS.md", ".claude/AGENTS.md")]
    for folder in folders:
        for at, inner, names_ in os.walk(folder):
            links = [name for name in inner if os.path.islink(f"{at}/{name}")]
            found += [f"{at}/{name}" for name in names_ if name.endswith(".md") and name not in links]
    return [path for path in found if os.path.lexists(path)]


def off_folders(view):
    """Folders that are accounted for as a whole."""
    return tuple(skip.path + "/" for skip in view.skips)


@SEARCH
@given(TREES, ARGS, SETTINGS_VALUES, VERSIONS)
def test_generated_trees(place, tree, args, values, version):
    with tempfile.TemporaryDirectory() as root:
        check_tree(build(type(place), root, tree), args, values, version)


def check_tree(place, args, values, version):
    options = {"args": args, "settings": values, "version": version}
    foretold.invalidate()
    view = place.load(**options)
    # every candidate that exists is accounted for
    known = place.accounted(view) | {
        path for path in view.absent if not os.path.exists(path)
    }  # a dangling link that is off
    reals = {os.path.realpath(path) for path in known if "\0" not in path}
    silent = [
        path
        for path in candidates(place, version)
        if path not in known and os.path.realpath(path) not in reals and not path.startswith(off_folders(view))
    ]
    assert silent == []
    # nothing is delivered twice
    told = [entry.path for entry in view.entries]
    assert len(told) == len(set(told))
    files = [os.path.realpath(entry.path) for entry in view.entries if entry.kind != "setting"]
    assert len(files) == len(set(files))
    # the text has it all
    for entry in view.entries:
        assert f"Contents of {entry.path} (" in view.text
        assert trim(entry.text) in view.text
        assert trim(entry.text)
    # every reason is a known one, every finding has a place
    assert {skip.reason for skip in view.skips} <= set(REASONS)
    assert all(finding.path and finding.code and finding.message for finding in view.findings)
    # twice is the same
    foretold.invalidate()
    again = place.load(**options)
    parts = ("entries", "skips", "findings", "absent", "waiting", "withheld", "text", "slots", "loaded")
    assert [getattr(again, part) for part in parts] == [getattr(view, part) for part in parts]
    # every path can be asked about
    for path in sorted(known):
        assert verdict_of(view, path).path


TOUCHED = st.lists(
    st.one_of(PATHS, TARGETS, st.just("proj/sub/deep/x.ts"), st.just("proj/sub/x.ts")), min_size=1, max_size=3
)


@SEARCH
@given(TREES, TOUCHED, SETTINGS_VALUES, VERSIONS)
def test_generated_conversations(place, tree, touched, values, version):
    with tempfile.TemporaryDirectory() as root:
        check_conversation(build(type(place), root, tree), touched, values, version)


def check_conversation(place, touched, values, version):
    session = place.session(settings=values, version=version)
    start = [entry.path for entry in session.start().entries]
    told = []
    for path in touched:
        attached = session.read(place.path(path))
        told += [entry.path for entry in attached.entries]
        assert {skip.reason for skip in attached.skips} <= set(REASONS)
        assert bool(attached.blocks) == bool(attached.entries)
        said = "".join(block.text for block in attached.blocks)
        assert all(entry.text in said for entry in attached.entries)
        again = session.read(place.path(path))
        assert (again.entries, again.blocks) == ((), ())
    assert len(told) == len(set(told))
    if version == "2.1.325":
        assert set(told) & set(start) == set()
    assert [entry.path for entry in session.attached] == told


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), VERSIONS)
def test_any_bytes(place, data, version):
    path = place.write("proj/CLAUDE.md", data)
    foretold.invalidate()
    view = place.load(version=version)
    assert path in place.accounted(view)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, VERSIONS)
def test_any_document(place, text, version):
    path = place.write("proj/.claude/rules/r.md", text)
    foretold.invalidate()
    view = place.load(version=version)
    assert path in place.accounted(view)
