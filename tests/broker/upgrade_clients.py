"""Pulsar's Java client on the topics of a rehearsal: who is let in."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitops.broker.connection import NO_SCHEMA
from gitops.model.audit import Operation
from gitops.model.schema import SchemaType
from tests.broker.upgrade_answers import Answer, Question
from tests.support.java_program import JavaProgram

_SOURCE: Final = Path(__file__).parent / "java" / "UpgradeScenario.java"
_SECONDS: Final = 5
"""After so long the client gives up: it tries again where a broker fails instead of refusing."""

_NOT_SENT: Final = {*NO_SCHEMA, SchemaType.EXTERNAL}
"""Types that the client of 4.0.7 does not send, or does not know."""

_LET_IN: Final = "let in"


class JavaClient:
    """The client of 4.0.7, whichever broker it connects to; raises BrokerUnavailableError."""

    def __init__(self, classes: Path) -> None:
        self._program = JavaProgram(_SOURCE, classes)

    def ask_all(self, service_url: str, asked: Sequence[Question]) -> dict[Question, Answer]:
        """The end of each connection that such a client can ask for; a refusal by its exception."""
        sent = [one for one in asked if one.candidate.sent.type not in _NOT_SENT]
        said = self._program.run(service_url, str(_SECONDS), lines="".join(map(_line, sent)))
        return {
            one: Answer(accepted=end == _LET_IN, detail=None if end == _LET_IN else end)
            for one, end in zip(sent, said, strict=True)
        }


def _line(question: Question) -> str:
    schema = question.candidate.sent
    role = "produce" if question.operation is Operation.PRODUCE else "consume"
    data = base64.b64encode(schema.data).decode()
    properties = [f"{name}={value}" for name, value in sorted(schema.properties.items())]
    topic = f"persistent://{question.twin.topic}"
    return "\t".join((topic, role, schema.type.value, data, *properties)) + "\n"
