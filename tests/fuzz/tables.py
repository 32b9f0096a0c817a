"""Tables: Parquet files of any types and encodings, whole or spoiled, from which a model is learned
and judged.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.apply.evaluate import check_columns, columns_of, evaluate
from dnfscale.core.columns import Reading
from dnfscale.core.planes import joined
from dnfscale.data.models import model_record, parse_model
from dnfscale.data.source import Source
from dnfscale.engine.serial import SerialEngine
from dnfscale.jobs.runner import open_data
from dnfscale.learn.line import fold_model, learn
from dnfscale.spec.job import read_spec
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.toml import write_toml
from tests.fuzz.columns import STRINGS, any_column, any_type
from tests.fuzz.spoil import bits_flipped
from tests.fuzz.verdict import attempt, demand
from tests.jobs.judging import accepts, exact, exact_rows, holds, is_missing, recount, says, used

Files = dict[str, bytes]
_NAMES = (
    *(name for name in STRINGS if len(name) < 100),
    "x",
    "z",
    "y_",
    "a.b",
    "__index_level_1__",
)


def make(random: Random) -> Files:
    """Make a table and the spec of a fit."""
    n_rows = random.choice((0, 1, 2, 3, 20, 20, 40, 60))
    names = random.sample(_NAMES, random.choice((0, 1, 1, 2, 3, 5)))
    columns = {name: any_column(random, any_type(random), n_rows) for name in names}
    columns["y"] = _target(random, n_rows)
    data: dict[str, Any] = {
        "path": "t.parquet",
        "target": "y",
        "missing": random.choice(("drop", "indicator", "indicator", "error")),
    }
    for role in ("categorical", "boolean", "drop"):
        if random.random() < 0.15:
            data[role] = random.sample(names, random.randrange(len(names) + 1))
    document = {
        "schema_version": 1,
        "kind": "fit",
        "profile": "paper",
        "data": data,
        "select": {"max_ell": random.choice((1, 3, 5)), "validation": random.choice((0.3, 0.01))},
        "formula": {
            "unseen": random.choice(("negative", "dont_care")),
            "minimize": random.choice(("exact", "none")),
        },
        "cluster": {"kind": "serial"},
    }
    files = {"job.toml": write_toml(document).encode()}
    files["t.parquet"] = parquet_of(random, columns)
    if random.random() < 0.4:
        files["t.parquet"] = bits_flipped(random, files["t.parquet"])
    return files


def parquet_of(random: Random, columns: Mapping[str, Any]) -> bytes:
    """Write columns as a file in some way; others, if their types cannot be written in it."""
    try:
        return _written(random, pa.table(dict(columns)))
    except (pa.ArrowException, OSError, TypeError, ValueError):
        n_rows = len(next(iter(columns.values()), ()))
        sink = io.BytesIO()
        pq.write_table(
            pa.table({"x": list(range(n_rows)), "y": [i % 2 for i in range(n_rows)]}), sink
        )
        return sink.getvalue()


def check(files: Files, folder: Path) -> None:
    """Learn from a table; what is learned has the counts, the cuts and the answers that plain
    Python finds.
    """
    for name, content in files.items():
        (folder / name).write_bytes(content)
    spec = read_spec(folder / "job.toml")
    opened = attempt(lambda: open_data(spec))
    if opened is None:
        return
    source, to_learn = opened
    learned = attempt(lambda: learn(source, to_learn, SerialEngine()))
    if learned is None:
        return
    model = fold_model(learned.model, learned, to_learn)
    record = model_record(model)
    demand(
        model_record(parse_model(record)) == record,
        f"a model file says something else when it is read: {record}",
    )
    try:
        table = pq.read_table(folder / "t.parquet", partitioning=None)
    except Exception:
        # A spoiled file of which some column cannot be read; ours may have been dropped, or never
        # read.
        return
    _judge(record, exact_rows(table), source, to_learn)
    _judge_answers(model, record, exact_rows(table), source)


def _judge(
    record: dict[str, Any], rows: list[dict[str, Any]], source: Source, spec: LearnSpec
) -> None:
    features = [
        name
        for name in source.types
        if name not in (spec.target, *spec.drop) and not name.startswith("__index_level_")
    ]
    kept = used(rows, features, spec.target, keep_missing=spec.missing == "indicator")
    counted = recount(kept, record)
    demand(
        record["counts"] == counted,
        f"counts\n{record['counts']}\nare not\n{counted}\nof {record['attributes']}",
    )
    names = [attribute["name"] for attribute in record["attributes"]]
    for cell in counted:
        answer = says(record["formula"], dict(zip(names, cell["type"], strict=True)))
        demand(
            answer == (2 * cell["c"] >= cell["n"]),
            f"the formula {record['formula']} errs on {cell}",
        )
    for attribute in record["attributes"]:
        if attribute["test"] == "above" and attribute["value"] is not None:
            _judge_cut(
                attribute,
                sorted(
                    row[attribute["column"]]
                    for row in kept
                    if not is_missing(row[attribute["column"]])
                ),
            )


def _judge_cut(attribute: dict[str, Any], values: list[Any]) -> None:
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    cut = attribute["value"]
    cut = exact(cut) if "measure" in attribute else float(cut) if isinstance(cut, str) else cut
    demand(low <= cut <= high, f"{attribute} is no median: it lies between {low} and {high}")


def _judge_answers(
    model: Any, record: dict[str, Any], rows: list[dict[str, Any]], source: Source
) -> None:
    attempt(lambda: check_columns([model.tau], source.types, source.path))
    columns = columns_of(model.tau)
    reading = Reading(columns, None, keep_missing=True)
    blocks = (block for rows in source.partitions for block in rows.blocks(reading))
    planes = [evaluate(block, columns, [model.tau]).planes[0] for block in blocks]
    codes = [code for own in planes for code in joined(own).tolist()]
    expected = [
        sum(1 << i for i, a in enumerate(record["attributes"]) if holds(a, row)) for row in rows
    ]
    demand(codes == expected, f"types {codes} are not {expected} of {record['attributes']}")
    answers = model.dnf.accepts(pa.array(codes, pa.int64()).to_numpy()).tolist()
    demand(answers == [accepts(record, row) for row in rows], f"answers of {record['formula']}")


def _target(random: Random, n_rows: int) -> pa.Array:
    kind = random.choice((pa.bool_(), pa.bool_(), pa.int64(), pa.string(), any_type(random)))
    if pa.types.is_boolean(kind) or random.random() < 0.7:
        two = random.choice(
            ((False, True), (0, 1), ("", "\0"), (-0.0, 1.5), (2**63 - 1, 2**63 - 2))
        )
        return pa.array(
            [random.choice(two) if random.random() > 0.02 else None for _ in range(n_rows)],
            pa.array(two).type,
        )
    return any_column(random, kind, n_rows)


def _written(random: Random, table: pa.Table) -> bytes:
    options: dict[str, Any] = {
        "compression": random.choice(("none", "snappy", "gzip", "zstd", "lz4", "brotli")),
        "use_dictionary": random.choice((True, False)),
        "data_page_version": random.choice(("1.0", "2.0")),
        "version": random.choice(("1.0", "2.4", "2.6")),
        "row_group_size": random.choice((1, 7, 1000)),
        "data_page_size": random.choice((None, 64)),
        "write_statistics": random.choice((True, False)),
        "store_schema": random.random() < 0.8,
        "write_page_checksum": random.random() < 0.3,
        "write_page_index": random.random() < 0.3,
        "store_decimal_as_integer": random.random() < 0.3,
        "use_deprecated_int96_timestamps": random.random() < 0.2,
    }
    if random.random() < 0.2:
        options |= {
            "use_dictionary": False,
            "column_encoding": {
                name: _encoding(random, table, name) for name in table.column_names
            },
        }
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def _encoding(random: Random, table: pa.Table, name: str) -> str:
    kind = table.schema.field(name).type
    if pa.types.is_floating(kind):
        return random.choice(("PLAIN", "BYTE_STREAM_SPLIT"))
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return random.choice(("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"))
    if pa.types.is_boolean(kind):
        return random.choice(("PLAIN", "RLE"))
    return random.choice(("PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"))
