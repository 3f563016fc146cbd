import base64
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from otel_trace.view.errors import SourceFailed
from otel_trace.view.sources import http
from otel_trace.view.sources.http import Client
from tests.view.sources.answering import serve


def fail(client: Client, path: str = "/x") -> SourceFailed:
    """Return the error of asking."""
    with pytest.raises(SourceFailed) as caught:
        client.get_json(path)
    return caught.value


def test_json_is_asked_for_with_its_query() -> None:
    """The query is encoded, and the answer is read."""
    with serve({"/base/x": {"a": [1]}}) as server:
        assert {"a": [1]} == Client(f"{server.url}/base/").get_json("/x", q='{ a = "b" }', n=3)
        assert ["/base/x?q=%7B+a+%3D+%22b%22+%7D&n=3"] == server.paths


def test_nothing_is_none_and_empty_is_empty() -> None:
    """A 404 is no answer; a success without a body is an empty one."""
    with serve({"/empty": b""}) as server:
        assert [None, {}] == [Client(server.url).get_json(path) for path in ("/other", "/empty")]


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b"", "401: it wants credentials: write them into the URL, as in http://user:password@host"),
        (403, b"no", "403: the credentials are not good enough"),
        (500, b'{"errors":[{"code":500,"msg":"json: NaN"}]}', "500: json: NaN"),
        (500, b'{"error":{"httpCode":500,"message":"search depth"}}', "500: search depth"),
        (400, b"range exceeds\n 168h\x1b[31m", "400: range exceeds 168h\\x1b[31m"),
        (503, b"", "503: Service Unavailable"),
        (502, b"x" * 5_000, f"502: {'x' * 197}..."),
    ],
)
def test_refusals_are_one_line(status: int, body: bytes, message: str) -> None:
    """A status that is no success is told with what the server says about it, fit for a terminal."""
    with serve({"/x": (status, body)}) as server:
        error = fail(Client(server.url))
        assert (f"{server.url} answered {message}", status) == (str(error), error.status)


@pytest.mark.parametrize("body", [b"<html>a page</html>", b"\xff\xfe", b"[" * 100_000])
def test_other_answers_are_refused(body: bytes) -> None:
    """A page, garbage and a bottomless list are no JSON."""
    with serve({"/x": body}) as server:
        assert str(fail(Client(server.url))).startswith(f"{server.url}/x answered what is not JSON: ")


def test_a_huge_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer without end does not fill the memory."""
    monkeypatch.setattr(http, "_MAX_BYTES", 2**20)
    with serve({"/x": b" " * (2**20 + 1)}) as server:
        assert f"{server.url} answered with more than 1 MiB" == str(fail(Client(server.url)))


def test_nobody_there_is_one_line() -> None:
    """A port that nobody listens on, and a host that does not exist, are named."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert f"{url} cannot be asked: connection refused" == str(fail(Client(url)))
    assert "http://nowhere.invalid cannot be asked: no such host" == str(
        fail(Client("http://nowhere.invalid"))
    )


@pytest.fixture
def silent_url() -> Iterator[str]:
    """Return the address of a server that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_silent_server_is_given_up(silent_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer in time is named."""
    monkeypatch.setattr(http, "_TIMEOUT", 0.1)
    assert f"{silent_url} cannot be asked: no answer within 0 s" == str(fail(Client(silent_url)))


def test_credentials_of_the_url_are_sent_and_not_told() -> None:
    """A user and password go as basic authentication, and into no message."""
    with serve({"/x": (500, b"")}) as server:
        error = fail(Client(server.url.replace("//", "//me:p%40ss@")))
        ((_, headers),) = server.requests
    expected = base64.b64encode(b"me:p@ss").decode()
    assert (f"Basic {expected}", False) == (headers["Authorization"], "ss@" in str(error))


def test_a_redirect_carries_no_credentials() -> None:
    """Another server that the first one points to does not get the password."""
    with serve({"/y": {"ok": True}}) as other:

        def point(path: str) -> Any:
            return (302, f"{other.url}/y".encode())

        with serve(point) as first:
            assert {"ok": True} == Client(first.url.replace("//", "//me:secret@")).get_json("/x")
        assert [False] == ["Authorization" in headers for _, headers in other.requests]


def test_the_answer_is_taken_as_json() -> None:
    """The server is told that JSON is wanted: Tempo can do otherwise."""
    with serve({"/x": json.dumps([]).encode()}) as server:
        assert [] == Client(server.url).get_json("/x")
        assert "application/json" == server.requests[0][1]["Accept"]
