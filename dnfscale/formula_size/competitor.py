"""The formula-size method as a competitor: how a study runs it, and what the report shows of it."""

from dnfscale.formula_size.card import SHOWN
from dnfscale.formula_size.folds import SizeBudget
from dnfscale.formula_size.study import plan_sizes, size_study
from dnfscale.spec.registry import COMPETITORS, Competitor, Family

COMPETITORS.register(
    Competitor(
        name="formula_size",
        title="Formula size",
        colour="purple",
        place=30,
        options=SizeBudget,
        family=Family(run=size_study, plan=plan_sizes, on_kept_rows=True),
        by_profile=True,
        has_model=True,
        shown=SHOWN,
        package="numba",
        extra="formula-size",
    )
)
