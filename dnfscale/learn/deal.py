"""How the rows of a table are dealt into the parts of folds: by their numbers, or as the table
[folds] of the spec says.

What has to be known of all rows is found in a scan of the columns that say how to deal; the read
then deals each row where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import Reading
from dnfscale.core.dealing import (
    MOST_GROUPS,
    DealColumn,
    DealSummary,
    FileStages,
    GroupCircle,
    LabelCircle,
    SiteStages,
    SummarizeDealing,
    even_positions,
    known_groups,
)
from dnfscale.core.splits import TEST, WHOLE, Circle, Splits, Stages
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import MOST_FOLDS, asked_folds, splits_of
from dnfscale.learn.times import plan_times, time_stages
from dnfscale.spec.learn import LearnSpec, tested_by

LOOK_AT_FOLDS = Phase("look at folds", Reads.SOME_COLUMNS, "see how to deal rows into folds")


def deal_rows(
    source: Source,
    reading: Reading,
    spec: LearnSpec,
    engine: Engine,
    *,
    row_numbers: Mapping[int, range],
    counted: bool,
) -> Splits:
    """Return how rows are dealt, given the numbers of those of each partition; columns that cannot
    deal them so are an error.

    Unless rows were counted, none is expected to be dropped for what it misses.
    """
    n_rows = sum(map(len, row_numbers.values()))
    stages: Stages | None = None if spec.test is None else _files(source, row_numbers)
    if not _looks(spec):
        return splits_of(n_rows, spec, stages=stages)
    keys = "folds.group", "folds.time", "folds.by"
    group, time, site = (_column(key, spec) for key in keys)
    reading = reading if counted else replace(reading, columns=())
    outer: int | None = None
    if time is not None:
        stages = time_stages(source, reading, time, spec, engine)
        outer = len(stages.tested)
    if not _summarizes(spec):
        return splits_of(n_rows, spec, outer=outer, stages=stages)
    scan = SummarizeDealing(
        reading,
        seed=spec.seed,
        group=group,
        site=site,
        by_label=spec.stratify,
        most_sites=MOST_FOLDS,
    )
    summary: DealSummary = engine.reduce(LOOK_AT_FOLDS.name, source.partitions, scan, scan.merge)
    if group is not None:
        _check_groups(summary, spec)
    if site is not None:
        stages = _sites(summary, site)
        outer = stages.n_stages
    if group is not None and outer is None:
        outer = _group_folds(summary, spec)
    circle = _circle(summary, group, spec)
    if isinstance(circle, LabelCircle) and outer is None and spec.outer is None:
        outer = _label_folds(circle, spec)
    return splits_of(n_rows, spec, outer=outer, circle=circle, stages=stages)


def plan_dealing(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of deal_rows."""
    if layout.spec.time is not None:
        yield from plan_times(layout)
    if _summarizes(layout.spec):
        names = {layout.spec.target, *layout.spec.dealt_by.values()}
        read_bytes = sum(layout.source.column_bytes.get(name, 0) for name in names)
        yield LOOK_AT_FOLDS.planned(layout.reduction(layout.batches), read_bytes)


def check_parts(splits: Splits, positives: Sequence[Sequence[Scalar]], spec: LearnSpec) -> None:
    """Raise an error if a fold has nothing to learn from or to test, or if what is held out, or
    what is left, has one class only; `positives` has the labels of each target.
    """
    if splits.label_arcs is None:
        return
    for fold in range(splits.outer):
        for what, parts in (("test", (TEST,)), ("learn from", WHOLE)):
            if not splits.rows_of(fold, parts):
                raise DataError(
                    f"expected rows to {what} in every fold, but as [folds] deals the rows, fold "
                    f"{fold + 1} of {splits.outer} has none; lower folds.outer, or deal rows "
                    "in another way",
                    _dealing_key(spec),
                )
    if not splits.hold_out or len(positives) > 1:
        return
    for what, parts in (("rows to test", (TEST,)), ("rows to learn from", WHOLE)):
        members = splits.members(parts)[0]
        rows = splits.rows_of(0, parts)
        positive = sum(
            int(np.array(splits.label_arcs[label])[members].sum())
            for label in positives[0]
            if label in splits.label_arcs
        )
        if positive in (0, rows):
            raise DataError(
                f"expected both classes among the {rows:,} {what}, but as {_dealing_key(spec)} "
                f"deals the rows, {'all' if positive else 'none'} of them are positive; change "
                "it, or set folds.stratify = true",
                _dealing_key(spec),
            )


