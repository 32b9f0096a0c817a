"""The text of a starter spec: every choice written out, with what somebody found in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dnfscale.errors import visible
from dnfscale.spec.csv import AS_RECOGNIZED, CsvOptions
from dnfscale.spec.documented import line_of
from dnfscale.spec.job import job_keys
from dnfscale.spec.keys import keys_of
from dnfscale.spec.learn import DEFAULT_PROFILE, learn_keys
from dnfscale.spec.storage import DEFAULT_ACCESS, Access
from dnfscale.spec.toml import write_toml, write_value

_SHOWN = {
    "booleanize": ("cuts", "intervals", "at", "parts"),
    "select": ("max_ell",),
    "formula": ("freedom",),
}
"""The choices of the method that a first spec shows."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen for a column, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found in the data, and what follows from it."""

    name: str
    path: str
    target: str
    labels: str
    """The labels with their rows, in words."""
    positive: Sequence[Any] | None
    """The labels to tell from the others; None if each gets a formula, or there are none."""
    classes: str | None
    drop: Sequence[Choice]
    """Columns that are not to be learned from."""
    group: Choice | None
    """A column whose rows of equal value belong together."""
    categorical: Sequence[Choice]
    boolean: Sequence[Choice]
    objective: Choice | None
    """What formulas are learned for, if not for accuracy."""
    missing: str
    """Where values are missing, in words."""
    others: Sequence[str]
    """What else there is to look at."""
    found: str
    """The size of the table, in words."""
    access: Access = DEFAULT_ACCESS
    csv: CsvOptions = AS_RECOGNIZED
    """What was said of a CSV."""
    version: int | None = None
    """Of a table of a lake, if one was asked for."""


def starter_text(facts: Facts) -> str:
    """Return a spec for the data."""
    head = {
        "schema_version": 1,
        "name": facts.name,
        "kind": "study",
        "seed": 0,
        "profile": DEFAULT_PROFILE,
    }
    tables = [*_storage(facts.access), *_csv(facts.csv)]
    parts = [*_data(facts), *tables, "", *_folds(facts.group), *_choices(facts.objective)]
    return "\n".join([write_toml(head), *parts])


def _data(facts: Facts) -> list[str]:
    told = {
        "path": facts.path,
        "version": facts.version,
        "target": facts.target,
        "positive": facts.positive,
        "classes": facts.classes,
    }
    return [
        *(f"# look at: {visible(other)}" for other in facts.others),
        "[data]",
        f"# {facts.found}",
        write_toml(told).rstrip(),
        f"# labels: {facts.labels}",
        *(
            ["# a formula for each label; positive = [...] tells some from the others instead"]
            if facts.classes
            else []
        ),
        "# drop: what tells nothing of new rows, or would not be known when the formula is used",
        *_listed("drop", facts.drop),
        "# categorical: codes that are numbers but not amounts; strings are categorical anyway",
        *_listed("categorical", facts.categorical),
        "# boolean: columns of two values that are neither true/false nor strings; the larger is "
        "true",
        *_listed("boolean", facts.boolean),
        f"# missing: {facts.missing}",
        'missing = "indicator"           # or "drop" the row, "error"',
    ]


def _listed(key: str, choices: Sequence[Choice]) -> list[str]:
    """Return a list of columns, each with its reason beside it."""
    if not choices:
        return [f"{key} = []"]
    entries = (f"    {write_value(own.name)},  # {visible(own.reason)}" for own in choices)
    return [f"{key} = [", *entries, "]"]


def _folds(group: Choice | None) -> list[str]:
    if group is None:
        return []
    said = visible(group.reason)
    return ["[folds]", f"# group: {said}", write_toml({"group": group.name}).rstrip(), ""]


def _storage(access: Access) -> list[str]:
    given = {
        "endpoint": access.endpoint,
        "region": access.region,
        "anonymous": access.anonymous or None,
    }
    text = write_toml(given).rstrip()
    return ["", "[data.storage]", text] if text else []


def _csv(options: CsvOptions) -> list[str]:
    said = {name: getattr(options, name) for name in keys_of(CsvOptions)}
    text = write_toml(said).rstrip()
    return ["", "[data.csv]", text] if text else []


def _choices(objective: Choice | None) -> list[str]:
    """Return the method's choices, commented out where the profile makes them, and where the job
    runs.
    """
    lines = [f'# profile: "{DEFAULT_PROFILE}" is recommended and sets what is commented out here']
    for table, names in _SHOWN.items():
        lines.append(f"[{table}]")
        if table == "formula" and objective is not None:
            lines.append(f"# objective: {visible(objective.reason)}")
            lines.append(write_toml({"objective": objective.name}).rstrip())
        for name in names:
            known = learn_keys()[name]
            if DEFAULT_PROFILE in known.profiles:
                known = replace(
                    known, default=None, example=known.usual(DEFAULT_PROFILE), profiles={}
                )
            lines.append(line_of(known))
        lines.append("")
    lines += ["[report]", line_of(replace(learn_keys()["check"], default=True)), ""]
    lines += ["# [cluster]: where it runs; without it, the size of the job chooses", ""]
    lines += ["[output]", line_of(job_keys()["output.dir"]), ""]
    return lines
