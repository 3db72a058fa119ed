"""Policies, waivers and limits."""

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

_NAMESPACE = f"{ORDERS}/namespace.yaml"
_NARROWER = record("Created", "string id", namespace="shop")
_REFUSED = record("Created", "string id", "int quantity", "string note", namespace="shop")


def _sign(shell: Shell) -> None:
    """Fill in the waivers that the program wrote."""
    for waiver in sorted((shell.root / "waivers").iterdir()):
        text = waiver.read_text("utf-8")
        text = text.replace('reason: ""', 'reason: "all consumers are upgraded"')
        waiver.write_text(text.replace('approvedBy: ""', 'approvedBy: "@shop/platform"'), "utf-8")


@situation
def a_stricter_strategy(shell: Shell) -> None:
    """A stricter strategy locks out consumers of the latest version; then it is waived."""
    shell.start(SHOP, "apply --auto-approve")
    shell.register("shop/orders/created", _NARROWER)
    shell.write({CREATED: _NARROWER})
    shell.commit()
    shell.branch()
    shell.write({_NAMESPACE: namespace("FORWARD_TRANSITIVE")})
    shell.commit("Only FORWARD fits")
    shell.report("check --base main", "text", name="check-accepted")
    shell.write({_NAMESPACE: namespace("FULL_TRANSITIVE")})
    shell.commit()
    shell.report("check --base main")
    shell.report("plan", "text", "json", "markdown")
    shell.run("apply --auto-approve", with_files=False)
    shell.run("rollout --base main")
    shell.run("check --base main --waivers waivers")
    _sign(shell)
    shell.report("check --base main", "text", "markdown", name="check-waived")
    shell.run("apply --auto-approve", name="apply-waived", with_files=False)


@situation
def a_looser_strategy(shell: Shell) -> None:
    """A namespace becomes ALWAYS_COMPATIBLE and lets producers register by themselves."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    more = "isAllowAutoUpdateSchema: true\nschemaValidationEnforced: true\n"
    shell.write({_NAMESPACE: namespace("ALWAYS_COMPATIBLE", more), CREATED: _REFUSED})
    shell.commit()
    shell.report("check --base main")
    shell.run("plan")
    shell.run("apply --auto-approve", with_files=False)
    shell.report("policies get shop/orders")


@situation
def a_topic_with_its_own_policies(shell: Shell) -> None:
    """A topic has its own strategy; a namespace has none, the older setting, or a frozen one."""
    older = "schemaAutoUpdateCompatibilityStrategy: Forward\n"
    policies = "policies: {schemaCompatibilityStrategy: FULL, schemaValidationEnforced: true}\n"
    shell.start(
        {
            **SHOP,
            f"{ORDERS}/created.yaml": topic("type: AVRO, definition: created.avsc", policies),
            "namespaces/shop/older/namespace.yaml": namespace("UNDEFINED", older, "shop/older"),
            "namespaces/shop/older/text.yaml": topic("type: STRING"),
            "namespaces/shop/plain/text.yaml": topic("type: STRING"),
            "namespaces/shop/frozen/namespace.yaml": namespace(
                "ALWAYS_INCOMPATIBLE", name="shop/frozen"
            ),
            "namespaces/shop/frozen/text.yaml": topic("type: STRING"),
        }
    )
    shell.report("plan", "text", "json", "markdown")
    shell.run("apply --auto-approve", with_files=False)
    for subject in ("shop/orders/created", "shop/older", "shop/plain", "shop/frozen"):
        shell.run(f"policies get {subject}")
    shell.run("connect consumer shop/frozen/text STRING")
    shell.run("validate")


@situation
def policies_by_hand(shell: Shell) -> None:
    """I read and set policies without files."""
    shell.start(SHOP, "apply --auto-approve")
    shell.report("policies get shop/orders")
    shell.report("policies get shop/orders/created")
    shell.run("policies set shop/orders schemaCompatibilityStrategy=FULL")
    shell.run("policies set shop/orders/created schemaCompatibilityStrategy=FORWARD")
    shell.run("policies set shop/orders schemaCompatibilityStrategy=", name="set-nothing")
    shell.run("policies set shop/orders schemaCompatibilityStrategy=ALWAYS_INCOMPATIBLE")
    shell.run("policies set shop/orders schemaCompatibilityStrategy=STRICT", name="set-wrong-value")
    shell.run("policies set shop/orders colour=red", name="set-wrong-key")
    shell.run("policies set shop/orders schemaValidationEnforced", name="set-no-value")
    shell.run("policies get shop/nothing")
    shell.run("policies get shop", name="get-no-namespace")
    shell.run("drift")


@situation
def a_waived_refusal(shell: Shell) -> None:
    """A refused change with a waiver: proposed, empty, valid, and of another change."""
    shell.start(SHOP, "apply --auto-approve", "snapshot")
    shell.branch()
    shell.write({CREATED: _REFUSED})
    shell.commit()
    shell.run("plan --waivers waivers")
    shell.run("validate", name="validate-empty-waiver")
    _sign(shell)
    shell.commit()
    shell.report("check --base main")
    shell.run("plan --out plan.json", with_files=False)
    shell.report("apply plan.json", "json")
    shell.run("plan", name="plan-waiver-is-used")
    shell.run("connect client billing")
    shell.write({CREATED: SHOP[CREATED]})
    shell.run("plan", name="plan-waiver-of-another-change")
    shell.run("check --base main", name="check-waiver-of-another-change")


@situation
def an_expired_waiver(shell: Shell) -> None:
    """A waiver is expired, another one ends soon."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    shell.write({CREATED: _REFUSED})
    shell.prepare("plan --waivers waivers", code=1)
    _sign(shell)
    (waiver,) = (path.name for path in (shell.root / "waivers").iterdir())
    shell.replace(f"waivers/{waiver}", "expires: 2026-04-01", "expires: 2026-03-05")
    shell.commit()
    shell.report("check --base main", "text", "markdown", name="check-ends-soon")
    shell.replace(f"waivers/{waiver}", "expires: 2026-03-05", "expires: 2026-03-01")
    shell.report("check --base main", name="check-expired")
    shell.run("plan", name="plan-expired")


