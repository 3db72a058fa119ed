"""Bytes of a manifest into its document, with the location of everything in it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, Generic, TypeVar

from pydantic import ValidationError

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.model.rules import make_finding
from gitops.repository.documents.authentication import secret_offsets
from gitops.repository.documents.base import Document
from gitops.repository.documents.partial_documents import Salvage, salvage
from gitops.repository.documents.validation_messages import DocumentProblem, problem_of
from gitops.repository.positions import Lines, Path, Span, pointer
from gitops.repository.suggestions import one_line
from gitops.repository.tracked_files import TrackedFiles
from gitops.repository.yaml.dumper import yaml_text
from gitops.repository.yaml.parser import ParsedYaml, parse_yaml
from gitops.repository.yaml.problems import YamlProblem

D = TypeVar("D", bound=Document)


class Manifest(Generic[D]):
    """A manifest that was read: `document` is None where it is not what it should be.

    `rest` then is as much of it as can be understood, to find what else is wrong; else it is the
    document.
    """

    def __init__(self, file: str, data: bytes, model: type[D]) -> None:
        """Read `data`; lines that may hold a secret of the model are marked sensitive."""
        self.file = file
        self.model = model
        self._secrets = model.has_secrets
        self._unknown_lines: set[int] = set()
        self._hidden_keys: set[Path] = set()
        self.parsed: ParsedYaml = parse_yaml(data)
        self.document: D | None = None
        self._saved: Salvage[D] = Salvage()
        self.findings: list[Finding] = [self._of_yaml(problem) for problem in self.parsed.problems]
        if self.parsed.complete:
            self._validate()

    @property
    def rest(self) -> D | None:
        """The document, or what is left of it."""
        return self.document or self._saved.document

    def is_lost(self, path: Path) -> bool:
        """Whether something stands in `rest` at this place that nobody has written."""
        return path in self._saved.lost

    def location(self, path: Path = (), *, at_key: bool = False) -> Location:
        """The place of a value (of its key, with `at_key` or where it is no scalar)."""
        written = self._written(path)
        known = self._nearest(written)
        span = self._span(known, at_key=at_key or known != written)
        return self._place(span, pointer(written[:-1] if written in self._hidden_keys else written))

    def location_of(self, span: Span, path: str) -> Location:
        """The place of some characters of the text, with this JSON pointer."""
        return self._place(span, path)

    def add(
        self, rule: str, message: str, path: Path, *, at_key: bool = False, hint: str = ""
    ) -> None:
        """One more finding about this manifest, unless it only follows from another one."""
        if self._follows(rule, path):
            return
        place = self.location(path, at_key=at_key)
        self.findings.append(
            make_finding(rule, one_line(message), location=place, hint=one_line(hint))
        )

    def problems_of(self, error: ValidationError) -> list[DocumentProblem]:
        """Pydantic's errors in the product's own words."""
        details = error.errors(include_url=False, include_input=False)
        return [problem_of(detail, self.parsed.value, self.model) for detail in details]

    def _validate(self) -> None:
        if self.parsed.empty:
            self.findings.append(
                make_finding(
                    "REPO-R005",
                    "the file is empty",
                    location=Location(file=self.file),
                    hint="write apiVersion: pulsar-gitops/v1 and kind:"
                    + ("" if self.file == "gitops.yaml" else ", or remove the file"),
                )
            )
            return
        try:
            document = self.model.model_validate(self.parsed.value)
        except ValidationError as error:
            self._report(self.problems_of(error))
            return
        if self.parsed.problems:
            self._saved.document = document
        else:
            self.document = document

    def _report(self, problems: list[DocumentProblem]) -> None:
        # In a manifest of another kind, all that follows from it is noise.
        other_kind = [item for item in problems if self._is_other_kind(item)]
        saved: Salvage[D] = Salvage() if other_kind else salvage(self.parsed.value, self.model)
        parts = other_kind or [*problems, *saved.others]
        unread = {
            yaml_problem.path[:-1]
            for yaml_problem in self.parsed.problems
            if yaml_problem.rule == "REPO-R009"
        }
        misspelt = {(*part.path[:-1], part.instead) for part in parts if part.at_key}
        for problem in parts:
            if problem.rule == "REPO-R002" and self._secrets:
                self._hide(problem)
        for problem in parts:
            there = problem.path in unread or (*problem.path, problem.missing) in misspelt
            if not problem.missing or not there:
                hint = problem.hint or self._value_by_path(problem)
                self.add(
                    problem.rule, problem.message, problem.path, at_key=problem.at_key, hint=hint
                )
        self._saved = saved

    def _hide(self, unknown: DocumentProblem) -> None:
        """Show no line of a key that is unknown: `tokn` may well have a secret."""
        path = self._written(unknown.path)
        if unknown.hides_key:
            self._hidden_keys.add(path)
        for span in (self.parsed.keys.get(path), self.parsed.values.get(path)):
            if span is not None:
                first, _ = self._lines.position(span.start)
                last, _ = self._lines.position(span.end)
                self._unknown_lines.update(range(first, last + 1))

    def _value_by_path(self, problem: DocumentProblem) -> str:
        """What to write for a key that is missing and whose value the file's path implies."""
        value = None if problem.path else self.model.values_by_path(self.file).get(problem.missing)
        return f"write {yaml_text({problem.missing: value}).strip()}" if value else ""

    def _is_other_kind(self, problem: DocumentProblem) -> bool:
        value = self.parsed.value
        given = value.get("kind") if isinstance(value, dict) else None
        return problem.path == ("kind",) and isinstance(given, str) and given in _KINDS

    def _follows(self, rule: str, path: Path) -> bool:
        """Whether a finding is about a key that goes with one whose value is lost."""
        beside = {lost_path[:-1] for lost_path in self._saved.lost}
        return (rule in _ABOUT_KEYS and path in beside) or (
            rule == "REPO-R015" and path[:-1] in beside
        )

    def _of_yaml(self, problem: YamlProblem) -> Finding:
        place = self._place(problem.span, pointer(problem.path))
        message = one_line(problem.message)
        hint = problem.hint
        if problem.first is not None:
            line, _ = self._lines.position(problem.first.start)
            hint = f"it is in line {line} already: {hint}"
        return make_finding(problem.rule, message, location=place, hint=hint)

    def _written(self, path: Path) -> Path:
        """The path with keys as they stand in the text, misspelt."""
        for meant, written in self._saved.renamed.items():
            if path[: len(meant)] == meant:
                path = (*written, *path[len(meant) :])
        return path

    def _nearest(self, path: Path) -> Path:
        while path and path not in self.parsed.values and path not in self.parsed.keys:
            path = path[:-1]
        return path

    def _span(self, path: Path, *, at_key: bool) -> Span:
        value = self.parsed.values.get(path, Span(0, 0))
        key = self.parsed.keys.get(path)
        if key is not None and (at_key or value.end <= value.start):
            return key
        is_block = self.parsed.text[value.start : value.start + 1] in "{[|>"
        if key is not None and (is_block or "\n" in self.parsed.text[key.end : value.start]):
            return key
        return value

    def _place(self, span: Span, at: str) -> Location:
        line, column = self._lines.position(span.start)
        length = self._lines.length_on_line(span)
        if not self.parsed.text:
            line = column = 0
        return Location(
            file=self.file,
            line=line,
            column=column,
            length=length if length < _WHOLE_LINE else 1,
            pointer=at,
            sensitive=self._secrets and self._may_hold_secret(line),
        )

    def _may_hold_secret(self, line: int) -> bool:
        """In a text that cannot be read, any line may; one that only opens a bracket does not."""
        if self.parsed.complete:
            return line in self._secret_lines or line in self._unknown_lines
        text = _LINE_END.split(self.parsed.text)
        return not (0 < line <= len(text) and _OPENS.fullmatch(text[line - 1]))

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.parsed.text)

    @cached_property
    def _secret_lines(self) -> frozenset[int]:
        lines: set[int] = set()
        for start, end in secret_offsets(self.parsed, self.model):
            first, _ = self._lines.position(start)
            last, _ = self._lines.position(end)
            lines.update(range(first, last + 1))
        return frozenset(lines)


_WHOLE_LINE: Final = 200
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_OPENS: Final = re.compile(r"[ ]*[A-Za-z]{1,40}: *[\[{]")
_ABOUT_KEYS: Final = frozenset({"REPO-R005", "REPO-R015"})
_KINDS: Final = frozenset({"Client", "Config", "Namespace", "Topic", "Waiver"})


# Reads a manifest of any kind, with a finding where the file itself cannot be read.


def read_manifest(
    file: str, model: type[D], sources: TrackedFiles, findings: list[Finding]
) -> Manifest[D] | None:
    """The manifest, or None with a finding where the file cannot be read."""
    try:
        return Manifest(file, sources.data(file), model)
    except UnreadableFileError as error:
        findings.append(unreadable(file, error))
        return None


def unreadable(file: str, error: UnreadableFileError) -> Finding:
    """What a file that cannot be read means."""
    rule = "REPO-R007" if isinstance(error, OutsideRepositoryError) else "REPO-R018"
    return make_finding(rule, f"cannot be read: {error.what}", location=Location(file=file))
