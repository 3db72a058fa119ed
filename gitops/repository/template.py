"""The template of a new schemas repository, and the wheel that its workflows install."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import gitops
from gitops.model.errors import UsageError
from gitops.repository.shipped_files import SHIPPED, shipped_folder

# The wheel of this installation, which a schemas repository keeps for its workflows.
#
# That needs neither a package index nor an address of the project: a workflow runs what `init`
# ran.

_NAME: Final = "pulsar-schema-gitops"
_METADATA: Final = ("METADATA", "entry_points.txt", "licenses/LICENSE")
_WHEEL: Final = (
    "Wheel-Version: 1.0\nGenerator: pulsar-gitops\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
)
_LATER: Final = (1980, 1, 1, 0, 0, 0)
"""The time of each file in it, so that the same files make the same wheel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel's file name, its bytes, and their SHA-256 in hex."""

    name: str
    content: bytes
    sha256: str


@cache
def build_wheel() -> Wheel:
    """What runs here, as a wheel; raises UsageError where it is not installed, and OSError."""
    try:
        installed = distribution(_NAME)
    except PackageNotFoundError as error:
        raise UsageError(
            f"{_NAME} is not installed here", hint="pip install it, and run this again"
        ) from error
    version = installed.version
    stem = f"{_NAME.replace('-', '_')}-{version}"
    described = {name: installed.read_text(name) for name in _METADATA}
    files = dict(_package_files())
    files |= {f"{stem}.dist-info/{name}": text.encode() for name, text in described.items() if text}
    files[f"{stem}.dist-info/WHEEL"] = _WHEEL.encode()
    content = _pack(files, f"{stem}.dist-info/RECORD")
    return Wheel(
        name=f"{stem}-py3-none-any.whl",
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _package_files() -> Iterator[tuple[str, bytes]]:
    """The package, with what a checkout keeps beside it."""
    folders = {"gitops": Path(gitops.__file__).parent}
    folders |= {f"gitops/{name}": shipped_folder(name) for name in SHIPPED}
    grouped = {
        f"{prefix}/{path.relative_to(folder).as_posix()}": path
        for prefix, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    for name, path in sorted(grouped.items()):
        yield name, path.read_bytes()


def _pack(files: dict[str, bytes], record: str) -> bytes:
    """A wheel of these files, with the list of them that its format asks for."""
    lines = "".join(f"{path},{_digest(data)},{len(data)}\n" for path, data in files.items())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {**files, record: f"{lines}{record},,\n".encode()}.items():
            entry = zipfile.ZipInfo(path, _LATER)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _digest(data: bytes) -> str:
    value = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={value}"


# Where the template of a new schemas repository lies.


_ACTION: Final = Path(".github/actions/pulsar-gitops")


def template_root() -> Path:
    """The template's folder: inside the installed package, or in the checkout beside it."""
    return shipped_folder("template")


def make_repository(target: Path) -> int:
    """Write the template and the wheel; answers how many files, or leaves none of them.

    Raises UsageError as below, and for a name that is a URL: a folder `https:` helps nobody, and
    the URL may have a password.
    """
    if _URL.match(str(target)):
        raise UsageError("init makes a folder, and was given a URL", hint="name a new folder")
    _require_empty(target)
    missing = [folder for folder in (target, *target.parents) if not folder.exists()]
    try:
        return copy_template(target) + keep_own_wheel(target)
    except BaseException:  # a full disk: the folder would be refused by the next `init`
        _remove_template(target)
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def _require_empty(target: Path) -> None:
    try:
        if target.exists() and any(entry.name != ".git" for entry in target.iterdir()):
            raise UsageError(f"{target} is not empty", hint="name a new folder, or an empty one")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error


def _remove_template(target: Path) -> None:
    """Remove what was written, and the folders that are empty then."""
    source = template_root()
    wheels = list((target / _ACTION).glob("*.whl"))
    copies = [target / path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    for path in (*copies, *wheels):
        with suppress(OSError):
            path.unlink()
    folders = {folder for path in (*copies, *wheels) for folder in path.parents}
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        if folder != target and folder.is_relative_to(target):
            with suppress(OSError):
                folder.rmdir()


def copy_template(target: Path) -> int:
    """Copy the template into a new or empty folder; answers how many files were written.

    A folder that holds nothing but `.git` counts as empty. Raises UsageError for any other, and
    where the folder cannot be written.
    """
    _require_empty(target)
    try:
        source = template_root()
        files = [path for path in sorted(source.rglob("*")) if path.is_file()]
        for path in files:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return len(files)


def keep_own_wheel(target: Path) -> int:
    """Put this installation beside the action that installs it; answers how many files it made.

    `requirements.txt` names the wheel by its hash, without which pip does not take it. Raises
    UsageError where that is not possible.
    """
    try:
        wheel = build_wheel()
        (target / _ACTION / wheel.name).write_bytes(wheel.content)
        with (target / _ACTION / "requirements.txt").open("a", encoding="utf-8") as file:
            file.write(f"./{_ACTION.as_posix()}/{wheel.name} --hash=sha256:{wheel.sha256}\n")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return 1
