"""Ways of dealing rows into folds other than by their numbers: by group, by label, by site, by time
and by file.

    circles   groups, each with all its rows at one position; labels, each on a circle of its own
    stages    sites, spans of time, and files that are only tested

Each needs only the row itself and a little that is known of all rows, so that no row is moved and
nothing depends on partitions. What must be known is found in one scan of the columns that say how
to deal: which sites there are, how many rows of each label precede a partition, and the groups, if
these are few. Groups are known by a keyed 64-bit hash of their value, and a scan keeps the smallest
of these: if there are fewer than it may keep, it has them all, and each fold gets as many groups as
another, or one more; else there are so many that their hashes alone deal them evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np

from dnfscale.core.arrays import Codes, Ints, Scalar, narrowest
from dnfscale.core.columns import Block, Categories, Numbers, Reading, Rows, classes_of
from dnfscale.core.hashes import Hashes, keyed, order_keys, value_keys
from dnfscale.core.splits import EARLY, LATE, LEARNED, NEVER, TESTED, Deal, Permutation
from dnfscale.errors import DataError, LimitError

MOST_GROUPS = 1 << 13
"""So many groups are known one by one."""
_POSITIONS = 1 << 62
"""The size of the circle of the hashes of more groups than that."""
_MOST_LABELS = 250
_GOLDEN = (5**0.5 - 1) / 2
Counts = dict[Scalar, int]


@dataclass(frozen=True, slots=True)
class DealColumn:
    """A column by which rows are dealt, and the key of the spec that names it."""

    name: str
    key: str
    position: int
    """Its position among the columns that are read beside the features."""

    def of(self, block: Block) -> Numbers | Categories:
        """Return the values of a block; one that is missing is an error."""
        data = block.beside[self.position]
        missing = int(np.count_nonzero(data.missing())) if data.has_missing else 0
        if missing:
            raise DataError(
                f"column {self.name!r}: expected a value in every row, because {self.key} deals "
                f"rows by it, got some rows without one; fill them, or leave these rows out",
                self.key,
            )
        return data


@dataclass(frozen=True, slots=True, eq=False)
class GroupRows:
    """The groups with the smallest hashes, in increasing order, and their rows of each label."""

    hashes: Hashes
    label_rows: dict[Scalar, Ints]
    """Empty if labels do not matter."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GroupRows)
            and np.array_equal(self.hashes, other.hashes)
            and self.label_rows.keys() == other.label_rows.keys()
            and all(
                np.array_equal(rows, other.label_rows[label])
                for label, rows in self.label_rows.items()
            )
        )

    @classmethod
    def of(cls, hashes: Hashes, rows: dict[Scalar, Ints]) -> GroupRows:
        """Return the groups of hashes that may be there several times, each with its rows."""
        known, groups = np.unique(hashes, return_inverse=True)
        n_known = min(len(known), MOST_GROUPS + 1)
        added = {}
        for label, of_label in rows.items():
            added[label] = np.zeros(len(known), dtype=np.int64)
            np.add.at(added[label], groups, of_label)
        return cls(known[:n_known], {label: found[:n_known] for label, found in added.items()})


_NO_GROUPS = GroupRows(np.empty(0, dtype=np.uint64), {})


@dataclass(frozen=True, slots=True)
class DealSummary:
    """What has to be known of all rows to deal them."""

    labels: dict[int, Counts]
    """How many rows each partition has of each label; empty if labels do not matter."""
    groups: GroupRows
    sites: Counts
    """How many rows each site has; empty if sites do not matter."""

    @property
    def n_groups(self) -> int:
        """The number of groups, if there are at most MOST_GROUPS; else more than that."""
        return len(self.groups.hashes)


