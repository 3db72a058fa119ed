"""What the commands print is what the published JSON Schemas say."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from gitops.cli.app import run
from gitops.model.apply_result import Result
from gitops.model.errors import OutsideError, UnknownOutcomeError
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    ChangeKind,
    CreateNamespace,
    DeleteSchema,
    Notice,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import (
    PolicyChange,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.waivers import WaiverProposal
from gitops.planning.plan_document import to_document
from gitops.reports.json.documents import applied_document
from gitops.reports.json.replay import replay_document
from tests.docs.pages import ROOT
from tests.support.git_repos import GitRepository
from tests.support.plans import CREATIONS, DRIFT
from tests.support.replays import REPORT as REPLAY

FOLDER: Final = ROOT / "docs" / "reference" / "json"
FILES: Final = sorted(FOLDER.glob("*.schema.json"))
TOPIC: Final = TopicName(namespace=NamespaceName("shop", "orders"), local_name="created")
Command = Callable[..., str]


def schema_of(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    return content


def validate(name: str, document: object) -> None:
    problems = [
        f"{error.json_path}: {error.message}"
        for error in Draft202012Validator(schema_of(name)).iter_errors(document)
    ]
    assert not problems


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line that ends with `code`; answers its stdout."""

    def call(*args: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run(list(args)) == code, capsys.readouterr().err
        return capsys.readouterr().out

    return call


@pytest.fixture
def repo(tmp_path: Path, command: Command) -> str:
    command("init", str(tmp_path / "repo"))
    return str(tmp_path / "repo")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_schema_is_a_good_one(file: Path) -> None:
    content = json.loads(file.read_text("utf-8"))
    Draft202012Validator.check_schema(content)
    assert content["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert file.name in (ROOT / "docs" / "reference" / "json-output.md").read_text("utf-8")


def test_one_definition_reads_the_same_everywhere() -> None:
    seen: dict[str, Any] = {}
    for file in FILES:
        for name, definition in json.loads(file.read_text("utf-8")).get("$defs", {}).items():
            assert seen.setdefault(name, definition) == definition, f"{name} in {file.name}"


@pytest.mark.parametrize("name", [f.name.removesuffix(".schema.json") for f in FILES])
def test_unknown_members_are_refused(name: str) -> None:
    def open_objects(node: object) -> list[object]:
        if isinstance(node, list):
            return [found for each in node for found in open_objects(each)]
        if not isinstance(node, dict):
            return []
        mine = [node] if "properties" in node and node.get("additionalProperties") else []
        return mine + [found for each in node.values() for found in open_objects(each)]

    # What people write to us may hold more than we read.
    assert bool(open_objects(schema_of(name))) is (name == "compat-case")


def test_plans_of_commands(repo: str, tmp_path: Path, command: Command) -> None:
    plan_file = tmp_path / "plan.json"
    printed = command("plan", "--repo", repo, "--out", str(plan_file), "--format", "json")
    assert plan_file.read_text("utf-8") == printed
    validate("plan", json.loads(printed))


def test_plans_for_several_registries(repo: str, command: Command) -> None:
    settings = Path(repo, "gitops.yaml")
    dead = "registries:\n  dead: {kind: pulsar, url: 'http://127.0.0.1:1'}\n"
    settings.write_text(settings.read_text("utf-8").replace("registries:\n", dead), "utf-8")
    names = ("--registry", "local", "--registry", "dead")
    document = json.loads(command("plan", "--repo", repo, *names, "--format", "json", code=4))
    assert (len(document["plans"]), len(document["failures"])) == (1, 1)
    validate("plans", document)


@pytest.mark.parametrize(("one", "several"), [("plan", "plans"), ("applied", "applied-plans")])
def test_a_document_reads_the_same_among_several(one: str, several: str) -> None:
    alone, among = schema_of(one), schema_of(several)["$defs"][one]
    among.pop("description", None)
    assert among == {key: alone[key] for key in among}
    assert set(alone) - set(among) == {"$schema", "$id", "title", "$defs"}


def test_checks_of_commands(repo: str, command: Command) -> None:
    git = GitRepository(Path(repo))
    git.commit()
    namespace = Path(repo, "namespaces/shop/payments/namespace.yaml")
    namespace.write_text(namespace.read_text("utf-8").replace("FULL", "BACKWARD"), "utf-8")
    captured = Path(repo, "namespaces/shop/payments/captured.avsc")
    text = captured.read_text("utf-8")
    captured.write_text(text.replace('{"name": "orderId", "type": "string"},', ""), "utf-8")
    Path(repo, "namespaces/shop/orders/order-status.yaml").unlink()
    args = ("check", "--repo", repo, "--base", "main", "--format", "json")
    document = json.loads(command(*args, code=1))
    assert document["registries"][0]["refusedBefore"]
    validate("check", document)
    command("apply", "--repo", repo, "--auto-approve")
    document = json.loads(command(*args, "--drift", code=1))
    assert document["registries"][0]["drift"]
    validate("check", document)
    nobody = (*args, "--history", "snapshot")
    document = json.loads(command(*nobody, code=4))
    assert document["failures"]
    validate("check", document)


def test_replays_of_commands(repo: str, command: Command) -> None:
    args = ("--engine", "local", "--format", "json")
    document = json.loads(command("replay", "--repo", repo, *args))
    assert [topic["rows"] for topic in document["topics"]] == [200] * 4
    validate("replay", document)
    validate("replay", replay_document(REPLAY))
    GitRepository(Path(repo)).commit()
    cancelled = Path(repo, "namespaces/shop/orders/order-cancelled.avsc")
    cancelled.write_text(cancelled.read_text("utf-8").replace('"OUT_OF_STOCK", ', ""), "utf-8")
    change = ("--base", "main", "--replay", *args)
    document = json.loads(command("check", "--repo", repo, *change, code=1))
    assert document["registries"][0]["replay"]["topics"][0]["readers"][0]["failed"]
    validate("check", document)


def test_a_replay_reads_the_same_in_a_check() -> None:
    alone, among = schema_of("replay"), schema_of("check")["$defs"]["replay"]
    assert among == {key: alone[key] for key in among}


def test_rollouts_of_commands(repo: str, command: Command) -> None:
    git = GitRepository(Path(repo))
    git.commit()
    created = Path(repo, "namespaces/shop/orders/order-created.avsc")
    created.write_text(created.read_text("utf-8").replace('"int"', '"long"'), "utf-8")
    document = json.loads(command("rollout", "--repo", repo, "--base", "main", "--format", "json"))
    steps = document["rollouts"][0]["steps"]
    assert [step["client"] for step in steps] == ["billing", None, "checkout"]
    validate("rollouts", document)


def test_a_plan_reads_the_same_in_a_check() -> None:
    alone, inside = schema_of("plan"), schema_of("check")["$defs"]["plan"]
    assert inside == {key: alone[key] for key in inside}


def test_what_commands_did(repo: str, command: Command) -> None:
    applied = json.loads(command("apply", "--repo", repo, "--auto-approve", "--format", "json"))
    assert len(applied["results"]) == 13
    validate("applied", applied)
    told = json.loads(command("apply", "--repo", repo, "--status", "--format", "json"))
    assert len(told["applies"][0]["attempts"]) == 13
    validate("journal", told)
    validate("recorded", json.loads(command("snapshot", "--repo", repo, "--format", "json")))
    validate("imported", json.loads(command("import", "--repo", repo, "--format", "json")))


def test_what_was_laid_out(repo: str, command: Command) -> None:
    Path(repo, "types", "money.avsc").write_text('{"name": "M", "type": "fixed", "size": 1}')
    Path(repo, "clients", "broken.yaml").write_text("kind: [")
    for options in (("--check", "--diff"), ()):
        printed = command("fmt", "--repo", repo, *options, "--format", "json", code=1)
        document = json.loads(printed)
        assert (len(document["files"]), len(document["findings"])) == (1, 1)
        validate("formatted", document)


@pytest.mark.parametrize(
    ("failed", "outcome"),
    [
        (OutsideError("it broke", where="there", hint="mend it"), "failed"),
        (UnknownOutcomeError("it broke", where="there"), "unknown"),
    ],
)
def test_an_apply_with_every_outcome(failed: OutsideError, outcome: str) -> None:
    plan = whole_plan()
    results = [
        *(Result(action=action, version=4) for action in plan.actions[:6]),
        Result(action=plan.actions[6], error=failed),
    ]
    document = applied_document(plan, results, digest=plan.files, done_before=2)
    outcomes = [one["outcome"] for one in document["results"]]
    assert outcomes == ["done"] * 6 + [outcome] + ["notAttempted"] * (len(plan.actions) - 7)
    validate("applied", document)


def test_a_plan_with_every_kind_of_action_and_notice() -> None:
    plan = whole_plan()
    kinds = {type(one) for one in (*plan.actions, *plan.notices)}
    assert kinds == {*Action.__args__, *Notice.__args__}
    validate("plan", json.loads(json.dumps(to_document(plan))))


def test_findings_of_validate_and_of_a_plan_that_cannot_be(repo: str, command: Command) -> None:
    Path(repo, "namespaces/shop/orders/namespace.yaml").write_text("kind: [", "utf-8")
    Path(repo, "clients/billing.yaml").write_bytes(b"\xff")
    for name in ("validate", "plan"):
        document = json.loads(command(name, "--repo", repo, "--format", "json", code=1))
        assert len(document["findings"]) >= 2
        validate("findings", document)


def test_decisions(tmp_path: Path, command: Command) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    old.write_text('{"type": "record", "name": "R", "fields": []}')
    new.write_text('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
    for files, code in (((old, new), 1), (("--first", new), 0), ((new, old, new), 0)):
        document = json.loads(command("compat", *map(str, files), "--format", "json", code=code))
        assert document["accepted"] is (code == 0)
        validate("decision", document)


def test_audits(repo: str, command: Command) -> None:
    command("apply", "--repo", repo, "--auto-approve")
    definition = Path(repo, "dashed.avsc")
    definition.write_text('{"type": "record", "name": "A", "namespace": "a-b", "fields": []}')
    command("schemas", "upload", "shop/orders/x", str(definition), "--type", "AVRO", "--repo", repo)
    args = ("audit", "--repo", repo, "--as-if-broker", "5.0", "--format", "json")
    document = json.loads(command(*args, code=1))

    assert document["differences"]
    validate("audit", document)
    named = json.loads(command(*args, "--broker", "4.0.4", code=1))
    assert named["brokerSettings"]["sources"]["release"] == "--broker"
    validate("audit", named)


def test_connections(repo: str, command: Command) -> None:
    command("apply", "--repo", repo, "--auto-approve")
    topic = "shop/orders/order-created"
    for args, code in (
        (("producer", topic, "v0", "--new-schema", "INT64"), 1),
        (("producer", topic, "NONE"), 1),
        (("producer", topic, "AUTO_PRODUCE"), 0),
        (("consumer", topic, f"{repo}/types/money.avsc"), 1),
        (("consumer", "shop/orders/new", "STRING", "--state", "active"), 1),
        (("consumer", "shop/orders/new", "AUTO_CONSUME"), 0),
    ):
        text = command("connect", *args, "--repo", repo, "--format", "json", code=code)
        document = json.loads(text)
        assert document["accepted"] is (code == 0)
        validate("connection", document)


def test_the_connections_of_a_client(repo: str, command: Command) -> None:
    for code, answer in ((1, "no"), (0, "yes")):
        text = command(
            "connect", "client", "billing", "--repo", repo, "--format", "json", code=code
        )
        document = json.loads(text)
        assert document["accepted"] is (code == 0)
        assert {one["now"]["answer"] for one in document["connections"]} == {answer}
        assert {one["afterPlan"]["answer"] for one in document["connections"]} == {"yes"}
        validate("client-connections", document)
        command("apply", "--repo", repo, "--auto-approve")


def test_versions_and_policies(repo: str, command: Command) -> None:
    command("apply", "--repo", repo, "--auto-approve")
    for topic in ("order-created", "order-by-customer", "order-status"):
        args = (f"shop/orders/{topic}", "--repo", repo, "--format", "json")
        versions = json.loads(command("schemas", "versions", *args))
        assert len(versions) == 1
        validate("versions", versions)
        validate("version", json.loads(command("schemas", "get", *args)))
    for subject in ("shop/orders", "shop/orders/order-by-customer", "shop/orders/order-status"):
        args = (subject, "--repo", repo, "--format", "json")
        validate("policies", json.loads(command("policies", "get", *args)))


def test_cases_and_verdicts(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    info = {"type": "AVRO", "schema": '"string"', "properties": {}}
    cases: list[dict[str, object]] = [
        {"id": mode, "mode": mode, "strategy": "FULL", "existing": [info], "candidate": info}
        for mode in ("producer", "consumer", "subscribe", "compat", "version", "lookup")
    ]
    cases += [
        {"candidate": {"type": "INT64"}},
        {"id": ["x"], "existing": [{"deleted": True}], "candidate": info, "tag": "mine"},
        {"id": None, "mode": "version", "candidate": info},
        {"id": 3, "strategy": "FULL", "existing": [info], "candidate": {"type": "INT64"}},
    ]
    for case in cases:
        validate("compat-case", case)
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{lines}not a case\n"))
    verdicts = [json.loads(line) for line in command("compat", "--jsonl", code=2).splitlines()]
    assert [verdict["id"] for verdict in verdicts] == [*(case.get("id") for case in cases), None]
    for verdict in verdicts:
        validate("compat-verdict", verdict)


def whole_plan() -> Plan:
    strategy = SchemaCompatibilityStrategy.FULL
    info = SchemaInfo(type=SchemaType.AVRO, schema='"string"', properties={"owner": "me"})
    change = SchemaChange(kind=ChangeKind.ADDED, path="a.b", after="int", note="new")
    where = Location(file="x.avsc", line=3, column=1, pointer="/fields/0")
    findings = tuple(
        Finding(rule="PLAN-R001", severity=severity, message="no", location=place)
        for severity in (Severity.INFO, Severity.WARNING, Severity.ERROR)
        for place in (where, None)
    )
    legacy = SchemaAutoUpdateCompatibilityStrategy.FORWARD
    policies = (
        PolicyChange(key="schemaCompatibilityStrategy", before=None, after=strategy),
        PolicyChange(key="isAllowAutoUpdateSchema", before=True, after=False),
        PolicyChange(key="schemaAutoUpdateCompatibilityStrategy", before=legacy, after=None),
    )
    return Plan(
        registry="local",
        address="there",
        files=f"sha256:{'0' * 64}",
        actions=(
            CreateNamespace(namespace=TOPIC.namespace),
            *CREATIONS,
            *(SetPolicy(subject=TOPIC.namespace, change=one) for one in policies),
            SetPolicy(subject=TOPIC, change=policies[0], waiver="agreed"),
            *(
                RegisterSchema(
                    topic=TOPIC,
                    info=info,
                    version=4,
                    latest_version=latest,
                    strategy=strategy,
                    changes=(change,),
                    waiver="agreed" if latest else "",
                    accepted=latest is None,
                )
                for latest in (None, 3)
            ),
            DeleteSchema(topic=TOPIC, versions=(0, 2)),
        ),
        notices=(
            *(
                RefusedSchema(
                    topic=TOPIC,
                    info=info,
                    latest_version=None,
                    strategy=strategy,
                    findings=findings,
                    changes=(change,),
                    fingerprint="a" * 32,
                    waiver=waiver,
                )
                for waiver in (None, WaiverProposal(file="waivers/a.yaml", text="kind: Waiver"))
            ),
            SchemaWithoutEffect(topic=TOPIC, equal_version=0, latest_version=3),
            DRIFT,
            replace(DRIFT, limit="the clone is shallow"),
            SchemaSwallowed(topic=TOPIC, version=3, changes=(change,)),
        ),
        findings=findings,
        observed={f"topic {TOPIC}": "a" * 64},
        expected={f"topic {TOPIC}": ("b" * 64,)},
        unmanaged=(TOPIC,),
        unmanaged_namespaces=(TOPIC.namespace,),
        without_schema=1,
        unlisted=(TOPIC.namespace,),
        limits=("The clone is shallow.",),
    )
