"""A stored KEY_VALUE taken apart into its halves, where that can be undone exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

from gitops.model.schema import DEFINED_TYPES, KeyValueEncodingType, SchemaInfo, SchemaType
from gitops.repository.definitions.key_value import (
    JAVA_NAMES,
    Half,
    compact,
    pair_properties,
    pair_text,
)
from gitops.repository.documents.manifests import HalfType

_DECODER: Final = json.JSONDecoder()
_NOTHING: Final = '""'
_TYPES: Final = frozenset(get_args(HalfType))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Both halves, the encoding, and the properties that do not follow from them."""

    key: Half
    value: Half
    encoding: KeyValueEncodingType
    properties: Mapping[str, str]


def take_apart(info: SchemaInfo) -> Pair | None:
    """The halves; None unless putting them together gives the same text and properties."""
    try:
        pair = _parts(info)
    except (ValueError, KeyError, RecursionError):
        return None
    derived = pair_properties(pair.key, pair.value, pair.encoding)
    same = {**pair.properties, **derived} == dict(info.properties)
    return pair if same and pair_text(pair.key, pair.value) == info.schema else None


def default_name(half: Half) -> str:
    """The name that a half has if its manifest gives none."""
    return JAVA_NAMES.get(half.type.value, "")


def _parts(info: SchemaInfo) -> Pair:
    key_text, value_text = _texts(info.schema)
    key = _half("key", key_text, info.properties)
    value = _half("value", value_text, info.properties)
    encoding = KeyValueEncodingType(info.properties["kv.encoding.type"])
    derived = pair_properties(key, value, encoding)
    left = {name: text for name, text in info.properties.items() if name not in derived}
    return Pair(key=key, value=value, encoding=encoding, properties=left)


def _texts(text: str) -> tuple[str, str]:
    start = len('{"key":')
    _, key_end = _DECODER.raw_decode(text, start)
    value_start = key_end + len(',"value":')
    _, value_end = _DECODER.raw_decode(text, value_start)
    return text[start:key_end], text[value_start:value_end]


def _half(prefix: str, text: str, properties: Mapping[str, str]) -> Half:
    kind = properties[f"{prefix}.schema.type"]
    own = json.loads(properties[f"{prefix}.schema.properties"])
    if kind not in _TYPES or not isinstance(own, dict) or not _is_text_map(own):
        raise ValueError(prefix)
    if text != _NOTHING and compact(text) != text:
        raise ValueError(text)
    if text == _NOTHING and SchemaType(kind) in DEFINED_TYPES:
        # A broker holds such halves; a manifest's half of that type needs a definition.
        raise ValueError(prefix)
    return Half(
        type=SchemaType(kind),
        text="" if text == _NOTHING else text,
        name=properties[f"{prefix}.schema.name"],
        properties=own,
    )


def _is_text_map(value: dict[str, object]) -> bool:
    return all(isinstance(each, str) for each in value.values())
