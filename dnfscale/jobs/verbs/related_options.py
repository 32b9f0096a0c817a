"""The option for the related tables of a model, for the verbs that take DATA."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from dnfscale.core.model import Model
from dnfscale.data.source import Source
from dnfscale.datasets.convert import Conversion
from dnfscale.errors import SpecError
from dnfscale.jobs.related import concepts_of, opened_sides, with_concepts
from dnfscale.jobs.verbs.storage_options import access_from, place_from
from dnfscale.relations.tables import Side


def add_related_option(verb: argparse.ArgumentParser) -> None:
    """Add the option to a verb."""
    verb.add_argument(
        "--related",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="where a related table that the model asks about is, as in orders=orders.parquet",
    )


def related_from(options: argparse.Namespace) -> dict[str, str]:
    """Return what --related says: the place of each table by its name."""
    found: dict[str, str] = {}
    for text in options.related:
        name, equals, place = text.partition("=")
        if not equals or not name or not place:
            raise SpecError(f"--related takes NAME=PATH, such as orders=orders/, got {text!r}")
        if name in found:
            raise SpecError(f"--related names the table {name!r} twice; leave one out")
        found[name] = place
    return found


def joined_for(
    models: Sequence[Model], main: Source, options: argparse.Namespace, conversion: Conversion
) -> tuple[Source, tuple[Side, ...]]:
    """Return DATA with the concepts that models ask for, and the related tables."""
    places = {name: place_from("--related", place) for name, place in related_from(options).items()}
    concepts = concepts_of(models)
    tables = {concept.relation.table for concept in concepts}
    for name in places:
        if name not in tables:
            known = ", ".join(sorted(tables)) or "none"
            raise SpecError(
                f"--related must name a table that the model asks about ({known}), got {name!r}"
            )
    if not places and all(concept.name in main.types for concept in concepts):
        # What `data relate` has written, or a model of one table.
        return main, ()
    for name in sorted(tables - set(places)):
        raise SpecError(f"the model asks about related rows in {name}; add --related {name}=PATH")
    sides = opened_sides(concepts, main, places, access_from(options), conversion)
    return with_concepts(main, sides, concepts, conversion), sides
