"""Documents that `--json` prints, checked by the schemas that users get."""

import json
import os

import fastjsonschema

SCHEMAS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "schemas")


def read_document(text):
    """The document in a text, valid by its schema."""
    document = json.loads(text)
    kind, _, version = document["schema"].removeprefix("foretold.").partition("/")
    with open(os.path.join(SCHEMAS, f"{kind}.{version}.json"), encoding="utf-8") as file:
        fastjsonschema.validate(json.load(file), document)
    return document
