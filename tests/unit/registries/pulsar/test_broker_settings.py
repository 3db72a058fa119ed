"""What a cluster tells of its brokers, and what is assumed where it does not."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from werkzeug import Request, Response

from gitops.broker.lines.table import line_of
from gitops.model.broker_settings import seen_settings
from gitops.model.policy import SchemaCompatibilityStrategy, SettingSource
from gitops.model.schema import SchemaType
from gitops.registries.pulsar import broker_settings
from tests.support.pulsar_client import open_test_registry

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

    from gitops.model.policy import BrokerSettings

CHECKERS = (
    "[org.apache.pulsar.broker.service.schema.JsonSchemaCompatibilityCheck, "
    "org.apache.pulsar.broker.service.schema.AvroSchemaCompatibilityCheck, "
    "org.apache.pulsar.broker.service.schema.ProtobufNativeSchemaCompatibilityCheck]"
)
CONFIGURATION = {
    "schemaCompatibilityStrategy": "ALWAYS_COMPATIBLE",
    "isSchemaValidationEnforced": "true",
    "isAllowAutoUpdateSchemaEnabled": "false",
    "systemTopicSchemaCompatibilityStrategy": "ALWAYS_COMPATIBLE",
    "schemaRegistryCompatibilityCheckers": CHECKERS,
    "brokerClientAuthenticationParameters": "token:secret",
}


def learned(server: HTTPServer, answers: dict[str, object]) -> BrokerSettings:
    """The settings that a cluster with these answers has; text is an answer as it is."""

    def answer(request: Request) -> Response:
        found = answers.get(request.path.removeprefix("/admin/v2/brokers").lstrip("/"))
        if isinstance(found, int):
            return Response('{"reason":"not for you"}', status=found)
        if found is None:
            return Response('{"reason":"not found"}', status=404)
        return Response(found if isinstance(found, str) else json.dumps(found))

    server.expect_request(re.compile("/admin/v2/.*")).respond_with_handler(answer)
    return open_test_registry(server.url_for("")).broker


@pytest.mark.slow
def test_a_cluster_tells_release_and_configuration(httpserver: HTTPServer) -> None:
    found = learned(httpserver, {"version": "4.0.7", "configuration/runtime": CONFIGURATION})

    assert seen_settings(found) == {
        "release": "4.0.7",
        "schema_compatibility_strategy": SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
        "is_allow_auto_update_schema_enabled": False,
        "is_schema_validation_enforced": True,
        "schema_json_allow_legacy_jackson_format": False,
        "system_topic_schema_compatibility_strategy": SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
    }
    assert (found.limits, found.doubts) == ((), ())
    assert "secret" not in repr(found)


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 403])
def test_what_the_role_may_not_read_is_assumed(httpserver: HTTPServer, status: int) -> None:
    found = learned(httpserver, {"version": "4.2.4", "configuration/runtime": status})

    assert seen_settings(found) == {"release": "4.2.4"}
    assert found.source("schema_compatibility_strategy") is SettingSource.ASSUMED
    assert found.limits == (
        "The broker's configuration is not known: the role may not read it.",
        "Its schema compatibility checkers are assumed to be Pulsar's own.",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("status", "has_failed"), [(403, False), (404, False), (503, True)])
def test_a_broker_that_fails_may_tell_more_later(
    httpserver: HTTPServer,
    status: int,
    has_failed: bool,  # noqa: FBT001 - a row of the table
) -> None:
    found = learned(httpserver, {"version": "4.2.4", "configuration/runtime": status})

    assert found.is_unanswered is has_failed


@pytest.mark.slow
@pytest.mark.parametrize("version", [403, 404, "<html>a page</html>", "4", ""])
def test_a_release_that_is_not_told_is_assumed(httpserver: HTTPServer, version: object) -> None:
    found = learned(httpserver, {"version": version, "configuration/runtime": CONFIGURATION})

    assert (found.release, found.source("release")) == ("4.0", SettingSource.ASSUMED)
    assert found.limits[0].startswith("The cluster does not report its release: ")


@pytest.mark.parametrize("body", ["[]", "{", '"text"', "[" * 100_000])
def test_a_configuration_that_is_none_is_not_known(httpserver: HTTPServer, body: str) -> None:
    found = learned(httpserver, {"version": "4.0.7", "configuration/runtime": body})

    assert list(seen_settings(found)) == ["release"]
    assert len(found.limits) == 2


def test_a_value_that_is_not_known_here_is_a_doubt(httpserver: HTTPServer) -> None:
    odd = {
        **CONFIGURATION,
        "schemaCompatibilityStrategy": "SIDEWAYS",
        "isSchemaValidationEnforced": 7,
        "schemaRegistryCompatibilityCheckers": f"{CHECKERS[:-1]}, com.example.Own]",
    }
    found = learned(httpserver, {"version": "4.0.7", "configuration/runtime": odd})

    assert found.source("schema_compatibility_strategy") is SettingSource.ASSUMED
    assert [one.key for one in found.doubts] == [
        "schemaCompatibilityStrategy",
        "isSchemaValidationEnforced",
        "schemaRegistryCompatibilityCheckers",
    ]
    assert "com.example.Own" in found.doubts[-1].message


@pytest.mark.slow
def test_the_checkers_that_a_4_2_broker_has_by_itself_are_no_doubt(httpserver: HTTPServer) -> None:
    external = "org.apache.pulsar.broker.service.schema.ExternalSchemaCompatibilityCheck"
    checkers = {"schemaRegistryCompatibilityCheckers": f"{CHECKERS[:-1]}, {external}]"}
    found = learned(httpserver, {"version": "4.2.4", "configuration/runtime": checkers})

    assert found.doubts == ()


@pytest.mark.parametrize(
    ("release", "classes", "installed", "said"),
    [
        ("4.0.7", ("Json", "Avro", "ProtobufNative", "External"), (), []),
        ("4.0.7", ("Json", "Avro", "ProtobufNative"), (), []),
        ("4.2.4", ("Json", "Avro", "ProtobufNative"), (), []),
        ("4.0.7", ("Json", "ProtobufNative"), (), []),
        ("4.0.7", ("Json",), ("PROTOBUF_NATIVE",), []),
        ("4.0.7", ("Json", "Avro", "ProtobufNative", "Protobuf"), (), ["has the checker Protobuf"]),
        ("4.0.7", ("Json", "Avro", "ProtobufNative", "Protobuf"), ("PROTOBUF",), []),
        (
            "5.0.1",
            ("Json", "Avro", "ProtobufNativeSchemaAdvanced", "External"),
            (),
            ["has the checker ProtobufNativeSchemaAdvancedCompatibilityCheck"],
        ),
        ("5.0.1", ("Json", "Avro", "ProtobufNativeSchemaAdvanced", "External"), ("AVRO",), ["has"]),
        ("4.0.7", ("Json", "Avro", "ProtobufNative", "com.example.Own"), ("PROTOBUF",), []),
        ("4.0.7", ("Json", "ProtobufNative", "com.example.Own"), ("AVRO",), []),
        ("4.0.7", ("Json", "com.example.Own"), ("AVRO",), ["no two schemas of PROTOBUF_NATIVE"]),
        (
            "4.0.7",
            ("Json", "Avro", "ProtobufNative", "com.a.One", "com.b.Two"),
            ("PROTOBUF",),
            ["has the checker com.a.One, com.b.Two"],
        ),
    ],
)
def test_checkers_that_nothing_here_decides_as_are_doubts(  # noqa: PLR0913 - rows and fixtures
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    release: str,
    classes: tuple[str, ...],
    installed: tuple[str, ...],
    said: list[str],
) -> None:
    types = frozenset(SchemaType(each) for each in installed)
    monkeypatch.setattr(broker_settings, "installed_types", lambda: types)
    checkers = f"[{', '.join(map(class_name, classes))}]"
    configuration = {"schemaRegistryCompatibilityCheckers": checkers}

    found = learned(httpserver, {"version": release, "configuration/runtime": configuration})

    assert len(found.doubts) == len(said)
    assert all(text in one.message for text, one in zip(said, found.doubts, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "classes", "installed", "unchecked"),
    [
        ("4.0.7", ("Json", "Avro", "ProtobufNative"), (), ()),
        ("4.2.4", ("Json", "Avro", "ProtobufNative"), (), ("EXTERNAL",)),
        ("4.0.7", ("Json", "ProtobufNative"), (), ("AVRO",)),
        ("4.0.7", ("Json",), ("PROTOBUF_NATIVE",), ("AVRO",)),
        ("4.0.7", ("Json", "com.example.Own"), ("AVRO",), ()),
    ],
)
def test_a_type_whose_checker_is_left_out_is_decided_without_one(  # noqa: PLR0913 - as above
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    release: str,
    classes: tuple[str, ...],
    installed: tuple[str, ...],
    unchecked: tuple[str, ...],
) -> None:
    types = frozenset(SchemaType(each) for each in installed)
    monkeypatch.setattr(broker_settings, "installed_types", lambda: types)
    checkers = f"[{', '.join(map(class_name, classes))}]"
    configuration = {"schemaRegistryCompatibilityCheckers": checkers}

    found = learned(httpserver, {"version": release, "configuration/runtime": configuration})

    assert found.types_without_checker == tuple(SchemaType(each) for each in unchecked)
    assert line_of(found).rules.unchecked == frozenset(found.types_without_checker)


def class_name(short: str) -> str:
    """`Avro` and `ProtobufNativeSchemaAdvanced` as Pulsar's classes, others as they are."""
    if "." in short:
        return short
    suffix = "CompatibilityCheck" if "Schema" in short else "SchemaCompatibilityCheck"
    return f"org.apache.pulsar.broker.service.schema.{short}{suffix}"


