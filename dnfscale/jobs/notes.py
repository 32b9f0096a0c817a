"""Records of finished work: tasks/<name>.json in a run's folder, rewritten as a whole whenever
something is added.

Each file carries the fingerprint of the job (its spec, its data, this version), so that the records
of another job are never taken for this one's.
"""

from __future__ import annotations

import hashlib
import json
from typing import Protocol, TypeVar

import msgspec

from dnfscale.jobs.folders import FolderError
from dnfscale.results.record import Note, converted

Entry = TypeVar("Entry", bound=Note)


class NoteFiles(Protocol):
    """Where notes are kept."""

    def read(self, name: str) -> bytes:
        """Return the content of a file; FileNotFoundError if there is none."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole."""
        ...


class TaskNotes:
    """The finished work of a job."""

    def __init__(self, files: NoteFiles, fingerprint: str) -> None:
        self._files = files
        self._fingerprint = fingerprint
        self._entries: dict[str, list[Note]] = {}

    def recall(self, chain: str, kind: type[Entry]) -> list[Entry]:
        """Return the recorded entries of a chain, in order; none if this job has
        recorded nothing.
        """
        try:
            content = json.loads(self._files.read(_file(chain)))
            entries = content["entries"] if content["fingerprint"] == self._fingerprint else []
            noted = converted(entries, list[kind])  # type: ignore[valid-type]
        except FolderError:
            raise
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # Records that cannot be read count as none: the work is done again.
            noted = []
        self._entries[chain] = list(noted)
        return noted

    def note(self, chain: str, entry: Note) -> None:
        """Add an entry, in place of an earlier one for the same step."""
        entries = self._entries.setdefault(chain, [])
        entries[:] = [noted for noted in entries if noted.step != entry.step]
        entries.append(entry)
        content = {"fingerprint": self._fingerprint, "entries": msgspec.to_builtins(entries)}
        self._files.write(_file(chain), (json.dumps(content, ensure_ascii=False) + "\n").encode())


def _file(chain: str) -> str:
    return f"tasks/{chain}.json"


def fingerprint(*parts: str) -> str:
    """Return a short digest of some texts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()
