"""The engine that does one thing after the other in this process: the reference for all others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from dnfscale.engine.api import (
    Engine,
    Failure,
    Item,
    JointWork,
    Limit,
    Progress,
    Result,
    RunsOn,
    Share,
    Tell,
    Watch,
    unlimited,
    untold,
    unwatched,
)
from dnfscale.errors import DnfscaleError


class SerialEngine:
    """Right by definition."""

    fan_in = 16
    worker_bytes = None

    def __init__(self, watch: Watch = unwatched) -> None:
        self._watch = watch

    def reduce(
        self,
        phase: str,
        items: Sequence[Any],
        summarize: Callable[[Any], Result],
        merge: Callable[[Sequence[Result]], Result],
    ) -> Result:
        parts: list[Result] = []
        self._watch(Progress(phase, 0, len(items)))
        for done, item in enumerate(items, start=1):
            parts.append(summarize(item))
            if len(parts) == self.fan_in:
                parts = [merge(parts)]
            self._watch(Progress(phase, done, len(items)))
        return merge(parts)

    def map(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Result]
    ) -> list[Result]:
        results: list[Result] = []
        if not items:
            return results
        self._watch(Progress(phase, 0, len(items)))
        for done, item in enumerate(items, start=1):
            results.append(function(item))
            self._watch(Progress(phase, done, len(items)))
        return results

    def keep(
        self, phase: str, items: Sequence[Item], function: Callable[[Item], Any]
    ) -> Sequence[Any]:
        return self.map(phase, items, function)

    def chain(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,  # noqa: ARG002
    ) -> list[Result]:
        return self._run(phase, chains, function, expected=expected, known=known)

    def together(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        work: JointWork,
        *,
        expected: int,
        known: int = 0,
        limit: Limit = unlimited,  # noqa: ARG002
    ) -> list[Result]:
        def alone(item: Any) -> Any:
            share = Share(tuple(work.shared), 0, 1, work.meet("127.0.0.1", 1))
            return work.merge([work.function(item, share)])

        return self._run(phase, chains, alone, expected=expected, known=known)

    def _run(
        self,
        phase: str,
        chains: Sequence[Generator[Any, Any, Result]],
        function: Callable[[Any], Any],
        *,
        expected: int,
        known: int,
    ) -> list[Result]:
        done = min(known, expected - 1)
        self._watch(Progress(phase, done, expected))
        ends: list[Result] = []
        for chain in chains:
            answer: Any = None
            while True:
                try:
                    item = chain.send(answer)
                except StopIteration as stop:
                    ends.append(stop.value)
                    break
                try:
                    answer = function(item)
                except DnfscaleError:
                    raise
                except Exception as error:
                    answer = Failure(f"{type(error).__name__}: {error}")
                done += 1
                self._watch(Progress(phase, min(done, expected - 1), expected))
        self._watch(Progress(phase, expected, expected))
        return ends

    def describe(self) -> RunsOn:
        return {"engine": "serial", "workers": 1}

    def watched_by(self, watch: Watch, tell: Tell = untold) -> Engine:  # noqa: ARG002
        return SerialEngine(watch)

    def close(self) -> None:
        pass
