"""What consumers of other languages misread after a change, declared and observed ones."""

from __future__ import annotations

import json

import pytest

from gitops.broker.connection import ConnectionPolicies, ConnectionTarget
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.clients import (
    Client,
    ClientLanguage,
    Consumes,
    ObservedClients,
    ObservedSubscription,
    ObservedTopic,
    VersionPin,
    language_of,
)
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.findings import Location, Severity
from gitops.model.plan import RefusedSchema, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.planning.client_readers import ClientReader, client_readers, misread_versions
from gitops.planning.refusals import TopicCase
from gitops.planning.topics import TopicOutcome, plan_topic
from gitops.schemas.client_profiles import CLIENT_PROFILES
from gitops.schemas.payload import to_stored
from tests.support.states import CREATED, TODAY, avro, field, pair, record
from tests.support.topic_plans import locate

_PLACE = Location(file="clients/fleet.yaml")


def _ship(nested: str, *fields: str, aliases: tuple[str, ...] = ()) -> SchemaInfo:
    point = {
        "type": "record",
        "name": nested,
        "aliases": list(aliases),
        "fields": [{"name": "x", "type": "int"}],
    }
    others = [{"name": name, "type": "int", "default": 0} for name in fields]
    ship = {"type": "record", "name": "Ship", "fields": [{"name": "at", "type": point}, *others]}
    return SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(ship))


OLD, NEW = _ship("Pos", "crew"), _ship("Point", "berths", "crew")


def _outcome(
    new: SchemaInfo,
    language: ClientLanguage | None,
    strategy: Strategy = Strategy.BACKWARD,
    old: SchemaInfo = OLD,
) -> TopicOutcome:
    return plan_topic(_case(new, strategy, old), (ClientReader(name="fleet", language=language),))


def _case(new: SchemaInfo, strategy: Strategy, old: SchemaInfo) -> TopicCase:
    return TopicCase(
        topic=CREATED,
        desired=new,
        history=SchemaHistory(entries=(SchemaEntry(version=0, info=old),), next_version=1),
        strategy=strategy,
        line=PULSAR_4_0,
        locate=locate,
        today=TODAY,
    )


def _found(outcome: TopicOutcome) -> dict[str, str]:
    assert isinstance(outcome, RegisterSchema | RefusedSchema)
    return {one.rule: one.message for one in outcome.findings if "1" in one.rule}


@pytest.mark.rule("CLIENT-R012")
def test_a_declared_python_consumer_stops_a_change_that_it_would_misread() -> None:
    outcome = _outcome(NEW, "python")

    assert isinstance(outcome, RefusedSchema)
    assert outcome.accepted, "the broker takes it"
    assert outcome.waiver is not None
    assert _found(outcome) == {
        "CLIENT-R012": "at 'at': pulsar-client for Python with the new schema may read wrong "
        "values from messages of v0: fastavro compares names and does not take record Pos for "
        "record Point, and the client decodes with its own schema alone (fleet)"
    }


@pytest.mark.parametrize(
    ("language", "severity"),
    [("java", None), (None, Severity.WARNING), ("node", Severity.WARNING), ("go", Severity.ERROR)],
)
def test_what_is_known_of_the_consumer_decides(
    language: ClientLanguage | None, severity: Severity | None
) -> None:
    outcome = _outcome(NEW, language)

    assert isinstance(outcome, RegisterSchema | RefusedSchema)
    severities = [one.severity for one in outcome.findings]
    assert max(severities, default=None) == severity


@pytest.mark.parametrize(
    ("languages", "severity"),
    [
        ((), Severity.ERROR),
        (("java",), Severity.ERROR),
        (("python", None), Severity.ERROR),
        (("python", "java"), Severity.ERROR),
        (("python", "go"), Severity.WARNING),
    ],
)
def test_a_java_class_stops_a_change_unless_all_consumers_are_of_other_languages(
    languages: tuple[ClientLanguage | None, ...], severity: Severity
) -> None:
    plain, short = (
        avro({"name": "stock", "type": {"type": "int", **more}})
        for more in ({}, {"java-class": "java.lang.Short"})
    )
    readers = tuple(ClientReader(name="fleet", language=language) for language in languages)

    outcome = plan_topic(_case(short, Strategy.BACKWARD, plain), readers)

    assert isinstance(outcome, RegisterSchema | RefusedSchema)
    assert [(one.rule, one.severity) for one in outcome.findings] == [("AVRO-W013", severity)]


