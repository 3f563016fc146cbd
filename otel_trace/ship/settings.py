"""What the environment says of the exporter, made sound before the official exporter reads it.

A bad value is told and left out. Credentials fail closed: the stock exporters go on without a certificate
file that is missing, and gRPC's ignores the client's key where no certificate authority is named.
"""

import math
import os
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from otel_trace.errors import ExporterRefused

_PREFIX = "OTEL_EXPORTER_OTLP_"
_PROTOCOLS = ("grpc", "http/protobuf")
_CREDENTIALS = ("CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE")
_GRPC_PORT = 4317
_DEFAULT_ENDPOINT = "http://localhost:4318"


def read_setting(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """Give what is said for traces, else for all signals, else nothing."""
    told = environ.get(f"{_PREFIX}TRACES_{name}", "").strip()
    return told or environ.get(f"{_PREFIX}{name}", "").strip()


def read_protocol(environ: Mapping[str, str] = os.environ) -> str:
    """Read the protocol; when none is said, gRPC's own port tells."""
    told = read_setting("PROTOCOL", environ).lower()
    if told in _PROTOCOLS:
        return told
    return "grpc" if _find_port(read_setting("ENDPOINT", environ)) == _GRPC_PORT else "http/protobuf"


def _find_port(endpoint: str) -> int | None:
    try:
        return _split(endpoint).port
    except ValueError:
        return None


def _split(endpoint: str) -> SplitResult:
    return urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")


def read_endpoint(environ: Mapping[str, str] = os.environ) -> str:
    """Give where spans go, for people: without a password in it."""
    told = read_setting("ENDPOINT", environ) or _DEFAULT_ENDPOINT
    try:
        parts = _split(told)
    except ValueError:
        return told[:200]
    path = parts.path
    if read_protocol(environ) != "grpc" and not environ.get(f"{_PREFIX}TRACES_ENDPOINT", "").strip():
        path = f"{path.removesuffix('/')}/v1/traces"
    host = parts.netloc.rsplit("@", 1)[-1]
    return f"{parts.scheme}://{host}{path}" if parts.scheme else f"{host}{path}"


def mend_settings(tell: Callable[[str], None], environ: MutableMapping[str, str] = os.environ) -> None:
    """Take out what the exporter would stumble over, say so, and name the credentials in one way."""
    for name in ("COMPRESSION", "TIMEOUT", "PROTOCOL"):
        for variable in (f"{_PREFIX}TRACES_{name}", f"{_PREFIX}{name}"):
            text = environ.get(variable)
            if text is None:
                continue
            mended = _CHECKS[name](text.strip().lower(), environ) if text.strip() else ""
            if mended is None:
                tell(f"{variable}={text[:100]!r} is not known; going on without it")
            if mended:
                environ[variable] = mended
            else:
                del environ[variable]
    for name in _CREDENTIALS:
        if told := read_setting(name, environ):
            environ[f"{_PREFIX}TRACES_{name}"] = told


def _mend_compression(text: str, environ: Mapping[str, str]) -> str | None:
    """Give what the protocol's exporter knows; gRPC's does not know the word "none"."""
    if text == "none":
        return ""
    return text if text == "gzip" or (text == "deflate" and read_protocol(environ) != "grpc") else None


def _mend_timeout(text: str, environ: Mapping[str, str]) -> str | None:  # noqa: ARG001 (called like the others)
    """Give whole seconds: older exporters take nothing else."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return str(math.ceil(seconds)) if 0 < seconds < 3600 else None


def _mend_protocol(text: str, environ: Mapping[str, str]) -> str | None:  # noqa: ARG001 (called like the others)
    return text if text in _PROTOCOLS else None


_CHECKS: dict[str, Callable[[str, Mapping[str, str]], str | None]] = {
    "COMPRESSION": _mend_compression,
    "TIMEOUT": _mend_timeout,
    "PROTOCOL": _mend_protocol,
}


def check_credentials(environ: Mapping[str, str] = os.environ, *, is_grpc: bool = False) -> None:
    """Raise ExporterRefused where the exporter would go on with less than was asked for."""
    told = {name: read_setting(name, environ) for name in _CREDENTIALS}
    for name, path in told.items():
        if path:
            is_for_all = environ.get(f"{_PREFIX}{name}", "").strip() == path
            _check_file(f"{_PREFIX}{name}" if is_for_all else f"{_PREFIX}TRACES_{name}", path)
    if told["CLIENT_KEY"] and not told["CLIENT_CERTIFICATE"]:
        raise ExporterRefused(f"{_PREFIX}CLIENT_KEY is set and {_PREFIX}CLIENT_CERTIFICATE is not: set both")
    if is_grpc and told["CLIENT_CERTIFICATE"] and not told["CLIENT_KEY"]:
        raise ExporterRefused(f"{_PREFIX}CLIENT_CERTIFICATE is set and {_PREFIX}CLIENT_KEY is not: set both")
    if is_grpc and told["CLIENT_KEY"] and not told["CERTIFICATE"]:
        raise ExporterRefused(
            f"{_PREFIX}CLIENT_KEY is set and {_PREFIX}CERTIFICATE is not: over gRPC the key would not be used"
        )


def _check_file(variable: str, path: str) -> None:
    try:
        with Path(path).open("rb") as file:
            is_empty = not file.read(1)
    except OSError as error:
        raise ExporterRefused(f"{variable}={path} cannot be read ({error.strerror})") from error
    if is_empty:
        raise ExporterRefused(f"{variable}={path} is empty")
