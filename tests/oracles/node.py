"""The npm packages that some modules must equal, asked through one node process.

The packages are installed once, at these versions, into `.cache/oracles/` of the repository, which git ignores. Where
there is no node or npm, or the packages cannot be installed, the tests that ask are skipped and say why.
"""

import fcntl
import json
import os
import shutil
import subprocess

import pytest

PACKAGES = {
    "ignore": "7.0.14",
    "early-ignore": "npm:ignore@7.0.5",  # what Claude Code has built in matches as this one
    "marked": "15.0.12",
    "picomatch": "4.0.7",
    "yaml": "2.9.1",
}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".cache", "oracles")
ASK = """
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'));
(async question => { %s })(input).then(answer => process.stdout.write(JSON.stringify(answer)));
"""


def ask(script, question):
    """What the body of an async JavaScript function returns for `question`; both are JSON values.

    It can `require` the packages, or `await import` those that are modules.
    """
    node = _program("node")
    done = subprocess.run(
        [node, "-e", ASK % script],
        input=json.dumps(question),
        cwd=_installed(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _program(name):
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed: the npm packages cannot be asked")
    return found


def _installed():
    """The folder whose `node_modules` has the packages."""
    npm = _program("npm")
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # pytest-xdist asks from several processes
        if any(_version(name) != version.rpartition("@")[2] for name, version in PACKAGES.items()):
            _install(npm)
    return FOLDER


def _version(name):
    try:
        with open(os.path.join(FOLDER, "node_modules", name, "package.json"), encoding="utf-8") as file:
            return json.load(file)["version"]
    except (OSError, ValueError, KeyError):
        return None


def _install(npm):
    with open(os.path.join(FOLDER, "package.json"), "w", encoding="utf-8") as file:
        file.write('{"private": true}\n')  # else npm looks for a package in the folders above
    words = [f"{name}@{version}" for name, version in PACKAGES.items()]
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"]
    try:
        done = subprocess.run(
            [npm, "install", *options, *words], cwd=FOLDER, capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not install the packages within five minutes")
    if done.returncode:
        pytest.skip(f"npm could not install the packages: {' '.join(done.stderr.split())[-300:]}")
