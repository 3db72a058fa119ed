"""Brokers with other settings in broker.conf than Pulsar's, with and without the right to read it.

Each is asked by a superuser, who may read the configuration, and by an administrator of the tenant,
who may not: what a plan and `connect` answer for both is compared with what the broker does then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from gitops.audit.health import INACTIVE, RETAINED
from gitops.model.audit import ASSUMED
from gitops.model.broker_settings import SETTINGS, assumed_settings, seen_settings
from gitops.model.errors import RegistryRefusedError
from gitops.model.findings import Severity
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.policy import SettingSource, camel_case
from gitops.model.state import Scope
from gitops.planning.plan_document import to_document
from gitops.planning.reviewed_plan import resume
from gitops.reports.broker_wording import broker_lines
from gitops.usecases.audit import AuditRequest, audit
from tests.support.asked_broker import (
    EMPTY,
    OWNER,
    SHOP,
    TENANT,
    TOPICS,
    Asked,
    accepted,
    admissions,
    asked_broker,
    asks,
    let_in,
    opened,
    planned,
    taken,
)
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.secured_broker import STRANGER

if TYPE_CHECKING:
    from gitops.ports import Registry

pytestmark = pytest.mark.broker

OTHERS: Final = {
    "schemaCompatibilityStrategy": "ALWAYS_COMPATIBLE",
    "isSchemaValidationEnforced": "true",
    "isAllowAutoUpdateSchemaEnabled": "false",
    "defaultRetentionTimeInMinutes": "60",
    "defaultRetentionSizeInMB": "-1",
}
LEGACY: Final = "schema_json_allow_legacy_jackson_format"
PROBED: Final = {LEGACY, "schema_compatibility_strategy", "is_schema_validation_enforced"}
BROKERS: Final = {
    "4.0.7": OTHERS,
    "4.2.4": {**OTHERS, camel_case(LEGACY): "true"},
}


@pytest.fixture(scope="module", params=BROKERS)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asked]:
    release: str = request.param
    try:
        with asked_broker(tmp_path_factory.mktemp("learned"), release, BROKERS[release]) as asked:
            yield asked
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")


def test_a_superuser_learns_everything(asked: Asked) -> None:
    broker = asked.superuser.broker

    assert set(broker.sources.values()) == {SettingSource.LEARNED}
    assert broker.release == asked.release
    for name, value in seen_settings(broker).items():
        said = asked.config.get(camel_case(name))
        assert said is None or said == (
            value.name if isinstance(value, Strategy) else str(value).lower()
        )
    assert (broker.limits, broker.doubts) == ((), ())


def test_an_administrator_of_the_tenant_learns_the_same_of_its_namespaces(asked: Asked) -> None:
    observed = asked.owner.observe(Scope(namespaces=frozenset({SHOP}))).namespaces[SHOP]
    broker, known = asked.owner.broker, asked.superuser.broker

    probed = {name for name in SETTINGS if broker.source(name) is SettingSource.PROBED}
    assert probed == PROBED - (
        {LEGACY} if asked.release == "4.0.7" else set()
    )  # has no such switch
    assert all(getattr(broker, name) == getattr(known, name) for name in probed)
    assert (
        observed.policies.is_allow_auto_update_schema is known.is_allow_auto_update_schema_enabled
    )
    first, second = broker_lines(broker)
    assert f"{known.schema_compatibility_strategy.value} (probed)" in first
    assert "the role may not read it" in second


def test_to_ask_a_namespace_leaves_nothing_there(asked: Asked) -> None:
    with closing(opened(asked.secured, OWNER)) as owner:
        owner.observe(Scope(namespaces=frozenset({EMPTY})))
        assert SettingSource.PROBED in owner.broker.sources.values()

    places = [f"{domain}/{EMPTY}" for domain in ("persistent", "non-persistent")]
    lists = [
        asks(asked.secured, "GET", f"{each}{rest}")
        for each in places
        for rest in ("", "/partitioned")
    ]
    assert lists == [[], [], [], []]
    probe = f"schemas/{EMPTY}/pulsar-schema-gitops-probe"
    assert asks(asked.secured, "GET", f"{probe}/schemas") == {"getSchemaResponses": []}
    assert asks(asked.secured, "GET", f"namespaces/{TENANT}") == [str(EMPTY), str(SHOP)]


def test_producers_are_let_in_as_the_broker_lets_them_in(asked: Asked) -> None:
    told = [admissions(each) for each in (asked.superuser, asked.owner)]

    answers = let_in(asked)

    assert told == [answers, answers]


def test_verdicts_are_the_brokers(asked: Asked) -> None:
    assumed = planned(asked.owner, assumed_settings({}))
    plans = [planned(asked.superuser), planned(asked.owner)]

    verdicts = taken(asked.superuser)

    assert [accepted(one) for one in plans] == [verdicts, verdicts]
    assert accepted(assumed) != verdicts  # by Pulsar's defaults
    assert "FULL (assumed)" in broker_lines(assumed.broker)[0]


def test_a_plan_of_one_role_is_applied_by_the_other(asked: Asked) -> None:
    """Auto-update differs from Pulsar's default here, and only the superuser can learn it."""
    plans = [replace(planned(each), registry="one") for each in (asked.superuser, asked.owner)]
    assert [one.broker.is_allow_auto_update_schema_enabled for one in plans] == [False, True]

    for reviewed, now in (plans, reversed(plans)):
        assert resume(to_document(reviewed), now).done == 0


def test_an_audit_finds_the_same_without_the_right_to_read_the_configuration(
    asked: Asked,
) -> None:
    topics = frozenset(TOPICS)
    request = AuditRequest(namespaces=(SHOP,), as_if_broker="5.0", topics=topics)
    with closing(opened(asked.secured, OWNER)) as owner:  # one that has asked nothing before
        found = audit(owner, request)
    known = audit(asked.superuser, request)

    others, theirs = (
        [one for one in each.findings if one.rule not in (RETAINED, INACTIVE)]
        for each in (found, known)
    )
    assert (others, found.differences) == (theirs, known.differences)
    assert found.broker.source("schema_compatibility_strategy") is SettingSource.PROBED
    assert not [one for one in found.findings if ASSUMED in one.message]


def test_an_audit_finds_what_is_retained_where_any_schema_may_follow(asked: Asked) -> None:
    """The broker's default needs the right to read its configuration; the namespace's does not."""
    both = asked.superuser, asked.owner
    unknown = "ALWAYS_COMPATIBLE is in force, and whether messages are retained is not known"
    assert [retained(each) for each in both] == [
        (Severity.WARNING, "retention of 1 hour (broker)"),
        (Severity.INFO, unknown),
    ]
    limits = {"retentionTimeInMinutes": -1, "retentionSizeInMB": 512}
    asks(asked.secured, "POST", f"namespaces/{SHOP}/retention", limits)
    try:
        shown = (Severity.WARNING, "retention of 512 MB (namespace)")
        assert [retained(each) for each in both] == [shown, shown]
    finally:
        asks(asked.secured, "DELETE", f"namespaces/{SHOP}/retention")


def retained(registry: Registry) -> tuple[Severity, str]:
    """How bad it is, and how long messages stay."""
    request = AuditRequest(namespaces=(SHOP,), topics=frozenset(TOPICS))
    report = audit(registry, request)
    (found,) = (one for one in report.findings if one.rule == RETAINED)
    return found.severity, found.message.partition(":")[0]


def test_a_stranger_may_not_even_look(asked: Asked) -> None:
    with closing(opened(asked.secured, STRANGER)) as stranger, pytest.raises(RegistryRefusedError):
        planned(stranger)
