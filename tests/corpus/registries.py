"""Kinds of registries, and what is done with them: apply, drift, import, reverts."""

from __future__ import annotations

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import (
    CREATED,
    HEAD,
    ORDERS,
    SHOP,
    config,
    namespace,
    optional,
    record,
    topic,
)

_WIDER = record("Created", "string id", "int quantity", optional("note"), namespace="shop")
_REFUSED = record("Created", "string id", "int quantity", "string note", namespace="shop")
_UPLOAD = "schemas upload shop/orders/created wider.avsc --type AVRO"


@situation
def new_repository(shell: Shell) -> None:
    """I begin: the template, its first plan and its first check."""
    shell.run("init schemas", with_files=False)
    shell.run("init schemas", name="init-again")
    shell.move_to(shell.root / "schemas")
    shell.report("validate")
    shell.report("plan", "text", "json", "markdown")
    shell.run("fmt --check")
    shell.run("check --base main", name="check-without-git")
    shell.run("plan --out plan.json")
    shell.run("apply plan.json", with_files=False)
    shell.run("apply plan.json", name="apply-again")
    shell.report("apply --status plan.json")
    shell.run("plan --detailed-exitcode")
    shell.run("apply --auto-approve", name="apply-nothing")
    shell.report("snapshot")
    shell.run("connect client billing")


@situation
def apply_at_once(shell: Shell) -> None:
    """I apply without a plan file, as text and as JSON, and one part of it is refused."""
    shell.start(SHOP)
    shell.report("apply --auto-approve", "json")
    shell.write({CREATED: _WIDER})
    shell.report("apply --auto-approve", "text", name="apply-a-version")
    shell.write({CREATED: _REFUSED, f"{ORDERS}/sent.yaml": topic("type: STRING")})
    shell.report("apply --auto-approve", name="apply-refused")
    shell.report("plan --keep-going", "text", "json", "markdown")
    shell.report("apply --auto-approve --keep-going", "text")


@situation
def cluster_over_rest(shell: Shell) -> None:
    """The registry is a cluster, reached by its admin REST."""
    with shell.cluster() as url:
        shell.start({**SHOP, "gitops.yaml": config(f"production: {{kind: pulsar, url: '{url}'}}")})
        shell.report("plan", "text", "json", "markdown")
        shell.run("plan --out plan.json", with_files=False)
        shell.run("apply plan.json", with_files=False)
        shell.run("snapshot")
        shell.commit()
        shell.branch()
        shell.write({CREATED: _REFUSED, "wider.avsc": _WIDER})
        shell.commit()
        shell.report("check --base main", "text", "markdown", "github")
        shell.run(_UPLOAD)
        shell.report("drift")
        shell.report("audit", "text", "markdown")
        shell.report("schemas versions shop/orders/created")
        shell.run("policies get shop/orders")
        shell.run("schemas get shop/orders/nothing")
        shell.run("import shop/orders")
    shell.run("plan", name="plan-unreachable")
    shell.run("check --base main", name="check-unreachable")


@situation
def several_registries(shell: Shell) -> None:
    """Production comes after staging, and a group names both."""
    registries = config(
        "staging: {kind: embedded, path: .gitops/staging.db}",
        "production: {kind: embedded, path: .gitops/production.db, after: staging, "
        "namespaces: {shop/orders: {schemaCompatibilityStrategy: FULL}}}",
        more="groups: {all: [staging, production]}\n",
    )
    shell.start({**SHOP, "gitops.yaml": registries})
    shell.report("plan --registry all")
    shell.run("plan --registry production --out production.json", with_files=False)
    shell.run("apply production.json")
    shell.run("apply --auto-approve --registry production", name="apply-production-first")
    shell.report("apply --auto-approve --registry all", "text")
    shell.report("plan --registry all", "text", name="plan-nothing-left")
    shell.run("snapshot --registry production")
    shell.commit()
    shell.branch()
    shell.write({CREATED: record("Created", "string id", namespace="shop")})
    shell.report("check --base main --registry all")
    shell.report("drift --registry all")
    shell.report("apply --auto-approve --registry all", "json", name="apply-refused-in-production")
    shell.run("rollout --base main")


@situation
def empty_cluster(shell: Shell) -> None:
    """Tenant, namespace and topics do not exist yet on the cluster."""
    shell.start(
        {
            "gitops.yaml": config("local: {kind: embedded, path: .gitops/l.db, asCluster: true}"),
            "namespaces/shop/tenant.yaml": f"{HEAD}Tenant\ntenant: shop\nadminRoles: [ops]\n",
            f"{ORDERS}/namespace.yaml": namespace("FULL"),
            f"{ORDERS}/created.yaml": topic(
                "type: STRING", "partitions: 3\npolicies: {schemaCompatibilityStrategy: BACKWARD}\n"
            ),
            f"{ORDERS}/cancelled.yaml": topic("type: INT64", "create: true\n"),
            f"{ORDERS}/raw.yaml": f"{HEAD}Topic\npartitions: 2\n",
        }
    )
    shell.report("plan")
    shell.report("apply --auto-approve", "json")
    shell.replace(f"{ORDERS}/created.yaml", "partitions: 3", "partitions: 5")
    shell.replace("namespaces/shop/tenant.yaml", "[ops]", "[ops, admins]")
    shell.run("plan", name="plan-what-is-never-changed")
    shell.run("plan shop/orders/raw", name="plan-one-topic")
    shell.run("plan shop/nothing")


