"""What scikit-learn finds to be wrong with a classifier."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import check_estimator

ARRAY_API = "check_array_api_input"
"""The one check that runs only if SciPy was told, before it was imported, to take arrays of any
library.
"""


def assert_no_fault(classifier: Any) -> None:
    """Have scikit-learn check a classifier, and be satisfied."""
    results = check_estimator(classifier, on_skip=None, on_fail=None)
    assert len(results) >= 60
    others = [found for found in results if found["status"] != "passed"]
    assert {(found["check_name"], found["status"]) for found in others} <= {
        (ARRAY_API, "skipped")
    }, others
    assert not any(found["expected_to_fail"] for found in results)
