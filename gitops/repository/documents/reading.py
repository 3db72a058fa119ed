"""Bytes of a manifest into its document, with the place of everything in it."""

from __future__ import annotations

from functools import cached_property
from typing import Generic, TypeVar

from pydantic import ValidationError

from gitops.model.findings import Finding, Location
from gitops.model.rules import finding
from gitops.repository.documents.base import Document
from gitops.repository.documents.messages import DocumentProblem, problem_of
from gitops.repository.documents.secrets import secret_offsets
from gitops.repository.positions import Lines, Path, Span, pointer
from gitops.repository.wording import one_line
from gitops.repository.yaml.parser import ParsedYaml, parse_yaml
from gitops.repository.yaml.problems import YamlProblem

D = TypeVar("D", bound=Document)


class Manifest(Generic[D]):
    """A manifest that was read: `document` is None where it is not what it should be."""

    def __init__(self, file: str, data: bytes, model: type[D], *, secrets: bool = False) -> None:
        """Read `data`; with `secrets`, lines that may hold one are marked sensitive."""
        self.file = file
        self.model = model
        self._secrets = secrets
        self.parsed: ParsedYaml = parse_yaml(data)
        self.document: D | None = None
        self.findings: list[Finding] = [self._of_yaml(each) for each in self.parsed.problems]
        if self.parsed.complete:
            self._validate()

    def location(self, path: Path = (), *, at_key: bool = False) -> Location:
        """The place of a value (of its key, with `at_key` or where it is no scalar)."""
        known = self._nearest(path)
        span = self._span(known, at_key=at_key or known != path)
        return self._place(span, pointer(path))

    def add(
        self, rule: str, message: str, path: Path, *, at_key: bool = False, hint: str = ""
    ) -> None:
        """One more finding about this manifest."""
        place = self.location(path, at_key=at_key)
        self.findings.append(finding(rule, one_line(message), location=place, hint=one_line(hint)))

    def problems_of(self, error: ValidationError) -> list[DocumentProblem]:
        """Pydantic's errors in the product's own words."""
        details = error.errors(include_url=False, include_input=False)
        return [problem_of(each, self.parsed.value, self.model) for each in details]

    def _validate(self) -> None:
        if self.parsed.empty:
            self.findings.append(
                finding(
                    "REPO-R005",
                    "the file is empty",
                    location=Location(file=self.file),
                    hint="write apiVersion: pulsar-gitops/v1 and kind:, or remove the file",
                )
            )
            return
        try:
            document = self.model.model_validate(self.parsed.value)
        except ValidationError as error:
            self._report(self.problems_of(error))
            return
        if not self.parsed.problems:
            self.document = document

    def _report(self, problems: list[DocumentProblem]) -> None:
        # With another kind, all that follows from it is noise.
        wrong_kind = [each for each in problems if each.rule == "REPO-R010"]
        for each in wrong_kind or problems:
            self.add(each.rule, each.message, each.path, at_key=each.at_key, hint=each.hint)

    def _of_yaml(self, problem: YamlProblem) -> Finding:
        place = self._place(problem.span, pointer(problem.path))
        message = one_line(problem.message)
        return finding(problem.rule, message, location=place, hint=problem.hint)

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
            sensitive=self._secrets and (not self.parsed.complete or line in self._secret_lines),
        )

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.parsed.text)

    @cached_property
    def _secret_lines(self) -> frozenset[int]:
        lines: set[int] = set()
        for start, end in secret_offsets(self.parsed):
            first, _ = self._lines.position(start)
            last, _ = self._lines.position(end)
            lines.update(range(first, last + 1))
        return frozenset(lines)


_WHOLE_LINE = 200
