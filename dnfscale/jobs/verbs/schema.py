"""The verb `dnfscale schema`: the JSON Schema of a kind of file."""

from __future__ import annotations

import argparse
from typing import Any

from dnfscale.results.schemas import FILES, schema_text


def add_schema_verb(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser("schema", help="print the JSON Schema of a kind of file")
    verb.add_argument("kind", metavar="KIND", choices=list(FILES), help=", ".join(FILES))
    verb.set_defaults(verb=_schema)


def _schema(options: argparse.Namespace) -> None:
    print(schema_text(options.kind))
