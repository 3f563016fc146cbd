"""`import otel_trace` is light, and its public names are these and no others."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

import otel_trace

HEAVY = (
    "torch",
    "numpy",
    "opentelemetry.sdk",
    "opentelemetry.exporter",
    "grpc",
    "google.protobuf",
    "requests",
)
PUBLIC = ["__version__", "configure", "flush", "shutdown", "span", "stage", "step", "traced", "view"]


def list_loaded(program: str) -> set[str]:
    """Run a program; give those of the heavy libraries that it has loaded."""
    program += "\nimport json, sys; print(json.dumps(list(sys.modules)))"
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    loaded = set(json.loads(output.splitlines()[-1]))
    return loaded.intersection(HEAVY)


@pytest.mark.parametrize(
    "program",
    [
        "import otel_trace",
        "import otel_trace as ot; ot.traced; ot.span; ot.stage; ot.step; ot.configure; ot.flush; ot.shutdown",
        "import otel_trace as ot\n@ot.traced\ndef f(x): return x\nwith_stage = ot.stage('a')(f); ot.flush(); ot.shutdown()",
        "import otel_trace.view",
    ],
    ids=["import", "names", "decorate", "view"],
)
def test_what_one_does_not_use_is_not_loaded(program: str) -> None:
    """Importing, naming and decorating load neither torch, numpy, the SDK nor an exporter."""
    assert set() == list_loaded(program)


def test_the_first_span_loads_the_sdk_and_nothing_else() -> None:
    """Recording needs no torch, no numpy and nothing that ships."""
    program = (
        "import otel_trace as ot; ot.configure()\nwith ot.step(1), ot.span('a', b=[1]): pass\not.shutdown()"
    )
    assert {"opentelemetry.sdk"} == list_loaded(program)


def test_the_public_names_are_frozen() -> None:
    """A name is added or taken away on purpose: here, in the documents and in the changelog."""
    assert PUBLIC == otel_trace.__all__
    assert set(PUBLIC) <= set(dir(otel_trace))


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "__version__"])
def test_a_public_name_is_documented(name: str) -> None:
    """Each has a docstring that begins with a sentence."""
    first_line = (inspect.getdoc(getattr(otel_trace, name)) or "").partition("\n")[0]
    assert first_line.endswith((".", ":")) or "`" in first_line


def test_an_unknown_name_is_pythons_own_error() -> None:
    """A misspelt name is an AttributeError that names it, and an ImportError when imported."""
    with pytest.raises(AttributeError, match=r"^module 'otel_trace' has no attribute 'trace_it'$"):
        _ = otel_trace.trace_it
    with pytest.raises(ImportError, match="cannot import name 'trace_it' from 'otel_trace'"):
        from otel_trace import trace_it  # noqa: F401
