"""Clients that are connected now, in plans and in drift: a record of clients may be old."""

from __future__ import annotations

import json
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import pytest

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server import responses
from gitops.registries.server.app import PATHS
from gitops.registries.server.server import serve_in_thread
from tests.support.admin_rest import admin_request
from tests.support.command_line import Outcome, captured
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.responses import Response

    from gitops.registries.server.requests import Call

pytestmark = pytest.mark.slow

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_FOLDER: Final = "namespaces/shop/orders"
_JAVA: Final = "Pulsar-Java-v4.0.7"
_PYTHON: Final = "Pulsar-CPP-v3.7.2"
_DRIFT_SCHEMA: Final = Path(__file__).parents[2] / "docs/reference/json/drift.schema.json"


class Cluster:
    """Statistics of topics by local name, and the names that were asked for."""

    def __init__(self) -> None:
        self.statistics: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.status = HTTPStatus.OK

    def connect(self, topic: str, *subscriptions: str, library: str = _JAVA) -> None:
        """Consumers connect to a topic."""
        found = self.statistics.setdefault(topic, {"publishers": [], "subscriptions": {}})
        for name in subscriptions:
            consumers = [{"clientVersion": library}]
            found["subscriptions"][name] = {"type": "Shared", "consumers": consumers}

    def produce(self, topic: str, name: str) -> None:
        """A producer connects to a topic."""
        self.connect(topic)
        publisher = {"producerName": name, "clientVersion": _JAVA}
        self.statistics[topic]["publishers"].append(publisher)

    def answer(self, call: Call) -> Response:
        """GET …/stats."""
        name = call.params["topic"]
        self.asked.append(name)
        if self.status is not HTTPStatus.OK:
            return responses.reason("no", self.status)
        return responses.value(self.statistics.get(name, {}))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    path = "/{domain}/{tenant}/{namespace}/{topic}"
    info: dict[str, object] = {"cursors": {"any": {}}}
    monkeypatch.setitem(PATHS, f"{path}/internal-info", {"GET": lambda _: responses.value(info)})
    monkeypatch.setitem(PATHS, f"{path}/stats", {"GET": made.answer})
    return made


@pytest.fixture
def repo(cluster: Cluster, tmp_path: Path) -> Iterator[GitRepository]:
    """Two topics with two versions under ALWAYS_COMPATIBLE, applied."""
    del cluster  # its statistics have to be known before the server starts
    made = GitRepository(tmp_path / "repo")
    with (
        closing(EmbeddedRegistry("served", tmp_path / "served.db")) as registry,
        serve_in_thread(registry) as url,
    ):
        admin = f"{url}/admin/v2"
        tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
        admin_request("PUT", f"{admin}/tenants/shop", tenant)
        admin_request("PUT", f"{admin}/namespaces/shop/orders", {})
        config = f"registries:\n  live:\n    kind: pulsar\n    url: {url}\n"
        files = {"gitops.yaml": f"{_HEAD}Config\n{config}", **_namespace("ALWAYS_COMPATIBLE")}
        for topic in ("created", "paid"):
            admin_request("PUT", f"{admin}/persistent/shop/orders/{topic}")
            files[f"{_FOLDER}/{topic}.yaml"] = (
                f"{_HEAD}Topic\nschema: {{type: AVRO, definition: {topic}.avsc}}\n"
            )
        for kind in ("long", "string"):
            for topic in ("created", "paid"):
                # The history of 'paid' breaks no strategy.
                fields = [field("a", kind if topic == "created" else "string")]
                if topic == "paid" and kind == "string":
                    fields.append(field("b", default=""))
                files[f"{_FOLDER}/{topic}.avsc"] = json.dumps(record(*fields))
            made.commit(files)
            done = captured("apply", "--auto-approve", "--repo", made.root)
            assert done.code == 0, done
        yield made


def _namespace(strategy: str, more: str = "") -> dict[str, str]:
    text = f"{_HEAD}Namespace\nnamespace: shop/orders\nschemaCompatibilityStrategy: {strategy}\n"
    return {f"{_FOLDER}/namespace.yaml": f"{text}{more}"}


def _create_topic(repo: GitRepository, name: str) -> None:
    url = (repo.root / "gitops.yaml").read_text().rpartition("url: ")[2].strip()
    admin_request("PUT", f"{url}/admin/v2/persistent/shop/orders/{name}")


def _run(repo: GitRepository, *words: object) -> Outcome:
    return captured(*words, "--repo", repo.root)


