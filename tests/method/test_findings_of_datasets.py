"""What is found above «note» in published tables, and in those of scikit-learn: each is true, and
was looked up.
"""

from __future__ import annotations

import pytest
import sklearn.datasets

from dnfscale import check
from dnfscale.datasets.named import open_named
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.check import check_source
from dnfscale.results.check import Check

VOTES = (
    "handicapped_infants",
    "water_project_cost_sharing",
    "adoption_of_the_budget_resolution",
    "physician_fee_freeze",
    "el_salvador_aid",
    "religious_groups_in_schools",
    "anti_satellite_test_ban",
    "aid_to_nicaraguan_contras",
    "mx_missile",
    "immigration",
    "synfuels_corporation_cutback",
    "education_spending",
    "superfund_right_to_sue",
    "crime",
    "duty_free_exports",
    "export_administration_act_south_africa",
)
SORTED = {("", "sorted_by_class")}
FOUND = {
    "paper:bank_marketing": {("duration", "leak"), ("pdays", "missing_codes")},
    "paper:breast_cancer": {("sample_code_number", "identifier")},
    # The ? of a vote is a position unknown, of which a check cannot know that it is a category.
    "paper:congressional_voting": {
        ("", "repeated_rows"),
        *((vote, "missing_codes") for vote in VOTES),
    },
    "paper:german_credit": set(),
    "paper:heart_disease": SORTED,
    "paper:hepatitis": set(),
    "paper:student_dropout": {("Marital_status", "codes")},
    "paper:covertype": {
        *SORTED,
        *((f"Soil_Type{number}", "constant") for number in (1, 5, 14, 15, 37)),
    },
    "paper:electricity": SORTED,
    "paper:eye_movement": {*SORTED, ("lineNo", "identifier")},
    "paper:road_safety": {
        *SORTED,
        ("Vehicle_Type", "codes"),
        ("Propulsion_Code", "codes"),
        ("Casualty_Type", "codes"),
    },
    "paper:colon": {
        *((f"v{number}", "copy") for number in (40, 41, 42, 51, 52, 53, 261, 262, 263)),
    },
    "builtin:breast_cancer": set(),
}


@pytest.mark.slow
@pytest.mark.usefixtures("paper_data")
@pytest.mark.parametrize("name", FOUND)
def test_the_findings_above_a_note_in_published_tables_are_these(name):
    source, record = open_named(name)
    checked = check_source(source, record.target, SerialEngine())
    assert above_notes(checked) == FOUND[name]


def above_notes(checked: Check) -> set[tuple[str, str]]:
    return {(about or "", finding.kind) for about, finding in checked.above_notes}


OF_SCIKIT_LEARN = {
    "iris": SORTED,
    "wine": SORTED,
    # Corners of the pictures, in which nobody has written.
    "digits": {(pixel, "constant") for pixel in ("pixel_0_0", "pixel_4_0", "pixel_4_7")},
    "breast_cancer": set(),
}


@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
def test_the_findings_above_a_note_in_tables_of_scikit_learn_are_these(name):
    frame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
    found = check(frame, "target")
    assert above_notes(found.record) == OF_SCIKIT_LEARN[name]
    advice = " ".join(finding.advice for _, finding in found.findings)
    assert "data.drop" not in advice
    assert ("add it to the parameter drop" in advice) == (name == "digits")
