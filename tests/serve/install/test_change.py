"""Settings with ours and without: text surgery that touches nothing else, in every format."""

import json
import sys
import tomllib

import pytest
from hypothesis import given, settings, strategies as st

from foretold.dialects.install_targets import INSTALLS
from foretold.serve.install.change import add_ours, made_for, remove_ours
from foretold.serve.install.formats import Unsafe
from foretold.serve.install.formats.json_text import parse
from foretold.serve.install.ours import PARTS, InstallPiece, wanted_pieces

BOTH = wanted_pieces(INSTALLS["claude-code"], PARTS, ["/opt/bin/foretold"], ())
FEW = wanted_pieces(INSTALLS["claude-code"], PARTS, ["/opt/bin/foretold"], ["Stop"])
SERVER = FEW[-1:]
CODEX = wanted_pieces(INSTALLS["codex"], ["mcp"], ["/opt/bin/foretold"], ())
CONTINUE = wanted_pieces(INSTALLS["continue"], ["mcp"], ["/opt/bin/foretold"], ())


def back(text, form, pieces, keys=("mcpServers",)):
    """A text with ours, and without again."""
    made = {tuple(place) for place in made_for(text, form, pieces)}
    new = add_ours(text, form, pieces)
    assert add_ours(new, form, pieces) == new, "a second time changes nothing"
    return new, remove_ours(new, form, keys, PARTS, made)


@pytest.mark.parametrize(
    "text",
    [
        "{\n}\n",
        '{\n  "a": 1\n}\n',
        '{\n\t"a": 1,\n\t"b": {\n\t\t"c": []\n\t}\n}',
        '{\r\n    "a": 1\r\n}\r\n',
        '\ufeff{\n  "a": 1e400\n}\n',
        '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"command": "x"}]}\n    ]\n  },\n  "z": 0\n}\n',
        '{\n  "mcpServers": {\n    "other": {"command": "y"}\n  }\n}\n',
        '{\n  "é\\u0041\\"": "\\ud83d\\ude00",\n  "n": -0.10\n}\n',
    ],
)
def test_json_that_has_its_entries_on_lines_comes_back_by_surgery_alone(text):
    new, old = back(text, "json", BOTH)
    assert old == text
    assert json.loads(new.removeprefix("\ufeff"))["hooks"]["SessionEnd"][-1]["hooks"][0]["type"] == "command"


@pytest.mark.parametrize(
    "text", ['{"a":1}', "{}", "{ }", '{"hooks": {}, "mcpServers": {}}', '{"a": [1,\n2]}', "", " \n"]
)
def test_other_json_comes_back_in_value(text):
    _, old = back(text, "json", BOTH)
    assert json.loads(old) == json.loads(text.strip() or "{}")


def test_what_is_written_looks_like_its_neighbours():
    text = '{\r\n\t"model": "opus"\r\n}\r\n'
    wanted_text = (
        '{\r\n\t"model": "opus",\r\n\t"mcpServers": {\r\n\t\t"foretold": '
        '{"type": "stdio", "command": "/opt/bin/foretold", "args": ["mcp"]}\r\n\t}\r\n}\r\n'
    )
    assert add_ours(text, "json", SERVER) == wanted_text


def test_comments_stay_with_what_they_are_about():
    text = '{\n  // first\n  "a": 1, // about a\n  /* b */ "b": 2 // about b\n  // last\n}\n'
    new, old = back(text, "jsonc", SERVER)
    assert old == text
    assert new.startswith('{\n  // first\n  "a": 1, // about a\n  /* b */ "b": 2, // about b\n  "mcpServers"')
    assert new.endswith("\n  }\n  // last\n}\n")


def test_a_comma_at_the_end_stays_one():
    text = '{\n  "a": [1,],\n}\n'
    new, old = back(text, "jsonc", SERVER)
    assert old == text
    assert new.endswith('"args": ["mcp"]}\n  },\n}\n')