def _text(outcome: Outcome) -> str:
    return " ".join(outcome.out.split())


def test_a_plan_names_a_client_that_connected_after_the_record(
    repo: GitRepository, cluster: Cluster
) -> None:
    cluster.connect("created", "billing")
    assert _run(repo, "snapshot", "--clients").code == 0
    cluster.connect("created", "audit")
    cluster.asked.clear()
    repo.write(_namespace("FULL"))

    checked = _run(repo, "check", "--base", "main", "--history", "registry")
    planned = _run(repo, "plan")

    recorded = "1 observed subscription ('billing') may be among them"
    live = "2 observed subscriptions ('audit' and 'billing') may be among them: which versions"
    assert recorded in _text(checked)
    assert (planned.code, live in _text(planned)) == (0, True), planned.out


def test_a_recorded_client_that_is_not_connected_now_still_counts(
    repo: GitRepository, cluster: Cluster
) -> None:
    cluster.produce("created", "nightly")
    cluster.connect("created", "billing")
    assert _run(repo, "snapshot", "--clients").code == 0
    cluster.statistics.clear()
    repo.write(_namespace("FULL"))

    assert "1 observed subscription ('billing') may be among them" in _text(_run(repo, "plan"))


def test_a_plan_asks_for_no_topic_whose_clients_it_leaves_alone(
    repo: GitRepository, cluster: Cluster
) -> None:
    cluster.asked.clear()
    unchanged = _run(repo, "plan")
    assert (unchanged.code, cluster.asked) == (0, [])

    repo.write(_namespace("FULL"))
    assert _run(repo, "plan").code == 0
    assert set(cluster.asked) == {"created", "paid"}

    cluster.asked.clear()
    repo.write(_namespace("ALWAYS_COMPATIBLE"))
    repo.write({f"{_FOLDER}/paid.avsc": json.dumps(record(field("a"), field("c", default="")))})
    assert _run(repo, "plan").code == 0
    assert set(cluster.asked) == {"paid"}


@pytest.mark.rule("CLIENT-R012")
def test_a_subscription_of_another_language_that_connected_after_the_record(
    repo: GitRepository, cluster: Cluster
) -> None:
    """A nested record with another name: Java reads it, Python with its own schema alone."""

    def ship(nested: str, *fields: str) -> str:
        point = record(field("x", "int"), name=nested)
        others = [field(name, "int", default=0) for name in fields]
        return json.dumps(record(field("at", point), *others, name="Ship"))

    _create_topic(repo, "ship")
    manifest = f"{_HEAD}Topic\nschema: {{type: AVRO, definition: ship.avsc}}\n"
    repo.write(_namespace("BACKWARD"))
    repo.commit({f"{_FOLDER}/ship.yaml": manifest, f"{_FOLDER}/ship.avsc": ship("Pos", "crew")})
    assert _run(repo, "apply", "--auto-approve").code == 0
    assert _run(repo, "snapshot", "--clients").code == 0
    repo.write({f"{_FOLDER}/ship.avsc": ship("Point", "berths", "crew")})
    reviewed = repo.root.with_name("plan.json")
    assert _run(repo, "plan", "--out", reviewed).code == 0

    cluster.connect("ship", "fleet", library=_PYTHON)
    planned = _run(repo, "plan")
    applied = captured("apply", reviewed, "--repo", repo.root)

    assert planned.code == 1
    assert f"subscription 'fleet' ({_PYTHON})" in _text(planned)
    assert "assumed here: python" in _text(planned)
    assert applied.code == 1, applied
    assert "CLIENT-R012" in applied.out


@pytest.mark.rule("PLAN-R021")
def test_a_producer_on_a_topic_without_a_schema_is_an_error_where_schemas_are_enforced(
    repo: GitRepository, cluster: Cluster
) -> None:
    """It can only be one without a schema, and the first version keeps it out."""
    _create_topic(repo, "raw")
    repo.write(_namespace("BACKWARD", "schemaValidationEnforced: true\n"))
    assert _run(repo, "apply", "--auto-approve").code == 0
    repo.write({f"{_FOLDER}/raw.yaml": f"{_HEAD}Topic\nschema: {{type: STRING}}\n"})

    idle = _run(repo, "plan")
    cluster.produce("raw", "writer")
    in_use = _run(repo, "plan")
    waivers = repo.root / "waivers"
    assert _run(repo, "plan", "--waivers", waivers).code == 1

    assert (idle.code, in_use.code) == (0, 1)
    assert "PLAN-R021 warning producers without a schema can no longer" in _text(idle)
    assert "PLAN-R021 error producers without a schema can no longer connect" in _text(in_use)
    assert "1 observed producer ('writer') is among them" in _text(in_use)
    (proposed,) = waivers.iterdir()
    text = proposed.read_text().replace('reason: ""', "reason: the writer is stopped before")
    proposed.write_text(text.replace('approvedBy: ""', "approvedBy: ops"))
    approved = _run(repo, "plan")
    assert approved.code == 0, approved.out


