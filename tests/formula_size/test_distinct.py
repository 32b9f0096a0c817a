"""The distinct rows of every fold: the same as sorting out the rows of a pandas table, whatever the
partitions.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.formula_size import tabulate
from dnfscale.formula_size.distinct import FoldTypes, count_distinct, type_table
from dnfscale.learn.keeping import keep_rows
from dnfscale.spec.learn import LearnSpec
from tests.jobs.running import small_table
from tests.judges import booleans

SPEC = LearnSpec(target="y", outer=3, seed=5)


def counted(
    folder: Path, table: pa.Table, *, rows_each: int, max_types: int = 20_000
) -> list[FoldTypes]:
    folder.mkdir()
    for number, start in enumerate(range(0, table.num_rows, rows_each)):
        pq.write_table(table.slice(start, rows_each), folder / f"{number:03}.parquet")
    engine = SerialEngine()
    return count_distinct(
        keep_rows(open_source(str(folder)), SPEC, engine), SPEC, engine, max_types=max_types
    )


@pytest.mark.parametrize("rows_each", [240, 50])
def test_distinct_rows_of_every_part_are_those_of_a_pandas_table(
    tmp_path: Path, rows_each: int
) -> None:
    frame = pd.DataFrame(small_table())
    target, features = frame["y"].to_numpy(), frame.drop(columns="y")
    splits = Splits(len(frame), 3, SPEC.validation, SPEC.seed)
    parts = splits.parts[:, splits.arcs(0, len(frame))]
    found = counted(tmp_path / "t", pa.table(small_table()), rows_each=rows_each)
    assert [types.fold for types in found] == [0, 1, 2, 3]
    for types in found:
        part = parts[types.fold]
        inner, outer = booleans(features, part == TRAIN), booleans(features, part != TEST)
        assert types.exact
        assert types.attributes == tuple(range(inner.shape[1]))
        for packed, holds, rows in (
            (types.train, inner, part == TRAIN),
            (types.validation, inner, part == VALIDATION),
            (types.whole, outer, part != TEST),
            (types.test, outer, part == TEST),
        ):
            assert type_table(packed) == tabulate(holds[rows], target[rows])


def test_too_many_distinct_rows_leave_the_better_half_of_the_attributes(tmp_path: Path) -> None:
    table = pa.table(small_table())
    whole = counted(tmp_path / "a", table, rows_each=240)
    assert max(len(types.whole.n) for types in whole) > 10
    few = counted(tmp_path / "b", table, rows_each=240, max_types=10)
    parted = counted(tmp_path / "c", table, rows_each=9, max_types=10)
    for all_types, types, other in zip(whole, few, parted, strict=True):
        assert not types.exact
        assert len(types.attributes) == len(all_types.attributes) // 2
        # y is x > 0 and s = red, nearly; s_red is attribute 4 and the best of all in every fold.
        assert 4 in types.attributes
        assert types.attributes == other.attributes
        narrow = all_types.whole.holds()[:, types.attributes]
        assert types.whole.n.sum() == all_types.whole.n.sum()
        assert {tuple(row) for row in types.whole.holds().tolist()} == {
            tuple(row) for row in narrow.tolist()
        }
        for name in ("train", "validation", "whole", "test"):
            assert type_table(getattr(types, name)) == type_table(getattr(other, name))
