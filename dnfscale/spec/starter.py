"""The text of a starter spec: every choice written out, with what somebody found in the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dnfscale.spec.documented import line_of
from dnfscale.spec.job import job_keys
from dnfscale.spec.learn import learn_keys
from dnfscale.spec.storage import DEFAULT_ACCESS, Access
from dnfscale.spec.toml import write_toml

_PROFILE = "best"
_SHOWN = {
    "booleanize": ("cuts", "intervals", "at", "parts"),
    "select": ("max_ell",),
    "formula": ("freedom",),
}
"""The choices of the method that a first spec shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found in the data, and what it is called."""

    name: str
    path: str
    target: str
    labels: Sequence[Any]
    """Those that were seen, in order."""
    drop: Sequence[str]
    """Columns that cannot be learned from."""
    boolean: Sequence[str]
    """Columns in which two values were seen."""
    found: str
    """The size of the table, in words."""
    access: Access = DEFAULT_ACCESS


def starter_text(facts: Facts) -> str:
    """Return a spec for the data."""
    head = {
        "schema_version": 1,
        "name": facts.name,
        "kind": "study",
        "seed": 0,
        "profile": _PROFILE,
    }
    return "\n".join([write_toml(head), *_data(facts), *_storage(facts.access), "", *_choices()])


def _data(facts: Facts) -> list[str]:
    seen = (
        f"labels seen are {', '.join(map(repr, facts.labels))}"
        if facts.labels
        else "no label was seen"
    )
    told = {
        "path": facts.path,
        "target": facts.target,
        "positive": list(facts.labels[-1:]) or None,
        "drop": list(facts.drop),
    }
    return [
        "[data]",
        write_toml(told).rstrip(),
        f"# positive: {seen}",
        "# drop: identifiers, and what would not be known when the formula is used",
        "# categorical: codes that are numbers but not amounts; strings are categorical anyway",
        "categorical = []",
        (
            "# boolean: columns of two values that are neither true/false nor strings; the "
            "larger value is true"
        ),
        write_toml({"boolean": list(facts.boolean)}).rstrip(),
        f'missing = "drop"                # or "error", "indicator"; {facts.found}',
    ]


def _storage(access: Access) -> list[str]:
    given = {
        "endpoint": access.endpoint,
        "region": access.region,
        "anonymous": access.anonymous or None,
    }
    text = write_toml(given).rstrip()
    return ["", "[data.storage]", text] if text else []


def _choices() -> list[str]:
    """Return the method's choices, commented out where the profile makes them, and where the job
    runs.
    """
    lines = [f'# profile: "{_PROFILE}" is recommended and sets what is commented out here']
    for table, names in _SHOWN.items():
        lines.append(f"[{table}]")
        for name in names:
            known = learn_keys()[name]
            if _PROFILE in known.profiles:
                known = replace(known, default=None, example=known.profiles[_PROFILE])
            lines.append(line_of(known))
        lines.append("")
    cluster: Mapping[str, Any] = {"kind": "local", "workers": 2, "memory_limit": "2GiB"}
    lines += [
        "[cluster]",
        *(line_of(replace(job_keys()[f"cluster.{n}"], default=v)) for n, v in cluster.items()),
    ]
    lines += ["", "[output]", line_of(job_keys()["output.dir"]), ""]
    return lines
