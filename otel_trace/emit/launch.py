"""The shipper is started from here, as a process that has nothing of the training's but the journal's folder.

It is started by a shell that ends at once, so it is nobody's child: a program that waits for its own children
never meets it. Of many processes that begin at once only one starts it: who holds the lock's file for a moment
sees whether a shipper has it, or how long ago one was started.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otel_trace import config
from otel_trace._guard import tell_once
from otel_trace.journal.delivery import LOCK_NAME

LOG_NAME = "shipper.log"
# The standard library first, then what the program found its packages in; a program's own folder is last, so
# that no file of the user's is taken for one of the library's.
_CODE = (
    "import json, sys; sys.path += json.loads(sys.argv[1]); "
    "from otel_trace.ship.main import main; sys.exit(main())"
)
_SHELL = 'log=$1; shift; "$@" </dev/null >/dev/null 2>>"$log" &'
_STARTING = 3.0
_MANY_STARTS, _MANY_STARTS_PAUSE = 30, 60.0
_MAX_LOG = 2**20
_LEFT_OUT = (
    "PYTHON",
    "OTELTRACE_",
    "COVERAGE_",
    "COV_CORE_",
    "LD_PRELOAD",
    "LD_AUDIT",
    "BASH_ENV",
    "BASH_FUNC_",
)


def has_exporter(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether the environment configures an OTLP exporter."""
    told = {name.strip().lower() for name in environ.get("OTEL_TRACES_EXPORTER", "").split(",")} - {""}
    if told:
        return "otlp" in told
    return any(environ.get(f"OTEL_EXPORTER_OTLP_{kind}ENDPOINT", "").strip() for kind in ("", "TRACES_"))


def is_shipped(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether somebody is to ship the journal: a shipper of ours, or the node's service."""
    return config.read("OTELTRACE_SHIPPER", environ) != "off" and has_exporter(environ)


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether the environment configures an exporter, and leaves it to us to run a shipper."""
    return config.read("OTELTRACE_SHIPPER", environ) == "auto" and has_exporter(environ)


def ensure_shipper(folder: Path) -> None:
    """Start a shipper for the folder unless one is there or has just been started."""
    try:
        if claim_start(folder):
            start_shipper(folder)
    except (OSError, subprocess.SubprocessError) as error:
        tell_once("shipper", f"cannot start the shipper ({error}); send later with: otel-trace ship {folder}")


def claim_start(folder: Path) -> bool:
    """Say whether it is for this process to start a shipper: nobody has the lock, and nobody has just started one.

    The lock's file has a byte for every start, so that a shipper that cannot live is not started for ever.
    """
    fd = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        state = os.fstat(fd)
        pause = _STARTING if state.st_size < _MANY_STARTS else _MANY_STARTS_PAUSE
        if state.st_size and abs(time.time() - state.st_mtime) < pause:
            return False
        os.pwrite(fd, b".", state.st_size)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(fd)


def start_shipper(folder: Path) -> None:
    """Start the process: own session, no descriptor of ours, the environment without what changes Python."""
    log = folder / LOG_NAME
    if log.exists() and log.stat().st_size > _MAX_LOG:
        log.unlink()
    python = sys.executable or "python3"
    command = [python, "-I", "-S", "-c", _CODE, json.dumps(list_packages()), str(folder)]
    environ = {name: text for name, text in os.environ.items() if not name.startswith(_LEFT_OUT)}
    environ.pop("ENV", None)
    shell = subprocess.Popen(  # noqa: S603 (our own interpreter)
        ["/bin/sh", "-c", _SHELL, "sh", str(log), *command],
        env=environ,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        umask=0o077,
    )
    if shell.wait(10):
        raise OSError(f"the shell ended with {shell.returncode}")


def list_packages() -> list[str]:
    """Give where this process finds its packages, the folders of the program itself at the end."""
    main: Any = sys.modules.get("__main__")
    own = {os.path.abspath(os.path.dirname(getattr(main, "__file__", "") or "")), os.path.abspath("")}  # noqa: PTH100, PTH120 (not resolved: as Python does)
    paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 (the same)
    return sorted(dict.fromkeys(paths), key=own.__contains__)
