import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.backends import install
from tests.backends.recipes import BuildError, Module, Recipe


@dataclass(frozen=True)
class ScriptRecipe(Recipe):
    """A server that is a shell script, built at once."""

    builds: list[str] = field(default_factory=list)
    fails: bool = False

    def build(self, work: Path, binary: Path) -> Iterator[str]:
        yield "compile"
        self.builds.append(self.name)
        if self.fails:
            raise BuildError("it does not compile")
        binary.write_text("#!/bin/sh\nexit 0\n")
        binary.chmod(0o700)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty cache, and a `go` that is never called."""
    tools = tmp_path / "tools"
    tools.mkdir()
    go = tools / "go"
    go.write_text("#!/bin/sh\nexit 1\n")
    go.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "otel_trace" / "backends"


def list_folders(cache: Path) -> list[str]:
    """Return what a build left in the cache, without the locks."""
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


def test_a_server_is_built_once(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The second call finds the binary and builds nothing."""
    recipe = ScriptRecipe("jaeger", "1", 1)
    assert install.install(recipe) == cache / "jaeger-1" / "jaeger"
    assert install.install(recipe) == cache / "jaeger-1" / "jaeger"
    assert recipe.builds == ["jaeger"]
    assert capfd.readouterr().out.splitlines() == [
        "jaeger-1: building, about 1 minutes on 2 cores",
        "jaeger:    0 s  compile",
        "jaeger:    0 s  done",
        "jaeger-1: is built",
    ]


def test_a_failed_build_leaves_nothing(cache: Path) -> None:
    """The cache never holds half of a server."""
    with pytest.raises(BuildError, match="it does not compile"):
        install.install(ScriptRecipe("jaeger", "1", 1, fails=True))
    assert list_folders(cache) == []


def test_a_killed_build_is_cleared_away(cache: Path) -> None:
    """The folder of a build that was killed goes with the next build."""
    (cache / ".jaeger-killed").mkdir(parents=True)
    install.install(ScriptRecipe("jaeger", "1", 1))
    assert list_folders(cache) == ["jaeger-1"]


def test_two_callers_build_once(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The second caller waits, says so, and uses what the first one built."""
    recipe = ScriptRecipe("jaeger", "1", 1)
    with install.hold_lock("jaeger"):
        second = threading.Thread(target=install.install, args=(recipe,))
        second.start()
        while "waiting" not in capfd.readouterr().out:
            assert second.is_alive()
        install.build_into(recipe, cache / "jaeger-1")
    second.join(10)
    assert recipe.builds == ["jaeger"]


def test_missing_go_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without Go the command says what to install, and fails."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert install.main(["jaeger"]) == 1
    assert capfd.readouterr().err.splitlines() == [
        "backends: go was not found: install Go 1.25 or newer (https://go.dev/dl), put it on PATH, run `make backends`"
    ]


def test_a_wrong_hash_is_refused(tmp_path: Path) -> None:
    """A module that is not the one the recipe was written for is not built."""
    go = tmp_path / "tools" / "go"
    go.write_text("""#!/bin/sh\necho '{"Sum": "h1:other=", "Dir": "/nowhere"}'\n""")
    with pytest.raises(BuildError, match="has hash h1:other=, expected h1:mine="):
        Module("example.org/server", "v1", "h1:mine=").download()


def test_a_failing_command_is_quoted(tmp_path: Path) -> None:
    """The last lines of the compiler are in the message."""
    go = tmp_path / "tools" / "go"
    go.write_text("#!/bin/sh\necho 'no such module' >&2\nexit 3\n")
    with pytest.raises(BuildError, match=r"`go mod download \.\.\.` failed with code 3:\nno such module"):
        Module("example.org/server", "v1", "h1:mine=").download()
