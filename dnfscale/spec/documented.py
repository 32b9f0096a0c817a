"""The documented block: every key of a job's spec with its default and one line of help, as TOML
that can be read.
"""

from __future__ import annotations

from dnfscale.spec.checks import OneOf
from dnfscale.spec.cluster import cluster_blocks
from dnfscale.spec.job import competitor_blocks, job_keys
from dnfscale.spec.keys import Key
from dnfscale.spec.learn import DEFAULT_PROFILE, PROFILES
from dnfscale.spec.registry import CLUSTERS, COMPETITORS
from dnfscale.spec.toml import write_value

_COLUMN = 32
"""Where comments begin, unless a value is longer."""


def documented_block() -> str:
    """Return the block: keys that have no fixed default are commented out, with an example."""
    tables: dict[str, list[Key]] = {}
    for known in job_keys().values():
        tables.setdefault(known.table, []).append(known)
    notes = _notes()
    lines: list[str] = []
    for table, keys in tables.items():
        if table:
            lines += ["", _beside(f"[{table}]", notes.get(table, ""))]
        lines += map(line_of, keys)
    return "\n".join(lines) + "\n"


def line_of(known: Key) -> str:
    """Return the line of a key: what holds where nobody writes it or, commented out, an example."""
    shown = known.example if known.is_optional else known.usual(DEFAULT_PROFILE)
    written = f"{known.name} = {write_value(shown)}"
    is_commented = known.is_optional and known.path not in _ALWAYS
    others = [
        f'"{profile}": {write_value(known.usual(profile))}'
        for profile in PROFILES
        if known.usual(profile) != known.usual(DEFAULT_PROFILE)
    ]
    comment = "; ".join([_help(known), *others])
    return _beside(f"# {written}" if is_commented else written, comment)


_ALWAYS = ("schema_version", "name", "data.path", "data.target", "data.positive")
"""Keys that are shown with an example and not commented out: a spec without them is hardly one."""


def _help(known: Key) -> str:
    if not known.help and isinstance(known.check, OneOf):
        return ", ".join(f'"{choice}"' for choice in known.check.choices)
    return known.help if isinstance(known.help, str) else known.help()


def _beside(text: str, comment: str) -> str:
    return f"{text:<{_COLUMN - 1}} # {comment}" if comment else text


def _notes() -> dict[str, str]:
    """Return what is said beside the heads of tables."""
    notes = {
        "data.storage": 'for URLs, see "Object storage"',
        "output.storage": "if it differs from that of the data",
        "distill": 'for kind = "distill"',
    }
    for name, (_, table) in competitor_blocks().items():
        extra = COMPETITORS[name].extra
        needs = f"; needs dnfscale[{extra}]" if extra else ""
        notes[table] = f"{COMPETITORS[name].title}: runs if its table is there{needs}"
    for name, (_, table) in cluster_blocks().items():
        if table != "cluster":
            notes[table] = CLUSTERS[name].title
    return notes
