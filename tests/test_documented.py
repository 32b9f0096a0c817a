"""Nothing that was documented is lost: documented.txt lists every verb and every key of a spec.

A key or a verb that is taken away on purpose is taken off the list in the same commit.
`python -m tests.test_documented` writes the list anew.
"""

from __future__ import annotations

from pathlib import Path

from dnfscale.jobs.cli import command_parser
from dnfscale.spec.job import job_keys
from tests.test_readme import parsers_of

LIST = Path(__file__).with_name("documented.txt")


def offered() -> set[str]:
    verbs = {f"dnfscale {verb}" for verb in parsers_of(command_parser())}
    return verbs | set(job_keys())


def test_every_verb_and_key_that_was_documented_is_still_there():
    listed = LIST.read_text(encoding="utf-8").split("\n")
    assert listed == sorted(listed)
    assert [name for name in listed if name and name not in offered()] == []
    assert len(listed) > 100


if __name__ == "__main__":
    LIST.write_text("\n".join(sorted(offered())), encoding="utf-8")
