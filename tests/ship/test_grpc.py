import time
from collections.abc import Callable

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_trace.ship.answer import Outcome
from otel_trace.ship.encode import encode_request
from otel_trace.ship.grpc import GrpcSender
from tests.ship.factories import list_numbers, make_encoded
from tests.ship.fakes import (
    GrpcFake,
    find_closed_port,
    reset_at_once,
    run_black_hole,
    run_grpc,
    run_tcp,
    stay_silent,
)

BODY = encode_request([make_encoded(1), make_encoded(2)])
Make = Callable[..., GrpcSender]


def abort(
    code: grpc.StatusCode, details: str = "", **metadata: bytes
) -> Callable[[grpc.ServicerContext], bytes]:
    """Return how an endpoint behaves that answers with an error."""

    def behave(context: grpc.ServicerContext) -> bytes:
        context.set_trailing_metadata(
            tuple((name.replace("_", "-"), value) for name, value in metadata.items())
        )
        context.abort(code, details)
        return b""

    return behave


def test_request_is_what_a_receiver_expects(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """The body arrives as it is, with the headers of the environment."""
    answer = make_grpc(grpc_fake.url, HEADERS="authorization=Bearer%20abc").send(BODY)
    assert (Outcome.DELIVERED, 0, True) == (answer.outcome, answer.rejected, answer.is_reached)
    assert [1, 2] == list_numbers(*grpc_fake.bodies)
    assert "Bearer abc" == grpc_fake.metadata[0]["authorization"]


def test_compression(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """Gzip is asked of the channel."""
    assert Outcome.DELIVERED is make_grpc(grpc_fake.url, COMPRESSION="gzip").send(BODY).outcome
    assert [1, 2] == list_numbers(*grpc_fake.bodies)


@pytest.mark.parametrize(
    ("code", "details", "outcome", "is_reached"),
    [
        (grpc.StatusCode.UNAVAILABLE, "down", Outcome.RETRY, False),
        (grpc.StatusCode.CANCELLED, "", Outcome.RETRY, True),
        (grpc.StatusCode.ABORTED, "", Outcome.RETRY, True),
        (grpc.StatusCode.DATA_LOSS, "", Outcome.RETRY, True),
        (grpc.StatusCode.INTERNAL, "oops", Outcome.RETRY, True),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "queue full", Outcome.RETRY, True),
        (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "grpc: received message larger than max (5 vs. 4)",
            Outcome.SPLIT,
            True,
        ),
        (grpc.StatusCode.INVALID_ARGUMENT, "bad id", Outcome.MALFORMED, True),
        (grpc.StatusCode.UNAUTHENTICATED, "", Outcome.REFUSED, True),
        (grpc.StatusCode.PERMISSION_DENIED, "", Outcome.REFUSED, True),
        (grpc.StatusCode.UNIMPLEMENTED, "", Outcome.REFUSED, True),
        (grpc.StatusCode.NOT_FOUND, "", Outcome.REFUSED, True),
    ],
)
def test_each_code_is_classified(
    grpc_fake: GrpcFake,
    make_grpc: Make,
    code: grpc.StatusCode,
    details: str,
    outcome: Outcome,
    *,
    is_reached: bool,
) -> None:
    """Whatever the code, one request is made, and the answer says what to do."""
    grpc_fake.behave = abort(code, details)
    answer = make_grpc(grpc_fake.url).send(BODY)
    assert (outcome, is_reached) == (answer.outcome, answer.is_reached)
    assert answer.reason.startswith(code.name)
    assert details in answer.reason
    assert 1 == len(grpc_fake.bodies)


def test_refusal_says_what_to_do_about_it(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """The line for the user names the code, what it means, and the variable."""
    grpc_fake.behave = abort(grpc.StatusCode.UNAUTHENTICATED, "no token")
    assert (
        "UNAUTHENTICATED: the endpoint wants credentials: set OTEL_EXPORTER_OTLP_HEADERS (no token)"
        == make_grpc(grpc_fake.url).send(BODY).reason
    )


def test_retry_info_is_heard(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """The pause in the status's details, as Go's servers send it, is in the answer."""
    info = AnyMessage()
    info.Pack(RetryInfo(retry_delay=Duration(seconds=3, nanos=500_000_000)))
    details = Status(code=8, details=[AnyMessage(), info]).SerializeToString()
    grpc_fake.behave = abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down", grpc_status_details_bin=details)
    assert 3.5 == make_grpc(grpc_fake.url).send(BODY).retry_after


def test_retry_info_that_is_garbage_is_passed_over(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """Details that cannot be read leave the pause to us."""
    grpc_fake.behave = abort(grpc.StatusCode.UNAVAILABLE, "", grpc_status_details_bin=b"\xff\xff")
    assert 0 == make_grpc(grpc_fake.url).send(BODY).retry_after


def test_partial_success_is_read(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """A success that is not whole says how many spans were not taken, and why."""
    partial = ExportTraceServiceResponse()
    partial.partial_success.rejected_spans = 2
    partial.partial_success.error_message = "too old"
    grpc_fake.behave = lambda _: bytes(partial.SerializeToString())
    answer = make_grpc(grpc_fake.url).send(BODY)
    assert (Outcome.DELIVERED, 2, "2 spans rejected (too old)") == (
        answer.outcome,
        answer.rejected,
        answer.reason,
    )


def test_hanging_endpoint_ends_within_the_timeout(grpc_fake: GrpcFake, make_grpc: Make) -> None:
    """A call that is never answered is tried again later."""

    def hang(context: grpc.ServicerContext) -> bytes:
        while context.is_active():
            time.sleep(0.02)
        return b""

    grpc_fake.behave = hang
    begin = time.monotonic()
    answer = make_grpc(grpc_fake.url, TIMEOUT="1").send(BODY)
    assert (Outcome.RETRY, False) == (answer.outcome, answer.is_reached)
    assert 2 > time.monotonic() - begin


@pytest.mark.parametrize("talk", [stay_silent, reset_at_once], ids=lambda talk: str(talk.__name__))
def test_endpoint_that_speaks_no_grpc(make_grpc: Make, talk: Callable[..., None]) -> None:
    """What does not speak the protocol counts as not reached."""
    with run_tcp(talk) as url:
        answer = make_grpc(url, TIMEOUT="1").send(BODY)
    assert (Outcome.RETRY, False) == (answer.outcome, answer.is_reached)


def test_black_hole(make_grpc: Make) -> None:
    """A connection that never comes about ends within the timeout."""
    with run_black_hole() as url:
        begin = time.monotonic()
        answer = make_grpc(url, TIMEOUT="1").send(BODY)
    assert (Outcome.RETRY, False) == (answer.outcome, answer.is_reached)
    assert 2 > time.monotonic() - begin


def test_endpoint_that_comes_back_is_found_at_once(make_grpc: Make) -> None:
    """After many failures the first request to an endpoint that is back succeeds: no long pause of the channel's."""
    port = find_closed_port()
    sender = make_grpc(f"http://127.0.0.1:{port}", TIMEOUT="1")
    for _ in range(5):
        assert Outcome.RETRY is sender.send(BODY).outcome
    with run_grpc(port):
        assert Outcome.DELIVERED is sender.send(BODY).outcome


def test_endpoint_is_told_without_credentials(make_grpc: Make) -> None:
    """The endpoint is named for people."""
    assert "http://127.0.0.1:1" == make_grpc("http://127.0.0.1:1").endpoint
