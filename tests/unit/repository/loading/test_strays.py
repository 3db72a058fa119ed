"""Files that nothing uses."""

from __future__ import annotations

import pytest

from gitops.repository.loader import load
from tests.support.trees import repository

_ORDERS = "namespaces/shop/orders"
_HEADER = "apiVersion: pulsar-gitops/v1\n"
_TOPIC = f"{_HEADER}kind: Topic\n"
_RECORD = '{"type": "record", "name": "A", "namespace": "shop", "fields": []}'


@pytest.mark.parametrize(
    ("path", "content", "hint"),
    [
        ("order.yaml", _TOPIC, "move it to namespaces/<tenant>/<namespace>/<topic>.yaml"),
        ("services/a.yaml", f"{_HEADER}kind: Client\n", "move it to clients/<service>.yaml"),
        ("a.yml", "kind: Deployment\n", "manifests are below namespaces/, clients/ and waivers/"),
        (
            "types/money.avsc",
            _RECORD,
            (
                "name it in a topic's manifest (definition: ../../../types/money.avsc), or shop.A "
                "in another definition, or remove it"
            ),
        ),
        (
            "types/text.avsc",
            '"string"',
            "name it in a topic's manifest (definition: ../../../types/text.avsc), or remove it",
        ),
        (
            f"{_ORDERS}/b.avsc",
            _RECORD,
            f"write a manifest {_ORDERS}/b.yaml with definition: b.avsc, or remove it",
        ),
        (
            f"{_ORDERS}/a.avsc",
            _RECORD,
            f"write definition: a.avsc in {_ORDERS}/a.yaml, or remove it",
        ),
    ],
)
def test_a_file_that_nothing_uses_says_what_would(path: str, content: str, hint: str) -> None:
    manifest = f"{_TOPIC}schema: {{type: STRING}}\n"

    loaded = load(repository({f"{_ORDERS}/a.yaml": manifest, path: content}))

    assert [(each.rule, str(each.location), each.hint) for each in loaded.findings] == [
        ("REPO-R023", path, hint)
    ]
