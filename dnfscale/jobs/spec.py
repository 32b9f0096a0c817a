"""Job specs: TOML in, a checked JobSpec out, and for every fault the file, the line and what to write instead.

Each key is listed in fields.py with its check and its default; what depends on several keys is checked here.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dnfscale.data.storage import Access, CredentialError, joined
from dnfscale.datasets.named import is_local, is_named
from dnfscale.engine.launch import ClusterSpec
from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.experiment.peers import MOST_LEAVES, PEERS, UNWEIGHTED, missing_package
from dnfscale.experiment.sizes import SizeBudget
from dnfscale.experiment.tuning import Budget
from dnfscale.jobs.checks import Field
from dnfscale.jobs.cluster_spec import check_cluster_keys, cluster_of
from dnfscale.jobs.fields import FIELDS, LEARNED, SIZED, STORAGE_KEYS, TUNED
from dnfscale.jobs.toml_text import key_lines, write_toml
from dnfscale.learn.spec import PROFILES, LearnSpec, profile_choices

_SHOWN = 200
"""How many characters of a wrong value a message shows."""

_SECRET_KEYS = re.compile(r"secret|password|passwd|token|credential|access_?key|account_?key|\bkey$|sas")
_RUNS = {
    "decision_tree": "baselines.decision_tree.max_leaves",
    "ripper": "baselines.ripper.run",
    "ebm": "baselines.ebm.run",
}
"""For each peer, the key whose value makes it run."""
_SIZED_KEYS = ("max_size", "time_limit_s", "patience", "max_types")
BASELINES: Mapping[str, tuple[str, Any]] = {
    **{f"baselines.{name}": (f"baselines.{name}.trials", Budget().trials) for name in TUNED},
    **{f"baselines.{peer}": (key, MOST_LEAVES if peer == "decision_tree" else True) for peer, key in _RUNS.items()},
    f"baselines.{SIZED}": (f"baselines.{SIZED}.max_size", SizeBudget().max_size),
}
"""The table of each baseline, and the key and value that it sets if it is empty."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job, checked as far as it can be without looking at the data."""

    file: Path
    lines: Mapping[str, int]
    values: Mapping[str, Any]
    """Every key that was given or has a default."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def name(self) -> str:
        return str(self["name"])

    @property
    def kind(self) -> str:
        return str(self["kind"])

    @property
    def data_path(self) -> str:
        """The path of the data: a named dataset, or a path relative to the spec's own folder."""
        path = str(self["data.path"])
        return str(self.file.parent / path) if is_local(path) else path

    @property
    def distilled_file(self) -> str | None:
        """The path of the classifier to explain, relative to the spec's own folder."""
        given = self["distill.model"]
        return None if given is None else str(self.file.parent / given)

    @property
    def knows_truth(self) -> bool:
        """Whether there is a true label to compare answers with."""
        return self["data.target"] is not None or is_named(self["data.path"])

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods to run: those listed, else the formula, the free ones, and every baseline with a table."""
        if self.kind == "distill":
            return ("ideal", "black_box")
        if self["methods"] is not None:
            return tuple(dict.fromkeys(("ideal", *self["methods"])))
        tuned = tuple(name for name in TUNED if self[f"baselines.{name}.trials"] is not None)
        sized = (SIZED,) if self[f"baselines.{SIZED}.max_size"] is not None else ()
        peers = tuple(name for name in PEERS if self[_RUNS[name]])
        return ("ideal", *(() if self.kind == "fit" else ("majority", "one_rule")), *tuned, *sized, *peers)

    @property
    def baselines(self) -> tuple[str, ...]:
        """The methods to be tuned."""
        return tuple(name for name in self.methods if name in TUNED)

    @property
    def peers(self) -> tuple[str, ...]:
        """The readable classifiers to compare with."""
        return tuple(name for name in self.methods if name in PEERS)

    def budget(self, baseline: str) -> Budget:
        """Return how much tuning a baseline gets."""
        return Budget(
            self[f"baselines.{baseline}.trials"],
            self[f"baselines.{baseline}.timeout_s"],
            self[f"baselines.{baseline}.pruner"] or "none",
        )

    @property
    def size_budget(self) -> SizeBudget | None:
        """How far the formula-size method searches; None if it does not run."""
        if SIZED not in self.methods:
            return None
        return SizeBudget(**{key: self[f"baselines.{SIZED}.{key}"] for key in _SIZED_KEYS})

    @property
    def run_folder(self) -> str:
        return joined(str(self["output.dir"]), self.name)

    @property
    def data_access(self) -> Access:
        """How to reach the store that holds the data."""
        return access_of(self.values, "data")

    @property
    def output_access(self) -> Access:
        """How to reach the store for the run's files."""
        return access_of(self.values, "output")

    @property
    def cluster(self) -> ClusterSpec:
        return cluster_of(self.values)

    def located(self, error: DnfscaleError) -> DnfscaleError:
        """Return the error with the file and the line of the key that it is about."""
        return located_in(error, self.file, self.lines)

    def place(self, key: str) -> str:
        """Return the file and, if it is known, the line on which a key stands."""
        return place_of(self.file, self.lines, key)

    def essence(self) -> str:
        """Return the part of the spec that the result depends on: all but where and how fast the job runs."""
        kept = {key: value for key, value in self._settled.items() if not key.startswith(("cluster.", "output."))}
        return resolved_toml(kept)

    def resolved(self) -> str:
        """Return the spec as TOML with every default written out."""
        return resolved_toml(self._settled)

    @property
    def _settled(self) -> dict[str, Any]:
        """All values, with absolute paths, so that they mean the same wherever the spec is."""
        path = self.data_path
        if is_local(path):
            path = os.path.abspath(path)
        model = self.distilled_file
        return {**self.values, "data.path": path, "distill.model": None if model is None else os.path.abspath(model)}


