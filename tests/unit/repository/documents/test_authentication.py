"""Where clients connect to, as gitops.yaml has it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from gitops.repository.documents.authentication import ServiceUrl

URL: TypeAdapter[Any] = TypeAdapter(ServiceUrl)


@pytest.mark.parametrize(
    "text",
    ["pulsar://a:6650", "pulsar://a", "pulsar+ssl://a:6651,b:6651", "pulsar://[::1]:1/", "${URL}"],
)
def test_service_urls_are_of_one_or_more_brokers(text: str) -> None:
    assert URL.validate_python(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://a:8080", "is not a pulsar or pulsar+ssl address"),
        ("a:6650", "is not a pulsar or pulsar+ssl address"),
        ("pulsar://", "is not a pulsar or pulsar+ssl address"),
        ("pulsar://a:99999", "is not a pulsar or pulsar+ssl address"),
        ("pulsar://a,", "is not a pulsar or pulsar+ssl address"),
        ("pulsar://a/path", "is not a pulsar or pulsar+ssl address"),
        ("pulsar://a?token=x", "is not a pulsar or pulsar+ssl address"),
        ("pulsar://user:canary@a:6650", "contains credentials"),
    ],
)
def test_anything_else_is_none(text: str, said: str) -> None:
    with pytest.raises(ValidationError) as told:
        URL.validate_python(text)
    (error,) = told.value.errors()
    assert said in error["msg"]
    assert "canary" not in error["msg"]
