"""What the GitHub Action runs: check the tree, write the reports, comment once on the pull request, and update that.

1. `foretold check` runs with the inputs of the action: annotations for the log, SARIF and Markdown as files; on a pull
   request also `--diff` against its base, which is fetched if the checkout does not have it. Nothing of the pull
   request is executed.
2. The Markdown goes to the summary of the job, and into a comment. The comment is found again by a marker that readers
   do not see, and by its author: anybody could write the marker.
3. A pull request without findings that changes nothing for agents gets no comment; one that has become so gets its
   comment updated.
4. A token that may not comment, as on pull requests from forks, is a notice, not a failure.
5. The exit status of the check is the output `status`; the action fails with it in its last step, after the upload.

Python's standard library only. Everything comes from the environment: see `action.yml`.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping

LONGEST = 64_000  # GitHub takes 65,536 characters
LONGEST_DIFF = 30_000
MOST_PAGES = 50  # of 100 comments
TRIES, WAIT = 3, 2.0  # of a request that fails on their side, and seconds between
LONGEST_FETCH = 120  # seconds
COMMIT = r"[0-9a-f]{40,64}"
UNCHANGED = "This change does not affect what agents are given."  # in what `--diff` writes
OPTIONS = ("agent", "select", "ignore", "exclude", "severity", "baseline")  # inputs that are options of the check


def main() -> int:
    env = os.environ
    folder = env.get("RUNNER_TEMP") or "."
    sarif, report, change = (
        os.path.join(folder, name) for name in ("foretold.sarif", "foretold.md", "foretold-diff.md")
    )
    status = run_check(env, "--format", "github")
    write_output("status", str(status))
    if status > 1:
        return 0  # the check has said why; the last step of the action fails
    run_check(env, "--format", "sarif", "--output", sarif)
    write_output("sarif", sarif)
    run_check(env, "--format", "markdown", "--output", report)
    event = read_event(env.get("GITHUB_EVENT_PATH", ""))
    pull = find_pull(event)
    base = find_base(pull) if pull and is_on(env, "diff") else ""
    changed = run_check(env, "--diff", base, "--format", "markdown", "--output", change) if base else 2
    told = read_text(change) if changed < 2 else ""
    body = join_parts(told, read_text(report))
    write_summary(body)
    number = pull.get("number")
    if isinstance(number, int) and is_on(env, "comment"):
        say(comment(number, body, is_wanted=status == 1 or (bool(told) and UNCHANGED not in told)))
    return 0


def run_check(env: Mapping[str, str], *more: str) -> int:
    """Run a check with the inputs of the action; its exit status."""
    given = {name: env.get(f"INPUT_{name.upper()}", "").strip() for name in OPTIONS}
    options = [f"--{name}={value}" for name, value in given.items() if value]
    paths = [path.strip() for path in env.get("INPUT_PATH", "").split("\n") if path.strip()] or ["."]
    command = [sys.executable, "-I", "-m", "foretold", "check", "--no-home", *options, *more, "--", *paths]
    return subprocess.run(command, env=without_token(env), check=False).returncode


def without_token(env: Mapping[str, str]) -> dict[str, str]:
    """An environment for processes that need no token."""
    return {name: value for name, value in env.items() if name != "INPUT_TOKEN"}


def is_on(env: Mapping[str, str], name: str) -> bool:
    return env.get(f"INPUT_{name.upper()}", "true").strip().lower() == "true"


# The event


def read_event(path: str) -> dict:
    """The event that started the workflow; empty if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            event = json.load(file)
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def find_pull(event: dict) -> dict:
    """The pull request of an event; empty for other events."""
    pull = event.get("pull_request")
    return pull if isinstance(pull, dict) else {}


def find_commit(pull: dict, side: str) -> str:
    """The commit of one side of a pull request, base or head; empty if there is none."""
    found = pull.get(side)
    sha = found.get("sha") if isinstance(found, dict) else None
    return sha if isinstance(sha, str) and re.fullmatch(COMMIT, sha) else ""


# What a pull request is compared with


def find_base(pull: dict) -> str:
    """What a pull request is compared with, for `--diff`; empty, and said why, if git cannot have it.

    GitHub's checkout is a merge of the pull request with the newest commit of its base branch; the event may name an
    older one. Compared with that, what others have merged meanwhile would be part of the change.
    """
    base, mark = find_commit(pull, "base"), ""
    parents = list_parents()
    if len(parents) == 2 and parents[1] == find_commit(pull, "head"):
        base, mark = parents[0], ".."  # this commit itself: a shallow clone does not know where a branch began
    if not base:
        say("the change is not compared with its base: the event does not name one")
    elif has_commit(base) or fetch_commit(base):
        return base + mark
    else:
        say(f"the change is not compared with its base: {base} is not there, and could not be fetched")
    return ""


def list_parents() -> list[str]:
    """The parents of what is checked out, also those that a shallow clone does not have."""
    head = run_git("cat-file", "commit", "HEAD").partition("\n\n")[0]
    return re.findall(rf"^parent ({COMMIT})$", head, re.MULTILINE)


