"""dnfscale learns short Boolean formulas from tables of any size."""

from __future__ import annotations

from typing import Any

__version__ = "0.2.0.dev0"
__all__ = ["FormulaSizeClassifier", "IdealClassifier", "distill"]


def __getattr__(name: str) -> Any:
    # The estimators bring scikit-learn, which a worker and a command line do without.
    if name == "IdealClassifier":
        from dnfscale.estimators.ideal import IdealClassifier

        return IdealClassifier
    if name == "FormulaSizeClassifier":
        from dnfscale.formula_size.estimator import FormulaSizeClassifier

        return FormulaSizeClassifier
    if name == "distill":
        from dnfscale.estimators.distillation import distill

        return distill
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
