"""A kind of fault: its name, what it is, and how it is done to a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.ground import Ground

IDENTICAL = "identical result"
RESUMED = "clear error, resumed identical"
REFUSED = "clear error"


class NotReadyError(Exception):
    """A fault cannot be done here, and why."""


@dataclass(frozen=True)
class Fault:
    """Something bad that happens to a job."""

    name: str
    about: str
    outcome: str
    """What comes of it, if all is well."""
    happen: Callable[[Ground], None]
    """Do it, and raise FaultError if the job did not survive it."""
