"""SARIF: valid by the official schema, with places, fixes and fingerprints that last."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gitops.model.check import CheckReport
from gitops.model.findings import Location
from gitops.reports.json.documents import to_text
from gitops.reports.sarif import sarif
from tests.support.checks import CHECK, EMPTY, PATCH, REFUSAL, UNKNOWN_KEY
from tests.support.hostile_texts import PIECES, assert_plain, poisoned

_SCHEMA = json.loads(
    (Path(__file__).parent / "sarif_schema" / "sarif-schema-2.1.0.json").read_text("utf-8")
)
_VALIDATOR = jsonschema.Draft4Validator(_SCHEMA)


def _explain(rule: str) -> str:
    return f"# {rule}"


def _log(report: CheckReport, prefix: str = "") -> Any:  # noqa: ANN401 - JSON
    log = json.loads(to_text(sarif(report, _explain, prefix)))
    _VALIDATOR.validate(log)
    return log


def _result(report: CheckReport, prefix: str = "") -> Any:  # noqa: ANN401 - JSON
    (run,) = _log(report, prefix)["runs"]
    (result,) = run["results"]
    return result


def test_the_schema_is_one_that_refuses() -> None:
    log = _log(CHECK)
    log["runs"][0]["results"][0]["level"] = "bad"

    with pytest.raises(jsonschema.ValidationError):
        _VALIDATOR.validate(log)


def test_every_registry_has_a_run_of_its_own() -> None:
    runs = _log(CHECK)["runs"]

    assert [run["automationDetails"]["id"] for run in runs] == [
        "pulsar-gitops/files/",
        "pulsar-gitops/production/",
        "pulsar-gitops/staging/",
    ]
    assert [len(run["results"]) for run in runs] == [1, 3, 1]


def test_a_plan_says_nothing_of_files() -> None:
    plan = replace(CHECK, base="", findings=())

    assert len(_log(plan)["runs"]) == 2
    assert _log(replace(plan, registries=()))["runs"] == []
    assert len(_log(EMPTY)["runs"]) == 1


def test_a_result_has_what_github_shows() -> None:
    result = _result(replace(EMPTY, findings=(UNKNOWN_KEY,)), "my schemas/")

    assert result == {
        "ruleId": "REPO-R011",
        "ruleIndex": 0,
        "level": "error",
        "message": {
            "text": "unknown value 'BACKWARDS' for schemaCompatibilityStrategy\n"
            "did you mean BACKWARD?"
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": "my%20schemas/namespaces/shop/orders/namespace.yaml",
                        "uriBaseId": "%SRCROOT%",
                    },
                    "region": {"startLine": 4, "startColumn": 30, "endColumn": 39},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": "namespaces/shop/orders/namespace.yaml"}
                ],
            }
        ],
        "partialFingerprints": {"pulsarGitops/v1": f"{UNKNOWN_KEY.fingerprint}:1"},
    }


def test_a_line_of_the_base_is_none_of_the_change() -> None:
    gone = replace(UNKNOWN_KEY, location=Location(file="a.yaml", line=4, in_base=True))
    result = _result(replace(EMPTY, findings=(gone,)))

    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a.yaml"
    assert "region" not in place


def test_rules_stand_once_with_their_pages() -> None:
    (rule,) = _log(replace(EMPTY, findings=(UNKNOWN_KEY, UNKNOWN_KEY)))["runs"][0]["tool"][
        "driver"
    ]["rules"]

    assert rule["id"] == "REPO-R011"
    assert rule["help"]["markdown"] == "# REPO-R011"
    assert rule["defaultConfiguration"] == {"level": "error"}


def test_the_other_side_is_a_related_place_where_it_is_a_file() -> None:
    compared = replace(REFUSAL, compared=Location(file="old.avsc", line=3, column=5))

    (related,) = _result(replace(EMPTY, findings=(compared,)))["relatedLocations"]

    assert related["physicalLocation"]["artifactLocation"]["uri"] == "old.avsc"
    assert related["physicalLocation"]["region"]["startLine"] == 3
    assert "relatedLocations" not in _result(replace(EMPTY, findings=(REFUSAL,)))


def test_a_patch_is_a_fix() -> None:
    (fix,) = _result(replace(EMPTY, findings=(REFUSAL,)))["fixes"]
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    before = [line[1:] for line in PATCH.split("\n")[3:] if line[:1] in (" ", "-")]
    after = [line[1:] for line in PATCH.split("\n")[3:] if line[:1] in (" ", "+")]

    assert change["artifactLocation"]["uri"] == "namespaces/shop/payments/captured.avsc"
    assert replacement["deletedRegion"] == {
        "startLine": 13,
        "startColumn": 1,
        "endLine": 13 + len(before),
        "endColumn": 1,
    }
    assert replacement["insertedContent"]["text"] == "".join(f"{line}\n" for line in after)


@pytest.mark.parametrize("patch", ["no patch", f"{PATCH}\\ No newline at end of file\n"])
def test_a_patch_that_is_none_or_ends_without_a_line_end_is_left_out(patch: str) -> None:
    assert _result(replace(EMPTY, findings=(replace(REFUSAL, patch=patch),)))["fixes"] == []


def test_equal_findings_are_told_apart_and_a_moved_line_keeps_its_fingerprint() -> None:
    moved = replace(UNKNOWN_KEY, location=Location(file=UNKNOWN_KEY.subject, line=90, column=1))
    (run,) = _log(replace(EMPTY, findings=(UNKNOWN_KEY, moved)))["runs"]

    prints = [each["partialFingerprints"]["pulsarGitops/v1"] for each in run["results"]]

    assert prints == [f"{UNKNOWN_KEY.fingerprint}:1", f"{UNKNOWN_KEY.fingerprint}:2"]


def test_a_finding_about_no_file_has_a_place_all_the_same() -> None:
    result = _result(replace(EMPTY, findings=(replace(UNKNOWN_KEY, location=None),)))

    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "gitops.yaml", "uriBaseId": "%SRCROOT%"}}


@pytest.mark.slow
def test_more_than_github_shows_are_held_back_and_counted() -> None:
    findings = tuple(replace(UNKNOWN_KEY, message=f"{number}") for number in range(6000))
    log = sarif(replace(EMPTY, findings=findings), _explain)
    (run,) = log["runs"]

    assert len(run["results"]) == 5000
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1,000 findings held back")


@pytest.mark.parametrize("piece", PIECES)
def test_no_piece_breaks_it(piece: str) -> None:
    texts = (f"{piece}{number}{piece}" for number in itertools.count())
    hostile = poisoned(CHECK, texts)
    log = _log(hostile)

    assert_plain(to_text(sarif(hostile, _explain)))
    uris = [
        place["physicalLocation"]["artifactLocation"]["uri"]
        for run in log["runs"]
        for result in run["results"]
        for place in result["locations"]
    ]
    assert all(uri.isascii() and not set(uri) & set(' "<>\\^`{|}#?:') for uri in uris)
