"""Resolves the jars of a Pulsar release that the tests start or ask, once, with Maven.

A class path is kept in the project's `.cache/`, under the hash of the pom that it came from.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / ".cache"
POMS: Final = Path(__file__).parent / "pulsar"
RELEASE: Final = "4.0.7"
"""The release of the broker that tests start unless they ask for another."""
OLDEST_JAVA: Final = 17
"""What every release runs on that `JAVA_OF_RELEASE` does not name."""
JAVA_OF_RELEASE: Final = {"5.0.1": 21}
QUICK_START: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For a JVM that lives a minute: optimising its code costs more than it saves (half of a broker's
start), and so do several threads that collect garbage."""
JDKS: Final = Path("/usr/lib/jvm")
"""Where distributions install their JDKs."""
RESOLVE_SECONDS: Final = 600
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_ERROR: Final = "[ERROR] "
_ERROR_LENGTH: Final = 500


class BrokerUnavailableError(Exception):
    """A broker cannot be started on this machine; the text is the reason to skip with."""


def find_java(release: str = RELEASE) -> str:
    """The path of a `java` that runs a release; raises BrokerUnavailableError.

    The one on the PATH if it is new enough, else one that a variable `JAVA_HOME…` names, else an
    installed one.
    """
    oldest = JAVA_OF_RELEASE.get(release, OLDEST_JAVA)
    homes = [path for name, path in sorted(os.environ.items()) if name.startswith("JAVA_HOME")]
    programs = [
        shutil.which("java"),
        *(Path(home) / "bin" / "java" for home in homes),
        *sorted(JDKS.glob("*/bin/java")),
    ]
    for program in programs:
        if program is not None and java_version(program) >= oldest:
            return str(program)
    raise BrokerUnavailableError(f"no Java {oldest} or later, which Pulsar {release} needs")


@cache
def java_version(java: str | Path) -> int:
    """The feature version of a `java`, 0 where there is none."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    version = re.search(r'version "(\d+)', shown.stderr)
    return int(version[1]) if version else 0


def broker_class_path(release: str = RELEASE) -> str:
    """The class path on which a broker of that release starts; raises BrokerUnavailableError.

    That of `class_path`, in which the jars named in `jars-RELEASE.xml`, if there is one, replace
    those of other versions.
    """
    jars = class_path(release).split(":")
    pom = POMS / f"jars-{release}.xml"
    if not pom.is_file():
        return ":".join(jars)
    artifacts = re.findall("<artifact>(.+):(.+):(.+)</artifact>", pom.read_text(encoding="utf-8"))
    for group, name, version in artifacts:
        folder = f"/{group.replace('.', '/')}/{name}/"
        index = next(number for number, jar in enumerate(jars) if folder in jar)
        repository = jars[index].partition(folder)[0]
        jars[index] = f"{repository}{folder}{version}/{name}-{version}.jar"
    with _locked(CACHE / "pulsar-class-path.lock"):
        if not _are_there(jars):
            _run_maven(pom, "validate")
        if not _are_there(jars):
            raise BrokerUnavailableError(f"mvn did not download the jars of {pom.name}")
    return ":".join(jars)


def class_path(release: str = RELEASE) -> str:
    """The class path of a release's classes, from the cache or from Maven.

    Raises BrokerUnavailableError.
    """
    pom = POMS / f"pom-{release}.xml"
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:16]
    cached = CACHE / f"pulsar-class-path-{digest}.txt"
    CACHE.mkdir(exist_ok=True)
    with _locked(CACHE / "pulsar-class-path.lock"):
        if not _is_complete(cached):
            _resolve(pom, cached)
        return cached.read_text(encoding="utf-8").strip()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file, so that two test processes do not resolve at once."""
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_complete(cached: Path) -> bool:
    """Whether the cache names jars that are all still there."""
    if not cached.is_file():
        return False
    return _are_there(cached.read_text(encoding="utf-8").strip().split(":"))


def _are_there(jars: Iterable[str]) -> bool:
    return all(Path(jar).is_file() for jar in jars)


def _resolve(pom: Path, target: Path) -> None:
    """Let Maven download the jars and write their paths; raises BrokerUnavailableError."""
    unfinished = target.with_suffix(".part")
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
    _run_maven(pom, goal, f"-Dmdep.outputFile={unfinished}")
    if not _is_complete(unfinished):
        raise BrokerUnavailableError("mvn named jars that are not there")
    unfinished.replace(target)


def _run_maven(pom: Path, *goals: str) -> None:
    """Run Maven on a pom; raises BrokerUnavailableError with its first error."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise BrokerUnavailableError("no mvn on the PATH (it resolves the broker's jars)")
    command = [mvn, "-q", "-B", "-f", str(pom), *goals]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=RESOLVE_SECONDS
        )
    except subprocess.TimeoutExpired as cause:
        raise BrokerUnavailableError("mvn did not resolve the broker's jars in time") from cause
    if ended.returncode != 0:
        error = maven_error(ended.stdout + ended.stderr)
        raise BrokerUnavailableError(f"mvn could not resolve the broker's jars: {error}")


def maven_error(printed: str) -> str:
    """Maven's first error, in one line: what follows it are advice and addresses of pages."""
    plain = _COLOURS.sub("", printed)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
    return next(iter(errors or lines), "it said nothing")[:_ERROR_LENGTH]
