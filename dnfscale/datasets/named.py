"""Datasets by name: `builtin:NAME` comes with scikit-learn, `paper:NAME` is one of the twelve of
the paper.

A named dataset brings its own record: which column is the target, which labels are positive, what
each column is. The paper's datasets are looked for in the folder DNFSCALE_DATA (with an index.toml,
or as NAME.parquet), then in the cache, which `get` fills: from a folder, or from the web.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Scalar
from dnfscale.data.frames import table_source
from dnfscale.data.lake import lake_kind
from dnfscale.data.source import Difference, Source, nothing_learned, open_shared, open_source
from dnfscale.datasets.catalog import PAPER
from dnfscale.datasets.convert import AS_USUAL, Conversion, converted, open_kept, to_convert
from dnfscale.datasets.download import Progress
from dnfscale.datasets.lakes import open_lake
from dnfscale.datasets.published import Dataset, check_table
from dnfscale.datasets.publishers import Parquet, write_table
from dnfscale.datasets.shop import customers, orders
from dnfscale.errors import DataError, SpecError
from dnfscale.spec.registry import CATALOGUES, Catalogue
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_named

FOLDER_VARIABLE = "DNFSCALE_DATA"
CACHE_VARIABLE = "XDG_CACHE_HOME"
_MEASURES = (
    "radius texture perimeter area smoothness compactness concavity concave_points "
    "symmetry fractal_dimension"
)
_BREAST_CANCER_COLUMNS = (
    *(f"mean_{measure}" for measure in _MEASURES.split()),
    *(f"{measure}_error" for measure in _MEASURES.split()),
    *(f"worst_{measure}" for measure in _MEASURES.split()),
)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known about a named dataset."""

    target: str
    positive: tuple[Scalar, ...]
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    learn: Mapping[str, Any] = field(default_factory=dict)
    """Further choices of the method, by their names in LearnSpec: they go before those of a
    profile.
    """

    @property
    def choices(self) -> dict[str, Any]:
        """All that the record says of what to learn, by the names of LearnSpec."""
        roles = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name != "learn"
        }
        return {**roles, **self.learn}


@dataclass(frozen=True, slots=True)
class Listed:
    """A named dataset as `data list` shows it."""

    path: str
    """The path that a job spec writes for it."""
    title: str
    rows: int
    attributes: int
    target: str
    positive: tuple[Scalar, ...]
    licence: str
    place: str
    """Where it was found: scikit-learn, folder, cache, or not here."""
    file: str | None = None


_BUILTIN = {
    "breast_cancer": Record("diagnosis", ("malignant",)),
    "shop": Record("churned", (True,)),
    "shop_orders": Record("returned", (True,)),
}
"""The datasets that come with scikit-learn, or are made."""


def open_dataset(
    path: str, access: Access = DEFAULT_ACCESS, asked: Conversion = AS_USUAL
) -> Source:
    """Open a dataset by its name, path or URL; what is not Parquet is converted first, once."""
    if is_named(path):
        _check_no_version(path, asked)
        return open_named(path)[0]
    kind = lake_kind(path, access)
    if kind is not None:
        return open_lake(path, kind, access, asked)
    _check_no_version(path, asked)
    files = to_convert(path, access)
    if not files:
        return open_source(path, access)
    return open_kept(path, converted(path, files, access, asked), asked)


def open_tested(
    path: str, tested: str, access: Access = DEFAULT_ACCESS, asked: Conversion = AS_USUAL
) -> Source:
    """Open files to learn from, and after them others that are only tested on; those that both
    paths mean are tested on.
    """
    for place in (path, tested):
        if is_named(place) or lake_kind(place, access):
            raise SpecError(
                f"folds.test tells files apart, but {place} is one dataset; test by folds.time, "
                "folds.by or folds.holdout",
                "folds.test",
            )
    all_texts, aside = to_convert(path, access), to_convert(tested, access)
    if bool(all_texts) != bool(aside):
        raise SpecError(
            f"folds.test must name files of the kind of {path}, but only one of the two is "
            "Parquet; convert the others by dnfscale data convert",
            "folds.test",
        )
    if not aside:
        return open_source(path, access, tested=tested)
    texts = [file for file in all_texts if file not in set(aside)]
    if not texts:
        raise nothing_learned(path, tested)
    # What is kept of some files must not be taken for what is kept of all.
    whole = len(texts) == len(all_texts)
    called = path if whole else f"{path} without {tested.rstrip('/').rpartition('/')[2]}"
    kept = converted(called, texts, access, asked)
    kept_aside = converted(tested, aside, access, asked)
    return replace(open_source(kept, asked.access, tested=kept_aside), path=path, folder=kept)