def _dealing_key(spec: LearnSpec) -> str:
    """Return the key that decides first which rows are tested."""
    group = ["folds.group"] if spec.group is not None else []
    return [*tested_by(spec), *group, "folds.stratify"][0]


def _looks(spec: LearnSpec) -> bool:
    """Return whether rows are looked at before they are dealt."""
    return spec.time is not None or _summarizes(spec)


def _summarizes(spec: LearnSpec) -> bool:
    """Return whether groups, sites or labels of rows are looked at before they are dealt."""
    return spec.group is not None or spec.by is not None or spec.stratify


def _column(key: str, spec: LearnSpec) -> DealColumn | None:
    """Return the column that a key names, if it names one, and where it is in a block."""
    keys = list(spec.dealt_by)
    return DealColumn(spec.dealt_by[key], key, keys.index(key)) if key in keys else None


def _circle(summary: DealSummary, group: DealColumn | None, spec: LearnSpec) -> Circle | None:
    """Return the circle that rows lie on; None if it is that of their numbers."""
    if group is None:
        return LabelCircle.of(summary, spec.seed) if spec.stratify else None
    known = known_groups(summary)
    even = spec.stratify and known is not None
    positions = even_positions(summary.groups, spec.seed) if even else None
    return GroupCircle(group, spec.seed, known, positions)


def _files(source: Source, row_numbers: Mapping[int, range]) -> FileStages:
    first = source.first_tested
    if first is None:
        raise SpecError(
            "folds.test names files to test on, but a table in memory has none; give a path",
            "folds.test",
        )
    return FileStages(sum(len(rows) for place, rows in row_numbers.items() if place < first))


def _label_folds(circle: LabelCircle, spec: LearnSpec) -> int:
    """Return how many test folds there are where nobody says it: so few that each has a row of the
    most frequent label.
    """
    size, most = circle.size, max(circle.label_rows.values(), default=0)
    asked = asked_folds(size, spec)
    allowed = [number for number in range(2, asked + 1) if size // number * most >= size]
    return max(allowed, default=min(2, asked))


def _sites(summary: DealSummary, site: DealColumn) -> SiteStages:
    if len(summary.sites) < 2:
        raise DataError(
            f"expected at least 2 values to make folds of, but column {site.name!r} has one; "
            f"choose another {site.key}, or leave it out",
            site.key,
        )
    return SiteStages(site, tuple(sorted(summary.sites)))


def _check_groups(summary: DealSummary, spec: LearnSpec) -> None:
    if summary.n_groups < 2 and spec.outer != 0:
        raise DataError(
            "expected at least 2 groups to test on others than were learned from, but column "
            f"{spec.group!r} has one value; choose another folds.group, or leave it out",
            "folds.group",
        )


def _group_folds(summary: DealSummary, spec: LearnSpec) -> int:
    """Return how many test folds the groups are dealt into."""
    n_groups = summary.n_groups
    if spec.outer == 0:
        return 0
    if spec.tests_once:
        return 1
    many = n_groups > MOST_GROUPS
    if spec.outer == "leave-one-out" and n_groups > MOST_FOLDS:
        raise LimitError(
            f'folds.outer = "leave-one-out" makes every group a fold, at most {MOST_FOLDS:,}, but '
            f"column {spec.group!r} has {'more than ' if many else ''}"
            f"{min(n_groups, MOST_GROUPS):,}; give a number",
            "folds.outer",
        )
    if spec.outer is None:
        return min(10, n_groups)
    outer = n_groups if spec.outer == "leave-one-out" else int(spec.outer)
    if outer > n_groups:
        raise SpecError(
            f"folds.outer must be at most the number of groups, and column {spec.group!r} has "
            f"{n_groups:,}; got {outer:,}; lower it",
            "folds.outer",
        )
    return outer