def test_an_undefined_strategy_is_full(httpserver: HTTPServer) -> None:
    unset = {"schemaCompatibilityStrategy": "UNDEFINED"}
    found = learned(httpserver, {"version": "4.0.7", "configuration/runtime": unset})

    assert found.schema_compatibility_strategy is SchemaCompatibilityStrategy.FULL
    assert found.source("schema_compatibility_strategy") is SettingSource.LEARNED


def test_brokers_of_several_releases_are_a_doubt_and_the_oldest_decides(
    httpserver: HTTPServer,
) -> None:
    other = urlsplit(httpserver.url_for("")).netloc
    versions = iter(["4.2.4", "4.0.7", "4.2.4"])

    def version(_request: Request) -> Response:
        return Response(next(versions))

    httpserver.expect_request("/admin/v2/brokers/version").respond_with_handler(version)
    names = [other, other.replace("localhost", "127.0.0.1")]
    found = learned(httpserver, {"": names})

    assert found.release == "4.0.7"
    assert found.other_releases == ("4.2.4",)
    assert [one.key for one in found.doubts] == ["release"]
    assert "4.0.7, 4.2.4" in found.doubts[0].message


@pytest.mark.slow
def test_a_role_that_may_not_list_brokers_cannot_know_of_other_releases(
    httpserver: HTTPServer,
) -> None:
    found = learned(httpserver, {"version": "4.0.7", "": 403})

    assert found.limits[0] == (
        "Whether other brokers have another release is not known: the role may not read it."
    )


@pytest.mark.slow
def test_a_broker_that_cannot_be_asked_is_told(httpserver: HTTPServer) -> None:
    other = urlsplit(httpserver.url_for("")).netloc
    names = [other, "localhost:1", "no such host/@"]
    found = learned(httpserver, {"version": "4.0.7", "": names})

    assert found.release == "4.0.7"
    assert found.limits[0] == "2 other brokers could not be asked for their release."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "deletes"), [("true", True), ("false", False), ("perhaps", None), (None, None)]
)
def test_whether_inactive_topics_are_deleted(
    value: str | None,
    deletes: bool | None,  # noqa: FBT001 - what is expected
    httpserver: HTTPServer,
) -> None:
    more = {} if value is None else {"brokerDeleteInactiveTopicsEnabled": value}
    configuration = {**CONFIGURATION, **more}

    found = learned(httpserver, {"version": "4.0.7", "configuration/runtime": configuration})

    assert found.deletes_inactive_topics is deletes
