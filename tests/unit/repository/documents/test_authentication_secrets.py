"""Which lines may hold a secret."""

from __future__ import annotations

from typing import Final

import pytest

from gitops.repository.documents.authentication import Secret, secret_keys, secret_offsets
from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.yaml.parser import parse_yaml


class _Access(Document):
    api_key: Secret | None = None
    user: str = ""
    inner: _Access | None = None


class _Settings(Document):
    pin: Secret
    access: list[_Access]


_FOUND: Final = ["pin: 1234\n", "access: [{apiKey: clear}]\n", "access: [{apiKye: clear}]\n"]


def test_types_tell_where_names_do_not() -> None:
    assert secret_keys(_Settings) == {"pin", "apiKey"}
    assert secret_keys(ConfigDocument) == set()


@pytest.mark.parametrize("text", _FOUND)
def test_a_value_of_such_a_key_is_one_also_where_the_key_is_misspelt(text: str) -> None:
    ((start, end),) = secret_offsets(parse_yaml(text.encode()), _Settings)
    assert text[start:end] in ("1234", "clear")


@pytest.mark.parametrize("text", ["pin: ${PIN}\n", "access: [{user: clear}]\n"])
def test_a_reference_is_none_and_neither_is_any_other_value(text: str) -> None:
    assert list(secret_offsets(parse_yaml(text.encode()), _Settings)) == []
