"""A class of a Python program, imported as `python -m` would, and its schema."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from gitops.extraction.class_kinds import CLASS_KINDS, ClassKind
from gitops.extraction.extraction import Extraction, ExtractRequest
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaType
from gitops.repository.definitions.upload import parse_type
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.schemas.payload import PayloadError, to_stored
from gitops.schemas.row import InvalidSchemaDataError
from gitops.schemas.types import TYPES

_OURS: Final = str(Path(__file__).parents[1])


def extract_python(request: ExtractRequest) -> Extraction:
    """The schema of `MODULE:CLASS`; raises UsageError.

    Importing the module runs the program's own code; what it prints goes to stderr.
    """
    with _search_first(request.folders), redirect_stdout(sys.stderr):
        cls = _class(request.name)
        kind = _kind(cls, request.name)
        extraction = kind.read(cls, _schema_type(kind, request), request)
    try:
        TYPES.validate(to_stored(extraction.info))
    except (PayloadError, InvalidSchemaDataError, RecursionError) as error:
        raise UsageError(
            f"Pulsar would not accept the definition of {request.name}: {error}",
            where=str(extraction.locate("")),
            hint="names in Avro consist of letters, digits and _",
        ) from error
    return extraction


@contextmanager
def _search_first(folders: Sequence[Path]) -> Iterator[None]:
    """Search for modules in these folders, then in the current one, as `python -m` does."""
    before = list(sys.path)
    sys.path[:0] = [*(str(folder.resolve()) for folder in folders), str(Path.cwd())]
    try:
        yield
    finally:
        sys.path[:] = before


def _class(name: str) -> Any:  # noqa: ANN401 - any object of the program
    module_name, _, path = name.partition(":")
    value: Any = _module(module_name)
    for part in path.split("."):
        inside = vars(value) if hasattr(value, "__dict__") else {}
        try:
            value = getattr(value, part)
        except AttributeError:
            hint = did_you_mean_or_list(part, [key for key in inside if not key.startswith("_")])
            where = getattr(sys.modules[module_name], "__file__", None) or module_name
            raise UsageError(f"{module_name} has no {path}", where=where, hint=hint) from None
    return value


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"there is no module {error.name}",
                where=f"{Path.cwd()}, and what is installed in {sys.prefix}",
                hint="run this in the program's own environment; --path adds a folder, such as "
                "--path src",
            ) from error
        raise _import_error(name, error) from error
    except (Exception, SystemExit) as error:
        raise _import_error(name, error) from error


def _import_error(name: str, error: BaseException) -> UsageError:
    """The last line of a traceback, and where in the program it is from."""
    line = traceback.format_exception_only(error)[-1].strip()
    hint = "import it as the program does: python -c 'import {}'"
    return UsageError(
        f"{name} cannot be imported: {line}", where=_origin(error), hint=hint.format(name)
    )


def _origin(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_OURS, "<frozen", importlib.__file__))
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _kind(cls: object, name: str) -> ClassKind:
    class_kinds = [kind for kind in CLASS_KINDS if isinstance(cls, type) and kind.matches(cls)]
    if class_kinds:
        return class_kinds[0]
    known = [kind.name for kind in CLASS_KINDS]
    what = "a class without a schema" if isinstance(cls, type) else "not a class"
    hint = f"it must be {', '.join(known[:-1])} or {known[-1]}"
    raise UsageError(f"{name} is {what}", hint=hint)


def _schema_type(kind: ClassKind, request: ExtractRequest) -> SchemaType:
    if request.schema_type is None:
        fits = (
            schema_type for schema_type in kind.types if schema_type.value == request.topic_type
        )
        return next(fits, kind.types[0])
    wanted = parse_type(request.schema_type)
    if wanted not in kind.types:
        types = " or ".join(schema_type.value for schema_type in kind.types)
        raise UsageError(
            f"{request.name} is {kind.name}, which has no schema of type {wanted.value}",
            hint=f"--type {types}",
        )
    return wanted
