"""Case `features`: a formula over the made shop's two tables, beside featuretools' deep feature
synthesis followed by the same classifier.

Both see orders before `as_of` alone, learn from the same half of the customers and are tested on
the other; what featuretools makes of dates and orders by itself is left as it is.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dnfscale.data.source import open_source
from dnfscale.datasets.convert import Conversion
from dnfscale.datasets.shop import N_CUSTOMERS, made_shop
from dnfscale.estimators.ideal import IdealClassifier
from dnfscale.method.literals import lines_read, n_literals
from dnfscale.relations.tables import Asked, Side, join_tables, relation_between
from tests.bench.case import Case, Contender, Figure, Measured, NotReadyError, Outcome, timed
from tests.bench.setting import Setting

_MOST = 400
_WINDOWS = (30, 90)
_FEW, _FEW_ROWS = 400, 1_000_000
"""Customers in runs of the ordinary tests."""
_INSTALL = "pip install featuretools 'pandas<3', in an environment of its own"
_ROLES = ("customer_id", "as_of", "churned")


def measure_concepts(setting: Setting) -> Outcome:
    """Measure our concepts and the formula learned of them."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tables = _tables(setting)
        for name, table in zip(("customers", "orders"), tables, strict=True):
            (folder / name).mkdir()
            pq.write_table(table, folder / name / "0.parquet")

        def work() -> dict[str, Any]:
            return _learned(_joined(folder).drop(columns=list(_ROLES)), tables[0])

        found, wall_s, cpu_s = timed(work)
    return Outcome(wall_s, cpu_s, 0, None, found)


def _tables(setting: Setting) -> tuple[Any, Any]:
    return made_shop(N_CUSTOMERS if setting.rows >= _FEW_ROWS else _FEW)


def _joined(folder: Path) -> Any:
    main, other = (open_source(str(folder / name)) for name in ("customers", "orders"))
    relation = relation_between(
        main,
        other,
        table="orders",
        key="customer_id",
        main_key="customer_id",
        time="ordered_at",
        as_of="as_of",
        row_id="order_id",
    )
    side = Side(relation, other, _WINDOWS)
    conversion = Conversion(places=(str(folder / "kept"),), tell=lambda _: None)
    source = join_tables(main, [side], Asked(most=_MOST), conversion).source
    return pq.read_table(str(source.folder)).to_pandas()


def measure_featuretools(setting: Setting) -> Outcome:
    """Measure deep feature synthesis and the formula learned of its features."""
    import featuretools
    import pandas

    if int(pandas.__version__.partition(".")[0]) > 2:
        raise NotReadyError(
            f"featuretools {featuretools.__version__} does not run with pandas "
            f"{pandas.__version__}: {_INSTALL}"
        )
    warnings.simplefilter("ignore")
    main, other = _tables(setting)
    found, wall_s, cpu_s = timed(lambda: _learned(_features(featuretools, main, other), main))
    return Outcome(wall_s, cpu_s, 0, None, found)


def _features(featuretools: Any, customers: Any, orders: Any) -> Any:
    main = customers.to_pandas(date_as_object=False)
    other = orders.to_pandas()
    tables = featuretools.EntitySet("shop")
    tables.add_dataframe(
        dataframe_name="customers",
        dataframe=main.drop(columns=["churned"]),
        index="customer_id",
    )
    tables.add_dataframe(
        dataframe_name="orders", dataframe=other, index="order_id", time_index="ordered_at"
    )
    tables.add_relationship("customers", "customer_id", "orders", "customer_id")
    # It sees rows up to the moment, and that moment too.
    moments = main[["customer_id", "as_of"]].rename(columns={"as_of": "time"})
    moments["time"] -= np.timedelta64(1, "s")
    features, _ = featuretools.dfs(
        entityset=tables, target_dataframe_name="customers", cutoff_time=moments
    )
    features = features.loc[main["customer_id"]].reset_index(drop=True)
    for name, kind in features.dtypes.items():
        if str(kind) == "category":
            features[name] = features[name].astype(object)
        elif str(kind) != "bool":
            features[name] = features[name].astype(float)
    return features


def _learned(features: Any, customers: Any) -> dict[str, Any]:
    """Learn from every other customer, and test on the rest."""
    truth = customers.column("churned").to_numpy(zero_copy_only=False)
    learn = np.arange(len(truth)) % 2 == 0
    model = IdealClassifier(random_state=0).fit(features[learn], truth[learn])
    right = model.predict(features[~learn]) == truth[~learn]
    [learned] = model.models_
    literals = n_literals(lines_read(learned.tau, learned.dnf))
    return {"accuracy": float(right.mean()), "literals": float(literals)}


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Say how accurate and how long the formulas are, and how long they took."""
    found = []
    for name, run in measured.items():
        parts = run.outcome.parts_s
        found += [
            Figure(f"{name}, accuracy in percent", 100 * parts["accuracy"]),
            Figure(f"{name}, conditions", parts["literals"]),
        ]
    if {"concepts", "featuretools"} <= set(measured):
        ours, theirs = (measured[n].outcome for n in ("concepts", "featuretools"))
        more = 100 * (ours.parts_s["accuracy"] - theirs.parts_s["accuracy"])
        longer = ours.parts_s["literals"] / max(1.0, theirs.parts_s["literals"])
        found += [
            Figure("concepts - featuretools, points of accuracy", more, at_least=0),
            Figure("concepts / featuretools, conditions", longer, at_most=1),
            Figure("concepts / featuretools, wall time", ours.wall_s / theirs.wall_s, at_most=1),
        ]
    return found


CASE = Case(
    name="features",
    about="a formula over two tables, beside features of featuretools",
    contenders=(
        Contender("concepts", measure_concepts),
        Contender("featuretools", measure_featuretools, ("featuretools",), _INSTALL),
    ),
    figures=figures,
)
