"""Related tables of a job: the main table is joined with them before anything is learned."""

from __future__ import annotations

from dataclasses import replace

from dnfscale.data.source import Source
from dnfscale.datasets.convert import Conversion
from dnfscale.datasets.named import open_dataset
from dnfscale.errors import DnfscaleError
from dnfscale.relations.tables import Asked, JoinedTable, Side, join_tables, relation_between
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec


def joined_source(
    main: Source, spec: JobSpec, conversion: Conversion, *, repeats: bool | None = None
) -> JoinedTable:
    """Return the main table of a spec with the concepts of its related tables."""
    key = spec.data.key
    assert key is not None, "the spec is checked"
    sides = []
    for table in spec.related:
        # A version is that of the main table.
        asked = replace(conversion, version=None)
        try:
            source = replace(open_dataset(table.path, spec.data_access, asked), path=table.path)
        except DnfscaleError as error:
            raise type(error)(error.message, "data.related") from error
        relation = relation_between(
            main,
            source,
            table=table.name,
            key=table.key,
            main_key=key,
            time=table.time,
            as_of=spec.data.as_of,
            row_id=table.id,
        )
        sides.append(Side(relation, source, table.windows, table.drop))
    stays_together = key == spec.learn.group
    asked_for = Asked(
        most=spec.relations.max_concepts,
        keep_missing=spec.learn.missing == "indicator",
        repeats=stays_together if repeats is None else repeats,
    )
    return join_tables(main, sides, asked_for, conversion)


def fact_lines(found: JoinedTable) -> list[str]:
    """Say what became of the rows of all tables."""
    facts = found.facts
    lines = []
    for table in facts.tables:
        lines.append(
            f"{table.table}: {table.rows:,} rows, of which {table.strays:,} have no main row; "
            f"{table.without:,} of {facts.rows:,} main rows have none"
        )
    if facts.repeated:
        lines.append(f"{facts.repeated:,} main rows have the key of an earlier one")
    if facts.left_out:
        lines.append(f"{facts.left_out:,} more concepts are left out by relations.max_concepts")
    return lines


def without_keys(to_learn: LearnSpec, spec: JobSpec) -> LearnSpec:
    """Return what to learn without the columns that relate tables as attributes."""
    columns = [name for name in (spec.data.key, spec.data.as_of) if name is not None]
    dealt = to_learn.dealt_by.values()
    drop = tuple(name for name in columns if name not in (*to_learn.drop, *dealt))
    return replace(to_learn, drop=(*to_learn.drop, *drop))
