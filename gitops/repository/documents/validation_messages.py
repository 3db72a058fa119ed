"""Pydantic's errors in the product's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.repository.documents.base import OWN_ERROR
from gitops.repository.documents.registry_kinds import kind_names
from gitops.repository.positions import Path, child, dotted_path
from gitops.repository.suggestions import closest, did_you_mean_or_list
from gitops.schemas.types import DEFINED_TYPES

# Which keys a mapping of a document may have.


def known_keys(model: type[BaseModel], path: Path, document: object = None) -> tuple[str, ...]:
    """The keys that the mapping at `path` of `document`, of this model, may have, sorted.

    Where a mapping may be of several kinds, its own `kind` decides; without a document, or where
    it names none of them, the keys of all kinds are meant.
    """
    here: tuple[type[BaseModel], ...] = (model,)
    value = document
    for part in path:
        value = _value(value, part)
        here = _below(here, part) or here
        here = tuple(item for item in here if _is_kind(item, value)) or here
    return tuple(sorted({str(key) for item in here for key in _fields(item)}))


def _value(value: object, part: str | int) -> object:
    try:
        return child(value, part)
    except KeyError:
        return None


def _is_kind(model: type[BaseModel], value: object) -> bool:
    given = value.get("kind") if isinstance(value, dict) else None
    return given in get_args(_fields(model).get("kind"))


def _below(models: tuple[type[BaseModel], ...], part: str | int) -> tuple[type[BaseModel], ...]:
    """The models one step down; a step into a list or a free mapping stays with its models."""
    items = [_fields(model)[part] for model in models if part in _fields(model)]
    return tuple(dict.fromkeys(model for annotation in items for model in _models(annotation)))


@cache
def _fields(model: type[BaseModel]) -> dict[str | int, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentProblem:
    """A breach of a rule at a path of the document, at the key there or at the value.

    `missing` is the key that the mapping at `path` lacks; `instead` is the key or the value that
    seems to be meant. With `hides_key` the key itself may be a secret.
    """

    rule: str
    message: str
    path: Path
    at_key: bool = False
    hint: str = ""
    missing: str = ""
    instead: str | None = None
    hides_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Error:
    path: Path
    kind: str
    context: Mapping[str, Any]
    value: object
    document: object
    model: type[BaseModel]

    @property
    def name(self) -> str:
        return dotted_path(self.path[-2:] if isinstance(self.path[-1], int) else self.path[-1:])


_Say = Callable[[_Error], DocumentProblem]


def problem_of(error: ErrorDetails, document: object, model: type[BaseModel]) -> DocumentProblem:
    """What one of pydantic's errors about `document` means for the one who wrote it."""
    path, value = _walk(document, error["loc"])
    read = _Error(
        path=path,
        kind=error["type"],
        context=error.get("ctx", {}),
        value=value,
        document=document,
        model=model,
    )
    if not path and error["type"] != OWN_ERROR:
        return DocumentProblem(
            rule="REPO-R004", message=f"the document must be a mapping, not {_kind(value)}", path=()
        )
    return _SAYINGS.get(error["type"], _anything_else)(read)


def _walk(document: object, location: Sequence[str | int]) -> tuple[Path, object]:
    """The path in the document; what pydantic puts in between (tags, [key]) is left out."""
    path: list[str | int] = []
    here, last = document, len(location) - 1
    for index, part in enumerate(location):
        try:
            here = child(here, part)
        except KeyError:
            if index != last or part == "[key]" or str(part).startswith("\0"):
                continue
            here = None
        path.append(part)
    return tuple(path), here


_HEADER: Final[Mapping[Path, str]] = {("apiVersion",): "api_version", ("kind",): "kind"}
_KINDS: Final = (
    (bool, "true or false"), (str, "text"), (int, "a number"), (float, "a number"),
    (dict, "a mapping"), (list, "a list"), (type(None), "nothing"),
)  # fmt: skip


