"""The labelled set: texts with secrets in them, and texts that only look so.

1. `secrets.jsonl` has a text per line, its kind, its context, and the spans that are secret. `lookalikes.jsonl` has
   texts without secrets. All values are invented or generated; none was ever valid.
2. A text is a list of pieces, cut inside every secret, so that no scanner takes the file itself for a leak.
3. A third of both files, chosen by the digest of the text, is held out: rules are fitted on the rest.
4. AWS's documented secret (`…EXAMPLEKEY`) is a look-alike: it is in every manual, and opens nothing. The documented id
   (`AKIA…EXAMPLE`) is in neither file: it has the form of an id, and the guard refuses it.
5. A secret leaked if its text is still there; of sixteen characters and more, if half of it is; of several lines, if a
   line is.
"""

import hashlib
import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Row:
    """A text of the set."""

    def __init__(self, line):
        given = json.loads(line)
        self.kind, self.context = given["kind"], given["context"]
        self.text = "".join(given["text"])
        self.secrets = [self.text[start:end] for start, end in given["spans"]]
        self.held_out = int(hashlib.sha256(self.text.encode()).hexdigest(), 16) % 3 == 0

    def leaks(self, out):
        """Whether a secret of this text is in an output."""
        return any(part in out for secret in self.secrets for part in parts_of(secret))


def parts_of(secret):
    """What must not be seen of a secret."""
    for line in secret.replace("\\n", "\n").split("\n"):
        if len(line) >= 16:
            yield from (line[: len(line) // 2], line[len(line) // 2 :])
        elif line:
            yield line


def read_rows(name):
    """The rows of a file of the set."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return [Row(line) for line in file]


SECRETS, LOOKALIKES = read_rows("secrets.jsonl"), read_rows("lookalikes.jsonl")
