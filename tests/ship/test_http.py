import gzip
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_trace.ship.answer import Outcome
from otel_trace.ship.encode import encode_request
from otel_trace.ship.http import HttpSender
from tests.ship.factories import list_numbers, make_encoded
from tests.ship.fakes import (
    HttpFake,
    Reply,
    drip,
    drip_body,
    find_closed_port,
    reset_at_once,
    reset_in_body,
    run_black_hole,
    run_tcp,
    stay_silent,
)

BODY = encode_request([make_encoded(1), make_encoded(2)])
Make = Callable[..., HttpSender]


def partial(rejected: int, message: str = "") -> bytes:
    """Return the answer of a backend that does not take all spans."""
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = rejected
    answer.partial_success.error_message = message
    return bytes(answer.SerializeToString())


def test_request_is_what_a_receiver_expects(http_fake: HttpFake, make_http: Make) -> None:
    """The body goes to /v1/traces as protobuf, with the headers of the environment."""
    answer = make_http(http_fake.url, HEADERS="authorization=Bearer%20abc,x-team=a").send(BODY)
    assert (Outcome.DELIVERED, 0) == (answer.outcome, answer.rejected)
    assert ["/v1/traces"] == http_fake.paths
    assert [1, 2] == list_numbers(*http_fake.bodies)
    wanted = {
        "content-type": "application/x-protobuf",
        "authorization": "Bearer abc",
        "x-team": "a",
    }
    assert wanted == {name: http_fake.headers[0][name] for name in wanted}


def test_one_connection_for_many_requests(http_fake: HttpFake, make_http: Make) -> None:
    """A connection is kept, also after answers with a body."""
    http_fake.replies = [Reply(200, partial(0)), Reply(503, b"later"), Reply(400, b"bad"), Reply()]
    sender = make_http(http_fake.url)
    for _ in range(6):
        sender.send(BODY)
    assert 1 == len(http_fake.connections)


@pytest.mark.parametrize(("word", "unpack"), [("gzip", gzip.decompress), ("deflate", zlib.decompress)])
def test_compression(
    http_fake: HttpFake, make_http: Make, word: str, unpack: Callable[[bytes], bytes]
) -> None:
    """Bodies are compressed as the environment asks."""
    make_http(http_fake.url, COMPRESSION=word).send(BODY)
    assert (BODY, word) == (unpack(http_fake.bodies[0]), http_fake.headers[0]["content-encoding"])


@pytest.mark.parametrize(
    ("reply", "outcome", "words"),
    [
        (Reply(202), Outcome.DELIVERED, ""),
        (Reply(204), Outcome.DELIVERED, ""),
        (Reply(200, b"{}", {"Content-Type": "application/json"}), Outcome.DELIVERED, ""),
        (
            Reply(200, b"<html>Log in</html>", {"Content-Type": "text/html"}),
            Outcome.REFUSED,
            "no OTLP answer",
        ),
        (Reply(200, b"[1]", {"Content-Type": "application/json"}), Outcome.REFUSED, "no OTLP answer"),
        (
            Reply(302, b"", {"Location": "/login"}),
            Outcome.REFUSED,
            "302: the endpoint answers with a redirect",
        ),
        (Reply(400, b"bad id"), Outcome.MALFORMED, "400: the endpoint calls the request malformed (bad id)"),
        (Reply(401), Outcome.REFUSED, "OTEL_EXPORTER_OTLP_HEADERS"),
        (Reply(403), Outcome.REFUSED, "forbids"),
        (Reply(404), Outcome.REFUSED, "no such path"),
        (Reply(408), Outcome.RETRY, "408"),
        (Reply(413), Outcome.SPLIT, "413"),
        (Reply(429), Outcome.RETRY, "429"),
        (Reply(500, b"oops"), Outcome.RETRY, "500 (oops)"),
        (Reply(503), Outcome.RETRY, "503"),
    ],
)
def test_each_answer_is_classified(
    http_fake: HttpFake, make_http: Make, reply: Reply, outcome: Outcome, words: str
) -> None:
    """Whatever the status, one request is made, nothing is followed, and the answer says what to do."""
    http_fake.replies = [reply]
    answer = make_http(http_fake.url).send(BODY)
    assert (outcome, True) == (answer.outcome, answer.is_reached)
    assert words in answer.reason
    assert ["/v1/traces"] == http_fake.paths


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_heard(http_fake: HttpFake, make_http: Make, status: int) -> None:
    """The pause that a backend asks for is in the answer, and nobody sleeps for it here."""
    http_fake.replies = [Reply(status, b"", {"Retry-After": "7"})]
    begin = time.monotonic()
    assert 7 == make_http(http_fake.url).send(BODY).retry_after
    assert 2 > time.monotonic() - begin


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, partial(1, "too old"), {"Content-Type": "application/x-protobuf"}),
        Reply(
            200,
            b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}',
            {"Content-Type": "application/json"},
        ),
    ],
    ids=["protobuf", "json"],
)
def test_partial_success_is_read(http_fake: HttpFake, make_http: Make, reply: Reply) -> None:
    """A success that is not whole says how many spans were not taken, and why."""
    http_fake.replies = [reply]
    answer = make_http(http_fake.url).send(BODY)
    assert (Outcome.DELIVERED, 1, "1 spans rejected (too old)") == (
        answer.outcome,
        answer.rejected,
        answer.reason,
    )


