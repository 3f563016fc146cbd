"""Types by name, without asking their metaclass, and which of them one may remember."""

import sys
from types import ModuleType
from typing import Any

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_KNOWN = 10_000
_MAX_NAME = 200
_qualname = type.__dict__["__qualname__"].__get__
_module = type.__dict__["__module__"].__get__
_own_names = type.__dict__["__dict__"].__get__
_module_names: Any = _own_names(ModuleType)["__dict__"]
_mro = type.__dict__["__mro__"].__get__
_flags = type.__dict__["__flags__"].__get__
_MADE_AT_RUNTIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE; the others are part of the interpreter or of a library
_COMPARING = {"__hash__", "__eq__"}
_known: dict[type, Facts] = {}


def name_kind(kind: type) -> str:
    """Give `module.Class`, cut at a length no sane name has."""
    module = read_module(kind)
    name = str.__str__(_qualname(kind))
    full = f"{module}.{name}" if module else name
    text = full if len(full) <= _MAX_NAME else f"{full[:_MAX_NAME]}..."
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read_module(kind: type) -> str:
    """Give the name of a type's module; empty where it has none, or something else in its place."""
    try:
        module = _module(kind)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def is_lasting(kind: type) -> bool:
    """Say whether a type lives as long as its module does, so that remembering it keeps nothing alive.

    A type that is hashed or compared by code of the user's is not remembered either.
    """
    if not _flags(kind) & _MADE_AT_RUNTIME:
        return True
    if any(_own_names(base).keys() & _COMPARING for base in _mro(type(kind)) if base is not object):
        return False
    try:
        return (
            _module_names.__get__(sys.modules.get(read_module(kind))).get(str.__str__(_qualname(kind)))
            is kind
        )
    except TypeError:  # there is no such module, or an object of the user's in its place
        return False


def describe_kind(value: object) -> Facts | dict[str, Any]:
    """Describe a value by the name of its type alone."""
    kind = type(value)
    try:
        return _known.get(kind) or _describe_new(kind)
    except Exception:  # noqa: BLE001 (a metaclass of the user's may refuse to be hashed)
        return {names.TYPE: name_kind(kind)}


def _describe_new(kind: type) -> Facts | dict[str, Any]:
    """Describe a type; as facts to share only where they can be remembered."""
    facts = {names.TYPE: name_kind(kind)}
    if not is_lasting(kind) or len(_known) >= _MAX_KNOWN:
        return facts
    return _known.setdefault(kind, Facts(facts))
