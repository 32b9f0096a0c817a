"""A published dataset: what is known about it, where to get it, and how to tell whether a table is
it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from dnfscale.core.arrays import Scalar
from dnfscale.datasets.download import Progress, fetch
from dnfscale.datasets.publishers import Reader, Step, typed, unpack
from dnfscale.errors import DataError


class Address(Protocol):
    """A file on the web."""

    @property
    def filename(self) -> str:
        """The name that the file has when a person downloads it."""
        ...

    def fetch(self, target: Path, progress: Progress | None) -> None:
        """Download the file."""
        ...


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file whose address is known."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def filename(self) -> str:
        return unquote(urlsplit(self.url).path.rsplit("/", 1)[-1])

    def fetch(self, target: Path, progress: Progress | None) -> None:
        fetch(self.url, target, progress=progress)


@dataclass(frozen=True, slots=True)
class OpenmlArff:
    """The ARFF file of an OpenML dataset; the dataset's description gives its address and its
    checksum.
    """

    data_id: int
    filename: str
    service: str = "https://www.openml.org/api/v1/json/data"

    def __str__(self) -> str:
        return f"{self.service}/{self.data_id}"

    def fetch(self, target: Path, progress: Progress | None) -> None:
        described = target.with_name(target.name + ".json")
        try:
            fetch(str(self), described)
            description = json.loads(described.read_bytes())["data_set_description"]
            url, md5 = str(description["url"]), description.get("md5_checksum")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{self}: expected a description with the url of the data, but that is not "
                f"what came ({error!r}); "
                "try again later"
            ) from error
        finally:
            described.unlink(missing_ok=True)
        fetch(url, target, checksum=f"md5:{md5}" if md5 else None, progress=progress)


@dataclass(frozen=True, slots=True)
class Origin:
    """One place to get a dataset from, and how its file is read."""

    address: Address
    reader: Reader
    members: tuple[str, ...] = ()
    """The path to the data through nested archives: each member lies in the one before."""
    steps: tuple[Step, ...] = ()

    def read(self, file: Path) -> pa.Table:
        """Return the table of a downloaded file, still with the types of the file."""
        where = "/".join((self.address.filename, *self.members))
        table = self.reader.read(unpack(file, self.members), where)
        for step in self.steps:
            table = step(table)
        return table


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is known about one of the twelve datasets."""

    name: str
    title: str
    columns: tuple[str, ...]
    """All columns in the order of the file."""
    rows: int
    attributes: int
    """Boolean attributes: one for each number, each two-valued column, and each value of a
    categorical one.
    """
    target: str
    positive: tuple[Scalar, ...]
    classes: tuple[tuple[Scalar, int], ...]
    """The labels and how many rows have each."""
    licence: str
    origins: tuple[Origin, ...]
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    fractional: tuple[str, ...] = ()
    """Columns that hold text, and columns that hold numbers with fractions; all others hold whole
    numbers.
    """
    missing: tuple[tuple[str, int], ...] = ()
    """The columns with missing values, and how many."""
    rows_without_missing: int = 0

    def __post_init__(self) -> None:
        if not self.missing:
            object.__setattr__(self, "rows_without_missing", self.rows)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Features that are neither categorical nor two-valued."""
        other = {self.target, *self.drop, *self.categorical, *self.boolean}
        return tuple(name for name in self.columns if name not in other)

    def table(self, origin: Origin, file: Path) -> pa.Table:
        """Return the dataset from a file of one of its origins, checked."""
        table = typed(
            origin.read(file), columns=self.columns, text=self.text, fractional=self.fractional
        )
        check_table(self, table)
        return table


def check_table(dataset: Dataset, table: pa.Table) -> None:
    """Raise DataError if a table differs from what is known about the dataset."""
    if set(table.column_names) != set(dataset.columns):
        raise DataError(
            _differs(
                dataset, "columns", len(dataset.columns), f"{table.num_columns:,} with other names"
            )
        )
    if table.num_rows != dataset.rows:
        raise DataError(_differs(dataset, "rows", dataset.rows, f"{table.num_rows:,}"))
    counted = pc.value_counts(table.column(dataset.target)).to_pylist()
    classes = sorted((str(entry["values"]), entry["counts"]) for entry in counted)
    expected = sorted((str(label), count) for label, count in dataset.classes)
    if classes != expected:
        raise DataError(
            _differs(dataset, f"labels in {dataset.target!r}", _listed(expected), _listed(classes))
        )
    missing = {
        name: table.column(name).null_count
        for name in table.column_names
        if table.column(name).null_count
    }
    if missing != dict(dataset.missing):
        raise DataError(
            _differs(
                dataset,
                "missing values",
                _listed(dataset.missing),
                _listed(sorted(missing.items())),
            )
        )
    used = table.drop_columns(list(dataset.drop)) if dataset.drop else table
    complete = used.drop_null()
    if complete.num_rows != dataset.rows_without_missing:
        raise DataError(
            _differs(
                dataset, "complete rows", dataset.rows_without_missing, f"{complete.num_rows:,}"
            )
        )
    values = sum(len(complete.column(name).unique()) for name in dataset.categorical)
    attributes = len(dataset.numeric) + len(dataset.boolean) + values
    if attributes != dataset.attributes:
        raise DataError(
            _differs(dataset, "Boolean attributes", dataset.attributes, f"{attributes:,}")
        )


def _differs(dataset: Dataset, what: str, expected: int | str, found: str) -> str:
    number = f"{expected:,}" if isinstance(expected, int) else expected
    return (
        f"{dataset.name}: expected {number} {what}, got {found}; the file is damaged, or "
        "another version"
    )


def _listed(counts: Sequence[tuple[object, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts) or "none"
