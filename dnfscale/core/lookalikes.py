"""Names of columns that a database may take for one another, because they differ in case only.

A model knows the columns of its own attributes, but not the other columns of the dataset. If one of
these has the same name except for case, a query may silently read the wrong column, so such names
are recorded while the dataset is at hand. Databases differ in which names they take for equal;
every name that any of them could confuse is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dnfscale.core.parts import stored_column
from dnfscale.core.vocabulary import Vocabulary


def alike_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that differ from another one in case only, each once and in their order."""
    return tuple(name for group in _by_fold(names).values() if len(group) > 1 for name in group)


def lookalikes(tau: Vocabulary, alike: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of tau that may be taken for others, each with these others; `alike` is
    from alike_names.

    DuckDB numbers the second of two such columns: beside x, X becomes X_1. A name that ends in such
    a number may therefore be taken for one without it: beside x and X, reading X_1 yields X.
    """
    groups = _by_fold(alike)
    found = {}
    for column in dict.fromkeys(stored_column(attribute.column) for attribute in tau.attributes):
        others = [
            name
            for stem in _stems(column.casefold())
            for name in groups.get(stem, ())
            if name != column
        ]
        if others:
            found[column] = tuple(others)
    return found


def _by_fold(names: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(name.casefold(), []).append(name)
    return groups


def _stems(name: str) -> Iterator[str]:
    """Yield a name, then the name without the numbers at its end, removed one at a time."""
    yield name
    while numbered := re.fullmatch(r"(.+)_[0-9]+", name, re.DOTALL):
        name = numbered[1]
        yield name
