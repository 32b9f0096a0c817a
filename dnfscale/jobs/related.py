"""Related tables of a job, or of a model: the main table is joined with them before it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dnfscale.core.concepts import Concept
from dnfscale.core.model import Model
from dnfscale.data.source import Source
from dnfscale.datasets.convert import Conversion
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.api import Progress
from dnfscale.engine.launch import cores, launch
from dnfscale.errors import DataError, DnfscaleError
from dnfscale.jobs import endings
from dnfscale.learn.phases import PlannedPhase
from dnfscale.relations.tables import (
    Asked,
    JoinedTable,
    Side,
    foreseen,
    is_joined,
    join_tables,
    relation_between,
)
from dnfscale.spec.cluster import AUTO, ClusterSpec
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.storage import Access

_MANY_ROWS = 5_000_000
"""So many related rows are worth the start of workers."""


def joined_source(
    main: Source, spec: JobSpec, conversion: Conversion, *, repeats: bool | None = None
) -> JoinedTable:
    """Return the main table of a spec with the concepts of its related tables; on the spec's
    workers, where they are of this machine, or many rows are worth some.
    """
    sides = sides_of(main, spec, conversion)
    rows = sum(side.source.n_rows for side in sides)
    if conversion.launch is None and _worth_workers(spec.cluster, rows):
        local = replace(spec.cluster, kind="local", workers=_workers(spec.cluster))
        conversion = replace(conversion, launch=lambda: launch(local, _stopping))
    return join_tables(main, sides, _asked(spec, repeats), conversion)


def foreseen_source(
    main: Source, spec: JobSpec, conversion: Conversion
) -> tuple[Source, tuple[PlannedPhase, ...]]:
    """Return the joined table of a spec, and how it will be made: as far as is known, unless it is
    there already.
    """
    sides, asked = sides_of(main, spec, conversion), _asked(spec, None)
    if is_joined(main, sides, asked, conversion):
        return join_tables(main, sides, asked, conversion).source, ()
    return foreseen(main, sides, asked)


def _asked(spec: JobSpec, repeats: bool | None) -> Asked:
    stays_together = spec.data.key == spec.learn.group
    return Asked(
        most=spec.relations.max_concepts,
        keep_missing=spec.learn.missing == "indicator",
        repeats=stays_together if repeats is None else repeats,
    )


def _worth_workers(cluster: ClusterSpec, rows: int) -> bool:
    return cluster.kind == "local" or (cluster.kind == AUTO and rows >= _MANY_ROWS and cores() > 1)


def _workers(cluster: ClusterSpec) -> int:
    return cluster.workers if cluster.kind == "local" else max(2, cores())


def _stopping(progress: Progress) -> None:
    """Stop after a signal."""
    del progress
    endings.check()


def sides_of(main: Source, spec: JobSpec, conversion: Conversion) -> tuple[Side, ...]:
    """Open the related tables of a spec, and check that they belong to the main one."""
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
    return tuple(sides)


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


def concepts_of(models: Sequence[Model]) -> tuple[Concept, ...]:
    """Return the concepts that models ask for, each once."""
    columns = (attribute.column for model in models for attribute in model.tau.attributes)
    return tuple(dict.fromkeys(column for column in columns if isinstance(column, Concept)))


def opened_sides(
    concepts: Sequence[Concept],
    main: Source,
    places: Mapping[str, str],
    access: Access,
    conversion: Conversion,
) -> tuple[Side, ...]:
    """Open the related tables of some concepts, and check that they belong to the main one as those
    learned from did.
    """
    sides = []
    for known in dict.fromkeys(concept.relation for concept in concepts):
        place = places[known.table]
        source = replace(open_dataset(place, access, replace(conversion, version=None)), path=place)
        has_id = known.id is not None and known.id in source.types
        relation = relation_between(
            main,
            source,
            table=known.table,
            key=known.key,
            main_key=known.main_key,
            time=known.time,
            as_of=known.as_of,
            row_id=known.id if has_id else None,
        )
        if relation.zoned != known.zoned:
            with_zone = "with" if known.zoned else "without"
            raise DataError(
                f"{place}: expected {known.time!r} {with_zone} a time zone as in the data that the "
                "model was learned from; convert it"
            )
        sides.append(Side(relation, source))
    return tuple(sides)


def with_concepts(
    main: Source, sides: Sequence[Side], concepts: Sequence[Concept], conversion: Conversion
) -> Source:
    """Return the main table with the concepts that models ask for."""
    names = {concept.name for concept in concepts}
    kept = {name: kind for name, kind in main.types.items() if name not in names}
    found = join_tables(
        replace(main, types=kept), sides, Asked(given=tuple(concepts), repeats=True), conversion
    )
    return found.source
