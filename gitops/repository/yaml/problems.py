"""A problem inside one YAML text."""

from __future__ import annotations

from dataclasses import dataclass

from gitops.repository.positions import Path, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlProblem:
    """A breach of a rule, with its place in the text; `first` is where a twin of it stands."""

    rule: str
    message: str
    span: Span
    path: Path = ()
    hint: str = ""
    first: Span | None = None
