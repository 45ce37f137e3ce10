"""Pages to give away: whole, without credentials, and safe whatever was said."""

import json
import os
from html.parser import HTMLParser

import pytest

from foretold.errors import ForetoldError, SessionFailed
from foretold.secrets.redactor import Redactor
from foretold.sessions.catalog import list_sessions
from foretold.sessions.exporters.export import Choice, export
from foretold.sessions.model import Homes

from ..talk import Talk

AWS = "AKIA" + "IOSFODNN7ABCDEFG"
HOSTILE = "</div></pre></details><script>alert(1)</script>\n# A heading\n```\nunclosed\n&amp; <b>"


def stored(tmp_path, talk):
    talk.write(str(tmp_path))
    return list_sessions(Homes(str(tmp_path), {}))[0]


def page(tmp_path, talk, form, **choice):
    redactor = Redactor()
    return "".join(export(stored(tmp_path, talk), form, redactor=redactor, choice=Choice(**choice)))


def talk():
    made = Talk().user("Please deploy.").says("I look.").calls("Bash", command=f"echo {AWS}")
    return (
        made.result(f"{AWS}\ndone")
        .calls("Edit", "toolu_2", file_path="/home/me/project/a.py")
        .result("ok", "toolu_2")
        .says("Done.")
    )


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_credentials_are_taken_out_of_everything(tmp_path, form):
    out = page(tmp_path, talk().user(f"my key is {AWS}"), form, full=True)
    assert AWS not in out
    assert out.count("redacted: AWS access key") >= 3


def test_credentials_in_the_title_too(tmp_path):
    assert AWS not in page(tmp_path, Talk().user(f"use {AWS}"), "html")


def test_secrets_stay_when_they_are_asked_for(tmp_path):
    assert AWS in "".join(export(stored(tmp_path, talk()), "json", redactor=None))


def test_markdown_is_what_was_said(tmp_path):
    made = Talk().user("Please deploy.").says("I look.").calls("Bash", command="make").result("ok").says("Done.")
    out = page(tmp_path, made, "markdown")
    assert [line for line in out.split("\n") if line.startswith("#")] == [
        "# Please deploy.",
        *(line for line in out.split("\n") if line.startswith("## ")),
    ]
    assert [line.split(" ")[1] for line in out.split("\n") if line.startswith("## ")] == ["User", "Agent"]
    assert "**Bash make**\n\n```\nok\n```\n\nDone." in out


def test_brief_has_no_tools_and_names_the_files(tmp_path):
    out = page(tmp_path, talk(), "markdown", brief=True)
    assert "Bash" not in out
    assert "## Files that were changed\n\n- `/home/me/project/a.py`\n" in out


