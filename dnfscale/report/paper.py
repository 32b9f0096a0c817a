"""The paper's own figures, to stand beside ours: paper.toml has them, and says where they come
from.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.datasets.catalog import PAPER as CATALOG

CITATION = "Jaakkola et al., DAO-XAI 2024 (arXiv 2402.05680)"
_PREFIX = "paper:"


@dataclass(frozen=True, slots=True)
class Percent:
    """An accuracy as the paper prints it, in percent."""

    mean: float
    deviation: float | None = None
    """Over the ten splits; None for leave-one-out and for literature."""


@dataclass(frozen=True, slots=True)
class PaperDataset:
    """What the paper reports on one of its twelve datasets."""

    name: str
    """As in `paper:NAME`."""
    title: str
    target: str
    positive: Scalar
    outcome: str | None
    """What the positive label means, if the label itself does not say so."""
    accuracies: Mapping[str, Percent]
    """By method: ideal, random_forest, xgboost, formula_size."""
    literature: Percent | None
    """An accuracy that the paper quotes from elsewhere, measured under other conditions."""
    ell_mean: float
    """Selected features of the final formulas, on average over the splits."""
    attributes: int
    """Boolean features."""
    columns: int
    """Original features."""
    rows: int
    split_s: int
    """Run time of the ideal classifier method for one split, on the authors' laptop."""
    first_formula: str
    """The formula of the first split, in our notation."""


def paper_dataset(dataset: str | None) -> PaperDataset | None:
    """Return the paper's figures for a dataset such as `paper:heart_disease`; None for
    any other.
    """
    if dataset is None or not dataset.startswith(_PREFIX):
        return None
    return PAPER.get(dataset.removeprefix(_PREFIX))


def _read_figures() -> dict[str, PaperDataset]:
    text = files(__package__).joinpath("paper.toml").read_text(encoding="utf-8")
    return {name: _dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def _dataset(name: str, entry: Mapping[str, Any]) -> PaperDataset:
    known = CATALOG[name]
    literature = entry.get("literature")
    return PaperDataset(
        name=name,
        title=known.title,
        target=known.target,
        positive=known.positive[0],
        outcome=entry.get("outcome"),
        accuracies={method: Percent(*figures) for method, figures in entry["accuracies"].items()},
        literature=None if literature is None else Percent(literature),
        ell_mean=entry["ell_mean"],
        attributes=entry["attributes"],
        columns=entry["columns"],
        rows=entry["rows"],
        split_s=entry["split_s"],
        first_formula=entry["first_formula"],
    )


PAPER: Mapping[str, PaperDataset] = _read_figures()
"""The twelve, in the order of the paper's Figure 1."""
PAPER_METHODS = set.intersection(*(set(dataset.accuracies) for dataset in PAPER.values()))
"""The methods that the paper ran on all of them."""
