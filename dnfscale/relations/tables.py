"""A main table with the concepts of its related tables, kept as Parquet like other conversions."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from dnfscale.core.concepts import Concept, Figure, Relation
from dnfscale.data.models.concepts import concept_record, parse_concept
from dnfscale.data.source import Source
from dnfscale.datasets.convert import (
    Conversion,
    Mapped,
    Store,
    folder_name,
    is_kept,
    kept_once,
    mapping,
    open_kept,
)
from dnfscale.errors import DataError, SpecError
from dnfscale.learn.phases import Phase, PlannedPhase, Reads
from dnfscale.relations.figures import scale_of
from dnfscale.relations.generate import Described, generated
from dnfscale.relations.join import (
    BucketFacts,
    DealMain,
    DealRelated,
    FillBucket,
    LookAt,
    RelatedFiles,
    Slices,
    WriteRows,
    key_kind,
    n_buckets,
    needed_texts,
    pieces_of,
    ticks_of,
)
from dnfscale.relations.look import ColumnLook, kind_of, merge, why_not
from dnfscale.spec.checks import listed
from dnfscale.spec.storage import joined

LOOK_AT_RELATED = Phase("look at related", Reads.RELATED_FILES, "look at related rows")
DEAL_KEYS = Phase("deal keys", Reads.SOME_COLUMNS, "deal the keys of the rows")
DEAL_RELATED = Phase("deal related", Reads.RELATED_FILES, "deal related rows by key")
FILL_BUCKETS = Phase("fill buckets", Reads.DEALT_ROWS, "add up related rows")
WRITE_JOINED = Phase("write joined", Reads.FILES, "write the rows with their concepts")
_CONCEPT_BYTES = 2
"""Of a value of a concept in a file, about."""
CONCEPTS_FILE, _FACTS = "_concepts.json", "_facts.json"
_VERSION = 2
_BETWEEN = ("_main-", "_related-", "_bucket-")
"""How the names of files begin that are needed only until all is written."""


@dataclass(frozen=True, slots=True)
class Side:
    """A related table that is open."""

    relation: Relation
    source: Source
    windows: tuple[int, ...] = ()
    drop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Which concepts there are to be: those given, or at most so many."""

    most: int = 0
    keep_missing: bool = True
    given: tuple[Concept, ...] = ()
    repeats: bool = False
    """Whether a key may be that of several main rows."""


@dataclass(frozen=True, slots=True)
class JoinFacts:
    """What became of the rows."""

    rows: int
    repeated: int
    """Main rows whose key is that of another."""
    tables: tuple[TableFacts, ...]
    left_out: int
    """Concepts that were more than allowed."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What became of the rows of a related table."""

    table: str
    rows: int
    without: int
    """Main rows that have none of them."""
    strays: int
    """Those that have no main row."""


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """The rows of the main table with the columns that were made."""

    source: Source
    facts: JoinFacts


