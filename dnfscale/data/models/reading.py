"""Model files are JSON; reading one executes nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from dnfscale.core.model import Model
from dnfscale.data.models.checked import short
from dnfscale.data.models.parsing import parse_models
from dnfscale.data.storage import read_bytes, told
from dnfscale.errors import DataError
from dnfscale.spec.keys import CredentialError
from dnfscale.spec.storage import DEFAULT_ACCESS, Access

_MOST_BYTES = 1 << 30


def read_model(
    file: str | Path, label: str | None = None, access: Access = DEFAULT_ACCESS
) -> Model:
    """Read the model of a file, or the one of several that belongs to a label."""
    models = read_models(file, access)
    if label is None and len(models) == 1:
        return models[0]
    labels = [str(model.positive[0]) for model in models]
    if label is None or label not in labels:
        got = "no label was given" if label is None else f"got {label!r}"
        raise DataError(
            f"{file}: expected one of its labels, {', '.join(map(repr, labels))}, but "
            f"{got}; pass --label"
        )
    return models[labels.index(label)]


def read_models(file: str | Path, access: Access = DEFAULT_ACCESS) -> tuple[Model, ...]:
    """Read the models of a file: one, or one for each of several classes.

    A file that is damaged, of a later version or no model at all raises a DataError that says
    where.
    """
    try:
        size, content = read_bytes(str(file), access, most=_MOST_BYTES)
        if content is None:
            raise DataError(f"{file}: expected a model file, got one of {size:,} bytes, over 1 GiB")
        text = content.decode("utf-8")
    except CredentialError as error:
        raise DataError(f"the path of a model {error}") from error
    except OSError as error:
        why = told(error, str(file))
        raise DataError(
            f"{file}: expected a model file, but {why}; give the model.json of a run"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: expected JSON in UTF-8, but byte {error.start:,} is not; write it again"
        ) from error
    except ValueError as error:
        raise DataError(f"the path of a model must be {error}, got {str(file)!r}") from error
    try:
        record = json.loads(
            text,
            parse_float=_finite,
            parse_constant=_refuse_constant,
            object_pairs_hook=_distinct_keys,
        )
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{file}: expected a model file in JSON, but {error}; write it again"
        ) from error
    try:
        return parse_models(record)
    except DataError as error:
        raise DataError(
            f"{file}: {error.message}; give the model.json of a run, or write it again"
        ) from error


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"it holds {short(text)}, which is too large for a number")
    return number


def _refuse_constant(text: str) -> None:
    raise ValueError(f"it holds {text}, which JSON does not know")


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an object has the same key twice")
    return table
