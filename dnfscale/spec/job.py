"""Job specs: TOML in, a typed and checked JobSpec out; an error names the file, the line and what
to write instead.

Each key is declared where its value is used: learn.py, cluster.py, here, and in the modules that
register.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.spec import checks, keys
from dnfscale.spec.cluster import ClusterSpec, check_cluster_keys, cluster_blocks, with_kind
from dnfscale.spec.csv import CsvOptions
from dnfscale.spec.keys import Key, blocks_of, built, key, keys_of, subtable
from dnfscale.spec.learn import (
    DEFAULT_PROFILE,
    PROFILES,
    LearnSpec,
    learn_keys,
    settled,
    tested_by,
)
from dnfscale.spec.registry import BLACK_BOX, CATALOGUES, COMPETITORS, IDEAL, Competitor, Family
from dnfscale.spec.related import Related, Relations, related_tables, tables_of
from dnfscale.spec.storage import (
    Access,
    file_path,
    is_local,
    is_named,
    is_remote,
    joined,
    local_path,
)
from dnfscale.spec.toml import Origin, flattened, parse_overrides, read_toml, unknown, write_values


def _methods(value: Any) -> tuple[str, ...]:
    known = (IDEAL, *_run_order(COMPETITORS))
    if (
        not checks.is_list(value)
        or not value
        or not all(isinstance(item, str) and item in known for item in value)
    ):
        raise ValueError("a list of methods out of " + ", ".join(map(repr, known)))
    return tuple(method for method in known if method in value)


@dataclass(frozen=True, slots=True)
class Data:
    """The rows: where they are; their roles are in LearnSpec."""

    path: str = key(
        file_path,
        None,
        (
            "file, directory (also hive-style), glob, URL (s3://, gs://, abfs://), "
            "builtin:NAME, paper:NAME; Parquet, CSV, JSON lines or Arrow"
        ),
        required=True,
        example="visits.parquet",
    )
    version: int | None = key(
        checks.whole(0),
        None,
        "of a Delta table, or the snapshot of an Iceberg table; default: the current one",
        example=12,
    )
    key: str | None = keys.key(
        checks.column,
        None,
        "the column that rows of related tables belong by; never an attribute",
        example="customer_id",
    )
    as_of: str | None = keys.key(
        checks.column,
        None,
        "the moment of each row: related rows of this time or later are not seen",
        example="signed_at",
    )
    related: tuple[Mapping[str, Any], ...] = keys.key(
        related_tables,
        (),
        '[[data.related]]: name, path, key, time, windows, drop, id; see "Related tables"',
        example=[{"name": "orders", "path": "orders/*.parquet", "key": "customer_id"}],
    )
    storage: Access = subtable(Access)
    csv: CsvOptions = subtable(CsvOptions)


@dataclass(frozen=True, slots=True)
class Distill:
    """What a formula is to explain."""

    model: str | None = key(
        local_path, None, "a classifier that XGBoost saved", example="model.json"
    )
    threshold: float = key(
        lambda value: float(checks.proper_fraction(value)),
        0.5,
        "its probability from which its answer is yes",
    )


@dataclass(frozen=True, slots=True)
class Baselines:
    """What holds for all methods that the formula is compared with."""

    time_limit_s: float | None = key(
        checks.seconds,
        None,
        "no further trials after this long in all tuning of a job; default: no limit",
        example=3600.0,
    )


@dataclass(frozen=True, slots=True)
class Output:
    """Where the run's files go."""

    dir: str = key(file_path, "runs", "or a URL")
    storage: Access = subtable(Access)


@dataclass(frozen=True, slots=True)
class Head:
    """The keys that stand above all tables."""

    schema_version: int = key(checks.whole(1, 1), None, "", required=True, example=1)
    name: str | None = key(
        checks.job_name, None, "default: the name of the spec file", example="visits"
    )
    kind: str = key(
        checks.one_of("fit", "study", "distill"),
        "study",
        '"study": cross-validated; "fit": one model of all rows; "distill": explain a model',
    )
    profile: str = key(
        checks.one_of(*PROFILES),
        DEFAULT_PROFILE,
        'what we recommend, see "More accurate, still readable"; or "paper", as published',
    )
    methods: tuple[str, ...] | None = key(
        _methods, None, 'run exactly these; "ideal" always runs', example=["ideal", "xgboost"]
    )


