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


@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        ("required int32 a = 1;", "required string a = 1;", True),
        ("optional int32 a = 1;", "optional string a = 1;", False),
        ("required int32 a = 1;", "required E a = 1;", True),
        ("optional int32 a = 1;", "optional E a = 1;", False),
        ("required bool a = 1;", "required E a = 1;", False),
        ("required E a = 1;", "required F a = 1;", True),
        ("optional E a = 1;", "optional F a = 1;", False),
        ("optional E b = 1; required E a = 2;", "optional F b = 1; required F a = 2;", True),
        ("optional bytes a = 1;", "optional string a = 1;", False),
        ("repeated int64 a = 1;", "repeated double a = 1;", False),
        ("repeated double a = 1 [packed = true];", "repeated float a = 1;", False),
        ("repeated float a = 1 [packed = true];", "repeated double a = 1;", True),
        ("map<string, bool> a = 1;", "map<string, Needs> a = 1;", True),
        ("map<string, bool> a = 1;", "map<string, Empty> a = 1;", False),
        ("optional Old a = 1;", "optional Other a = 1;", True),
    ],
)
def test_who_fails_in_proto2(old: str, new: str, *, is_found: bool) -> None:
    """As Protobuf 3.25 for Java has it, with which random definitions are compared elsewhere."""
    more = """
        enum E { ONE = 1; ZERO = 0; TWO = 2; } enum F { _ONE = 1; _ZERO = 0; }
        message Empty {} message Needs { required bool a = 1; }
        message Old { optional int32 a = 1; optional Empty b = 2; }
        message Other { optional string a = 1; optional Needs b = 2; }
    """
    schemas = tuple(order(body, syntax="proto2", more=more) for body in (old, new))
    policies = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    report = audit_of({"a": schemas}, policies=policies)

    assert ("AUDIT-H003" in {one.rule for one in report.findings}) is is_found