def test_json_is_one_document(tmp_path):
    document = json.loads(page(tmp_path, talk(), "json"))
    assert document["schema"] == "foretold.export/1"
    assert [message["role"] for message in document["messages"]] == [
        "user", "assistant", "assistant", "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert [(row["kind"], row["times"]) for row in document["redacted"]] == [("AWS access key", 2)]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("where", ["title", "user", "says", "call", "result"])
def test_hostile_text_cannot_leave_its_place(tmp_path, where):
    made = Talk().user(HOSTILE if where in ("title", "user") else "hi").says(HOSTILE if where == "says" else "ok")
    made.calls("Bash", command=HOSTILE if where == "call" else "ls").result(HOSTILE if where == "result" else "x")
    tags = Tags()
    out = page(tmp_path, made.says("end"), "html", full=True)
    tags.feed(out.replace("<!doctype html>", ""))
    assert tags.open == []
    assert not tags.seen & {"script", "b", "img", "iframe"}
    assert "alert(1)" in "".join(tags.text)
    lines = page(tmp_path, made, "markdown", full=True).split("\n")
    fence, headings = "", []
    for line in lines:  # a reader of fences: outside of them, no heading and no tag of the session
        run = len(line) - len(line.lstrip("`"))
        if run >= 3 and (not fence or (line.strip("`") == "" and run >= len(fence))):
            fence = "" if fence else "`" * run
        elif not fence:
            headings += [line] if line.startswith("#") else []
            assert "<script" not in line.replace("\\<", "")
    assert fence == ""
    assert "# A heading" not in headings


def test_a_form_that_is_none_is_an_error(tmp_path):
    with pytest.raises(ForetoldError, match="markdown, html, json"):
        export(stored(tmp_path, talk()), "pdf", redactor=None)


def test_damage_is_told(tmp_path):
    made = talk()
    path = made.write(str(tmp_path))
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"torn')
    findings = []
    "".join(export(list_sessions(Homes(str(tmp_path), {}))[0], redactor=None, findings=findings))
    assert [finding.code for finding in findings] == ["record-torn"]


def test_the_card_has_no_credentials_either(tmp_path):
    made = Talk(cwd=f"/home/{AWS}")
    made.add("user", message={"role": "user", "content": "hi"}, gitBranch=AWS, version=AWS)
    for form in ("markdown", "html", "json"):
        assert AWS not in page(tmp_path, made, form)


def test_what_looks_like_a_fence_and_is_none_hides_nothing(tmp_path):
    out = page(tmp_path, Talk().user("hi").says("```a`b\n# A heading\n<script>\n![](http://x/y.png)"), "markdown")
    assert "\\# A heading\n&lt;script>\n!\\[](http://x/y.png)" in out


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_signs_that_no_page_can_have_do_no_harm(tmp_path, form):
    made = Talk().user("a \ud800 b").says("c \ud800 \x00 \u202e d").calls("Bash", command="\ud800", n=float("nan"))
    made.records[-1]["timestamp"] = "0001-01-01T00:00:00Z"
    with open(Talk().user("x").write(str(tmp_path)), "w", encoding="ascii") as file:
        file.writelines(json.dumps(record) + "\n" for record in made.records)
    out = "".join(export(list_sessions(Homes(str(tmp_path), {}))[0], form, redactor=Redactor()))
    out.encode()
    if form == "json":
        json.loads(out, parse_constant=pytest.fail)
    else:
        assert not set(out) & {"\x00", "\u202e"}


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_what_is_nested_deeply_is_named(tmp_path, form):
    deep = "leaf"
    for _ in range(360):
        deep = {"a": [deep]}
    out = page(tmp_path, Talk().user("hi").calls("Bash", command="ls", more=deep).says("end"), form)
    assert "too deeply nested" in out
    assert "end" in out


def test_a_file_that_is_gone_is_an_error_that_says_so(tmp_path):
    found = stored(tmp_path, talk())
    os.unlink(found.path)
    with pytest.raises(SessionFailed, match="does not exist any more"):
        list(export(found, redactor=None))


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_a_brief_page_counts_only_what_was_taken_out_of_it(tmp_path, form):
    redactor = Redactor()
    made = Talk().user("Please deploy.").calls("Bash", command=f"echo {AWS}").result(f"{AWS}\ndone")
    made.calls("Edit", "toolu_2", file_path="/p/a.py", new_string=AWS).result("ok", "toolu_2").says("Done.")
    out = "".join(export(stored(tmp_path, made), form, redactor=redactor, choice=Choice(brief=True)))
    assert (redactor.found, "/p/a.py" in out, "Done." in out) == ({}, True, True)


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_progress_is_told_in_bytes_of_the_session(tmp_path, form):
    session, told = stored(tmp_path, talk()), []
    for _ in export(session, form, redactor=None, progress=lambda done, total: told.append((done, total))):
        pass
    assert (told[-1], told == sorted(told)) == ((session.size, session.size), True)


def test_commands_are_told_as_they_were_typed(tmp_path):
    made = Talk().user("Hello.").user("<command-name>/model</command-name>\n<command-args>opus</command-args>")
    made.user("<local-command-stdout>Set to opus.</local-command-stdout>").user(
        "<local-command-caveat>x</local-command-caveat>"
    )
    session = stored(tmp_path, made.says("Done."))
    lines = "".join(export(session, redactor=None)).split("\n")
    assert [line for line in lines if line and "·" not in line] == [
        *("# Hello.", "Hello.", "/model opus", "```", "Set to opus.", "```", "Done.")
    ]
    brief = "".join(export(session, "html", redactor=None, choice=Choice(brief=True)))
    assert ("/model opus" in brief, "Set to opus" in brief, "command-name" in brief) == (True, False, False)
    assert "<command-name>/model" in "".join(export(session, "json", redactor=None))
