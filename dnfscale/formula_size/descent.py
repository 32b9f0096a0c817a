"""Branch and bound along the heavy path: the fewest errors of a formula of a given size.

Walk from the root of a formula always into the larger operand. What hangs off this path, the
*siblings*, is small: all functions up to half the size are in the bank. What is left of the formula
below is the *hole*. A step puts a sibling T and a connective around the hole:

    T and hole   decides the types where T is false: the formula is false there,
    T or hole    decides the types where T is true: the formula is true there,

and the hole is left with the *open* types. So a node of the search is a set of open types, the
errors made on the decided ones, and how large the hole may be. At the end stands a pair of
literals.

*Negations* need no steps of their own. A formula below an odd number of them stands for its
negation: read that way, «and» and «or» change places, a sibling T costs the size of not T, and
changing sides costs one. A hole therefore has two budgets, as it stands (plus) and below a negation
(minus), which differ by at most one.

*Order.* The siblings of a *row* of equal connectives form a set: they are taken in one order only,
functions of three nodes and more before literals. The set costs as much as its shortest spelling:
all of it on the plus side, all of it on the minus side, or first the siblings that are cheaper on
one side, a negation, and then those that are cheaper on the other.

*Bounds.* A step that decides the types X costs the errors made there, and gains what the opposite
would have cost. Errors already made must stay below the best formula so far. And the step must gain
enough: the same formula without it is smaller, so a floor for its errors is known from smaller
sizes, or from a probe of the node with small holes.

Only formulas of exactly the given size can improve on smaller ones, so a hole is filled completely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Ints
from dnfscale.formula_size.bank import AND, OR
from dnfscale.formula_size.compiled import Number, entry, inlined, part, popcount, weigh
from dnfscale.formula_size.table import Words

# Numbers passed to kernels are typed, np.int64(0) instead of 0: for a constant, Numba would compile
# the function again.

NEVER = 1 << 20
"""More than any size."""

# A node's numbers.
PLUS, MINUS = 0, 1
"""The hole's budgets."""
CONNECTIVE, LAST, HAS_LARGE, N_SIBLINGS = 2, 3, 4, 5
"""The row of equal connectives above: which one, its last sibling, whether one is more than a
literal, how many.
"""
ROW_PLUS, ROW_MINUS, ALL_PLUS, ALL_MINUS, CHEAPEST = 6, 7, 8, 9, 10
"""Budgets before the row; budgets left if all its siblings are on one side; their cost, each on its
cheaper side.
"""
ERRORS, GOOD, BAD, ITEM = 11, 12, 13, 14
"""Errors on the decided types; the weight of open types that should be true, and false; the step
that led here.
"""
FIRST, NEXT, END = 15, 16, 17
"""The node's children: the first, the next to visit, and the one after the last."""
N_WORDS, N_GOOD_WORDS, GOOD_ONES, BAD_ONES, N_SEGMENTS, N_GOOD_SEGMENTS = 18, 19, 20, 21, 22, 23
"""The layout; bits in words up to GOOD_ONES, and from N_GOOD_WORDS up to BAD_ONES, weigh one each.
"""
NODE_NUMBERS = 24

# The answer's numbers.
BEST, N_STEPS, PAIR, PAIR_X, PAIR_Y, STEPS = 0, 1, 2, 3, 4, 5

# The numbers of the search itself.
DEPTH, SIZE, WORK, NEEDS_ROOM, FOUND_X, FOUND_Y = 0, 1, 2, 3, 4, 5
CONTROL_NUMBERS = 6
NOT_BEGUN, DONE = -2, -1

WANT_GOOD, WANT_BAD = 0, 4
"""Which weights are wanted, by their offset in an entry of `pairs`."""

_UP_TO_FOUR = (9, 15)
_UP_TO_SIX = (15, 21)
"""Ranges of the floors of holes of size three to four, and of five to six; see floor_of."""


