"""What `validate` tells of the files."""

from __future__ import annotations

from gitops.model.findings import Severity
from gitops.repository.loader import load
from gitops.usecases.validate import validate
from tests.support.states import TODAY
from tests.support.trees import repository

_USES = '{"type": "record", "name": "%s", "fields": [{"name": "m", "type": "shop.Money"}]}'
_MONEY = (
    '{"type": "record", "name": "Money", "namespace": "shop",'
    ' "fields": [{"name": "c", "type": "Currency"}]}'
)


def test_a_shared_type_is_wrong_once() -> None:
    files = {"types/money.avsc": _MONEY}
    for name in ("a", "b"):
        files[f"namespaces/shop/orders/{name}.yaml"] = (
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            f"schema: {{type: AVRO, definition: {name}.avsc}}\n"
        )
        files[f"namespaces/shop/orders/{name}.avsc"] = _USES % name.upper()

    found = validate(load(repository(files)), today=TODAY)

    assert [(each.rule, str(each.location), each.subject) for each in found] == [
        ("AVRO-P001", "types/money.avsc:1:91", "shop/orders/a")
    ]


def test_a_sensitive_name_that_is_nearly_that_of_a_field_is_told() -> None:
    """Whether an older version has it, the files alone cannot say."""
    record = '{"type": "record", "name": "A", "fields": [{"name": "email", "type": "string"}]}'
    files = {
        "namespaces/shop/orders/a.avsc": record,
        "namespaces/shop/orders/a.yaml": (
            "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: AVRO, definition: a.avsc}\n"
            "samples: [{format: avro, path: a.avro, sensitive: [email, emial, legacy]}]\n"
        ),
    }
    (found,) = validate(load(repository(files)), today=TODAY)
    assert (found.rule, found.severity) == ("REPLAY-R010", Severity.INFO)
    assert (str(found.location), found.hint) == (
        "namespaces/shop/orders/a.yaml:4:59",
        "did you mean email?",
    )
    assert "'emial': unless an older version has it, no value" in found.message
    assert "legacy" not in found.message
