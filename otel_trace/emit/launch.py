"""The shipper is started from here, as a process that has nothing of the training's but the journal's folder.

It is started by a shell that ends at once, so it is nobody's child: a program that waits for its own children
never meets it. At exit the process gives it a moment, as long as it makes progress.
"""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from otel_trace import config
from otel_trace._guard import tell_once
from otel_trace.cluster.process import this_process
from otel_trace.journal.delivery import LOCK_NAME, Delivery, read_delivery

LOG_NAME = "shipper.log"
_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from otel_trace.ship.main import main; sys.exit(main())"
_SHELL = '"$@" </dev/null >/dev/null 2>>"$LOG" &'
_STARTING = 3.0
_LONGEST_WAIT, _BLIND_WAIT = 5.0, 0.5
_LEFT_OUT = ("PYTHON", "OTELTRACE_", "LD_PRELOAD", "LD_AUDIT", "COVERAGE_", "COV_CORE_", "BASH_ENV", "ENV")


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether the environment configures an exporter, and leaves it to us to run a shipper."""
    if config.read("OTELTRACE_SHIPPER", environ) != "auto":
        return False
    told = {name.strip().lower() for name in environ.get("OTEL_TRACES_EXPORTER", "").split(",")} - {""}
    if told:
        return "otlp" in told
    return any(environ.get(f"OTEL_EXPORTER_OTLP_{kind}ENDPOINT") for kind in ("", "TRACES_"))


def ensure_shipper(folder: Path) -> None:
    """Start a shipper for the folder unless one is there or has just been started."""
    if not is_needed(folder):
        return
    (folder / LOCK_NAME).touch(0o600)
    try:
        start_shipper(folder)
    except OSError as error:
        tell_once("shipper", f"cannot start the shipper ({error}); send later with: otel-trace ship {folder}")


def is_needed(folder: Path) -> bool:
    """Say whether no shipper holds the folder and none is starting."""
    try:
        fd = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return time.time() - os.fstat(fd).st_mtime > _STARTING
    except OSError:
        return False
    finally:
        os.close(fd)


def start_shipper(folder: Path) -> None:
    """Start the process: own session, no descriptor of ours, the environment without what changes Python."""
    command = [sys.executable or "python3", "-I", "-S", "-c", _CODE, json.dumps(sys.path), str(folder)]
    environ = {name: text for name, text in os.environ.items() if not name.startswith(_LEFT_OUT)}
    shell = subprocess.Popen(  # noqa: S603 (our own interpreter)
        ["/bin/sh", "-c", _SHELL, "sh", *command],
        env={**environ, "LOG": str(folder / LOG_NAME)},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    shell.wait(10)


def wait_for_delivery(folder: Path) -> None:
    """Wait at exit until the shipper has sent what this process wrote, while it makes progress."""
    begin = moved_at = time.monotonic()
    last: Delivery | None = None
    while time.monotonic() - begin < _LONGEST_WAIT:
        delivery = read_delivery(folder)
        if delivery is not None and is_delivered(folder, delivery):
            break
        if delivery != last:
            last, moved_at = delivery, time.monotonic()
        if time.monotonic() - moved_at > _BLIND_WAIT or (delivery is not None and not delivery.is_reached):
            break
        time.sleep(0.02)
    if last is not None and last.message:
        tell_once("shipper/message", last.message)


def is_delivered(folder: Path, delivery: Delivery) -> bool:
    """Say whether everything that this process wrote has been acknowledged."""
    key = str(this_process())
    with contextlib.suppress(OSError):
        newest = max(folder.glob(f"{key}-*.seg"), default=None)
        if newest is None:
            return True
        number = int(newest.stem.rsplit("-", 1)[1])
        return delivery.positions.get(key, (0, 0)) >= (number, newest.stat().st_size)
    return True
