"""Tables of a lake as sources: read in place, or else kept as Parquet."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from dnfscale.data.lake import Snapshot, open_snapshot
from dnfscale.data.source import Source, open_live
from dnfscale.datasets.convert import (
    GROUP_ROWS,
    Conversion,
    Store,
    folder_name,
    kept_once,
    open_kept,
    parquet_writer,
)
from dnfscale.engine.limits import cores
from dnfscale.spec.storage import Access


def open_lake(path: str, kind: str, access: Access, asked: Conversion) -> Source:
    """Open a snapshot of a table, in place or else where its rows are kept."""
    snapshot = open_snapshot(path, kind, asked.version, access)
    if snapshot.is_plain:
        files = {file.path: dict(file.constants) for file in snapshot.files}
        source = open_live(path, files, access, suits=snapshot.has, order=[*snapshot.schema.names])
        if source is not None:
            return source
    now = {
        path: {
            "table": snapshot.identity,
            "version": snapshot.version,
            # It may be younger than the snapshot.
            "columns": str(snapshot.schema.remove_metadata()),
        }
    }
    name = folder_name(path, access, (kind, snapshot.version))

    def make(folder: str) -> str:
        task = _KeepFile(snapshot, Store(folder, asked.access))
        with ThreadPoolExecutor(max_workers=cores()) as pool:
            rows = sum(pool.map(task, range(len(snapshot.files))))
        return f"{snapshot.called}; {rows:,} rows"

    return open_kept(path, kept_once(path, name, now, make, asked), asked)


@dataclass(frozen=True, slots=True)
class _KeepFile:
    """The task: write the rows of a file that live."""

    snapshot: Snapshot
    store: Store

    def __call__(self, number: int) -> int:
        name = f"part-{number:05d}.parquet"
        written = self.store.footer(name)
        if written is not None:
            # By a conversion that was interrupted.
            return int(written.num_rows)
        rows, sink = 0, pa.BufferOutputStream()
        schema = self.snapshot.schema.remove_metadata()
        with parquet_writer(sink, schema) as writer:
            for table in self.snapshot.read(number):
                writer.write_table(table, row_group_size=GROUP_ROWS)
                rows += table.num_rows
        self.store.write(name, sink.getvalue())
        return rows
