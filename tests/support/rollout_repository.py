"""A repository with a topic and its clients, and what `check` reports of their rollout."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gitops.model.findings import Severity
from gitops.model.rollout import Delete, Drain, OrderedStep, Register, Upgrade
from tests.support.check_repository import FOLDER, SETTINGS, manifest, report
from tests.support.git_repos import GitRepository

TOPIC = "shop/orders/created"


def avro(**fields: str) -> str:
    each = [{"name": name, "type": kind} for name, kind in fields.items()]
    return json.dumps({"type": "record", "name": "Created", "fields": each})


def with_an_optional_field() -> str:
    wider = json.loads(FILES[f"{FOLDER}/created.avsc"])
    wider["fields"].append({"name": "c", "type": ["null", "string"], "default": None})
    return json.dumps(wider)


def client(name: str, side: str, schema: str, topic: str = TOPIC) -> str:
    use = f"topic: {topic}, schema: {schema}"
    use = f"{{{use}, subscription: {name}}}" if side == "consumes" else f"{{{use}}}"
    head = f'apiVersion: pulsar-gitops/v1\nkind: Client\nname: {name}\nowner: "@acme/x"\n'
    return f"{head}{side}:\n  - {use}\n"


FILES: Mapping[str, str] = {
    "gitops.yaml": SETTINGS.format(""),
    f"{FOLDER}/namespace.yaml": (
        "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
        "schemaCompatibilityStrategy: BACKWARD\n"
    ),
    f"{FOLDER}/created.yaml": manifest("type: AVRO, definition: created.avsc"),
    f"{FOLDER}/created.avsc": avro(a="int", b="string"),
    "clients/billing.yaml": client("billing", "consumes", "{version: 0}"),
    "clients/checkout.yaml": client("checkout", "produces", "{version: 0}"),
}


def findings(repo: GitRepository) -> list[tuple[str, str]]:
    return [
        (one.rule, one.subject)
        for one in report(repo).findings
        if one.rule.startswith("CLIENT-") and one.severity is not Severity.INFO
    ]


def steps(repo: GitRepository) -> list[OrderedStep]:
    (one,) = report(repo).registries
    assert not one.rollout.blocks
    return list(one.rollout.steps)


def said(steps: list[OrderedStep]) -> list[str]:
    words = []
    for one in steps:
        match one.step:
            case Register() | Drain():
                words.append(f"{type(one.step).__name__} v{one.step.version}")
            case Upgrade():
                words.append(one.step.service)
            case Delete():
                words.append("Delete")
    return words


def of_rule(repo: GitRepository, rule: str) -> list[tuple[str, str]]:
    return [(one.message, one.hint) for one in report(repo).findings if one.rule == rule]