def profile_key() -> Key:
    """Return the key that names a profile."""
    return keys_of(Head)["profile"]


TREE: tuple[tuple[type, str], ...] = (
    (Head, ""),
    (Data, "data"),
    (Relations, "relations"),
    (LearnSpec, ""),
    (Baselines, "baselines"),
    (Distill, "distill"),
    (ClusterSpec, "cluster"),
    (Output, "output"),
)
"""The tables of a job, and where each stands; the blocks of competitors and kinds of clusters come
from registries.
"""


@cache
def job_keys() -> Mapping[str, Key]:
    """Return every key that a spec may have, by path."""
    found: dict[str, Key] = {}
    for table, prefix in TREE:
        found |= keys_of(table, prefix)
        blocks = cluster_blocks() if table is ClusterSpec else {}
        if table is LearnSpec:
            blocks = competitor_blocks()
        for block, path in blocks.values():
            found |= keys_of(block, path)
    return found


def competitor_blocks() -> dict[str, tuple[type, str]]:
    """Return the options of each competitor that has any, and the table that they stand in."""
    return blocks_of(COMPETITORS, "baselines")


def asking_key(name: str) -> Key:
    """Return the first key of a competitor's table: given, it asks for the competitor as the table
    itself does.
    """
    block, path = competitor_blocks()[name]
    return next(iter(keys_of(block, path).values()))


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job, checked as far as it can be without looking at the data."""

    origin: Origin
    values: Mapping[str, Any]
    """Every key with its value, as resolved() writes them; None where a key has neither value nor
    default.
    """
    name: str
    kind: str
    profile: str
    asked_methods: tuple[str, ...] | None
    data: Data
    relations: Relations
    learn: LearnSpec
    competitors: Mapping[str, Any]
    """The options of each competitor that has a table or is listed in `methods`, by name."""
    baselines: Baselines
    distill: Distill
    cluster: ClusterSpec
    output: Output

    @property
    def file(self) -> Path:
        return self.origin.file

    @property
    def seed(self) -> int:
        return self.learn.seed

    @property
    def data_path(self) -> str:
        """The path of the data: a named dataset, or a path relative to the spec's own folder."""
        path = self.data.path
        return str(self.file.parent / path) if is_local(path) else path

    @property
    def tested_path(self) -> str | None:
        """The path of the files that are only tested on, relative to the spec's own folder."""
        path = self.learn.test
        return str(self.file.parent / path) if path is not None and is_local(path) else path

    @property
    def related(self) -> tuple[Related, ...]:
        """The related tables, with paths relative to the spec's own folder."""
        return tuple(
            replace(table, path=str(self.file.parent / table.path))
            if is_local(table.path)
            else table
            for table in tables_of(self.data.related)
        )

    @property
    def distilled_file(self) -> str | None:
        """The path of the classifier to explain, relative to the spec's own folder."""
        given = self.distill.model
        return None if given is None else str(self.file.parent / given)

    @property
    def knows_truth(self) -> bool:
        """Whether there is a true label to compare answers with."""
        return self.values["data.target"] is not None

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods to run: those listed, else the formula, the free ones, and every baseline
        with a table.
        """
        if self.kind == "distill":
            return (IDEAL, BLACK_BOX)
        if self.asked_methods is not None:
            return tuple(dict.fromkeys((IDEAL, *self.asked_methods)))
        free = (
            ()
            if self.kind == "fit"
            else tuple(name for name in COMPETITORS if COMPETITORS[name].options is None)
        )
        wanted = [
            name for name, options in self.competitors.items() if getattr(options, "run", True)
        ]
        return (IDEAL, *_run_order((*free, *wanted)))

    @property
    def compared(self) -> tuple[Competitor, ...]:
        """The competitors to run that have options."""
        known = (COMPETITORS[name] for name in self.methods if name in COMPETITORS)
        return tuple(competitor for competitor in known if competitor.options is not None)

    @property
    def families(self) -> dict[Family, dict[Competitor, Any]]:
        """The competitors to run with their options, by family; first those that need the rows
        that the workers keep.
        """
        found: dict[Family, dict[Competitor, Any]] = {}
        for competitor in self.compared:
            if competitor.family is not None:
                options = self.competitors[competitor.name]
                found.setdefault(competitor.family, {})[competitor] = options
        return dict(sorted(found.items(), key=lambda item: not item[0].on_kept_rows))

    @property
    def run_folder(self) -> str:
        return joined(self.output.dir, self.name)

    @property
    def data_access(self) -> Access:
        """How to reach the store that holds the data."""
        return self.data.storage

    @property
    def output_access(self) -> Access:
        """How to reach the store for the run's files: as that of the data, where it is of the same
        kind.
        """
        same_kind = _scheme(self.data.path) == _scheme(self.output.dir)
        return self.output.storage.or_else(self.data.storage) if same_kind else self.output.storage

    def located(self, error: DnfscaleError) -> DnfscaleError:
        """Return the error with the file and the line of the key that it is about."""
        return self.origin.located(error)

    def place(self, key: str) -> str:
        """Return the file and, if it is known, the line on which a key stands."""
        return self.origin.place(key)

    def essence(self) -> str:
        """Return the part of the spec that the result depends on: all but where and how fast the
        job runs.
        """
        kept = {
            path: value
            for path, value in self._anywhere.items()
            if not path.startswith(("cluster.", "output."))
        }
        return write_values(kept)

    def resolved(self) -> str:
        """Return the spec as TOML with every default written out."""
        return write_values(self._anywhere)

    @property
    def _anywhere(self) -> dict[str, Any]:
        """All values, with absolute paths, so that they mean the same wherever the spec is."""
        path = os.path.abspath(self.data_path) if is_local(self.data.path) else self.data_path
        model = self.distilled_file
        explained = None if model is None else os.path.abspath(model)
        tested = self.tested_path
        if tested is not None and is_local(tested):
            tested = os.path.abspath(tested)
        related = tuple(
            {**values, "path": os.path.abspath(table.path) if is_local(table.path) else table.path}
            for values, table in zip(self.data.related, self.related, strict=True)
        )
        absolute = {"data.path": path, "distill.model": explained, "folds.test": tested}
        return {**self.values, **absolute, **({"data.related": related} if related else {})}


def read_spec(file: Path, overrides: Mapping[str, Any] | None = None) -> JobSpec:
    """Read and check a spec; overrides replace values of the file, by dotted key."""
    document, lines = read_toml(file)
    overrides = overrides or {}
    origin = Origin(file, lines, frozenset(overrides))
    given = overridden(flattened(document, job_keys(), origin), overrides, job_keys())
    return job_of(origin, given)


def job_of(origin: Origin, given: Mapping[str, Any]) -> JobSpec:
    """Check the keys that were given, by path, and return the job that they describe."""
    values = {
        path: origin.checked(known, given[path])
        for path, known in job_keys().items()
        if path in given
    }
    for table, prefix in TREE:
        _check_required(keys_of(table, prefix), given, origin)
    tables = {path for path in origin.lines if path not in job_keys()}
    return spec_of(origin, _completed(values, tables, origin))


def overridden(
    given: dict[str, Any], overrides: Mapping[str, Any], known: Mapping[str, Key]
) -> dict[str, Any]:
    """Return given values with those of the command line in their place."""
    for path in overrides:
        if path not in known:
            raise SpecError(f"--set {path}: {unknown(path, known)}")
    return {**given, **overrides}


def command_line(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of --set by dotted key."""
    return parse_overrides(texts, job_keys())


