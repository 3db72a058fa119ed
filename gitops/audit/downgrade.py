"""What only the target line accepts, so that it must wait until there is no way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitops.audit.cause import RELEASE, Cause
from gitops.audit.upgrade import DOWNGRADE
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.pulsar_5_0 import EDITION_2026
from gitops.model.audit import ITEM
from gitops.model.rules import make_finding
from gitops.schemas.avro.parser import AVRO_1_12, AVRO_1_12_2, AVRO_1_12_PLAIN_NAMES
from gitops.schemas.json.compatibility import JacksonForm
from gitops.schemas.rules import SchemaRules


def downgrade_cause(registry: str, present: BrokerLine, target: BrokerLine) -> Cause | None:
    """Kinds of definitions that only the target line accepts, if there are any.

    Registered, they stop the way back. An older line has some as well, so that the words are the
    same for a downgrade.
    """
    kinds = [
        kind
        for accepts, listed in _KINDS
        if accepts(target.rules) and not accepts(present.rules)
        for kind in listed
    ]
    if not kinds:
        return None
    listed = "; ".join(f"{ITEM}{kind}" for kind in kinds)
    message = f"only {target.name} accepts these kinds of definitions; {listed}"
    finding = make_finding(
        DOWNGRADE,
        message,
        subject=registry,
        hint=f"register none of these while there are brokers of {present.name}, or may be again: "
        f"on {present.name} their topics do not work",
    )
    return Cause(message=message, finding=finding, rests_on=(RELEASE,))


_AVRO_1_12_0: Final = (AVRO_1_12, AVRO_1_12_PLAIN_NAMES)


def _is_avro_1_12(rules: SchemaRules) -> bool:
    return rules.avro in (*_AVRO_1_12_0, AVRO_1_12_2)


def _is_avro_1_11(rules: SchemaRules) -> bool:
    return not _is_avro_1_12(rules)


def _takes_jackson_form(rules: SchemaRules) -> bool:
    """Avro 1.12 refuses most with an exception after which a broker of 4.1 does not try it."""
    if rules.jackson is JacksonForm.AFTER_PARSE_FAILURE:
        return _is_avro_1_11(rules)
    return rules.jackson is JacksonForm.AFTER_ANY_FAILURE


_KINDS: Final[tuple[tuple[Callable[[SchemaRules], bool], tuple[str, ...]], ...]] = (
    (lambda rules: rules.avro in (AVRO_1_12, AVRO_1_12_2), ("`$` in names",)),
    (
        _is_avro_1_12,
        (
            "names that are used before they are defined",
            'references such as {"type": "B"} to a type without a namespace',
            "some types that are defined twice",
            "a union's default that fits another branch than the first",
        ),
    ),
    (lambda rules: rules.avro in _AVRO_1_12_0, ("records that are defined again inside",)),
    (
        lambda rules: rules.avro is AVRO_1_12_2,
        ("records that are defined twice, one after the other and the same",),
    ),
    (
        _is_avro_1_11,
        (
            "namespaces with parts that are no names, such as com.my-co",
            "members of more than 64 bits",
            "references such as `.B`",
        ),
    ),
    (lambda rules: rules.has_external, ("the type EXTERNAL",)),
    (_takes_jackson_form, ("JSON definitions that are not Avro",)),
    (lambda rules: rules.takes_top_union, ("AVRO definitions that are a union",)),
    (
        lambda rules: rules.deepest_pair is None,
        ("KEY_VALUE definitions that nest deeper than 255",),
    ),
    (
        lambda rules: not rules.jackson_version.limited,
        (
            "definitions that nest deeper than 1,000",
            "numbers of more than 1,000 digits",
            "names of members of more than 50,000 characters",
        ),
    ),
    (
        lambda rules: rules.descriptors.editions is None,
        ("PROTOBUF_NATIVE editions before PROTO2 and unknown ones",),
    ),
    (
        lambda rules: rules.descriptors.message_set_fields,
        ("PROTOBUF_NATIVE message sets with fields",),
    ),
    (
        lambda rules: (
            rules.descriptors.editions is None or EDITION_2026 in rules.descriptors.editions
        ),
        ("PROTOBUF_NATIVE edition 2026",),
    ),
    (
        lambda rules: rules.descriptors.exact,
        ("PROTOBUF_NATIVE root messages inside another message, without a package",),
    ),
)
"""Whether a line accepts kinds of definitions, and these kinds (Pulsar 3.0.7 to 5.0.1)."""