def access_of(values: Mapping[str, Any], table: str) -> Access:
    """Return how to reach the store of data.path or output.dir.

    Keys that are not set for the output are taken from the data, if both are in the same kind of store.
    """
    kinds = {str(values.get(key, "")).partition("://")[0].lower() for key in ("data.path", "output.dir")}
    tables = ("data", "output") if table == "output" and len(kinds) == 1 else (table,)
    given = {
        key: values[f"{place}.storage.{key}"]
        for place in tables
        for key in STORAGE_KEYS
        if values.get(f"{place}.storage.{key}") is not None
    }
    return Access(**given)


def resolved_toml(values: Mapping[str, Any]) -> str:
    """Write values by dotted key as a TOML document."""
    document: dict[str, Any] = {}
    for key, value in values.items():
        *tables, last = key.split(".")
        table = document
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return write_toml(document)


def read_spec(file: Path, overrides: Mapping[str, Any] | None = None) -> JobSpec:
    """Read and check a spec; overrides replace values of the file, by dotted key."""
    document, lines = read_toml(file)
    given = flattened(document, FIELDS, lambda key: place_of(file, lines, key))
    for key, value in (overrides or {}).items():
        if key not in FIELDS:
            raise SpecError(f"--set {key}: {unknown(key, FIELDS)}")
        given[key] = value
        # A value from the command line is not the fault of the file's line.
        lines.pop(key, None)
    values = checked(
        given,
        profiled(given.get("profile"), given.get("select.rank")),
        file,
        lambda key: "--set" if key in (overrides or {}) else place_of(file, lines, key),
    )
    if values["name"] is None:
        values["name"] = name_from(file)
    for baseline in (*TUNED, *_RUNS):
        table = f"baselines.{baseline}"
        listed = values["methods"] is not None and baseline in values["methods"]
        key, value = BASELINES[table]
        if values[key] is None and (listed or table in lines):
            values[key] = value
    _settle_sizes(values, lines)
    spec = JobSpec(file, lines, values)
    _check_together(spec)
    return spec


