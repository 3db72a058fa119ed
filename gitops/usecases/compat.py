"""One decision, explained; and a stream of decisions."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

import msgspec

from gitops.compatibility.consumers import check_consumer, subscribe
from gitops.compatibility.decision import Decision, StoredHistory, StoredSchema
from gitops.compatibility.lookup import find_version
from gitops.compatibility.payload import PayloadError, as_kept, to_stored
from gitops.compatibility.registration import compatible, find_registered, register
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType

_DECODER: Final = msgspec.json.Decoder()
_NAMES: Final = json.JSONEncoder(allow_nan=False)


class CaseError(ValueError):
    """A case of a stream is not in the form of a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question: would this schema pass? `mode` is whose rule is asked.

    `idle` counts for a consumer that subscribes: the topic has no clients and no data.
    """

    existing: StoredHistory
    candidate: SchemaInfo
    strategy: SchemaCompatibilityStrategy
    mode: str = "producer"
    idle: bool = True


def decide(case: Case) -> Decision:
    """The broker's answer; raises CaseError for an unknown mode."""
    args = (case.existing, case.candidate, case.strategy)
    match case.mode:
        case "producer":
            return register(*args)
        case "consumer":
            return check_consumer(*args)
        case "subscribe":
            return subscribe(*args, idle=case.idle)
        case "compat":
            return compatible(*args)
        case "version" | "lookup":
            return _looked_up(case)
        case _:
            raise CaseError(f"unknown mode '{case.mode}'")


def history_of(schemas: Sequence[SchemaInfo | StoredSchema | None]) -> StoredHistory:
    """A history of these, oldest first; None stands for a deletion. Raises CaseError."""
    entries: list[tuple[int, StoredSchema]] = []
    for version, schema in enumerate(schemas):
        if schema is None:
            entries.clear()
            continue
        try:
            stored = to_stored(schema) if isinstance(schema, SchemaInfo) else schema
        except PayloadError as error:
            raise CaseError(f"existing {version}: {error}") from None
        entries.append((version, as_kept(stored)))
    return StoredHistory(entries=tuple(entries), next_version=len(schemas))


def decide_lines(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """A verdict as a line of JSON for each case, in order, and whether the case could be read.

    Bytes that are no UTF-8 stand in the lines as lone surrogates (`surrogateescape`).
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _decide_line(number, line)


def _decide_line(number: int, line: str) -> tuple[str, bool]:
    name: object = None
    try:
        content = _read(line)
        name = _name(content)
        decision = decide(_case(content))
    except (CaseError, ValueError) as error:
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


def _read(line: str) -> dict[str, object]:
    try:
        content = _DECODER.decode(line.encode())
    except UnicodeEncodeError:
        raise CaseError("not UTF-8") from None
    except (msgspec.MsgspecError, RecursionError):
        content = _read_slowly(line)
    if not isinstance(content, dict):
        raise CaseError("a case is an object")
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


def _name(content: Mapping[str, object]) -> object:
    """Whatever the caller calls the case, which is given back."""
    name = content.get("id")
    try:
        _NAMES.encode(name)
    except ValueError:
        raise CaseError("'id' has a number too large to be given back") from None
    return name


def _case(content: Mapping[str, object]) -> Case:
    existing = content.get("existing", [])
    if "candidate" not in content:
        raise CaseError("there is no 'candidate'")
    if not isinstance(existing, list):
        raise CaseError("'existing' is a list of schemas")
    return Case(
        existing=history_of([_existing(one) for one in existing]),
        candidate=_candidate(content.get("candidate")),
        strategy=_strategy(content.get("strategy", "UNDEFINED")),
        mode=str(content.get("mode", "producer")),
        idle=content.get("idle", True) is True,
    )


def _existing(value: object) -> SchemaInfo | StoredSchema | None:
    """A schema as admin REST takes it, raw bytes as a client sends them, or a deletion."""
    if isinstance(value, dict) and value.get("deleted") is True:
        return None
    info = _info(value)
    encoding = value.get("encoding") if isinstance(value, dict) else None
    if encoding is None:
        return info
    if encoding != "b64":
        raise CaseError(f"unknown encoding {encoding!r}")
    try:
        data = base64.b64decode(info.schema, validate=True)
    except binascii.Error as error:
        raise CaseError(f"'schema' is not base64: {error}") from None
    return StoredSchema(type=info.type, data=data, properties=info.properties)


def _info(value: object) -> SchemaInfo:
    if not isinstance(value, dict):
        raise CaseError("a schema is an object of type, schema and properties")
    schema, properties = value.get("schema", ""), value.get("properties") or {}
    if not isinstance(schema, str) or not isinstance(properties, Mapping):
        raise CaseError("'schema' is text and 'properties' an object")
    texts = {str(name): _property(content) for name, content in properties.items()}
    return SchemaInfo(type=_type(value.get("type")), schema=schema, properties=texts)


def _candidate(value: object) -> SchemaInfo:
    if isinstance(value, dict) and value.get("encoding") is not None:
        raise CaseError("only existing schemas have an 'encoding'")
    return _info(value)


def _property(value: object) -> str:
    """A number becomes text, as admin REST takes it."""
    if value is None or isinstance(value, list | dict):
        raise CaseError("a property is text")
    return value if isinstance(value, str) else json.dumps(value)


def _type(value: object) -> SchemaType:
    try:
        return SchemaType(value)
    except ValueError:
        raise CaseError(f"unknown schema type {value!r}") from None


def _strategy(value: object) -> SchemaCompatibilityStrategy:
    try:
        return SchemaCompatibilityStrategy(value)
    except ValueError:
        raise CaseError(f"unknown strategy {value!r}") from None


def _looked_up(case: Case) -> Decision:
    try:
        if case.mode == "lookup":
            return find_registered(case.existing, to_stored(case.candidate))
        version = find_version(case.existing, case.candidate)
    except PayloadError as error:
        return Decision(accepted=False, status=500, reason=str(error))
    return Decision(accepted=True, version=-1 if version is None else version)
