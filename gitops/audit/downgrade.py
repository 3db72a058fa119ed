"""What only the target line accepts, so that it must wait until there is no way back."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.audit.cause import Cause
from gitops.audit.upgrade import DOWNGRADE
from gitops.broker.lines.line import BrokerLine
from gitops.model.rules import make_finding
from gitops.schemas.avro.parser import AVRO_1_12
from gitops.schemas.json.compatibility import JacksonForm


def downgrade_cause(registry: str, present: BrokerLine, target: BrokerLine) -> Cause | None:
    """New kinds of definitions, if the target line has any; registered, they stop the way back."""
    kinds = tuple(_only_on(present, target))
    if not kinds:
        return None
    message = f"only {target.name} accepts these kinds of definitions; {'; '.join(kinds)}"
    found = make_finding(
        DOWNGRADE,
        message,
        subject=registry,
        hint=f"register none of these until no broker of {present.name} is left: after a "
        "downgrade their topics stop working",
    )
    return Cause(message=message, finding=found)


def _only_on(present: BrokerLine, target: BrokerLine) -> Iterator[str]:
    old, new = present.rules, target.rules
    if new.avro is AVRO_1_12 and old.avro is not AVRO_1_12:
        yield "`$` in names"
        yield "names that are used before they are defined"
        yield "some types that are defined twice"
        yield "a union's default that fits another branch than the first"
    if old.avro is AVRO_1_12 and new.avro is not AVRO_1_12:
        yield "namespaces with parts that are no names, such as com.my-co"
        yield "members of more than 64 bits"
        yield "references such as `.B`"
    if new.has_external and not old.has_external:
        yield "the type EXTERNAL"
    if old.jackson is JacksonForm.NEVER and new.jackson is not JacksonForm.NEVER:
        yield "JSON definitions that are not Avro"
    if new.takes_top_union and not old.takes_top_union:
        yield "AVRO definitions that are a union"
    if new.descriptors.message_set_fields and not old.descriptors.message_set_fields:
        yield "PROTOBUF_NATIVE message sets with fields"