def relation_between(  # noqa: PLR0913 (all that the spec says of a relation)
    main: Source,
    other: Source,
    *,
    table: str,
    key: str,
    main_key: str,
    time: str | None,
    as_of: str | None,
    row_id: str | None = None,
    places: Mapping[str, str] | None = None,
) -> Relation:
    """Return the relation of two open tables; columns that cannot relate them are an error.

    `places` names where the user wrote each column, for messages.
    """
    told = {"key": "data.related", "main_key": "data.key", "time": "data.related"} | {
        "as_of": "data.as_of",
        "id": "data.related",
        **(places or {}),
    }
    as_of = None if time is None else as_of
    for source, name, place in (
        (main, main_key, "main_key"),
        (other, key, "key"),
        (main, as_of, "as_of"),
        (other, time, "time"),
        (other, row_id, "id"),
    ):
        if name is not None and name not in source.types:
            near = difflib.get_close_matches(name, source.types, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            what = "key" if place == "main_key" else place
            raise SpecError(
                f"{what} must name a column of {source.path}, got {name!r}; {hint}it has "
                f"{listed(list(source.types))}",
                told[place],
            )
    _check_keys(main, main_key, other, key)
    zoned = False
    if time is not None:
        zoned = _clock(other, time)
    if as_of is not None and time is not None and _clock(main, as_of) is not zoned:
        here, there = (main, as_of), (other, time)
        with_zone, without = (there, here) if zoned else (here, there)
        raise DataError(
            f"{main.path}: expected the clocks of {as_of!r} and of {time!r} in {other.path} to be "
            f"alike, but {with_zone[1]!r} has a time zone and {without[1]!r} has none; write both "
            "with a zone, or both without"
        )
    return Relation(table, key, main_key, time, as_of, zoned, row_id)


def _check_keys(main: Source, main_key: str, other: Source, key: str) -> None:
    kinds = []
    for source, name in ((main, main_key), (other, key)):
        kind = source.types[name]
        found = key_kind(kind)
        if found is None:
            raise DataError(
                f"{source.path}: keys must be whole numbers or text, but {name!r} has the type "
                f"{kind}; convert it"
            )
        kinds.append(found)
        if source.null_counts.get(name):
            raise DataError(
                f"{source.path}: expected a key in every row, but {name!r} is missing in "
                f"{source.null_counts[name]:,} of {source.n_rows:,}; leave such rows out"
            )
    if kinds[0] != kinds[1]:
        raise DataError(
            f"{other.path}: expected keys of one kind in both tables, but {key!r} holds "
            f"{kinds[1]}, and {main_key!r} of {main.path} {kinds[0]}; convert one of them"
        )


def _clock(source: Source, name: str) -> bool:
    """Say whether a column of times has a zone; one of another kind is an error."""
    kind = source.types[name]
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        raise DataError(
            f"{source.path}: expected dates or times in {name!r}, got the type {kind}; convert it"
        )
    return pa.types.is_timestamp(kind) and kind.tz is not None


def join_tables(
    main: Source, sides: Sequence[Side], asked: Asked, conversion: Conversion
) -> JoinedTable:
    """Return the main table with the concepts that are asked for; it is made unless it is kept."""
    _check_rows(main, sides, to_learn=not asked.given)
    name, now = _kept_as(main, sides, asked, conversion)
    make = partial(_make, main, sides, asked, conversion)
    was_kept = is_kept(name, now, conversion)
    folder = kept_once(main.path, name, now, make, conversion)
    # Not before all of it is said to be whole: a run that is killed here would begin anew.
    store = Store(folder, conversion.access)
    store.remove(name for name in store.parts() if name.startswith(_BETWEEN))
    found = _opened(main, folder, conversion)
    if was_kept and found.facts.left_out:
        # Whoever made it was told more.
        conversion.tell(
            f"{main.path}: {found.facts.left_out:,} more concepts of related rows are left out by "
            "relations.max_concepts"
        )
    return found


def is_joined(main: Source, sides: Sequence[Side], asked: Asked, conversion: Conversion) -> bool:
    """Say whether the joined table is there already."""
    return is_kept(*_kept_as(main, sides, asked, conversion), conversion)


def foreseen(
    main: Source, sides: Sequence[Side], asked: Asked
) -> tuple[Source, tuple[PlannedPhase, ...]]:
    """Return the joined table as far as it is known before it is made, with as many concepts as
    are allowed, and how it would be made.
    """
    _check_rows(main, sides, to_learn=True)
    names = [f"concept {number + 1}" for number in range(asked.most)]
    # Without missing values there are no figures that a row may lack, and nothing to look for.
    kind = pa.float64() if asked.keep_missing else pa.int64()
    gaps = {} if asked.keep_missing else dict.fromkeys(names, 0)
    types = {**main.types, **dict.fromkeys(names, kind)}
    sizes = {**main.column_bytes, **dict.fromkeys(names, main.n_rows * _CONCEPT_BYTES)}
    nulls = {**main.null_counts, **gaps}
    source = replace(main, types=types, column_bytes=sizes, null_counts=nulls)
    pieces = len(pieces_of(main))
    related = sum(len(pieces_of(side.source)) for side in sides)
    looked = sum(_bytes(side.source, side.drop) for side in sides)
    keys = {name for s in sides for name in (s.relation.main_key, s.relation.as_of) if name}
    phases = (
        LOOK_AT_RELATED.planned(related, looked),
        DEAL_KEYS.planned(pieces, sum(main.column_bytes.get(name, 0) for name in keys)),
        DEAL_RELATED.planned(related, looked),
        FILL_BUCKETS.planned(n_buckets(main.n_rows, asked.most)),
        WRITE_JOINED.planned(pieces, _bytes(main, ())),
    )
    return source, phases


def _bytes(source: Source, without: Sequence[str]) -> int:
    return sum(size for name, size in source.column_bytes.items() if name not in without)


def _check_rows(main: Source, sides: Sequence[Side], *, to_learn: bool) -> None:
    for side in sides:
        if not side.source.n_rows:
            advice = "leave the table out" if to_learn else "name the files that have them"
            raise DataError(
                f"{side.source.path}: expected rows in the related table "
                f"{side.relation.table!r}, but it has none; {advice}"
            )
    if not main.n_rows:
        wanted = "rows to learn from" if to_learn else "rows"
        raise DataError(f"{main.path}: expected {wanted}, but the dataset has none")


def _kept_as(
    main: Source, sides: Sequence[Side], asked: Asked, conversion: Conversion
) -> tuple[str, dict[str, Any]]:
    """Return the name under which a joined table is kept, and all that it follows from."""
    now = {
        "main": {"identity": main.identity},
        **{
            side.relation.table: {
                "identity": side.source.identity,
                "relation": repr(side.relation),
                "asked": repr((side.windows, side.drop)),
            }
            for side in sides
        },
        "asked": {"what": repr((_VERSION, asked))},
    }
    options = sorted(map(str, now.items()))
    access = main.files[0].access if main.files else conversion.access
    return folder_name(main.path, access, options), now


def _opened(main: Source, folder: str, conversion: Conversion) -> JoinedTable:
    store = Store(folder, conversion.access)
    plan = _read_plan(store)
    assert plan is not None, "what is whole has its plan"
    told = json.loads(store.read(_FACTS) or b"{}")
    tables = tuple(TableFacts(**table) for table in told["tables"])
    facts = JoinFacts(told["rows"], told["repeated"], tables, plan.left_out)
    source = open_kept(main.path, folder, conversion)
    known = {concept.name: concept for concept in plan.concepts}
    return JoinedTable(replace(source, concepts=known), facts)


def _make(
    main: Source, sides: Sequence[Side], asked: Asked, conversion: Conversion, folder: str
) -> str:
    with mapping("relate", conversion) as mapped:
        join = _Join(main, sides, asked, conversion, Store(folder, conversion.access), mapped)
        return join.made()


@dataclass(frozen=True, slots=True)
class _Join:
    """The steps of a join; what an earlier one has written is used."""

    main: Source
    sides: Sequence[Side]
    asked: Asked
    conversion: Conversion
    store: Store
    mapped: Mapped

    def made(self) -> str:
        plan = self._planned()
        concepts, left_out = plan.concepts, plan.left_out
        unit = time_unit(self.main, self.sides)
        buckets = n_buckets(self.main.n_rows, len(concepts))
        pieces = pieces_of(self.main)
        slices = Slices.of(pieces, len(concepts))
        first = self.sides[0].relation
        as_of = next((s.relation.as_of for s in self.sides if s.relation.as_of is not None), None)
        deal = DealMain(self.store, self.main.path, first.main_key, as_of, unit, buckets)
        self.mapped(pieces, deal)
        files = [self._dealt(i, side, plan, unit, buckets) for i, side in enumerate(self.sides)]
        fill = FillBucket(self.store, slices, tuple(files), ticks_of(unit))
        found = self.mapped(range(buckets), fill)
        facts = sum(found[1:], found[0])
        self._check_repeats(facts)
        types = tuple(self.main.types.items())
        self.mapped(pieces, WriteRows(self.store, slices, types, buckets))
        tables = [
            {"table": side.relation.table, "rows": rows, "without": without, "strays": strays}
            for side, rows, without, strays in zip(
                self.sides, facts.related, facts.without, facts.strays, strict=True
            )
        ]
        told = {"rows": facts.rows, "repeated": facts.repeated, "tables": tables}
        if not self.store.has(_FACTS):
            self.store.write(_FACTS, json.dumps(told).encode())
        n_related = sum(facts.related)
        scans = "each table read once" if self.asked.given else "related tables read twice"
        left = f", {left_out:,} more left out by relations.max_concepts" if left_out else ""
        noun = "concept" if len(concepts) == 1 else "concepts"
        return (
            f"{facts.rows:,} rows with {len(concepts):,} {noun} of {n_related:,} related rows"
            f"{left}; {scans}"
        )

    def _check_repeats(self, facts: BucketFacts) -> None:
        if facts.repeated and not self.asked.repeats:
            key = self.sides[0].relation.main_key
            raise DataError(
                f"{self.main.path}: expected each key in one row, but in {facts.repeated:,} of "
                f"{facts.rows:,} rows {key!r} is that of an earlier one; write one row for each "
                f"key, or set folds.group = {json.dumps(key)}, so that they are never learned "
                "from and tested on",
                "data.key",
            )

    def _planned(self) -> _Plan:
        """Return the concepts: as an earlier run has noted them, as given, or by a look."""
        noted = _read_plan(self.store)
        if noted is not None:
            return noted
        if self.asked.given:
            looks = [self._looked(side, self._added_up(side)) for side in self.sides]
            concepts, left_out = self.asked.given, 0
        else:
            looks = [self._looks(side) for side in self.sides]
            tables = [
                Described(side.relation, side.windows, own, side.source.n_rows)
                for side, own in zip(self.sides, looks, strict=True)
            ]
            concepts, left_out = generated(
                tables,
                most=self.asked.most,
                taken=list(self.main.types),
                keep_missing=self.asked.keep_missing,
            )
        most = {
            side.relation.table: {name: look.most for name, look in own.items()}
            for side, own in zip(self.sides, looks, strict=True)
        }
        plan = _Plan(tuple(concepts), left_out, most)
        _write_plan(self.store, plan)
        return plan

    def _added_up(self, side: Side) -> tuple[str, ...]:
        """Return the columns of floats that given concepts add up."""
        own = [c for c in self.asked.given if c.relation.table == side.relation.table]
        _check_columns(side, own)
        found = {
            str(c.of): None
            for c in own
            if c.figure in (Figure.SUM, Figure.MEAN)
            and kind_of(side.source.types[str(c.of)]) == "number"
        }
        return tuple(found)

    def _looks(self, side: Side) -> dict[str, ColumnLook]:
        relation = side.relation
        roles = {relation.key, relation.time, relation.id, *side.drop}
        columns, passed = [], []
        for column, kind in side.source.types.items():
            if column in roles or column.startswith("__index_level_"):
                continue
            if kind_of(kind) is None:
                passed.append(f"{column!r} ({why_not(kind)})")
            else:
                columns.append(column)
        looks = self._looked(side, tuple(columns))
        crowded = [name for name, look in looks.items() if look.texts is None]
        passed += [f"{name!r} (too many texts)" for name in crowded]
        if passed:
            self.conversion.tell(f"{side.source.path}: no concept is made of {', '.join(passed)}")
        return looks

    def _looked(self, side: Side, columns: tuple[str, ...]) -> dict[str, ColumnLook]:
        if not columns:
            return {}
        look = LookAt(side.source.path, columns)
        found = self.mapped(pieces_of(side.source), look)
        parts = zip(*(each.looks for each in found if each.rows), strict=True)
        return {name: merge(own) for name, own in zip(columns, parts, strict=True)}

    def _dealt(self, number: int, side: Side, plan: _Plan, unit: str, buckets: int) -> RelatedFiles:
        table = side.relation.table
        own = tuple(c for c in plan.concepts if c.relation.table == table)
        _check_columns(side, own)
        texts = needed_texts(own, side.source.types)
        scales = {
            c.of: None
            if kind_of(side.source.types[c.of]) == "whole"
            else scale_of(plan.most[table].get(c.of, 0.0))
            for c in own
            if c.of is not None
        }
        path = side.source.path
        deal = DealRelated(self.store, number, path, side.relation, texts, unit, buckets)
        pieces = pieces_of(side.source)
        self.mapped(pieces, deal)
        return RelatedFiles(side.relation, len(pieces), texts, tuple(scales.items()), own)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be made, as it is noted before it is."""

    concepts: tuple[Concept, ...]
    left_out: int
    """Concepts that were more than allowed."""
    most: Mapping[str, Mapping[str, float]]
    """The greatest numbers of columns, whatever their signs, by table."""


def _check_columns(side: Side, concepts: Sequence[Concept]) -> None:
    """Raise DataError where a column is not there, or of another kind than a concept asks for."""
    types = side.source.types
    for concept in concepts:
        expected: list[tuple[str, tuple[str, ...]]] = []
        if concept.of is not None:
            expected.append((concept.of, ("whole", "number")))
        for test in concept.where:
            kinds: tuple[str, ...] = ("whole", "number")
            if isinstance(test.value, bool):
                kinds = ("flag",)
            elif isinstance(test.value, str):
                kinds = ("text",)
            expected.append((test.column, kinds))
        for column, kinds in expected:
            if column not in types:
                raise DataError(
                    f"{side.source.path}: expected the columns that the model uses, but "
                    f"{column!r} is not there; it has {listed(list(types))}"
                )
            if kind_of(types[column]) not in kinds:
                what = {"flag": "booleans", "text": "text"}.get(kinds[0], "numbers")
                raise DataError(
                    f"{side.source.path}: expected column {column!r} to hold {what} as in the "
                    f"data that the model was learned from, got the type {types[column]}; "
                    "convert it"
                )


def time_unit(main: Source, sides: Sequence[Side]) -> str:
    """Return the unit in which all times are exact."""

    def kinds() -> Iterator[Any]:
        for side in sides:
            if side.relation.time is not None:
                yield side.source.types[side.relation.time]
            if side.relation.as_of is not None:
                yield main.types[side.relation.as_of]

    nanoseconds = any(pa.types.is_timestamp(kind) and kind.unit == "ns" for kind in kinds())
    return "ns" if nanoseconds else "us"


def _write_plan(store: Store, plan: _Plan) -> None:
    record = {
        "concepts": [{"name": c.name, **concept_record(c)} for c in plan.concepts],
        "left_out": plan.left_out,
        "most": plan.most,
    }
    store.write(CONCEPTS_FILE, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())


def _read_plan(store: Store) -> _Plan | None:
    written = store.read(CONCEPTS_FILE)
    if written is None:
        return None
    record = json.loads(written)
    concepts = tuple(
        parse_concept(own, own["name"], f"{joined(store.folder, CONCEPTS_FILE)}: concepts[{i}]")
        for i, own in enumerate(record["concepts"])
    )
    return _Plan(concepts, int(record["left_out"]), record["most"])
