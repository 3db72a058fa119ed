"""Java classes of `.proto` files, made by the protoc of Pulsar's protobuf-java, which Maven has."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.pulsar_class_path import CACHE, BrokerUnavailableError, maven_error

_VERSION: Final = "3.25.5"
_SYSTEMS: Final = {"linux": "linux", "darwin": "osx"}
_PROCESSORS: Final = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch_64"}
_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_SECONDS: Final = 300


def make_java(protos: Sequence[Path], folder: Path) -> list[Path]:
    """The sources that protoc makes in `folder`; raises BrokerUnavailableError."""
    # The program comes without the files of `google/protobuf`, of which it needs the names alone.
    tools = find_spec("grpc_tools")
    if tools is None or tools.origin is None:
        raise BrokerUnavailableError("the extra protobuf is not installed")
    places = (f"-I{protos[0].parent}", f"-I{Path(tools.origin).parent / '_proto'}")
    command = [str(_find()), *places, f"--java_out={folder}", *map(str, protos)]
    subprocess.run(command, check=True)
    return sorted(folder.rglob("*.java"))


def _find() -> Path:
    """The program, from the cache or from Maven."""
    processor = _PROCESSORS.get(platform.machine().lower())
    system = _SYSTEMS.get(sys.platform)
    if system is None or processor is None:
        raise BrokerUnavailableError("Maven has no protoc for this machine")
    name = f"protoc-{_VERSION}-{system}-{processor}.exe"
    found = CACHE / name
    if not found.exists():
        _fetch(f"com.google.protobuf:protoc:{_VERSION}:exe:{system}-{processor}", name)
    return found


def _fetch(artifact: str, name: str) -> None:
    """Into a folder of its own first: whoever else fetches it does not see half of it."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise BrokerUnavailableError("no mvn on the PATH (it fetches protoc)")
    CACHE.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as folder:
        command = [mvn, "-q", "-B", _GOAL, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
        if done.returncode != 0:
            said = maven_error(done.stdout + done.stderr)
            raise BrokerUnavailableError(f"mvn could not fetch protoc: {said}")
        made = Path(folder, name)
        made.chmod(0o755)
        made.replace(CACHE / name)
