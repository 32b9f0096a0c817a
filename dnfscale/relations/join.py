"""Brings related rows together with main rows, in tasks that each write a file whole.

Rows of both tables are dealt into buckets by a hash of their key: a file of each piece of a table
has a part for every bucket. A bucket's main rows are few enough for a worker; its related rows are
read in blocks and added up, so that it does not matter how many of them have the same key. What a
bucket found is written by piece of the main table, whose rows are then written in their own order
with the new columns. A task whose file is there is not done again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dnfscale.core.arrays import Ints
from dnfscale.core.concepts import Concept, Relation
from dnfscale.core.hashes import Hashes, scramble
from dnfscale.data.source import Source
from dnfscale.datasets.convert import GROUP_ROWS, Store, as_parquet
from dnfscale.errors import DataError
from dnfscale.relations.figures import Cells, Figures, RelatedBlock
from dnfscale.relations.look import ColumnLook, flags, kind_of, look_at, merge, numbers, plain

BUCKET_ROWS = 1 << 14
"""A bucket has at most about so many main rows."""
_CELLS = 1 << 23
"""So many values of concepts are in memory at a time, or twice as many."""
_FEWEST_ROWS = 1 << 10
_MOST_BUCKETS = 1 << 11
PIECE_ROWS = 1 << 18
"""A task reads about so many rows."""
_BLOCK_ROWS = 1 << 18
"""So many related rows are added up at a time."""
_KEY, _ROW, _MOMENT = "k", "r", "t"
"""Columns of the files in between; those of the table come after them, as v0, v1, ..."""
_TIMES = {"us": 10**6, "ns": 10**9}


NeededTexts = tuple[tuple[str, tuple[str, ...] | None], ...]
"""Columns that concepts need, each with the texts that they ask for, if it holds texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Consecutive partitions of a table that a task reads."""

    number: int
    partitions: tuple[Any, ...]

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        for partition in self.partitions:
            yield from partition.batches(list(columns), [])


def pieces_of(source: Source) -> list[Piece]:
    """Cut a table into pieces; how does not change what is found."""
    found: list[Piece] = []
    waiting: list[Any] = []
    for place, partition in enumerate(source.partitions):
        waiting.append(partition)
        is_last = place + 1 == len(source.partitions)
        if is_last or sum(each.n_rows for each in waiting) >= PIECE_ROWS:
            found.append(Piece(len(found), tuple(waiting)))
            waiting = []
    return found


def n_buckets(n_rows: int, n_concepts: int) -> int:
    """Return how many buckets there are for so many main rows."""
    rows = min(BUCKET_ROWS, _rows_in_memory(n_concepts))
    return min(_MOST_BUCKETS, max(1, -(-n_rows // rows)))


def _rows_in_memory(n_concepts: int) -> int:
    return max(_FEWEST_ROWS, _CELLS // max(1, n_concepts))


@dataclass(frozen=True, slots=True)
class Slices:
    """The pieces of the main table, each in slices of so many rows: a slice is a file."""

    rows: tuple[int, ...]
    """Of each piece."""
    size: int

    @classmethod
    def of(cls, pieces: Sequence[Piece], n_concepts: int) -> Slices:
        size = min(GROUP_ROWS, _rows_in_memory(n_concepts))
        return cls(tuple(sum(p.n_rows for p in piece.partitions) for piece in pieces), size)

    def count(self, piece: int) -> int:
        return -(-self.rows[piece] // self.size)

    def before(self, piece: int) -> int:
        """Return how many slices earlier pieces have."""
        return sum(map(self.count, range(piece)))

    def ends(self, piece: int, rows: Any) -> list[int]:
        """Return where each slice ends among some rows of a piece, in order, and 0 before."""
        bounds = self.size * np.arange(self.count(piece) + 1)
        found: list[int] = np.searchsorted(np.from_dlpack(rows), bounds).tolist()
        return found


@dataclass(frozen=True, slots=True)
class Done:
    """What a task did."""

    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Looked(Done):
    """What the columns of some related rows hold."""

    looks: tuple[ColumnLook, ...]


@dataclass(frozen=True, slots=True)
class LookAt:
    """The task: look at columns of a piece."""

    table: str
    columns: tuple[str, ...]

    def __call__(self, piece: Piece) -> Looked:
        rows = 0
        looks: list[tuple[ColumnLook, ...]] = []
        for batch in piece.batches(self.columns):
            rows += batch.num_rows
            looks.append(tuple(self._look(batch, column) for column in self.columns))
        return Looked(rows, tuple(merge(own) for own in zip(*looks, strict=True)))

    def _look(self, batch: Any, column: str) -> ColumnLook:
        try:
            return look_at(batch.column(column), column)
        except DataError as error:
            raise DataError(f"{self.table}: {error.message}") from error


@dataclass(frozen=True, slots=True)
class DealMain:
    """The task: deal the keys of a piece of the main table into buckets."""

    store: Store
    path: str
    key: str
    as_of: str | None
    unit: str
    buckets: int

    def __call__(self, piece: Piece) -> Done:
        name = main_file(piece.number)
        if self.store.has(name):
            return Done(sum(part.n_rows for part in piece.partitions))
        columns = [self.key, *([] if self.as_of is None else [self.as_of])]
        tables, first = [], 0
        for batch in piece.batches(columns):
            key = known_keys(batch.column(self.key), self.path, self.key)
            found = {_KEY: key, _ROW: pa.array(np.arange(first, first + len(key)))}
            if self.as_of is not None:
                found[_MOMENT] = moments(batch.column(self.as_of), self.unit)
            tables.append(pa.table(found))
            first += len(key)
        self.store.write(name, _in_buckets(tables, self.buckets))
        return Done(first)


@dataclass(frozen=True, slots=True)
class DealRelated:
    """The task: deal a piece of a related table into buckets."""

    store: Store
    number: int
    path: str
    relation: Relation
    texts: NeededTexts
    unit: str
    buckets: int

    def __call__(self, piece: Piece) -> Done:
        name = related_file(self.number, piece.number)
        if self.store.has(name):
            return Done(sum(part.n_rows for part in piece.partitions))
        relation = self.relation
        columns = [relation.key, *([] if relation.time is None else [relation.time])]
        columns += [column for column, _ in self.texts]
        tables = []
        for batch in piece.batches(list(dict.fromkeys(columns))):
            tables.append(dealt(batch, relation, self.texts, unit=self.unit, path=self.path))
        self.store.write(name, _in_buckets(tables, self.buckets))
        return Done(sum(table.num_rows for table in tables))


@dataclass(frozen=True, slots=True)
class RelatedFiles:
    """The dealt rows of a related table, and what is asked of them."""

    relation: Relation
    pieces: int
    texts: NeededTexts
    scales: tuple[tuple[str, int | None], ...]
    """The steps of columns of numbers: see Figures."""
    concepts: tuple[Concept, ...]


@dataclass(frozen=True, slots=True)
class BucketFacts(Done):
    """What is known of the keys of some buckets."""

    repeated: int = 0
    """Main rows whose key is that of an earlier one."""
    without: tuple[int, ...] = ()
    """Main rows that have no related row, by related table."""
    strays: tuple[int, ...] = ()
    """Related rows that have no main row."""
    related: tuple[int, ...] = ()
    """Related rows."""

    def __add__(self, other: BucketFacts) -> BucketFacts:
        def added(ours: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(a + b for a, b in zip(ours, theirs, strict=True))

        return BucketFacts(
            self.rows + other.rows,
            self.repeated + other.repeated,
            added(self.without, other.without),
            added(self.strays, other.strays),
            added(self.related, other.related),
        )


@dataclass(frozen=True, slots=True)
class FillBucket:
    """The task: what the related rows of a bucket say of its main rows."""

    store: Store
    slices: Slices
    related: tuple[RelatedFiles, ...]
    ticks: int

    def __call__(self, bucket: int) -> BucketFacts:
        name = bucket_file(bucket)
        if self.store.has(name):
            return BucketFacts(*_told_facts(self._schema_of(name)))
        parts = [self._part(main_file(piece), bucket) for piece in range(len(self.slices.rows))]
        main = pa.Table.from_batches(parts)
        units = _Units(main)
        columns: dict[str, Any] = {}
        without, strays, related = [], [], []
        for number, files in enumerate(self.related):
            figures = Figures(files.concepts, units.n, dict(files.scales))
            has_rows = np.zeros(units.n, dtype=np.bool_)
            n_related = n_strays = 0
            for table in self._blocks(number, files.pieces, bucket):
                places, codes = units.known(table.column(_KEY).combine_chunks())
                n_related += table.num_rows
                n_strays += table.num_rows - len(places)
                for some, own in units.matched(places, codes):
                    has_rows[own] = True
                    figures.add(seen_block(table, some, own, units.moment, files, self.ticks))
            for concept in files.concepts:
                columns[concept.name] = units.of_rows(figures.column(concept))
            without.append(int((~has_rows[units.of_row]).sum()))
            strays.append(n_strays)
            related.append(n_related)
        facts = BucketFacts(
            main.num_rows, units.repeated, tuple(without), tuple(strays), tuple(related)
        )
        lengths = [
            end - first
            for piece, part in enumerate(parts)
            for first, end in pairwise(self.slices.ends(piece, part.column(_ROW)))
        ]
        self._write(name, columns, lengths, facts)
        return facts

    def _part(self, name: str, bucket: int) -> Any:
        with self.store.handle(name) as handle, pa.ipc.open_file(handle) as file:
            return file.get_batch(bucket)

    def _schema_of(self, name: str) -> Any:
        with self.store.handle(name) as handle, pa.ipc.open_file(handle) as file:
            return file.schema

    def _blocks(self, number: int, pieces: int, bucket: int) -> Iterator[Any]:
        """Yield the related rows of a bucket, many at a time."""
        waiting: list[Any] = []
        for piece in range(pieces):
            waiting.append(self._part(related_file(number, piece), bucket))
            if piece + 1 == pieces or sum(map(len, waiting)) >= _BLOCK_ROWS:
                yield pa.Table.from_batches(waiting)
                waiting = []

    def _write(
        self, name: str, columns: Mapping[str, Any], lengths: Sequence[int], facts: BucketFacts
    ) -> None:
        table = pa.table(dict(columns)).replace_schema_metadata({b"dnfscale": _facts_text(facts)})
        sink, first = pa.BufferOutputStream(), 0
        with pa.ipc.new_file(sink, table.schema, options=_IPC) as file:
            for length in lengths:
                _write_batch(file, table.slice(first, length))
                first += length
        self.store.write(name, sink.getvalue())


def _facts_text(facts: BucketFacts) -> bytes:
    told = facts.rows, facts.repeated, facts.without, facts.strays, facts.related
    return json.dumps(told).encode()


def _told_facts(schema: Any) -> tuple[Any, ...]:
    rows, repeated, *others = json.loads(schema.metadata[b"dnfscale"])
    return (rows, repeated, *map(tuple, others))


@dataclass(frozen=True, slots=True)
class WriteRows:
    """The task: write the rows of a piece of the main table with the new columns."""

    store: Store
    slices: Slices
    types: tuple[tuple[str, Any], ...]
    buckets: int

    def __call__(self, piece: Piece) -> Done:
        names = [
            f"part-{piece.number:05d}-{number:04d}.parquet"
            for number in range(self.slices.count(piece.number))
        ]
        missing = [number for number, name in enumerate(names) if not self.store.has(name)]
        if missing:
            table = self._own(piece)
            rows = self._rows(piece.number)
            for number in missing:
                first = number * self.slices.size
                own = table.slice(first, self.slices.size)
                added = self._added(piece.number, number, rows)
                for column in added.column_names:
                    own = own.append_column(column, added.column(column))
                self.store.write(names[number], as_parquet(own))
        return Done(self.slices.rows[piece.number])

    def _own(self, piece: Piece) -> Any:
        """Return the columns that the rows of a piece have."""
        schema = pa.schema(list(self.types))
        batches = [
            pa.RecordBatch.from_arrays(
                [_as_type(batch.column(field.name), field.type) for field in schema], schema=schema
            )
            for batch in piece.batches(schema.names)
        ]
        return pa.Table.from_batches(batches, schema=schema)

    def _rows(self, piece: int) -> list[Any]:
        """Return the numbers of the rows of a piece in each bucket, in increasing order."""
        with self.store.handle(main_file(piece)) as handle, pa.ipc.open_file(handle) as file:
            return [file.get_batch(bucket).column(_ROW) for bucket in range(self.buckets)]

    def _added(self, piece: int, number: int, rows: Sequence[Any]) -> Any:
        """Return the new columns of a slice, in the order of its rows."""
        batch = self.slices.before(piece) + number
        parts, own = [], []
        for bucket in range(self.buckets):
            first, end = self.slices.ends(piece, rows[bucket])[number : number + 2]
            own.append(np.from_dlpack(rows[bucket])[first:end])
            with self.store.handle(bucket_file(bucket)) as handle, pa.ipc.open_file(handle) as file:
                parts.append(file.get_batch(batch))
        order = np.argsort(np.concatenate(own), kind="stable")
        found = pa.Table.from_batches([part.replace_schema_metadata(None) for part in parts])
        return found.take(pa.array(order))


_IPC = pa.ipc.IpcWriteOptions(compression="lz4")


def main_file(piece: int) -> str:
    return f"_main-{piece:05d}.arrow"


def related_file(table: int, piece: int) -> str:
    return f"_related-{table:02d}-{piece:05d}.arrow"


def bucket_file(bucket: int) -> str:
    return f"_bucket-{bucket:05d}.arrow"


def key_kind(kind: Any) -> str | None:
    """Return what keys of a type are; None if the type has no keys."""
    found = kind_of(kind)
    return {"whole": "whole numbers", "text": "text"}.get(found) if found else None


def known_keys(array: Any, path: str, column: str) -> Any:
    """Return the keys of some rows; a missing one is an error."""
    if array.null_count:
        raise DataError(
            f"{path}: expected a key in every row, but {column!r} is missing in some; "
            "leave such rows out"
        )
    try:
        return plain(array)
    except DataError as error:
        raise DataError(f"{path}: column {column!r}: {error.message}") from error


def moments(array: Any, unit: str) -> Any:
    """Return dates and times as whole numbers of a unit from 1970."""
    try:
        if not pa.types.is_timestamp(array.type):
            array = array.cast(pa.timestamp("s"))
        return array.cast(pa.timestamp(unit, array.type.tz)).view(pa.int64())
    except pa.ArrowException as error:
        raise DataError(f"expected times that fit 64 bits in {unit}, but {error}") from error


def ticks_of(unit: str) -> int:
    return _TIMES[unit]


def _as_type(array: Any, kind: Any) -> Any:
    return array if array.type.equals(kind) else array.cast(kind)


def _stored(array: Any, texts: tuple[str, ...] | None) -> Any:
    """Return a column as it is dealt: texts as their places among those that are asked for."""
    array = plain(array)
    if texts is None:
        return array
    return pc.index_in(array, value_set=pa.array(texts, pa.large_string())).fill_null(-1)


def dealt(batch: Any, relation: Relation, texts: NeededTexts, *, unit: str, path: str) -> Any:
    """Return related rows as they are dealt: key, time and the columns that concepts need."""
    found = {_KEY: known_keys(batch.column(relation.key), path, relation.key)}
    if relation.time is not None:
        found[_MOMENT] = moments(batch.column(relation.time), unit)
    for place, (column, asked) in enumerate(texts):
        found[f"v{place}"] = _stored(batch.column(column), asked)
    return pa.table(found)


def _in_buckets(tables: Sequence[Any], buckets: int) -> Any:
    """Return a file with a batch of the rows of each bucket."""
    table = pa.concat_tables(tables)
    bucket = (_hashes(table.column(_KEY).combine_chunks()) % np.uint64(buckets)).astype(np.int64)
    order = np.argsort(bucket, kind="stable")
    ends = np.cumsum(np.bincount(bucket, minlength=buckets)).tolist()
    dealt = table.take(pa.array(order)).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, dealt.schema, options=_IPC) as file:
        for first, end in zip([0, *ends], ends, strict=False):
            _write_batch(file, dealt.slice(first, end - first))
    return sink.getvalue()


def _write_batch(file: Any, table: Any) -> None:
    """Write a table as exactly one batch."""
    arrays = [column.combine_chunks() for column in table.columns]
    joined = [
        own.chunk(0) if isinstance(own, pa.ChunkedArray) and own.num_chunks == 1 else own
        for own in arrays
    ]
    file.write_batch(pa.RecordBatch.from_arrays(joined, schema=table.schema))


def _hashes(keys: Any) -> Hashes:
    """Return a scrambled number for each key."""
    if pa.types.is_integer(keys.type):
        hashes: Hashes = np.from_dlpack(keys).view(np.uint64).copy()
        scramble(hashes)
        return hashes
    # A text is a number in a base of 64 bits; sums that wrap around are taken apart at its ends.
    offsets = np.frombuffer(keys.buffers()[1], dtype=np.int64)[keys.offset :][: len(keys) + 1]
    data = np.frombuffer(keys.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    starts = offsets - offsets[0]
    lengths = np.diff(starts)
    places = np.arange(len(data), dtype=np.uint64) - np.repeat(starts[:-1], lengths).astype(
        np.uint64
    )
    terms = (data.astype(np.uint64) + np.uint64(1)) * _powers(places)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    hashes = sums[starts[1:]] - sums[starts[:-1]] + lengths.astype(np.uint64)
    scramble(hashes)
    return hashes


_BASE = np.uint64(0x9E3779B97F4A7C15)


def _powers(places: Hashes) -> Hashes:
    most = int(places.max()) + 1 if len(places) else 1
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(most, _BASE, dtype=np.uint64), dtype=np.uint64)
    return powers[places.astype(np.int64)]


class _Units:
    """The main rows of a bucket, those of one key and one moment as one: related rows say the same
    of them.
    """

    def __init__(self, main: Any) -> None:
        coded = main.column(_KEY).combine_chunks().dictionary_encode()
        self._keys = coded.dictionary
        codes = np.from_dlpack(coded.indices).astype(np.int64)
        self.repeated = len(codes) - len(self._keys)
        moment = _moments_of(main) if _MOMENT in main.column_names else None
        parts: list[Any] = [codes]
        if self.repeated and moment is not None:
            known = np.ones(len(codes), np.bool_) if moment.present is None else moment.present
            parts += [moment.values, known]
        order = np.lexsort(parts[::-1])
        is_first = np.zeros(len(codes), dtype=np.bool_)
        for part in parts:
            own = part[order]
            is_first |= np.append(True, own[1:] != own[:-1])[: len(own)]
        firsts = order[is_first]
        self.n = len(firsts)
        self.of_row = np.empty(len(codes), dtype=np.int64)
        """The unit of each row."""
        self.of_row[order] = np.cumsum(is_first) - 1
        self.moment = None if moment is None else moment.at(firsts)
        # Units lie in the order of their keys.
        self._counts = np.bincount(codes[firsts], minlength=len(self._keys))
        self._starts = np.cumsum(self._counts) - self._counts

    def known(self, keys: Any) -> tuple[Ints, Ints]:
        """Return the places of related rows that have a main row, and what their keys are."""
        codes: Any = np.from_dlpack(pc.index_in(keys, value_set=self._keys).fill_null(-1))
        places = np.flatnonzero(codes >= 0)
        return places, codes[places]

    def matched(self, places: Ints, codes: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield pairs of related rows and units of the same key, not too many at a time."""
        times = self._counts[codes]
        ends = np.cumsum(times)
        n_pairs = int(ends[-1]) if len(ends) else 0
        for first in range(0, n_pairs, _BLOCK_ROWS):
            pair = np.arange(first, min(first + _BLOCK_ROWS, n_pairs))
            of = np.searchsorted(ends, pair, side="right") if self.repeated else pair
            yield places[of], self._starts[codes[of]] + pair - (ends - times)[of]

    def of_rows(self, column: Any) -> Any:
        """Return a column of units as one of the rows."""
        return column.take(pa.array(self.of_row))


