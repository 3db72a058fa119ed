"""`audit` from the command line: on the embedded registry, behind `serve`, and on a snapshot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, PolicyChange, SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.support.admin_rest import admin_request
from tests.support.command_line import captured as run

ORDERS: Final = NamespaceName("shop", "orders")
PLAIN: Final = '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "string"}]}'
WIDER: Final = (
    '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "string"},'
    ' {"name": "b", "type": ["null", "string"], "default": null}]}'
)
DASHED: Final = PLAIN.replace('"fields"', '"namespace": "com.my-co", "fields"')
TOPICS: Final = {
    "plain": ("AVRO", PLAIN, WIDER),
    "latest": ("AVRO", DASHED),
    "also": ("AVRO", DASHED),
    "older": ("AVRO", DASHED, WIDER),
    "jackson": ("JSON", '{"type": "object"}'),
}


def _filled(path: Path) -> EmbeddedRegistry:
    registry = EmbeddedRegistry("local", path, BrokerSettings(), address=path.name)
    registry.create_namespace(ORDERS)
    for name, (kind, *definitions) in TOPICS.items():
        for text in definitions:
            info = SchemaInfo(type=SchemaType(kind), schema=text)
            registry.register_schema(TopicName(ORDERS, name), info)
    return registry


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    _filled(tmp_path / "x.db").close()
    (tmp_path / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        "registries:\n  local: {kind: embedded, path: x.db}\n"
    )
    folder = tmp_path / "namespaces" / "shop" / "orders"
    folder.mkdir(parents=True)
    (folder / "namespace.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    )
    return tmp_path


def _lost(document: Mapping[str, Any]) -> dict[str, set[str]]:
    """Topic → what the target line refuses, `operation version`."""
    return {
        topic["topic"].rpartition("/")[2]: {
            f"{one['operation']} {one['version']}"
            for one in topic["operations"]
            if not one["after"]["accepted"]
        }
        for topic in document["differences"]
    }


_LATEST: Final = {
    *("produce 0", "register 0", "test 0"),
    *("produce None", "register None", "test None", "consume None"),
}
_PREDICTED: Final = {
    "latest": _LATEST,
    "also": _LATEST,
    "older": {
        *("produce 0", "register 0", "test 0", "consume 0"),
        *("produce 1", "register 1", "produce None", "register None"),
    },
    "jackson": {"test 0", "test None", "consume None"},
}


@pytest.mark.parametrize("target", ["4.2", "5.0"])
def test_an_upgrade_of_the_embedded_registry(repo: Path, target: str) -> None:
    found = run("audit", "--repo", repo, "--as-if-broker", target, "--format", "json")
    document = json.loads(found.out)

    assert found.code == 1
    assert document["broker"] == "4.0"
    assert document["asIfBroker"] == target
    assert _lost(document) == _PREDICTED
    assert document["counts"] == {
        "namespaces": 1, "topics": 5, "versions": 7, "topicsThatLoseSomething": 4
    }  # fmt: skip
    shared = [one["rule"] for one in document["findings"] if len(one["members"]) > 1]
    assert shared == ["AUDIT-U001", "AUDIT-S002"]


def test_a_cluster_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = _filled(tmp_path / "x.db")
    monkeypatch.chdir(tmp_path)
    with serve_in_thread(registry) as url:
        for name in TOPICS:
            admin_request("PUT", f"{url}/admin/v2/persistent/{ORDERS}/{name}")
        found = run("audit", "--url", url, "--as-if-broker", "5.0", "--format", "json")

    assert found.code == 1, found.err
    document = json.loads(found.out)
    assert _lost(document) == _PREDICTED
    assert document["brokerSettings"]["sources"]["release"] == "learned"
    assert document["unlisted"].startswith("schemas of topics that do not exist")


def test_a_snapshot(repo: Path) -> None:
    asked = ("audit", "--repo", repo, "--snapshot", "--as-if-broker", "5.0", "--format", "json")
    assert run(*asked).code == 2

    folder = repo / "namespaces" / "shop" / "orders"
    for name, (kind, *definitions) in TOPICS.items():
        (folder / f"{name}.json").write_text(definitions[-1])
        (folder / f"{name}.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            f"schema: {{type: {kind}, definition: {name}.json}}\n"
        )
    assert run("snapshot", "--repo", repo).code == 0
    (repo / "x.db").unlink()

    assert _lost(json.loads(run(*asked).out)) == _PREDICTED


def test_retention_is_in_no_snapshot_and_serve_retains_nothing(repo: Path) -> None:
    loose = PolicyChange(
        key="schemaCompatibilityStrategy",
        before=None,
        after=SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE,
    )
    with closing(EmbeddedRegistry("x", repo / "x.db", BrokerSettings(), address="x")) as registry:
        registry.set_policies(ORDERS, (loose,))
        with serve_in_thread(registry) as url:
            for name in TOPICS:
                admin_request("PUT", f"{url}/admin/v2/persistent/{ORDERS}/{name}")
            config = repo / "gitops.yaml"
            config.write_text(f"{config.read_text()}  live: {{kind: pulsar, url: '{url}'}}\n")
            ask = ("audit", "--repo", repo, "--registry", "live")
            assert "AUDIT-H009" not in run(*ask).out
            assert run("snapshot", "--repo", repo, "--registry", "live").code == 0

    said = " ".join(run(*ask, "--snapshot").out.split())
    assert "whether messages are retained is not known" in said
    assert "(AUDIT-H010), which a snapshot does not record" in said


def test_what_cannot_be_judged_by_is_not_offered(repo: Path) -> None:
    found = run("audit", "--repo", repo, "--as-if-strategy", "STRICT")

    assert "FULL_TRANSITIVE" in found.err
    assert "UNDEFINED" not in found.err


def test_some_namespaces(repo: Path) -> None:
    found = run("audit", "shop/orders", "--repo", repo, "--as-if-broker", "5.0", "--format", "json")
    assert json.loads(found.out)["counts"]["topicsThatLoseSomething"] == 4

    missing = run("audit", "shop/none", "--repo", repo)
    assert missing.code == 2
    assert "there is no namespace 'shop/none'" in missing.err
    markdown = run("audit", "shop/orders", "--repo", repo, "--format", "markdown").out
    assert "pulsar-gitops audit shop/orders" in markdown


def test_the_way_back(repo: Path) -> None:
    """What 4.0 refuses of a cluster of 4.2 that holds the same: nothing, and it lets in more."""
    args = ("audit", "--repo", repo, "--broker", "4.2", "--as-if-broker", "4.0")
    found = run(*args, "--format", "json")
    document = json.loads(found.out)

    assert document["counts"]["topicsThatLoseSomething"] == 0
    assert {one["rule"] for one in document["findings"]} >= {"AUDIT-U004", "AUDIT-U005"}


def test_rules_may_be_rated_otherwise(repo: Path) -> None:
    config = repo / "gitops.yaml"
    rules = "rules: {AUDIT-U001: warning, AUDIT-U002: off, AUDIT-H002: off}\n"
    config.write_text(config.read_text() + rules)

    found = run("audit", "--repo", repo, "--as-if-broker", "5.0")

    assert found.code == 0
    assert "AUDIT-U001 warning" in found.out
    assert "AUDIT-U002" not in found.out
    strict = run("audit", "--repo", repo, "--as-if-broker", "5.0", "--fail-on", "warning")
    assert strict.code == 1


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "github", "html"])
def test_every_form_has_the_topics(repo: Path, form: str) -> None:
    found = run("audit", "--repo", repo, "--as-if-broker", "5.0", "--format", form)

    assert found.code == 1
    assert "AUDIT-U001" in found.out
    assert "shop/orders/older" in found.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--as-if-broker", "6.0"), "there is no profile of Pulsar 6.0"),
        (("--broker", "2.8"), "there is no profile of Pulsar 2.8"),
        (("--as-if-strategy", "FUL"), "'FUL' is not a strategy"),
        (("--as-if-strategy", "?"), "'?' is not a strategy"),
        (("--as-if-strategy", "UNDEFINED"), "UNDEFINED is no strategy to judge by"),
        (("--broker", "?"), "name a line with --broker: 3.0, 3.3, 4.0, 4.1, 4.2, 5.0"),
        (("--snapshot", "--url", "http://localhost:1"), "--snapshot is of a registry"),
    ],
)
def test_a_wrong_option(repo: Path, args: tuple[str, ...], message: str) -> None:
    found = run("audit", "--repo", repo, *args)

    assert found.code == 2
    assert message in found.err


def test_an_empty_registry(tmp_path: Path) -> None:
    (tmp_path / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        "registries:\n  local: {kind: embedded, path: x.db}\n"
    )
    found = run("audit", "--repo", tmp_path)

    assert found.code == 0
    assert found.out.startswith("✓ no findings\n")


def test_what_could_not_be_read_is_not_good(tmp_path: Path) -> None:
    """A KEY_VALUE whose recorded text is none: nothing is known of its topic."""
    registry = EmbeddedRegistry("local", tmp_path / "x.db", BrokerSettings(), address="x.db")
    registry.create_namespace(ORDERS)
    for name in ("good", "broken"):
        info = SchemaInfo(type=SchemaType.AVRO, schema=PLAIN)
        registry.register_schema(TopicName(ORDERS, name), info)
    registry.close()
    (tmp_path / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        "registries:\n  local: {kind: embedded, path: x.db}\n"
    )
    folder = tmp_path / "namespaces" / "shop" / "orders"
    folder.mkdir(parents=True)
    (folder / "namespace.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    )
    for name in ("good", "broken"):
        topic = f"kind: Topic\ntopic: shop/orders/{name}\nschema: {{type: AVRO, definition: "
        (folder / f"{name}.yaml").write_text(
            f"apiVersion: pulsar-gitops/v1\n{topic}{name}.avsc}}\n"
        )
        (folder / f"{name}.avsc").write_text(PLAIN)
    assert run("snapshot", "--repo", tmp_path).code == 0
    file = tmp_path / "snapshots/local/shop/orders/broken.json"
    recorded = json.loads(file.read_text())
    recorded["versions"][0] |= {"type": "KEY_VALUE", "schema": "x"}
    file.write_text(json.dumps(recorded))

    found = run("audit", "--repo", tmp_path, "--snapshot")

    assert found.code == 4, found.out
    assert "not all could be read" in found.out
    assert "not read: shop/orders/broken: " in found.out
