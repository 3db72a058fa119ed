"""The registry's file: foreign, damaged, newer, locked, and created by several at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from gitops.model.errors import OutsideError
from gitops.registries.embedded.database import APPLICATION_ID, FILE_VERSION, Database, create


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "registry.db")
    yield database
    database.close()


def tenants(database: Database) -> list[str]:
    with database.reading() as connection:
        assert connection is not None
        return [name for (name,) in connection.execute("SELECT name FROM tenants ORDER BY name")]


def add_tenant(database: Database, name: str) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO tenants VALUES (?, '[]', '[]')", (name,))


def test_an_absent_file_reads_as_none(database: Database) -> None:
    with database.reading() as connection:
        assert connection is None
    assert not database.path.exists()


def test_the_file_is_in_wal_mode_and_says_what_it_is(database: Database) -> None:
    add_tenant(database, "a")
    with closing(sqlite3.connect(database.path)) as connection:
        told = [
            connection.execute(f"PRAGMA {each}").fetchone()[0]
            for each in ("journal_mode", "application_id", "user_version")
        ]
    assert told == ["wal", APPLICATION_ID, FILE_VERSION]


def test_a_raising_block_is_rolled_back(database: Database) -> None:
    add_tenant(database, "a")

    class StoppedError(Exception):
        pass

    def stop_in_the_middle() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO tenants VALUES ('b', '[]', '[]')")
            raise StoppedError

    with pytest.raises(StoppedError):
        stop_in_the_middle()
    assert tenants(database) == ["a"]


def test_a_file_that_is_there_is_not_created_again(database: Database) -> None:
    add_tenant(database, "a")
    create(database.path)
    assert tenants(database) == ["a"]
    assert [each.name for each in database.path.parent.glob(".*")] == []


@pytest.mark.slow
def test_many_may_create_it_at_once(tmp_path: Path) -> None:
    databases = [Database(tmp_path / "registry.db") for _ in range(8)]
    names = [f"t{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_tenant, databases, names))
    assert tenants(databases[0]) == names
    for each in databases:
        each.close()


def test_threads_take_turns_on_one_connection(database: Database) -> None:
    names = [f"t{number:02}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: add_tenant(database, name), names))
    assert tenants(database) == names


@pytest.mark.parametrize("content", [b"", b"not a database " * 100, b"SQLite format 3\0" * 64])
def test_a_foreign_file_is_refused_and_left_as_it_is(database: Database, content: bytes) -> None:
    database.path.write_bytes(content)
    with pytest.raises(OutsideError) as reading, database.reading():
        pass
    with pytest.raises(OutsideError), database.writing():
        pass
    assert reading.value.hint
    assert reading.value.where == str(database.path)
    assert database.path.read_bytes() == content


def test_another_programs_database_is_refused(database: Database) -> None:
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(OutsideError, match="not a schema registry"), database.reading():
        pass


def test_a_newer_file_is_refused(database: Database) -> None:
    create(database.path)
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute(f"PRAGMA user_version = {FILE_VERSION + 1}")
    with pytest.raises(OutsideError, match=f"layout {FILE_VERSION + 1}") as newer:
        add_tenant(database, "a")
    assert "upgrade" in newer.value.hint


def test_a_damaged_file_is_told(database: Database) -> None:
    add_tenant(database, "a")
    database.close()
    content = database.path.read_bytes()
    database.path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(OutsideError, match="cannot be read"):
        tenants(database)


def test_a_folder_in_its_place_is_told(database: Database) -> None:
    database.path.mkdir()
    with pytest.raises(OutsideError, match="cannot be used"), database.reading():
        pass


def test_a_file_in_the_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    database = Database(tmp_path / "file" / "registry.db")
    with pytest.raises(OutsideError, match="cannot be created"), database.writing():
        pass


def test_a_lock_held_too_long_is_told(database: Database) -> None:
    add_tenant(database, "a")
    impatient = Database(database.path, busy_seconds=0)
    with (
        database.writing(),
        pytest.raises(OutsideError, match="another process") as locked,
        impatient.writing(),
    ):
        pass
    assert locked.value.hint
    with database.writing():
        assert tenants(impatient) == ["a"]
    impatient.close()


def test_a_folder_that_cannot_be_written_is_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_tenant(database, "shop")
    database.close()
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert tenants(database) == ["shop"]
    assert [each.name for each in database.path.parent.iterdir()] == [database.path.name]
    with pytest.raises(OutsideError, match="readonly"):
        add_tenant(database, "other")
