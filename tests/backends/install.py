"""Build the servers once per user: `python -m tests.backends.install [jaeger tempo otelcol]`.

A server is built in a temporary folder and renamed into the cache when it runs, so the cache never holds half of one.
The cache is `~/.cache/otel_trace/backends/<name>-<version>/` (XDG_CACHE_HOME is honoured).
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.recipes import BuildError, Recipe, list_recipes

VERSION_FLAGS = {"jaeger": "version", "tempo": "-version", "otelcol": "--version"}


def cache_folder() -> Path:
    """Return the folder that holds the built servers of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "otel_trace" / "backends"


def find_binary(name: str) -> Path | None:
    """Return the built binary of a server, or None when it is not built."""
    recipe = next(recipe for recipe in list_recipes() if recipe.name == name)
    binary = cache_folder() / recipe.folder / name
    return binary if binary.is_file() else None


def install(recipe: Recipe) -> Path:
    """Return the binary of a server; build it when the cache has none."""
    target = cache_folder() / recipe.folder
    binary = target / recipe.name
    if binary.is_file():
        say(f"{recipe.folder}: is built")
        return binary
    with hold_lock(recipe.name):
        if not binary.is_file():
            build_into(recipe, target)
    return binary


def build_into(recipe: Recipe, target: Path) -> None:
    """Build a server in a temporary folder beside `target` and rename it."""
    if shutil.which("go") is None:
        message = "go was not found: install Go 1.25 or newer (https://go.dev/dl), put it on PATH, run `make backends`"
        raise BuildError(message)
    for stale in target.parent.glob(f".{recipe.name}-*"):
        shutil.rmtree(stale)
    say(f"{recipe.folder}: building, about {recipe.minutes} minutes on 2 cores")
    with tempfile.TemporaryDirectory(prefix=f".{recipe.name}-", dir=target.parent) as temporary:
        work = Path(temporary)
        finished = work / "bin"
        finished.mkdir()
        binary = finished / recipe.name
        report_phases(recipe.name, recipe.build(work, binary))
        subprocess.run([binary, VERSION_FLAGS[recipe.name]], check=True, capture_output=True, timeout=60)
        finished.rename(target)


def report_phases(name: str, phases: Iterator[str]) -> None:
    """Run a build to its end, with one line per phase and the seconds it took."""
    started = time.monotonic()
    for phase in phases:
        elapsed = time.monotonic() - started
        say(f"{name}: {elapsed:4.0f} s  {phase}")
    say(f"{name}: {time.monotonic() - started:4.0f} s  done")


@contextmanager
def hold_lock(name: str) -> Iterator[None]:
    """Hold the build lock of one server; it goes with the process that holds it."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{name}: another process builds it, waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def say(line: str) -> None:
    """Print a line at once, also into a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Build what is asked for, or everything; return 1 when something could not be built."""
    recipes = {recipe.name: recipe for recipe in list_recipes()}
    parser = argparse.ArgumentParser(
        prog="python -m tests.backends.install", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(recipes)} (default: all)"
    )
    names = parser.parse_args(arguments).names or list(recipes)
    unknown = [name for name in names if name not in recipes]
    if unknown:
        parser.error(f"unknown server {unknown[0]!r}: choose from {', '.join(recipes)}")
    try:
        for name in names:
            install(recipes[name])
    except BuildError as error:
        sys.stderr.write(f"backends: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
