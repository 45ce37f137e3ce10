"""The benchmark of the search for secrets: leaks and false alarms of the labelled set, and throughput.

python bench/credentials.py            leaks and false alarms per path, for the fitted and the held-out part; throughput

Throughput is a ratio: the time of a search in 1 MB, in times of `str.lower` of the same text.
"""

from __future__ import annotations

import os
import runpy
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 0.02
SIZE = 1 << 20
TEXTS = {
    "AKIA": "AKIA",
    "a=": "a=",
    "password": "password ",
    "sentences": "The quick brown fox, and so on. ",
    "lines": "\n",
    "runs": "aGVsbG8gd29ybGQhISEhIQ== ",
    "psk": "psk=",
    "keys": '["0x' + "9f3a" * 16 + '"], ',
    "URLs": "https://a:b",
    "commands": "echo aGVsbG86d29ybGQx | base64 -d\n",
}


def main() -> int:
    from foretold.secrets.forms import credentials_in
    from foretold.secrets.masking import mask_credentials
    from foretold.secrets.redactor import Redactor

    rows = runpy.run_path(os.path.join(ROOT, "tests/secrets/labelled.py"))
    paths = {
        "export": lambda text: Redactor().text(text),
        "hook": lambda text: mask_credentials(text)[0],
        "guard": lambda text: "" if credentials_in(text) else text,
    }
    is_good = True
    for part, held_out in (("fitted", False), ("held out", True)):
        secrets = [row for row in rows["SECRETS"] if row.held_out == held_out]
        others = [row for row in rows["LOOKALIKES"] if row.held_out == held_out]
        for name, hide in paths.items():
            leaks = sum(row.leaks(hide(row.text)) for row in secrets) / len(secrets)
            alarms = sum(hide(row.text) != row.text for row in others) / len(others)
            is_good = is_good and leaks <= MOST and alarms <= MOST
            print(
                f"{part:9} {name:7} {len(secrets)} secrets, {leaks:.1%} leak; {len(others)} others, {alarms:.1%} alarm"
            )
    for name, piece in TEXTS.items():
        text = piece * (SIZE // len(piece))
        print(f"{name:10} {_seconds(credentials_in, text) / _seconds(str.lower, text):,.0f} times str.lower")
    return 0 if is_good else 1


def _seconds(search: object, text: str) -> float:
    """The fastest of three, in CPU time."""
    found = []
    for _ in range(3):
        begun = time.process_time()
        search(text)  # type: ignore[operator]
        found.append(time.process_time() - begun)
    return max(min(found), 1e-6)


if __name__ == "__main__":
    sys.exit(main())
