"""Names of columns that a database may take for one another, because they differ in case only.

A model knows the columns of its own attributes, not those beside them in the dataset. Where a name of the one kind is
that of the other but for case, a query may silently read the wrong column: so it is noted while the dataset is known.
Which names are the same is for each database to say; here all are noted that any of them could mean.
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
    """Return the columns of tau that may be taken for others, with these, of the names of a dataset that are alike.

    DuckDB numbers the second of two such columns. A name that ends in such a number may thus be given to either:
    beside x and X, what is read as X_1 is X.
    """
    groups = _by_fold(alike)
    found = {}
    for column in dict.fromkeys(stored_column(attribute.column) for attribute in tau.attributes):
        others = [name for stem in _stems(column.casefold()) for name in groups.get(stem, ()) if name != column]
        if others:
            found[column] = tuple(others)
    return found


def _by_fold(names: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(name.casefold(), []).append(name)
    return groups


def _stems(name: str) -> Iterator[str]:
    """Yield a name, and what is left of it without the numbers at its end, one after the other."""
    yield name
    while numbered := re.fullmatch(r"(.+)_[0-9]+", name, re.DOTALL):
        name = numbered[1]
        yield name
