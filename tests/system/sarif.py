"""Validate what `foretold check --format sarif` writes with the official multitool from npm: `make integrations`.

1. The tool is installed into `.cache/sarif-multitool`, once. Without npm, or a package for this system, it says so and
   ends with 0.
2. The broken sample of this repository and a tree with odd names are checked with every rule; the logs are validated
   with the rules of the format and with those of GitHub's code scanning (`Sarif;Ghas`).
3. No error is allowed, and no warning but SARIF2005: it asks for an address of the tool, and none is published.
4. A log that was damaged on purpose must fail: else the validation would prove nothing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, ".cache", "sarif-multitool")
BINARY = os.path.join(TOOL, "node_modules", "@microsoft", "sarif-multitool-linux", "Sarif.Multitool")
ALLOWED = {"SARIF2005"}


def install() -> str:
    """The validator's program; empty if it cannot be had, and then it was said why."""
    if os.path.exists(BINARY):
        return BINARY
    npm = shutil.which("npm")
    if npm is None:
        print("SARIF was not validated: npm is not installed")
        return ""
    os.makedirs(TOOL, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "@microsoft/sarif-multitool"]
    done = subprocess.run(command, cwd=TOOL, capture_output=True, text=True, check=False)
    if done.returncode or not os.path.exists(BINARY):
        reason = (done.stderr.strip().splitlines() or ["there is no program for this system in it"])[-1]
        print(f"SARIF was not validated: @microsoft/sarif-multitool could not be installed: {reason}")
        return ""
    os.chmod(BINARY, 0o755)
    return BINARY


def write_log(tree: str, path: str) -> int:
    """Check a tree; how many results its log has."""
    words = [sys.executable, "-I", "-m", "foretold", "check", tree, "--no-home", "--include-fixtures"]
    subprocess.run([*words, "--format", "sarif", "--output", path], check=False)
    with open(path, encoding="utf-8") as file:
        return len(json.load(file)["runs"][0]["results"])


def validate(binary: str, path: str) -> tuple[set[str], str]:
    """The rules that a log breaks, as errors or warnings, and what the tool printed."""
    report = f"{path}.report"
    words = [binary, "validate", path, "--rule-kind", "Sarif;Ghas", "--output", report, "--log", "ForceOverwrite"]
    env = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    with open(report, encoding="utf-8-sig") as file:
        results = json.load(file)["runs"][0].get("results", [])
    broken = {each["ruleId"] for each in results if each.get("level", "warning") in ("error", "warning")}
    return broken, done.stdout + done.stderr


def make_odd_tree(folder: str) -> None:
    """Names that have to be encoded, a link, a file without text, a text that is not ASCII."""
    for name, text in {
        "CLAUDE.md": "See @docs/missing.md\n<!-- foretold: ignore import-missing -->\nText.\n",
        "docs/a b%c#/CLAUDE.md": "Büro: see @docs/ä.md, now\n",
        "ümlaut/AGENTS.md": "",
        ".claude/rules/x.md": "---\nglobs: '*.ts'\n---\nRule.\n",
    }.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def damage(path: str) -> str:
    """A copy of a log without what GitHub needs."""
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    del log["runs"][0]["results"][0]["locations"]
    log["runs"][0]["results"][-1]["ruleIndex"] = 999
    with open(f"{path}.damaged.sarif", "w", encoding="utf-8") as file:
        json.dump(log, file)
    return f"{path}.damaged.sarif"


def main() -> int:
    binary = install()
    if not binary:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, "odd")
        make_odd_tree(odd)
        sample = os.path.join(folder, "sample")
        shutil.copytree(os.path.join(ROOT, "sample", "repo"), sample)  # our own settings leave the sample out
        trees = {"sample": sample, "odd names": odd}
        wrong = 0
        for name, tree in trees.items():
            path = os.path.join(folder, f"{name.replace(' ', '-')}.sarif")
            results = write_log(tree, path)
            broken, printed = validate(binary, path)
            is_right = results > 2 and broken <= ALLOWED
            print(f"{name}: {results} results, {'valid' if is_right else f'NOT VALID: {sorted(broken)}'}")
            wrong += not is_right
            if not is_right:
                print(printed)
        damaged, _ = validate(binary, damage(path))
        if damaged <= ALLOWED:
            print("a damaged log was taken for a valid one: the validator proves nothing")
            wrong += 1
        else:
            print(f"a damaged log is refused: {', '.join(sorted(damaged - ALLOWED))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
