"""The Action: its script as a real process against a server on loopback, and what its files promise."""

import http.server
import json
import os
import re
import subprocess
import sys
import threading

import pytest
import ryaml

from foretold.check.run import FAMILIES
from foretold.dialects.registry import SIGNS, choose
from foretold.instructions.discover.inventory import list_names

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "integrations", "github_action.py")
BOT = "github-actions[bot]"
MARKER = "<!-- foretold check: check -->"


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


class GitHub(http.server.ThreadingHTTPServer):
    """As much of GitHub as the script needs; every request is recorded."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments, self.requests, self.failing = [], [], {}
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def add(self, body, login=BOT):
        self.comments.append({"id": 1000 + len(self.comments), "body": body, "user": {"login": login}})

    @property
    def written(self):
        return [(method, path) for method, path, _, _ in self.requests if method != "GET"]


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        data = json.loads(self.rfile.read(length)) if length else None
        github = self.server
        github.requests.append((self.command, self.path, data, self.headers.get("Authorization")))
        status = github.failing.get(self.command, [])
        code = status.pop(0) if status else 200
        if code < 0:  # it is done, and what comes back is a fault all the same
            self.do(github, data)
            code = -code
        if code >= 300:
            self.send_response(code)
            if code == 302:
                self.send_header("Location", f"{github.url}/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            return
        body = json.dumps(self.do(github, data)).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do(self, github, data):
        if self.command == "GET":
            page = int(re.search(r"[?&]page=(\d+)", self.path)[1])
            return github.comments[100 * (page - 1) : 100 * page]
        if self.command == "POST":
            github.add(data["body"])
            return github.comments[-1]
        found = next(each for each in github.comments if self.path.endswith(f"/{each['id']}"))
        found["body"] = data["body"]
        return found

    do_GET = do_POST = do_PATCH = answer  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def github():
    with GitHub() as server:
        yield server


@pytest.fixture
def pull(place):
    """A repository with a base commit and a change to it; the event names the base."""
    place.git("init -q", "proj")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.git("add .", "proj")
    place.git("commit -qm base", "proj")
    base = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=place.proj, capture_output=True, text=True, check=True
    ).stdout.strip()
    place.write("proj/CLAUDE.md", "Use tabs. See @docs/missing.md\n")
    event = {"pull_request": {"number": 7, "base": {"sha": base}}}
    place.write("event.json", json.dumps(event))
    place.folder("temp")
    return place


def run(place, github, **inputs):
    """The script as the action runs it."""
    defaults = {"path": ".", "select": "import-missing,import-in-code", "diff": "false", "token": "secret-token"}
    given = {f"INPUT_{name.upper()}": value for name, value in {**defaults, **inputs}.items()}
    env = {
        "PATH": os.environ["PATH"],
        "HOME": place.home,
        "RUNNER_TEMP": place.path("temp"),
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": "ann/bakery",
        "GITHUB_EVENT_PATH": place.path("event.json"),
        "GITHUB_STEP_SUMMARY": place.path("summary.md"),
        "GITHUB_OUTPUT": place.path("output"),
        **given,
    }
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT],
        cwd=place.proj,
        env={key: value for key, value in env.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def output(place):
    with open(place.path("output"), encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file)


def test_a_pull_request_with_findings_gets_one_comment(pull, github):
    done = run(pull, github)
    (comment,) = github.comments
    assert comment["body"].startswith(f"{MARKER}\n### foretold check\n\n**1 error** in 1 file")
    assert "<code>import-missing</code>" in comment["body"]
    assert output(pull) == {"status": "1", "sarif": pull.path("temp/foretold.sarif")}
    assert "::error file=CLAUDE.md,line=1,title=foretold import-missing::" in done.stdout
    assert done.stdout.endswith("foretold: commented on the pull request\n")
    with open(pull.path("summary.md"), encoding="utf-8") as file:
        assert comment["body"] == f"{MARKER}\n{file.read()}"
    with open(pull.path("temp/foretold.sarif"), encoding="utf-8") as file:
        assert len(json.load(file)["runs"][0]["results"]) == 1
    assert {token for *_, token in github.requests} == {"Bearer secret-token"}
    assert "secret-token" not in done.stdout + done.stderr


def test_the_comment_is_updated_and_left_alone_if_it_is_up_to_date(pull, github):
    run(pull, github)
    assert run(pull, github).stdout.endswith("foretold: the comment is up to date\n")
    assert github.written == [("POST", "/repos/ann/bakery/issues/7/comments")]
    pull.write("proj/CLAUDE.md", "Use tabs.\n")
    assert run(pull, github).stdout.endswith("foretold: updated the comment\n")
    assert len(github.comments) == 1
    assert "No problems in 1 file of 1 agent." in github.comments[0]["body"]


def test_a_clean_pull_request_gets_no_comment(pull, github):
    pull.write("proj/CLAUDE.md", "Use tabs.\n")
    assert run(pull, github).stdout.endswith("foretold: nothing to comment on\n")
    assert github.written == []
    assert output(pull)["status"] == "0"


def test_a_comment_of_somebody_else_is_never_touched(pull, github):
    github.add(f"{MARKER}\nmine", login="mallory")
    github.add(f"I quote: {MARKER}")
    run(pull, github)
    assert [each["body"] for each in github.comments[:2]] == [f"{MARKER}\nmine", f"I quote: {MARKER}"]
    assert len(github.comments) == 3


def test_the_comment_is_found_on_a_later_page(pull, github):
    for number in range(230):
        github.add(f"comment {number}", login="ann")
    github.comments[215] = {"id": 5, "body": f"{MARKER}\nold", "user": {"login": BOT}}
    run(pull, github)
    assert github.written == [("PATCH", "/repos/ann/bakery/issues/comments/5")]


def test_several_jobs_have_a_comment_each(pull, github):
    run(pull, github, name="web -->\n@all")
    run(pull, github)
    assert [each["body"].partition("\n")[0] for each in github.comments] == [
        "<!-- foretold check: web -----all -->",
        MARKER,
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_token_that_may_not_comment_is_no_failure(pull, github, status):
    github.failing["POST"] = [status]
    done = run(pull, github)
    assert f"::notice title=foretold::no comment was written: POST issues/7/comments: status {status}\n" in done.stdout
    assert output(pull)["status"] == "1"


def test_a_server_that_fails_is_asked_again(pull, github):
    github.failing["GET"] = [502, 429]
    run(pull, github)
    assert len(github.comments) == 1
    assert [method for method, *_ in github.requests] == ["GET", "GET", "GET", "POST"]


@pytest.mark.parametrize("faults", [[502], [-502], [503, -502], [429, 500], [-500, 500]])
def test_a_fault_of_the_server_never_makes_two_comments(pull, github, faults):
    """An answer of 5xx does not say whether the comment was written, so it is looked for before it is sent again."""
    github.failing["POST"] = [*faults]
    done = run(pull, github)
    assert len(github.comments) == 1
    assert done.stdout.endswith("foretold: commented on the pull request\n")
    methods = [method for method, *_ in github.requests]
    assert "POST POST" not in " ".join(methods)


def test_a_server_that_always_fails_is_left_alone(pull, github):
    github.failing["POST"] = [500] * 9
    assert "no comment was written: POST issues/7/comments: status 500\n" in run(pull, github).stdout
    assert [method for method, *_ in github.requests].count("POST") == 3


def test_comments_of_an_account_that_was_deleted(pull, github):
    github.comments += [{"id": 1, "body": f"{MARKER}\nold", "user": None}, {"id": 2, "body": None, "user": {}}]
    run(pull, github)
    assert len(github.comments) == 3
    assert github.comments[0]["body"] == f"{MARKER}\nold"


def test_the_token_is_not_sent_to_another_address(pull, github):
    github.failing["GET"] = [302]
    assert "status 302" in run(pull, github).stdout
    assert [path for _, path, _, _ in github.requests if "elsewhere" in path] == []
    unsafe = run(pull, github, token="secret-token")
    assert "secret-token" not in unsafe.stdout


def test_without_a_token_or_a_pull_request(pull, github):
    assert "there is no token" in run(pull, github, token="").stdout
    pull.write("event.json", '{"ref": "refs/heads/main"}')
    run(pull, github)
    for event in (
        "not JSON",
        "[]",
        '{"pull_request": null}',
        '{"pull_request": {"base": null}}',
        '{"pull_request": 5}',
    ):
        pull.write("event.json", event)
        run(pull, github, diff="true")
    run(pull, github, comment="false")
    assert github.written == []


def test_settings_that_are_wrong_are_the_status(pull, github):
    pull.write("proj/.foretold.toml", "selct = []\n")
    done = run(pull, github)
    assert output(pull) == {"status": "2"}
    assert "'selct' is not a setting" in done.stderr
    assert github.written == []


def test_inputs_cannot_become_other_options(pull, github):
    run(pull, github, path="--write-baseline=x.json")
    assert output(pull)["status"] == "2"
    assert not os.path.exists(pull.path("proj/x.json"))


def test_paths_one_a_line(pull, github):
    pull.write("proj/web/CLAUDE.md", "See @docs/gone.md\n")
    pull.write("proj/api/CLAUDE.md", "See @docs/gone.md\n")
    run(pull, github, path="web\napi\n")
    assert "web/CLAUDE.md" in github.comments[0]["body"]
    assert "api/CLAUDE.md" in github.comments[0]["body"]
    assert "missing.md" not in github.comments[0]["body"]


def test_a_change_that_calls_people_calls_nobody(pull, github):
    pull.write("proj/CLAUDE.md", "See @docs/octocat.md and @docs/a|b.md\n")
    run(pull, github)
    body = re.sub(r"<code>.*?</code>", "", github.comments[0]["body"])
    assert re.search(r"@\w", body) is None


def test_what_a_change_does_comes_first(pull, github):
    done = run(pull, github, diff="true")
    body = github.comments[0]["body"]
    assert "This change costs " in body.partition("### foretold check")[0], done.stderr
    assert "<code>import-missing</code>" in body.partition("### foretold check")[2]


def test_a_change_without_findings_is_worth_a_comment_if_agents_get_something_else(pull, github):
    pull.write("proj/CLAUDE.md", "Use tabs, and never spaces, in every file of this repository.\n")
    run(pull, github, diff="true")
    assert len(github.comments) == 1
    pull.write("proj/CLAUDE.md", "Use tabs.\n")
    pull.write("proj/src/app.py", "x = 1\n")
    run(pull, github, diff="true")
    assert len(github.comments) == 1
    assert "does not affect what agents are given" in github.comments[0]["body"]


def test_a_change_that_affects_no_agent_gets_no_comment(pull, github):
    pull.write("proj/CLAUDE.md", "Use tabs.\n")
    pull.write("proj/src/app.py", "x = 1\n")
    run(pull, github, diff="true")
    assert github.written == []


def test_a_base_that_is_not_there_is_left_out(pull, github):
    pull.write("event.json", json.dumps({"pull_request": {"number": 7, "base": {"sha": "0" * 40}}}))
    run(pull, github, diff="true")
    assert github.comments[0]["body"].startswith(f"{MARKER}\n### foretold check")
    pull.write("event.json", json.dumps({"pull_request": {"number": 7, "base": {"sha": "--output=x"}}}))
    run(pull, github, diff="true")
    assert not os.path.exists(pull.path("proj/x"))


def head_of(place, folder="proj", name="HEAD"):
    words = ["git", "rev-parse", name]
    return subprocess.run(words, cwd=place.path(folder), capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def merged(place):
    """A shallow checkout of the merge of a pull request, whose event names a base that is older than the merge's."""
    place.git("init -q -b main origin", ".")
    place.git("config uploadpack.allowAnySHA1InWant true", "origin")
    for name, text in (("CLAUDE.md", "Use tabs.\n"), ("web/CLAUDE.md", "Web.\n")):
        place.write(f"origin/{name}", text)
    place.git("add .", "origin")
    place.git("commit -qm base", "origin")
    old = head_of(place, "origin")
    place.git("checkout -q -b topic", "origin")
    place.write("origin/web/CLAUDE.md", "Web, and See @gone.md\n")
    place.git("commit -qam topic", "origin")
    topic = head_of(place, "origin")
    place.git("checkout -q main", "origin")
    place.write("origin/CLAUDE.md", "Use tabs. Something that somebody else has merged meanwhile.\n")
    place.git("commit -qam meanwhile", "origin")
    place.git("checkout -q -b merge", "origin")
    place.git("merge -q --no-ff -m merge topic", "origin")
    os.rmdir(place.proj)
    place.git(f"clone -q --depth=1 --branch=merge file://{place.path('origin')} proj", ".")
    event = {"pull_request": {"number": 7, "base": {"sha": old}, "head": {"sha": topic}}}
    place.write("event.json", json.dumps(event))
    place.folder("temp")
    return place


