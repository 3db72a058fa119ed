"""As much of a wrong document as can be understood, so that its other mistakes are told as well.

What comes out is only looked at, never planned from: the mistakes that made it necessary are
errors that nobody can switch off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.repository.documents.base import Document
from gitops.repository.documents.validation_messages import DocumentProblem, problem_of
from gitops.repository.positions import Path, child

D = TypeVar("D", bound=Document)

_REGISTRY: Final = 2
"""How deep the only mappings are that have a kind of their own."""

_ROUNDS: Final = 16
"""A document nests less deep than this, and each round repairs one level at least."""

_TOPIC: Final = "public/default/topic"
_FORMAT: Final = next(iter(SAMPLE_FORMATS))
_STAND_INS: Final[dict[str, object]] = {
    "name": "?", "owner": "?", "subscription": "?", "path": "?", "topic": _TOPIC,
    "format": _FORMAT, "schema": "NONE",
}  # fmt: skip
"""Values that no other rule minds, in the place of a key that is missing or wrong."""

_INERT: Final[dict[str, object]] = {
    "samples": {"format": _FORMAT, "path": "?"},
    "consumes": {"topic": _TOPIC, "subscription": "?", "schema": "NONE"},
    "produces": {"topic": _TOPIC, "schema": "NONE"},
    "schema": "NONE",
    "sensitive": "?",
}
"""The same for the members of lists, whose numbers have to stay."""


@dataclass(slots=True, kw_only=True)
class Salvage(Generic[D]):
    """`document` is None where nothing is left.

    `lost` are the places of values that could not be used, `renamed` maps the place that a
    misspelt key seems to mean to the place where it stands. `others` are problems that only show
    once it is known of which kind a mapping is.
    """

    document: D | None = None
    lost: set[Path] = field(default_factory=set)
    renamed: dict[Path, Path] = field(default_factory=dict)
    others: list[DocumentProblem] = field(default_factory=list)


def salvage(value: object, model: type[D]) -> Salvage[D]:
    """Leave out what is wrong, put in what is meant, until the rest is a document."""
    saved: Salvage[D] = Salvage()
    left = _copy(value)
    kinds: set[Path] = set()
    for _ in range(_ROUNDS):
        try:
            saved.document = model.model_validate(left)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            problems = [problem_of(detail, left, model) for detail in details]
            # That a kind is missing now is what became of a wrong one.
            known = [
                problem for problem in problems if problem.rule != "REPO-R005" or problem.missing
            ]
            saved.others += [problem for problem in known if problem.path[:_REGISTRY] in kinds]
            kinds = {problem.path[:-1] for problem in problems if _is_kind(problem)}
            repaired = [_repair(left, problem, saved) for problem in problems]
            if not all(repaired):
                return saved
        else:
            break
    return saved


def _is_kind(problem: DocumentProblem) -> bool:
    kind = problem.instead if problem.rule == "REPO-R002" else problem.path[-1:]
    return len(problem.path) == _REGISTRY + 1 and kind in ("kind", ("kind",))


def _copy(value: Any) -> Any:  # noqa: ANN401 - YAML
    """A copy in which no two places share a mapping or list, as aliases do."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _repair(left: object, problem: DocumentProblem, saved: Salvage[D]) -> bool:
    """Whether something could be done about it."""
    if problem.missing:
        return _put_in(left, problem, saved)
    if not problem.path:
        return False
    box, key = _at(left, problem.path[:-1]), problem.path[-1]
    if isinstance(box, list) and isinstance(key, int) and key < len(box):
        box[key] = _copy(_INERT.get(str(problem.path[-2])))
        return box[key] is not None
    if not isinstance(box, dict) or key not in box:
        return isinstance(box, dict)
    given = box.pop(key)
    if problem.instead is None:
        saved.lost.add(problem.path)
    elif problem.rule == "REPO-R002":
        _rename(box, problem, given, saved)
    else:
        box[key] = problem.instead
    return True


def _rename(
    box: dict[Any, Any], problem: DocumentProblem, given: object, saved: Salvage[D]
) -> None:
    if problem.instead not in box:
        box[problem.instead] = given
        saved.renamed[(*problem.path[:-1], str(problem.instead))] = problem.path


def _put_in(left: object, problem: DocumentProblem, saved: Salvage[D]) -> bool:
    box = _at(left, problem.path)
    if not isinstance(box, dict):
        return False
    value = problem.instead if problem.instead is not None else _STAND_INS.get(problem.missing)
    if problem.missing == "type":
        is_pair = problem.path == ("schema",) and ("key" in box or "value" in box)
        value = "KEY_VALUE" if is_pair else "NONE"
    if value is None:
        return False
    box[problem.missing] = _copy(value)
    saved.lost.add((*problem.path, problem.missing))
    return True


def _at(value: object, path: Path) -> object:
    for part in path:
        try:
            value = child(value, part)
        except KeyError:
            return None
    return value
