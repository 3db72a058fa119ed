"""What people do to the files of a schemas repository."""

from __future__ import annotations

from typing import Any

from tests.scenarios.repositories import edit_json
from tests.support.git_repos import GitRepository


class Schemas:
    """The folder of the schemas, and what people do to it."""

    def __init__(self, repo: GitRepository) -> None:
        self.repo = repo
        self.root = repo.root / "schemas"

    def add_field(self, path: str, name: str, **rest: object) -> None:
        def add(schema: dict[str, Any]) -> None:
            schema["fields"].append({"name": name, "type": "string"} | rest)

        edit_json(self.root / path, add)

    def drop_field(self, path: str, name: str) -> None:
        def drop(schema: dict[str, Any]) -> None:
            schema["fields"] = [each for each in schema["fields"] if each["name"] != name]

        edit_json(self.root / path, drop)

    def set_doc(self, path: str, doc: str) -> None:
        edit_json(self.root / path, lambda schema: schema.update(doc=doc))

    def replace(self, path: str, old: str, new: str) -> None:
        place = self.root / path
        text = place.read_text("utf-8")
        assert old in text
        place.write_text(text.replace(old, new), "utf-8")

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def remove(self, *paths: str) -> None:
        for path in paths:
            (self.root / path).unlink()

    def revert(self, merge: str) -> None:
        self.repo.git("revert", "--no-commit", "--mainline", "1", merge)

    def move(self, old: str, new: str) -> None:
        self.repo.git("mv", f"schemas/{old}", f"schemas/{new}")
