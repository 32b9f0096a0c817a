"""dnfscale learns short Boolean formulas from tables of any size.

A first formula
---------------
>>> from sklearn.datasets import load_breast_cancer
>>> from dnfscale import IdealClassifier
>>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
>>> model = IdealClassifier(max_literals=2).fit(X, y == 0)  # 0 is malignant
>>> print(model.to_text())
target is true if
   "worst area" > 967
or "worst concave points" > 0.1535
>>> model.predict(X.head(3))
array([ True,  True,  True])

`IdealClassifier` is a scikit-learn classifier and, as it is, passes all of `check_estimator`.

Input. `fit` takes pandas (also nullable and categorical columns), NumPy, Arrow, Polars and Dask
tables with labels, or a path (Parquet, CSV, JSON lines, Arrow, a folder or pattern of them, a Delta
or Iceberg table) with the name of its target. The order of the rows does not change the formula. A
path gives the formula that a `fit` job gives on it. Where either `fit` or `predict` got an array,
columns go by their position, with scikit-learn's warning.

Methods and attributes. `predict`, `predict_proba` (the share of positives of the row's type,
smoothed by one row of either answer, and moved to just beside the threshold where the formula
answers otherwise), `decision`, `explain`, `formula_`, `sweep_`, `certificate_`, `to_text()`,
`to_sql()`, `to_python()`, `to_latex()`, `to_pmml()`, `to_onnx()`, `to_rules()` and `save()`;
`load(path)` reads a saved classifier, or the folder of a run. A notebook shows the model as the
card of the report's page, `report(path)` writes that page. With matplotlib (`pip install
'dnfscale[plot]'`) `plot()` draws the lines of the formula with their rows, `plot_frontier()`
accuracy by length, and `plot_calibration(X, y)` how often rows are positive, by their probability.
With two labels, `frontier_` lists the best formula of every length, and `at(literals=5)` is the
classifier with another of them. `feature_importances_` is, for each column, the accuracy lost when
what the formula asks of it is summed out of the counts.

Parameters. `profile="paper"` is the method as published. `max_ell`, `validation`, `tolerance`,
`shrink_rows`, `minimize`, `beta`, `threshold`, `drop`, `categorical`, `boolean`, `missing`,
`max_categories`, `cuts`, `intervals`, `parts`, `rare`, `rank`, `validation_splits`, `rule`,
`drop_duplicates`, `objective`, `shrink`, `freedom`, `unseen`, `search`, `max_literals`,
`max_terms` and `forms` are the keys of the same names in a spec; `cut_at` is `booleanize.at`.

Groups. `fit(X, y, groups=...)` keeps rows of the same patient, customer or machine together when
rows are set aside to choose by, as `folds.group` does in a job.

Weights and costs. `sample_weight` and `class_weight` give the ideal classifier of the weighted
errors. Whole weights stay exact: a row of weight three is that row three times. Beside a path,
`sample_weight` is the name of the column of weights, as `data.weight` is in a spec. `threshold` is
for unequal costs: a type is accepted when at least that share of it is positive, so 0.2 is for a
miss that costs four false alarms.

More than two labels. Each label gets a formula, and a row gets the label whose formula finds its
type most probable. With the objective "balanced_accuracy" or "f_beta" every formula has a threshold
of its own; probabilities are then divided by it before they are compared, and in `predict_proba`
and `predict`, so that a label whose formula says yes goes before all whose formula says no. Jobs do
the same with `data.classes = "all"`.

Formulas of bounded size
------------------------
`IdealClassifier` bounds the number of attributes: it finds the best Boolean function of a few, and
writes it as short as it can. `FormulaSizeClassifier` bounds the length: among all formulas of a
size, where every symbol, "not", "and" and "or" counts one, it finds the one with the fewest errors,
and proves it. Both choose their bound on rows set aside. On the same data:

>>> from dnfscale import FormulaSizeClassifier
>>> few = IdealClassifier(profile="paper", max_ell=4).fit(X, y)
>>> print(few.to_text())
target is 1 if
   "worst area" ≤ 686.5
or "worst radius" ≤ 14.97
or "worst concave points" ≤ 0.09993
>>> print(f"{few.score(X, y):.3f}")
0.916
>>> short = FormulaSizeClassifier(max_size=10).fit(X, y)
>>> print(short.to_text())
target is 1 if
   not ("worst radius" > 14.97 and "worst concavity" > 0.2267
        and ("area error" > 24.53 or "worst texture" > 25.41))
note: where a value is missing, a condition with ≤ alone, ≠ or not holds, and any other comparison
does not
>>> print(f"{short.score(X, y):.3f}, size {short.size_}, proved: {short.proved_}")
0.940, size 8, proved: True

It needs numba (`pip install 'dnfscale[formula-size]'`). Like `IdealClassifier` it passes all of
`check_estimator`, and has `predict`, `predict_proba`, `decision`, `explain`, `certificate_`, every
`to_...()`, `save()`, weights, and `threshold`, for which it finds the formula of least cost as
exactly as that of fewest errors. It also has `size_`, `proved_` and `path_`. Its `explain` gives
the fewest conditions that settle a row's answer:

>>> [told["condition"] for told in short.explain(X.iloc[[20]])[0]["because"]]
['"worst radius" ≤ 14.97']

The formula closest to another model
------------------------------------
`distill` learns the formula closest to any fitted classifier, or to a function that answers rows,
and reports how often the two agree in test folds:

>>> from sklearn.tree import DecisionTreeClassifier
>>> from dnfscale import distill
>>> found = distill(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y), X, y)
>>> print(f"agrees on {found.fidelity:.1%}, right on {found.accuracy:.1%}")
agrees on 94.6%, right on 92.6%

`found.formula` is the formula; `found.black_box_accuracy` is that of the classifier on all of X,
also on rows that it was trained on. In a job, `kind = "distill"` with `[distill]` `model =
"model.json"` does this for a classifier that XGBoost saved as JSON, on data of any size. Nothing is
ever unpickled.

Before learning, and after
--------------------------
`check(df, "target")` looks at every column: identifiers, copies, leaks, codes of missing values.
`study(df, "target", profile="best")` cross-validates as a job does and returns the `Result` that a
job writes, with `model`, the fitted classifier, and `report(path)`.
`evaluate(model, df, y)` says how good a model is on new rows, for parts of them too (`slices`), and
how far they differ from those it was learned from.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0.dev0"
_PUBLIC = {
    "FormulaSizeClassifier": "dnfscale.formula_size.estimator",
    "IdealClassifier": "dnfscale.estimators.ideal",
    "check": "dnfscale.estimators.checking",
    "distill": "dnfscale.estimators.distillation",
    "evaluate": "dnfscale.estimators.evaluating",
    "load": "dnfscale.estimators.saved",
    "study": "dnfscale.jobs.from_python",
}
"""What the package offers, and the module that holds it."""
__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    # The estimators bring scikit-learn, which a worker and a command line do without.
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return [*_PUBLIC, "__doc__", "__version__"]
