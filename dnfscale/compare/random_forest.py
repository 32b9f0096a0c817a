"""Random forests of scikit-learn, tuned: a competitor.

Categories come as ordinal codes, in increasing order of value.
"""

from __future__ import annotations

from dnfscale.compare.trial import Answer, Fit, Known, Params, answer_of, check_deadline
from dnfscale.compare.tuning import Suggest, TunedCompetitor
from dnfscale.spec.registry import COMPETITORS


def suggest(trial: Suggest) -> Params:
    """Draw parameters from the paper's space; whatever is not in it keeps its default."""
    return {
        "max_depth": trial.suggest_categorical("max_depth", [None, 2, 3, 4]),
        "n_estimators": trial.suggest_int("n_estimators", 10, 3000, log=True),
        "criterion": trial.suggest_categorical("criterion", ["gini", "entropy"]),
        "max_features": trial.suggest_categorical(
            "max_features", ["sqrt", "log2", None, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
        ),
        "min_samples_split": trial.suggest_categorical("min_samples_split", [2, 3]),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 2, 50),
        "bootstrap": trial.suggest_categorical("bootstrap", [True, False]),
        "min_impurity_decrease": trial.suggest_categorical(
            "min_impurity_decrease", [0.0, 0.01, 0.02, 0.05]
        ),
    }


def learn(known: Known, fit: Fit, deadline: float | None) -> Answer:
    """Grow a forest on some rows and return what gives others their probabilities."""
    from sklearn.ensemble import RandomForestClassifier

    n_trees = fit.n_trees
    # With a deadline the forest grows in steps; the trees are the same as those grown at once.
    step = n_trees if deadline is None else 50
    params = {**fit.params, "n_estimators": n_trees}
    forest = RandomForestClassifier(
        **params, n_jobs=1, random_state=fit.seed, warm_start=deadline is not None
    )
    for grown in range(min(step, n_trees), n_trees + step, step):
        forest.set_params(n_estimators=min(grown, n_trees))
        forest.fit(known.features, known.target, sample_weight=known.weights)
        check_deadline(deadline)
    return answer_of(forest)


COMPETITORS.register(
    TunedCompetitor(
        name="random_forest",
        title="Random forest",
        colour="orange",
        place=10,
        suggest=suggest,
        learn=learn,
    )
)
