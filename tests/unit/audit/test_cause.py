"""Which findings rest on settings of the broker that are only assumed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from gitops.model.broker_settings import SettingValue, assumed_settings, known_settings, with_known
from gitops.model.policy import BrokerSettings, NamespacePolicies, SettingSource
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import Definition, audit_of, record
from tests.support.states import field

TEXT: Final = record(field("b"))
NUMBER: Final = record(field("b", "int"))
WIDER: Final = record(field("b"), field("c", ["null", "string"], default=None))
BROKEN: Final = record(field("b", ["int", "null"], default=None))
DASHED: Final = record(namespace="com.my-co")
JACKSON: Final = ("JSON", '{"type": "object"}')
OTHER: Final = ("JSON", '{"type": "object", "id": "urn:a"}')
FULL: Final = NamespacePolicies(
    schema_compatibility_strategy=Strategy.FULL, is_allow_auto_update_schema=True
)
RELEASE: Final = "release {}"
STRATEGY: Final = "schemaCompatibilityStrategy FULL"
AUTO_UPDATE: Final = "isAllowAutoUpdateSchemaEnabled true"
VALIDATION: Final = "isSchemaValidationEnforced false"
JSON_FORM: Final = "schemaJsonAllowLegacyJacksonFormat false"
UNKNOWN: Final = assumed_settings()


def _marks(
    *versions: Definition,
    broker: BrokerSettings = UNKNOWN,
    present: str = "4.0",
    target: str | None = None,
    strategy: Strategy | None = None,
    policies: NamespacePolicies | None = None,
) -> dict[str, list[str]]:
    report = audit_of(
        {"a": versions},
        present=present,
        target=target,
        strategy=strategy,
        policies=policies,
        broker=broker,
    )
    parts = {one.rule: one.message.partition("; assumed: ")[2] for one in report.findings}
    return {rule: mark.split(", ") if mark else [] for rule, mark in parts.items()}


def test_what_is_known_has_no_mark() -> None:
    for broker in (BrokerSettings(), _learned()):
        found = _marks(TEXT, NUMBER, DASHED, broker=broker, target="5.0")
        assert set(found) >= {"AUDIT-H001", "AUDIT-H005", "AUDIT-U001", "AUDIT-U005"}
        assert not any(found.values())


def _learned() -> BrokerSettings:
    return replace(UNKNOWN, sources=dict.fromkeys(UNKNOWN.sources, SettingSource.LEARNED))


@pytest.mark.parametrize(
    ("rule", "found", "rests_on"),
    [
        ("AUDIT-H001", _marks(TEXT, NUMBER), [RELEASE, STRATEGY]),
        ("AUDIT-H001", _marks(TEXT, NUMBER, policies=FULL), [RELEASE]),
        ("AUDIT-H002", _marks(BROKEN), [RELEASE]),
        ("AUDIT-H005", _marks(TEXT), [AUTO_UPDATE, VALIDATION]),
        ("AUDIT-H005", _marks(TEXT, policies=FULL), [VALIDATION]),
        ("AUDIT-S001", _marks(TEXT, NUMBER, strategy=Strategy.FORWARD), [RELEASE]),
        ("AUDIT-S002", _marks(TEXT, WIDER), [RELEASE, STRATEGY]),
        ("AUDIT-S002", _marks(TEXT, WIDER, policies=FULL), [RELEASE]),
        ("AUDIT-U001", _marks(DASHED, target="5.0"), [RELEASE, STRATEGY, AUTO_UPDATE]),
        ("AUDIT-U004", _marks(BROKEN, target="5.0"), [RELEASE, STRATEGY, AUTO_UPDATE]),
        ("AUDIT-U005", _marks(target="5.0"), [RELEASE]),
    ],
)
def test_a_finding_names_what_it_rests_on(
    rule: str, found: dict[str, list[str]], rests_on: list[str]
) -> None:
    assert found[rule] == [one.format("4.0") for one in rests_on]


def test_the_switch_for_json_counts_for_json_where_the_present_line_has_it() -> None:
    strict = _marks(JACKSON, OTHER, present="4.2")["AUDIT-H001"]
    older = _marks(JACKSON, target="4.2", policies=FULL)["AUDIT-U002"]
    avro = _marks(TEXT, NUMBER, present="4.2")["AUDIT-H001"]

    assert strict == ["release 4.2", STRATEGY, JSON_FORM]
    assert older == ["release 4.0"]
    assert JSON_FORM not in avro


def test_what_was_probed_is_not_assumed() -> None:
    values: dict[str, SettingValue] = {
        "release": "4.2.4",
        "schema_compatibility_strategy": Strategy.FULL,
    }
    broker = with_known(UNKNOWN, known_settings(values, SettingSource.PROBED))

    assert _marks(TEXT, NUMBER, broker=broker)["AUDIT-H001"] == []


def test_topics_that_rest_on_other_settings_are_other_causes() -> None:
    """A topic with a strategy of its own is judged for certain."""
    broker = replace(UNKNOWN, sources={**UNKNOWN.sources, "release": SettingSource.LEARNED})
    report = audit_of({"a": (TEXT, NUMBER), "b": (TEXT, NUMBER)}, broker=broker)

    (found,) = (one for one in report.findings if one.rule == "AUDIT-H001")
    assert found.subjects == ("shop/orders/a", "shop/orders/b")
    assert found.message.endswith(f"; assumed: {STRATEGY}")
