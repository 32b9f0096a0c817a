"""Faults of storage: no room where results or spilled rows go, and files that change between
scans.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dnfscale.learn.read import READ_ROWS
from dnfscale.learn.write import MINIMIZE
from tests.faults.fault import IDENTICAL, REFUSED, RESUMED, Fault, NotReadyError
from tests.faults.ground import PARTITION_ROWS, Ground, demand, meanwhile, write_wide
from tests.jobs.running import surroundings
from tests.twins import PLAIN, put_twin

_CELL_BYTES = 1_000_000_000


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Callable[[int], None]]:
    """Mount a small disk on a folder; what is yielded makes it larger."""
    if os.geteuid() != 0:
        raise NotReadyError("mounting a small disk needs root")
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", folder],
        check=False,
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        raise NotReadyError(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield lambda more: _remount(folder, more)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def _remount(folder: Path, kib: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kib}k", folder], check=True, capture_output=True)


def _fill_output(ground: Ground) -> None:
    name = ground.new_name()
    spec = ground.spec("formula", name)
    with small_disk(ground.output(name), kib=24) as enlarge:
        ended = ground.run_on_cluster(spec)
        ground.check_refused(name, ended, 5, "make room, then run with --resume")
        enlarge(16 << 10)
        ground.check_identical("formula", name, ground.run_on_cluster(spec, "--resume"))


def _fill_spill(ground: Ground) -> None:
    """Have workers spill nearly all they keep to a disk that is full at once: then it stays in
    memory.
    """
    ground.start_cluster()
    ground.end_workers()
    name = ground.new_name()
    folder = ground.folder / f"spill-{name}"
    try:
        with small_disk(folder, kib=256):
            for _ in range(2):
                ground.add_worker(
                    DASK_TEMPORARY_DIRECTORY=str(folder),
                    DASK_DISTRIBUTED__WORKER__MEMORY__TARGET="0.0001",
                )
            ended = ground.run_on_cluster(ground.spec("formula", name))
            ground.end_workers()
    finally:
        ground.end_workers()
    logs = "".join(file.read_text(errors="replace") for file in ground.folder.glob("worker*.log"))
    demand("Spill to disk failed; keeping data in memory" in logs, "nothing was spilled")
    ground.check_identical("formula", name, ended)


def _fill_log(ground: Ground) -> None:
    """Have all that a runner says go to a disk that is full after a few lines."""
    name = ground.new_name()
    spec = ground.spec("formula", name)
    folder = ground.folder / f"log-{name}"
    with small_disk(folder, kib=4):
        log = folder / "log.txt"
        log.write_bytes(b"." * 3700)
        with log.open("ab") as file:
            runner = subprocess.Popen(
                ground.runner_command(spec),
                cwd=ground.folder,
                env=surroundings(**ground.environment),
                stdout=file,
                stderr=file,
            )
        ended = ground.wait_for_logged(runner, log)
    told = ended.err[3700:]
    demand(READ_ROWS.title in told, f"nothing was told before the disk was full: {told}")
    demand(MINIMIZE.title not in told, "there was room for all")
    ground.check_identical("formula", name, ended)


def _fill_spill_and_memory(ground: Ground) -> None:
    """Have a local worker keep more rows than its memory holds, with no room on the disk; then make
    room.
    """
    write_wide(ground.folder / "wide")
    name = ground.new_name()
    folder = ground.folder / f"spill-{name}"
    cluster = {
        "kind": "local",
        "workers": 1,
        # Libraries take half of it, and the rows as much.
        "memory_limit": "320MiB",
        "local_directory": str(folder),
    }
    spec = ground.spec("wide", name, cluster=cluster)
    with small_disk(folder, kib=64) as enlarge:
        ended = ground.wait_for_runner(ground.start_runner(spec))
        ground.check_refused(name, ended, 5, str(folder))
        enlarge(1 << 20)
        ground.check_identical(
            "wide", name, ground.wait_for_runner(ground.start_runner(spec, "--resume"))
        )


def _inflate(ground: Ground) -> None:
    """Have local workers read a small file with a cell larger than the memory that they have."""
    name = ground.new_name()
    words = ["a"] * 999 + ["b" * _CELL_BYTES]
    table = pa.table({"s": words, "y": [number % 2 == 0 for number in range(1000)]})
    file = ground.folder / "inflated.parquet"
    pq.write_table(table, file, use_dictionary=False, compression="zstd", write_statistics=False)
    cluster = {"kind": "local", "workers": 1, "memory_limit": "256MiB"}
    spec = ground.spec("formula", name, data={"path": file.name}, cluster=cluster)
    ended = ground.wait_for_runner(ground.start_runner(spec))
    ground.check_refused(name, ended, 5, "because they used more than their memory")
    ground.check_left(name)


def _change_file(ground: Ground, alter: Callable[[Path], object], said: str) -> None:
    """Change a file of the data once its rows are read, while they are counted; then bring it
    back.
    """
    name = ground.new_name()
    data = ground.folder / f"data-{name}"
    shutil.copytree(ground.folder / "table", data)
    file = data / "1.parquet"
    pq.write_table(pq.read_table(file), file, row_group_size=PARTITION_ROWS, **PLAIN)
    before, times = file.read_bytes(), file.stat()
    spec = ground.spec("formula", name, data={"path": data.name})
    ground.arm("wait", "associate attributes", seconds=2)

    def change() -> None:
        ground.marked()
        alter(file)

    ended = meanwhile(change)
    refused = ground.run_on_cluster(spec)
    ended()
    ground.disarm()
    ground.check_refused(name, refused, 3, said)
    file.write_bytes(before)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    ground.check_identical("formula", name, ground.run_on_cluster(spec, "--resume"))
    shutil.rmtree(data)


def _truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _rewrite(file: Path) -> None:
    file.write_bytes(file.read_bytes())


def _replace_by_twin(file: Path) -> None:
    """Put a file of the same size, time and footer in its place, in which x is another."""
    table = pq.read_table(file)
    put_twin(file, table.set_column(0, "x", pc.negate(table["x"])), row_group_size=PARTITION_ROWS)


FAULTS = (
    Fault("output-full", "no room for the run's files (exit code 5)", RESUMED, _fill_output),
    Fault("spill-full", "no room where workers spill", IDENTICAL, _fill_spill),
    Fault("log-full", "the log disk full", IDENTICAL, _fill_log),
    Fault(
        "spill-and-memory-full",
        "the spill disk full, and rows that do not fit in memory (5)",
        RESUMED,
        _fill_spill_and_memory,
    ),
    Fault(
        "file-inflates",
        "a small file that inflates beyond the memory of a worker (5)",
        REFUSED,
        _inflate,
    ),
    Fault(
        "file-deleted",
        "a Parquet file deleted between scans (exit code 3)",
        RESUMED,
        partial(_change_file, alter=Path.unlink, said="it is gone"),
    ),
    Fault(
        "file-truncated",
        "a Parquet file cut short between scans (3)",
        RESUMED,
        partial(_change_file, alter=_truncate, said="written since"),
    ),
    Fault(
        "file-rewritten",
        "a Parquet file written again between scans (3)",
        RESUMED,
        partial(_change_file, alter=_rewrite, said="written since"),
    ),
    Fault(
        "file-twin",
        "a Parquet file replaced by its twin: same size, time and footer (3)",
        RESUMED,
        partial(_change_file, alter=_replace_by_twin, said="but with other values"),
    ),
)
