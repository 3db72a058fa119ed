"""What the program explains: its help, its rules and its terms."""

from __future__ import annotations

from tests.corpus.catalogue import situation
from tests.corpus.shell import Shell
from tests.corpus.shop_files import SHOP
from tests.support.command_line import command_names

_CLASS = '''"""Classes of a program."""

from dataclasses import dataclass


@dataclass
class Order:
    """An order."""

    id: str
    quantity: int = 1
    note: str | None = None
'''


@situation
def help_of_commands(shell: Shell) -> None:
    """I read the help."""
    shell.run("--help", name="help")
    shell.run("--version", name="version")
    for command in command_names():
        shell.run(f"{command} --help")
    for group in ("schemas", "policies", "connect"):
        shell.run(f"{group} --help")


@situation
def explained_terms(shell: Shell) -> None:
    """I ask what a rule, a strategy, a type or an exit code means."""
    for term in ("AVRO-R002", "PLAN-R020", "CLIENT-R003", "WAIVER", "BACKWARD", "KEY_VALUE", "3"):
        shell.run(f"explain {term}")
    for term in ("strategies", "schema-types", "exit-codes", "avro-r002", "full"):
        shell.run(f"explain {term}")
    shell.run("explain")


@situation
def schema_of_a_class(shell: Shell) -> None:
    """The schema is made of a Python class, and compared with a topic's."""
    shell.start({**SHOP, "code/shop_orders.py": _CLASS}, "apply --auto-approve")
    shell.report("schemas extract shop_orders:Order --path code")
    shell.report(
        "schemas extract shop_orders:Order --path code --check --topic shop/orders/created"
    )
    shell.run("schemas extract shop_orders:Nothing --path code")
    shell.run("schemas extract no_module:Order")