def test_ours_takes_a_line_for_each_event():
    group = '{"hooks": [{"type": "command", "command": "/opt/bin/foretold hook Stop", "timeout": 10}]}'
    assert add_ours("{}", "json", FEW[:1]) == '{\n  "hooks": {\n    "Stop": [' + group + "]\n  }\n}"
    theirs = '{\n "hooks": {\n  "Stop": [\n   {}\n  ]\n }\n}\n'
    assert add_ours(theirs, "json", FEW[:1]) == theirs.replace("{}\n", "{},\n   " + group + "\n")


def test_hooks_of_others_stay_also_in_a_group_with_ours():
    theirs = {"type": "command", "command": "say done"}
    ours = {"type": "command", "command": "/old/foretold hook Stop"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [theirs, ours]}, {"hooks": [ours]}, {"hooks": []}, 5]}}, indent=2)
    new = add_ours(text, "json", FEW[:1])
    groups = [{"hooks": [theirs]}, {"hooks": []}, 5]
    assert json.loads(new)["hooks"]["Stop"] == [*groups, dict(FEW[0].value)]
    assert json.loads(remove_ours(new, "json", ("mcpServers",), PARTS)) == {"hooks": {"Stop": groups}}


def test_an_older_command_is_replaced():
    old = add_ours("{}", "json", wanted_pieces(INSTALLS["claude-code"], PARTS, ["/old/foretold"], ()))
    assert json.loads(add_ours(old, "json", BOTH)) == json.loads(add_ours("{}", "json", BOTH))


def test_ours_for_an_event_that_is_not_in_the_table_any_more_goes_too():
    text = add_ours("{}", "json", [InstallPiece("hooks", ("hooks", "Bygone"), FEW[0].value)])
    assert json.loads(remove_ours(text, "json", ("mcpServers",), PARTS)) == {}


def test_one_part_can_go_alone():
    text = add_ours("{}", "json", BOTH)
    assert set(json.loads(remove_ours(text, "json", ("mcpServers",), ["hooks"]))) == {"mcpServers"}
    assert set(json.loads(remove_ours(text, "json", ("mcpServers",), ["mcp"]))) == {"hooks"}


def test_empty_places_of_the_user_stay():
    text = '{\n  "hooks": {},\n  "mcpServers": {}\n}\n'
    _, old = back(text, "json", BOTH)
    assert json.loads(old) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: expected a key, found the end"),
        ('{"a": 1,}', "line 1: expected another entry, found '}'"),
        ('{\n  // no\n  "a": 1\n}', "line 2: expected JSON, found '// no'"),
        ("\n[]", "line 2: it is not an object"),
        ('{\n"hooks": []}', "line 2: hooks is not an object"),
        ('{"hooks": {\n\n"Stop": {}}}', "line 3: hooks.Stop is not a list"),
        ('{"hooks": null}', "line 1: hooks is not an object"),
        ('{"hooks": {},\n"a": 1,\n"hooks": {}}', "line 3: the key 'hooks' occurs twice, first in line 1"),
        ('{"mcpServers": 5}', "line 1: mcpServers is not an object"),
        ('{"a": 01}', "line 1: expected JSON, found '01}'"),
        ('{"a": NaN}', "line 1: expected JSON, found 'NaN}'"),
        ('{"a": 1} x', "line 1: expected JSON, found 'x'"),
        ("[" * 400 + "]" * 400, "line 1: it is nested too deeply"),
    ],
)
def test_what_is_not_safe_is_refused_with_its_line(text, said):
    with pytest.raises(Unsafe) as refused:
        add_ours(text, "json", FEW)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("form", "text", "pieces", "said"),
    [
        ("toml", "a = 1\nmcp_servers = 5\n", CODEX, "line 2: mcp_servers is not a table"),
        ("toml", "a = 1\nb =\n", CODEX, "line 2: Invalid value"),
        ("yaml", "a: 1\nmcpServers: 5\n", CONTINUE, "line 2: mcpServers is not a list"),
    ],
)
def test_so_are_tables_and_lists(form, text, pieces, said):
    with pytest.raises(Unsafe) as refused:
        add_ours(text, form, pieces)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    "text",
    [
        '{"model":"x"}',
        '{"model":"x" }\n',
        '{"model":"x"\n}',
        '{ "model": "x", "hooks": {} }',
        '{"model":"x","hooks":{"Stop":[]},"mcpServers":{ }}',
        '{"hooks":{"Stop":[{"hooks":[]}]},"model":"x"}',
        '{"model":"x",\n"hooks":{"Stop":[ {"hooks":[]} ]}}',
        '{\n  "model": "x"\n}',
        '\ufeff{"model":"x"}',
    ],
)
def test_what_somebody_changed_elsewhere_stays_and_ours_goes_to_the_byte(text):
    made = {tuple(place) for place in made_for(text, "json", BOTH)}
    new = add_ours(text, "json", BOTH).replace('"x"', '"changed"')
    assert remove_ours(new, "json", ("mcpServers",), PARTS, made, text) == text.replace('"x"', '"changed"')
    once = remove_ours(new, "json", ("mcpServers",), ["hooks"], made, text)
    assert remove_ours(once, "json", ("mcpServers",), ["mcp"], made, text) == text.replace('"x"', '"changed"')