@situation
def drift_is_found_and_adopted(shell: Shell) -> None:
    """Somebody registered a version, deleted a schema, made a topic and set a policy by hand."""
    shell.start(SHOP, "apply --auto-approve", "snapshot")
    shell.report("drift", name="drift-none")
    shell.write({"wider.avsc": _WIDER})
    shell.prepare(_UPLOAD)
    shell.prepare("schemas upload shop/orders/extra INT32")
    shell.prepare("schemas delete shop/orders/cancelled --yes")
    shell.prepare("policies set shop/orders schemaCompatibilityStrategy=FULL --yes")
    shell.report("drift")
    shell.report("plan", "text", "json", "markdown")
    shell.branch()
    shell.write({CREATED: _REFUSED})
    shell.report("check --base main --drift", "text", "json", "markdown")
    shell.write({CREATED: SHOP[CREATED]})
    shell.run("drift --adopt shop/orders/created")
    shell.run("drift --adopt")
    shell.run("drift", name="drift-after-adoption")
    shell.run("plan", name="plan-after-adoption")


@situation
def import_of_a_registry(shell: Shell) -> None:
    """A cluster has topics and git has nothing yet; later it has a newer version."""
    shell.start({"gitops.yaml": config()})
    shell.run("import", name="import-an-empty-registry")
    shell.register("shop/orders/created", SHOP[CREATED])
    shell.register("shop/orders/number", "", "INT32")
    shell.prepare("policies set shop/orders schemaCompatibilityStrategy=BACKWARD")
    shell.report("import", "text")
    shell.run("plan --detailed-exitcode")
    shell.register("shop/orders/created", _WIDER)
    shell.report("drift --adopt shop/orders/created", "json")
    shell.run("import shop/nothing")
    shell.run("import", name="import-again")


@situation
def a_change_is_reverted(shell: Shell) -> None:
    """An applied change was wrong: I revert its commit, and make the former schema the latest."""
    shell.start(SHOP, "apply --auto-approve")
    shell.write({CREATED: _WIDER})
    shell.commit("A note")
    shell.prepare("apply --auto-approve")
    shell.write({CREATED: SHOP[CREATED]})
    shell.commit("Revert the note")
    shell.report("plan", "text")
    shell.report("drift", "text")
    shell.write({CREATED: SHOP[CREATED].replace("{", '{"revision": "2", ', 1)})
    shell.commit("The former schema again")
    shell.run("plan")
    shell.run("apply --auto-approve", with_files=False)
    shell.run("schemas versions shop/orders/created")


@situation
def topics_are_removed(shell: Shell) -> None:
    """A manifest is gone: first it is no longer managed, then its schema is deleted."""
    shell.start(SHOP, "apply --auto-approve", "snapshot")
    shell.branch()
    shell.write({f"{ORDERS}/cancelled.yaml": None, f"{ORDERS}/cancelled.avsc": None})
    shell.replace(
        "clients/checkout.yaml", "  - {topic: shop/orders/cancelled, schema: {version: 0}}\n", ""
    )
    shell.commit()
    shell.report("check --base main")
    shell.run("plan")
    shell.report("plan --prune", "text", "json", "markdown")
    shell.write({"gitops.yaml": config(more="safety: {allowDeletions: true}\n")})
    shell.run("check --base main", name="check-allowed")
    shell.run("plan --prune --out prune.json", name="plan-prune-allowed", with_files=False)
    shell.run("apply prune.json", with_files=False)
    shell.run("schemas versions shop/orders/cancelled")
    shell.run("drift")


@situation
def a_stale_plan(shell: Shell) -> None:
    """Between plan and apply the registry changed, then the files."""
    shell.start(SHOP, "apply --auto-approve")
    shell.write({CREATED: _WIDER, "other.avsc": record("Created", "string id", namespace="shop")})
    shell.prepare("plan --out plan.json")
    shell.prepare("schemas upload shop/orders/created other.avsc --type AVRO")
    shell.report("apply plan.json")
    shell.write({"plan.json": '{"kind": "Plan"}\n'})
    shell.run("apply plan.json", name="apply-no-plan")
    shell.run("apply nothing.json")
    shell.run("apply")
    shell.run("apply --status", name="apply-status")
    shell.run("apply --resume", name="apply-resume")
