"""Rankings that look at attributes together, from the joint counts of all candidates with the types so far.

    forward   the attribute that leaves the least entropy of the target, given the types so far; and so on
    exchange  the same, then each attribute in turn replaced by the one that leaves the fewest errors, each row being
              judged by the others of its type; then put in the order of `forward`
    additive  the attribute that a logistic regression on those so far misses most, by Rao's score; and so on
    jmi       the attribute that tells most together with each of those so far, one pair at a time

One product of a sparse matrix (which rows have which type and target) with the candidates (which hold in which row)
gives the joint counts of all candidates at once. They are whole numbers, exact in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Floats, Ints, narrowest, tally_cells
from dnfscale.method import logistic

_EXCHANGES = 8
"""How often each attribute is tried for replacement, at most: it ends sooner where nothing changes any more."""
_TABLED = 1 << 20
"""Up to so many rows, logarithms are looked up."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rows by the candidates that hold in them, and their target."""

    holds: Floats
    """holds[row, candidate]: 0, or what the row weighs; single precision is enough for counts of a sample's rows."""
    target: Bools
    weights: Ints | None = None

    @property
    def n_rows(self) -> int:
        return len(self.target)

    def joint(self, types: Ints, n_types: int) -> JointCounts:
        """Count, for every type and candidate, the rows where it holds, and the positive ones among them."""
        # SciPy's sparse matrices take 0.1 s to import, and only these rankings need them.
        from scipy.sparse import csr_array

        # Small numbers are sorted by their digits, large ones by comparing them.
        cells = (2 * types + self.target).astype(narrowest(2 * n_types - 1))
        order = np.argsort(cells, kind="stable")
        starts = np.searchsorted(cells[order], np.arange(2 * n_types + 1))
        ones = np.ones(self.n_rows, dtype=self.holds.dtype)
        chosen = csr_array((ones, order, starts), shape=(2 * n_types, self.n_rows))
        held = np.asarray(chosen @ self.holds).reshape(n_types, 2, -1)
        rows = tally_cells(cells, self.weights, 2 * n_types).reshape(n_types, 2).astype(np.float64)
        n, c = rows.sum(axis=1), rows[:, 1]
        return JointCounts(n, c, held.sum(axis=1, dtype=np.float64), held[:, 1].astype(np.float64))

    def refined(self, types: Ints, candidate: int) -> tuple[Ints, int]:
        """Return the types told apart by one candidate more, numbered without gaps, and how many there are."""
        return _without_gaps(2 * types + (self.holds[:, candidate] > 0))

    def only(self, candidates: Sequence[int]) -> Candidates:
        """Return the same rows with some of the candidates."""
        # Indexing would leave the columns as they lie in memory, and every product would first copy them row by row.
        return Candidates(self.holds.take(list(candidates), axis=1), self.target, self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """Rows and positive rows of each type, and those of them where each candidate holds."""

    n: Floats
    c: Floats
    n_held: Floats
    c_held: Floats
    """[type, candidate]."""

    def cost(self, of: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return what all types cost when each candidate splits them."""
        left_n, left_c = self.n[:, None] - self.n_held, self.c[:, None] - self.c_held
        return np.asarray((of(self.n_held, self.c_held) + of(left_n, left_c)).sum(axis=0))


def forward(rows: Candidates, length: int) -> list[int]:
    """Return candidates in the order in which they leave the least entropy of the target."""
    entropy = _entropy_of(rows)
    types, n_types = np.zeros(rows.n_rows, dtype=np.int64), 1
    order: list[int] = []
    while len(order) < min(length, rows.holds.shape[1]):
        costs = rows.joint(types, n_types).cost(entropy)
        costs[order] = np.inf
        order.append(int(np.argmin(costs)))
        types, n_types = rows.refined(types, order[-1])
    return order


def exchange(rows: Candidates, length: int) -> list[int]:
    """Return the candidates of `forward`, each replaced as long as that leaves fewer errors on the other rows."""
    order = forward(rows, length)
    # Bit i of a row's code is the candidate at place i.
    codes = ((rows.holds[:, order] > 0) << np.arange(len(order))).sum(axis=1)
    for _ in range(_EXCHANGES):
        before = list(order)
        for place in reversed(range(len(order))):
            rest = order[:place] + order[place + 1 :]
            others = codes & ~(1 << place)
            costs = rows.joint(*_without_gaps(others)).cost(left_out_errors)
            costs[rest] = np.inf
            best = int(np.argmin(costs))
            if costs[best] < costs[order[place]]:
                order[place] = best
                codes = others | ((rows.holds[:, best] > 0).astype(np.int64) << place)
        if order == before:
            break
    chosen = sorted(order)
    return [chosen[place] for place in forward(rows.only(chosen), length)]


def additive(rows: Candidates, length: int) -> list[int]:
    """Return candidates in the order in which a logistic regression would take them up."""
    types, n_types = np.zeros(rows.n_rows, dtype=np.int64), 1
    order: list[int] = []
    while len(order) < min(length, rows.holds.shape[1]):
        joint = rows.joint(types, n_types)
        first = np.zeros(n_types, dtype=np.int64)
        first[types] = np.arange(rows.n_rows)
        told = (rows.holds[first][:, order] > 0).astype(np.float64)
        scores = _score_tests(joint, told)
        scores[order] = -1.0
        order.append(int(np.argmax(scores)))
        types, n_types = rows.refined(types, order[-1])
    return order


def jmi(rows: Candidates, length: int) -> list[int]:
    """Return candidates in the order of their joint mutual information with the target and those before them."""
    entropy = _entropy_of(rows)
    costs = rows.joint(np.zeros(rows.n_rows, dtype=np.int64), 1).cost(entropy)
    total = np.zeros_like(costs)
    order: list[int] = []
    while len(order) < min(length, rows.holds.shape[1]):
        ranked = (total if order else costs).copy()
        ranked[order] = np.inf
        order.append(int(np.argmin(ranked)))
        total += rows.joint((rows.holds[:, order[-1]] > 0).astype(np.int64), 2).cost(entropy)
    return order


JOINT: Mapping[str, Callable[[Candidates, int], list[int]]] = {
    "forward": forward,
    "exchange": exchange,
    "additive": additive,
    "jmi": jmi,
}
"""The rankings that a spec may name besides those of attributes one by one."""


def left_out_errors(n: Floats, c: Floats) -> Floats:
    """Return twice the errors that types of so many rows make when each row is judged by the others of its type.

    The answer for a row without others is a toss.
    """
    lead = 2 * c - n
    errors = n - np.abs(lead)
    # Where a row less of either kind turns the answer, every row is judged wrongly.
    np.copyto(errors, 2 * n, where=(lead == 0) | (lead == -1))
    errors[n == 1] = 1.0
    return errors


def first_of_equals(rows: Candidates) -> Ints:
    """Return, for each candidate, the first that holds in the same rows, or in exactly the others."""
    held = np.ascontiguousarray(rows.holds.T > 0)
    # Of two opposites, the one that does not hold in the first row stands for both.
    bits = np.packbits(held ^ held[:, :1], axis=1)
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(own.tobytes(), candidate) for candidate, own in enumerate(bits)], dtype=np.int64)


def _without_gaps(codes: Ints) -> tuple[Ints, int]:
    """Return small numbers numbered anew in their order, without those that do not occur, and how many do."""
    # Counting finds the numbers that occur in a tenth of the time that sorting takes.
    places = np.cumsum(np.bincount(codes) > 0) - 1
    return places[codes], int(places[-1]) + 1


def _score_tests(joint: JointCounts, told: Floats) -> Floats:
    """Return Rao's score of each candidate, given a logistic regression on what tells the types apart."""
    features = logistic.with_constant(told)
    p = logistic.probabilities(logistic.fit(told, joint.n, joint.c), told)
    bend = p * (1 - p)
    slope = np.einsum("ta->a", joint.c_held - p[:, None] * joint.n_held)
    own = np.einsum("t,ta->a", bend, joint.n_held)
    shared = np.einsum("ti,ta->ia", features * bend[:, None], joint.n_held)
    known = np.einsum("ti,tj->ij", features * (bend * joint.n)[:, None], features) + 1e-6 * np.eye(features.shape[1])
    explained = np.einsum("ia,ia->a", shared, np.linalg.solve(known, shared))
    variance = own - explained
    scores = np.where(variance > 1e-6, slope**2 / (variance + logistic.PENALTY), 0.0)
    # Candidates that tie must tie, whatever the last bits of sums in another order.
    return np.asarray(np.round(scores, 6))


def _entropy_of(rows: Candidates) -> Callable[[Floats, Floats], Floats]:
    """Return a function for the entropy of types of n rows, c of them positive, times n."""
    total = rows.n_rows if rows.weights is None else int(rows.weights.sum())
    if total <= _TABLED:
        table = _x_log_x(np.arange(total + 1, dtype=np.float64))
        return lambda n, c: table[n.astype(np.int64)] - table[c.astype(np.int64)] - table[(n - c).astype(np.int64)]
    return lambda n, c: _x_log_x(n) - _x_log_x(c) - _x_log_x(n - c)


def _x_log_x(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.maximum(x, 1.0)))
