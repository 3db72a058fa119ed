"""What a registry holds already is reported by `validate`, and is no error."""

from __future__ import annotations

import json

import pytest

from gitops.model.findings import Severity
from gitops.repository.loader import load
from gitops.repository.snapshots import latest_recorded_schemas
from gitops.usecases.validate import validate
from tests.support.states import TODAY
from tests.support.trees import repository

_MANIFEST = """\
apiVersion: pulsar-gitops/v1
kind: Topic
schema: {type: JSON, definition: odd.avsc}
"""
_ODD = '{"type": "object", "id": "urn:odd"}'


def _severities(*recorded: str, damaged: bool = False) -> list[tuple[str, Severity]]:
    versions = [
        {"version": n, "type": "JSON", "timestamp": 1, "schema": text, "properties": {}}
        for n, text in enumerate(recorded)
    ]
    snapshot = {
        "apiVersion": "pulsar-gitops/v1",
        "kind": "TopicSnapshot",
        "topic": "shop/orders/odd",
        "nextVersion": len(versions),
        "policies": {},
        "versions": versions,
    }
    text = json.dumps(snapshot)
    tree = repository(
        {
            "namespaces/shop/orders/odd.yaml": _MANIFEST,
            "namespaces/shop/orders/odd.avsc": _ODD,
            "snapshots/local/shop/orders/odd.json": text[:-5] if damaged else text,
        }
    )
    found = validate(
        load(tree), (), lambda topics: latest_recorded_schemas(tree, topics), today=TODAY
    )
    return [(one.rule, one.severity) for one in found if one.rule == "JSON-P001"]


@pytest.mark.parametrize(
    ("recorded", "severity"),
    [
        ((_ODD,), Severity.WARNING),
        ((), Severity.ERROR),
        (('{"type": "object", "id": "urn:other"}',), Severity.ERROR),
        ((_ODD, '{"type": "object", "id": "urn:later"}'), Severity.ERROR),
    ],
    ids=["held", "never recorded", "another one", "no longer the latest"],
)
def test_only_what_is_held_is_no_error(recorded: tuple[str, ...], severity: Severity) -> None:
    assert _severities(*recorded) == [("JSON-P001", severity)]


def test_a_damaged_snapshot_excuses_nothing() -> None:
    assert _severities(_ODD, damaged=True) == [("JSON-P001", Severity.ERROR)]
