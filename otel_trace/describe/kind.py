"""Types by name, without asking their metaclass, and which of them one may remember."""

import sys

from otel_trace import names
from otel_trace.describe.facts import Facts

_MAX_KNOWN = 10_000
_qualname = type.__dict__["__qualname__"].__get__
_module = type.__dict__["__module__"].__get__
_known: dict[type, Facts] = {}


def name_kind(kind: type) -> str:
    """Give `module.Class`."""
    module = _module(kind)
    return f"{module}.{_qualname(kind)}" if isinstance(module, str) else str(_qualname(kind))


def is_lasting(kind: type) -> bool:
    """Say whether a type lives as long as its module does, so that remembering it keeps nothing alive."""
    module = _module(kind)
    holder = sys.modules.get(module) if isinstance(module, str) else None
    return getattr(holder, "__dict__", {}).get(_qualname(kind)) is kind


def describe_kind(value: object) -> Facts:
    """Describe a value by the name of its type alone."""
    kind = type(value)
    facts = _known.get(kind)
    if facts is None:
        facts = Facts({names.TYPE: name_kind(kind)})
        if is_lasting(kind) and len(_known) < _MAX_KNOWN:
            _known[kind] = facts
    return facts
