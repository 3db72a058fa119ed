"""The end of a command's --help: examples, and the exit codes that scripts look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, final

from typer.core import TyperCommand, TyperGroup

from gitops.model.errors import UsageError

# Lines of up to 56 characters are whole in a terminal of 60 columns; longer ones end with a \.
EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": ("pulsar-gitops init schemas",),
    "import": (
        "pulsar-gitops import --registry production",
        "pulsar-gitops import shop/orders",
    ),
    "validate": (
        "pulsar-gitops validate",
        "pulsar-gitops validate --fail-on warning \\\n    namespaces/shop",
    ),
    "fmt": ("pulsar-gitops fmt", "pulsar-gitops fmt --check --diff"),
    "check": (
        "pulsar-gitops check --base origin/main",
        "pulsar-gitops check --base origin/main --fix",
    ),
    "plan": (
        "pulsar-gitops plan --out plan.json",
        "pulsar-gitops plan --registry production \\\n    --detailed-exitcode",
    ),
    "rollout": (
        "pulsar-gitops rollout --base origin/main",
        "pulsar-gitops rollout --base origin/main --migrate",
    ),
    "replay": (
        "pulsar-gitops replay --engine local",
        "pulsar-gitops replay --base origin/main \\\n    --html replay.html",
    ),
    "compat": (
        "pulsar-gitops compat old.avsc new.avsc",
        "pulsar-gitops compat -s BACKWARD_TRANSITIVE \\\n    v0.avsc v1.avsc v2.avsc",
    ),
    "connect producer": (
        "pulsar-gitops connect producer \\\n    shop/orders/order-created order.avsc",
        "pulsar-gitops connect producer shop/orders/count INT64",
    ),
    "connect consumer": (
        "pulsar-gitops connect consumer \\\n    shop/orders/order-created v0",
        "pulsar-gitops connect consumer --type AVRO \\\n    shop/orders/order-created order.avsc",
    ),
    "connect client": (
        "pulsar-gitops connect client billing",
        "pulsar-gitops connect client billing \\\n    --registry production --snapshot",
    ),
    "explain": (
        "pulsar-gitops explain AVRO-R002",
        "pulsar-gitops explain BACKWARD",
        "pulsar-gitops explain exit-codes",
    ),
    "apply": (
        "pulsar-gitops apply plan.json",
        "pulsar-gitops apply --auto-approve --registry local",
    ),
    "schemas upload": (
        "pulsar-gitops schemas upload --type AVRO \\\n    shop/orders/order-created order.avsc",
    ),
    "schemas get": (
        "pulsar-gitops schemas get shop/orders/order-created",
        "pulsar-gitops schemas get --version 0 --format json \\\n    shop/orders/order-created",
    ),
    "schemas versions": ("pulsar-gitops schemas versions shop/orders/order-created",),
    "schemas delete": ("pulsar-gitops schemas delete shop/orders/order-created",),
    "schemas extract": (
        "pulsar-gitops schemas extract acme.orders:Order",
        "pulsar-gitops schemas extract --java com.acme.Order \\\n    --classpath 'app.jar:lib/*'",
        "pulsar-gitops schemas extract --check acme.orders:Order \\\n    --topic shop/orders/order",
    ),
    "policies get": (
        "pulsar-gitops policies get shop/orders",
        "pulsar-gitops policies get shop/orders/order-created",
    ),
    "policies set": (
        "pulsar-gitops policies set shop/orders \\\n    schemaCompatibilityStrategy=FULL",
    ),
    "capture": (
        "pulsar-gitops capture shop/orders/order-created \\\n    --out captures --since 2h",
        "pulsar-gitops capture shop/orders/order-created \\\n    --out captures --resume",
    ),
    "publish": (
        "pulsar-gitops publish captures \\\n    --to shop/staging/order-created --dry-run",
        "pulsar-gitops publish captures \\\n    --to shop/staging/order-created --resume",
    ),
    "drift": (
        "pulsar-gitops drift --registry production",
        "pulsar-gitops drift --registry production --adopt",
        "pulsar-gitops drift --adopt shop/orders/order-created",
        "pulsar-gitops drift --registry production --clients",
    ),
    "snapshot": ("pulsar-gitops snapshot --registry production",),
    "restore": (
        "pulsar-gitops restore --registry production --dry-run",
        "pulsar-gitops restore --registry production \\\n    --into rehearsal",
        "pulsar-gitops restore --registry production shop/orders",
    ),
    "audit": (
        "pulsar-gitops audit --as-if-broker 5.0",
        "pulsar-gitops audit --url http://broker.example:8080",
    ),
    "serve": ("pulsar-gitops serve --port 8080",),
    "github comment": ("pulsar-gitops github comment --file report.md",),
    "github relay": ("pulsar-gitops github relay --head 9fceb02 report",),
    "github issue": (
        'pulsar-gitops github issue --title "Drift" \\\n    --file drift.md',
        'pulsar-gitops github issue --title "Drift" --close',
    ),
    "gitlab note": ("pulsar-gitops gitlab note --file report.md",),
}
"""The examples of each command, the usual one first."""

_ALL_CODES: Final = ("...", "`pulsar-gitops explain exit-codes` has all.")
_FINDINGS: Final = (1, "There are findings at or above --fail-on.")
_UNKNOWN: Final = (2, "The registry has no such namespace, topic or version.")
_REFUSED: Final = (1, "The broker would refuse the client.")

EXIT_CODES: Final[Mapping[str, tuple[tuple[int, str], ...]]] = {
    "import": (_UNKNOWN,),
    "validate": (_FINDINGS,),
    "fmt": ((1, "A file cannot be read or, with --check, is not formatted."),),
    "check": (_FINDINGS, (4, "git or a registry failed, or the clone is too shallow.")),
    "plan": (_FINDINGS, (3, "With --detailed-exitcode: there is something to apply.")),
    "rollout": ((1, "No order is safe, a schema is refused, or files have errors."),),
    "replay": ((1, "There are findings at or above --fail-on, such as unread messages."),),
    "compat": ((1, "NEW is refused, or there are findings at or above --fail-on."),),
    "connect producer": (_REFUSED,),
    "connect consumer": (_REFUSED,),
    "connect client": ((1, "A connection would be refused, or its answer is not known."),),
    "apply": (
        (1, "There are findings at or above --fail-on: nothing is applied."),
        (5, "The plan is stale: plan again."),
        (6, "Applied in part: fix the cause, then apply again."),
    ),
    "schemas upload": ((1, "The registry refuses the schema, or lost the version of its number."),),
    "schemas get": (_UNKNOWN,),
    "schemas versions": (_UNKNOWN,),
    "schemas extract": (
        (1, "With --check: refused, or there is no such topic."),
        (3, "With --check: it would be a new version."),
    ),
    "policies get": (_UNKNOWN,),
    "policies set": (_UNKNOWN,),
    "capture": (
        (1, "A topic does not exist."),
        (4, "The cluster failed: --resume goes on."),
        (130, "Interrupted: --resume goes on."),
    ),
    "publish": (
        (1, "All schemas are refused; with --dry-run, one would be."),
        (4, "The cluster failed: --resume goes on."),
        (6, "Some messages were refused, the others are there."),
        (130, "Interrupted: --resume goes on."),
    ),
    "drift": (
        (1, "The files have errors, so what they want is not known."),
        (3, "There is drift; with --adopt, drift that is not adopted; new clients."),
        (4, "A registry failed, or the schemas of a topic cannot be read."),
    ),
    "restore": (
        (1, "A version cannot get its recorded number: nothing is written."),
        (6, "Restored in part: fix the cause, then run it again."),
    ),
    "audit": (_FINDINGS,),
    "github relay": (
        (2, "The files in DIR are not what they should be."),
        (4, "It is another pull request, or one that changes .github/."),
    ),
}
"""The codes of each command that mean more than good, a wrong command line or a failed cluster."""


@final
class CommandWithExamples(TyperCommand):
    """A command whose help ends with its examples and exit codes.

    Typer puts the Python type behind an argument's name, such as `<list[str]>`: it is left out.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as below
        """Refuse empty values, as of variables that are not set: most would mean the default."""
        rest: list[str] = super().parse_args(ctx, list(args))
        if ctx.resilient_parsing:  # a shell asks for completions
            return rest
        given, _, params = self.make_parser(ctx).parse_args(args=list(args))
        for param in params:
            value = given.get(param.name)
            values = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(text, str) and not text.strip() for text in values):
                option: Any = param
                raise UsageError(
                    f"{option.get_error_hint()} is empty",
                    hint="is a variable not set? Give it a value, or leave it out",
                )
        return rest

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - of Typer's own Click
        """Those of Typer; `OLD... NEW` says itself what is repeated."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.removesuffix("...") if "... " in piece else piece for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write the arguments, then the options."""
        records: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for param in self.get_params(ctx):
            if help_record := param.get_help_record(ctx):
                name, text = help_record
                kind = param.param_type_name
                records[kind].append((_untyped(name) if kind == "argument" else name, text))
        for title, rows in zip(("Arguments", "Options"), records.values(), strict=True):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of Typer's own Click
        """Write both sections."""
        name = _name(ctx)
        _write_examples(EXAMPLES[name], formatter)
        if codes := EXIT_CODES.get(name):
            with formatter.section("Exit codes"):
                formatter.write_dl([*((str(code), text) for code, text in codes), _ALL_CODES])


@final
class GroupWithExamples(TyperGroup):
    """A group of commands whose help ends with an example of each."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of Typer's own Click
        """Write the first example of each command."""
        names = (f"{_name(ctx)} {command}" for command in self.list_commands(ctx))
        _write_examples([EXAMPLES[name][0] for name in names], formatter)


def _name(ctx: Any) -> str:  # noqa: ANN401 - of Typer's own Click, which has no name
    """`schemas upload` of `pulsar-gitops schemas upload`."""
    return str(ctx.command_path).partition(" ")[2]


def _untyped(name: str) -> str:
    return name.partition(" <")[0]


def _write_examples(examples: Iterable[str], formatter: Any) -> None:  # noqa: ANN401 - as above
    with formatter.section("Examples"):
        for line in "\n".join(examples).splitlines():
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")
