"""The result.json of a suite, schema dnfscale.suite/1."""

from __future__ import annotations

import json

import msgspec
from msgspec import field

from dnfscale.errors import DataError
from dnfscale.results.record import Record, checked, null
from dnfscale.results.result import Environment, Timing

SUITE_SCHEMA = "dnfscale.suite/1"


class SuiteJob(Record, frozen=True, kw_only=True):
    """A job of a suite, and how it ended."""

    name: str
    dataset: str | None = field(default_factory=null)
    profile: str | None = field(default_factory=null)
    seed: int | None = field(default_factory=null)
    status: str
    """done, incomplete or failed; an incomplete one has a result, but lacks some folds."""
    error: str | None = field(default_factory=null)
    folder: str | None = field(default_factory=null)
    """Where its files are, in the folder of the suite."""


class Suite(Record, frozen=True, kw_only=True):
    """How the jobs of a suite ended."""

    schema: str = field(default_factory=lambda: SUITE_SCHEMA)
    name: str
    jobs: tuple[SuiteJob, ...]
    timing: Timing = field(default_factory=Timing)
    environment: Environment = field(default_factory=Environment)


def suite_text(suite: Suite) -> str:
    """Return the text of a suite's result.json."""
    record = msgspec.to_builtins(suite)
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_suite(record: object) -> Suite:
    """Read the result of a suite that is parsed already."""
    if not is_suite(record):
        raise DataError(f"expected the result.json of a suite, schema {SUITE_SCHEMA}")
    return checked(record, Suite, "the result of a suite")


def is_suite(record: object) -> bool:
    """Return whether parsed JSON claims to be the result of a suite."""
    return isinstance(record, dict) and record.get("schema") == SUITE_SCHEMA