def test_a_change_is_compared_with_what_it_is_merged_into(merged, github):
    """GitHub makes the merge with the newest base; what others merged meanwhile is not part of the change."""
    done = run(merged, github, diff="true")
    told = github.comments[0]["body"].partition("### foretold check")[0]
    assert "web/CLAUDE.md" in told, done.stderr
    assert not re.search(r"(?<!web/)CLAUDE\.md", told)
    assert "is not known" not in told


def test_a_base_that_cannot_be_fetched_is_said(merged, github):
    os.rename(merged.path("origin"), merged.path("gone"))
    done = run(merged, github, diff="true")
    assert "foretold: the change is not compared with its base: " in done.stdout
    assert github.comments[0]["body"].startswith(f"{MARKER}\n### foretold check")


def test_a_base_is_not_asked_for_without_need(pull, github):
    """Without a remote nothing can be fetched, and nothing needs to be."""
    assert "not compared" not in run(pull, github, diff="true").stdout
    assert "not compared" not in run(pull, github, diff="false").stdout


# What the files promise


def action():
    return ryaml.loads(read("action.yml"))


def test_no_input_is_written_into_a_script():
    """An expression in a script is code for whoever controls the value."""
    for step in action()["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step


def test_every_input_reaches_the_script_or_a_step():
    text = read("action.yml")
    for name, about in action()["inputs"].items():
        assert f"inputs.{name}" in text, name
        assert about["description"].endswith("."), name
    script = read("integrations/github_action.py")
    for name in re.findall(r"INPUT_([A-Z]+): ", text):
        assert f"INPUT_{name}" in script or f'"{name.lower()}"' in script, name


def test_the_guide_has_every_input():
    guide = read("docs/check.md")
    assert [name for name in action()["inputs"] if f"| `{name}` |" not in guide] == []


def test_actions_of_others_are_pinned_by_their_commit_and_name_their_version():
    """A tag can be moved; and an organisation that asks for commits asks this of actions inside of actions, too."""
    used = re.findall(r"^ *-? *uses: (.*)", read("action.yml"), re.MULTILINE)
    assert len(used) == len([step for step in action()["runs"]["steps"] if "uses" in step])
    assert [re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) is not None for each in used] == [True] * len(
        used
    )


