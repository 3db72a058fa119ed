"""What all kinds of manifest share: strictness, names of keys, types of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from gitops.model.errors import InvalidNameError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaAutoUpdateCompatibilityStrategy, SchemaCompatibilityStrategy

# How a validator of ours says what is wrong.

OWN_ERROR: Final = "gitops"


def problem(rule: str, message: str, hint: str = "") -> PydanticCustomError:
    """An error that becomes a finding of `rule`; `{name}` in the message is the value's key."""
    context = {"rule": rule, "text": message, "hint": hint}
    return PydanticCustomError(OWN_ERROR, "{text}", context)


API_VERSION: Final = "pulsar-gitops/v1"
ApiVersion = Literal["pulsar-gitops/v1"]


class Document(BaseModel):
    """A mapping whose keys are all known; keys are camelCase in YAML."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        protected_namespaces=(),
        defer_build=True,
    )

    has_secrets: ClassVar[bool] = False

    @classmethod
    def values_by_path(cls, _path: str, /) -> Mapping[str, str]:
        """Values of keys that the path of the manifest's file implies, by the keys' names."""
        return {}


NonEmpty = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
"""Text that says something."""

Strategy = Annotated[SchemaCompatibilityStrategy, Field(strict=False)]
LegacyStrategy = Annotated[SchemaAutoUpdateCompatibilityStrategy, Field(strict=False)]


def _namespace(text: str) -> str:
    try:
        NamespaceName.parse(text)
    except InvalidNameError as error:
        raise problem("REPO-R013", error.what, error.hint) from error
    return text


def _topic(text: str) -> str:
    try:
        topic = TopicName.parse(text)
    except InvalidNameError as error:
        raise problem("REPO-R013", error.what, error.hint) from error
    if topic.local_name != text.rsplit("/", 1)[-1]:
        raise problem(
            "REPO-R013",
            f"'{text}' names a partition",
            f"a partitioned topic is one topic: write {topic}",
        )
    return text


NamespaceText = Annotated[str, AfterValidator(_namespace)]
"""`tenant/namespace`."""

TopicText = Annotated[str, AfterValidator(_topic)]
"""`tenant/namespace/topic`, or with its domain before it."""


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem("REPO-R004", "{name} must be a number")
    return value


Number = Annotated[
    int | float,
    BeforeValidator(_number),
    Field(allow_inf_nan=False),
    WithJsonSchema({"type": "number"}),
]


def _definition(value: object) -> object:
    if not isinstance(value, str | dict | list):
        raise problem("REPO-R004", "{name} must be the path of a file, or the definition itself")
    if value == "":
        raise problem("REPO-R012", "{name} is empty", "name the definition's file")
    return value


Definition = Annotated[
    object,
    BeforeValidator(_definition),
    WithJsonSchema(
        {
            "description": "A file relative to this one, or the definition itself.",
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}, {"type": "array"}],
        }
    ),
]
