"""What a whole repository becomes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.clients import VersionPin
from gitops.model.config import (
    OAuth2Authentication,
    OidcAuthentication,
    SecretRef,
    TlsAuthentication,
    TlsConfig,
    TokenAuthentication,
)
from gitops.model.errors import UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Repository
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from gitops.repository.template import template_root
from tests.support.trees import SETTINGS, MemoryTree, repository

_ORDERS = "namespaces/shop/orders"
_HEADER = "apiVersion: pulsar-gitops/v1\n"
_TOPIC = f"{_HEADER}kind: Topic\n"
_RECORD = '{"type": "record", "name": "A", "namespace": "shop", "fields": []}'


def _info(loaded: Repository, name: str) -> SchemaInfo:
    latest = loaded.desired.topics[TopicName.parse(f"shop/orders/{name}")].history.latest
    assert latest is not None
    return latest.info


def _load_topic(manifest: str, files: dict[str, bytes | str] | None = None) -> Repository:
    return load(repository({f"{_ORDERS}/a.yaml": _TOPIC + manifest, **(files or {})}))


def test_the_template_has_no_findings() -> None:
    loaded = load(FolderTree(template_root()))

    assert loaded.findings == ()
    assert [source.findings for source in loaded.topics.values() if source.findings] == []
    assert len(loaded.desired.topics) == 5
    assert [client.name for client in loaded.clients] == ["billing", "checkout"]


def test_without_gitops_yaml_there_is_nothing_to_do() -> None:
    with pytest.raises(UsageError) as caught:
        load(MemoryTree({}))

    assert "pulsar-gitops init" in caught.value.hint


def test_a_wrong_ending_of_gitops_yaml_is_told() -> None:
    with pytest.raises(UsageError) as caught:
        load(MemoryTree({"gitops.yml": ""}))

    assert caught.value.hint == "rename gitops.yml to gitops.yaml"


def test_a_definition_is_taken_exactly_as_it_is() -> None:
    text = f"// mine\r\n{_RECORD}\n\n"

    loaded = _load_topic("schema: {type: AVRO, definition: a.avsc}\n", {f"{_ORDERS}/a.avsc": text})

    assert _info(loaded, "a").schema == text
    topic = loaded.topics[TopicName.parse("shop/orders/a")]
    assert topic.definitions == (f"{_ORDERS}/a.avsc",)


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        ("{type: array, items: int}", '{"type":"array","items":"int"}'),
        ("['null', int]", '["null","int"]'),
        ('\'{"type": "int"}\'', '{"type": "int"}'),
        ('|\n    {"type":\n     "int"}', '{"type":\n "int"}\n'),
        ("'\"int\"'", '"int"'),
    ],
)
def test_a_definition_may_stand_in_the_manifest(definition: str, text: str) -> None:
    loaded = _load_topic(f"schema:\n  type: JSON\n  definition: {definition}\n")

    assert loaded.findings == ()
    assert _info(loaded, "a").schema == text


def test_a_shared_type_is_put_in_where_it_is_first_named() -> None:
    uses = {
        "type": "record",
        "name": "A",
        "namespace": "shop.orders",
        "fields": [{"name": "a", "type": "Money"}, {"name": "b", "type": ["null", "Money"]}],
    }
    money = {
        "type": "record",
        "name": "Money",
        "fields": [{"name": "c", "type": "shop.Currency"}],
    }
    currency = {"type": "enum", "name": "Currency", "namespace": "shop", "symbols": ["EUR"]}

    loaded = _load_topic(
        "schema: {type: AVRO, definition: a.avsc}\n",
        {
            f"{_ORDERS}/a.avsc": json.dumps(uses),
            "types/money.avsc": json.dumps(money),
            "types/currency.avsc": json.dumps(currency),
        },
    )

    source = loaded.topics[TopicName.parse("shop/orders/a")]
    assert (loaded.findings, source.findings) == ((), ())
    assert source.definitions == (
        f"{_ORDERS}/a.avsc",
        "types/money.avsc",
        "types/currency.avsc",
    )
    whole = json.loads(_info(loaded, "a").schema)
    # A type without namespace must not take that of the record around it.
    first = {**money, "namespace": "", "fields": [{"name": "c", "type": currency}]}
    assert whole["fields"] == [
        {"name": "a", "type": first},
        {"name": "b", "type": ["null", "Money"]},
    ]


def test_the_raw_form_of_a_key_value_is_taken_as_it_is() -> None:
    loaded = _load_topic(
        "schema:\n  type: KEY_VALUE\n  definition: {key: '', value: {type: int}}\n"
        "  properties: {key.schema.type: STRING}\n"
    )

    assert _info(loaded, "a") == SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema='{"key":"","value":{"type":"int"}}',
        properties={"key.schema.type": "STRING"},
    )


def test_the_halves_of_a_key_value_become_what_javas_client_sends() -> None:
    loaded = _load_topic(
        "schema:\n  type: KEY_VALUE\n  encoding: SEPARATED\n  key: {type: STRING}\n"
        "  value: {type: AVRO, definition: a.avsc, properties: {b: '<', a: x}}\n",
        {f"{_ORDERS}/a.avsc": f"/* mine */ {_RECORD}\n"},
    )

    # Written down from KeyValueSchemaInfo.encodeKeyValueSchemaInfo of Pulsar 4.0.7.
    assert _info(loaded, "a") == SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema='{"key":"","value":{"type":"record","name":"A","namespace":"shop","fields":[]}}',
        properties={
            "key.schema.name": "String",
            "key.schema.type": "STRING",
            "key.schema.properties": "{}",
            "value.schema.name": "",
            "value.schema.type": "AVRO",
            "value.schema.properties": '{"a":"x","b":"\\u003c"}',
            "kv.encoding.type": "SEPARATED",
        },
    )


def test_policies_names_and_samples() -> None:
    loaded = _load_topic(
        "topic: non-persistent://shop/orders/b\n"
        "policies: {schemaCompatibilityStrategy: FULL}\n"
        "samples: [{format: table, path: ../x/*, columns: {payload: data}, maxFailures: 0.5},\n"
        "  {format: raw, path: a.bin, logicalTypes: none}]\n",
        {
            f"{_ORDERS}/namespace.yaml": f"{_HEADER}kind: Namespace\nnamespace: shop/orders\n"
            "schemaValidationEnforced: true\n",
            "namespaces/shop/empty/x.yaml": _TOPIC,
        },
    )

    assert loaded.findings == ()
    name = TopicName(NamespaceName("shop", "orders"), "b", "non-persistent")
    assert loaded.desired.topics[name].policies == TopicPolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FULL
    )
    assert loaded.desired.topics[name].history.latest is None
    sample = loaded.topics[name].samples[0]
    assert (sample.path, sample.columns, sample.max_failures) == (
        "../x/*",
        {"payload": "data"},
        0.5,
    )
    how = [each.logical_types for each in loaded.topics[name].samples]
    assert how == ["java", "none"]
    states = loaded.desired.namespaces
    assert states[NamespaceName("shop", "orders")].policies == NamespacePolicies(
        schema_validation_enforced=True
    )
    assert states[NamespaceName("shop", "empty")].policies == NamespacePolicies()


def test_a_client_names_versions_definitions_and_forms() -> None:
    loaded = _load_topic(
        "schema: {type: JSON, definition: '\"int\"'}\n",
        {
            "clients/b.yaml": f"{_HEADER}kind: Client\nname: b\nowner: me\nproduces:\n"
            "  - topic: shop/orders/a\n"
            "    schema: [{version: 2}, {definition: own.avsc}, AUTO_PRODUCE, {type: STRING}]\n",
            "clients/own.avsc": _RECORD,
        },
    )

    assert loaded.findings == ()
    assert loaded.clients[0].produces[0].schemas == (
        VersionPin(version=2),
        SchemaInfo(type=SchemaType.JSON, schema=_RECORD),
        "AUTO_PRODUCE",
        SchemaInfo(type=SchemaType.STRING),
    )


_CONFIG = """\
apiVersion: pulsar-gitops/v1
kind: Config
defaultRegistry: token
registries:
  token:
    kind: pulsar
    url: ${PULSAR_ADMIN_URL}
    authentication: {token: "${TOKEN}"}
    tls: {caFile: ca.pem, verifyHostname: false}
    timeouts: {connect: 2, read: 2.5, run: 900}
    concurrency: 4
    brokerDefaults: {schemaCompatibilityStrategy: BACKWARD, isSchemaValidationEnforced: true}
    namespaces:
      shop/orders: {isAllowAutoUpdateSchema: false}
  tls: {kind: pulsar, url: "https://p", authentication: {tls: {certificateFile: a, keyFile: b}}}
  oauth:
    kind: pulsar
    url: https://p:8443
    authentication: {oauth2: {issuerUrl: "https://i", clientId: c, clientSecret: "${S}", scope: x}}
  run: {kind: pulsar, url: "https://p", authentication: {githubOidc: {audience: a}}}
  file: {kind: embedded, path: x.db}