@pytest.mark.parametrize(
    "talk", [stay_silent, drip, drip_body, reset_at_once, reset_in_body], ids=lambda talk: str(talk.__name__)
)
def test_endpoint_that_does_not_answer(make_http: Make, talk: Callable[..., None]) -> None:
    """Silence, dripping and resets end within the timeout, are tried again, and count as not reached."""
    with run_tcp(talk) as url:
        sender = make_http(url, TIMEOUT="1")
        begin = time.monotonic()
        answer = sender.send(BODY)
        assert (Outcome.RETRY, False) == (answer.outcome, answer.is_reached)
        assert 1.5 > time.monotonic() - begin
        sender.close()


def test_black_hole(make_http: Make) -> None:
    """A connection that never comes about ends within the timeout."""
    with run_black_hole() as url:
        begin = time.monotonic()
        answer = make_http(url, TIMEOUT="1").send(BODY)
    assert (Outcome.RETRY, False) == (answer.outcome, answer.is_reached)
    assert 1.5 > time.monotonic() - begin


def test_refused_connection_says_so(make_http: Make) -> None:
    """The reason is the innermost one, not a tower of wrappers."""
    answer = make_http(f"http://127.0.0.1:{find_closed_port()}").send(BODY)
    assert (Outcome.RETRY, False) == (answer.outcome, answer.is_reached)
    assert "ConnectionRefusedError: [Errno 111] Connection refused" == answer.reason


def test_after_a_hang_the_next_request_is_sound(http_fake: HttpFake, make_http: Make) -> None:
    """A request that was given up leaves nothing behind in the next one."""
    with run_tcp(stay_silent) as url:
        assert Outcome.RETRY is make_http(url, TIMEOUT="1").send(BODY).outcome
    assert Outcome.DELIVERED is make_http(http_fake.url).send(BODY).outcome


@pytest.mark.parametrize("url", ["ftp://localhost", "localhost:4318", "http://[::1"])
def test_endpoint_that_is_no_url(make_http: Make, url: str) -> None:
    """An endpoint that cannot be asked is the user's to mend: told, not tried again and again."""
    answer = make_http(url).send(BODY)
    assert (Outcome.REFUSED, False) == (answer.outcome, answer.is_reached)


def test_password_file_does_not_replace_the_headers(
    http_fake: HttpFake, make_http: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A .netrc of the user's, which requests would take, is left alone."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    make_http(http_fake.url, HEADERS="authorization=Bearer%20abc").send(BODY)
    assert "Bearer abc" == http_fake.headers[0]["authorization"]


def test_timers_of_others_go_on(http_fake: HttpFake, make_http: Make) -> None:
    """An alarm that somebody else has set is still set after a request."""
    import signal

    previous = signal.signal(signal.SIGALRM, lambda *_: None)
    outer = signal.setitimer(signal.ITIMER_REAL, 50)
    try:
        make_http(http_fake.url).send(BODY)
        assert 45 < signal.getitimer(signal.ITIMER_REAL)[0] <= 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, *outer)
        signal.signal(signal.SIGALRM, previous)
