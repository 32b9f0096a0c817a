"""scikit-learn's own idea of what a classifier has to do, asked of ours with several parameters:
all of it.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import check_estimators_pickle

from dnfscale import FormulaSizeClassifier, IdealClassifier
from tests.estimator_checks import ARRAY_API, assert_no_fault
from tests.jobs.running import surroundings

VARIANTS = [
    {},
    {"missing": "indicator"},
    {"missing": "error"},
    {"class_weight": "balanced"},
    {"threshold": 0.3},
    {"max_ell": 2},
    {"unseen": "dont_care", "any_columns": True},
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", VARIANTS, ids=lambda given: "-".join(map(str, given.values())) or "plain"
)
def test_scikit_learn_finds_no_fault(parameters):
    # One check leaves gaps in 9 of its 30 rows.
    assert_no_fault(IdealClassifier(profile="paper", max_dropped=1.0, **parameters))


@pytest.mark.slow
@pytest.mark.parametrize("classifier", [IdealClassifier, FormulaSizeClassifier])
def test_the_check_that_leaves_gaps_passes_without_any_parameter(classifier):
    # Of its 30 rows 9 have gaps, more than may be dropped.
    check_estimators_pickle(classifier.__name__, classifier())


@pytest.mark.slow
def test_no_check_is_left_out():
    code = (
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "from dnfscale import IdealClassifier\n"
        "model = IdealClassifier(profile='paper', max_dropped=1.0)\n"
        "results = check_estimator(model, on_skip=None, on_fail='raise')\n"
        f"print({{found['status'] for found in results}}, {ARRAY_API!r} in "
        f"{{r['check_name'] for r in results}})\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=surroundings(SCIPY_ARRAY_API="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("{'passed'} True\n", "")