safety: {maxChangedShare: 1, minTopics: 0, allowDeletions: true}
rules: {REPO-R023: error, AVRO-P002: off}
"""


def test_the_whole_of_gitops_yaml() -> None:
    loaded = load(MemoryTree({"gitops.yaml": _CONFIG, "stray.yaml": ""}))

    config = loaded.config
    assert [(f.rule, f.severity) for f in loaded.findings] == [("REPO-R023", Severity.ERROR)]
    assert config.default_registry == "token"
    assert config.registries["token"] == PulsarConfig(
        url="${PULSAR_ADMIN_URL}",
        authentication=TokenAuthentication(token=SecretRef(kind="env", name="TOKEN")),
        tls=TlsConfig(ca_file="ca.pem", verify_hostname=False),
        connect_timeout=2.0,
        read_timeout=2.5,
        request_timeout=5.0,
        run_timeout=900.0,
        concurrency=4,
        broker=BrokerSettings(
            schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD,
            is_schema_validation_enforced=True,
        ),
        namespaces={
            NamespaceName("shop", "orders"): NamespacePolicies(is_allow_auto_update_schema=False)
        },
    )
    ways = [
        registry.authentication
        for registry in config.registries.values()
        if isinstance(registry, PulsarConfig)
    ]
    assert ways[1:] == [
        TlsAuthentication(certificate_file="a", key_file="b"),
        OAuth2Authentication(
            issuer_url="https://i",
            client_id="c",
            client_secret=SecretRef(kind="env", name="S"),
            scope="x",
        ),
        OidcAuthentication(audience="a"),
    ]
    assert config.registries["file"] == EmbeddedConfig(path="x.db")
    assert config.safety.allow_deletions
    assert config.rules == {"REPO-R023": Severity.ERROR, "AVRO-P002": Severity.OFF}


def test_a_broken_config_keeps_what_is_good_of_it() -> None:
    broken = _CONFIG.replace("concurrency: 4", "concurrency: x").replace("minTopics: 0", "min: 0")

    loaded = load(MemoryTree({"gitops.yaml": broken}))

    assert [finding.rule for finding in loaded.findings] == ["REPO-R004", "REPO-R002"]
    assert list(loaded.config.registries) == ["tls", "oauth", "run", "file"]
    assert loaded.config.rules["REPO-R023"] is Severity.ERROR


def test_a_secret_is_nowhere_in_what_comes_out() -> None:
    text = _CONFIG.replace('"${TOKEN}"', "hunter2").replace('"${S}"', "hunter2")
    text = text.replace("https://p:8443", "https://me:hunter2@p:8443").replace("path: x", "pth: x")

    loaded = load(MemoryTree({"gitops.yaml": text}))

    assert "hunter2" not in repr(loaded)
    lines = text.splitlines()
    shown = [f.location for f in loaded.findings if f.location and not f.location.sensitive]
    assert len(loaded.findings) == 4
    assert [place for place in shown if "hunter2" in lines[place.line - 1]] == []


def test_a_line_that_only_opens_a_bracket_is_shown() -> None:
    for line, is_hidden in (("bad: [", False), ("token: 'hunter2' [", True), ("a: [hunter2", True)):
        loaded = load(MemoryTree({"gitops.yaml": f"{_CONFIG}{line}\n"}))
        (where,) = [f.location for f in loaded.findings if f.rule == "REPO-R001"]
        assert where is not None
        assert where.sensitive is is_hidden


def test_each_file_is_read_once() -> None:
    tree = repository(
        {
            f"{_ORDERS}/a.yaml": f"{_TOPIC}schema: {{type: AVRO, definition: a.avsc}}\n",
            f"{_ORDERS}/a.avsc": '{"type": "array", "items": "shop.B"}',
            f"{_ORDERS}/b.yaml": f"{_TOPIC}schema: {{type: AVRO, definition: ../../../b.avsc}}\n",
            "b.avsc": _RECORD.replace('"A"', '"B"'),
        }
    )

    loaded = load(tree)

    assert loaded.findings == ()
    assert sorted(tree.reads) == sorted(tree.paths())


def test_the_digest_is_of_paths_and_contents() -> None:
    files: dict[str, bytes | str] = {f"{_ORDERS}/a.yaml": _TOPIC}
    same = load(repository(files)).digest

    assert same.startswith("sha256:")
    assert len(same) == len("sha256:") + 64
    assert load(repository({**files, "notes.txt": "not read"})).digest == same
    assert load(repository({f"{_ORDERS}/b.yaml": _TOPIC})).digest != same
    assert load(repository({f"{_ORDERS}/a.yaml": f"{_TOPIC}\n"})).digest != same


def test_a_link_that_leads_outside_is_a_finding(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "orders").mkdir(parents=True)
    (outside / "orders" / "a.yaml").write_text(_TOPIC)
    root = tmp_path / "repo"
    (root / "namespaces").mkdir(parents=True)
    (root / "gitops.yaml").write_bytes(SETTINGS)
    (root / "namespaces" / "shop").symlink_to(outside)

    loaded = load(FolderTree(root))

    assert [(f.rule, str(f.location)) for f in loaded.findings] == [
        ("REPO-R007", "namespaces/shop")
    ]


def test_what_is_left_of_a_wrong_client_is_looked_at_and_not_used() -> None:
    loaded = _load_topic("", {"clients/a.yaml": f"{_HEADER}kind: Client\nname: a\nowner: 5\n"})

    assert [each.rule for each in loaded.findings] == ["REPO-R004"]
    assert loaded.clients == ()


def test_a_topic_whose_manifest_is_wrong_is_a_topic_all_the_same() -> None:
    loaded = _load_topic("schema: {type: STRING}\nowner: me\n")

    assert [each.rule for each in loaded.findings] == ["REPO-R002"]
    assert _info(loaded, "a").type is SchemaType.STRING


def test_where_a_topic_is_not_understood_a_waiver_may_be_for_it() -> None:
    waiver = (
        f"{_HEADER}kind: Waiver\ntopic: shop/orders/b\nfingerprint: {'a' * 32}\n"
        "reason: agreed\napprovedBy: me\nexpires: 2030-06-30\n"
    )
    found = _load_topic("topic: 1\nschema: {type: STRING}\n", {"waivers/w.yaml": waiver})

    assert [each.rule for each in found.findings] == ["REPO-R004"]
    assert [each.file for each in found.waivers] == ["waivers/w.yaml"]
    assert found.waivers[0].place("topic").line == 3
    assert found.waivers[0].place("reason") == found.waivers[0].location
