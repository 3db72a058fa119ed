"""Decisions as lines of JSON: cases in, verdicts out."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Literal, NoReturn

import msgspec
from msgspec import Struct

from gitops.broker.cases import Case, CaseError, decide, history_of
from gitops.broker.lines.table import UnknownBrokerError, line_of
from gitops.model.decision import Decision, StoredSchema
from gitops.model.policy import BrokerSettings, SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType

_DECODER: Final = msgspec.json.Decoder()
_NAMES: Final = json.JSONEncoder(allow_nan=False)
_DEFAULT_BROKER: Final = BrokerSettings()
_LEGACY_JSON: Final = "schema_json_allow_legacy_jackson_format"


class _Schema(Struct, kw_only=True):
    """As admin REST takes it; nothing else says how its text is encoded."""

    schema: str = ""
    properties: dict[str, str | bool | int | float] | None = None


class _Candidate(_Schema, kw_only=True):
    type: SchemaType
    encoding: None = None


class _Version(_Schema, kw_only=True):
    """A version that exists, or the deletion of all before it."""

    type: SchemaType | None = None
    encoding: Literal["b64"] | None = None
    deleted: bool = False

    def __post_init__(self) -> None:
        if self.type is None and not self.deleted:
            raise ValueError("a schema has a type")


class _Line(Struct, kw_only=True, rename="camel"):
    """The members of a case that are read; `compat-case.schema.json` says the same."""

    candidate: _Candidate
    existing: list[_Version] = []
    strategy: SchemaCompatibilityStrategy = SchemaCompatibilityStrategy.UNDEFINED
    mode: Literal["producer", "consumer", "subscribe", "compat", "version", "lookup"] = "producer"
    idle: bool = True
    broker: str | None = None
    schema_json_allow_legacy_jackson_format: bool | None = None


def decide_lines(
    lines: Iterable[str], broker: BrokerSettings = _DEFAULT_BROKER
) -> Iterator[tuple[str, bool]]:
    """A verdict as a line of JSON for each case, in order, and whether the case could be read.

    `broker` decides where a case does not name another one.

    Bytes that are no UTF-8 stand in the lines as lone surrogates (`surrogateescape`).
    """
    line_of(broker, "--broker")  # which fails before a case is read
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _decide_line(number, line, broker)


def _decide_line(number: int, line: str, broker: BrokerSettings) -> tuple[str, bool]:
    name: object = None
    try:
        content = _read(line)
        name = _name(content)
        decision = decide(_case(content, broker))
    except (CaseError, UnknownBrokerError, ValueError) as error:
        return _verdict(name, Decision(accepted=False, reason=f"line {number}: {error}")), False
    return _verdict(name, decision), True


def _verdict(name: object, decision: Decision) -> str:
    verdict = {
        "id": name,
        "accepted": decision.accepted,
        "version": decision.version,
        "reason": decision.reason,
    }
    return json.dumps(verdict)


def _read(line: str) -> object:
    try:
        content: object = _DECODER.decode(line.encode())
    except UnicodeEncodeError:
        raise CaseError("not UTF-8") from None
    except (msgspec.MsgspecError, RecursionError):
        content = _read_slowly(line)
    return content


def _read_slowly(line: str) -> object:
    """What msgspec refuses: mistakes, which are named here, halves of characters, 1e400."""
    try:
        return json.loads(line, parse_constant=_no_constant)
    except RecursionError:
        raise CaseError("nested too deep") from None
    except json.JSONDecodeError as error:
        raise CaseError(f"{error.msg} at column {error.colno}") from None
    except CaseError:
        raise
    except ValueError:  # Python's limit for whole numbers
        raise CaseError("a number with too many digits") from None


def _no_constant(word: str) -> NoReturn:
    raise CaseError(f"{word} is not JSON")


def _name(content: object) -> object:
    """Whatever the caller calls the case, which is given back."""
    name = content.get("id") if isinstance(content, dict) else None
    try:
        _NAMES.encode(name)
    except ValueError:
        raise CaseError("'id' has a number too large to be given back") from None
    return name


def _case(content: object, default: BrokerSettings) -> Case:
    try:
        line = msgspec.convert(content, _Line)
    except msgspec.ValidationError as error:
        raise CaseError(_what_is_wrong(content) or str(error)) from None
    return Case(
        existing=history_of(
            [_existing_version(number, version) for number, version in enumerate(line.existing)]
        ),
        candidate=_info(line.candidate.type, line.candidate),
        strategy=line.strategy,
        mode=line.mode,
        idle=line.idle,
        line=line_of(_broker(line, default)),
    )


def _broker(line: _Line, default: BrokerSettings) -> BrokerSettings:
    grouped = {"release": line.broker, _LEGACY_JSON: line.schema_json_allow_legacy_jackson_format}
    given = {name: value for name, value in grouped.items() if value is not None}
    return replace(default, **given)  # type: ignore[arg-type] # fields by name


def _what_is_wrong(content: object) -> str:
    """In the words for documents of every kind; what is right must not wait for their library."""
    from gitops.repository.json_validation import COMPAT_CASE, schema_problems

    return "; ".join(
        schema_problem.message for schema_problem in schema_problems(COMPAT_CASE, content)
    )


def _existing_version(number: int, version: _Version) -> SchemaInfo | StoredSchema | None:
    """A schema as admin REST takes it, raw bytes as a client sends them, or a deletion."""
    if version.deleted or version.type is None:
        return None
    info = _info(version.type, version)
    if version.encoding is None:
        return info
    try:
        data = base64.b64decode(info.schema, validate=True)
    except ValueError as error:  # also where it is not ASCII
        raise CaseError(f"existing[{number}].schema is not base64: {error}") from None
    return StoredSchema(type=info.type, data=data, properties=info.properties)


def _info(type_: SchemaType, schema: _Schema) -> SchemaInfo:
    """A number becomes text, as admin REST takes it."""
    properties = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in (schema.properties or {}).items()
    }
    return SchemaInfo(type=type_, schema=schema.schema, properties=properties)