class Frames(NamedTuple):
    """The search's memory: an explicit stack, so that it may be left and entered again at any
    node.
    """

    bits: Words
    size: npt.NDArray[np.int16]
    tops: npt.NDArray[np.uint8]
    """From the bank. Function f is literal f where f < 2 * (number of literals)."""
    up_to: Ints
    """up_to[k]: how many entries of the bank have a function of size k or less; they come first."""
    full: Words
    least_errors: Ints
    """least_errors[k]: the fewest errors of any formula of size k."""
    literals: Words
    """literals[depth, f]: the open types of a node where literal f is true, packed."""
    unpacked: Words
    """unpacked[depth]: the open types in the root's layout."""
    open: Words
    """open[depth]: the open types in the node's own layout."""
    weights: Ints
    """weights[depth, word]: what a bit of the word weighs."""
    segments: Ints
    segment_weights: Ints
    moves: Words
    target: Ints
    shift: Ints
    is_packed: Ints
    """How words of the layout above are packed into the node's."""
    good: Ints
    bad: Ints
    """good[depth, f]: the weight of the open types where literal f is true and the formula should
    be; bad: should not be."""
    floors: Ints
    """floors[depth, floor_of(plus, minus)]: a hole of these budgets cannot bring the errors at this
    node below it.
    """
    node: Ints
    keys: Ints
    items: Ints
    """The children of all nodes on the stack: a floor for their errors, and 4 * function +
    connective.
    """
    answer: Ints
    kept_answer: Ints
    control: Ints
    words: Words
    hole_good: Ints
    hole_bad: Ints
    candidates: Ints
    candidate_weights: Ints
    pairs: Ints
    """pairs[i, j]: for literals i < j, the good weight where both, only the first, only the second,
    or neither holds; then the bad weights likewise."""


@entry
def descend(s: Frames, budget: Number) -> None:
    """Continue the search until it is done, the budget (about the words read) is spent, or children
    need more room.
    """
    control = s.control
    root = np.int64(0)
    control[WORK] = 0
    control[NEEDS_ROOM] = 0
    if control[DEPTH] == NOT_BEGUN:
        _set_units(s, root)
        _count_literals(s, root)
        if control[SIZE] <= 4:
            _fill(s, root, s.full, s.good[0], s.bad[0], s.node[0], np.int64(-1), np.int64(0))
            control[DEPTH] = DONE
        elif control[SIZE] <= 6:
            _weigh_pairs(s, root)
            _fill_three(s, root)
            control[DEPTH] = DONE
        elif _expand(s, root):
            control[DEPTH] = 0
    while control[DEPTH] >= 0 and control[WORK] <= budget and control[NEEDS_ROOM] == 0:
        node = s.node[control[DEPTH]]
        if node[NEXT] >= node[END] or s.keys[node[NEXT]] >= s.answer[BEST]:
            control[DEPTH] -= 1
        else:
            _visit(s, control[DEPTH], s.items[node[NEXT]])
            if control[NEEDS_ROOM] == 0:
                node[NEXT] += 1


@inlined
def floor_of(plus: Number, minus: Number) -> Number:
    """Return the index of the floor of a hole with these budgets, which differ by at most one."""
    if plus > minus:
        return 3 * plus
    if minus > plus:
        return 3 * minus + 1
    return 3 * plus + 2


@inlined
def _rank(function: Number, n_functions: Number) -> Number:
    """Return a sibling's place in the order of a row: functions of three nodes and more before
    literals.
    """
    return function if function < n_functions else function - (1 << 40)


@inlined
def _after(
    node: Ints, size: npt.NDArray[np.int16], tops: npt.NDArray[np.uint8], item: Number, child: Ints
) -> Number:
    """Write into child the budgets and the row after a step; return the larger budget."""
    function, connective = item >> 2, item & 3
    plus, minus = np.int64(size[function]), np.int64(size[function ^ 1])
    # A sibling with the row's own connective on top counts as two siblings, not as one.
    if tops[function] & connective:
        plus = np.int64(NEVER)
    if tops[function ^ 1] & (3 - connective):
        minus = np.int64(NEVER)
    child[CONNECTIVE] = connective
    if node[CONNECTIVE] == connective:
        for number in range(ROW_PLUS, CHEAPEST + 1):
            child[number] = node[number]
        child[N_SIBLINGS] = node[N_SIBLINGS] + 1
        child[HAS_LARGE] = node[HAS_LARGE]
    else:
        child[ROW_PLUS] = child[ALL_PLUS] = node[PLUS]
        child[ROW_MINUS] = child[ALL_MINUS] = node[MINUS]
        child[CHEAPEST] = 0
        child[N_SIBLINGS] = 1
        child[HAS_LARGE] = 0
    child[CHEAPEST] += 1 + min(plus, minus)
    # The hole is at least as large as a sibling on its side; before a negation, the siblings after
    # it count towards the hole.
    child[ALL_PLUS] -= 1 + plus
    if plus > child[ALL_PLUS]:
        child[ALL_PLUS] = -NEVER
    child[ALL_MINUS] -= 1 + minus
    if minus > child[ALL_MINUS]:
        child[ALL_MINUS] = -NEVER
    child[PLUS] = max(child[ALL_PLUS], child[ALL_MINUS] - 1)
    child[MINUS] = max(child[ALL_MINUS], child[ALL_PLUS] - 1)
    if child[N_SIBLINGS] > 1:
        child[PLUS] = max(child[PLUS], child[ROW_MINUS] - 1 - child[CHEAPEST])
        child[MINUS] = max(child[MINUS], child[ROW_PLUS] - 1 - child[CHEAPEST])
        child[PLUS] = max(child[PLUS], child[MINUS] - 1)
        child[MINUS] = max(child[MINUS], child[PLUS] - 1)
    return np.int64(max(child[PLUS], child[MINUS]))


