"""The layout rules of docs/design.md that import-linter cannot hold, read from the source's syntax trees."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[1]
PACKAGE = "otel_trace"
MAX_LINES = 300

# Which libraries are loaded only in which folders.
ROOMS = {
    "opentelemetry.sdk": ("emit", "ship"),
    "opentelemetry.exporter": ("ship",),
    "grpc": ("ship",),
    "requests": ("ship",),
    "google.protobuf": ("ship",),
}
# Loaded only inside functions, except by modules that are named for them.
LATE = ("torch",)


@dataclass(frozen=True)
class Import:
    """One imported module, as written."""

    module: str
    line: int
    function: str | None  # the innermost function it stands in
    is_for_types: bool  # below `if TYPE_CHECKING:`


def list_imports(source: str, modules: frozenset[str] = frozenset()) -> list[Import]:
    """List the imports of a source text; `from a import b` is `a.b` where `modules` knows it, else `a`."""
    return list(_visit(ast.parse(source), None, is_for_types=False, modules=modules))


def _visit(
    node: ast.AST, function: str | None, *, is_for_types: bool, modules: frozenset[str]
) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, node.lineno, function, is_for_types)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            module = "." * node.level + (node.module or "")
            inner = f"{module}.{alias.name}"
            is_known = inner in modules or inner in ROOMS
            yield Import(inner if is_known else module, node.lineno, function, is_for_types)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    is_switch = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    for child in ast.iter_child_nodes(node):
        child_is_for_types = is_for_types or (is_switch and child in getattr(node, "body", []))
        yield from _visit(child, function, is_for_types=child_is_for_types, modules=modules)


def find_broken_rules(path: str, source: str, modules: frozenset[str] = frozenset()) -> list[str]:
    """Say which rules the file at `path`, below the package, breaks; empty when it breaks none."""
    place = PurePosixPath(path)
    broken = []
    if place.stem in {"utils", "util", "helpers", "common", "misc"}:
        broken.append(f"{path}: a file is named for what it holds")
    if (length := len(source.splitlines())) > MAX_LINES:
        broken.append(f"{path}: {length} lines, at most {MAX_LINES}: look for a cut")
    for found in list_imports(source, modules):
        broken += [f"{path}:{found.line}: {words}" for words in _judge(place, found)]
    return broken


def _judge(place: PurePosixPath, found: Import) -> Iterator[str]:
    for library, rooms in ROOMS.items():
        if is_within(found.module, library) and not found.is_for_types and place.parts[0] not in rooms:
            yield f"{library} is loaded only in {' and '.join(f'{room}/' for room in rooms)}"
    for library in LATE:
        is_at_start = found.function is None and not found.is_for_types
        if is_within(found.module, library) and is_at_start and not place.name.startswith(library):
            yield f"{library} is imported at the start only by files named {library}*.py"
    if found.module.startswith(".."):
        yield "a relative import climbs: write it in full"
    if found.module == PACKAGE and not is_door(place):
        yield "the package's own top is for users: import the module that has it"


def is_within(module: str, library: str) -> bool:
    """Whether `module` is `library` or a part of it."""
    return module == library or module.startswith(f"{library}.")


def is_door(place: PurePosixPath) -> bool:
    """Whether this file is where the world comes in, and may so speak to the package as a user would."""
    return place.parts[0] in {"__main__.py", "cli", "compat", "testing", "testing.py"}


def list_modules(root: Path) -> frozenset[str]:
    """List the dotted names of all modules and packages below the package's folder."""
    names = set()
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        names.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return frozenset(names)


def test_the_package_keeps_the_rules() -> None:
    """No file of the package breaks a rule."""
    root = PROJECT / PACKAGE
    modules = list_modules(root)
    broken = [
        rule
        for path in sorted(root.rglob("*.py"))
        for rule in find_broken_rules(path.relative_to(root).as_posix(), path.read_text(), modules)
    ]
    assert [] == broken


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("emit/provider.py", "from opentelemetry.sdk.trace import TracerProvider"),
        ("ship/grpc.py", "import grpc"),
        ("capture/torch_hooks.py", "import torch"),
        ("describe/tensor.py", "def ask():\n    import torch"),
        (
            "capture/call.py",
            "if TYPE_CHECKING:\n    import torch\n    from opentelemetry.sdk.trace import Span",
        ),
        ("capture/call.py", "from opentelemetry import trace"),
        ("__init__.py", "def __getattr__(name):\n    from otel_trace.capture import call"),
        ("cli/view.py", "def view():\n    from otel_trace.view import open_run"),
        ("view/model.py", "from otel_trace import names"),
    ],
)
def test_what_is_allowed_passes(path: str, source: str) -> None:
    """Imports in their rooms, late imports and imports for types are no breach."""
    assert [] == find_broken_rules(path, source, frozenset({"otel_trace", "otel_trace.names"}))


@pytest.mark.parametrize(
    ("path", "source", "words"),
    [
        (
            "view/x.py",
            "import opentelemetry.sdk.trace",
            "opentelemetry.sdk is loaded only in emit/ and ship/",
        ),
        ("view/x.py", "from opentelemetry import sdk", "opentelemetry.sdk is loaded only in emit/ and ship/"),
        ("emit/x.py", "def f():\n    import grpc", "grpc is loaded only in ship/"),
        ("emit/x.py", "from google.protobuf import message", "google.protobuf is loaded only in ship/"),
        ("emit/x.py", "from google import protobuf", "google.protobuf is loaded only in ship/"),
        ("emit/x.py", "import requests", "requests is loaded only in ship/"),
        ("emit/x.py", "try:\n    import torch\nexcept ImportError: ...", "torch is imported at the start"),
        ("emit/x.py", "if TYPE_CHECKING: ...\nelse:\n    import torch", "torch is imported at the start"),
        ("view/utils.py", "", "a file is named for what it holds"),
        ("view/x.py", "\n" * 301, "301 lines, at most 300"),
        ("view/x.py", "from otel_trace import traced", "the package's own top is for users"),
        ("view/x.py", "from ..journal import reader", "a relative import climbs"),
    ],
)
def test_what_is_forbidden_is_named(path: str, source: str, words: str) -> None:
    """Each breach is told with its file and the rule."""
    modules = frozenset({"otel_trace", "otel_trace.names"})
    (broken,) = find_broken_rules(path, source, modules)
    assert broken.startswith(path)
    assert words in broken
