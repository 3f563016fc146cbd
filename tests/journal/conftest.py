"""What each test of the journal hears: also what was told before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_trace import _guard

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def tell_again() -> Iterator[None]:
    """Let each test, and the one after it, hear what is told once."""
    _guard.forget_what_was_told()
    yield
    _guard.forget_what_was_told()
