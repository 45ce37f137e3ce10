"""What the GitHub Action runs: check the tree, write the reports, comment once on the pull request, and update that.

1. `foretold check` runs with the inputs of the action: annotations for the log, SARIF and Markdown as files; on a pull
   request also `--diff` against its base. Nothing of the pull request is executed.
2. The Markdown goes to the summary of the job, and into a comment. The comment is found again by a marker that readers
   do not see, and by its author: anybody could write the marker.
3. A pull request without findings that changes nothing for agents gets no comment; one that has become so gets its
   comment updated.
4. A token that may not comment, as on pull requests from forks, is a notice, not a failure.
5. The exit status of the check is the output `status`; the action fails with it in its last step, after the upload.

Python's standard library only. Everything comes from the environment: see `action.yml`.
"""

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
    base = find_base(event) if is_on(env, "diff") else ""
    changed = run_check(env, "--diff", base, "--format", "markdown", "--output", change) if base else 2
    told = read_text(change) if changed < 2 else ""
    body = join_parts(told, read_text(report))
    write_summary(body)
    number = event.get("pull_request", {}).get("number")
    if isinstance(number, int) and is_on(env, "comment"):
        say(comment(number, body, is_wanted=status == 1 or (bool(told) and UNCHANGED not in told)))
    return 0


def run_check(env: Mapping[str, str], *more: str) -> int:
    """Run a check with the inputs of the action; its exit status."""
    given = {name: env.get(f"INPUT_{name.upper()}", "").strip() for name in OPTIONS}
    options = [f"--{name}={value}" for name, value in given.items() if value]
    paths = [path.strip() for path in env.get("INPUT_PATH", "").split("\n") if path.strip()] or ["."]
    command = [sys.executable, "-I", "-m", "foretold", "check", "--no-home", *options, *more, "--", *paths]
    return subprocess.run(command, check=False).returncode


def is_on(env: Mapping[str, str], name: str) -> bool:
    return env.get(f"INPUT_{name.upper()}", "true").strip().lower() == "true"


# The event, and what the runner reads


def read_event(path: str) -> dict:
    """The event that started the workflow; empty if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            event = json.load(file)
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def find_base(event: dict) -> str:
    """The commit that a pull request is against; empty for other events."""
    sha = event.get("pull_request", {}).get("base", {}).get("sha", "")
    return sha if isinstance(sha, str) and re.fullmatch(r"[0-9a-f]{40,64}", sha) else ""


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
            api.send("POST", f"issues/{number}/comments", {"body": text})
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
                if each.get("user", {}).get("login") == self.author and (each.get("body") or "").startswith(marker):
                    return each
            if len(found) < 100:
                break
        return None

    def send(self, method: str, path: str, data=None):
        """One request; the JSON of the answer. A fault of the server is tried again."""
        request = urllib.request.Request(f"{self.url}/repos/{self.repository}/{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "foretold")
        if data is not None:
            request.data = json.dumps(data).encode()
            request.add_header("Content-Type", "application/json")
        for left in reversed(range(TRIES)):
            try:
                with self.opener.open(request, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if (error.code < 500 and error.code != 429) or not left:
                    raise Refused(f"{method} {path.partition('?')[0]}: status {error.code}") from None
            except (OSError, ValueError) as error:
                if not left or method == "POST":  # a second comment would be worse than none
                    raise Refused(f"{method} {path.partition('?')[0]}: {error}") from None
            time.sleep(WAIT)
        return None


if __name__ == "__main__":
    sys.exit(main())