_RAW: Final = {f"{_FOLDER}/raw.yaml": f"{_HEAD}Topic\n"}
_BILLING: Final = {
    "clients/billing.yaml": (
        f"{_HEAD}Client\nname: billing\nowner: ops\nconsumes:\n"
        "  - {topic: shop/orders/raw, subscription: billing, schema: {type: STRING}}\n"
    )
}


@pytest.mark.rule("PLAN-R021")
def test_a_stricter_strategy_keeps_consumers_out_of_topics_without_a_schema(
    repo: GitRepository, cluster: Cluster
) -> None:
    """A topic in use that has no schema lets them in under ALWAYS_COMPATIBLE alone."""
    for name in ("raw", "unmanaged"):
        _create_topic(repo, name)
    cluster.connect("raw", "audit")
    repo.commit(_RAW)
    repo.write(_namespace("FORWARD_TRANSITIVE"))
    repo.write({f"{_FOLDER}/new.yaml": f"{_HEAD}Topic\n"})

    checked = _run(repo, "check", "--base", "main", "--history", "registry")
    planned = _run(repo, "plan")

    lockout = (
        "PLAN-R021 warning consumers with a schema can no longer connect to 2 topics of "
        "shop/orders that have no schema: schemaCompatibilityStrategy ALWAYS_COMPATIBLE → "
        "FORWARD_TRANSITIVE: a topic in use without a schema accepts them under "
        "ALWAYS_COMPATIBLE alone"
    )
    for outcome in (checked, planned):
        assert outcome.code == 0, outcome
        assert _text(outcome).count(lockout) == 1, outcome.out
        assert "orders/new can" not in outcome.out
    assert {"raw", "unmanaged"} <= set(cluster.asked)
    from_git = _text(_run(repo, "check", "--base", "main", "--history", "git"))
    assert "PLAN-R021 warning consumers with a schema can no longer connect: schemaC" in from_git
    assert "shop/orders/new: consumers" not in from_git
    document = json.loads(_run(repo, "plan", "--format", "json").out)
    messages = {
        member["subject"]: member["message"]
        for finding in document["findings"]
        for member in finding["members"] or [finding]
    }
    assert messages["shop/orders/raw"].endswith(
        "1 observed subscription ('audit') may be among them: whether they have a schema is not "
        "known"
    )
    assert "shop/orders/new" not in messages


@pytest.mark.rule("PLAN-R021")
def test_a_declared_consumer_of_a_topic_without_a_schema_needs_an_approval(
    repo: GitRepository,
) -> None:
    _create_topic(repo, "raw")
    repo.commit({**_RAW, **_BILLING})
    repo.write(_namespace("FORWARD_TRANSITIVE"))

    outcomes = (
        _run(repo, "check", "--base", "main", "--history", "registry"),
        _run(repo, "plan"),
        _run(repo, "apply", "--auto-approve"),
    )
    waivers = repo.root / "waivers"
    assert _run(repo, "plan", "--waivers", waivers).code == 1
    (proposed,) = waivers.iterdir()
    text = proposed.read_text().replace('reason: ""', "reason: billing is stopped before")
    proposed.write_text(text.replace('approvedBy: ""', "approvedBy: ops"))

    for outcome in outcomes:
        said = " ".join((outcome.out + outcome.err).split())
        assert outcome.code == 1, outcome
        assert "PLAN-R021 error consumers with a schema of their own (billing) can no" in said
        assert "CLIENT-R002" not in said
    approved = _run(repo, "apply", "--auto-approve")
    assert approved.code == 0, approved


