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
    gaps = gap_table(ideal.slices)
    note = (
        "Each test row is answered by the formula of its fold. A gap is beyond chance where two "
        "intervals at 95 %, all values taken together, lie apart."
    )
    return card(
        place,
        "slices",
        "Is it as good for everyone?",
        element("p", note, class_="note"),
        *(table(slice_table(part)) for part in ideal.slices),
        table(gaps) if gaps.rows else None,
        short="Slices",
    )
