"""A dataset of four rows with all that a dataset can have, as its publisher offers it and as it
becomes ours.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dnfscale.datasets.published import Dataset, Origin, WebFile
from dnfscale.datasets.publishers import Csv, Parquet
from tests.datasets.served import zipped

COLUMNS = ("id", "size", "kind", "round", "label")
TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 400], pa.int16()),
        "size": [2.5, None, 1.0, 3.5],
        "kind": ["a", "b", "b", "a"],
        "round": pa.array([0, 1, 1, 0], pa.int8()),
        "label": ["yes", "no", "no", "yes"],
    }
)
CSV = b"1,2.5,a,0,yes\n2,?,b,1,no\n3,1,b,1,no\n400,3.5,a,0,yes\n"
ARCHIVE = zipped(**{"tiny.data": CSV})
READER = Csv(COLUMNS, text=("kind", "label"), missing=("?",))
TINY = Dataset(
    name="tiny",
    title="Tiny",
    columns=COLUMNS,
    rows=4,
    attributes=4,
    target="label",
    positive=("yes",),
    classes=(("no", 2), ("yes", 2)),
    licence="free",
    origins=(),
    drop=("id",),
    categorical=("kind",),
    boolean=("round",),
    text=("kind", "label"),
    fractional=("size",),
    missing=(("size", 1),),
    rows_without_missing=3,
)


def tiny(*urls: str) -> Dataset:
    """Return the dataset with origins at these addresses: an archive, or Parquet where the address
    ends in .pq.
    """
    origins = [
        Origin(WebFile(url), Parquet())
        if url.endswith(".pq")
        else Origin(WebFile(url), READER, ("tiny.data",))
        for url in urls
    ]
    return replace(TINY, origins=tuple(origins))