@inlined
def _floor(s: Frames, depth: Number, child: Ints) -> Number:
    """Return a floor for the errors at a node if its hole held what the child's hole may hold.

    The child's row may continue, so its hole is bounded by the least that the row's siblings cost
    on either side.
    """
    node = s.node[depth]
    above = node[CHEAPEST] if child[N_SIBLINGS] > 1 else 0
    known = s.least_errors[s.control[SIZE] - (child[CHEAPEST] - above)]
    place = floor_of(child[ROW_PLUS] - child[CHEAPEST], child[ROW_MINUS] - child[CHEAPEST])
    return np.int64(max(known, s.floors[depth, place]))


@part
def _visit(s: Frames, depth: Number, item: Number) -> None:
    """Take a step: fill a small hole at once, or put a larger one on the stack."""
    node, child = s.node[depth], s.node[depth + 1]
    n_functions = s.literals.shape[1]
    function, connective = item >> 2, item & 3
    room = _after(node, s.size, s.tops, item, child)
    keeps = function if connective == AND else function ^ 1
    if keeps < n_functions:
        stays = s.literals[depth, keeps]
    else:
        stays = s.words[0]
        _carry_down(s, depth, keeps, stays)
    n_good, n_words, weights = node[N_GOOD_WORDS], node[N_WORDS], s.weights[depth]
    good = weigh(stays, s.open[depth], 0, node[GOOD_ONES], n_good, weights)
    bad = weigh(stays, s.open[depth], n_good, node[BAD_ONES], n_words, weights)
    lost_good, lost_bad = node[GOOD] - good, node[BAD] - bad
    cost, gain = (lost_good, lost_bad) if connective == AND else (lost_bad, lost_good)
    child[ERRORS], child[GOOD], child[BAD], child[ITEM] = node[ERRORS] + cost, good, bad, item
    child[LAST] = _rank(function, n_functions)
    if function >= n_functions:
        child[HAS_LARGE] = 1
    s.control[WORK] += n_functions * (n_words + 4)
    if room <= 4:
        for literal in range(0, n_functions, 2):
            both = weigh(stays, s.literals[depth, literal], 0, node[GOOD_ONES], n_good, weights)
            s.hole_good[literal], s.hole_good[literal + 1] = both, good - both
            both = weigh(
                stays, s.literals[depth, literal], n_good, node[BAD_ONES], n_words, weights
            )
            s.hole_bad[literal], s.hole_bad[literal + 1] = both, bad - both
        _fill(s, depth, stays, s.hole_good, s.hole_bad, child, item, np.int64(0))
        return
    for place in range(s.floors.shape[1]):
        s.floors[depth + 1, place] = s.floors[depth, place] - gain
    _lay_out(s, depth + 1, stays)
    for literal in range(0, n_functions, 2):
        _carry(s, depth + 1, s.literals[depth, literal], s.literals[depth + 1, literal])
    _count_literals(s, depth + 1)
    if room <= 6:
        _weigh_pairs(s, depth + 1)
        _fill_three(s, depth + 1)
        return
    turn = np.uint64(0) - np.uint64(keeps & 1)
    for word in range(len(s.full)):
        s.unpacked[depth + 1, word] = s.unpacked[depth, word] & (
            s.bits[keeps >> 1, word] ^ (s.full[word] & turn)
        )
    child[FIRST] = node[END]
    if _expand(s, depth + 1):
        s.control[DEPTH] += 1