def test_a_step_that_may_fail_says_so():
    """An upload that a fork may not do is said, and several jobs do not overwrite each other's results."""
    steps = action()["runs"]["steps"]
    (upload,) = [step for step in steps if "upload-sarif" in step.get("uses", "")]
    said = [step for step in steps if f"steps.{upload['id']}.outcome == 'failure'" in step.get("if", "")]
    assert (upload["continue-on-error"], len(said)) == (True, 1)
    assert "::notice title=foretold::" in said[0]["run"]
    assert "inputs.name" in upload["with"]["category"]


def hook():
    (found,) = ryaml.loads(read(".pre-commit-hooks.yaml"))
    return found


def test_the_hook_of_pre_commit_runs_for_every_file_that_agents_read():
    pattern = re.compile(hook()["files"])
    for agent in SIGNS:
        names = list_names(choose(agent).dialect)
        paths = [*names.files, *(f"{rules.name}/x.md" for rules in names.rules)]
        assert [path for path in paths if not pattern.search(path) or not pattern.search(f"web/{path}")] == [], agent
    for path in (
        ".mcp.json",
        ".claude/settings.json",
        "a/.claude/skills/b/SKILL.md",
        "skills/x/SKILL.md",
        ".foretold.toml",
    ):
        assert pattern.search(path), path
    for path in ("README.md", "src/agents.py", "docs/claude.md.txt", "rules/x.md", "package.json"):
        assert not pattern.search(path), path


