"""What people meet when something is missing or wrong."""

from __future__ import annotations

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import CREATED, SHOP, config
from tests.support.git_repos import GitRepository


@situation
def no_repository(shell: Shell) -> None:
    """The folder has no `gitops.yaml`."""
    for command in ("validate", "plan", "check --base main", "drift", "fmt", "snapshot", "rollout"):
        shell.run(command)
    shell.run("validate --repo nowhere")
    shell.run("policies get shop/orders")
    shell.run("audit")
    shell.run("replay --engine local")


@situation
def broken_settings(shell: Shell) -> None:
    """`gitops.yaml` is broken, empty, or names what does not exist."""
    shell.start(SHOP)
    texts = {
        "no-yaml": "registries: [",
        "empty": "",
        "wrong-kind": config().replace("kind: embedded", "kind: kafka"),
        "wrong-default": config().replace("defaultRegistry: local", "defaultRegistry: remote"),
        "no-registries": "apiVersion: pulsar-gitops/v1\nkind: Config\n",
        "secret": config(
            'local: {kind: pulsar, url: "http://a:b@c", authentication: {token: abc}}'
        ),
        "old-version": config().replace("/v1", "/v0"),
    }
    for name, text in texts.items():
        shell.write({"gitops.yaml": text})
        shell.report("validate", "text", name=f"validate-{name}")
        shell.run("plan", name=f"plan-{name}")


@situation
def wrong_words(shell: Shell) -> None:
    """Unknown commands, options, registries, topics, formats and terms."""
    shell.start(SHOP, "apply --auto-approve")
    for command in (
        "chek",
        "check",
        "check --bse main",
        "check --base main --format yaml",
        "check --base main --history tape",
        "plan --registry nowhere",
        "plan shop/orders/nothing",
        "plan shop",
        "plan --as-if-broker 9.9",
        "apply --auto-approve plan.json",
        "schemas",
        "schemas get created",
        "schemas get shop/orders/created --version 9",
        "schemas versions shop/orders/nothing",
        "schemas upload shop/orders/created nothing.avsc",
        "schemas delete shop/orders/nothing --yes",
        "schemas delete shop/orders/created",
        "policies",
        "explain NOTHING",
        "explain AVRO-R999",
        "capture shop/orders/created --out captures",
        "publish captures --to shop/orders/created",
        "check --base main --report nothing",
        "plan --out gitops.yaml",
        "",
    ):
        shell.run(command, name=command.replace(" ", "_").replace("/", ".") or "no-command")


@situation
def unusable_clones(shell: Shell) -> None:
    """The base does not exist, the clone is shallow, nothing is committed, there is no git."""
    shell.start(SHOP, "apply --auto-approve")
    shell.branch()
    shell.write({CREATED: SHOP[CREATED].replace("int", "long")})
    shell.commit()
    shell.run("check --base nothing")
    shell.run("check --base origin/main", name="check-no-remote")
    shell.run("rollout --base nothing")
    shell.run("check --base main --head nothing")
    shell.repo.git("clone", "--quiet", "--depth=1", f"file://{shell.root}", "../shallow")
    shell.move_to(shell.root.with_name("shallow"))
    shell.run("check --base main", name="check-shallow")
    shell.run("check --base HEAD~1", name="check-shallow-parent")
    shell.move_to(shell.root.with_name("unborn"))
    GitRepository(shell.root).write(SHOP)
    shell.run("check --base main", name="check-unborn")
    shell.move_to(shell.root.with_name("plain"))
    for name, text in SHOP.items():
        (shell.root / name).parent.mkdir(parents=True, exist_ok=True)
        (shell.root / name).write_text(text)
    shell.run("check --base main", name="check-no-git")
    shell.run("plan", name="plan-no-git")


@situation
def unreachable_clusters(shell: Shell) -> None:
    """Nobody listens, a variable is not set, the registry's file is no database."""
    clusters = (
        "closed: {kind: pulsar, url: 'http://127.0.0.1:9'}",
        'unset: {kind: pulsar, url: "${CLUSTER_URL}"}',
        'token: {kind: pulsar, url: "http://127.0.0.1:9", authentication: {token: "${TOKEN}"}}',
        "broken: {kind: embedded, path: README.md}",
    )
    shell.start({**SHOP, "gitops.yaml": config(*clusters), "README.md": "No database.\n" * 100})
    for name in ("closed", "unset", "token", "broken"):
        shell.run(f"plan --registry {name}")
    for name in ("unset", "broken"):
        shell.run(f"drift --registry {name}")
        shell.run(f"apply --auto-approve --registry {name}")
        shell.run(f"audit --registry {name}")
    shell.branch()
    shell.write({CREATED: SHOP[CREATED].replace("int", "long")})
    shell.commit()
    for history in ("auto", "registry"):
        shell.run(f"check --base main --history {history}")
