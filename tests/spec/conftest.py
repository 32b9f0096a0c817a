"""Fixtures of the tests of specs: those of jobs, which read specs from files."""

from __future__ import annotations

from tests.jobs.conftest import desk, laid_desk

__all__ = ["desk", "laid_desk"]
