"""The kinds of input, and one input of each: made from a seed and a number, checked in a folder of
its own.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz import lakes, models, related, results, specs, tables, texts, verbs
from tests.fuzz.verdict import TIME_LIMIT_S, FuzzError, limited

Files = dict[str, bytes]


@dataclass(frozen=True)
class Kind:
    """How input of a kind is made and checked."""

    make: Callable[[Random], Files]
    check: Callable[[Files, Path], None]


KINDS = {
    "spec": Kind(specs.make, specs.check),
    "model": Kind(models.make, models.check),
    "result": Kind(results.make, results.check),
    "table": Kind(tables.make, tables.check),
    "text": Kind(texts.make, texts.check),
    "lake": Kind(lakes.make, lakes.check),
    "related": Kind(related.make, related.check),
    "verb": Kind(verbs.make, verbs.check),
}
SHARES = {
    "spec": 30,
    "model": 30,
    "result": 2,
    "table": 6,
    "text": 20,
    "lake": 4,
    "related": 4,
    "verb": 4,
}
"""Of a hundred inputs."""


def files_of(kind: str, seed: int, number: int) -> Files:
    """Make an input; the same seed and number give the same one."""
    return KINDS[kind].make(Random(f"{seed} {kind} {number}"))


def check_files(kind: str, files: Files, folder: Path, time_limit_s: float = TIME_LIMIT_S) -> None:
    """Check an input within its time."""
    with limited(time_limit_s):
        try:
            KINDS[kind].check(files, folder)
        except FuzzError:
            raise
        except Exception as error:
            raise FuzzError(traceback.format_exc()[-3000:]) from error
