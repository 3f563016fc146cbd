"""How each server is built from its own Go modules, with every hash checked.

A module's hash is compared with the one written here before a line of it is compiled; what it needs in turn is held by
a go.sum: its own, or for the Collector the one in `pins/`. `docker` and release downloads are not needed, only `go`.
"""

import hashlib
import json
import os
import shutil
import stat
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PINS = HERE / "pins"
COLLECTOR_CONFIG = HERE / "collector.yaml"


class BuildError(Exception):
    """A server could not be built; the message says what to do."""


@dataclass(frozen=True)
class Module:
    """A Go module at one version, and the hash it must have."""

    path: str
    version: str
    hash: str
    settings: tuple[tuple[str, str], ...] = ()

    def download(self) -> Path:
        """Return the read-only folder of the module's sources."""
        answer = run_go(
            Path("/"), "mod", "download", "-json", f"{self.path}@{self.version}", settings=self.settings
        )
        found = json.loads(answer)
        if found["Sum"] != self.hash:
            message = (
                f"{self.path}@{self.version} has hash {found['Sum']}, expected {self.hash}: do not build it"
            )
            raise BuildError(message)
        return Path(found["Dir"])


JAEGER = Module(
    "github.com/jaegertracing/jaeger", "v1.76.0", "h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g="
)
TEMPO = Module(
    "github.com/grafana/tempo",
    "v1.5.1-0.20250529124718-87c2dc380cec",
    "h1:wnzJov9RhSHGaTYGzTygL4qq986fLen8xSqnQgaMd28=",
    # The checksum database has no line for a commit between releases: the hash above stands for it.
    settings=(("GONOSUMDB", "github.com/grafana/tempo"), ("GOFLAGS", "-mod=mod")),
)
# Some modules of this Collector version are unknown to the checksum database: the pinned go.sum stands for it.
PINNED = (("GOSUMDB", "off"), ("GOFLAGS", "-mod=readonly"))


@dataclass(frozen=True)
class Recipe(ABC):
    """One server: what its folder in the cache is called and how its binary is made."""

    name: str
    version: str
    minutes: int

    @property
    def folder(self) -> str:
        """Return the name of its folder in the cache."""
        return f"{self.name}-{self.version}"

    @abstractmethod
    def build(self, work: Path, binary: Path) -> Iterator[str]:
        """Make `binary`, using `work` for sources; yield the name of each phase before it starts."""


@dataclass(frozen=True)
class ModuleRecipe(Recipe):
    """A server that is one command of one module.

    The module is copied, because `go install` refuses a module with `replace` lines.
    """

    module: Module
    command: str

    def build(self, work: Path, binary: Path) -> Iterator[str]:
        """Make the binary from a writable copy of the module."""
        yield "download"
        downloaded = self.module.download()
        yield "copy"
        source = work / "src"
        shutil.copytree(
            downloaded, source, ignore=shutil.ignore_patterns("vendor"), copy_function=copy_writable
        )
        make_folders_writable(source)
        yield "compile"
        compile_command(source, self.command, binary, self.module.settings)


@dataclass(frozen=True)
class CollectorRecipe(Recipe):
    """The Collector, generated from `collector.yaml` by its own builder."""

    def build(self, work: Path, binary: Path) -> Iterator[str]:
        """Make the binary from generated sources and the pinned go.sum."""
        yield "builder"
        builder = work / "builder"
        prepare_module(work / "tool", "builder")
        compile_command(work / "tool", "go.opentelemetry.io/collector/cmd/builder", builder, PINNED)
        yield "generate"
        run_command(
            work, str(builder), "--config", str(COLLECTOR_CONFIG), "--skip-compilation", "--skip-get-modules"
        )
        prepare_module(work / "out", "otelcol")
        yield "compile"
        compile_command(work / "out", ".", binary, PINNED)


def fingerprint(*files: Path) -> str:
    """Return a short hash over the files a build depends on."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def list_recipes() -> tuple[Recipe, ...]:
    """Return the three servers, in the order they are built."""
    pinned = (COLLECTOR_CONFIG, *sorted(PINS.iterdir()))
    return (
        ModuleRecipe("jaeger", JAEGER.version.removeprefix("v"), 5, JAEGER, "./cmd/jaeger"),
        ModuleRecipe("tempo", TEMPO.version.removeprefix("v"), 4, TEMPO, "./cmd/tempo"),
        CollectorRecipe("otelcol", f"0.140.0-{fingerprint(*pinned)}", 4),
    )


def prepare_module(folder: Path, name: str) -> None:
    """Put the pinned go.mod and go.sum of `name` into a folder of sources."""
    folder.mkdir(exist_ok=True)
    shutil.copyfile(PINS / f"{name}.go.mod", folder / "go.mod")
    shutil.copyfile(PINS / f"{name}.go.sum", folder / "go.sum")


def copy_writable(source: str, target: str) -> str:
    """Copy a file's content: the module cache is read-only, the copy is not."""
    return shutil.copyfile(source, target)


def make_folders_writable(top: Path) -> None:
    """Make every folder below `top` writable for its owner."""
    for folder, _, _ in os.walk(top):
        Path(folder).chmod(stat.S_IRWXU)


def compile_command(
    folder: Path, command: str, binary: Path, settings: tuple[tuple[str, str], ...] = ()
) -> None:
    """Compile one command of the module in `folder`."""
    run_go(
        folder, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", str(binary), command, settings=settings
    )


def run_go(folder: Path, *arguments: str, settings: tuple[tuple[str, str], ...] = ()) -> str:
    """Run `go` and return its output."""
    return run_command(folder, "go", *arguments, settings=settings)


def run_command(folder: Path, *command: str, settings: tuple[tuple[str, str], ...] = ()) -> str:
    """Run a command and return its output; a failure is told with the last lines it wrote."""
    # Without cgo no C compiler is needed; the toolchain that is installed is used, none is downloaded.
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOWORK": "off",
        "GOTOOLCHAIN": "local",
        **dict(settings),
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last_lines = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        message = f"`{' '.join(command[:3])} ...` failed with code {done.returncode}:\n{last_lines}"
        raise BuildError(message)
    return done.stdout