def test_the_hook_of_pre_commit_checks_the_tree():
    found = hook()
    assert (found["id"], found["pass_filenames"], found["language"]) == ("foretold-check", False, "python")
    assert found["entry"].split()[:2] == ["foretold", "check"]
    assert (found["types"], found["types_or"]) == ([], ["file", "symlink"])  # the default leaves links out


def test_the_template_of_gitlab_is_yaml_and_writes_what_it_reports():
    template = ryaml.loads(read("integrations/gitlab.yml"))
    job = template["foretold-check"]
    report = job["artifacts"]["reports"]["codequality"]
    assert any(f"--format gitlab --output {report}" in line for line in job["script"])


def test_the_template_of_gitlab_installs_nothing_that_was_not_named(place):
    """A bare name would be whatever a package registry has under it."""
    template = ryaml.loads(read("integrations/gitlab.yml"))
    assert template["variables"]["FORETOLD"] == ""
    first = template["foretold-check"]["script"][0]
    for given, status in (("", 2), ("foretold==0.1.0", 0)):
        env = {"PATH": os.environ["PATH"], "FORETOLD": given}
        done = subprocess.run(
            ["sh", "-ec", first], env=env, cwd=place.proj, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "set FORETOLD" in done.stderr) == (status, bool(status))


def test_families_are_named_in_the_guide():
    guide = read("docs/check.md")
    assert [family for family in FAMILIES if f"*{family}*" not in guide] == []
