from pathlib import Path

import pytest

from otel_trace.errors import ExporterRefused
from otel_trace.ship.answer import Outcome
from otel_trace.ship.senders import LazySender, make_sender
from tests.ship.fakes import GrpcFake, HttpFake


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_sender_of_the_protocol(
    http_fake: HttpFake, grpc_fake: GrpcFake, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """The protocol of the environment decides by which way requests go."""
    fake = grpc_fake if protocol == "grpc" else http_fake
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", fake.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    sender = make_sender()
    assert Outcome.DELIVERED is sender.send(b"").outcome
    assert [b""] == fake.bodies
    sender.close()


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """A sender that has nothing to send does not make the exporter."""
    made: list[str] = []

    def make() -> LazySender:
        made.append("made")
        raise ExporterRefused("no")

    sender = LazySender(lambda _: None, make)
    assert [] == made
    sender.send(b"")
    assert ["made"] == made
    sender.close()


def test_what_cannot_be_made_refuses_and_is_tried_again(
    http_fake: HttpFake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A certificate that is mounted late is found; until then nothing is sent, in clear or otherwise."""
    path = tmp_path / "ca.pem"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", http_fake.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", str(path))
    sender = LazySender(lambda _: None)
    answer = sender.send(b"")
    assert (Outcome.REFUSED, False, []) == (answer.outcome, answer.is_reached, http_fake.bodies)
    assert (
        f"OTEL_EXPORTER_OTLP_CERTIFICATE={path} cannot be read (No such file or directory)" == answer.reason
    )
    path.write_text("x")
    assert Outcome.DELIVERED is sender.send(b"").outcome
    sender.close()


def test_library_that_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exporter that cannot be imported refuses everything, with the reason."""
    monkeypatch.setitem(__import__("sys").modules, "otel_trace.ship.http", None)
    with pytest.raises(ExporterRefused, match=r"the exporter cannot be made \(ModuleNotFoundError"):
        make_sender()


def test_bad_settings_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that nobody knows is one line in the log."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")
    told: list[str] = []
    LazySender(told.append)
    assert ["OTEL_EXPORTER_OTLP_TIMEOUT='soon' is not known; going on without it"] == told
