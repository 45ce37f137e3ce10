"""How the interfaces treat what they are given."""

import re

import pytest

import foretold
from foretold.compat import claude_code, code_assist, ex_athena, mink, notes
from foretold.models.scripted import Scripted

TAKES = {
    "mink.load_memory": lambda **given: mink.load_memory(".", **given),
    "mink.discover_memory_files": lambda **given: mink.discover_memory_files(".", **given),
    "mink.inject_memory": lambda **given: mink.inject_memory([], ".", **given),
    "mink.view": lambda **given: mink.view(".", **given),
    "code_assist.get_memory_files": lambda **given: code_assist.get_memory_files(".", **given),
    "code_assist.view": lambda **given: code_assist.view(".", **given),
    "code_assist.scan_memory_files": lambda **given: code_assist.scan_memory_files(".", **given),
    "code_assist.find_relevant_memories": lambda **given: code_assist.find_relevant_memories(".", "x", **given),
    "code_assist.read_memory_index": lambda **given: code_assist.read_memory_index(".", **given),
    "ex_athena.discover": lambda **given: ex_athena.discover(".", **given),
    "ex_athena.run_messages": lambda **given: ex_athena.run_messages([], ".", memory="off", **given),
    "ex_athena.view": lambda **given: ex_athena.view(".", **given),
    "claude_code.get_memory_files": lambda **given: claude_code.get_memory_files(**given),
    "claude_code.load_memory_prompt": lambda **given: claude_code.load_memory_prompt(**given),
    "claude_code.build_searching_past_context_section": lambda **given: (
        claude_code.build_searching_past_context_section("/m", **given)
    ),
    "notes.load_claude_md": lambda **given: notes.load_claude_md(**given),
    "notes.open_memory": lambda **given: notes.open_memory(**given),
    "notes.get_transcript_path": lambda **given: notes.get_transcript_path("4d1f", **given),
    "load": lambda **given: foretold.load(".", **given),
    "Session": lambda **given: foretold.Session(".", **given),
    "Harness": lambda **given: foretold.Harness(".", model=Scripted([]), **given),
}


@pytest.mark.parametrize("call", TAKES.values(), ids=TAKES.keys())
def test_a_misspelt_keyword_is_an_error_that_says_what_was_meant(call):
    with pytest.raises(TypeError, match=re.escape("unknown keyword 'hoem', did you mean 'home'?")):
        call(hoem="/nowhere")
    with pytest.raises(TypeError, match="unknown keyword 'bogus'"):
        call(bogus=1)


@pytest.mark.parametrize(
    ("call", "given", "meant"),
    [
        (TAKES["mink.load_memory"], "approv", "approve"),
        (TAKES["mink.load_memory"], "max_hop", "max_hops"),
        (TAKES["code_assist.get_memory_files"], "include_users", "include_user"),
        (TAKES["ex_athena.discover"], "filename", "filenames"),
    ],
)
def test_the_functions_own_keywords_are_among_those_that_may_be_meant(call, given, meant):
    with pytest.raises(TypeError, match=f"unknown keyword '{given}', did you mean '{meant}'"):
        call(**{given: False})
