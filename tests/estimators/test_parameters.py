"""The parameters of the estimators are keys of the spec: the signatures are spelled out, as
scikit-learn wants.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from dnfscale import FormulaSizeClassifier, IdealClassifier
from dnfscale.errors import SpecError
from dnfscale.formula_size.folds import SizeBudget
from dnfscale.spec.job import profile_key
from dnfscale.spec.keys import Key, keys_of, plain
from dnfscale.spec.learn import parameters

OWN = {"class_weight", "any_columns", "n_jobs", "random_state"}
"""What only Python has: the last of them is the spec's seed."""


def defaults(classifier: type) -> dict[str, Any]:
    return {name: known.default for name, known in inspect.signature(classifier).parameters.items()}


def same(given: Any, known: Key) -> bool:
    """A parameter that a profile sets, or that is empty by default, is None; another has the
    default of its key.
    """
    if known.profiles or known.is_optional:
        return given is None
    return plain(given) == plain(known.default)


def test_the_ideal_classifier_has_the_keys_of_the_spec_with_their_defaults():
    found = defaults(IdealClassifier)
    named = {known.parameter_name: known for known in parameters().values()}
    assert set(found) - OWN == {*named, "profile"}
    assert [name for name, known in named.items() if not same(found[name], known)] == []
    assert found["profile"] == profile_key().default


def test_the_classifier_by_size_has_the_keys_of_its_table_and_some_of_the_spec():
    found, of_table = (
        defaults(FormulaSizeClassifier),
        {known.name: known for known in keys_of(SizeBudget).values()},
    )
    assert {name: found[name] for name in of_table} == {
        name: known.default for name, known in of_table.items()
    }
    shared = set(found) - OWN - set(of_table)
    assert shared <= set(parameters())
    assert [name for name in shared if not same(found[name], parameters()[name])] == []


@pytest.mark.parametrize("name", parameters())
def test_a_wrong_parameter_is_told_by_its_name_in_python(name):
    own = parameters()[name].parameter_name
    with pytest.raises(SpecError, match=f"^{own} must be .*, got ") as caught:
        IdealClassifier(profile="paper", **{own: [[1]]}).fit([[1.0], [2.0]], [0, 1])
    assert caught.value.key == parameters()[name].path


def test_a_parameter_that_a_profile_sets_gives_way_to_one_that_the_user_sets():
    assert IdealClassifier(profile="best", rank=("jmi",)).learn_spec("y").intervals is False
    assert IdealClassifier(profile="best", shrink="none").learn_spec("y").unseen == "negative"
    with pytest.raises(SpecError, match=r"set formula\.shrink"):
        IdealClassifier(profile="best", shrink="none", unseen="follow").learn_spec("y")
