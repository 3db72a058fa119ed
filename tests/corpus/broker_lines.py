"""The broker lines, on definitions that they decide differently."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.corpus.catalogue import SITUATIONS, situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import ORDERS, SHOP, compact, config, record, topic

_LINES: Final = ("3.0", "4.0", "4.1", "4.2", "5.0", "5.0.0-M1")
_DASHED: Final = record("Created", "string id", "int quantity", namespace="com.my-co")
_JACKSON: Final = '{"type": "object", "properties": {"id": {"type": "string"}}}'
_FILES: Final = {
    **SHOP,
    f"{ORDERS}/dashed.yaml": topic("type: AVRO, definition: dashed.json"),
    f"{ORDERS}/dashed.json": compact(_DASHED),
    f"{ORDERS}/jackson.yaml": topic("type: JSON, definition: jackson.json"),
    f"{ORDERS}/jackson.json": _JACKSON,
}


def _line(line: str, shell: Shell) -> None:
    """The cluster is of this line, or will be."""
    shell.start(_FILES)
    shell.run(f"validate --as-if-broker {line}", name="validate-as-if")
    settings = f'local: {{kind: embedded, path: .gitops/local.db, broker: "{line}"}}'
    shell.write({"gitops.yaml": config(settings)})
    shell.run("plan")
    shell.run("apply --auto-approve --keep-going", with_files=False)
    shell.commit()
    shell.branch()
    shell.write(
        {
            f"{ORDERS}/dashed.json": compact(record("Created", "string id", namespace="com.my-co")),
            f"{ORDERS}/jackson.json": compact(record("Jackson", "string id")),
        }
    )
    shell.report("check --base main", "text", "markdown")
    shell.report(f"audit --broker 4.0 --as-if-broker {line}", "text", "json", name="audit-as-if")
    shell.run("audit --as-if-broker 5.0", name="audit-as-if-5")
    shell.write({"old.json": _JACKSON, "new.json": compact(record("Jackson", "string id"))})
    shell.write({"old.avsc": compact(_DASHED)})
    shell.run(f"compat --type JSON old.json new.json --broker {line}", name="compat-jackson")
    shell.run(f"compat --first old.avsc --broker {line}", name="compat-dashed")
    shell.run(f"compat --first --type JSON old.json --broker {line}", name="compat-first-jackson")
    shell.run(f"connect producer shop/orders/dashed v0 --as-if-broker {line}")


for _name in _LINES:
    SITUATIONS[f"broker-{_name}"] = partial(_line, _name)


@situation
def audit_of_stored_schemas(shell: Shell) -> None:
    """Before an upgrade or another strategy: what would be refused of what is stored."""
    shell.start(SHOP, "apply --auto-approve")
    shell.register("shop/orders/dashed", _DASHED)
    shell.register("shop/orders/jackson", _JACKSON, "JSON")
    shell.register("shop/orders/created", record("Created", "string id", namespace="shop"))
    shell.prepare("snapshot")
    shell.report("audit")
    shell.report("audit --as-if-broker 5.0")
    shell.report("audit --as-if-strategy FULL_TRANSITIVE")
    shell.run("audit --as-if-broker 5.0 --format html", name="page-with-style", with_style=True)
    shell.run("audit --snapshot --as-if-broker 5.0 --fail-on warning")
    shell.run("audit shop/nothing")
    shell.run("audit --as-if-broker 7.0")
    shell.run("audit --as-if-strategy STRICT")