@dataclass(frozen=True, slots=True)
class SummarizeDealing:
    """A scan that finds what has to be known of all rows to deal them."""

    reading: Reading
    seed: int
    group: DealColumn | None
    site: DealColumn | None
    by_label: bool
    """Whether the labels of rows matter."""
    most_sites: int

    def __call__(self, rows: Rows) -> DealSummary:
        blocks = [self._of_block(block, rows.ordinal) for block in rows.blocks(self.reading)]
        return self.merge(blocks)

    def merge(self, parts: Sequence[DealSummary]) -> DealSummary:
        """Merge summaries of disjoint rows."""
        labels: dict[int, Counts] = {}
        for ordinal in {ordinal for part in parts for ordinal in part.labels}:
            labels[ordinal] = _added(part.labels.get(ordinal, {}) for part in parts)
        self._check_labels(len({label for counts in labels.values() for label in counts}))
        sites = _added(part.sites for part in parts)
        if self.site is not None and len(sites) > self.most_sites:
            raise LimitError(
                f"{self.site.key} makes every value a fold, at most {self.most_sites:,}, but "
                f"column {self.site.name!r} has at least {len(sites):,}; choose another column, "
                "or keep its rows together by folds.group",
                self.site.key,
            )
        return DealSummary(labels, _merged([part.groups for part in parts]), sites)

    def _of_block(self, block: Block, ordinal: int) -> DealSummary:
        labels = _value_rows(block.target) if self.by_label else {}
        self._check_labels(len(labels))
        groups = _NO_GROUPS
        if self.group is not None:
            hashes = group_hashes(self.group.of(block), self.seed)
            rows = {
                label: (classes_of(block.target, [(label,)]) == 0).astype(np.int64)
                for label in labels
            }
            groups = GroupRows.of(hashes, rows)
        sites = {} if self.site is None else _value_rows(_categories(self.site, block))
        return DealSummary({ordinal: labels} if self.by_label else {}, groups, sites)

    def _check_labels(self, n_labels: int) -> None:
        if n_labels > _MOST_LABELS:
            raise LimitError(
                f"folds.stratify takes at most {_MOST_LABELS:,} labels, but the target "
                f"{self.reading.target!r} has at least {n_labels:,}; leave it out",
                "folds.stratify",
            )


def _merged(parts: Sequence[GroupRows]) -> GroupRows:
    """Merge the groups of disjoint rows."""
    if not parts:
        return _NO_GROUPS
    labels = {label for part in parts for label in part.label_rows}
    rows = {
        label: np.concatenate(
            [part.label_rows.get(label, np.zeros(len(part.hashes), np.int64)) for part in parts]
        )
        for label in labels
    }
    return GroupRows.of(np.concatenate([part.hashes for part in parts]), rows)


def group_hashes(data: Numbers | Categories, seed: int) -> Hashes:
    """Return the keyed hash of each row's group."""
    return keyed(value_keys(data), purpose="groups", seed=seed)


@dataclass(frozen=True, slots=True, eq=False)
class GroupCircle:
    """A circle of groups: all rows of a group lie at one position."""

    group: DealColumn
    seed: int
    known: Hashes | None
    """The hashes of all groups in increasing order; None if there are too many."""
    positions: Ints | None = None
    """The position of each known group; None if they lie in the order of their hashes."""
    of_groups: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return _POSITIONS if self.known is None else len(self.known)

    @property
    def n_groups(self) -> int | None:
        """The number of groups; None if there are too many to be known."""
        return None if self.known is None else len(self.known)

    def dealer(self, ordinal: int, ends: Ints) -> Deal:  # noqa: ARG002 (groups are anywhere)
        def deal(_: int, block: Block) -> Codes:
            positions = self._positions(group_hashes(self.group.of(block), self.seed))
            return _arcs(ends, positions)

        return deal

    def _positions(self, hashes: Hashes) -> Ints:
        if self.known is None:
            return (hashes >> np.uint64(2)).astype(np.int64)
        places = np.searchsorted(self.known, hashes)
        if not np.array_equal(self.known.take(places, mode="clip"), hashes):
            raise _unknown(self.group)
        return places if self.positions is None else self.positions[places]


