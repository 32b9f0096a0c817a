"""Stands for trials, to see what a space of parameters is."""

from __future__ import annotations

from typing import Any


class Recorder:
    """Stands for a trial and notes what a space asks of it."""

    def __init__(self) -> None:
        self.asked: dict[str, tuple[Any, ...]] = {}

    def suggest_categorical(self, name: str, choices: list[Any]) -> Any:
        self.asked[name] = ("one of", *choices)
        return choices[0]

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        self.asked[name] = ("int", low, high, step, log)
        return low

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        self.asked[name] = ("float", low, high, log)
        return low