def open_alike(
    path: str, access: Access = DEFAULT_ACCESS, asked: Conversion = AS_USUAL
) -> tuple[Source, tuple[Difference, ...]]:
    """Open the columns that all files of a dataset have alike, and say how the others differ."""
    if is_named(path) or lake_kind(path, access) or to_convert(path, access):
        return open_dataset(path, access, asked), ()
    _check_no_version(path, asked)
    return open_shared(path, access)


def _check_no_version(path: str, asked: Conversion) -> None:
    if asked.version is not None:
        raise SpecError(
            f"data.version is for a Delta or an Iceberg table, which {path} is not; leave it out",
            "data.version",
        )


def open_named(path: str) -> tuple[Source, Record]:
    """Open a named dataset together with its record; nothing is downloaded."""
    kind, name = path.split(":", 1)
    if kind == "builtin":
        _check_name(path, name, tuple(_BUILTIN))
        return _builtin(path, name), _BUILTIN[name]
    index = _folder_index()
    _check_name(path, name, tuple({**PAPER, **index}))
    copy = _find(name, index)
    if copy is None:
        raise DataError(
            f"{path}: expected it in the folder {FOLDER_VARIABLE} "
            f"({_folder() or 'not set'}) or in the cache "
            f"({cache_folder()}), but it is in neither; run: dnfscale data get {name}"
        )
    return open_source(str(copy.file)), _record(name, copy)


