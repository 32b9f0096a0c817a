"""Exact cheapest covers, for covering problems that leave little to choose.

Rows are bits, and a column is the integer of the rows that it covers. Columns come from the
cheapest to the dearest; of several cheapest covers the one whose columns come first is taken. So
the answer is unique, and does not depend on how it is found. Three reductions preserve it:

    a column is taken that alone covers some row;
    a column is left out when one before it covers all that it covers;
    a row is left out when every column of some other row covers it.

They solve most real problems. What they leave is searched by branch and bound, part by part where
no row is shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Column = tuple[int, int]
"""The place of a column among those given, and which of the rows still open it covers."""
Cover = tuple[int, list[int]]
"""The weight of a cover, and its columns."""

_MOST_COLUMNS = 100
_MOST_NODES = 50
"""Enough for all but 20 of 1,007 tables of 5 to 12 attributes of the paper's datasets, in at most
11 ms.
"""


class _TooManyNodesError(Exception):
    """The search needs more nodes than it is allowed."""


def cheapest_cover(covers: Sequence[int], costs: Sequence[int]) -> list[int] | None:
    """Return the columns of the cheapest cover, or None if a search for it would take long.

    Costs are positive and ascend; every row is in some column.
    """
    taken, columns = _needed(list(enumerate(covers)))
    if len(columns) > _MOST_COLUMNS:
        return None
    # Weights order covers by cost; of two that cost the same, the one with the first column that
    # the other lacks is lighter.
    first = 1 << len(columns)
    weights = {
        column: costs[column] * first - (first >> place)
        for place, (column, _) in enumerate(columns, 1)
    }
    try:
        found = _Search(weights, _MOST_NODES).lightest(columns, sum(weights.values()) + 1)
    except _TooManyNodesError:
        return None
    assert found is not None
    return sorted(taken + found[1])


class _Search:
    """Branch and bound for the lightest cover."""

    def __init__(self, weights: dict[int, int], nodes: int) -> None:
        self._weights = weights
        self._nodes = nodes

    def lightest(self, columns: list[Column], limit: int) -> Cover | None:
        """Return the lightest cover, or None if there is none below the limit."""
        taken, columns = _reduced(columns)
        weight = sum(self._weights[column] for column in taken)
        for part in _parts(columns):
            if weight >= limit:
                return None
            found = self._branch(part, limit - weight)
            if found is None:
                return None
            weight, taken = weight + found[0], taken + found[1]
        return (weight, taken) if weight < limit else None

    def _branch(self, columns: list[Column], limit: int) -> Cover | None:
        """Return the lightest cover by columns that are connected and cannot be reduced, or None as
        above.
        """
        self._nodes -= 1
        if self._nodes < 0:
            raise _TooManyNodesError
        best = self._greedy(columns, limit)
        if best is not None:
            limit = best[0]
        bound, slacks = self._bound(columns)
        if bound >= limit:
            return best
        hopeful = [
            column for column, slack in zip(columns, slacks, strict=True) if bound + slack < limit
        ]
        if len(hopeful) < len(columns):
            if _rows(hopeful) != _rows(columns):
                return best
            return self.lightest(hopeful, limit) or best
        place = max(range(len(columns)), key=lambda place: columns[place][1].bit_count())
        chosen, cover = columns[place]
        weight = self._weights[chosen]
        rest = columns[:place] + columns[place + 1 :]
        with_it = self.lightest(
            [(column, rows & ~cover) for column, rows in rest if rows & ~cover], limit - weight
        )
        if with_it is not None:
            limit, best = weight + with_it[0], (weight + with_it[0], [chosen, *with_it[1]])
        return self.lightest(rest, limit) or best

    def _greedy(self, columns: list[Column], limit: int) -> Cover | None:
        """Return the cover that always takes the column of least weight per open row, if it is
        below the limit.
        """
        open_rows, taken = _rows(columns), []
        while open_rows:
            column, rows = min(
                (found for found in columns if found[1] & open_rows),
                key=lambda found: self._weights[found[0]] / (found[1] & open_rows).bit_count(),
            )
            taken.append(column)
            open_rows &= ~rows
        weight = sum(self._weights[column] for column in taken)
        return (weight, taken) if weight < limit else None

    def _bound(self, columns: list[Column]) -> tuple[int, list[int]]:
        """Return a lower bound on the weight of covers, and how far each column raises it for
        covers that contain it.

        Dual ascent: raise each row's price until one of its columns has no slack. A cover weighs at
        least the sum of all prices, plus the slack left in each of its columns.
        """
        columns_of: dict[int, list[int]] = {}
        for place, (_, rows) in enumerate(columns):
            for row in _bits(rows):
                columns_of.setdefault(row, []).append(place)
        slacks = [self._weights[column] for column, _ in columns]
        bound = 0
        for places in sorted(columns_of.values(), key=len):
            price = min(slacks[place] for place in places)
            if price:
                bound += price
                for place in places:
                    slacks[place] -= price
        return bound, slacks


def _reduced(columns: list[Column]) -> tuple[list[int], list[Column]]:
    """Return the columns that must be taken, and those left to choose from."""
    taken: list[int] = []
    while True:
        needed, rest = _needed(columns)
        taken += needed
        rest = _without_rows(_without_columns(rest))
        if rest == columns:
            return taken, rest
        columns = rest


def _needed(columns: list[Column]) -> tuple[list[int], list[Column]]:
    """Return the columns that alone cover some row, and the others with the rows that these leave
    open.
    """
    once = twice = 0
    for _, rows in columns:
        twice |= once & rows
        once |= rows
    alone = once & ~twice
    needed = [column for column in columns if column[1] & alone]
    still_open = ~_rows(needed)
    rest = [(column, rows & still_open) for column, rows in columns if rows & still_open]
    return [column for column, _ in needed], rest


def _without_columns(columns: list[Column]) -> list[Column]:
    """Leave out columns if an earlier one covers all that they cover."""
    columns_of = _transposed(columns)
    kept = []
    for place, (column, rows) in enumerate(columns):
        better = (1 << place) - 1
        for row in _bits(rows):
            better &= columns_of[row]
            if not better:
                kept.append((column, rows))
                break
    return kept


def _without_rows(columns: list[Column]) -> list[Column]:
    """Leave out rows that every column of some other row covers."""
    kept = _rows(columns)
    for row, places in _transposed(columns).items():
        if kept >> row & 1:
            implied = kept
            for place in _bits(places):
                implied &= columns[place][1]
            kept &= ~implied | 1 << row
    return [(column, rows & kept) for column, rows in columns if rows & kept]


def _transposed(columns: list[Column]) -> dict[int, int]:
    """Return for each row the places of its columns, as bits."""
    found: dict[int, int] = {}
    for place, (_, rows) in enumerate(columns):
        bit = 1 << place
        for row in _bits(rows):
            found[row] = found.get(row, 0) | bit
    return found


def _parts(columns: list[Column]) -> list[list[Column]]:
    """Divide columns into parts that share no row."""
    parts: list[tuple[int, list[Column]]] = []
    for column in columns:
        joined = [part for part in parts if part[0] & column[1]]
        parts = [part for part in parts if not part[0] & column[1]]
        rows = column[1]
        together = [column]
        for part_rows, part in joined:
            rows |= part_rows
            together += part
        parts.append((rows, sorted(together)))
    return [part for _, part in parts]


def _rows(columns: list[Column]) -> int:
    rows = 0
    for _, covered in columns:
        rows |= covered
    return rows


def _bits(mask: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
