"""What a shell offers for a value: names of the repository's files, rules, words of Pulsar.

Nothing here asks a registry, and nothing raises: a shell waits, and shows whatever is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import typer

from gitops.model.errors import GitopsError
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import AUTO_TYPES, SchemaType

Offer = tuple[str, str]
"""A value, and what to say of it."""

VARIABLE: Final = "_PULSAR_GITOPS_COMPLETE"
"""What a shell's script sets to the name of the shell."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.~%:@/+-]*")
"""Names of files that are offered. zsh evaluates what it is given, and typer 0.29 escapes no
backslash: a repository of somebody else's must not choose what a shell runs."""
_TOPIC_KEY: Final = re.compile(rb"^topic:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
_CLIENT_NAME: Final = re.compile(rb"^name:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
_CLIENT_WORDS: Final = ("AUTO_CONSUME", "AUTO_PRODUCE", "NONE")


def registry_names(ctx: typer.Context) -> list[str]:
    """The registries of gitops.yaml."""
    return _names(ctx, "registries")


def registry_and_group_names(ctx: typer.Context) -> list[str]:
    """The same, and the groups of them."""
    return [*_names(ctx, "registries"), *_names(ctx, "groups")]


def _names(ctx: typer.Context, key: str) -> list[str]:
    from gitops.repository.yaml.parser import parse_yaml

    with suppress(GitopsError, OSError):
        content = parse_yaml((_root(ctx) / "gitops.yaml").read_bytes()).value
        named = content.get(key) if isinstance(content, dict) else None
        return _plain(map(str, named)) if isinstance(named, dict) else []
    return []


def topics(ctx: typer.Context) -> list[str]:
    """The topics that the files name."""
    with suppress(GitopsError, OSError):
        return sorted(_plain(_topics(_root(ctx))))
    return []


def clients(ctx: typer.Context) -> list[str]:
    """The clients that the files declare."""
    with suppress(GitopsError, OSError):
        files = sorted((_root(ctx) / "clients").glob("*.yaml"))
        return _plain(
            match[1].decode("utf-8", "replace")
            for file in files
            if (match := _CLIENT_NAME.search(file.read_bytes()))
        )
    return []


def subjects(ctx: typer.Context) -> list[str]:
    """The namespaces and the topics that the files name."""
    texts = topics(ctx)
    return sorted({*texts, *(name.rpartition("/")[0] for name in texts)})


def terms() -> list[Offer]:
    """The ids of rules, with their titles; strategies and schema types."""
    from gitops.model.rules import RULES
    from gitops.repository.shipped_files import PAGES, TERMS

    words = [(term, page.removesuffix("s").replace("-", " ")) for term, page in TERMS.items()]
    pages = [(page, f"all {page.replace('-', ' ')}") for page in PAGES]
    return [*((rule.id, rule.title) for rule in RULES.values()), *words, *pages]


def strategies() -> list[str]:
    """Every SchemaCompatibilityStrategy."""
    return [strategy.value for strategy in SchemaCompatibilityStrategy]


def strategies_in_force() -> list[str]:
    """Those by which a broker decides: where UNDEFINED is set, the next level does."""
    return [name for name in strategies() if name != "UNDEFINED"]


def broker_lines() -> list[str]:
    """Every broker line that there is a profile of."""
    from gitops.broker.lines.table import LINES

    return list(LINES)


def schema_types() -> list[str]:
    """Every SchemaType that can be stored."""
    return [kind.value for kind in SchemaType if kind not in AUTO_TYPES]


def client_schemas(incomplete: str) -> list[str]:
    """Words for the schema of a client; before the first letter files, which shells know best."""
    return sorted({*_CLIENT_WORDS, *schema_types()}) if incomplete else []


def _plain(names: Iterable[str]) -> list[str]:
    return [name for name in names if _PLAIN.fullmatch(name)]


def _root(ctx: typer.Context) -> Path:
    from gitops.repository.folder import nearest_repository

    here = Path()
    named = Path(ctx.params.get("repo") or here)
    return nearest_repository(here) if named == here else named


def _topics(root: Path) -> Iterator[str]:
    """By their manifests: the file's stem, unless the file says another name."""
    for path in root.glob("namespaces/*/*/*.yaml"):
        if path.name == "namespace.yaml":
            continue
        tenant, namespace = path.parts[-3:-1]
        named = _TOPIC_KEY.search(path.read_bytes())
        name = named[1].decode("utf-8", "replace") if named else path.stem
        yield f"{tenant}/{namespace}/{name}"
