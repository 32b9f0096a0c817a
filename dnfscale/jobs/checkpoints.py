"""An engine whose finished scans outlive it: what a scan counted is stored, and read back instead
of counted again.

    reduce, map   the result is small: it is kept in tasks/<phase>-<number>.bin
    keep          the results are rows on workers, which are not stored: they are made when a scan
                  that has to be done asks for them, and not at all if the results of all scans of
                  them are stored
    chain         keeps notes of its own, one for each task

The phases of a job follow from its spec and its data alone, so a phase is identified by its name
and by how often that name has occurred. Stored results carry the fingerprint of the job. Once one
result is missing, all later ones are made anew even if they are stored, because they depend on the
earlier ones.

Rows that are read again must be the rows that were counted, and that their files look the same is
no proof of it: what the first scan of them counted is counted once more, and compared with what is
stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from dnfscale.engine.api import (
    Engine,
    Item,
    JointWork,
    Limit,
    Result,
    RunsOn,
    Tell,
    Watch,
    unlimited,
    untold,
)
from dnfscale.errors import DataError
from dnfscale.jobs.folders import Folder, FolderError
from dnfscale.jobs.scan_bytes import DamagedError, NotExactError, from_bytes, to_bytes
from dnfscale.learn.phases import Phase, Reads

COMPARE_COUNTS = Phase("compare counts", Reads.KEPT_ROWS, "check that rows are the same")
"""Only in a run that is resumed and reads rows again: no plan foresees it."""


class ScanRecords:
    """The results of scans in a run's folder."""

    def __init__(
        self, files: Folder, fingerprint: str, *, data: str, recalled: Callable[[str], None]
    ) -> None:
        self._files = files
        self._fingerprint = fingerprint
        self._data = data
        self._recalled = recalled
        self._seen: Counter[str] = Counter()
        self._complete = True
        """Whether all results so far were stored."""

    def recall_or(
        self,
        phase: str,
        make: Callable[[], Result],
        *,
        use: Callable[[Result], None] = lambda _: None,
    ) -> Result:
        """Return the stored result of a phase, after telling `use` of it, or make it and
        store it.
        """
        name = f"{phase.replace(' ', '-')}-{self._seen[phase]}"
        self._seen[phase] += 1
        title = f"{self._fingerprint} {name}"
        if self._complete:
            try:
                known: Result = from_bytes(title, self._files.read(_file(name)))
                self._recalled(phase)
                use(known)
                return known
            except FolderError:
                raise
            except (OSError, DamagedError):
                self._complete = False
        made = make()
        try:
            content = to_bytes(title, made)
        except NotExactError:
            # It is better to count again than to store an inexact result.
            return made
        # A result that a failing machine has half-written is found to be damaged later, and is then
        # counted again.
        self._files.jot(_file(name), content)
        return made

    def check_same(self, known: Result, counted: Result) -> None:
        """Raise DataError if rows that were read again are not the rows that were
        counted before.
        """
        if counted != known:
            raise DataError(
                f"{self._data}: expected the rows that the run began with, but they do not "
                "give the counts that are "
                "stored; restore the data, or run with --force, or without --resume, to start anew",
                "data.path",
            )

    def remove(self) -> None:
        """Remove the stored results, which are not needed any more once the job's result
        is there.
        """
        for name in self._files.names("tasks", (".bin",)):
            self._files.remove(name)


class CheckpointedEngine:
    """An engine that never repeats a finished scan."""

    def __init__(self, engine: Engine, records: ScanRecords) -> None:
        self._engine = engine
        self._records = records

    @property
    def fan_in(self) -> int:
        return self._engine.fan_in

    @property
    def worker_bytes(self) -> int | None:
        return self._engine.worker_bytes

    def reduce(
        self,
        phase: str,
        items: Sequence[Any],
        summarize: Callable[[Any], Result],
        merge: Callable[[Sequence[Result]], Result],
    ) -> Result:
        def count(shown: str) -> Result:
            return self._engine.reduce(shown, _made(items), summarize, merge)

        def compare_later(known: Result) -> None:
            if isinstance(items, _Kept):
                items.check_with(
                    lambda: self._records.check_same(known, count(COMPARE_COUNTS.name))
                )

        return self._records.recall_or(phase, lambda: count(phase), use=compare_later)

    def map(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Result]
    ) -> list[Result]:
        return self._records.recall_or(
            phase, lambda: self._engine.map(phase, _made(items), function)
        )

    def keep(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Any]
    ) -> Sequence[Any]:
        return _Kept(len(items), lambda: self._engine.keep(phase, _made(items), function))

    def chain(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,
    ) -> list[Result]:
        return self._engine.chain(
            phase, chains, function, expected=expected, known=known, limit=limit
        )

    def together(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        work: JointWork,
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,
    ) -> list[Result]:
        return self._engine.together(
            phase, chains, work, expected=expected, known=known, limit=limit
        )

    def describe(self) -> RunsOn:
        return self._engine.describe()

    def watched_by(self, watch: Watch, tell: Tell = untold) -> Engine:
        return CheckpointedEngine(self._engine.watched_by(watch, tell), self._records)

    def close(self) -> None:
        self._engine.close()


class _Kept(Sequence[Any]):
    """Results that stay on workers, made when they are first asked for."""

    def __init__(self, length: int, make: Callable[[], Sequence[Any]]) -> None:
        self._length = length
        self._make = make
        self._check: Callable[[], None] | None = None
        self._results: Sequence[Any] | None = None

    def check_with(self, check: Callable[[], None]) -> None:
        """Check the results once they are made; only the first check is kept."""
        self._check = self._check or check

    def made(self) -> Sequence[Any]:
        if self._results is None:
            self._results = self._make()
            if self._check is not None:
                self._check()
        return self._results

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        return self.made()[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.made())


def _made(items: Sequence[Any]) -> Sequence[Any]:
    return items.made() if isinstance(items, _Kept) else items


def _file(name: str) -> str:
    return f"tasks/{name}.bin"
