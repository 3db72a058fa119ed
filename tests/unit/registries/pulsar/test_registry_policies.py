"""Which request sets or removes which policy."""

from __future__ import annotations

import pytest

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    PolicyChange,
    PolicyValue,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)
from gitops.registries.pulsar.registry import PolicyRequest, policy_request

NAMESPACE = NamespaceName("a", "b")
TOPIC = TopicName.of(NAMESPACE, "t")
FULL = SchemaCompatibilityStrategy.FULL
LEGACY = SchemaAutoUpdateCompatibilityStrategy.AUTO_UPDATE_DISABLED


@pytest.mark.parametrize(
    ("subject", "key", "after", "method", "path", "body"),
    [
        (NAMESPACE, "schemaCompatibilityStrategy", FULL, "PUT", "namespaces/a/b", b'"FULL"'),
        (NAMESPACE, "schemaCompatibilityStrategy", None, "PUT", "namespaces/a/b", b'"UNDEFINED"'),
        (NAMESPACE, "isAllowAutoUpdateSchema", False, "POST", "namespaces/a/b", b"false"),
        (NAMESPACE, "schemaValidationEnforced", True, "POST", "namespaces/a/b", b"true"),
        (NAMESPACE, "schemaValidationEnforced", None, "POST", "namespaces/a/b", b"false"),
        (NAMESPACE, "schemaAutoUpdateCompatibilityStrategy", LEGACY, "PUT", "namespaces/a/b",
         b'"AutoUpdateDisabled"'),
        (NAMESPACE, "schemaAutoUpdateCompatibilityStrategy", None, "PUT", "namespaces/a/b",
         b"null"),
        (TOPIC, "schemaCompatibilityStrategy", FULL, "PUT", "persistent/a/b/t", b'"FULL"'),
        (TOPIC, "schemaCompatibilityStrategy", None, "DELETE", "persistent/a/b/t", None),
        (TOPIC, "schemaValidationEnforced", True, "POST", "persistent/a/b/t", b"true"),
    ],
)  # fmt: skip
def test_the_request_of_a_change(  # noqa: PLR0913, PLR0917 - a table's columns
    subject: NamespaceName | TopicName,
    key: str,
    after: PolicyValue,
    method: str,
    path: str,
    body: bytes | None,
) -> None:
    change = PolicyChange(key=key, before=None, after=after)
    expected = PolicyRequest(method=method, path=f"{path}/{key}", body=body)
    assert policy_request(subject, change) == expected


@pytest.mark.parametrize(
    ("subject", "key", "after"),
    [
        (NAMESPACE, "isAllowAutoUpdateSchema", None),
        (TOPIC, "schemaValidationEnforced", None),
        (TOPIC, "isAllowAutoUpdateSchema", True),
        (NAMESPACE, "retention", True),
        (NAMESPACE, "schemaCompatibilityStrategy", LEGACY),
        (NAMESPACE, "schemaAutoUpdateCompatibilityStrategy", FULL),
        (TOPIC, "schemaCompatibilityStrategy", True),
        (TOPIC, "schemaValidationEnforced", FULL),
    ],
)
def test_a_change_that_pulsar_cannot_make(
    subject: NamespaceName | TopicName, key: str, after: PolicyValue
) -> None:
    with pytest.raises(UsageError, match=key) as error:
        policy_request(subject, PolicyChange(key=key, before=None, after=after))
    assert error.value.where == str(subject)
