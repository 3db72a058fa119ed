"""What a broker line is: a value, with everything in which one differs from another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gitops.schemas.rules import SchemaRules
from gitops.schemas.types import SchemaTypes, schema_types


@dataclass(frozen=True, kw_only=True)
class BrokerLine:
    """A release line of Pulsar, as the release `seen` was seen to decide, if any was.

    `invalid_consumers_connect`: a consumer whose definition is not valid connects to an idle topic
    and registers nothing. `has_metadata`: admin REST has GET …/metadata. `errors_show_url`: its
    error pages show the whole URL of the request, not only the path. `has_message_in_status_line`:
    the message of an error is the reason phrase as well. `tests_first_schemas`: a test of
    compatibility with the latest version is answered for a topic that has none; else it fails.
    """

    name: str
    seen: str
    rules: SchemaRules
    invalid_consumers_connect: bool = True
    has_metadata: bool = True
    errors_show_url: bool = False
    has_message_in_status_line: bool = True
    tests_first_schemas: bool = True

    @property
    def example(self) -> str:
        """The release that was seen to decide so, else the line."""
        return self.seen or self.name

    @cached_property
    def types(self) -> SchemaTypes:
        """The schema types as this line has them."""
        return schema_types(self.rules)
