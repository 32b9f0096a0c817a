"""Which related rows a concept means for one main row, for explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dnfscale.core.arrays import Ints
from dnfscale.core.concepts import Concept
from dnfscale.data.source import Source
from dnfscale.relations.figures import Cells, rows_meant
from dnfscale.relations.join import (
    Piece,
    RelatedFiles,
    dealt,
    moments,
    needed_texts,
    seen_block,
    ticks_of,
)
from dnfscale.relations.look import flags, plain
from dnfscale.relations.tables import Side, time_unit

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class MeantRows:
    """The related rows that a concept means for a main row."""

    concept: Concept
    n: int
    named_by: str
    """The column that names them, or `row` for their numbers in the table."""
    names: tuple[str | int, ...]
    """Of the first of them."""


def related_rows(
    concepts: Sequence[Concept], source: Source, sides: Sequence[Side], number: int
) -> list[MeantRows]:
    """Return the related rows of each concept for a row of the joined table; a row without a value
    that a figure needs is not meant.
    """
    found: list[MeantRows] = []
    for side in sides:
        own = [concept for concept in concepts if concept.relation.table == side.relation.table]
        unit = time_unit(source, sides)
        relation = side.relation
        wanted = [relation.main_key, *([] if relation.as_of is None else [relation.as_of])]
        row = _row(source, wanted, number)
        key = plain(row.column(relation.main_key))
        moment = None if relation.as_of is None else moments(row.column(relation.as_of), unit)
        found += _meant(own, side, key, moment, unit)
    return found


def _row(source: Source, columns: Sequence[str], number: int) -> Any:
    """Return one row of a table as a batch."""
    for partition in source.partitions:
        if number >= partition.n_rows:
            number -= partition.n_rows
            continue
        for batch in Piece(0, (partition,)).batches(columns):
            if number < batch.num_rows:
                return batch.slice(number, 1)
            number -= batch.num_rows
    raise IndexError(number)


def _meant(
    concepts: Sequence[Concept], side: Side, key: Any, moment: Any, unit: str
) -> list[MeantRows]:
    relation, path = side.relation, side.source.path
    texts = needed_texts(concepts, side.source.types)
    files = RelatedFiles(relation, 1, texts, (), tuple(concepts))
    columns = [relation.key, relation.time, relation.id, *(column for column, _ in texts)]
    read = list(dict.fromkeys(column for column in columns if column is not None))
    counts = [0] * len(concepts)
    names: list[list[Any]] = [[] for _ in concepts]
    first = 0
    for batch in Piece(0, side.source.partitions).batches(read):
        alike = pc.equal(plain(batch.column(relation.key)), key[0]).fill_null(False)
        places = np.flatnonzero(flags(alike))
        rows = batch.take(pa.array(places))
        named = (first + places).tolist()
        if relation.id is not None:
            named = plain(rows.column(relation.id)).to_pylist()
        table = dealt(rows, relation, texts, unit=unit, path=path)
        every = np.arange(len(places))
        block = seen_block(table, every, every, _repeated(moment, every), files, ticks_of(unit))
        for number, concept in enumerate(concepts):
            mask = block.meant(*rows_meant(concept))
            held = block.main if mask is None else block.main[mask]
            counts[number] += len(held)
            names[number] += [named[place] for place in held.tolist()][:_SHOWN]
        first += batch.num_rows
    by = "row" if relation.id is None else relation.id
    return [
        MeantRows(concept, counts[number], by, tuple(names[number][:_SHOWN]))
        for number, concept in enumerate(concepts)
    ]


def _repeated(moment: Any, every: Ints) -> Cells | None:
    """Return the moment of one main row for each of its related ones."""
    if moment is None:
        return None
    known = moment.null_count == 0
    value = moment[0].as_py() if known else 0
    return Cells(np.full(len(every), value), None if known else np.zeros(len(every), np.bool_))