def get(
    name: str,
    *,
    source_folder: Path | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Return a checked file with one of the paper's datasets, fetching it if necessary.

    Without a source folder, it is looked for in the folder DNFSCALE_DATA, then in the cache, then
    on the web. A source folder holds the dataset as Parquet, with or without an index.toml, or as
    the file that its publisher offers. What comes from a source folder or from the web is kept in
    the cache.
    """
    name = name.removeprefix("paper:")
    _check_name(name, name, tuple(PAPER))
    dataset = PAPER[name]
    kept = (cache or cache_folder()) / f"{name}.parquet"
    if source_folder is not None:
        _adopt(dataset, source_folder, kept)
        return kept
    folder = _folder()
    copy = None if folder is None else _in_folder(name, folder, _read_index(folder))
    if copy is not None:
        _check_copy(dataset, copy)
        return copy.file
    if not _is_sound(dataset, kept):
        download(dataset, kept, progress)
    return kept


def download(dataset: Dataset, kept: Path, progress: Progress | None = None) -> None:
    """Fetch a dataset from the first of its origins that has it, and keep it as Parquet."""
    failures = []
    with _scratch(kept) as scratch:
        for origin in dataset.origins:
            file = Path(scratch) / origin.address.filename
            try:
                origin.address.fetch(file, progress)
                table = dataset.table(origin, file)
            except DataError as error:
                failures.append(
                    f"{origin.address}: {str(error).removeprefix(f'{origin.address}: ')}"
                )
                continue
            write_table(table, kept)
            return
    names = " or ".join(dict.fromkeys(origin.address.filename for origin in dataset.origins))
    raise DataError(
        f"{dataset.name}: expected to download it, but none of its origins would do ("
        + "; ".join(failures)
        + (
            f"); try again later, or put {dataset.name}.parquet, {names} into a folder and "
            "pass it with --from"
        )
    )


def cache_folder() -> Path:
    """Return the folder that keeps what `get` has fetched."""
    base = os.environ.get(CACHE_VARIABLE, "")
    # By the XDG specification a relative path is invalid here, and to be ignored.
    root = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".cache"
    return root / "dnfscale" / "datasets"


def describe_named() -> list[Listed]:
    """Return the datasets that have a name, and where each of them is found."""
    rows = []
    for name in _BUILTIN:
        source, record = open_named(f"builtin:{name}")
        title, licence, place = _ABOUT[name]
        rows.append(
            Listed(
                path=f"builtin:{name}",
                title=title,
                rows=source.n_rows,
                attributes=len(source.types) - 1,
                target=record.target,
                positive=record.positive,
                licence=licence,
                place=place,
            )
        )
    index = _folder_index()
    return rows + [
        _listed(name, _find(name, index), index.get(name)) for name in {**PAPER, **index}
    ]


_ABOUT = {
    "breast_cancer": (
        "BreastCancer (diagnostic)",
        "UCI Breast Cancer Wisconsin (Diagnostic), CC BY 4.0",
        "scikit-learn",
    ),
    "shop": ("Customers of a shop", "made", "made"),
    "shop_orders": ("Their orders", "made", "made"),
}
"""The title, the licence and the place of each."""


def _builtin(path: str, name: str) -> Source:
    made = {"shop": customers, "shop_orders": orders}
    return table_source(made[name](), path) if name in made else _breast_cancer(path)


def _breast_cancer(path: str) -> Source:
    """Read the Breast Cancer Wisconsin (Diagnostic) data from the installed scikit-learn.

    The file is read directly, because importing scikit-learn to load it takes a second: as long as
    the whole job.
    """
    package = importlib.util.find_spec("sklearn")
    file = (
        Path(str(package.origin if package else "sklearn")).parent
        / "datasets"
        / "data"
        / "breast_cancer.csv"
    )
    try:
        with file.open() as lines:
            names = next(lines).strip().split(",")[2:]
            rows = np.loadtxt(lines, delimiter=",")
    except (OSError, ValueError, StopIteration) as error:
        raise DataError(
            f"{path}: expected scikit-learn's copy at {file}, but it cannot be read: {error}"
        ) from error
    columns = dict(zip(_BREAST_CANCER_COLUMNS, rows.T, strict=False))
    labels = [names[label] for label in rows[:, -1].astype(int).tolist()]
    return table_source(pa.table({**columns, "diagnosis": labels}), path)


Entry = Mapping[str, Any]
"""What a folder's index says of a dataset; checked where it is used."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """A dataset on this machine."""

    file: Path
    place: str
    entry: Entry | None = None
    """Its entry in the index of its folder."""


def _find(name: str, index: dict[str, Entry]) -> _Copy | None:
    """Look for a dataset in the folder DNFSCALE_DATA, whose index is given, then in the cache."""
    folder = _folder()
    copy = None if folder is None else _in_folder(name, folder, index)
    kept = cache_folder() / f"{name}.parquet"
    if copy is None and name in PAPER and kept.is_file():
        return _Copy(kept, "cache")
    return copy


def _in_folder(name: str, folder: Path, index: dict[str, Entry]) -> _Copy | None:
    entry = index.get(name)
    file = folder / str((entry or {}).get("file", f"{name}.parquet"))
    # A dataset that only the index knows cannot be anywhere else: opening the missing file reports
    # what is wrong.
    return _Copy(file, "folder", entry) if file.exists() or name not in PAPER else None


def _builtin_choices(name: str) -> dict[str, Any]:
    _check_name(f"builtin:{name}", name, tuple(_BUILTIN))
    return _BUILTIN[name].choices


def _paper_choices(name: str) -> dict[str, Any]:
    index = _folder_index()
    _check_name(f"paper:{name}", name, tuple({**PAPER, **index}))
    # The paper leaves out rows with missing values, whatever a profile does with them.
    return {"missing": "drop", **_record(name, _find(name, index)).choices}


CATALOGUES.register(Catalogue(name="builtin", record=_builtin_choices))
CATALOGUES.register(Catalogue(name="paper", record=_paper_choices))


def _record(name: str, copy: _Copy | None) -> Record:
    """Return the roles that the folder's index gives, or else the catalogue's."""
    if copy is None or copy.entry is None:
        known = PAPER[name]
        return Record(known.target, known.positive, known.drop, known.categorical, known.boolean)
    try:
        return Record(
            target=copy.entry["target"],
            positive=tuple(copy.entry["positive"]),
            drop=tuple(copy.entry.get("drop", ())),
            categorical=tuple(copy.entry.get("categorical", ())),
            boolean=tuple(copy.entry.get("boolean", ())),
            learn=dict(copy.entry.get("learn", {})),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{copy.file.parent / 'index.toml'}: datasets.{name} must name its target and "
            "a list of positive labels"
        ) from error


def _listed(name: str, copy: _Copy | None, entry: Entry | None) -> Listed:
    place, file = (
        (copy.place, str(copy.file)) if copy and copy.file.exists() else ("not here", None)
    )
    if name in PAPER:
        known = PAPER[name]
        listed = Listed(
            f"paper:{name}",
            known.title,
            known.rows,
            known.attributes,
            known.target,
            known.positive,
            known.licence,
            place,
        )
    else:
        listed = Listed(f"paper:{name}", name, 0, 0, "", (), "", place)
    if entry is not None:
        listed = replace(
            listed,
            title=entry.get("title", listed.title),
            rows=entry.get("rows", listed.rows),
            attributes=entry.get("boolean_features", listed.attributes),
            target=entry.get("target", listed.target),
            positive=tuple(entry.get("positive", listed.positive)),
            licence=entry.get("licence", listed.licence),
        )
    return replace(listed, file=file)


def _adopt(dataset: Dataset, folder: Path, kept: Path) -> None:
    """Copy the dataset from a folder into the cache."""
    if not folder.is_dir():
        raise DataError(
            f"{folder}: expected a folder with {dataset.name}.parquet, but there is no such folder"
        )
    copy = _in_folder(dataset.name, folder, _read_index(folder))
    if copy is not None:
        _check_copy(dataset, copy)
        with _scratch(kept) as scratch:
            draft = Path(scratch) / kept.name
            shutil.copyfile(copy.file, draft)
            os.replace(draft, kept)
        return
    for origin in dataset.origins:
        file = folder / origin.address.filename
        if file.is_file():
            write_table(dataset.table(origin, file), kept)
            return
    names = dict.fromkeys(origin.address.filename for origin in dataset.origins)
    raise DataError(
        f"{folder}: expected {dataset.name}.parquet, {' or '.join(names)} in this folder, "
        "but there is none; "
        "choose another folder, or leave out --from to download"
    )


def _check_copy(dataset: Dataset, copy: _Copy) -> None:
    """Check a copy against the checksum in its index, and against the catalogue."""
    try:
        content = copy.file.read_bytes()
    except OSError as error:
        raise DataError(
            f"{copy.file}: expected a Parquet file, but it cannot be read: {error.strerror}"
        ) from error
    expected = (copy.entry or {}).get("sha256")
    found = hashlib.sha256(content).hexdigest()
    if expected is not None and found != expected:
        raise DataError(
            f"{copy.file}: expected the sha256 checksum {expected}, got {found}; copy the "
            "file again"
        )
    try:
        check_table(dataset, Parquet().read(content, str(copy.file)))
    except DataError as error:
        raise DataError(f"{copy.file}: {str(error).removeprefix(f'{copy.file}: ')}") from error


def _is_sound(dataset: Dataset, kept: Path) -> bool:
    if not kept.is_file():
        return False
    try:
        _check_copy(dataset, _Copy(kept, "cache"))
    except DataError:
        return False
    return True


def _scratch(kept: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder beside the future file, so that this can be renamed into place."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=kept.parent, prefix=f".{kept.stem}-")
    except OSError as error:
        raise DataError(
            f"{kept.parent} cannot be written: {error.strerror or error}; let "
            f"{CACHE_VARIABLE} name another folder"
        ) from error


def _folder() -> Path | None:
    """Return the folder DNFSCALE_DATA, if one is named."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise DataError(
            f"{named}: expected the environment variable {FOLDER_VARIABLE} to name a "
            "folder with the paper's datasets, "
            "but there is no such folder"
        )
    return Path(named)


def _folder_index() -> dict[str, Entry]:
    folder = _folder()
    return {} if folder is None else _read_index(folder)


def _read_index(folder: Path) -> dict[str, Entry]:
    """Return the entries of the folder's index by dataset; none if it has no index."""
    index = folder / "index.toml"
    try:
        with index.open("rb") as file:
            entries = tomllib.load(file)["datasets"]
        return {name: dict(entry) for name, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, KeyError, AttributeError, TypeError, ValueError) as error:
        raise DataError(
            f"{index}: expected a TOML file with a table datasets, but it is not: {error}"
        ) from error


def _check_name(path: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(known)
        raise DataError(f"{path}: expected the name of a dataset, got {name!r}; {hint}")
