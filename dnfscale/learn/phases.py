"""Phases: one pass over partitions or folds each, declared beside the code that carries it out.

A module that runs a phase on an engine declares it as a value, `COUNT_TYPES = Phase("count types",
...)`, and has a function `plan_...` that yields what a run will do there. The plan of a job, its
progress and its journal are made of these values; nothing else lists phases. A test compares the
phases of runs with their plans.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dnfscale.core.columns import Column, Role
from dnfscale.core.parts import stored_column
from dnfscale.data.source import Source
from dnfscale.learn.places import n_ranking_parts
from dnfscale.spec.learn import LearnSpec


class Reads(StrEnum):
    """What a phase reads, in the words of the plan."""

    FILES = "Parquet"
    SAMPLE = "Parquet, some numbers"
    WEIGHTS = "Parquet, the weights"
    SOME_COLUMNS = "Parquet, some columns"
    FILES_ON_WORKERS = "Parquet, once a worker"
    KEPT_ROWS = "rough rows"
    DRAWN_ROWS = "drawn rows"
    DISTINCT_ROWS = "distinct rows"
    RELATED_FILES = "Parquet of related rows"
    DEALT_ROWS = "rows dealt by key"
    COUNTS = "counts"

    @property
    def is_scan(self) -> bool:
        """Whether the phase goes over every row once."""
        return self in (Reads.FILES, Reads.KEPT_ROWS)

    @property
    def is_file(self) -> bool:
        """Whether the phase reads all rows of the files, which may be put off until a later phase
        asks for them.
        """
        return self in (Reads.FILES, Reads.SOME_COLUMNS)


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass over the partitions, or over the folds."""

    name: str
    """For programs: the journal, stored results and the plan call it so."""
    reads: Reads
    title: str
    """For people."""

    def planned(self, tasks: int, read_bytes: int = 0) -> PlannedPhase:
        """Return the phase with what it will take."""
        return PlannedPhase(self.name, self.reads, self.title, tasks, read_bytes)


@dataclass(frozen=True, slots=True)
class PlannedPhase:
    """A phase of a job, with its tasks and the bytes of the dataset that it reads."""

    name: str
    reads: Reads
    title: str
    tasks: int
    read_bytes: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The facts from which the phases of a job follow: its data by the footers, its folds, and its
    cluster.
    """

    source: Source
    spec: LearnSpec
    columns: tuple[Column, ...]
    folds: int
    """The number of folds, with the fold of all rows."""
    splits: int
    """The number of inner splits of each fold."""
    fan_in: int
    batches: int
    """The number of tasks into which an engine puts the partitions of a scan of files."""

    @property
    def numbers(self) -> list[str]:
        """The stored columns of the numbers, one for each column that is cut."""
        return [stored_column(column.name) for column in self.columns if column.role is Role.NUMBER]

    @property
    def ranking_parts(self) -> int:
        """The number of parts of the rows in which attributes are ranked."""
        return self.folds * n_ranking_parts(self.splits)

    @property
    def read_bytes(self) -> int:
        """The bytes of all columns that the job reads."""
        beside = {self.spec.target, self.spec.weight, *self.spec.dealt_by.values()}
        names = {stored_column(column.name) for column in self.columns} | beside
        return sum(self.source.column_bytes.get(name, 0) for name in names if name)

    def reduction(self, items: int) -> int:
        """Return the tasks of summarizing items and merging the summaries."""
        tasks = items
        while True:
            items = -(-items // self.fan_in)
            tasks += items
            if items <= 1:
                return tasks

    def scan(self, phase: Phase) -> PlannedPhase:
        """Return a scan of the rows that the workers keep."""
        return phase.planned(self.reduction(len(self.source.partitions)))