@pytest.mark.rule("PLAN-R021")
@pytest.mark.parametrize("kind", ["STRING", "INT64"])
def test_a_first_schema_with_a_stricter_strategy_keeps_other_consumers_out(
    kind: str, repo: GitRepository
) -> None:
    _create_topic(repo, "raw")
    repo.commit({**_RAW, **_BILLING})
    repo.write({f"{_FOLDER}/raw.yaml": f"{_HEAD}Topic\nschema: {{type: {kind}}}\n"})
    first = _run(repo, "plan")
    repo.write(_namespace("FORWARD_TRANSITIVE"))
    repo.write({f"{_FOLDER}/new.yaml": f"{_HEAD}Topic\nschema: {{type: {kind}}}\n"})

    checked = _run(repo, "check", "--base", "main", "--history", "registry")
    planned = _run(repo, "plan")

    assert "PLAN-R02" not in first.out
    for outcome in (checked, planned):
        said = _text(outcome)
        assert "PLAN-R021 warning consumers with another schema than v0 can no longer" in said
        assert "only consumers whose schema fits v0 are let in" in said
        assert ("(billing) can no longer connect" in said) is (kind == "INT64")
        assert outcome.code == (kind == "INT64"), outcome.out
        assert "shop/orders/new: consumers" not in outcome.out


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (
            {"created.yaml": "policies: {schemaCompatibilityStrategy: ALWAYS_COMPATIBLE}\n"},
            {"created.yaml": "policies: {schemaCompatibilityStrategy: UNDEFINED}\n"},
            "created.yaml:3:41",
        ),
        (
            {
                "namespace.yaml": "schemaCompatibilityStrategy: UNDEFINED\n"
                "schemaAutoUpdateCompatibilityStrategy: AlwaysCompatible\n"
            },
            {
                "namespace.yaml": "schemaCompatibilityStrategy: UNDEFINED\n"
                "schemaAutoUpdateCompatibilityStrategy: AutoUpdateDisabled\n"
            },
            "namespace.yaml:5:40",
        ),
    ],
    ids=["topic", "legacy"],
)
def test_a_lockout_has_the_line_that_changes_the_policy(
    before: dict[str, str], after: dict[str, str], line: str, repo: GitRepository
) -> None:
    heads = {
        "created.yaml": f"{_HEAD}Topic\n",
        "namespace.yaml": f"{_HEAD}Namespace\nnamespace: shop/orders\n",
    }
    schema = "schema: {type: AVRO, definition: created.avsc}\n"

    def files(texts: dict[str, str]) -> dict[str, str | bytes | None]:
        return {
            f"{_FOLDER}/{name}": f"{heads[name]}{text}{schema if name == 'created.yaml' else ''}"
            for name, text in texts.items()
        }

    strict = "FULL_TRANSITIVE" if "created.yaml" in before else "ALWAYS_COMPATIBLE"
    repo.write(_namespace(strict))
    repo.commit(files(before))
    assert _run(repo, "apply", "--auto-approve").code == 0
    repo.write(files(after))

    for words in (("check", "--base", "main", "--history", "registry"), ("plan",)):
        outcome = _run(repo, *words)
        assert f"{_FOLDER}/{line} PLAN-R020 error" in _text(outcome), outcome.out


def test_statistics_that_may_not_be_read_are_reported_once_and_stop_nothing(
    repo: GitRepository, cluster: Cluster
) -> None:
    cluster.status = HTTPStatus.FORBIDDEN
    drifted = _run(repo, "drift", "--clients")
    repo.write(
        {
            **_namespace("FULL"),
            f"{_FOLDER}/paid.avsc": json.dumps(record(field("a"), field("c", default=""))),
        }
    )

    for outcome in (drifted, _run(repo, "plan")):
        assert outcome.code == 0, outcome
        said = _text(outcome)
        assert said.count("are not known: ") == 1, said
        assert "The clients of shop/orders/created and 1 more topic are not known" in said


