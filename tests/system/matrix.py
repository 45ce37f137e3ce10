"""Run the tests on every Python that foretold claims to support: `make matrix`, or `make matrix ONLY=3.12`.

1. The claimed versions are the classifiers of `pyproject.toml`.
2. Interpreters are searched on PATH, in /usr/bin and among the versions of pyenv; every patch release found is tried.
3. Each gets an environment under `.cache/matrix` with the pinned requirements, and runs what `make test` runs.
4. What was not there is named. The exit status is that of the worst run.
"""

import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLAIM = re.compile(r'"Programming Language :: Python :: (3\.\d+)"')
VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"


def claimed() -> list[str]:
    """The versions of Python in the classifiers."""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        return CLAIM.findall(file.read())


def find_interpreters(version: str) -> dict[str, str]:
    """Interpreters of a version: patch release -> path. One that does not start, such as a shim, is left out."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    paths = [os.path.join(folder, f"python{version}") for folder in folders]
    paths += sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python{version}"))
    found: dict[str, str] = {}
    for path in paths:
        if os.access(path, os.X_OK):
            done = subprocess.run([path, "-c", VERSION], capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.startswith(version):
                found.setdefault(done.stdout.strip(), path)
    return found


def run_tests(release: str, interpreter: str) -> int:
    """Make the environment of a release if it is not there, and run the tests in it."""
    folder = os.path.join(ROOT, ".cache", "matrix", release)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, ".ready")):
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for command in (
            [interpreter, "-m", "venv", "--clear", folder],
            [*pip, "-r", "requirements-dev.txt"],
            [*pip, "--no-build-isolation", "--no-deps", "-e", "."],
        ):
            if subprocess.run(command, cwd=ROOT).returncode:
                return 3
        with open(os.path.join(folder, ".ready"), "w", encoding="utf-8"):
            pass
    return subprocess.run([python, "-m", "pytest", "-n", "2"], cwd=ROOT).returncode


def main(only: list[str]) -> int:
    results: list[tuple[str, str, int]] = []
    for version in claimed():
        if only and version not in only:
            continue
        found = find_interpreters(version)
        if not found:
            results.append((version, "not found on this machine", 0))
        for release, interpreter in found.items():
            print(f"\n== Python {release}: {interpreter}", flush=True)
            code = run_tests(release, interpreter)
            results.append((release, "passed" if code == 0 else f"FAILED with exit status {code}", code))
    print("\nPython     result")
    for release, result, _ in results:
        print(f"{release:10} {result}")
    return max((code for _, _, code in results), default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
