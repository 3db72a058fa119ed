"""What `syntax`, and the features of an edition, say about the files below them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.schemas.protobuf_native.descriptors import Features, Field, Label, Type

_EXPLICIT: Final = 1
_IMPLICIT: Final = 2
_LEGACY_REQUIRED: Final = 3
_OPEN: Final = 1
_CLOSED: Final = 2
_PACKED: Final = 1
_EXPANDED: Final = 2
_VERIFY: Final = 2
_NONE: Final = 3
_VERIFY_IN_JAVA: Final = 4  # no descriptor says so
_LENGTH_PREFIXED: Final = 1
_DELIMITED: Final = 2

_PROTO2: Final = Features(
    field_presence=_EXPLICIT,
    enum_type=_CLOSED,
    repeated_field_encoding=_EXPANDED,
    utf8_validation=_NONE,
    message_encoding=_LENGTH_PREFIXED,
)
_PROTO3: Final = Features(
    field_presence=_IMPLICIT,
    enum_type=_OPEN,
    repeated_field_encoding=_PACKED,
    utf8_validation=_VERIFY,
    message_encoding=_LENGTH_PREFIXED,
)
_EDITION_2023: Final = replace(_PROTO3, field_presence=_EXPLICIT)
_NEVER_PACKED: Final = frozenset((Type.STRING, Type.BYTES, Type.MESSAGE, Type.GROUP))
_MESSAGES: Final = frozenset((Type.MESSAGE, Type.GROUP))


def file_features(syntax: str, own: Features) -> Features:
    """The features of a file: what is neither proto3 nor an edition is proto2."""
    if syntax == "editions":
        return inherit_features(_EDITION_2023, own)
    return _PROTO3 if syntax == "proto3" else _PROTO2


def add_java_check(features: Features) -> Features:
    """The same where Java looks at text, whatever others do.

    It does so in the entries of every map, and in files that say `java_string_check_utf8`
    (protobuf-java 3.25.5).
    """
    if features.utf8_validation != _NONE:
        return features
    return replace(features, utf8_validation=_VERIFY_IN_JAVA)


def inherit_features(around: Features, own: Features) -> Features:
    """The features of a part: its own, else those of what is around it."""
    return Features(
        field_presence=own.field_presence or around.field_presence,
        enum_type=own.enum_type or around.enum_type,
        repeated_field_encoding=own.repeated_field_encoding or around.repeated_field_encoding,
        utf8_validation=own.utf8_validation or around.utf8_validation,
        message_encoding=own.message_encoding or around.message_encoding,
    )


def is_closed(features: Features) -> bool:
    """Whether an enum knows no numbers but those that it names."""
    return features.enum_type == _CLOSED


def is_utf8_checked(kind: Type, features: Features) -> bool:
    """Whether a reader refuses bytes that are not UTF-8."""
    return kind is Type.STRING and features.utf8_validation != _NONE


def is_utf8_checked_in_java_only(kind: Type, features: Features) -> bool:
    """Whether no other reader refuses them."""
    return kind is Type.STRING and features.utf8_validation == _VERIFY_IN_JAVA


def type_of(kind: Type, features: Features) -> Type:
    """A delimited message is a group on the wire, whatever it is called."""
    delimited = kind is Type.MESSAGE and features.message_encoding == _DELIMITED
    return Type.GROUP if delimited else kind


def label_of(field: Field, features: Features) -> Label:
    """An edition says `required` by a feature."""
    required = field.label is Label.OPTIONAL and features.field_presence == _LEGACY_REQUIRED
    return Label.REQUIRED if required else field.label


def has_presence(field: Field, kind: Type, features: Features, *, in_oneof: bool) -> bool:
    """Whether a reader can tell an unset value from zero."""
    if field.label is Label.REPEATED:
        return False
    is_explicit = in_oneof or field.proto3_optional or field.extendee is not None
    return is_explicit or kind in _MESSAGES or features.field_presence != _IMPLICIT


def is_packed(field: Field, kind: Type, features: Features) -> bool:
    """Whether a writer packs the numbers of a repeated field; readers accept both forms."""
    if field.label is not Label.REPEATED or kind in _NEVER_PACKED:
        return False
    return features.repeated_field_encoding == _PACKED if field.packed is None else field.packed