def _kind(value: object) -> str:
    return next((word for known, word in _KINDS if isinstance(value, known)), "that")


def _unknown_key(error: _Error) -> DocumentProblem:
    known = known_keys(error.model, error.path[:-1], error.document)
    word = str(error.path[-1])
    # The key of another kind comes second: it may be the kind that is wrong.
    meant = closest(word, known) or closest(word, known_keys(error.model, error.path[:-1]))
    hint = f"did you mean {meant}?" if meant else did_you_mean_or_list(word, known)
    # A secret that was typed where a key stands must not be repeated.
    secret = "authentication" in error.path[:-1] and not hint.startswith("did")
    message = "unknown key" if secret else f"unknown key '{word}'"
    return DocumentProblem(
        rule="REPO-R002", message=message, path=error.path, at_key=True, hint=hint,
        instead=meant, hides_key=secret,
    )  # fmt: skip


def _missing_key(error: _Error) -> DocumentProblem:
    only = _only_value(error)
    return DocumentProblem(
        rule="REPO-R005", message=f"missing key '{error.path[-1]}'", path=error.path[:-1],
        at_key=True, hint=f"write {error.path[-1]}: {only}" if only else "",
        missing=str(error.path[-1]), instead=only,
    )  # fmt: skip


def _only_value(error: _Error) -> str | None:
    """The header's keys have one value only."""
    field = error.model.model_fields.get(_HEADER.get(error.path, ""))
    choices = get_args(field.annotation) if field else ()
    return str(choices[0]) if choices else None


def _expected_text(what: str) -> _Say:
    def say(error: _Error) -> DocumentProblem:
        fraction = what == _WHOLE_NUMBER and isinstance(error.value, float)
        value = "a fraction" if fraction else _kind(error.value)
        message = f"{error.name} must be {what}, not {value}"
        hint = _type_hint(what, error.value)
        return DocumentProblem(rule="REPO-R004", message=message, path=error.path, hint=hint)

    return say


_CLIENTS_ONLY: Final = "only clients use it, no registry stores it"
_AUTO: Final = frozenset(schema_type.value for schema_type in AUTO_TYPES)
_PLAIN_TYPES: Final = {
    schema_type.value for schema_type in set(SchemaType) - AUTO_TYPES - DEFINED_TYPES
}
_VERSION: Final = re.compile(r"v?([0-9]{1,9})")
_GLUED: Final = re.compile(r"[A-Za-z]\w*:\S.*")
_WHOLE_NUMBER: Final = "a whole number"
_TRUTH: Final = {
    "yes": "true", "on": "true", "y": "true", "true": "true",
    "no": "false", "off": "false", "n": "false", "false": "false",
}  # fmt: skip


def _type_hint(what: str, value: object) -> str:
    if value is None:
        return "give it a value, or remove the key"
    if what == "a mapping" and isinstance(value, str) and _GLUED.fullmatch(value):
        return "write a space after the colon"
    if what == "true or false" and isinstance(value, str) and value.lower() in _TRUTH:
        return f"did you mean {_TRUTH[value.lower()]}?"
    return "quote it" if what == "text" and isinstance(value, int | float) else ""


def _unknown_value(error: _Error) -> DocumentProblem:
    if not isinstance(error.value, str):
        return _expected_text("text")(error)
    choices = re.findall(r"'([^']*)'", str(error.context.get("expected", "")))
    if error.path in _HEADER:
        message = f"{error.path[0]} must be {choices[0]} in this file, not '{error.value}'"
        return DocumentProblem(
            rule="REPO-R010", message=message, path=error.path, instead=choices[0]
        )
    return DocumentProblem(
        rule="REPO-R011",
        message=f"unknown value '{error.value[:80]}' for {error.name}",
        path=error.path,
        hint=_unknown_value_hint(error.value, choices),
        instead=closest(error.value, choices),
    )