@situation
def too_many_topics_change(shell: Shell) -> None:
    """A change is above the limit of changed topics; then it is waived."""
    files = {"gitops.yaml": config(), f"{ORDERS}/namespace.yaml": namespace("BACKWARD")}
    for number in range(12):
        name = f"topic{number:02}"
        files[f"{ORDERS}/{name}.yaml"] = topic(f"type: AVRO, definition: {name}.avsc")
        files[f"{ORDERS}/{name}.avsc"] = record(name.title(), "string id")
    shell.start(files, "apply --auto-approve --fail-on error")
    shell.branch()
    for number in range(12):
        name = f"topic{number:02}"
        shell.write({f"{ORDERS}/{name}.avsc": record(name.title(), "string id", optional("note"))})
    shell.commit()
    shell.report("check --base main")
    shell.report("plan", "text", "markdown")
    shell.run("apply --auto-approve", with_files=False)
    shell.run("check --base main --waivers waivers")
    _sign(shell)
    shell.report("check --base main", "text", "markdown", name="check-waived")
    shell.run("apply --auto-approve", name="apply-waived", with_files=False)


@situation
def a_wrong_waiver(shell: Shell) -> None:
    """Waivers with wrong values, and for what does not exist."""
    waiver = (
        f'{HEAD}Waiver\ntopic: shop/orders/{{}}\nfingerprint: "{{}}"\nreason: why\n'
        'approvedBy: "@shop/platform"\nexpires: {}\n'
    )
    shell.start(
        {
            **SHOP,
            "waivers/short.yaml": waiver.format("created", "abc", "2026-12-01"),
            "waivers/day.yaml": waiver.format("created", "0" * 32, "tomorrow"),
            "waivers/nothing.yaml": waiver.format("nothing", "0" * 32, "2026-12-01"),
            "waivers/limit.yaml": f"{HEAD}LimitWaiver\nlimit: maxTopics\n",
        }
    )
    shell.report("validate")
    shell.run("plan")
