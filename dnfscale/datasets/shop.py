"""A small made shop, for formulas over two tables: customers and their orders, with a planted rule.

A customer churns if some order before `as_of` cost more than 120 and was returned, or if there were
at most 2 orders in the 90 days before; then one label in twenty is flipped. Some customers have no
orders, some orders belong to nobody in the table, and there are orders after `as_of`: those who
churn have few of these, so that they tell the answer to whoever reads them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

N_CUSTOMERS = 4_000
NOISE = 0.05
PLANTED = (
    "some order has amount > 120 and returned",
    "at most 2 orders in the 90 days before",
)
_SEED = 28
_DAY = np.timedelta64(1, "D").astype("timedelta64[s]")
_PRICES = np.arange(10, 210, 10)
_CATEGORIES = ("books", "garden", "music", "toys")
_REGIONS = ("east", "north", "south", "west")


def customers() -> pa.Table:
    """Return the customers."""
    return _shop()[0]


def orders() -> pa.Table:
    """Return their orders."""
    return _shop()[1]


@cache
def _shop() -> tuple[pa.Table, pa.Table]:
    return made_shop(N_CUSTOMERS)


def made_shop(n: int) -> tuple[pa.Table, pa.Table]:
    """Return a shop of so many customers, and their orders."""
    random = np.random.default_rng(_SEED)
    ids = 1_000 + random.permutation(n)
    as_of = np.datetime64("2024-01-01") + random.integers(0, 365, n)
    before = random.poisson(random.choice([4, 8, 14], n)) * (random.random(n) > 0.04)
    owner = np.repeat(np.arange(n), before)
    days = 365 * random.random(len(owner)) ** 1.5
    cheap = random.random(len(owner)) < 0.78
    amount = np.where(
        cheap, random.choice(_PRICES[:12], len(owner)), random.choice(_PRICES[12:], len(owner))
    )
    returned = random.random(len(owner)) < 0.12
    recent = np.bincount(owner[days <= 90], minlength=n)
    bad = np.bincount(owner[(amount > 120) & returned], minlength=n)
    churned = ((bad > 0) | (recent <= 2)) ^ (random.random(n) < NOISE)
    later = random.poisson(np.where(churned, 0.2, 3.0))
    after = np.repeat(np.arange(n), later)
    n_after, n_strays = len(after), 50
    m = len(owner) + n_after + n_strays
    owners = np.concatenate([ids[owner], ids[after], random.integers(1, 1_000, n_strays)])
    moment = as_of.astype("datetime64[s]")
    seconds = (days * 86_400).astype(np.int64) + 1
    times = np.concatenate(
        [
            moment[owner] - seconds.astype("timedelta64[s]"),
            moment[after] + random.integers(0, 90, n_after) * _DAY,
            np.datetime64("2024-06-01", "s") + random.integers(0, 90, n_strays) * _DAY,
        ]
    )
    more = random.choice(_PRICES, n_after + n_strays)
    order = random.permutation(m)
    table = {
        "order_id": np.arange(m),
        "customer_id": owners[order],
        "ordered_at": times[order],
        "amount": np.concatenate([amount, more])[order],
        "quantity": random.integers(1, 6, m),
        "category": np.array(_CATEGORIES)[random.integers(0, 4, m)],
        "returned": np.concatenate([returned, random.random(n_after + n_strays) < 0.12])[order],
    }
    people = {
        "customer_id": ids,
        "as_of": as_of,
        "age": random.integers(18, 90, n),
        "region": np.array(_REGIONS)[random.integers(0, 4, n)],
        "churned": churned,
    }
    return pa.table(people), pa.table(table)