def known_groups(summary: DealSummary) -> Hashes | None:
    """Return the hashes of all groups; None if there are too many."""
    return summary.groups.hashes if summary.n_groups <= MOST_GROUPS else None


def even_positions(groups: GroupRows, seed: int) -> Ints:
    """Return positions of all groups such that every arc has groups of all shares of labels.

    Groups are ordered by their shares, and the steps of the golden ratio, which come everywhere
    equally often, say which of them is next on the circle.
    """
    n_groups = len(groups.hashes)
    rows = np.array([groups.label_rows[label] for label in sorted(groups.label_rows)])
    shares = rows / rows.sum(axis=0)
    by_share = np.lexsort((groups.hashes, *shares[::-1]))
    [start] = keyed(np.array([n_groups], dtype=np.uint64), purpose="strata", seed=seed)
    walk = (np.arange(n_groups) * _GOLDEN + int(start) / 2**64) % 1.0
    positions = np.empty(n_groups, dtype=np.int64)
    positions[by_share[np.argsort(walk, kind="stable")]] = np.arange(n_groups)
    return positions


@dataclass(frozen=True, slots=True, eq=False)
class LabelCircle:
    """A circle on which the rows of every label are spread alike: each arc has its share of each,
    up to a row.
    """

    seed: int
    label_rows: Counts
    """The number of rows of each label."""
    before: dict[int, Counts]
    """How many rows of each label precede each partition."""
    of_groups: ClassVar[bool] = False

    @classmethod
    def of(cls, summary: DealSummary, seed: int) -> LabelCircle:
        """Return the circle of rows that are known by their labels."""
        before: dict[int, Counts] = {}
        passed: Counts = {}
        for ordinal in sorted(summary.labels):
            before[ordinal] = passed
            passed = _added([passed, summary.labels[ordinal]])
        return cls(seed, passed, before)

    @property
    def size(self) -> int:
        return sum(self.label_rows.values())

    def dealer(self, ordinal: int, ends: Ints) -> Deal:
        labels = sorted(self.label_rows)
        passed = [self.before.get(ordinal, {}).get(label, 0) for label in labels]
        arcs_of = [self._ends(ends, place) for place in range(len(labels))]

        def deal(_: int, block: Block) -> Codes:
            classes = classes_of(block.target, [(label,) for label in labels])
            arcs = np.empty(block.n_rows, dtype=narrowest(len(ends) - 1))
            for place, label in enumerate(labels):
                rows = np.flatnonzero(classes == place)
                numbers = np.arange(passed[place], passed[place] + len(rows), dtype=np.uint64)
                passed[place] += len(rows)
                permutation = Permutation(self.label_rows[label], self._key(place))
                arcs[rows] = _arcs(arcs_of[place], permutation(numbers).astype(np.int64))
            return arcs

        return deal

    def _key(self, place: int) -> int:
        """Return the seed of a label's own permutation."""
        return (self.seed << 16) + 1 + place

    def _ends(self, ends: Ints, place: int) -> Ints:
        """Return where the arcs end among the rows of a label.

        What is left over when these are divided goes to arcs that the seed chooses, not always to
        the last.
        """
        n_rows = self.label_rows[sorted(self.label_rows)[place]]
        [drawn] = keyed(np.array([place], dtype=np.uint64), purpose="labels", seed=self.seed)
        offset = int(drawn) % self.size
        return np.array([(end * n_rows + offset) // self.size for end in ends.tolist()])


@dataclass(frozen=True, slots=True, eq=False)
class SiteStages:
    """Each value of a column is a stage, and tested by a fold of its own."""

    site: DealColumn
    values: tuple[Scalar, ...]
    hold_out: ClassVar[bool] = False

    @property
    def n_stages(self) -> int:
        return len(self.values)

    def roles(self) -> Codes:
        n_sites = len(self.values)
        roles = np.full((n_sites + 1, n_sites), LEARNED, dtype=np.uint8)
        np.fill_diagonal(roles, TESTED)
        return roles

    def __call__(self, first_row: int, block: Block) -> Codes:  # noqa: ARG002
        stages = classes_of(_categories(self.site, block), [(value,) for value in self.values])
        if len(stages) and int(stages.max()) == len(self.values):
            raise _unknown(self.site)
        return stages


@dataclass(frozen=True, slots=True, eq=False)
class FileStages:
    """Rows of files to learn from, and after them those of files to test."""

    first_tested: int
    """The number of the first row to test."""
    n_stages: ClassVar[int] = 2
    hold_out: ClassVar[bool] = True

    def roles(self) -> Codes:
        return np.array([[LEARNED, TESTED], [LEARNED, NEVER]], dtype=np.uint8)

    def __call__(self, first_row: int, block: Block) -> Codes:
        numbers = np.arange(first_row, first_row + block.n_rows)
        return (numbers >= self.first_tested).astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class TimeStages:
    """Spans of time: each fold learns from what was before its test part, and validates on the
    latest of it.
    """

    time: DealColumn
    tested: tuple[int, ...]
    """The key of the first time that each fold tests; it tests until the next fold does."""
    late: tuple[int | None, ...]
    """The key of the first time that each fold validates on, the fold of all rows last; None if it
    learns from one time only, which is then dealt by the circle.
    """
    starts: tuple[str, ...]
    """The first time that each fold tests, in words."""
    hold_out: ClassVar[bool] = False

    @property
    def bounds(self) -> list[int]:
        """The keys at which stages begin, except the first stage."""
        return sorted({*self.tested, *(key for key in self.late if key is not None)})

    @property
    def n_stages(self) -> int:
        return len(self.bounds) + 1

    def roles(self) -> Codes:
        begins = np.array([0, *self.bounds], dtype=np.uint64)
        roles = np.full((len(self.late), len(begins)), LEARNED, dtype=np.uint8)
        for fold, late in enumerate(self.late):
            if late is not None:
                roles[fold] = np.where(begins >= np.uint64(late), LATE, EARLY)
            for key, role in zip(
                islice(self.tested, fold, fold + 2), (TESTED, NEVER), strict=False
            ):
                roles[fold, begins >= np.uint64(key)] = role
        return roles

    def __call__(self, first_row: int, block: Block) -> Codes:  # noqa: ARG002
        data = self.time.of(block)
        assert isinstance(data, Numbers)
        bounds = np.array(self.bounds, dtype=np.uint64)
        stages = np.searchsorted(bounds, order_keys(data.values), side="right")
        return stages.astype(narrowest(len(bounds)))


def _categories(column: DealColumn, block: Block) -> Categories:
    data = column.of(block)
    assert isinstance(data, Categories)
    return data


def _arcs(ends: Ints, positions: Ints) -> Codes:
    return np.searchsorted(ends, positions, side="right").astype(narrowest(len(ends) - 1))


def _value_rows(data: Categories) -> Counts:
    """Return how many rows have each value."""
    rows: Counts = {}
    counts = np.bincount(data.codes[data.codes >= 0], minlength=len(data.values)).tolist()
    for value, count in zip(data.values, counts, strict=True):
        # The dictionary of a stored column may list a value twice.
        if count:
            rows[value] = rows.get(value, 0) + count
    return rows


def _added(counts: Iterable[Counts]) -> Counts:
    total: Counts = {}
    for part in counts:
        for value, n in part.items():
            total[value] = total.get(value, 0) + n
    return total


def _unknown(column: DealColumn) -> DataError:
    return DataError(
        f"column {column.name!r}: expected the values of the first scan, got another; run again on "
        "data that does not change meanwhile",
        column.key,
    )
