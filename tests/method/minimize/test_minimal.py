"""Short formulas: they say what they must, and none that says it is shorter."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from scipy.optimize import Bounds, LinearConstraint, milp
from sympy.logic.boolalg import SOPform

from dnfscale.core.formula import Dnf, Term
from dnfscale.method.minimize import minimal as module
from dnfscale.method.minimize.lattice import lattice_of, single_axis, terms_of
from dnfscale.method.minimize.minimal import Effort, Status, Truth, as_types, grow_cover, minimize
from tests.bench.type_tables import ELL, RANDOM, type_tables
from tests.method.truths import assert_agrees, random_truth, truths

REAL_TABLES = {
    table.name: table.truth for table in type_tables(ELL) if not table.name.startswith(RANDOM)
}


def all_cubes(ell: int) -> list[Term]:
    return [
        Term(
            sum(1 << i for i, x in enumerate(cube) if x is not None),
            sum(1 << i for i, x in enumerate(cube) if x),
        )
        for cube in itertools.product([None, False, True], repeat=ell)
    ]


def accepted_by(term: Term, ell: int) -> frozenset[int]:
    return frozenset(t for t in range(1 << ell) if t & term.care == term.value)


def naive_primes(truth: Truth) -> set[Term]:
    """The judge: all cubes inside required and free types, with a required one, that no larger such
    cube contains.
    """
    allowed = {*truth.required, *truth.free}
    inside = {term: accepted_by(term, truth.ell) for term in all_cubes(truth.ell)}
    inside = {term: types for term, types in inside.items() if types <= allowed}
    return {
        term
        for term, types in inside.items()
        if types & set(truth.required) and not any(types < other for other in inside.values())
    }


def prime_implicants(truth: Truth) -> list[Term]:
    """Return the largest cubes of required and free types that contain a required one."""
    lattice = lattice_of(tuple(map(single_axis, range(truth.ell))))
    required = np.isin(lattice.types, truth.required)
    points = lattice.maximal(required, required | np.isin(lattice.types, truth.free))
    terms = [term for point in points for term in terms_of(lattice.axes, point)]
    return sorted(terms, key=lambda term: (len(term.literals), term))


@functools.cache
def cubes_as_masks(ell: int) -> list[tuple[int, int]]:
    """Return for each cube the types that it accepts, as a bit mask, and its literals."""
    return [
        (sum(1 << t for t in accepted_by(term, ell)), term.care.bit_count())
        for term in all_cubes(ell)
    ]


def least_cost(truth: Truth) -> tuple[int, int]:
    """The judge: fewest literals, then fewest terms, over all sets of cubes, by what they accept
    together.
    """
    required = sum(1 << t for t in truth.required)
    allowed = required | sum(1 << t for t in truth.free)
    usable = [
        (mask, literals) for mask, literals in cubes_as_masks(truth.ell) if not mask & ~allowed
    ]
    best = {0: (0, 0)}
    for mask, literals in usable:
        for covered, (n_literals, n_terms) in list(best.items()):
            cost = (n_literals + literals, n_terms + 1)
            if cost < best.get(covered | mask, (10**9, 0)):
                best[covered | mask] = cost
    return min(cost for covered, cost in best.items() if not required & ~covered)


def first_shortest(truth: Truth) -> Dnf:
    """The judge: of all sets of primes, the shortest, and of these the one whose terms
    read first.
    """
    covers = {prime: accepted_by(prime, truth.ell) for prime in prime_implicants(truth)}
    sets = itertools.chain.from_iterable(
        itertools.combinations(covers, n) for n in range(len(covers) + 1)
    )
    enough = (
        Dnf(terms)
        for terms in sets
        if set(truth.required) <= set().union(*(covers[term] for term in terms))
    )
    return min(
        enough, key=lambda dnf: (cost(dnf), [(len(term.literals), term) for term in dnf.terms])
    )


def cost_by_integer_program(truth: Truth) -> tuple[int, int]:
    """The judge: fewest literals, then fewest terms, by one program over all primes."""
    primes, types = prime_implicants(truth), np.array(truth.required)
    covers = np.array([prime.accepts(types) for prime in primes]).T
    costs = [(len(types) + 1) * len(prime.literals) + 1 for prime in primes]
    constraints = LinearConstraint(covers.astype(np.float64), lb=1)
    answer = milp(
        costs,
        integrality=1,
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"mip_rel_gap": 0.0},
    )
    assert answer.status == 0
    return divmod(round(answer.fun), len(types) + 1)


def cost(dnf: Dnf) -> tuple[int, int]:
    return dnf.n_literals, len(dnf.terms)


def assert_irredundant(dnf: Dnf, truth: Truth) -> None:
    """No term and no literal can be left out."""
    for term in dnf.terms:
        rest = Dnf(tuple(other for other in dnf.terms if other != term))
        assert not rest.accepts(np.array(truth.required)).all()
        for place, _ in term.literals:
            wider = accepted_by(
                Term(term.care & ~(1 << place), term.value & ~(1 << place)), truth.ell
            )
            assert not wider <= {*truth.required, *truth.free}


@given(truths(max_ell=6, with_free=False))
def test_a_minimized_formula_agrees_with_the_truth_on_every_type(truth):
    assert_agrees(minimize(truth).dnf, truth)


@given(truths(max_ell=6, with_free=True))
def test_a_minimized_formula_agrees_with_the_truth_on_every_type_that_is_not_free(truth):
    assert_agrees(minimize(truth).dnf, truth)


@pytest.mark.parametrize("ell", [1, 2, 3])
def test_every_function_of_up_to_three_attributes_is_written_as_short_as_can_be(ell):
    for function in range(1 << (1 << ell)):
        truth = Truth(ell, tuple(t for t in range(1 << ell) if function >> t & 1))
        found = minimize(truth)
        assert found.status is Status.PROVEN
        assert found.gap_literals == 0
        assert cost(found.dnf) == least_cost(truth), truth


@given(truths(max_ell=3, with_free=True))
def test_with_free_types_a_formula_is_written_as_short_as_can_be(truth):
    found = minimize(truth)
    assert found.status is Status.PROVEN
    assert cost(found.dnf) == least_cost(truth)


@pytest.mark.parametrize("ell", [1, 2, 3])
def test_of_several_shortest_formulas_the_one_that_reads_first_is_taken(ell):
    for function in range((1 << (1 << ell)) - 1):
        truth = Truth(ell, tuple(t for t in range(1 << ell) if function >> t & 1))
        assert minimize(truth).dnf == first_shortest(truth), truth


@given(truths(max_ell=7, with_free=True))
def test_formulas_of_more_attributes_are_as_short_as_an_integer_program_makes_them(truth):
    found = minimize(truth)
    assert found.status is Status.PROVEN
    if truth.required and len(truth.required) + len(truth.free) < 1 << truth.ell:
        assert cost(found.dnf) == cost_by_integer_program(truth)


@pytest.mark.parametrize(
    ("ell", "share"), [(7, 0.4), (8, 0.2), (9, 0.15), (10, 0.05), (10, 0.15), (12, 0.02)]
)
@pytest.mark.parametrize("seed", range(3))
def test_formulas_of_few_types_are_as_short_as_an_integer_program_makes_them(ell, share, seed):
    truth = random_truth(ell, int(share * (1 << ell)), seed=seed)
    assert cost(minimize(truth).dnf) == cost_by_integer_program(truth)


@pytest.mark.parametrize("name", REAL_TABLES)
def test_real_tables_are_written_as_short_as_by_an_integer_program_and_without_one(
    name, monkeypatch
):
    monkeypatch.setattr(module, "_solve", None)
    truth = REAL_TABLES[name]
    found = minimize(truth)
    assert found.status is Status.PROVEN
    assert_agrees(found.dnf, truth)
    assert cost(found.dnf) == cost_by_integer_program(truth)


def one_of_many_or_all_of_four(n_many: int) -> Truth:
    """Each of n_many required types has the first four attributes, and one more that no other has.

    Free is whatever has the first four, or any of the others. So one term of four literals will do,
    and so will n_many terms of one literal; nothing shorter does, for a cube of two required types
    that has not all of the first four would accept a type with none of the others.
    """
    ell = 4 + n_many
    required = tuple(0b1111 | 1 << (4 + i) for i in range(n_many))
    free = (t for t in range(1 << ell) if t >> 4 or t == 0b1111)
    return Truth(ell, required, tuple(t for t in free if t not in required))


def test_fewer_literals_count_more_than_fewer_terms():
    assert cost(minimize(one_of_many_or_all_of_four(3)).dnf) == (3, 3)
    assert cost(minimize(one_of_many_or_all_of_four(5)).dnf) == (4, 1)


def test_among_formulas_of_as_few_literals_the_one_of_fewest_terms_is_taken():
    assert cost(minimize(one_of_many_or_all_of_four(4)).dnf) == (4, 1)


@given(truths(max_ell=4, with_free=True))
def test_prime_implicants_are_those_of_a_naive_enumeration(truth):
    found = prime_implicants(truth)
    assert set(found) == naive_primes(truth)
    assert len(set(found)) == len(found)
    assert [term.care.bit_count() for term in found] == sorted(
        term.care.bit_count() for term in found
    )


@given(truths(max_ell=4, with_free=True))
def test_a_minimized_formula_means_what_sympys_means_where_types_are_not_free(truth):
    symbols = sympy.symbols(f"p:{truth.ell}")

    def bits(types: tuple[int, ...]) -> list[list[int]]:
        return [[t >> i & 1 for i in range(truth.ell)] for t in types]

    theirs = SOPform(symbols, bits(truth.required), bits(truth.free))
    mine = minimize(truth).dnf
    for t in set(range(1 << truth.ell)) - set(truth.free):
        values = {symbol: bool(t >> i & 1) for i, symbol in enumerate(symbols)}
        assert bool(theirs.subs(values)) == mine.accepts(np.array([t]))[0]


@given(truths(max_ell=5, with_free=False))
def test_a_minimized_formula_is_never_longer_than_sympys(truth):
    symbols = sympy.symbols(f"p:{truth.ell}")
    theirs = SOPform(symbols, [[t >> i & 1 for i in range(truth.ell)] for t in truth.required])
    literals = sum(1 for node in sympy.preorder_traversal(theirs) if isinstance(node, sympy.Symbol))
    assert minimize(truth).dnf.n_literals <= literals


@given(truths(max_ell=6, with_free=True))
def test_a_minimized_formula_has_no_term_or_literal_to_spare(truth):
    assert_irredundant(minimize(truth).dnf, truth)


@given(truths(max_ell=6, with_free=True))
def test_a_grown_cover_agrees_with_the_truth_and_has_no_term_or_literal_to_spare(truth):
    dnf = grow_cover(truth)
    assert_agrees(dnf, truth)
    assert_irredundant(dnf, truth)


@pytest.mark.parametrize("ell", [1, 3, 10, 14])
def test_nothing_required_is_false_and_everything_allowed_is_true(ell):
    everything = tuple(range(1 << ell))
    for truth, formula in (
        (Truth(ell, ()), Dnf(())),
        (Truth(ell, (), everything), Dnf(())),
        (Truth(ell, everything), Dnf((Term(0, 0),))),
        (Truth(ell, everything[:1], everything[1:]), Dnf((Term(0, 0),))),
    ):
        found = minimize(truth)
        assert (found.dnf, found.status, found.gap_literals) == (formula, Status.PROVEN, 0)


@pytest.mark.parametrize(
    ("truth", "terms"),
    [
        (Truth(2, (1, 3)), (Term(0b01, 0b01),)),
        (Truth(2, (1, 2)), (Term(0b11, 0b01), Term(0b11, 0b10))),
        (Truth(2, (1, 2, 3)), (Term(0b01, 0b01), Term(0b10, 0b10))),
        (Truth(3, (7,), (3,)), (Term(0b011, 0b011),)),
        (Truth(1, (0,)), (Term(1, 0),)),
    ],
)
def test_terms_are_written_short_ones_first_then_by_rank(truth, terms):
    assert minimize(truth).dnf.terms == terms


@pytest.mark.parametrize(("n_required", "n_free"), [(5, 0), (300, 0), (60, 2000), (1, 16_000)])
def test_above_the_lattice_a_cover_is_grown_and_says_so(n_required, n_free):
    truth = random_truth(14, n_required, n_free)
    found = minimize(truth)
    assert found.status is Status.HEURISTIC
    assert_agrees(found.dnf, truth)


def test_a_grown_cover_of_fourteen_attributes_finds_the_literals_that_matter():
    types = np.arange(1 << 14)
    meant = Dnf((Term(0b1, 0b1), Term(0b110, 0b100)))
    found = minimize(Truth(14, tuple(types[meant.accepts(types)].tolist())))
    assert found.dnf == meant


@pytest.mark.parametrize(("ell", "share"), [(8, 0.3), (9, 0.5), (10, 0.05), (13, 0.002)])
def test_formulas_of_many_attributes_agree_with_the_truth(ell, share):
    truth = random_truth(ell, int(share * (1 << ell)), seed=ell)
    found = minimize(truth, Effort(nodes=50, seconds=60))
    assert_agrees(found.dnf, truth)
    assert found.gap_literals >= 0


@given(truths(max_ell=5, with_free=True))
@settings(max_examples=30)
def test_a_search_that_is_stopped_gives_a_cover_that_agrees_and_an_honest_gap(truth):
    stopped, finished = minimize(truth, Effort(nodes=1)), minimize(truth)
    assert finished.status is Status.PROVEN
    assert_agrees(stopped.dnf, truth)
    least = finished.dnf.n_literals
    if stopped.status is Status.PROVEN:
        assert cost(stopped.dnf) == cost(finished.dnf)
        assert stopped.gap_literals == 0
    elif stopped.status is Status.BOUNDED:
        assert stopped.dnf.n_literals - stopped.gap_literals <= least <= stopped.dnf.n_literals


@pytest.mark.slow
def test_hard_searches_that_are_stopped_at_once_do_not_all_claim_to_be_finished():
    # These two took HiGHS more than a node each; a better one may need no more for one of them.
    hard = [random_truth(9, 76, 358, seed=5), random_truth(10, 204, 614, seed=4)]
    stopped = [minimize(truth, Effort(nodes=1)) for truth in hard]
    for truth, found in zip(hard, stopped, strict=True):
        assert_agrees(found.dnf, truth)
        finished = minimize(truth, Effort(nodes=1000))
        assert finished.status is Status.PROVEN
        assert (
            found.dnf.n_literals - found.gap_literals
            <= finished.dnf.n_literals
            <= found.dnf.n_literals
        )
    assert Status.BOUNDED in {found.status for found in stopped}


def test_without_any_time_a_grown_cover_is_given_and_nothing_is_claimed():
    truth = random_truth(8, 128, seed=1)
    found = minimize(truth, Effort(nodes=0, seconds=0.0))
    assert_agrees(found.dnf, truth)
    assert found.status in {Status.HEURISTIC, Status.BOUNDED}


@given(truths(max_ell=5, with_free=True))
@settings(max_examples=20)
def test_the_same_truth_is_always_written_the_same_way(truth):
    assert minimize(truth) == minimize(truth)
    assert grow_cover(truth) == grow_cover(truth)


@given(truths(max_ell=5, with_free=True))
def test_written_as_types_a_formula_accepts_exactly_the_required_types(truth):
    found = as_types(truth)
    assert found.status is Status.AS_IS
    assert len(found.dnf.terms) == len(truth.required)
    assert_agrees(found.dnf, Truth(truth.ell, truth.required))
