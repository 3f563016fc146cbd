"""Small file systems of their own for tests that fill or forbid one; only root can make them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 2**20


@contextlib.contextmanager
def mounted(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """Give a folder that is a file system in memory of so many megabytes; skip where that cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    folder.mkdir()
    options = f"size={megabytes}m,mode=0700"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def forbid_writing(folder: Path) -> None:
    """Make a mounted file system read-only, whoever holds files in it."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def fill(folder: Path, *, leave: int) -> Path:
    """Fill a file system but for so many bytes; give the file that fills it."""
    filler = folder / "filler"
    state = os.statvfs(folder)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(4096, state.f_bavail * state.f_frsize - leave))
    return filler
