"""The jobs whose values are kept: the paper's datasets in both profiles, and made tables for what
those do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.jobs.running import ROOT, small_table, spec_text

PAPER = tuple(file.stem for file in sorted((ROOT / "jobs" / "paper").glob("*.toml")))
"""The names of the paper's datasets."""
UCI = (
    "bank_marketing",
    "breast_cancer",
    "congressional_voting",
    "german_credit",
    "heart_disease",
    "hepatitis",
    "student_dropout",
)
"""Those of them that the paper searches by size."""


@dataclass(frozen=True)
class Case:
    """A job, by what its spec says; a made table is written beside it first."""

    name: str
    spec: Path | Mapping[str, Any]
    """The file of the spec, or the tables of one for t.parquet."""
    settings: tuple[str, ...] = ()
    table: Callable[[], pa.Table] | None = None
    needs_numba: bool = field(default=False)

    def prepare(self, folder: Path) -> list[str]:
        """Write what the job needs into a folder, and return the arguments of the command that runs
        it there.
        """
        file = self.spec if isinstance(self.spec, Path) else folder / "job.toml"
        if not isinstance(self.spec, Path):
            file.write_text(spec_text(**self.spec), encoding="utf-8")
        if self.table is not None:
            pq.write_table(self.table(), folder / "t.parquet", row_group_size=100)
        fixed = ("name=job", "cluster.kind=serial", *self.settings)
        return ["run", str(file), *(word for setting in fixed for word in ("--set", setting))]


def mixed_table(n_rows: int = 600) -> pa.Table:
    """A table with missing values, dates, whole numbers, decimals, three labels and weights."""
    random = np.random.default_rng(11)
    age = random.integers(18, 90, n_rows)
    dose = np.round(random.gamma(2.0, 3.0, n_rows), 2)
    ward = random.choice(["surgery", "urology", "eyes", "lungs"], n_rows, p=[0.4, 0.3, 0.2, 0.1])
    admitted = np.datetime64("2024-01-01T00:00") + random.integers(0, 500 * 24, n_rows).astype(
        "timedelta64[h]"
    )
    risk = (age > 60) * 1.0 + (dose > 7) + (ward == "lungs") + random.normal(0, 0.6, n_rows)
    label = np.where(risk > 1.6, "ill", np.where(risk > 0.6, "watch", "well"))
    return pa.table(
        {
            "age": age,
            "dose": pa.array(dose, mask=random.random(n_rows) < 0.1),
            "ward": pa.array(ward.tolist(), mask=random.random(n_rows) < 0.03),
            "admitted": admitted.astype("datetime64[us]"),
            "smokes": random.random(n_rows) < 0.3,
            "weight": random.integers(0, 4, n_rows),
            "y": label.tolist(),
        }
    )


def _made() -> list[Case]:
    """The cases on made tables."""
    plain = {"kind": "study", "folds": {"outer": 5}}
    mixed = {"drop": ["weight"], "positive": ["ill"]}
    best = {"kind": "study", "folds": {"outer": 3}, "profile": "best"}

    def case(name: str, **tables: Any) -> Case:
        return Case(name, tables, table=mixed_table)

    return [
        Case("small-paper", plain, table=lambda: pa.table(small_table())),
        Case("small-best", best, table=lambda: pa.table(small_table())),
        Case("small-fit", {"kind": "fit"}, table=lambda: pa.table(small_table())),
        case("mixed-drop", **plain, data=mixed),
        case("mixed-indicator", **best, data={**mixed, "missing": "indicator"}),
        case("mixed-classes", **plain, data={"drop": ["weight"], "classes": "all"}),
        case(
            "mixed-classes-best",
            **best,
            data={"drop": ["weight"], "classes": "all", "missing": "indicator"},
        ),
        case(
            "mixed-weights",
            **best,
            data={"weight": "weight", "positive": ["ill"], "missing": "indicator"},
        ),
        case("mixed-cost", **plain, data=mixed, formula={"threshold": 0.25}),
        case("mixed-balanced", **best, data=mixed, formula={"objective": "balanced_accuracy"}),
        case(
            "mixed-entropy",
            **plain,
            data=mixed,
            booleanize={"cuts": "entropy"},
            select={"rank": ["jmi", "chi2"]},
        ),
    ]


MADE = tuple(_made())
_IDEAL = 'methods=["ideal"]'
_SIZED = 'methods=["ideal", "formula_size"]'


def _paper(name: str, profile: str, *settings: str, **facts: Any) -> Case:
    file = ROOT / "jobs" / "paper" / f"{name}.toml"
    return Case(
        f"{name}-{profile}", file, (f"profile={profile.partition('-')[0]}", *settings), **facts
    )


PUBLISHED = (
    *(_paper(name, "paper", _IDEAL) for name in PAPER),
    # Each fold of the profile "best" takes seconds; the paper's profile has all folds. Its frontier
    # writes ten formulas in every fold, and none that is not chosen somewhere else.
    *(_paper(name, "best", _IDEAL, "folds.frontier=false", "folds.outer=3") for name in PAPER),
    *(
        _paper(name, "paper-sized", _SIZED, "baselines.formula_size.max_size=6", needs_numba=True)
        for name in UCI
    ),
)
CASES = {case.name: case for case in (*MADE, *PUBLISHED)}