def test_comments_and_a_last_comma_are_where_they_were():
    for text in ('{"a":1, // x\n}', '{"a":1,}', '{"a":1 /* x */}', '{"a":1 /* x */ // y\n }', "{ /* x */ }"):
        made = {tuple(place) for place in made_for(text, "jsonc", SERVER)}
        new = add_ours(text, "jsonc", SERVER).replace('"a":1', '"a":2')
        assert remove_ours(new, "jsonc", ("mcpServers",), PARTS, made, text) == text.replace('"a":1', '"a":2')


def test_a_file_that_was_written_anew_keeps_its_new_form():
    text = '{"model":"x"}'
    new = json.dumps({**json.loads(add_ours(text, "json", BOTH)), "theirs": 1}, indent=1)
    assert remove_ours(new, "json", ("mcpServers",), PARTS, None, text) == '{\n "model": "x",\n "theirs": 1\n}'
    new = json.dumps(json.loads(add_ours(text, "json", BOTH)), indent=1)
    assert remove_ours(new, "json", ("mcpServers",), PARTS, None, text) == '{\n "model": "x"\n}'


@pytest.mark.parametrize(
    ("form", "text", "pieces"), [("toml", "a = 1", CODEX), ("toml", "a = 1\n", CODEX), ("yaml", "a: 1", CONTINUE)]
)
def test_the_last_line_end_is_as_it_was(form, text, pieces):
    keys = pieces[0].keys[:-1]
    new = add_ours(text, form, pieces).replace("1", "2", 1)
    assert remove_ours(new, form, keys, PARTS, None, text) == text.replace("1", "2")
    theirs = "[z]\n" if form == "toml" else "z: 3\n"
    assert remove_ours(new + theirs, form, keys, PARTS, None, text).endswith("\n" + theirs)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
