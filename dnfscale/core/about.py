"""What people call things: the title of a model, what it is for, a dictionary of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dnfscale.core.arrays import Scalar


@dataclass(frozen=True, slots=True)
class Label:
    """What people call a column and its values."""

    title: str = ""
    unit: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    """Names of values, by their text."""
    note: str = ""

    def name_of(self, value: Scalar) -> str | None:
        """Return the name of a value; None if it has none."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        whole = text.removesuffix(".0") if isinstance(value, float) else text
        return self.values.get(text) or self.values.get(whole)

    @property
    def words(self) -> str:
        """All of it on one line, after the column's name."""
        names = ", ".join(f"{value} = {name}" for value, name in self.values.items())
        title = f"{self.title}, in {self.unit}" if self.title and self.unit else self.title
        said = [title or (f"in {self.unit}" if self.unit else ""), names, self.note]
        return "; ".join(part for part in said if part)


@dataclass(frozen=True, slots=True)
class About:
    """What a model is called, what it is for, and what its columns are."""

    title: str = ""
    description: str = ""
    labels: Mapping[str, Label] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.title or self.description or self.labels)

    @property
    def record(self) -> dict[str, Any]:
        """It as JSON; what is empty is left out."""
        columns = {
            name: _filled(
                title=label.title, unit=label.unit, values=dict(label.values), note=label.note
            )
            for name, label in self.labels.items()
        }
        return _filled(title=self.title, description=self.description, labels=columns)

    def of(self, columns: tuple[str, ...]) -> list[str]:
        """Return a line for each of some columns that has a label."""
        return [
            f"{column}: {self.labels[column].words}"
            for column in columns
            if column in self.labels and self.labels[column].words
        ]


def _filled(**entries: Any) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value}


NOTHING = About()
"""Of a model about which nobody said anything."""
