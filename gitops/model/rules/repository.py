"""Rules about the files of a repository."""

from __future__ import annotations

from typing import Final

from gitops.model.rules.rule import fixed_error, warning

REPOSITORY_RULES: Final = (
    fixed_error("REPO-R001", "not a YAML text", "repository.yaml.parser._syntax_problem"),
    fixed_error(
        "REPO-R002", "unknown key", "repository.documents.validation_messages._unknown_key"
    ),
    fixed_error("REPO-R003", "duplicate key", "repository.yaml.builder.Builder._key"),
    fixed_error(
        "REPO-R004",
        "wrong type of value",
        "repository.documents.validation_messages._expected_text",
    ),
    fixed_error(
        "REPO-R005", "missing key", "repository.documents.validation_messages._missing_key"
    ),
    fixed_error("REPO-R006", "missing file", "repository.definitions.text.definition_file"),
    fixed_error(
        "REPO-R007", "path leads outside the repository", "repository.documents.parser.unreadable"
    ),
    fixed_error(
        "REPO-R008",
        "document is too large, too deep or expands too much",
        "repository.yaml.builder.Builder._open",
    ),
    fixed_error(
        "REPO-R009",
        "YAML feature that manifests do not use",
        "repository.yaml.builder.Builder._key",
    ),
    fixed_error(
        "REPO-R010",
        "wrong kind or apiVersion",
        "repository.documents.validation_messages._unknown_value",
    ),
    fixed_error(
        "REPO-R011", "unknown value", "repository.documents.validation_messages._unknown_value"
    ),
    fixed_error(
        "REPO-R012",
        "value that is out of range",
        "repository.documents.validation_messages._limit",
    ),
    fixed_error("REPO-R013", "not a valid name", "repository.documents.base._topic"),
    fixed_error(
        "REPO-R014", "secret in clear text", "repository.documents.authentication._reference"
    ),
    fixed_error(
        "REPO-R015",
        "keys that do not go together",
        "repository.definitions.schema_builder.SchemaBuilder.build",
    ),
    fixed_error(
        "REPO-R016", "manifest in the wrong place", "repository.loading.strays.find_strays"
    ),
    fixed_error("REPO-R017", "declared twice", "repository.loading.topics._check_twice"),
    fixed_error("REPO-R018", "unreadable file", "repository.documents.parser.unreadable"),
    fixed_error(
        "REPO-R019",
        "definition cannot be turned into JSON",
        "repository.definitions.schema_builder.SchemaBuilder._is_json",
    ),
    fixed_error(
        "REPO-R020",
        "protobuf definition does not compile",
        "repository.definitions.schema_builder.SchemaBuilder._protobuf",
    ),
    fixed_error(
        "REPO-R021",
        "shared types refer to each other in a cycle",
        "repository.definitions.shared_types._Expander._known",
    ),
    fixed_error(
        "REPO-R022",
        "shared type is defined in several ways",
        "repository.definitions.shared_types._Expander._put_in",
    ),
    warning("REPO-R023", "file that nothing uses", "repository.loading.strays.find_strays"),
    warning("REPO-R024", "broken snapshot", "repository.snapshots.snapshot_findings"),
)
"""REPO-*: a file cannot be read as what it should be."""