@part
def _expand(s: Frames, depth: Number) -> bool:
    """Write the children of a node, the most promising first; return whether there was room for
    them.
    """
    node = s.node[depth]
    _probe(s, depth)
    n_functions = s.literals.shape[1]
    end = node[FIRST]
    # The largest sibling is no larger than the hole, unless others of its row follow beyond a
    # negation.
    row = max(node[ROW_PLUS], node[ROW_MINUS])
    largest = (max(node[PLUS], node[MINUS]) - 1) // 2
    if node[N_SIBLINGS] > 0:
        largest = max(largest, min((row - 1) // 2, row - node[CHEAPEST] - 5))
    n_entries = s.up_to[min(largest, len(s.up_to) - 1)]
    s.control[WORK] += n_entries * (len(s.full) + 4)
    n_good, n_words, root = s.node[0, N_GOOD_WORDS], len(s.full), s.node[0]
    for place in range(n_entries):
        if end + 4 > len(s.keys):
            s.control[NEEDS_ROOM] = 1
            return False
        if 2 * place < n_functions:
            good, bad = s.good[depth, 2 * place], s.bad[depth, 2 * place]
        else:
            good = weigh(s.bits[place], s.unpacked[depth], 0, root[GOOD_ONES], n_good, s.weights[0])
            bad = weigh(
                s.bits[place], s.unpacked[depth], n_good, root[BAD_ONES], n_words, s.weights[0]
            )
        end = _offer(s, depth, end, 2 * place, good, bad)
    _sort_children(s.keys, s.items, node[FIRST], end)
    node[NEXT], node[END] = node[FIRST], end
    return True


@part
def _sort_children(keys: Ints, items: Ints, first: Number, end: Number) -> None:
    """Sort children by key and item, with Shell's sort: NumPy's takes Numba seconds to compile."""
    gap: Number = np.int64(1)
    while gap < (end - first) // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(first + gap, end):
            key, item = keys[place], items[place]
            free: Number = place
            while free - gap >= first:
                other = free - gap
                if keys[other] < key or (keys[other] == key and items[other] < item):
                    break
                keys[free], items[free] = keys[other], items[other]
                free = other
            keys[free], items[free] = key, item
        gap //= 3


@inlined
def _offer(
    s: Frames, depth: Number, end: Number, entry_function: Number, good: Number, bad: Number
) -> Number:
    """Write the steps with a function or its negation that the bounds allow; return the new end of
    the children.
    """
    node, child = s.node[depth], s.node[depth + 1]
    n_functions = s.literals.shape[1]
    if good + bad == 0 or good + bad == node[GOOD] + node[BAD]:
        return end
    # The fewest errors without the step give the first and cheapest test of how much it must gain.
    without = s.least_errors[
        s.control[SIZE] - 1 - min(s.size[entry_function], s.size[entry_function + 1])
    ]
    for way in range(4):
        function, connective = entry_function + (way & 1), AND if way < 2 else OR
        # The decided types are those where the function is true, or the others: its negation swaps
        # them, and so does «and».
        turned = (way == 0) or (way == 3)
        lost_good = node[GOOD] - good if turned else good
        lost_bad = node[BAD] - bad if turned else bad
        cost, gain = (lost_good, lost_bad) if connective == AND else (lost_bad, lost_good)
        errors = max(node[ERRORS] + cost, without - gain)
        if errors >= s.answer[BEST]:
            continue
        if connective == node[CONNECTIVE] and _rank(function, n_functions) <= node[LAST]:
            continue
        item = 4 * function + connective
        if _after(node, s.size, s.tops, item, child) < 3:
            continue
        errors = max(errors, _floor(s, depth, child) - gain)
        if errors < s.answer[BEST]:
            s.keys[end], s.items[end] = errors, item
            end += 1
    return end


@part
def _probe(s: Frames, depth: Number) -> None:
    """Raise a node's floors, by finding the fewest errors with a hole of up to four, and of up to
    five or six.
    """
    node = s.node[depth]
    plus, minus, connective, has_large = node[PLUS], node[MINUS], node[CONNECTIVE], node[HAS_LARGE]
    for place in range(len(s.answer)):
        s.kept_answer[place] = s.answer[place]
    room = min(6, max(plus, minus) - 2)
    _weigh_pairs(s, depth)
    node[PLUS] = node[MINUS] = room
    node[CONNECTIVE] = node[HAS_LARGE] = 0
    s.answer[BEST] = s.floors[depth, _UP_TO_FOUR[1] - 1]
    _fill_three(s, depth)
    least = s.answer[BEST]
    node[PLUS], node[MINUS], node[CONNECTIVE], node[HAS_LARGE] = plus, minus, connective, has_large
    for place in range(len(s.answer)):
        s.answer[place] = s.kept_answer[place]
    for place in range(_UP_TO_SIX[0], 3 * room + 3):
        s.floors[depth, place] = max(s.floors[depth, place], least)


@part
def _weigh_pairs(s: Frames, depth: Number) -> None:
    """Weigh all pairs of literals at a node, and raise the floors of holes that take a pair."""
    node, literals, weights = s.node[depth], s.literals[depth], s.weights[depth]
    all_good, all_bad, good, bad = node[GOOD], node[BAD], s.good[depth], s.bad[depth]
    n_functions, n_good, n_words = literals.shape[0], node[N_GOOD_WORDS], node[N_WORDS]
    s.control[WORK] += n_functions * n_functions * (n_words + 8) // 8
    least_plus = least_minus = least = np.int64(1) << 60
    for x in range(0, n_functions, 2):
        for y in range(x + 2, n_functions, 2):
            both_good = weigh(literals[x], literals[y], 0, node[GOOD_ONES], n_good, weights)
            both_bad = weigh(literals[x], literals[y], n_good, node[BAD_ONES], n_words, weights)
            pair = s.pairs[x >> 1, y >> 1]
            pair[0], pair[1], pair[2] = both_good, good[x] - both_good, good[y] - both_good
            pair[3] = all_good - good[x] - pair[2]
            pair[4], pair[5], pair[6] = both_bad, bad[x] - both_bad, bad[y] - both_bad
            pair[7] = all_bad - bad[x] - pair[6]
            for case in range(4):
                true_there = all_good - pair[case] + pair[4 + case]
                false_there = all_bad - pair[4 + case] + pair[case]
                least = min(least, min(true_there, false_there))
                u, v = x + (case >> 1), y + (case & 1)
                if s.size[u] == 1 and s.size[v] == 1:
                    least_plus, least_minus = (
                        min(least_plus, true_there),
                        min(least_minus, false_there),
                    )
                if s.size[u ^ 1] == 1 and s.size[v ^ 1] == 1:
                    least_plus, least_minus = (
                        min(least_plus, false_there),
                        min(least_minus, true_there),
                    )
    floors, errors = s.floors[depth], node[ERRORS]
    floors[9] = max(floors[9], errors + least_plus)
    floors[10] = max(floors[10], errors + least_minus)
    floors[11] = max(floors[11], errors + min(least_plus, least_minus))
    for place in range(12, _UP_TO_FOUR[1]):
        floors[place] = max(floors[place], errors + least)


@part
def _fill_three(s: Frames, depth: Number) -> None:
    """Try all literals as a step, followed by all pairs, in a hole of five or six; the node's pairs
    must be weighed.
    """
    node, child = s.node[depth], s.node[depth + 1]
    n_functions = s.literals.shape[1]
    for keeps in range(n_functions):
        good, bad = s.good[depth, keeps], s.bad[depth, keeps]
        lost_good, lost_bad = node[GOOD] - good, node[BAD] - bad
        if good + bad == 0 or lost_good + lost_bad == 0:
            continue
        is_counted = False
        for connective in (AND, OR):
            function = keeps if connective == AND else keeps ^ 1
            cost, gain = (lost_good, lost_bad) if connective == AND else (lost_bad, lost_good)
            if node[ERRORS] + cost >= s.answer[BEST]:
                continue
            if connective == node[CONNECTIVE] and function <= node[LAST]:
                continue
            item = 4 * function + connective
            if _after(node, s.size, s.tops, item, child) < 3:
                continue
            if _floor(s, depth, child) - gain >= s.answer[BEST]:
                continue
            if not is_counted:
                _read_pairs(s, depth, keeps)
                is_counted = True
            child[ERRORS], child[GOOD], child[BAD], child[LAST] = (
                node[ERRORS] + cost,
                good,
                bad,
                function,
            )
            _fill(
                s,
                depth,
                s.literals[depth, keeps],
                s.hole_good,
                s.hole_bad,
                child,
                item,
                np.int64(1),
            )


@part
def _read_pairs(s: Frames, depth: Number, keeps: Number) -> None:
    """Read from the node's pairs what each literal weighs where the literal `keeps` holds."""
    side = keeps & 1
    for place in range(s.literals.shape[1] >> 1):
        if place < keeps >> 1:
            pair = s.pairs[place, keeps >> 1]
            holds, fails = side, 2 + side
        else:
            pair = s.pairs[keeps >> 1, place]
            holds, fails = 2 * side, 2 * side + 1
        s.hole_good[2 * place], s.hole_good[2 * place + 1] = pair[holds], pair[fails]
        s.hole_bad[2 * place], s.hole_bad[2 * place + 1] = pair[4 + holds], pair[4 + fails]
    s.hole_good[keeps], s.hole_good[keeps ^ 1] = s.good[depth, keeps], 0
    s.hole_bad[keeps], s.hole_bad[keeps ^ 1] = s.bad[depth, keeps], 0


@part
def _fill(  # noqa: PLR0913 (a kernel creates nothing, so its caller passes all)
    s: Frames,
    depth: Number,
    stays: Words,
    good: Ints,
    bad: Ints,
    hole: Ints,
    item: Number,
    weighed: Number,
) -> None:
    """Try all pairs of literals in a hole of three or four, one step below a node; keep the best
    formula.

    stays: the hole's types in the node's layout; good, bad: what the literals weigh in the hole;
    item: the step, or -1 if there is none; weighed: 1 if the node's pairs have been weighed, else
    0.
    """
    s.control[WORK] += 6 * len(good)
    for connective in (AND, OR):
        plus, minus, any_pair, first = hole[PLUS], hole[MINUS], False, np.int64(0)
        if item >= 0 and connective == hole[CONNECTIVE]:
            # The pair joins the row. Beside a larger sibling it would not be the larger operand,
            # unless beyond a negation.
            plus, minus = hole[ALL_PLUS], hole[ALL_MINUS]
            any_pair = max(hole[ROW_PLUS], hole[ROW_MINUS]) >= 4 + hole[CHEAPEST]
            if hole[HAS_LARGE] == 1:
                plus = minus = np.int64(-NEVER)
            else:
                first = (hole[LAST] | 1) + 1
            if not any_pair and max(plus, minus) < 3:
                continue
        want_good, want_bad = np.int64(WANT_GOOD), np.int64(WANT_BAD)
        if connective == AND:
            least = _best_pair(
                s, depth, stays, good, bad, hole, want_good, plus, minus, any_pair, first, weighed
            )
        else:
            # «x or y» is false where not x and not y hold: good and bad, plus and minus change
            # places.
            least = _best_pair(
                s, depth, stays, bad, good, hole, want_bad, minus, plus, any_pair, first, weighed
            )
        if least < s.answer[BEST]:
            _keep(s, depth, item, connective, least)


@part
def _keep(s: Frames, depth: Number, item: Number, connective: Number, errors: Number) -> None:
    """Keep the formula: the steps down to a node, one more if there is one, and the pair that was
    found.
    """
    answer = s.answer
    n_steps = depth
    for above in range(depth):
        answer[STEPS + above] = s.node[above + 1, ITEM]
    if item >= 0:
        answer[STEPS + n_steps] = item
        n_steps += 1
    turn = 0 if connective == AND else 1
    answer[BEST], answer[N_STEPS], answer[PAIR] = errors, n_steps, connective
    answer[PAIR_X], answer[PAIR_Y] = s.control[FOUND_X] ^ turn, s.control[FOUND_Y] ^ turn


@part
def _best_pair(  # noqa: C901, PLR0913 (the innermost loop; calls cost more than branches)
    s: Frames,
    depth: Number,
    stays: Words,
    wanted: Ints,
    unwanted: Ints,
    hole: Ints,
    want: Number,
    plus: Number,
    minus: Number,
    any_pair: bool,
    first: Number,
    weighed: Number,
) -> Number:
    """Find literals x and y that hold together on as much wanted and as little unwanted weight as
    possible.

    Return the errors of the whole formula if they are a new minimum, with x and y in control; else
    the old minimum.
    """
    literals, weights, size, node = s.literals[depth], s.weights[depth], s.size, s.node[depth]
    wanted_low, wanted_ones, wanted_high = np.int64(0), node[GOOD_ONES], node[N_GOOD_WORDS]
    unwanted_low, unwanted_ones, unwanted_high = node[N_GOOD_WORDS], node[BAD_ONES], node[N_WORDS]
    all_wanted, all_unwanted, node_unwanted = hole[GOOD], hole[BAD], s.bad[depth]
    if want == WANT_BAD:
        wanted_low, wanted_ones, wanted_high = unwanted_low, unwanted_ones, unwanted_high
        unwanted_low, unwanted_ones, unwanted_high = (
            np.int64(0),
            node[GOOD_ONES],
            node[N_GOOD_WORDS],
        )
        all_wanted, all_unwanted, node_unwanted = hole[BAD], hole[GOOD], s.good[depth]
    slack = s.answer[BEST] - hole[ERRORS]
    n = 0
    for x in range(first, len(wanted)):
        if wanted[x] > all_wanted - slack and (
            any_pair or size[x] + 2 <= plus or size[x ^ 1] + 2 <= minus
        ):
            s.candidates[n] = x
            s.candidate_weights[0, n], s.candidate_weights[1, n] = wanted[x], unwanted[x]
            n += 1
    s.control[WORK] += n * n // 4
    both = s.words[1]
    for i in range(n - 1):
        x = s.candidates[i]
        x_wanted, x_unwanted = wanted[x], unwanted[x]
        if x_wanted <= all_wanted - slack:
            continue
        # The pair misses the wanted weight that x misses, and has at least the unwanted weight that
        # x and y must share.
        limit = slack - (all_wanted - x_wanted) + all_unwanted - x_unwanted
        is_ready = False
        for j in range(i + 1, n):
            if s.candidate_weights[1, j] >= limit:
                continue
            y = s.candidates[j]
            most = min(x_wanted, s.candidate_weights[0, j])
            shared = max(0, x_unwanted + s.candidate_weights[1, j] - all_unwanted)
            if all_wanted - most + shared >= slack or y == x ^ 1:
                continue
            if weighed == 1:
                # Together with the step's literal, x and y hold on at most what any two of the
                # three hold on, and at least on what two of these pairs must share.
                pair = s.pairs[x >> 1, y >> 1]
                case = 2 * (x & 1) + (y & 1)
                rest = pair[case + WANT_BAD - want]
                most = min(most, pair[case + want])
                shared = max(shared, x_unwanted + rest - node_unwanted[x])
                shared = max(shared, s.candidate_weights[1, j] + rest - node_unwanted[y])
                if all_wanted - most + shared >= slack:
                    continue
            if (
                not any_pair
                and size[x] + size[y] + 1 > plus
                and size[x ^ 1] + size[y ^ 1] + 1 > minus
            ):
                continue
            if not is_ready:
                word, end = np.uint64(0), np.uint64(max(wanted_high, unwanted_high))
                row = literals[x]
                while word < end:
                    both[word] = stays[word] & row[word]
                    word += np.uint64(1)
                is_ready = True
            s.control[WORK] += wanted_high - wanted_low
            errors = all_wanted - weigh(
                both, literals[y], wanted_low, wanted_ones, wanted_high, weights
            )
            if errors + shared >= slack:
                continue
            errors += weigh(both, literals[y], unwanted_low, unwanted_ones, unwanted_high, weights)
            if errors < slack:
                slack = errors
                s.control[FOUND_X], s.control[FOUND_Y] = x, y
    return np.int64(slack + hole[ERRORS])


@part
def _count_literals(s: Frames, depth: Number) -> None:
    """Weigh a node's literals, and write the bits of their negations."""
    node, weights = s.node[depth], s.weights[depth]
    n_good, n_words = node[N_GOOD_WORDS], node[N_WORDS]
    for x in range(0, s.literals.shape[1], 2):
        bits = s.literals[depth, x]
        s.good[depth, x] = weigh(bits, s.open[depth], 0, node[GOOD_ONES], n_good, weights)
        s.bad[depth, x] = weigh(bits, s.open[depth], n_good, node[BAD_ONES], n_words, weights)
        s.good[depth, x + 1] = node[GOOD] - s.good[depth, x]
        s.bad[depth, x + 1] = node[BAD] - s.bad[depth, x]
        for word in range(n_words):
            s.literals[depth, x + 1, word] = bits[word] ^ s.open[depth, word]


@part
def _carry_down(s: Frames, depth: Number, function: Number, words: Words) -> None:
    """Write a function of the bank in a node's layout."""
    turn = np.uint64(0) - np.uint64(function & 1)
    for word in range(len(s.full)):
        words[word] = s.bits[function >> 1, word] ^ (s.full[word] & turn)
    for level in range(1, depth + 1):
        _carry(s, level, words, s.words[2])
        for word in range(s.node[level, N_WORDS]):
            words[word] = s.words[2, word]


@inlined
def _carry(s: Frames, depth: Number, source: Words, words: Words) -> None:
    """Write words that are in the layout of the node above in a node's own layout."""
    if s.is_packed[depth] == 0:
        for word in range(s.node[depth, N_WORDS]):
            words[word] = source[word] & s.open[depth, word]
        return
    for word in range(s.node[depth, N_WORDS]):
        words[word] = 0
    for word in range(s.node[depth - 1, N_WORDS]):
        place = s.target[depth, word]
        if place >= 0:
            bits = source[word] & s.moves[depth, word, 6]
            for power in range(6):
                moved = bits & s.moves[depth, word, power]
                bits = (bits ^ moved) | (moved >> np.uint64(1 << power))
            shift = s.shift[depth, word]
            words[place] |= bits << np.uint64(shift)
            spill = (bits >> np.uint64(1)) >> np.uint64(63 - shift)
            if spill != np.uint64(0):
                words[place + 1] |= spill


@part
def _lay_out(s: Frames, depth: Number, stays: Words) -> None:
    """Lay out a node for the types that stay open of the node above: packed, unless that saves too
    little.
    """
    above, node = s.node[depth - 1], s.node[depth]
    n_words: Number = np.int64(0)
    for segment in range(above[N_SEGMENTS]):
        n_words += (
            _count_bits(stays, s.segments[depth - 1, segment], s.segments[depth - 1, segment + 1])
            + 63
        ) >> 6
    s.is_packed[depth] = 1 if 4 * n_words <= 3 * above[N_WORDS] else 0
    if s.is_packed[depth]:
        _pack(s, depth, stays)
        return
    for number in range(N_WORDS, NODE_NUMBERS):
        node[number] = above[number]
    for word in range(above[N_WORDS]):
        s.open[depth, word] = stays[word]
        s.weights[depth, word] = s.weights[depth - 1, word]
    for segment in range(above[N_SEGMENTS]):
        s.segments[depth, segment + 1] = s.segments[depth - 1, segment + 1]
        s.segment_weights[depth, segment] = s.segment_weights[depth - 1, segment]


@part
def _pack(s: Frames, depth: Number, stays: Words) -> None:
    """Plan how the bits of each segment are packed together; empty segments vanish."""
    above, node = s.node[depth - 1], s.node[depth]
    n_segments = n_good = n_words = 0
    for segment in range(above[N_SEGMENTS]):
        n_bits = np.int64(0)
        for word in range(s.segments[depth - 1, segment], s.segments[depth - 1, segment + 1]):
            s.target[depth, word] = n_words + (n_bits >> 6) if stays[word] != np.uint64(0) else -1
            s.shift[depth, word] = n_bits & 63
            n_bits += np.int64(popcount(stays[word]))
            _plan_moves(s.moves[depth, word], stays[word])
        if n_bits == 0:
            continue
        while n_bits > 0:
            ones = ~np.uint64(0)
            s.open[depth, n_words] = ones if n_bits >= 64 else ones >> np.uint64(64 - n_bits)
            s.weights[depth, n_words] = s.segment_weights[depth - 1, segment]
            n_words += 1
            n_bits -= 64
        s.segment_weights[depth, n_segments] = s.segment_weights[depth - 1, segment]
        n_segments += 1
        s.segments[depth, n_segments] = n_words
        n_good += 1 if segment < above[N_GOOD_SEGMENTS] else 0
    node[N_WORDS], node[N_SEGMENTS], node[N_GOOD_SEGMENTS] = n_words, n_segments, n_good
    node[N_GOOD_WORDS] = s.segments[depth, n_good]
    _set_units(s, depth)


@part
def _plan_moves(moves: Words, mask: np.uint64) -> None:
    """Find, for each power of two, the bits under a mask that move down by it to close the gaps.

    A bit moves down by the number of gaps below it. The parity of that number is computed for all
    bits at once by shifts and exclusive or; the bits where it is odd move by one, and so on for
    two, four, up to 32. This needs no special instruction, so it is the same on every machine.
    """
    moves[6] = mask
    gaps = ~mask << np.uint64(1)
    for power in range(6):
        odd = gaps ^ (gaps << np.uint64(1))
        odd ^= odd << np.uint64(2)
        odd ^= odd << np.uint64(4)
        odd ^= odd << np.uint64(8)
        odd ^= odd << np.uint64(16)
        odd ^= odd << np.uint64(32)
        moves[power] = odd & mask
        mask = (mask ^ moves[power]) | (moves[power] >> np.uint64(1 << power))
        gaps &= ~odd


@part
def _set_units(s: Frames, depth: Number) -> None:
    """Note the words whose bits weigh one each: only the first segment of good and of bad types may
    have such bits.
    """
    node = s.node[depth]
    n_good = node[N_GOOD_SEGMENTS]
    node[GOOD_ONES], node[BAD_ONES] = 0, node[N_GOOD_WORDS]
    if n_good > 0 and s.segment_weights[depth, 0] == 1:
        node[GOOD_ONES] = s.segments[depth, 1]
    if node[N_SEGMENTS] > n_good and s.segment_weights[depth, n_good] == 1:
        node[BAD_ONES] = s.segments[depth, n_good + 1]


@part
def _count_bits(words: Words, low: Number, high: Number) -> Number:
    n = np.int64(0)
    for word in range(low, high):
        n += np.int64(popcount(words[word]))
    return n