@pytest.mark.parametrize(
    ("language", "is_known"),
    [("java", True), ("dotnet", True), ("python", False), ("go", False), ("node", False)],
)
def test_halves_that_an_application_decodes_are_unknown(
    language: ClientLanguage,
    is_known: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    old, new = (
        pair(record(field("id")), record(field("a", "long"), *more))
        for more in ((), (field("b", "long", default=0),))
    )

    outcome = _outcome(new, language, old=old)

    found = {} if is_known else {"AVRO-W010": _UNKNOWN.format(CLIENT_PROFILES[language].library)}
    assert isinstance(outcome, RegisterSchema)
    assert _found(outcome) == found


_UNKNOWN = (
    "{} leaves decoding of KEY_VALUE to the application: whether it reads messages of the other "
    "schema is unknown (fleet)"
)


def test_a_layout_that_is_alike_harms_python_no_more_than_a_log_line() -> None:
    assert isinstance(_outcome(_ship("Point", "crew"), "python"), RegisterSchema)
    assert isinstance(_outcome(_ship("Point", "crew"), "dotnet"), RefusedSchema)


def test_an_alias_is_enough_for_python_and_net() -> None:
    renamed = _ship("Point", "berths", "crew", aliases=("Pos",))

    assert isinstance(_outcome(renamed, "python"), RegisterSchema)
    assert isinstance(_outcome(renamed, "dotnet"), RegisterSchema)
    assert isinstance(_outcome(renamed, "go"), RefusedSchema)


def test_only_the_directions_of_the_strategy_are_errors() -> None:
    """An alias of the new schema helps no consumer that has the old one."""
    renamed = _ship("Point", "berths", "crew", aliases=("Pos",))

    assert isinstance(_outcome(renamed, "python", Strategy.BACKWARD), RegisterSchema)
    refused = _outcome(renamed, "python", Strategy.FULL)
    assert isinstance(refused, RefusedSchema)
    assert "with v0 may read wrong values from messages of the new schema" in str(_found(refused))
    assert isinstance(_outcome(NEW, "python", Strategy.ALWAYS_COMPATIBLE), RegisterSchema)


def _client(name: str, subscription: str, language: ClientLanguage | None) -> Client:
    use = Consumes(
        topic=CREATED,
        subscription=subscription,
        schemas=(VersionPin(version=0),),
        location=_PLACE,
    )
    return Client(
        name=name,
        owner="@fleet",
        consumes=(use,),
        produces=(),
        location=_PLACE,
        language=language,
    )


def test_a_declared_subscription_has_its_declared_language() -> None:
    seen = ObservedTopic(
        subscriptions=(
            ObservedSubscription(name="fleet", clients=("Pulsar-CPP-v3.7.2",)),
            ObservedSubscription(name="audit", clients=("Pulsar-CPP-v3.7.2", "Pulsar Go 0.14.0")),
            ObservedSubscription(name="gone"),
        )
    )

    readers = client_readers(
        [_client("fleet", "fleet", "cpp")], ObservedClients(topics={CREATED: seen})
    )

    assert {(one.name, one.language) for one in readers[CREATED]} == {
        ("fleet", "cpp"),
        ("subscription 'audit' (Pulsar-CPP-v3.7.2)", "python"),
        ("subscription 'audit' (Pulsar Go 0.14.0)", "go"),
        ("subscription 'gone'", None),
    }


@pytest.mark.parametrize(
    ("library", "language"),
    [
        ("Pulsar-Java-v4.0.7", "java"),
        ("Pulsar-Java-v4.0.7-billing", "java"),
        ("Pulsar-CPP-v3.7.2", "python"),
        ("Pulsar-CPP-v4.0.1-node-client-v1.17.0", "node"),
        ("Pulsar Go v0.14.0", "go"),
        ("Pulsar Go version unknown", "go"),
        ("Pulsar.Client v3.5.0.0", "dotnet"),
        ("DotPulsar 4.3.2", "dotpulsar"),
        ("kop", None),
        ("", None),
    ],
)
def test_a_library_is_known_by_how_it_calls_itself(
    library: str, language: ClientLanguage | None
) -> None:
    assert language_of(library) == language


@pytest.mark.parametrize(("language", "paths"), [("dotnet", ["value.at"]), ("python", [])])
def test_halves_of_a_pair_are_read_by_their_types(
    language: ClientLanguage, paths: list[str]
) -> None:
    def pair(name: str) -> StoredSchema:
        inner = {"type": "record", "name": name, "fields": []}
        value = {"type": "record", "name": "R", "fields": [{"name": "at", "type": inner}]}
        properties = {"key.schema.type": "STRING", "value.schema.type": "AVRO"}
        text = json.dumps({"key": "", "value": value})
        info = SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=properties)
        return to_stored(info)

    history = StoredHistory(entries=((0, pair("Pos")),), next_version=1)

    target = ConnectionTarget(
        history=history, policies=ConnectionPolicies(strategy=Strategy.FULL), line=PULSAR_4_0
    )
    misread = misread_versions(language, pair("Point"), target)

    assert [version.path for version in misread] == paths
