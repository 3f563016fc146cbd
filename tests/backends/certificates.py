"""An authority of a test's own, with a server's and a client's certificate, made by the openssl of the machine."""

import subprocess
from pathlib import Path

_EXTENSIONS = "subjectAltName=IP:127.0.0.1,DNS:localhost"


def make_certificates(folder: Path) -> None:
    """Write ca.pem, server.pem and .key, client.pem and .key, and other-ca.pem, which signed nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ca", "other-ca"):
        _openssl(folder, *_new_key(name), "-x509", "-out", f"{name}.pem", "-subj", f"/CN={name}")
    for name in ("server", "client"):
        _openssl(folder, *_new_key(name), "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / "extensions").write_text(_EXTENSIONS)
        signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extensions")
        _openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", "-days", "1", *signing)


def _new_key(name: str) -> tuple[str, ...]:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    return ("req", *curve, "-nodes", "-keyout", f"{name}.key", "-days", "1")


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
