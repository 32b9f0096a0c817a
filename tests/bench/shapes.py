"""Cases `wide`, `tiny`, `categories`, `files` and `groups`: datasets of unusual shapes, beside the
bare scan of each.

wide        a hundredth of the rows in 2,000 columns
tiny        62 rows of 5,997 Boolean columns, every row left out once
categories  ten columns of 1,000 values each
files       a tenth of the rows in 2,000 files
groups      a quarter of the rows in one row group
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from tests.bench.case import Case, Contender, Figure, Measured, Outcome, plan_figures, wall_ratio
from tests.bench.datasets import TARGET, make_synthetic, synthetic_folder
from tests.bench.jobspecs import Overrides, measure_learn
from tests.bench.peers import measure_bare_scan
from tests.bench.setting import ROOT, Setting

SPEC = ROOT / "jobs" / "bench" / "study.toml"
FILES = 2_000
COLUMNS = 2_000
FLAGS = 5_997


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of dataset, and how to make one of the setting's size in an empty folder."""

    name: str
    about: str
    make: Callable[[Setting, Path], None]
    overrides: Overrides

    def folder(self, setting: Setting) -> Path:
        """Return where the dataset lies."""
        return setting.data / f"{self.name}-{setting.rows}-seed-{setting.seed}"

    def prepare(self, setting: Setting) -> None:
        """Make the dataset, unless it is there."""
        folder = self.folder(setting)
        if folder.exists():
            return
        draft = folder.with_name(f".{folder.name}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            self.make(setting, draft)
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def study(self, setting: Setting) -> Outcome:
        """Measure the study once the cluster is up."""
        return measure_learn(
            SPEC, setting, {"data.path": str(self.folder(setting)), **self.overrides}
        )

    def scan(self, setting: Setting) -> Outcome:
        """Measure the bare scan of all columns."""
        folder = self.folder(setting)
        return measure_bare_scan(
            folder, pads.dataset(folder, format="parquet").schema.names, setting
        )

    def case(self) -> Case:
        """Return the case of this shape."""
        return Case(
            name=self.name,
            about=self.about,
            contenders=(Contender("learn", self.study), Contender("bare scan", self.scan)),
            figures=_figures,
            prepare=self.prepare,
        )


def make_wide(setting: Setting, folder: Path) -> None:
    """Write numbers in 2,000 columns; the target follows from the first three."""
    rows = max(200, setting.rows // 100)
    columns = max(10, min(COLUMNS, setting.rows // 100))
    random = np.random.default_rng(setting.seed)
    for part, n in enumerate(_parts(rows, 4)):
        values = random.standard_normal((columns, n), dtype=np.float32)
        truth = (values[0] > 0) & ((values[1] > 0) | (values[2] > 0))
        _write(
            folder,
            part,
            {f"x{i}": column for i, column in enumerate(values)},
            truth ^ (random.random(n) < 0.1),
        )


def make_tiny(setting: Setting, folder: Path) -> None:
    """Write few rows of very many flags."""
    columns = max(10, min(FLAGS, setting.rows // 100))
    random = np.random.default_rng(setting.seed)
    flags = random.random((columns, 62)) < 0.5
    _write(
        folder,
        0,
        {f"b{i}": column for i, column in enumerate(flags)},
        flags[0] ^ (random.random(62) < 0.1),
    )


def make_categories(setting: Setting, folder: Path) -> None:
    """Write columns of a thousand names each."""
    random = np.random.default_rng(setting.seed)
    names = pa.array([f"name {i}" for i in range(1_000)])
    for part, n in enumerate(_parts(setting.rows // 10, 4)):
        codes = random.integers(0, 1_000, (10, n), dtype=np.int32)
        columns = {f"s{i}": names.take(pa.array(column)) for i, column in enumerate(codes)}
        _write(folder, part, columns, (codes[0] == 1) ^ (random.random(n) < 0.3))


def make_files(setting: Setting, folder: Path) -> None:
    """Write the synthetic rows into very many files."""
    table = _synthetic(setting, setting.rows // 10)
    step = -(-table.num_rows // min(FILES, max(1, table.num_rows // 50)))
    for number, start in enumerate(range(0, table.num_rows, step)):
        pq.write_table(table.slice(start, step), folder / f"part-{number:05d}.parquet")


def make_groups(setting: Setting, folder: Path) -> None:
    """Write the synthetic rows into one row group."""
    table = _synthetic(setting, setting.rows // 4)
    pq.write_table(table, folder / "all.parquet", row_group_size=table.num_rows)


def _synthetic(setting: Setting, rows: int) -> pa.Table:
    make_synthetic(setting, rows)
    return pads.dataset(synthetic_folder(setting, rows), format="parquet").to_table()


def _write(folder: Path, part: int, columns: Mapping[str, object], target: object) -> None:
    pq.write_table(pa.table({**columns, TARGET: target}), folder / f"part-{part:05d}.parquet")


def _parts(rows: int, parts: int) -> list[int]:
    return [rows // parts + (place < rows % parts) for place in range(parts)]


def _figures(measured: Mapping[str, Measured]) -> list[Figure]:
    return wall_ratio(measured, "learn", "bare scan") + plan_figures(measured)


SHAPES = (
    Shape("wide", "a hundredth of the rows in 2,000 columns", make_wide, {}),
    Shape(
        "tiny",
        "62 rows of 5,997 flags, every row left out once",
        make_tiny,
        {"folds.outer": "leave-one-out"},
    ),
    Shape("categories", "a tenth of the rows in ten columns of 1,000 names", make_categories, {}),
    Shape("files", "a tenth of the rows in 2,000 files", make_files, {}),
    Shape(
        "groups",
        "a quarter of the rows in one row group",
        make_groups,
        {"cluster.memory_limit": "1GiB"},
    ),
)

CASES = tuple(shape.case() for shape in SHAPES)