def name_from(file: Path) -> str:
    """Return a name for the job of a file that gives none."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", file.stem).lstrip(".-") or "job"


def _check_required(keys: Mapping[str, Key], given: Mapping[str, Any], origin: Origin) -> None:
    """Check that required keys are there: of a table within a table, where any key of it is."""
    for path, known in keys.items():
        if not known.required or path in given:
            continue
        if known.table.count(".") == 0:
            raise SpecError(f"{origin.file}: expected the key {path}, but it is not there; add it")
        if any(other.startswith(f"{known.table}.") for other in given):
            origin.fail(
                known.table, f"[{known.table}] needs {path} too; add it, or leave out the table"
            )


def _completed(given: dict[str, Any], tables: set[str], origin: Origin) -> dict[str, Any]:
    """Return every key of the job with its value: as it was written, or by record, profile or
    default.
    """
    profile = given.get("profile", Head().profile)
    names = {known.path: name for name, known in learn_keys().items()}
    written = {names[path]: value for path, value in given.items() if path in names}
    try:
        learned = settled(written, profile=profile, record=_record(given["data.path"]))
    except DnfscaleError as error:
        raise origin.located(error) from error
    given = with_kind(given)
    values: dict[str, Any] = {}
    chosen = {*_asked(given, tables), given.get("cluster.kind", ClusterSpec().kind)}
    optional = set(_keys_of_others(chosen))
    for path, known in job_keys().items():
        value = learned[names[path]] if path in names else given.get(path, known.default)
        if known.is_optional and path not in given and value == known.default:
            value = None
        if path in given or path not in optional:
            values[path] = value
    if values["name"] is None:
        values["name"] = name_from(origin.file)
    return values


def _asked(given: Mapping[str, Any], tables: set[str]) -> set[str]:
    """Return the competitors that have a table, if only on the command line, or that are listed."""
    listed = given.get("methods", ())
    return {
        name
        for name, (block, path) in competitor_blocks().items()
        if name in listed or path in tables or any(inner in given for inner in keys_of(block, path))
    }


def _keys_of_others(chosen: set[str]) -> Iterator[str]:
    """Yield the keys of competitors and kinds of clusters that are not chosen: they have no value
    unless given.
    """
    for name, (block, path) in {**competitor_blocks(), **cluster_blocks()}.items():
        if name not in chosen:
            yield from keys_of(block, path)


def _record(path: str) -> dict[str, Any]:
    """Return what the record of a named dataset sets, by the names of LearnSpec."""
    if not is_named(path):
        return {}
    prefix, _, name = path.partition(":")
    try:
        found = CATALOGUES[prefix].record(name)
        return {learned: learn_keys()[learned].checked(value) for learned, value in found.items()}
    except DnfscaleError as error:
        raise type(error)(error.message, "data.path") from error


def spec_of(origin: Origin, values: Mapping[str, Any]) -> JobSpec:
    """Return the job that completed values describe, with what depends on several keys checked."""
    try:
        spec = _typed(origin, values)
        check_together(spec)
        check_cluster_keys(spec.cluster)
    except DnfscaleError as error:
        raise origin.located(error) from error
    return spec


def cluster_from(values: Mapping[str, Any]) -> ClusterSpec:
    """Return the cluster that values describe."""
    cluster = built(ClusterSpec, values, "cluster")
    block = cluster_blocks().get(cluster.kind)
    return cluster if block is None else replace(cluster, options=built(block[0], values, block[1]))


def _typed(origin: Origin, values: Mapping[str, Any]) -> JobSpec:
    head = built(Head, values)
    learn = built(LearnSpec, values)
    return JobSpec(
        origin=origin,
        values=values,
        name=str(head.name),
        kind=head.kind,
        profile=head.profile,
        asked_methods=head.methods,
        data=built(Data, values, "data"),
        relations=built(Relations, values, "relations"),
        learn=replace(learn, outer=0) if head.kind == "fit" else learn,
        competitors={
            name: built(block, values, path)
            for name, (block, path) in competitor_blocks().items()
            if any(inner in values for inner in keys_of(block, path))
        },
        baselines=built(Baselines, values, "baselines"),
        distill=built(Distill, values, "distill"),
        cluster=cluster_from(values),
        output=built(Output, values, "output"),
    )


def check_together(spec: JobSpec) -> None:
    """Check keys that depend on each other; an error names the key that it is about."""
    _check_distilled(spec)
    _check_related(spec)
    if spec.kind != "distill" and not spec.knows_truth:
        raise SpecError(
            "expected the key data.target, the column to predict, but it is not there; add it",
            "data",
        )
    if spec.kind == "fit" and spec.learn.time is None:
        for path in tested_by(spec.learn):
            raise SpecError(
                f'kind = "fit" tests nothing; leave out {path}, or use kind = "study"', path
            )
    for competitor in spec.compared:
        if spec.kind == "fit":
            raise SpecError(
                (
                    f'kind = "fit" learns one formula, but {competitor.name} is to be '
                    'compared; use kind = "study"'
                ),
                "kind",
            )
        _check_competitor(competitor, spec)


def _check_related(spec: JobSpec) -> None:
    data, tables = spec.data, spec.related
    if not tables:
        for name in ("key", "as_of"):
            if getattr(data, name) is not None:
                raise SpecError(
                    f"data.{name} is for related tables, but there is none; "
                    "add [[data.related]], or leave it out",
                    f"data.{name}",
                )
        return
    if data.key is None:
        raise SpecError(
            "[[data.related]] needs data.key, the column that related rows belong by; add it",
            "data.related",
        )
    if spec.kind == "distill":
        raise SpecError(
            'kind = "distill" explains a classifier of one table; leave out [[data.related]]',
            "data.related",
        )
    if spec.learn.test is not None:
        raise SpecError(
            "folds.test names rows of one table; leave it out, or leave out [[data.related]]",
            "folds.test",
        )
    timed = [table for table in tables if table.time is not None]
    for table in tables:
        if table.windows and (table.time is None or data.as_of is None):
            raise SpecError(
                f"the windows of {table.name} need its time and data.as_of; add them, or leave "
                "out windows",
                "data.related",
            )
    if data.as_of is not None and not timed:
        raise SpecError(
            "data.as_of hides related rows by their time, but no related table has one; "
            "add time to a table, or leave it out",
            "data.as_of",
        )


def _check_distilled(spec: JobSpec) -> None:
    explains = spec.kind == "distill"
    if explains and spec.distill.model is None:
        raise SpecError(
            'kind = "distill" needs distill.model, a classifier that XGBoost saved as JSON; add it',
            "kind",
        )
    if not explains and spec.distill.model is not None:
        raise SpecError(
            f'distill.model is for kind = "distill", but kind is "{spec.kind}"; change one of them',
            "distill.model",
        )
    if not explains:
        return
    tables = [f"baselines.{name}" for name in spec.competitors]
    for path in (["methods"] if spec.asked_methods is not None else []) + tables:
        raise SpecError(
            f'kind = "distill" explains one classifier and compares nothing else; leave out {path}',
            path,
        )
    if spec.learn.classes == "all":
        raise SpecError(
            'kind = "distill" explains a classifier of two classes; leave out data.classes',
            "data.classes",
        )
    if spec.learn.weight is not None:
        raise SpecError(
            'kind = "distill" counts every row once in the fidelity; leave out data.weight',
            "data.weight",
        )


def _check_competitor(competitor: Competitor, spec: JobSpec) -> None:
    name, table = competitor.name, f"baselines.{competitor.name}"
    if spec.learn.weight is not None and not competitor.weighs_rows:
        raise SpecError(
            f"{name} counts every row once; leave out data.weight or {table}", "data.weight"
        )
    if spec.learn.classes == "all" and not competitor.many_classes:
        raise SpecError(
            (
                f'{name} tells two classes apart, but data.classes = "all" asks for more; '
                "leave out one"
            ),
            "data.classes",
        )
    competitor.check_installed(name, table)


def _run_order(names: Iterable[str]) -> list[str]:
    """Return competitors in the order in which they are run: those that cost nothing first."""
    return sorted(
        names, key=lambda name: (COMPETITORS[name].options is not None, COMPETITORS[name].place)
    )


def _scheme(path: str) -> str:
    return path.partition("://")[0].lower() if is_remote(path) else ""
