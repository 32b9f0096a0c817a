"""Where and at what size the cases run: the same value for all contenders of a run."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The project's folder, from which commands are run."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run measures on."""

    data: Path = Path(tempfile.gettempdir()) / "dnfscale-bench"
    """The folder of the synthetic datasets."""
    rows: int = 10_000_000
    seed: int = 0
    workers: int = 2
    """Worker processes of dnfscale, and threads of a peer."""
    cluster: str = "local"
    """The kind of cluster: local, or serial in the ordinary tests."""
    paper_spec: Path = ROOT / "jobs" / "paper" / "covertype.toml"
    """The study of a dataset of the paper."""
    folds: int = 10
    """Folds of the studies that are measured at several sizes."""
    ell: int = 10
    """Attributes of the type tables to minimize."""
    simplify_cap_s: float = 60.0
    """How long SymPy may take for one type table."""

    def to_json(self) -> str:
        """Return the setting as text, for the command line of another process."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Setting:
        """Return the setting that to_json wrote."""
        fields = json.loads(text)
        return cls(
            **{**fields, "data": Path(fields["data"]), "paper_spec": Path(fields["paper_spec"])}
        )