GROUPS = st.lists(st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": TEXTS}), max_size=2)}))
SETTINGS = st.tuples(
    st.dictionaries(TEXTS.filter(lambda key: key not in ("hooks", "mcpServers")), VALUES, max_size=4),
    st.fixed_dictionaries(
        {}, optional={"hooks": st.dictionaries(st.sampled_from(["Stop", "X"]), GROUPS), "mcpServers": st.just({"o": 1})}
    ),
).map(lambda pair: {**pair[0], **pair[1]})
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@settings(max_examples=40)
@given(SETTINGS, INDENTS, st.booleans(), st.booleans())
def test_any_json_gets_ours_and_loses_it_again(value, indent, ascii_only, crlf):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    text = text.replace("\n", "\r\n") if crlf else text
    new, old = back(text, "json", BOTH)
    assert json.loads(old) == value
    made = {tuple(place) for place in made_for(text, "json", BOTH)}
    assert remove_ours(new, "json", ("mcpServers",), PARTS, made, text) == text
    found = json.loads(new)
    assert found["mcpServers"].pop("foretold") == dict(SERVER[0].value)
    assert {key: item for key, item in found.items() if key not in ("hooks", "mcpServers")} == {
        key: item for key, item in value.items() if key not in ("hooks", "mcpServers")
    }


@given(VALUES, INDENTS)
def test_our_reader_agrees_with_json(value, indent):
    text = json.dumps(value, indent=indent)
    number = json.loads(text, parse_int=lambda each: ("number", each), parse_float=lambda each: ("number", each))

    def same(mine, theirs):
        if isinstance(mine, dict):
            return mine.keys() == theirs.keys() and all(same(mine[key], theirs[key]) for key in mine)
        if isinstance(mine, list):
            return len(mine) == len(theirs) and all(map(same, mine, theirs))
        return ("number", mine.text) == theirs if hasattr(mine, "text") else mine == theirs

    assert same(parse(text).plain(), number)


@given(st.text(st.sampled_from('{}[],:"\\/*\n 1aetrufls-.x'), max_size=24))
def test_our_reader_refuses_what_json_refuses(text):
    def accepts(reader):
        try:
            reader()
        except ValueError:
            return False
        return True

    def refuse(word):
        raise ValueError(word)

    assert accepts(lambda: parse(text)) == accepts(lambda: json.loads(text, parse_constant=refuse))


# TOML


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x"\n',
        '# mine\nmodel = "x" # so\n\n[mcp_servers.other]\ncommand = "y"\n\n# the end\n',
        'a = """\n[mcp_servers.foretold]\n"""\nb = [\n  1, # [x]\n]\n[[list]]\nc = 1\n',
        'model = "x"\r\n\r\n[t]\r\na = 1\r\n',
        "\ufeff[mcp_servers]\n",
        "[mcp_servers.foretold2]\ncommand = 'z'\n",
        'mcp_servers.other.command = "dotted"\n',
    ],
)
def test_toml_comes_back_by_surgery_alone(text):
    new, old = back(text, "toml", CODEX, ("mcp_servers",))
    assert old == text
    assert tomllib.loads(new.removeprefix("\ufeff"))["mcp_servers"]["foretold"] == dict(CODEX[0].value)


def test_toml_without_a_last_line_end_gets_one():
    new, old = back("a = 1", "toml", CODEX, ("mcp_servers",))
    assert (new.split("\n")[:3], old) == (["a = 1", "", "[mcp_servers.foretold]"], "a = 1\n")


def test_an_older_table_is_replaced_with_those_below_it():
    text = '[mcp_servers.foretold]\ncommand = "/old"\n\n[mcp_servers.foretold.env]\nA = "1"\n\n# of z\n[z]\nb = 2\n'
    new = add_ours(text, "toml", CODEX)
    assert new == '# of z\n[z]\nb = 2\n\n[mcp_servers.foretold]\ncommand = "/opt/bin/foretold"\nargs = ["mcp"]\n'


def test_a_header_may_be_the_last_line_without_a_line_end():
    text = "[mcp_servers.foretold]\ncommand = 'x'\n[z]"
    assert remove_ours(text, "toml", ("mcp_servers",), PARTS) == "[z]"


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "mcp_servers = 5\n",
        'mcp_servers = { other = { command = "x" } }\n',
        "mcp_servers.foretold.command = 'x'\n",
    ],
)
def test_toml_that_cannot_be_extended_is_refused(text):
    with pytest.raises(Unsafe):
        add_ours(text, "toml", CODEX)


