"""Case `relations`: rows of a related table, fifty for each main row, become concepts; beside
DuckDB's own join and aggregation of the same concepts.

`rows` are those of the related table. Both read the same Parquet files and write one; both have two
threads, and DuckDB as much memory as two workers of 1 GiB.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.core.concepts import Concept, Figure, RowTest, Sign
from dnfscale.data.source import open_source
from dnfscale.datasets.convert import Conversion
from dnfscale.relations.tables import Asked, JoinedTable, Side, join_tables, relation_between
from tests.bench.case import Case, Contender, Measured, Outcome, timed
from tests.bench.case import Figure as Number
from tests.bench.setting import Setting

EACH = 50
_MOST, _MOST_OF_FEW = 400, 60
_FEW_ROWS = 1_000_000
_WINDOWS = (30, 365)
_FILE_ROWS = 1 << 20
_DAY_US = 86_400_000_000
_MEMORY = "2GiB"


def folders(setting: Setting) -> tuple[Path, Path]:
    """Return where the main and the related table lie."""
    folder = setting.data / f"relations-{setting.rows}-seed-{setting.seed}"
    return folder / "people", folder / "visits"


def make_tables(setting: Setting) -> None:
    """Make both tables, unless they are there."""
    people, _ = folders(setting)
    if people.parent.exists():
        return
    draft = people.parent.with_name(f".{people.parent.name}")
    shutil.rmtree(draft, ignore_errors=True)
    (draft / "people").mkdir(parents=True)
    (draft / "visits").mkdir()
    n = max(2, setting.rows // EACH)
    random = np.random.default_rng(setting.seed)
    main = {"id": random.permutation(n), "now": 700 * _DAY_US + random.integers(0, _DAY_US, n)}
    main["now"] = pa.array(main["now"]).cast(pa.timestamp("us"))
    pq.write_table(pa.table(main), draft / "people" / "0.parquet")
    for number, first in enumerate(range(0, setting.rows, _FILE_ROWS)):
        rows = min(_FILE_ROWS, setting.rows - first)
        block = _visits(np.random.default_rng([setting.seed, number]), rows, n)
        pq.write_table(block, draft / "visits" / f"{number:05d}.parquet", row_group_size=1 << 17)
    draft.rename(people.parent)


def _visits(random: np.random.Generator, rows: int, n: int) -> pa.Table:
    """Return some visits: of ten columns, one in fifty of them of one person."""
    owner = np.where(random.random(rows) < 1 / EACH, 0, random.integers(0, n, rows))
    texts = np.array(["a", "b", "c", "d", "e", "f"])
    return pa.table(
        {
            "person": owner,
            "at": pa.array(random.integers(0, 750 * _DAY_US, rows)).cast(pa.timestamp("us")),
            "amount": np.round(random.gamma(2.0, 30.0, rows), 2),
            "weight": pa.array(random.normal(size=rows), mask=random.random(rows) < 0.1),
            "score": random.random(rows, dtype=np.float32),
            "items": random.integers(1, 9, rows),
            "visits": random.poisson(40, rows),
            "paid": random.random(rows) < 0.3,
            "ward": pa.array(texts[random.integers(0, 6, rows)]),
            "channel": pa.array(texts[random.integers(0, 3, rows)]).dictionary_encode(),
        }
    )


def joined(setting: Setting, place: Path, given: Sequence[Concept] = ()) -> JoinedTable:
    """Join both tables as a job does."""
    people, visits = (open_source(str(folder)) for folder in folders(setting))
    relation = relation_between(
        people, visits, table="visits", key="person", main_key="id", time="at", as_of="now"
    )
    side = Side(relation, visits, _WINDOWS)
    most = _MOST if setting.rows >= _FEW_ROWS else _MOST_OF_FEW
    asked = Asked(most=most, given=tuple(given))
    conversion = Conversion(places=(str(place),), tell=lambda _: None)
    return join_tables(people, [side], asked, conversion)


def measure_ours(setting: Setting) -> Outcome:
    """Measure the join, from opening the files to the last file of the joined table."""
    with tempfile.TemporaryDirectory(dir=setting.data) as scratch:
        found, wall_s, cpu_s = timed(lambda: joined(setting, Path(scratch)))
        folder = str(found.source.folder)
        names = list(found.source.concepts)
        totals = _totals([f"{folder}/{Path(f.path).name}" for f in found.source.files], names)
    return Outcome(wall_s, cpu_s, setting.rows, totals)


def measure_duckdb(setting: Setting) -> Outcome:
    """Measure DuckDB with the same concepts, which it is told."""
    import duckdb

    with tempfile.TemporaryDirectory(dir=setting.data) as scratch:
        folder = Path(scratch)
        concepts = list(_concepts(setting, folder / "kept"))
        file = folder / "joined.parquet"
        people, visits = (f"'{place}/*.parquet'" for place in folders(setting))
        query = query_of(concepts, people, visits)
        with duckdb.connect() as connection:
            connection.execute(f"SET threads = {setting.workers}")
            connection.execute(f"SET memory_limit = '{_MEMORY}'")
            connection.execute(f"SET temp_directory = '{folder / 'spill'}'")
            connection.execute("SET preserve_insertion_order = false")
            _, wall_s, cpu_s = timed(
                lambda: connection.execute(f"COPY ({query}) TO '{file}' (COMPRESSION zstd)")
            )
        totals = _totals([str(file)], [concept.name for concept in concepts])
    return Outcome(wall_s, cpu_s, setting.rows, totals)


def _concepts(setting: Setting, place: Path) -> Iterator[Concept]:
    """Return the concepts of a join of these tables, from what is generated for a part of it."""
    yield from joined(setting, place).source.concepts.values()


def query_of(concepts: Sequence[Concept], people: str, visits: str) -> str:
    """Write one join and one aggregation that computes all concepts, as DuckDB does it fastest:
    with each test as a column, and CASE, which took a sixteenth of the time of FILTER.
    """
    tests: dict[RowTest, str] = {}
    for concept in concepts:
        for test in concept.where:
            tests.setdefault(test, f"t{len(tests)}")
    columns = [f"{_test(test)} AS {name}" for test, name in tests.items()]
    columns += [f"v.at >= p.now - INTERVAL '{days} days' AS w{days}" for days in _WINDOWS]
    said = ",\n".join(f'{_aggregate(c, tests)} AS "{c.name}"' for c in concepts)
    return (
        f"WITH j AS (SELECT p.id, v.*, v.person IS NOT NULL AS found, {', '.join(columns)} "
        f"FROM {people} AS p LEFT JOIN {visits} AS v ON v.person = p.id AND v.at < p.now) "
        f"SELECT id, {said}\nFROM j GROUP BY id"
    )


def _aggregate(concept: Concept, tests: Mapping[RowTest, str]) -> str:
    meant = [tests[test] for test in concept.where]
    meant += [] if concept.days is None else [f"w{concept.days}"]
    where = " AND ".join(meant) or "found"
    value = f"CASE WHEN {where} THEN {concept.of} END"
    functions = {
        Figure.SOME: f"COALESCE(bool_or({where}), FALSE)",
        Figure.COUNT: f"count_if({where})",
        Figure.SUM: f"COALESCE(sum({value}), 0)",
        Figure.MEAN: f"avg({value})",
        Figure.LEAST: f"min({value})",
        Figure.GREATEST: f"max({value})",
        Figure.LATEST: f"arg_max({value}, j.at)",
    }
    return functions[concept.figure]


def _test(test: RowTest) -> str:
    if isinstance(test.value, bool):
        return f"v.{test.column} IS {str(test.value).upper()}"
    if isinstance(test.value, str):
        return f"v.{test.column} = '{test.value}'"
    return f"v.{test.column} {'>' if test.sign is Sign.ABOVE else '<='} {test.value!r}"


def _totals(files: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Return the total of every concept in six digits."""
    totals = dict.fromkeys(names, 0.0)
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches(batch_size=1 << 16, columns=list(names)):
            for name in names:
                column = batch.column(name).cast(pa.float64())
                totals[name] += float(np.nansum(column.to_numpy(zero_copy_only=False)))
    return {name: float(f"{total:.6g}") for name, total in totals.items()}


def figures(measured: Mapping[str, Measured]) -> list[Number]:
    """Compare the times, and say how much memory ours took."""
    found = []
    if {"join", "duckdb"} <= set(measured):
        ratio = measured["join"].outcome.wall_s / measured["duckdb"].outcome.wall_s
        found.append(Number("join / duckdb, wall time", ratio, at_most=1.5))
    if "join" in measured:
        peak = measured["join"].worker_peak_bytes / 2**20
        found.append(Number("join, peak memory in MiB", peak, at_most=2048))
    return found


CASE = Case(
    name="relations",
    about="the concepts of a related table with fifty rows for each main row",
    contenders=(Contender("join", measure_ours), Contender("duckdb", measure_duckdb, ("duckdb",))),
    figures=figures,
    prepare=make_tables,
)
