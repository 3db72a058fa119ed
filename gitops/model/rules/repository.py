"""Rules about the files of a repository."""

from __future__ import annotations

from typing import Final

from gitops.model.rules.rule import fixed, warning

REPOSITORY_RULES: Final = (
    fixed("REPO-R001", "not a YAML text", "repository.yaml.parser._syntax_problem"),
    fixed("REPO-R002", "unknown key", "repository.documents.validation_messages._unknown_key"),
    fixed("REPO-R003", "duplicate key", "repository.yaml.builder.Builder._key"),
    fixed(
        "REPO-R004",
        "wrong type of value",
        "repository.documents.validation_messages._expected_text",
    ),
    fixed("REPO-R005", "missing key", "repository.documents.validation_messages._missing_key"),
    fixed("REPO-R006", "missing file", "repository.definitions.text.definition_file"),
    fixed(
        "REPO-R007", "path leads outside the repository", "repository.documents.parser.unreadable"
    ),
    fixed(
        "REPO-R008",
        "document is too large, too deep or expands too much",
        "repository.yaml.builder.Builder._open",
    ),
    fixed(
        "REPO-R009",
        "YAML feature that manifests do not use",
        "repository.documents.parser.Manifest._report",
    ),
    fixed(
        "REPO-R010",
        "wrong kind or apiVersion",
        "repository.documents.validation_messages._unknown_value",
    ),
    fixed("REPO-R011", "unknown value", "repository.documents.validation_messages._unknown_value"),
    fixed(
        "REPO-R012",
        "value that makes no sense",
        "repository.documents.validation_messages._anything_else",
    ),
    fixed("REPO-R013", "not a valid name", "repository.documents.base._topic"),
    fixed("REPO-R014", "secret in clear", "repository.documents.authentication._reference"),
    fixed(
        "REPO-R015", "keys that do not go together", "repository.documents.parser.Manifest._follows"
    ),
    fixed("REPO-R016", "manifest in the wrong place", "repository.loading.strays.find_strays"),
    fixed("REPO-R017", "declared twice", "repository.loading.topics._check_twice"),
    fixed("REPO-R018", "unreadable file", "repository.documents.parser.unreadable"),
    fixed(
        "REPO-R019",
        "definition cannot be turned into JSON",
        "repository.definitions.schema_builder.SchemaBuilder._is_json",
    ),
    fixed(
        "REPO-R020",
        "protobuf definition does not compile",
        "repository.definitions.schema_builder.SchemaBuilder._protoc_finding",
    ),
    fixed(
        "REPO-R021",
        "shared types refer to each other in a cycle",
        "repository.definitions.shared_types._Expander._known",
    ),
    fixed(
        "REPO-R022",
        "shared type is defined in several ways",
        "repository.definitions.shared_types._Expander._put_in",
    ),
    warning("REPO-R023", "file that nothing uses", "repository.loading.strays.find_strays"),
    warning("REPO-R024", "broken snapshot", "repository.snapshots._finding"),
)
"""REPO-*: a file cannot be read as what it should be."""