NAMES = st.sampled_from(["a", "b-c", "mcp_servers", "foretold", '"x y"', "'q.r'"])
LINES = st.one_of(
    st.tuples(NAMES, st.sampled_from(['"[a]"', "'''\n[b]\n'''", "[1, [2]]", "{ c = 1 }", '"""\\"""]"""'])).map(
        " = ".join
    ),
    st.lists(NAMES, min_size=1, max_size=3).map(lambda keys: f"[{'.'.join(keys)}]"),
    st.sampled_from(["", "# [x]", "  # y", "[[many]]"]),
)


@given(st.lists(LINES, max_size=8).map("\n".join), st.sampled_from(["", "\n", "\n\n"]))
def test_any_toml_gets_ours_and_loses_it_again_or_is_refused(text, end):
    text += end
    try:
        value = tomllib.loads(text)
        new = add_ours(text, "toml", CODEX)
    except (tomllib.TOMLDecodeError, Unsafe):
        return
    servers = value.setdefault("mcp_servers", {})
    had = "foretold" in servers
    assert tomllib.loads(new) == {**value, "mcp_servers": {**servers, "foretold": dict(CODEX[0].value)}}
    old = remove_ours(new, "toml", ("mcp_servers",), PARTS)
    if not had:
        assert old.rstrip("\n") == text.rstrip("\n")


# YAML


@pytest.mark.parametrize(
    "text",
    [
        "name: x\nversion: 1.0.0\nschema: v1\n",
        "name: x\nmcpServers:\n  # mine\n  - name: other\n    command: y\nmodels: []\n",
        "mcpServers:\n- name: other\n  command: y\n",
        "name: x\r\nmodels:\r\n  - name: m\r\n",
    ],
)
def test_yaml_comes_back_by_surgery_alone(text):
    new, old = back(text, "yaml", CONTINUE, ("mcpServers",))
    assert old == text
    assert '- name: "foretold"' in new


@pytest.mark.parametrize("text", ["a: [", "mcpServers: []\n", "mcpServers:\n  a: 1\n", "- 1\n"])
def test_yaml_that_cannot_be_extended_is_refused(text):
    with pytest.raises(Unsafe):
        add_ours(text, "yaml", CONTINUE)


def count_calls(text, form):
    """How many Python functions are called to add ours and to remove it again; the work in C grows with the text."""
    calls, made = 0, {tuple(place) for place in made_for(text, form, BOTH)}

    def count(_, event, __):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        added = add_ours(text, form, BOTH)
        removed = remove_ours(added, form, ("mcpServers",), PARTS, made, text)
    finally:
        sys.setprofile(None)
    assert json.loads(removed.replace("// mine", "")) == json.loads(text.replace("// mine", ""))
    return calls


@pytest.mark.parametrize("form", ["json", "jsonc"])
@pytest.mark.parametrize("where", ["beside", "before", "inside", "deep"])
def test_the_work_grows_with_the_text_and_not_faster(form, where):
    """Three times as much is added: that takes three times as many calls; fifteen times as many, were it quadratic."""

    def text_of(count):
        keys = {f"key {number}": number for number in range(count)}
        group = {"hooks": [{"type": "command", "command": "x"}]}
        value = {
            "beside": {"hooks": {}, **keys},
            "before": {**keys, "hooks": {}},
            "inside": {"hooks": {"Stop": [group] * count}},
            "deep": {"a": {"b": [keys, [keys]]}, "hooks": {}},
        }[where]
        return json.dumps(value, indent=1).replace("{", "{ // mine", form == "jsonc")

    none, few, many = (count_calls(text_of(count), form) for count in (0, 500, 2000))
    assert many - few <= 4 * (few - none) + 1500


@pytest.mark.parametrize(
    "text", ["{" + "/*" * 50_000, '{"a": ' + "[" * 50_000, "{" + '"a' * 50_000, "{" + ",}" * 50_000]
)
def test_what_is_not_json_is_refused_at_once(text):
    for form in ("json", "jsonc"):
        with pytest.raises(Unsafe, match="line 1: "):
            add_ours(text, form, BOTH)
