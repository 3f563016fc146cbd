"""Ask a server for JSON, and say in one line what went wrong.

A user and password in the URL go as basic authentication to that server alone: neither a message nor a redirect carries
them on.
"""

import base64
import http.client
import json
import socket
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from otel_trace.view.errors import SourceFailed
from otel_trace.view.plain import clean_text

_TIMEOUT = 60.0
_MAX_BYTES = 512 * 2**20
_MAX_SAID = 200
_MEANING = {
    401: "it wants credentials: write them into the URL, as in http://user:password@host",
    403: "the credentials are not good enough",
}


class Client:
    """Asks one server; `url` is its address without credentials."""

    def __init__(self, url: str) -> None:
        self.url, self._authorization = _split_credentials(url.rstrip("/"))

    def get_json(self, path: str, **query: str | int) -> Any:
        """Return the JSON answer to a GET, None where the server knows nothing of that name."""
        body = self.get(path, **query)
        if body is None:
            return None
        try:
            return json.loads(body) if body.strip() else {}
        except (ValueError, RecursionError):
            raise SourceFailed(f"{self.url}{path} answered what is not JSON: {_say(body)}") from None

    def get(self, path: str, **query: str | int) -> bytes | None:
        """Return the body of the answer to a GET, None for "not found"."""
        url = f"{self.url}{path}{'?' if query else ''}{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(self._make_request(url), timeout=_TIMEOUT) as answer:  # noqa: S310 (opening.py lets only http through)
                return self._read(answer)
        except urllib.error.HTTPError as error:
            with error:
                self._refuse(error)
            return None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SourceFailed(f"{self.url} cannot be asked: {_explain(error)}") from None

    def _make_request(self, url: str) -> urllib.request.Request:
        request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 (the same)
        if self._authorization:
            request.add_unredirected_header("Authorization", self._authorization)
        return request

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        body = answer.read(_MAX_BYTES + 1)
        if len(body) > _MAX_BYTES:
            raise SourceFailed(f"{self.url} answered with more than {_MAX_BYTES // 2**20:,} MiB")
        return body

    def _refuse(self, error: urllib.error.HTTPError) -> None:
        """Raise SourceFailed, unless it is only that the server has nothing of that name."""
        if error.code == http.HTTPStatus.NOT_FOUND:
            return
        meaning = _MEANING.get(error.code) or _say(error.read(4 * _MAX_SAID)) or clean_text(str(error.reason))
        raise SourceFailed(f"{self.url} answered {error.code}: {meaning}", error.code)


def _split_credentials(url: str) -> tuple[str, str]:
    """Return the URL without user and password, and the header that carries them."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return url, ""
    credentials, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, ""
    plain = urllib.parse.unquote(credentials).encode("utf-8", "replace")
    return parts._replace(netloc=host).geturl(), f"Basic {base64.b64encode(plain).decode()}"


def _say(body: bytes) -> str:
    """Return the beginning of an answer on one line; of an error in JSON, its message."""
    try:
        found = json.loads(body)
        error = found.get("errors") or found.get("error")
        first = error[0] if isinstance(error, list) else error
        text = str(first["msg"] if "msg" in first else first["message"])
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        text = body.decode("utf-8", "replace")
    return clean_text(" ".join(text.split()), _MAX_SAID)


def _explain(error: Exception) -> str:
    """Return why there was no answer, in the words of the innermost error."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return f"no answer within {_TIMEOUT:.0f} s"
    if isinstance(reason, socket.gaierror):
        return "no such host"
    if isinstance(reason, http.client.HTTPException) and not isinstance(reason, http.client.InvalidURL):
        return f"it does not speak HTTP ({type(reason).__name__})"
    text = reason.strerror if isinstance(reason, OSError) else None
    return clean_text(" ".join((text or str(reason)).split()).lower(), _MAX_SAID)
