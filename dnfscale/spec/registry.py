"""Registries: a module declares itself once, and every part of the program finds it there.

A competitor, a ranking, an export and a kind of cluster are each declared in one module, which
registers the declaration when it is imported. A registry imports the modules of its packages when
it is first asked. A registered module imports its library only when it runs, so that listing what
there is costs nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dnfscale.errors import SpecError

IDEAL = "ideal"
"""The method itself, which every study runs and competitors are compared with."""
BLACK_BOX = "black_box"
"""The classifier that a formula is made to explain."""


class Registered(Protocol):
    """What every declaration has."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Registered)


class Registry(Mapping[str, T]):
    """Declarations by name, in the order of their places, then of their names."""

    def __init__(self, *packages: str) -> None:
        self._packages = packages
        self._entries: dict[str, T] = {}
        self._loaded = False

    def register(self, entry: T) -> T:
        """Add a declaration; its name must be new."""
        if entry.name in self._entries:
            raise ValueError(f"{entry.name} is registered twice")
        self._entries[entry.name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        self._load()
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(
            sorted(self._entries, key=lambda name: (getattr(self._entries[name], "place", 0), name))
        )

    def __len__(self) -> int:
        self._load()
        return len(self._entries)

    def _load(self) -> None:
        """Import every module of the packages, once."""
        if self._loaded:
            return
        self._loaded = True
        for name in self._packages:
            package = importlib.import_module(name)
            for found in pkgutil.iter_modules(getattr(package, "__path__", ())):
                importlib.import_module(f"{name}.{found.name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The package that something needs beyond our own, and the extra of dnfscale that
    installs it.
    """

    package: str | None = None
    extra: str | None = None

    @property
    def missing(self) -> str | None:
        """The package, if it is needed and not installed."""
        needed = self.package is not None and importlib.util.find_spec(self.package) is None
        return self.package if needed else None

    def check_installed(self, what: str, key: str) -> None:
        """Raise SpecError unless the package is here."""
        if self.missing is not None:
            raise SpecError(
                f"{what} needs {self.missing}, which is not installed; "
                f"install it with: pip install 'dnfscale[{self.extra}]'",
                key,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """A way to put attributes in order, best first."""

    name: str
    title: str
    rank: Callable[..., Any]
    """Alone: from 2 x 2 tables to scores[fold, attribute]. Together: from candidates and a length
    to picks.
    """
    together: bool = False
    """Whether it compares attributes with each other, not only each with the target."""
    intervals: bool = False
    """Whether it finds intervals between two cuts of a column."""
    after: str | None = None
    """The ranking whose picks it starts from; they are its third argument, None if that ranking was
    not asked for.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A language or format that a model can be written in."""

    name: str
    title: str
    ending: str
    """How the names of such files end."""
    write: Callable[..., Any]
    """From a model and the options, by keyword, to the text, or the bytes of a binary format."""
    write_several: Callable[..., Any] | None = None
    """The same for the models of several classes together, where the format has a form for them."""
    options: type | None = None
    """The block of its options, each of them an option of `dnfscale export`."""
    binary: bool = False
    """Whether it is bytes, not text: then it goes to a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterKind(Needs):
    """A kind of cluster, or none: where a job runs."""

    name: str
    title: str
    launch: Callable[..., Any] | None = None
    """Start it: from a ClusterSpec, with `loaded`, `watch` and `tell`, to an engine; None where it
    is running, and is joined at its address.
    """
    options: type | None = None
    """The block of its own keys."""
    table: str | None = None
    """Where these keys stand; [cluster.NAME] if nothing else is said."""
    check_keys: Callable[..., None] = lambda _spec: None
    """Raise SpecError where its keys, or those of [cluster] with them, make no sense; nothing is
    looked at.
    """
    check: Callable[..., list[str]] = lambda _spec: []
    """Raise where the cluster cannot be as it is described, and return warnings; nothing is
    started.
    """
    address: Callable[..., str] | None = None
    """From a ClusterSpec to the address of a scheduler that somebody else started; None where the
    job starts it.
    """
    distributed: bool = True
    """Whether it is a cluster of Dask."""
    adapts: bool = False
    """Whether the number of workers can follow the work."""
    start_timeout_s: float = 60.0
    """How long the first worker may take, unless the spec says otherwise."""

    @property
    def starts(self) -> bool:
        """Whether the job starts the cluster, and therefore takes it down."""
        return self.distributed and self.address is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Competitors that are carried out together, in phases of their own."""

    run: Callable[..., Any]
    """From a study (see compare/competitor.py) and the options of each competitor to what each came
    to, by name.
    """
    plan: Callable[..., Any]
    """From the layout of a job and the same options to the phases of `run`."""
    on_kept_rows: bool = False
    """Whether it needs the rows that the workers keep: then it runs before they are let go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Competitor(Needs):
    """A method that a study compares the formula with."""

    name: str
    title: str
    short: str | None = None
    """What to call it where there is little room, if that is not the title."""
    colour: str
    """The name of its colour in charts: one of those in report/charts.css."""
    place: int
    """Where it stands among the others: the smallest first."""
    options: type | None = None
    """The block [baselines.NAME]; None where the method has no table, and is in every study."""
    family: Family | None = None
    """How it is carried out; None where it is counted along with the formula."""
    weighs_rows: bool = True
    many_classes: bool = True
    by_profile: bool = False
    """Whether its result depends on the profile."""
    is_constant: bool = False
    """Whether it answers every row alike, so that charts of differences are better without it."""
    has_model: bool = False
    """Whether it learns a formula of all rows, for a model file of its own."""
    shown: Any = None
    """What it shows on the page and in the summary besides what every method does: see
    report/own_parts.py.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Datasets that have a name, such as builtin:NAME: the prefix, and what the record of each
    says.
    """

    name: str
    record: Callable[[str], Mapping[str, Any]]
    """From the name of a dataset to the keys of the spec that its record sets."""


# The one place that names packages above it: a registry is asked for what they hold, and imports it
# then.
RANKINGS: Registry[Ranking] = Registry("dnfscale.method.rankings")
EXPORTS: Registry[Export] = Registry("dnfscale.export", "dnfscale.data.models")
CLUSTERS: Registry[ClusterKind] = Registry("dnfscale.engine.clusters")
COMPETITORS: Registry[Competitor] = Registry("dnfscale.compare", "dnfscale.formula_size.competitor")
CATALOGUES: Registry[Catalogue] = Registry("dnfscale.datasets.named")
