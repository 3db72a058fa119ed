"""What others write for us in JSON, held against the JSON Schemas that the reference publishes.

Manifests and snapshots are not: their models make their schemas, and say what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple, cast

from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from gitops.repository.positions import Path, dotted_path
from gitops.repository.shipped_files import shipped_folder
from gitops.repository.suggestions import did_you_mean, did_you_mean_or_list

PLAN: Final = "plan"
PLANS: Final = "plans"
COMPAT_CASE: Final = "compat-case"


_Error = Any
"""An error of the library, whose members it types as perhaps not set."""


class SchemaProblem(NamedTuple):
    """What the schema does not allow at a path of a document: the value there, or its key."""

    path: Path
    message: str
    hint: str = ""
    at_key: bool = False


def schema_problems(name: str, document: object) -> list[SchemaProblem]:
    """Everything in the document that the published schema of that name does not allow."""
    breaches = chain.from_iterable(map(_breaches, _validator(name).iter_errors(document)))
    problems = (_WORDS.get(breach.keyword, _anything_else)(breach) for breach in breaches)
    return list(dict.fromkeys(chain.from_iterable(problems)))


def schema_folder() -> FilePath:
    """The published schemas: inside the installed package, or in the checkout beside it."""
    return shipped_folder("json")


@cache
def _validator(name: str) -> Draft202012Validator:
    text = (schema_folder() / f"{name}.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    definitions = schema.get("$defs", {})

    def check_form(
        validator: Draft202012Validator,
        forms: Any,  # noqa: ANN401 - as the library has it
        instance: object,
        parent: Any,  # noqa: ANN401
    ) -> Iterator[_Error]:
        """`oneOf`: where the constants of one form alone are in the value, only that is tried.

        An action of a plan has one of many forms: to try all of them takes twice as long.
        """
        whole = [definitions.get(form.get("$ref", "").rpartition("/")[2], form) for form in forms]
        meant = [number for number, form in enumerate(whole) if _has_constants(form, instance)]
        if len(meant) == 1:
            yield from validator.descend(instance, forms[meant[0]], schema_path=meant[0])
        else:
            yield from Draft202012Validator.VALIDATORS["oneOf"](validator, forms, instance, parent)

    with_forms: Any = extend(Draft202012Validator, {"oneOf": check_form})  # type: ignore[no-untyped-call]
    return cast("Draft202012Validator", with_forms(schema))


def _has_constants(form: Mapping[str, Any], instance: object) -> bool:
    """Whether a value may be of a form: true too where the form has no constants."""
    if not isinstance(instance, dict):
        return True
    return all(
        "const" not in member or instance.get(name, member["const"]) == member["const"]
        for name, member in form.get("properties", {}).items()
    )


class _Breach(NamedTuple):
    """A keyword of a schema, what it asks for, and the value at `path` that is not so."""

    path: Path
    keyword: str
    wanted: Any
    given: Any
    properties: Mapping[str, Any]


def _breaches(error: _Error) -> Iterator[_Breach]:
    """The error, or those of the form that is meant where a value may have one of several."""
    forms = _forms(error)
    meant = next((form for form in forms if not any(map(_tells_apart, form))), None)
    if meant is not None:
        for inner in meant:
            yield from _breaches(inner)
        return
    parts = [inner for form in forms for inner in form if _tells_apart(inner)]
    keywords = {(inner.validator, *inner.absolute_path) for inner in parts}
    if len(keywords) != 1:
        yield _breach(error)
        return
    first = _breach(parts[0])
    wanted = [value for inner in parts for value in _as_list(inner.validator_value)]
    yield first._replace(keyword="enum" if first.keyword == "const" else "type", wanted=wanted)


def _forms(error: _Error) -> list[list[_Error]]:
    """What is wrong with each of the forms, in their order."""
    grouped: dict[Any, list[_Error]] = {}
    for inner in error.context:
        grouped.setdefault(inner.relative_schema_path[0], []).append(inner)
    return list(grouped.values())


def _tells_apart(error: _Error) -> bool:
    """Whether a value that has another type or another constant was meant for another form."""
    return error.validator == "const" or (error.validator == "type" and not error.relative_path)


def _breach(error: _Error) -> _Breach:
    inner = error.schema if isinstance(error.schema, dict) else {}
    return _Breach(
        path=tuple(error.absolute_path),
        keyword=str(error.validator),
        wanted=error.validator_value,
        given=error.instance,
        properties=inner.get("properties", {}),
    )


def _missing_problem(breach: _Breach) -> Iterator[SchemaProblem]:
    """The library has an error for each; each of them names all, and so is the same one."""
    lacking = [f"'{key}'" for key in breach.wanted if key not in breach.given]
    of = f" of {dotted_path(breach.path)}" if breach.path else ""
    members = "member" if len(lacking) == 1 else "members"
    yield SchemaProblem(breach.path, f"missing {members} {', '.join(lacking)}{of}", at_key=True)


def _unknown(breach: _Breach) -> Iterator[SchemaProblem]:
    for key in breach.given:
        if key not in breach.properties:
            hint = did_you_mean(key, breach.properties)
            yield SchemaProblem((*breach.path, key), f"unknown member '{key}'", hint, at_key=True)


def _type(breach: _Breach) -> Iterator[SchemaProblem]:
    wanted = " or ".join(dict.fromkeys(_TYPES[kind] for kind in _as_list(breach.wanted)))
    message = f"{_name(breach.path)} must be {wanted}, not {_kind(breach.given)}"
    yield SchemaProblem(breach.path, message)


def _as_list(wanted: Any) -> list[Any]:  # noqa: ANN401 - one, or a list of them
    return wanted if isinstance(wanted, list) else [wanted]


def _constant(breach: _Breach) -> Iterator[SchemaProblem]:
    message = f"{_name(breach.path)} must be {_text(breach.wanted)}, not {_text(breach.given)}"
    yield SchemaProblem(breach.path, message)


def _choice(breach: _Breach) -> Iterator[SchemaProblem]:
    choices = [value for value in breach.wanted if value is not None]
    hint = did_you_mean_or_list(str(breach.given), choices)
    message = f"unknown value {_text(breach.given)} for {_name(breach.path)}"
    yield SchemaProblem(breach.path, message, hint)


def _anything_else(breach: _Breach) -> Iterator[SchemaProblem]:
    yield SchemaProblem(breach.path, f"{_name(breach.path)} is not valid: {_text(breach.given)}")


def _name(path: Path) -> str:
    return dotted_path(path) or "the document"


def _kind(value: object) -> str:
    return next(word for kind, word in _KINDS if isinstance(value, kind))


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


_MOST_SHOWN: Final = 80
_TYPES: Final[Mapping[str, str]] = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}
_KINDS: Final = (
    (bool, "true or false"), (str, "text"), (int | float, "a number"),
    (dict, "an object"), (list, "a list"), (object, "null"),
)  # fmt: skip
_WORDS: Final[Mapping[str, Callable[[_Breach], Iterator[SchemaProblem]]]] = {
    "required": _missing_problem,
    "additionalProperties": _unknown,
    "type": _type,
    "const": _constant,
    "enum": _choice,
}
