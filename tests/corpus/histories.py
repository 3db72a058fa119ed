"""Version histories: lost versions, tombstones, snapshots, restores, known versions."""

from __future__ import annotations

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import CREATED, ORDERS, SHOP, optional, record

_SECOND = record("Created", "string id", "int quantity", optional("note"), namespace="shop")
_THIRD = record("Created", "string id", "int quantity", optional("gift"), namespace="shop")


def _two_versions(shell: Shell) -> None:
    shell.start(SHOP, "apply --auto-approve")
    shell.write({CREATED: _SECOND})
    shell.prepare("apply --auto-approve")
    shell.prepare("snapshot")
    shell.commit()
    shell.branch()


@situation
def versions_were_lost(shell: Shell) -> None:
    """Somebody deleted all versions with force; the loss is accepted."""
    _two_versions(shell)
    shell.run("schemas delete shop/orders/created --force --yes")
    shell.write({CREATED: _THIRD})
    shell.report("plan")
    shell.report("check --base main", "text", "json", "markdown")
    shell.report("drift")
    shell.run("apply --auto-approve")
    shell.run("snapshot", name="snapshot-refused")
    shell.run("connect client billing")
    shell.run("schemas upload shop/orders/created " + CREATED + " --type AVRO")
    shell.report("snapshot --accept-loss", "text")
    shell.run("check --base main", name="check-accepted")
    shell.run("apply --auto-approve", name="apply-accepted", with_files=False)
    shell.run("schemas versions shop/orders/created")
    shell.run("drift", name="drift-accepted")


@situation
def a_schema_was_deleted(shell: Shell) -> None:
    """Somebody deleted a schema without force: Pulsar wrote a tombstone, and numbers go on."""
    _two_versions(shell)
    shell.run("schemas delete shop/orders/created --yes")
    shell.report("schemas versions shop/orders/created")
    shell.report("plan", "text", "json")
    shell.report("drift", "text", "markdown")
    shell.run("check --base main")
    shell.run("apply --auto-approve", with_files=False)
    shell.run("schemas versions shop/orders/created", name="versions-after-apply")
    shell.run("schemas get shop/orders/created --version 0")


@situation
def the_registry_is_gone(shell: Shell) -> None:
    """The registry's file is gone; its versions are made again from the snapshot."""
    _two_versions(shell)
    (shell.root / ".gitops/local.db").unlink()
    shell.report("plan", "text", "markdown")
    shell.report("restore --dry-run")
    shell.run("restore", with_files=False)
    shell.report("restore", "text", name="restore-again")
    shell.run("plan", name="plan-restored")
    shell.run("restore shop/nothing")


@situation
def a_restore_is_impossible(shell: Shell) -> None:
    """A client took the number of a lost version."""
    _two_versions(shell)
    shell.prepare("schemas delete shop/orders/created --force --yes")
    shell.register("shop/orders/created", _THIRD)
    shell.report("restore --dry-run")
    shell.run("restore")
    shell.report("plan", "text", "json")


@situation
def known_versions(shell: Shell) -> None:
    """The same change, compared with the registry, its snapshot, and git's history."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    shell.write({CREATED: record("Created", "string id", "string quantity", namespace="shop")})
    shell.commit()
    shell.run("check --base main --history snapshot", name="check-no-snapshot")
    shell.prepare("snapshot")
    for history in ("registry", "snapshot", "git"):
        shell.report(f"check --base main --history {history}", "text", "markdown")
        shell.run(f"rollout --base main --history {history}")
    (shell.root / ".gitops/local.db").unlink()
    shell.run("check --base main", name="check-without-registry")
    snapshot = f"snapshots/local/{ORDERS.partition('/')[2]}/created.json"
    shell.write({snapshot: "<<<<<<< HEAD\n"})
    shell.run("check --base main --history snapshot", name="check-broken-snapshot")
