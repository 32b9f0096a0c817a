"""Keys: how a key of the spec is declared, once, and what follows from the declaration.

A table of the spec is a frozen dataclass, and each of its keys a field of it:

    max_ell: int = key(whole(1, 24), 10, "the most attributes that a formula may use",
    table="select")

From this come the TOML reader, `--set`, the profiles, the resolved spec, the documented block and,
with a test that compares them, the parameters of the estimators. A check returns the value as it is
used, or raises a ValueError that says what it must be; it takes what TOML gives and what Python
gives, and takes its own result unchanged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeVar

from dnfscale.errors import SpecError
from dnfscale.spec.registry import Registry

Check = Callable[[Any], Any]
T = TypeVar("T")

_SHOWN = 200
"""How many characters of a wrong value a message shows."""
_NO_PROFILE: Mapping[str, Any] = MappingProxyType({})


class CredentialError(ValueError):
    """A text contains credentials; the message does not repeat them."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the spec, as it is declared."""

    path: str
    """Its dotted name in TOML, such as select.max_ell."""
    check: Check
    default: Any
    help: str | Callable[[], str]
    """One line for the documentation, or a function of it where that depends on what is
    registered.
    """
    required: bool
    example: Any
    """A value for the documentation, where there is no default or none that says anything."""
    profiles: Mapping[str, Any]
    """The values that profiles give it."""
    parameter: bool | str
    """Whether the estimators have a parameter for it; its name in Python, where that is another."""
    portable: bool
    """Whether it holds on any cluster, so that it goes with a job that is submitted to one."""

    @property
    def name(self) -> str:
        """Its name in Python, and in its table."""
        return self.path.rpartition(".")[2]

    @property
    def parameter_name(self) -> str:
        """The name of the estimators' parameter."""
        return self.parameter if isinstance(self.parameter, str) else self.name

    @property
    def table(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def is_optional(self) -> bool:
        """Whether its default is to say nothing: then it is documented by an example, and not
        written out.
        """
        return self.default in (None, "", ()) and self.example is not None

    def usual(self, profile: str) -> Any:
        """Return what holds with a profile where the user does not write the key."""
        return self.profiles.get(profile, self.default)

    def checked(self, value: Any, name: str | None = None) -> Any:
        """Return a value as it is used; an error names the key as the user wrote it."""
        name = self.path if name is None else name
        try:
            return self.check(value)
        except CredentialError as error:
            raise SpecError(f"{name} {error}", self.path) from None
        except SpecError as error:
            # Of a key inside the value, which it names.
            raise SpecError(error.message, self.path) from None
        except ValueError as error:
            raise SpecError(f"{name} must be {error}, got {shown(value)}", self.path) from None


def key(  # noqa: PLR0913 (all that is said of a key)
    check: Check,
    default: Any = None,
    help: str | Callable[[], str] = "",
    *,
    table: str | None = None,
    required: bool = False,
    example: Any = None,
    profiles: Mapping[str, Any] = _NO_PROFILE,
    parameter: bool | str = True,
    portable: bool = False,
) -> Any:
    """Declare a field of a dataclass as a key; `table` where that is not the table of the class."""
    declared = Key("", check, default, help, required, example, profiles, parameter, portable)
    return field(default=default, metadata={"key": declared, "table": table})


def subtable(cls: type, *, optional: bool = False) -> Any:
    """Declare a field as a table in the table; an optional one is None where none of its keys is
    given.
    """
    if optional:
        return field(default=None, metadata={"subtable": cls, "optional": True})
    return field(default_factory=cls, metadata={"subtable": cls, "optional": False})


def keys_of(cls: type, prefix: str = "") -> dict[str, Key]:
    """Return the keys of a dataclass and of the tables in it, by path."""
    return {found.path: found for found in _keys(cls, prefix)}


def _keys(cls: type, prefix: str) -> Iterator[Key]:
    for declared in dataclasses.fields(cls):
        facts = declared.metadata
        if "key" in facts:
            table = prefix if facts["table"] is None else facts["table"]
            yield dataclasses.replace(facts["key"], path=joined(table, declared.name))
        elif "subtable" in facts:
            yield from _keys(facts["subtable"], joined(prefix, declared.name))


def built(cls: type[T], values: Mapping[str, Any], prefix: str = "") -> T:
    """Return a dataclass with the values of its keys; those that are not there have their
    defaults.
    """
    given: dict[str, Any] = {}
    for declared in dataclasses.fields(cls):  # type: ignore[arg-type]
        facts = declared.metadata
        if "key" in facts:
            path = joined(prefix if facts["table"] is None else facts["table"], declared.name)
            if values.get(path) is not None:
                given[declared.name] = values[path]
        elif "subtable" in facts:
            path = joined(prefix, declared.name)
            asked = any(values.get(inner) is not None for inner in keys_of(facts["subtable"], path))
            if asked or not facts["optional"]:
                given[declared.name] = built(facts["subtable"], values, path)
    return cls(**given)


def blocks_of(registry: Registry[Any], prefix: str) -> dict[str, tuple[type, str]]:
    """Return the option blocks of a registry by name, each with the table that it stands in."""
    return {
        name: (entry.options, getattr(entry, "table", None) or joined(prefix, name))
        for name, entry in registry.items()
        if entry.options is not None
    }


def joined(table: str, name: str) -> str:
    """Return the path of a key in a table."""
    return f"{table}.{name}" if table else name


def shown(value: Any) -> str:
    """Return a wrong value as a message shows it."""
    written = repr(value)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"


def plain(value: Any) -> Any:
    """Return the value of a key as TOML has it: lists for tuples, tables for pairs, numbers for
    fractions.
    """
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, tuple) and value and all(_is_pair(item) for item in value):
        return {name: plain(item) for name, item in value}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return value


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], str)
        and isinstance(item[1], tuple)
    )
