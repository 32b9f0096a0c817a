"""What is found above «note» in published tables: each is true, and was looked up."""

from __future__ import annotations

import pytest

from dnfscale.datasets.named import open_named
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.check import check_source

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
    # Both are of the year of enrolment.
    "paper:student_dropout": {("Marital_status", "codes"), ("GDP", "copy")},
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
    check = check_source(source, record.target, SerialEngine())
    found = {("", finding.kind) for finding in check.findings if finding.severity != "note"}
    found |= {
        (column.name, finding.kind)
        for column in check.columns
        for finding in column.findings
        if finding.severity != "note"
    }
    assert found == FOUND[name]
