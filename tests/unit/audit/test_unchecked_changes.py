"""AUDIT-H003: of whom readers fail, and of which versions."""

from __future__ import annotations

import pytest

from gitops.model.policy import NamespacePolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import audit_of
from tests.support.protos import order


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (("string b = 1;", "message B {} B c = 1;"), ["v1"]),
        (("string b = 1;", "int32 z = 9;", "message B {} B b = 1; int32 z = 9;"), ["v2"]),
        (("string b = 1;", "message B {} B b = 1;", "message B {} B b = 1; int32 z = 9;"), ["v1"]),
        (("string b = 1;", "bytes b = 1;"), ["v1"]),
        (("string b = 1;", "int32 b = 1;"), []),
        (("string b = 1;", "string b = 2;"), []),
    ],
)
def test_readers_of_all_older_versions_count(versions: tuple[str, ...], said: list[str]) -> None:
    """As parsers of Protobuf 3 for Java have it: those of 4.0.7's class path stop at these."""
    full = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)
    report = audit_of({"a": tuple(map(order, versions))}, policies=full)

    found = [one for one in report.findings if one.rule == "AUDIT-H003"]
    assert [one.message.partition(":")[0] for one in found] == said


@pytest.mark.parametrize(
    ("strategy", "number"), [(Strategy.BACKWARD, 0), (Strategy.FORWARD, 1), (Strategy.FULL, 1)]
)
def test_readers_of_the_older_version_count_where_it_is_promised(
    strategy: Strategy, number: int
) -> None:
    promised = NamespacePolicies(schema_compatibility_strategy=strategy)
    report = audit_of({"a": (order("string b = 1;"), order("bytes b = 1;"))}, policies=promised)

    assert [one.rule for one in report.findings].count("AUDIT-H003") == number