def test_drift_reports_clients_that_nobody_declared_or_recorded(
    repo: GitRepository, cluster: Cluster
) -> None:
    cluster.connect("created", "billing", "declared")
    assert _run(repo, "snapshot", "--clients").code == 0
    declared = (
        f"{_HEAD}Client\nname: declared\nowner: ops\nconsumes:\n"
        "  - {topic: shop/orders/created, subscription: declared, schema: {version: 1}}\n"
        "  - {topic: shop/orders/paid, subscription: declared, schema: {version: 1}}\n"
    )
    repo.commit({"clients/declared.yaml": declared})
    assert _run(repo, "drift", "--clients").code == 0
    for topic in ("created", "paid"):
        cluster.connect(topic, "audit", "declared")
    cluster.produce("paid", "writer")

    plain = _run(repo, "drift")
    found = _run(repo, "drift", "--clients")
    issue = _run(repo, "drift", "--clients", "--format", "markdown")
    document = json.loads(_run(repo, "drift", "--clients", "--format", "json").out)

    assert (plain.code, found.code) == (0, 3), plain.out + found.out
    assert "✗ live: no drift; 2 topics have new clients" in found.out
    assert found.out.count("+ ") == 2
    assert (
        f"+ subscription 'audit' ({_JAVA}) new client of 2 topics shop/orders/created, "
        "shop/orders/paid" in _text(found)
    )
    assert f"+ producer 'writer' ({_JAVA}) new client of 1 topic" in _text(found)
    assert "statistics do not show which schemas they use" in _text(found)
    assert "`--adopt`" not in found.out
    assert "drift --repo" in issue.out
    assert "--clients --registry live" in issue.out
    jsonschema.validate(document, json.loads(_DRIFT_SCHEMA.read_text()))
    (report,) = document["registries"]
    assert report["newClients"] == [
        {
            "topic": "shop/orders/created",
            "subscriptions": [{"name": "audit", "clients": [_JAVA]}],
            "producers": [],
        },
        {
            "topic": "shop/orders/paid",
            "subscriptions": [{"name": "audit", "clients": [_JAVA]}],
            "producers": [{"name": "writer", "client": _JAVA}],
        },
    ]

    assert _run(repo, "snapshot", "--clients").code == 0
    assert _run(repo, "drift", "--clients").code == 0


def test_only_a_cluster_has_clients_and_nothing_adopts_them(
    repo: GitRepository, tmp_path: Path
) -> None:
    config = f"registries:\n  live: {{kind: embedded, path: '{tmp_path / 'own.db'}'}}\n"
    adopted = _run(repo, "drift", "--adopt", "--clients")
    repo.write({"gitops.yaml": f"{_HEAD}Config\n{config}"})
    embedded = _run(repo, "drift", "--clients")

    assert (adopted.code, embedded.code) == (2, 2)
    assert "snapshot --clients" in adopted.err
    assert "registry 'live' has no clients to observe" in embedded.err


def test_an_upload_of_a_first_schema_names_producers_that_have_none(
    repo: GitRepository, cluster: Cluster
) -> None:
    _create_topic(repo, "raw")
    cluster.produce("raw", "sensor")
    enforced = ("policies", "set", "shop/orders", "schemaValidationEnforced=true")
    assert _run(repo, *enforced).code == 0
    file = repo.root / _FOLDER / "created.avsc"

    done = _run(repo, "schemas", "upload", "shop/orders/raw", file, "--type", "AVRO")

    said = " ".join(done.err.split())
    assert done.code == 0
    assert "warning: producers without a schema can no longer connect" in said
    assert "1 observed producer ('sensor') is among them" in said


def test_an_upload_names_declared_clients(repo: GitRepository) -> None:
    strategy = "schemaCompatibilityStrategy=BACKWARD"
    assert _run(repo, "policies", "set", "shop/orders", strategy).code == 0
    use = "{topic: shop/orders/paid, subscription: s, schema: {version: 1}}"
    client = f"{_HEAD}Client\nname: billing\nowner: acme\nconsumes:\n  - {use}\n"
    repo.write({"clients/billing.yaml": client})
    file = repo.root / "new.avsc"
    file.write_text(json.dumps(record(field("b", default=""))))

    done = _run(repo, "schemas", "upload", "shop/orders/paid", file, "--type", "AVRO")

    assert done.code == 0, done
    assert "(billing) can no longer connect" in " ".join(done.err.split())


def test_a_restore_names_connected_clients_of_topics_that_it_does_not_restore(
    repo: GitRepository, cluster: Cluster
) -> None:
    enforced = "schemaValidationEnforced="
    assert _run(repo, "policies", "set", "shop/orders", f"{enforced}true").code == 0
    assert _run(repo, "snapshot").code == 0
    assert _run(repo, "policies", "set", "shop/orders", f"{enforced}false").code == 0
    _create_topic(repo, "raw")
    cluster.produce("raw", "sensor")
    cluster.produce("created", "sensor")
    lose = ("schemas", "delete", "--force", "--yes", "shop/orders/paid")
    assert _run(repo, *lose).code == 0
    cluster.asked.clear()

    done = _run(repo, "restore", "--dry-run")

    assert done.code == 0, done
    assert "producers without a schema can no longer connect: " in _text(done)
    assert "(shop/orders/created) (PLAN-R021)" in _text(done)
    assert "1 observed producer ('sensor') may be among them" in _text(done)
    assert {"created", "paid"} >= set(cluster.asked) >= {"created"}
