"""Rows that nobody but this program writes, and what happens if somebody did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.model.decision import StoredSchema
from gitops.model.errors import OutsideError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaType
from gitops.registries.embedded import schema_rows
from gitops.registries.embedded.database import Database
from gitops.registries.embedded.schema_rows import StoredTopic

KEY = schema_rows.key_of(TopicName(NamespaceName("shop", "orders"), "created", "non-persistent"))
OTHER = ("shop", "orders", 'odd "name" é')
SCHEMA = StoredSchema(type=SchemaType.NONE, data=b"\x00\xff", properties={"k": "é"})


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "registry.db")
    yield database
    database.close()


def test_the_domain_is_no_part_of_a_key() -> None:
    assert KEY == ("shop", "orders", "created")


def test_only_what_follows_the_last_tombstone_is_live(database: Database) -> None:
    with database.writing() as connection:
        schema_rows.append(connection, KEY, 0, SCHEMA, 10)
        schema_rows.append_tombstone(connection, KEY, 1, 11)
        schema_rows.append(connection, KEY, 2, SCHEMA, 12)
        schema_rows.append(connection, OTHER, 0, SCHEMA, 13)
        schema_rows.append_tombstone(connection, OTHER, 1, 14)
        found = schema_rows.read_topics(connection, [OTHER, KEY, ("a", "b", "c")])
        assert schema_rows.all_versions(connection, KEY) == (0, 1, 2)
        assert schema_rows.topics_with_schema(connection, "shop", "orders") == ("created",)
    assert [(each.version, each.timestamp) for each in found[KEY].live] == [(2, 12)]
    assert found[KEY].live[0].schema == SCHEMA
    assert found[KEY].history.next_version == 3
    assert found[OTHER] == StoredTopic(next_version=2, deleted_types={SCHEMA.type})
    assert found[KEY].history.deleted_types == {SCHEMA.type}
    assert found["a", "b", "c"] == StoredTopic()


def test_bytes_are_kept_as_none(database: Database) -> None:
    schema = StoredSchema(type=SchemaType.BYTES, data=b"")
    with database.writing() as connection:
        schema_rows.append(connection, KEY, 0, schema, 10)
        (found,) = schema_rows.read_topic(connection, KEY).live
    assert found.schema.type is SchemaType.NONE


@pytest.mark.parametrize(("column", "value"), [("type", "NOPE"), ("properties", "{")])
def test_a_row_that_makes_no_sense_is_told(database: Database, column: str, value: str) -> None:
    with database.writing() as connection:
        schema_rows.append(connection, KEY, 0, SCHEMA, 10)
        connection.execute(f"UPDATE entries SET {column} = ?", (value,))  # noqa: S608

    def read() -> StoredTopic:
        with database.reading() as connection:
            assert connection is not None
            return schema_rows.read_topic(connection, KEY)

    with pytest.raises(OutsideError, match="is not valid"):
        read()