def has_commit(name: str) -> bool:
    return run_git("cat-file", "-t", name) == "commit\n"


def fetch_commit(name: str) -> bool:
    run_git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", name)
    return has_commit(name)


def run_git(*words: str) -> str:
    """What git prints; empty if it fails, which it has said in the log."""
    env = {**without_token(os.environ), "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", *words],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=LONGEST_FETCH,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"git {words[0]}: {error}")
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


# What the runner reads


def read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def join_parts(change: str, report: str) -> str:
    """The change first, then the findings; each is cut at the end of a line."""
    first = cut_lines(change, LONGEST_DIFF)
    return "\n".join(part for part in (first, cut_lines(report, LONGEST - 200 - len(first))) if part.strip())


def cut_lines(text: str, longest: int) -> str:
    """As many lines of a text as fit."""
    if len(text) <= longest:
        return text
    return text[: text.rfind("\n", 0, longest - 40) + 1] + "\n… the rest is in the log of the job\n"


def write_summary(body: str) -> None:
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(body)


def write_output(name: str, value: str) -> None:
    path = os.environ.get("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{name}={value}\n")


def say(text: str) -> None:
    """A line in the log that cannot be taken for a command of the runner."""
    print("foretold: " + text.replace("\r", " ").replace("\n", " "), flush=True)


# The comment


def comment(number: int, body: str, *, is_wanted: bool) -> str:
    """Write the comment, or update it; what was done."""
    key = re.sub(r"[^A-Za-z0-9 _.-]", "-", os.environ.get("INPUT_NAME", "").strip() or "check")[:60]
    marker = f"<!-- foretold check: {key} -->"
    text = f"{marker}\n{body}"
    try:
        api = Api(os.environ)
        mine = api.find_comment(number, marker)
        if mine is None and not is_wanted:
            return "nothing to comment on"
        if mine is None:
            api.add_comment(number, marker, text)
            return "commented on the pull request"
        if mine["body"].replace("\r\n", "\n").strip() == text.strip():
            return "the comment is up to date"
        api.send("PATCH", f"issues/comments/{mine['id']}", {"body": text})
        return "updated the comment"
    except Refused as error:
        print(f"::notice title=foretold::no comment was written: {escape(str(error))}", flush=True)
        return "no comment was written; the report is in the summary of the job"


def escape(text: str) -> str:
    """A message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


class Refused(Exception):
    """GitHub did not do what was asked."""


class Unsure(Refused):
    """The answer is a fault of the server, or none: it may have done what was asked."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token is for one host: it is never sent to another."""

    def redirect_request(self, *_args, **_kwargs):
        return None


class Api:
    """The part of GitHub's REST interface that is needed, for one repository."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.url = env.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        self.token, self.repository = env.get("INPUT_TOKEN", ""), env.get("GITHUB_REPOSITORY", "")
        self.author = env.get("INPUT_AUTHOR", "").strip() or "github-actions[bot]"
        host = urllib.parse.urlsplit(self.url)
        if host.scheme != "https" and host.hostname not in ("127.0.0.1", "localhost"):
            raise Refused(f"{self.url} is not an https address")
        if not self.token:
            raise Refused("there is no token")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", self.repository):
            raise Refused(f"{self.repository!r} is not a repository")
        self.opener = urllib.request.build_opener(_NoRedirect)

    def find_comment(self, number: int, marker: str):
        """Our comment on a pull request, or None: the first by our author that begins with the marker."""
        for page in range(1, MOST_PAGES + 1):
            found = self.send("GET", f"issues/{number}/comments?per_page=100&page={page}")
            for each in found:
                login = (each.get("user") or {}).get("login")  # there is no user if the account was deleted
                if login == self.author and (each.get("body") or "").startswith(marker):
                    return each
            if len(found) < 100:
                break
        return None

    def add_comment(self, number: int, marker: str, text: str) -> None:
        """Write the comment, and never twice: after a fault it is looked for, before it is sent again."""
        for left in reversed(range(TRIES)):
            try:
                self.ask("POST", f"issues/{number}/comments", {"body": text})
                return
            except Unsure:
                if not left:
                    raise
            time.sleep(WAIT)
            if self.find_comment(number, marker) is not None:
                return

    def send(self, method: str, path: str, data=None):
        """A request that may be repeated, as it is after a fault of the server; the JSON of the answer."""
        for left in reversed(range(TRIES)):
            try:
                return self.ask(method, path, data)
            except Unsure:
                if not left:
                    raise
            time.sleep(WAIT)
        return None

    def ask(self, method: str, path: str, data=None):
        """One request; the JSON of the answer."""
        request = urllib.request.Request(f"{self.url}/repos/{self.repository}/{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "foretold")
        if data is not None:
            request.data = json.dumps(data).encode()
            request.add_header("Content-Type", "application/json")
        about = f"{method} {path.partition('?')[0]}"
        try:
            with self.opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            kind = Unsure if error.code >= 500 or error.code == 429 else Refused
            raise kind(f"{about}: status {error.code}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Unsure(f"{about}: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
