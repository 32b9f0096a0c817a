"""Model files: JSON with a schema, checked whole before anything is used.

writing       models as JSON
reading       files, and the JSON in them
parsing       the models in it,
attributes    and their attributes
checked       the values that these are made of
"""

from __future__ import annotations

from dnfscale.data.models.parsing import parse_model, parse_models
from dnfscale.data.models.reading import read_model, read_models
from dnfscale.data.models.writing import classes_record, classes_text, model_record, model_text

__all__ = [
    "classes_record",
    "classes_text",
    "model_record",
    "model_text",
    "parse_model",
    "parse_models",
    "read_model",
    "read_models",
]
