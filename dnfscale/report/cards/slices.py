"""The values of columns on the page: how good the formulas are for each, on test rows, and the gaps
between them.
"""

from __future__ import annotations

from dnfscale.report.markup import element
from dnfscale.report.measured import gap_table, slice_table
from dnfscale.report.parts import Place, Section, card, table
from dnfscale.report.run import RunView


def slices_card(place: Place, view: RunView) -> Section | None:
    """Return the metrics by value; None if no column was asked for."""
    ideal = view.result.ideal
    if ideal is None or not ideal.slices:
        return None
    weight = view.result.data.weight
    gaps = gap_table(ideal.slices, weight)
    note = "Each test row is answered by the formula of its fold."
    if weight is None:
        note += (
            " A gap is beyond chance where two intervals at 95 %, all values taken together, lie "
            "apart."
        )
    return card(
        place,
        "slices",
        "Is it as good for everyone?",
        element("p", note, class_="note"),
        *(table(slice_table(part, weight)) for part in ideal.slices),
        table(gaps) if gaps.rows else None,
        short="Slices",
    )
