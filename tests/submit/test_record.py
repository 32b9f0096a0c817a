"""Finding a job by the beginning of its id."""

from __future__ import annotations

import pytest

from dnfscale.errors import SpecError
from dnfscale.submit.record import JobRecord, job_beginning


def job(name: str) -> JobRecord:
    return JobRecord(name, "n", "fit", "s.toml", "/runs/n", "u", "h", 0.0)


JOBS = [job("ab12"), job("ab34"), job("cd56")]


@pytest.mark.parametrize(
    ("prefix", "found"), [("c", "cd56"), ("CD5", "cd56"), ("ab1", "ab12"), ("ab34", "ab34")]
)
def test_the_beginning_of_one_id_is_enough(prefix, found):
    assert job_beginning(JOBS, prefix, address="p").id == found


def test_the_beginning_of_two_ids_names_both():
    with pytest.raises(SpecError, match="one id, but 'ab' is that of ab12, ab34; give more of it"):
        job_beginning(JOBS, "ab", address="p")


@pytest.mark.parametrize("prefix", ["", "b", "ab123", "12"])
def test_what_no_id_begins_with_is_told_with_the_place(prefix):
    with pytest.raises(
        SpecError, match="expected the id of a job at tls://p:1, but none begins with"
    ) as caught:
        job_beginning(JOBS, prefix, address="tls://p:1")
    assert "list shows all 3 that it knows" in caught.value.message
