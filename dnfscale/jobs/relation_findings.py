"""What a person should know of related tables before learning from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.core.columns import unused_name
from dnfscale.core.concepts import Concept, Figure
from dnfscale.data.source import Source
from dnfscale.datasets.convert import Conversion
from dnfscale.jobs.related import sides_of
from dnfscale.method.telling import concordance
from dnfscale.relations.join import Piece
from dnfscale.relations.tables import Asked, JoinFacts, Side, join_tables
from dnfscale.results.check import Finding
from dnfscale.spec.job import JobSpec

_TELLS = 0.75
"""The share of pairs of rows that later rows order right, from which on they are told."""
_MOST_LATER = 50
_FEW = 10


def relation_findings(main: Source, spec: JobSpec, conversion: Conversion) -> tuple[Finding, ...]:
    """Return what is found of the keys and times of a job's related tables."""
    sides = sides_of(main, spec, conversion)
    names = list(main.types)
    concepts: list[Concept] = []
    later: dict[str, tuple[str, str]] = {}
    beside: list[Side] = []
    for side in sides:
        relation = side.relation
        seen = Concept(unused_name(f"seen_{relation.table}", names), relation, Figure.COUNT)
        concepts.append(seen)
        if relation.as_of is None:
            continue
        every = replace(relation, table=f"{relation.table} of any time", as_of=None)
        in_all = Concept(unused_name(f"all_{relation.table}", names), every, Figure.COUNT)
        concepts.append(in_all)
        beside.append(replace(side, relation=every))
        later[relation.table] = (seen.name, in_all.name)
    first = sides[0].relation
    kept = [first.main_key, spec.learn.target]
    kept += [side.relation.as_of for side in sides if side.relation.as_of is not None]
    narrow = replace(main, types={n: k for n, k in main.types.items() if n in kept})
    asked = Asked(given=tuple(concepts), repeats=True)
    joined = join_tables(narrow, [*sides, *beside], asked, conversion)
    findings = list(_of_keys(joined.facts, {side.relation.table for side in sides}, spec))
    for table, columns in later.items():
        findings += _of_later_rows(joined.source, table, columns, spec.learn.target)
    return tuple(findings)


def _of_keys(facts: JoinFacts, tables: set[str], spec: JobSpec) -> Iterator[Finding]:
    key = spec.data.key
    if facts.repeated:
        together = spec.learn.group == key
        yield Finding(
            kind="repeated_keys",
            severity="note" if together else "error",
            evidence=(
                f"{facts.repeated:,} of {facts.rows:,} rows have a {key} that an earlier one has"
            ),
            advice=(
                "nothing to do: folds.group keeps them together"
                if together
                else f'write one row for each key, or set folds.group = "{key}"'
            ),
        )
    for table in facts.tables:
        if table.table not in tables:
            continue
        if table.without:
            most = table.without > facts.rows / 2
            yield Finding(
                kind="keys_without_rows",
                severity="warning" if most else "note",
                evidence=f"{table.without:,} of {facts.rows:,} rows have none in {table.table}",
                advice=(
                    "see that keys are spelled alike in both tables"
                    if most
                    else "nothing to do: they count 0, and have no mean or latest value"
                ),
            )
        if table.strays:
            most = table.strays > table.rows / 2
            yield Finding(
                kind="rows_without_main",
                severity="warning" if most else "note",
                evidence=(
                    f"{table.strays:,} of {table.rows:,} rows of {table.table} have no main row"
                ),
                advice=(
                    "see that keys are spelled alike in both tables"
                    if most
                    else "nothing to do: they are not seen"
                ),
            )


def _of_later_rows(
    source: Source, table: str, columns: tuple[str, str], target: str
) -> Iterator[Finding]:
    """Tell of rows that are hidden and would tell the target by their number alone."""
    counts = _later_counts(source, columns, target)
    labels = sorted({label for label, _ in counts}, key=str)
    rows = Counter[object]()
    for (label, _), n in counts.items():
        rows[label] += n
    if len(labels) < 2 or min(rows.values()) < _FEW:
        return
    best = max(concordance(_by_class(counts, label), ordered=True) for label in labels)
    if best < _TELLS:
        return
    yield Finding(
        kind="later_rows",
        severity="warning",
        evidence=(
            f"how many rows of {table} are not before data.as_of alone orders "
            f"{100 * best:.1f} % of the pairs of rows right (AUC)"
        ),
        advice=(
            "keep data.as_of, which hides them; see that no other column of the tables is written "
            "later either"
        ),
    )


def _later_counts(
    source: Source, columns: tuple[str, str], target: str
) -> Counter[tuple[object, int]]:
    counts: Counter[tuple[object, int]] = Counter()
    for batch in Piece(0, source.partitions).batches([target, *columns]):
        seen, every = (np.asarray(batch.column(name), dtype=np.int64) for name in columns)
        later = np.minimum(every - seen, _MOST_LATER).tolist()
        labels = batch.column(target).to_pylist()
        counts.update(
            (label, n) for label, n in zip(labels, later, strict=True) if label is not None
        )
    return counts


def _by_class(counts: Counter[tuple[object, int]], label: object) -> Ints:
    found = np.zeros((_MOST_LATER + 1, 2), dtype=np.int64)
    for (own, later), n in counts.items():
        found[later, int(own == label)] += n
    return found
