"""What `validate` tells of the files."""

from __future__ import annotations

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