def profiled(profile: Any, rank: Any = None) -> dict[str, Field]:
    """Return the fields with the defaults of a profile, given the rankings asked for.

    An unknown profile or ranking is left for the check of its key to report.
    """
    known = isinstance(profile, str) and profile in PROFILES
    chosen = profile_choices(profile, rank if isinstance(rank, list) else None) if known else {}
    return {
        key: replace(field, default=chosen[LEARNED[key]]) if LEARNED.get(key) in chosen else field
        for key, field in FIELDS.items()
    }


def _settle_sizes(values: dict[str, Any], lines: Mapping[str, int]) -> None:
    """Give the formula-size method its defaults, if it is listed or has a table."""
    table = f"baselines.{SIZED}"
    listed = values["methods"] is not None and SIZED in values["methods"]
    if listed or table in lines or any(values[f"{table}.{key}"] is not None for key in _SIZED_KEYS):
        for key in _SIZED_KEYS:
            if values[f"{table}.{key}"] is None:
                values[f"{table}.{key}"] = getattr(SizeBudget(), key)


def read_toml(file: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Read a TOML file, and the line of each of its keys."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SpecError(f"{file}: expected a job spec in TOML, but it cannot be read: {error}") from error
    try:
        return tomllib.loads(text), key_lines(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        place = f"{file}:{line[1]}" if line else str(file)
        raise SpecError(f"{place}: expected TOML, but it does not parse: {error}") from error


def checked(
    given: Mapping[str, Any], fields: Mapping[str, Field], file: Path, place: Callable[[str], str]
) -> dict[str, Any]:
    """Return the value of every field, given or by default."""
    values: dict[str, Any] = {}
    for key, field in fields.items():
        if key in given:
            try:
                values[key] = field.check(given[key])
            except CredentialError as error:
                raise SpecError(f"{place(key)}: {key} {error}") from None
            except ValueError as error:
                raise SpecError(f"{place(key)}: {key} must be {error}, got {_shown(given[key])}") from None
        elif field.required:
            raise SpecError(f"{file}: expected the key {key}, but it is not there; add it")
        else:
            values[key] = field.default
    return values


def _shown(value: Any) -> str:
    written = repr(value)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"


def name_from(file: Path) -> str:
    """Return a name for the job of a file that gives none."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", file.stem).lstrip(".-") or "job"


def parse_override(text: str) -> tuple[str, Any]:
    """Split `a.b=value` of the command line; a value that is not TOML is taken as a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise SpecError(f"--set takes KEY=VALUE, such as select.max_ell=5, got {text!r}")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        return key.strip(), value


def parse_overrides(texts: Iterable[str]) -> dict[str, Any]:
    """Return all values of the command line by dotted key; a table sets each of its keys."""
    overrides: dict[str, Any] = {}
    for text in texts:
        key, value = parse_override(text)
        in_parts = isinstance(value, dict) and key not in FIELDS
        overrides |= {f"{key}.{name}": part for name, part in value.items()} if in_parts else {key: value}
    return overrides


def learn_spec(spec: JobSpec, *, target: str, **roles: Any) -> LearnSpec:
    """Return what the job asks the method to learn; `roles` come from the dataset's own record, if it has one."""
    given = {
        key: spec[f"data.{key}"]
        for key in ("positive", "drop", "categorical", "boolean")
        if spec[f"data.{key}"] is not None
    }
    return replace(
        LearnSpec(target=target),
        **{**roles, **given},
        **{name: spec[key] for key, name in LEARNED.items()},
        at=tuple((spec["booleanize.at"] or {}).items()),
        threshold=Fraction(str(spec["formula.threshold"])),
        beta=Fraction(str(spec["formula.beta"])),
        outer=0 if spec.kind == "fit" else spec["folds.outer"],
        seed=spec["seed"],
    )


def flattened(
    document: Mapping[str, Any], fields: Mapping[str, Field], place: Callable[[str], str], prefix: str = ""
) -> dict[str, Any]:
    """Return the document by dotted key; raise SpecError for a key that is not among the fields."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        key = prefix + name
        if isinstance(value, dict) and any(field.startswith(key + ".") for field in fields):
            flat |= flattened(value, fields, place, key + ".")
        elif key in fields:
            flat[key] = value
        elif any(field.startswith(key + ".") for field in fields):
            raise SpecError(f"{place(key)}: {key} must be a table, headed by [{key}], got {_shown(value)}")
        elif ".storage." in key and _SECRET_KEYS.search(name.lower()):
            raise SpecError(
                f"{place(key)}: {key}: credentials never stand in a spec; take it out, and set them in the environment "
                "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3://), or rely on the platform's own"
            )
        else:
            raise SpecError(f"{place(key)}: {unknown(key, fields)}")
    return flat


def unknown(key: str, fields: Mapping[str, Field]) -> str:
    """Say that a key is unknown, and which known one is nearest."""
    tables = {field.rsplit(".", 1)[0] for field in fields if "." in field}
    last = key.rsplit(".", 1)[-1]
    near = [field for field in fields if field.rsplit(".", 1)[-1] == last][:1]
    near = near or difflib.get_close_matches(key, [*fields, *tables], n=1)
    if not near:
        close = difflib.get_close_matches(last, [field.rsplit(".", 1)[-1] for field in fields], n=1)
        near = [field for field in fields if close and field.rsplit(".", 1)[-1] == close[0]][:1]
    return f"unknown key {key}" + (f"; did you mean {near[0]}?" if near else "")


def located_in(error: DnfscaleError, file: Path, lines: Mapping[str, int]) -> DnfscaleError:
    """Return an error with the file and the line of the key that it is about, if it is about one."""
    if error.key is None:
        return error
    return type(error)(f"{place_of(file, lines, error.key)}: {error.message}")


def place_of(file: Path, lines: Mapping[str, int], key: str) -> str:
    while key:
        if key in lines:
            return f"{file}:{lines[key]}"
        key = key.rpartition(".")[0]
    return str(file)


def _check_together(spec: JobSpec) -> None:
    """Check keys that depend on each other."""

    def fail(key: str, message: str) -> None:
        raise SpecError(f"{spec.place(key)}: {message}")

    if (spec.kind == "distill") != (spec["distill.model"] is not None):
        if spec.kind == "distill":
            fail("kind", 'kind = "distill" needs distill.model, a classifier that XGBoost saved as JSON; add it')
        fail("distill.model", f'distill.model is for kind = "distill", but kind is "{spec.kind}"; change one of them')
    if spec.kind == "distill":
        tables = [*(f"baselines.{name}.trials" for name in TUNED), f"baselines.{SIZED}.max_size", *_RUNS.values()]
        for key in ("methods", *tables):
            if spec[key] is not None:
                fail(key, f'kind = "distill" explains one classifier and compares nothing else; leave out {key}')
        if spec["data.classes"] == "all":
            fail("data.classes", 'kind = "distill" explains a classifier of two classes; leave out data.classes')
        if spec["data.weight"] is not None:
            fail("data.weight", 'kind = "distill" counts every row once in the fidelity; leave out data.weight')
    if spec.kind != "distill" and not spec.knows_truth:
        fail("data", "expected the key data.target, the column to predict, but it is not there; add it")
    check_cluster_keys(spec.values, fail)
    compared = [*spec.baselines, *([SIZED] if spec.size_budget else []), *spec.peers]
    if spec.kind == "fit" and compared:
        fail("kind", f'kind = "fit" learns one formula, but {compared[0]} is to be compared; use kind = "study"')
    for peer in spec.peers:
        if spec["data.weight"] is not None and peer in UNWEIGHTED:
            fail("data.weight", f"{peer} counts every row once; leave out data.weight or baselines.{peer}")
        if spec["data.classes"] == "all":
            fail(
                "data.classes", f'{peer} tells two classes apart, but data.classes = "all" asks for more; leave out one'
            )
        if missing_package(peer) is not None:
            fail(
                f"baselines.{peer}",
                f"{peer} needs {missing_package(peer)}, which is not installed; install it with: "
                "pip install 'dnfscale[peers]'",
            )
    if spec.size_budget and importlib.util.find_spec("numba") is None:
        fail(
            f"baselines.{SIZED}",
            f"{SIZED} needs numba, which is not installed; install it with: pip install 'dnfscale[formula-size]'",
        )
