from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    """Give a journal of its own, which the decorators write to during the test."""
    with Recording(tmp_path / "recording") as recording:
        yield recording
