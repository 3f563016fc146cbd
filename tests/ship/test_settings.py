from pathlib import Path

import pytest

from otel_trace.errors import ExporterRefused
from otel_trace.ship.settings import check_credentials, mend_settings, read_endpoint, read_protocol

OTLP = "OTEL_EXPORTER_OTLP_"


def env(**settings: str) -> dict[str, str]:
    """Return an environment with these exporter settings."""
    return {f"{OTLP}{name}": text for name, text in settings.items()}


@pytest.mark.parametrize(
    ("settings", "protocol"),
    [
        ({}, "http/protobuf"),
        ({"PROTOCOL": "grpc"}, "grpc"),
        ({"PROTOCOL": " gRPC "}, "grpc"),
        ({"PROTOCOL": "http/protobuf", "ENDPOINT": "http://host:4317"}, "http/protobuf"),
        ({"TRACES_PROTOCOL": "grpc", "PROTOCOL": "http/protobuf"}, "grpc"),
        ({"PROTOCOL": "http/json"}, "http/protobuf"),
        ({"ENDPOINT": "http://host:4317"}, "grpc"),
        ({"ENDPOINT": "https://host:4317/"}, "grpc"),
        ({"ENDPOINT": "host:4317"}, "grpc"),
        ({"TRACES_ENDPOINT": "http://host:4317", "ENDPOINT": "http://host:4318"}, "grpc"),
        ({"ENDPOINT": "http://host:4318"}, "http/protobuf"),
        ({"ENDPOINT": "http://host:nonsense"}, "http/protobuf"),
    ],
)
def test_protocol_is_said_or_told_by_the_port(settings: dict[str, str], protocol: str) -> None:
    """What is said for traces wins, then what is said for all; without a word, port 4317 means gRPC."""
    assert protocol == read_protocol(env(**settings))


@pytest.mark.parametrize(
    ("settings", "endpoint"),
    [
        ({}, "http://localhost:4318/v1/traces"),
        ({"ENDPOINT": "http://host:4318/"}, "http://host:4318/v1/traces"),
        ({"ENDPOINT": "http://host/otlp"}, "http://host/otlp/v1/traces"),
        ({"TRACES_ENDPOINT": "http://host/all"}, "http://host/all"),
        ({"ENDPOINT": "https://me:secret@host:4318?token=x"}, "https://host:4318/v1/traces"),
        ({"ENDPOINT": "http://host:4317"}, "http://host:4317"),
        ({"ENDPOINT": "host:4317"}, "host:4317"),
    ],
)
def test_endpoint_for_people_has_no_password(settings: dict[str, str], endpoint: str) -> None:
    """The endpoint is named as it is asked, without what is secret in it."""
    assert endpoint == read_endpoint(env(**settings))


@pytest.mark.parametrize(
    ("settings", "mended"),
    [
        ({"COMPRESSION": "GZIP"}, {"COMPRESSION": "gzip"}),
        ({"COMPRESSION": "none"}, {}),
        ({"COMPRESSION": "deflate"}, {"COMPRESSION": "deflate"}),
        ({"TIMEOUT": "2.5"}, {"TIMEOUT": "3"}),
        ({"TIMEOUT": ""}, {}),
        ({"PROTOCOL": "GRPC"}, {"PROTOCOL": "grpc"}),
        ({"CERTIFICATE": "ca.pem"}, {"CERTIFICATE": "ca.pem", "TRACES_CERTIFICATE": "ca.pem"}),
        (
            {"TRACES_CLIENT_KEY": "t.key", "CLIENT_KEY": "all.key"},
            {"TRACES_CLIENT_KEY": "t.key", "CLIENT_KEY": "all.key"},
        ),
    ],
)
def test_settings_become_what_every_version_takes(settings: dict[str, str], mended: dict[str, str]) -> None:
    """Spellings that only some exporters know are made plain, without a word."""
    environ, told = env(**settings), list[str]()
    mend_settings(told.append, environ)
    assert (env(**mended), []) == (environ, told)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("COMPRESSION", "brotli"),
        ("TIMEOUT", "soon"),
        ("TIMEOUT", "-1"),
        ("TIMEOUT", "nan"),
        ("PROTOCOL", "http/json"),
        ("TRACES_TIMEOUT", "10s"),
    ],
)
def test_bad_value_is_told_and_left_out(name: str, text: str) -> None:
    """One line names the variable and the value; the exporter does not see it."""
    environ, told = env(**{name: text}), list[str]()
    mend_settings(told.append, environ)
    assert ({}, [f"{OTLP}{name}={text!r} is not known; going on without it"]) == (environ, told)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return a file that can be read."""
    path = tmp_path / "some.pem"
    path.write_text("x")
    return str(path)


@pytest.mark.parametrize("is_grpc", [True, False])
@pytest.mark.parametrize("name", ["CERTIFICATE", "CLIENT_CERTIFICATE", "TRACES_CERTIFICATE"])
def test_missing_file_is_refused(tmp_path: Path, name: str, *, is_grpc: bool) -> None:
    """A certificate that is not there is no reason to go on without one."""
    path = tmp_path / "gone.pem"
    with pytest.raises(
        ExporterRefused, match=rf"^OTEL_EXPORTER_OTLP_{name}=.*gone.pem cannot be read \(No such file"
    ):
        check_credentials(env(**{name: str(path)}), is_grpc=is_grpc)


def test_empty_file_is_refused(tmp_path: Path) -> None:
    """A certificate that was not written yet is none."""
    (tmp_path / "ca.pem").touch()
    with pytest.raises(ExporterRefused, match=r"CERTIFICATE=.*ca.pem is empty"):
        check_credentials(env(CERTIFICATE=str(tmp_path / "ca.pem")))


@pytest.mark.parametrize("is_grpc", [True, False])
def test_key_without_a_certificate_is_refused(file: str, *, is_grpc: bool) -> None:
    """The stock exporters would go on without the key."""
    with pytest.raises(
        ExporterRefused, match="CLIENT_KEY is set and OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE is not"
    ):
        check_credentials(env(CLIENT_KEY=file), is_grpc=is_grpc)


def test_grpc_key_without_an_authority_is_refused(file: str) -> None:
    """GRPC's exporter reads the client's key only where a certificate authority is named."""
    settings = env(CLIENT_KEY=file, CLIENT_CERTIFICATE=file)
    with pytest.raises(ExporterRefused, match="over gRPC the key would not be used"):
        check_credentials(settings, is_grpc=True)
    check_credentials(settings, is_grpc=False)


def test_grpc_certificate_without_its_key_is_refused(file: str) -> None:
    """Over HTTP one file may hold both; gRPC's exporter needs the key."""
    settings = env(CERTIFICATE=file, CLIENT_CERTIFICATE=file)
    with pytest.raises(
        ExporterRefused, match="CLIENT_CERTIFICATE is set and OTEL_EXPORTER_OTLP_CLIENT_KEY is not"
    ):
        check_credentials(settings, is_grpc=True)
    check_credentials(settings, is_grpc=False)


def test_whole_credentials_pass(file: str) -> None:
    """All three files are as they should be, and none are too."""
    check_credentials(env(CERTIFICATE=file, CLIENT_CERTIFICATE=file, CLIENT_KEY=file), is_grpc=True)
    check_credentials({}, is_grpc=True)
