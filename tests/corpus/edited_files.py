"""Edits of files: formatting, moves, shared types, fixes, and many errors at once."""

from __future__ import annotations

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import (
    CREATED,
    HEAD,
    ORDERS,
    SHOP,
    client,
    config,
    namespace,
    record,
    topic,
)

_MONEY = record("Money", "long amount", "string currency", namespace="shop.types")
_PRICED = record("Created", "string id", "shop.types.Money price", namespace="shop")


@situation
def many_errors_at_once(shell: Shell) -> None:
    """A repository with a dozen mistakes, all reported in one run."""
    shell.start(SHOP)
    shell.branch()
    shell.write(
        {
            f"{ORDERS}/created.yaml": f"{HEAD}Topic\nschemas: {{type: AVRO}}\npartitions: many\n",
            f"{ORDERS}/cancelled.avsc": '{"type": "record", "name": "1st", "fields": [}',
            f"{ORDERS}/broken.yaml": f"{HEAD}Topic\nschema: {{type: AVRO\n",
            f"{ORDERS}/missing.yaml": topic("type: AVRO, definition: missing.avsc"),
            f"{ORDERS}/odd.yaml": topic("type: AVROO"),
            f"{ORDERS}/inline.yaml": topic(
                "type: AVRO, definition: {type: record, name: A, fields: [{name: a, type: Nope}]}"
            ),
            f"{ORDERS}/unused.avsc": record("Unused", "string id"),
            "namespaces/shop/other/namespace.yaml": namespace("FULLY", name="shop/others"),
            "clients/billing.yaml": client("billing", "colour: red\n", consumes={"created": "v0"}),
            "gitops.yaml": config(
                more="safety: {maxChangedShare: 3}\nrules: {AVRO-R002: off, NO-R001: info}\n"
            ),
        }
    )
    shell.commit()
    shell.report("validate")
    shell.run("validate clients --fail-on warning")
    shell.report("plan", "text", "json", "markdown")
    shell.run("drift")
    shell.report("check --base main")
    shell.run("check --base change", name="check-errors-of-the-base")
    shell.run("fmt --check")
    shell.run("connect client billing")


@situation
def valid_files_with_warnings(shell: Shell) -> None:
    """Files without an error that could be better."""
    shell.start(
        {
            **SHOP,
            f"{ORDERS}/unused.avsc": record("Unused", "string id"),
            CREATED: record("Created", {"name": "id", "type": "string", "default": None}),
            f"{ORDERS}/twin.yaml": topic("type: AVRO, definition: created.avsc"),
        }
    )
    shell.report("validate")
    shell.run("validate --fail-on warning")
    shell.run("plan")


@situation
def formatting(shell: Shell) -> None:
    """Manifests and definitions in another layout."""
    shell.start(
        {
            **SHOP,
            f"{ORDERS}/namespace.yaml": "kind: Namespace\napiVersion: 'pulsar-gitops/v1'\n"
            "schemaCompatibilityStrategy:   BACKWARD # the default\nnamespace: shop/orders",
            CREATED: '{"type":"record","fields":[{"type":"string","name":"id"}],"name":"Created"}',
        }
    )
    shell.report("fmt --check")
    shell.report("fmt --diff", "text")
    shell.run("fmt")
    shell.report("fmt", name="fmt-again")
    shell.run("fmt nothing")


@situation
def a_shared_type(shell: Shell) -> None:
    """A type that two topics share gets a field, with a default and without; it is moved."""
    cancelled = record("Cancelled", "string id", "shop.types.Money refund", namespace="shop")
    files = {
        **SHOP,
        "types/money.avsc": _MONEY,
        CREATED: _PRICED,
        f"{ORDERS}/cancelled.avsc": cancelled,
    }
    shell.start(files, "apply --auto-approve")
    shell.branch()
    scaled = record("Money", "long amount", "string currency", "int scale", namespace="shop.types")
    shell.write({"types/money.avsc": scaled})
    shell.commit()
    shell.report("check --base main")
    shell.run("check --base main --fix")
    shell.run("check --base main", name="check-fixed")
    shell.repo.git("checkout", "--quiet", "main", "--", "types")
    shell.repo.git("mv", "types", "common")
    shell.commit("Moved")
    shell.run("check --base main", name="check-moved")


@situation
def fixes(shell: Shell) -> None:
    """Definitions that the program can edit so that Pulsar accepts them, and one that it cannot."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    shell.write(
        {
            CREATED: record("Created", "string id", "int amount", "string note", namespace="shop"),
            f"{ORDERS}/cancelled.avsc": record("Cancelled", "int id", namespace="shop"),
        }
    )
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown", "github")
    shell.run("check --base main --fix")
    shell.run("plan --fix")


@situation
def a_renamed_topic(shell: Shell) -> None:
    """A topic's files get another name, and a namespace's folder moves."""
    shell.start(SHOP, "apply --auto-approve", "snapshot")
    shell.branch()
    for ending in ("yaml", "avsc"):
        shell.repo.git("mv", f"{ORDERS}/created.{ending}", f"{ORDERS}/placed.{ending}")
    shell.replace(f"{ORDERS}/placed.yaml", "created.avsc", "placed.avsc")
    for name in ("billing", "checkout"):
        shell.replace(f"clients/{name}.yaml", "shop/orders/created", "shop/orders/placed")
    shell.commit("Renamed")
    shell.report("check --base main")
    shell.repo.git("reset", "--quiet", "--hard", "main")
    shell.repo.git("mv", ORDERS, "namespaces/shop/sales")
    shell.commit("Moved")
    shell.run("check --base main", name="check-moved-namespace")
    shell.run("validate", name="validate-moved-namespace")
    shell.replace("namespaces/shop/sales/namespace.yaml", "shop/orders", "shop/sales")
    shell.commit("Moved, and its manifest fits")
    shell.report("check --base main", "text", "markdown", name="check-renamed-namespace")
    shell.run("plan")


@situation
def nothing_is_affected(shell: Shell) -> None:
    """A change of comments, of the layout, of documentation, and of nothing at all."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    shell.report("check --base main", name="check-nothing")
    shell.write({"README.md": "# Schemas\n"})
    shell.commit()
    shell.run("check --base main", name="check-readme")
    shell.write({CREATED: SHOP[CREATED].replace("\n", "\n\n")})
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown", name="check-layout")
    shell.write({CREATED: SHOP[CREATED].replace('"shop",', '"shop",\n  "doc": "An order.",')})
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown", name="check-doc")
    shell.run("plan")


@situation
def changed_settings(shell: Shell) -> None:
    """A change of `gitops.yaml`: a registry, another broker line, severities of rules."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    settings = 'local: {kind: embedded, path: .gitops/local.db, broker: "5.0"}'
    more = "safety: {allowDeletions: true}\nrules: {REPO-R023: off, AVRO-W006: error}\n"
    shell.write({"gitops.yaml": config(settings, more=more)})
    shell.commit()
    shell.report("check --base main", "text", "json", "markdown")
    shell.run("validate")
