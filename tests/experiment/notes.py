"""Notes of chains, kept in memory."""

from __future__ import annotations

from typing import Any


class KeptNotes:
    """Notes in memory."""

    def __init__(self) -> None:
        self.entries: dict[str, list[dict[str, Any]]] = {}

    def recall(self, chain: str) -> list[dict[str, Any]]:
        return list(self.entries.get(chain, []))

    def note(self, chain: str, entry: dict[str, Any]) -> None:
        self.entries.setdefault(chain, []).append(entry)
