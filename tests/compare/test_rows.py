"""The matrix that baselines learn from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.compare.rows import RowsPlan, parts_tested, read_rows
from dnfscale.core.columns import Column, Reading, Role
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.data.source import open_source


def plan_of(folder: Path, *, keep_missing: bool, seed: int = 0) -> RowsPlan:
    source = open_source(str(folder))
    columns = (Column("x", Role.NUMBER), Column("s", Role.CATEGORY), Column("b", Role.FLAG))
    kept = 6 if keep_missing else 4
    return RowsPlan(
        token=str(folder),
        partitions=source.partitions,
        reading=Reading(columns, "y", keep_missing=keep_missing),
        classes=(("no",), ("yes",)),
        class_rows=(kept // 2, kept // 2),
        row_numbers={0: range(kept)},
        splits=Splits(kept, 2, 0.3, seed),
        values=(None, ("blue", "red"), (False, True)),
    )


def write(folder: Path) -> None:
    table = {
        "x": [1.5, None, 3.0, 4.0, 5.0, 6.0],
        "s": ["red", "red", None, "blue", "red", "blue"],
        "b": [True, False, True, False, True, True],
        "y": ["yes", "no", "yes", "no", "no", "yes"],
    }
    pq.write_table(pa.table(table), folder / "t.parquet", row_group_size=2)


def test_rows_with_missing_values_are_dropped_and_categories_become_codes(tmp_path: Path) -> None:
    write(tmp_path)
    matrix = read_rows(plan_of(tmp_path, keep_missing=False))
    assert matrix.features.tolist() == [[1.5, 1, 1], [4, 0, 0], [5, 1, 1], [6, 0, 1]]
    assert matrix.target.tolist() == [1, 0, 0, 1]
    assert matrix.categorical == (False, True, False)


def test_kept_missing_values_are_nan(tmp_path: Path) -> None:
    write(tmp_path)
    matrix = read_rows(plan_of(tmp_path, keep_missing=True))
    missing = np.argwhere(np.isnan(matrix.features)).tolist()
    assert missing == [[1, 0], [2, 1]]


def test_the_parts_of_a_fold_are_all_rows_once(tmp_path: Path) -> None:
    write(tmp_path)
    plan = plan_of(tmp_path, keep_missing=False)
    matrix = read_rows(plan)
    for fold in range(plan.splits.n_folds):
        parts = [
            matrix.part(plan.splits, fold, (part,)).features for part in (TRAIN, VALIDATION, TEST)
        ]
        assert sorted(np.concatenate(parts)[:, 0].tolist()) == [1.5, 4.0, 5.0, 6.0]


def test_a_process_reads_the_rows_once(tmp_path: Path) -> None:
    write(tmp_path)
    plan = plan_of(tmp_path, keep_missing=False)
    assert read_rows(plan) is read_rows(plan)


def test_jobs_that_share_a_worker_get_their_own_columns_and_their_own_folds(tmp_path: Path) -> None:
    write(tmp_path)
    plans = [plan_of(tmp_path, keep_missing=False, seed=seed) for seed in range(4)]
    fewer = replace(
        plans[0], reading=Reading(plans[0].reading.columns[:2], "y"), values=plans[0].values[:2]
    )
    matrices = [read_rows(plan) for plan in plans]
    for plan, matrix in zip(plans, matrices, strict=True):
        assert matrix.arcs.tolist() == plan.splits.arcs(0, 4).tolist()
        assert matrix.features is matrices[0].features, "the rows were read again"
    assert len({tuple(matrix.arcs.tolist()) for matrix in matrices}) > 1
    assert read_rows(fewer).features.shape[1] == 2


def test_a_sample_has_the_same_rows_however_they_are_partitioned(tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(600.0), "y": ["yes", "no"] * 300})
    samples = []
    for group in (600, 37):
        folder = tmp_path / str(group)
        folder.mkdir()
        pq.write_table(table, folder / "t.parquet", row_group_size=group)
        partitions = open_source(str(folder)).partitions
        starts = [partition.n_rows * partition.ordinal for partition in partitions[:-1]]
        starts.append(600 - partitions[-1].n_rows)
        numbers = zip(partitions, starts, strict=True)
        plan = replace(
            plan_of(folder, keep_missing=False),
            partitions=partitions,
            reading=Reading((Column("x", Role.NUMBER),), "y"),
            class_rows=(300, 300),
            row_numbers={each.ordinal: range(at, at + each.n_rows) for each, at in numbers},
            splits=Splits(600, 3, 0.3, 0),
            values=(None,),
        )
        samples.append(read_rows(replace(plan, drawn=100)))
        whole = read_rows(plan)
        for fold in range(3):
            tested = np.concatenate([part.features for part in parts_tested(plan, fold)])
            assert tested.tolist() == whole.part(plan.splits, fold, (TEST,)).features.tolist()
    first, second = samples
    assert len(first.features) == 100
    assert first.features.tolist() == second.features.tolist()
    assert first.target.tolist() == second.target.tolist()
    assert first.arcs.tolist() == second.arcs.tolist()