def _unknown_value_hint(value: str, choices: Sequence[str]) -> str:
    if "AUTO_CONSUME" in choices and (form := _client_form(value)):
        return f"did you mean {form}?"
    only_clients = value in _AUTO and not _AUTO & set(choices)
    return _CLIENTS_ONLY if only_clients else did_you_mean_or_list(value, choices)


def _client_form(value: str) -> str:
    """What a client's schema may be meant to be, where a word stands that is none."""
    if match := _VERSION.fullmatch(value):
        return f"{{version: {match[1]}}}"
    return f"{{type: {value}}}" if value in _PLAIN_TYPES else ""


def _unknown_kind(error: _Error) -> DocumentProblem:
    """A tagged union whose tag is missing or unknown: the error stands at the mapping."""
    if not isinstance(error.value, dict):
        return _expected_text("a mapping")(error)
    if "kind" not in error.value:
        return _no_kind(error, error.value)
    choices = re.findall(r"'([^']*)'", str(error.context.get("expected_tags", "")))
    tag = error.value["kind"]
    return DocumentProblem(
        rule="REPO-R011" if isinstance(tag, str) else "REPO-R004",
        message=f"unknown value '{str(tag)[:80]}' for kind",
        path=(*error.path, "kind"),
        hint=did_you_mean_or_list(str(tag), choices),
        instead=closest(str(tag), choices),
    )


def _no_kind(error: _Error, given: Mapping[str, object]) -> DocumentProblem:
    known = known_keys(error.model, error.path, error.document)
    meant = closest("kind", [key for key in given if key not in known])
    if meant is not None:
        return DocumentProblem(
            rule="REPO-R002", message=f"unknown key '{meant}'", path=(*error.path, meant),
            at_key=True, hint="did you mean kind?", instead="kind",
        )  # fmt: skip
    return DocumentProblem(
        rule="REPO-R005", message="missing key 'kind'", path=error.path, at_key=True,
        hint=f"use one of {', '.join(kind_names())}",
    )  # fmt: skip


def _limit(words: str, key: str) -> _Say:
    def say(error: _Error) -> DocumentProblem:
        message = f"{error.name} must be {words} {error.context.get(key)}"
        return DocumentProblem(rule="REPO-R012", message=message, path=error.path)

    return say


def _empty(error: _Error) -> DocumentProblem:
    if isinstance(error.value, str) and error.value.strip():  # it breaks a pattern
        return _anything_else(error)
    return DocumentProblem(
        rule="REPO-R012", message=f"{error.name} is empty", path=error.path, hint="give it a value"
    )


def _own_problem(error: _Error) -> DocumentProblem:
    name = error.name if error.path else "the document"
    return DocumentProblem(
        rule=error.context["rule"],
        message=error.context["text"].replace("{name}", name),
        path=error.path,
        at_key=isinstance(error.value, dict | list),
        hint=error.context["hint"],
    )


def _anything_else(error: _Error) -> DocumentProblem:
    return DocumentProblem(rule="REPO-R012", message=f"{error.name} is not valid", path=error.path)


_MAPPING: Final = _expected_text("a mapping")
_WHOLE: Final = _expected_text(_WHOLE_NUMBER)
_NUMBER: Final = _expected_text("a number")
_SAYINGS: Final[Mapping[str, _Say]] = {
    OWN_ERROR: _own_problem,
    "extra_forbidden": _unknown_key,
    "missing": _missing_key,
    "string_type": _expected_text("text"),
    "bool_type": _expected_text("true or false"),
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "finite_number": _NUMBER,
    "list_type": _expected_text("a list"),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "literal_error": _unknown_value,
    "enum": _unknown_value,
    "union_tag_invalid": _unknown_kind,
    "union_tag_not_found": _unknown_kind,
    "string_too_short": _empty,
    "string_pattern_mismatch": _empty,
    "too_short": _empty,
    "greater_than": _limit("more than", "gt"),
    "greater_than_equal": _limit("at least", "ge"),
    "less_than_equal": _limit("at most", "le"),
}
