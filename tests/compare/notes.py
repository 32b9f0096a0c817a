"""Notes of chains, kept in memory as the JSON that they are written as."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from dnfscale.results.record import Note, plain

Entry = TypeVar("Entry", bound=Note)


class KeptNotes:
    """Notes in memory."""

    def __init__(self) -> None:
        self.entries: dict[str, list[dict[str, Any]]] = {}

    def recall(self, chain: str, kind: type[Entry]) -> list[Entry]:
        return [msgspec.convert(entry, kind) for entry in self.entries.get(chain, [])]

    def note(self, chain: str, entry: Note) -> None:
        self.entries.setdefault(chain, []).append(plain(entry))