def _moments_of(table: Any) -> Cells:
    array = table.column(_MOMENT).combine_chunks()
    return Cells(np.from_dlpack(array.fill_null(0)), _present(array))


def _present(array: Any) -> Any:
    return flags(array.is_valid()) if array.null_count else None


def seen_block(
    table: Any, places: Ints, main: Ints, moment: Cells | None, files: RelatedFiles, ticks: int
) -> RelatedBlock:
    """Return those of some pairs of rows in which the main row sees the related one."""
    time = _moments_of(table) if _MOMENT in table.column_names else None
    if time is not None and moment is not None and files.relation.as_of is not None:
        own, theirs = time.at(places), moment.at(main)
        keep = own.values < theirs.values
        for present in (own.present, theirs.present):
            keep = keep if present is None else keep & present
        places, main = places[keep], main[keep]
    small = len(main) and main.max() < 1 << 16
    # Sixteen bits are sorted by counting.
    order = np.argsort(main.astype(np.uint16) if small else main, kind="stable")
    places, main = places[order], main[order]
    age = times = None
    if time is not None:
        # A row without a time came before all others.
        times = time.at(places).filled(np.iinfo(np.int64).min)
        if moment is not None and files.relation.as_of is not None:
            age = moment.values[main] - times
    columns = {
        column: _cells(table.column(f"v{place}"), column, texts).at(places)
        for place, (column, texts) in enumerate(files.texts)
    }
    return RelatedBlock(main, columns, age, times, ticks)


def _cells(array: Any, column: str, texts: tuple[str, ...] | None) -> Cells:
    array = array.combine_chunks()
    if texts is not None:
        return Cells(np.from_dlpack(array), None, texts)
    if pa.types.is_boolean(array.type):
        return Cells(flags(array), _present(array))
    values, present = numbers(array, column)
    return Cells(values, None if present.all() else present)


def needed_texts(concepts: Iterable[Concept], types: Mapping[str, Any]) -> NeededTexts:
    """Return the columns that concepts of one table need, each with the texts that they ask for."""
    found: dict[str, dict[str, None] | None] = {}
    for concept in concepts:
        for column in concept.columns:
            found.setdefault(column, {} if kind_of(types[column]) == "text" else None)
        for test in concept.where:
            texts = found[test.column]
            if texts is not None:
                texts[str(test.value)] = None
    return tuple(
        (column, None if texts is None else tuple(sorted(texts))) for column, texts in found.items()
    )
