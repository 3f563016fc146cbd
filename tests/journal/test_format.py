from __future__ import annotations

import pytest

from otel_trace.journal.format import FRAME, MAX_PAYLOAD, decode_payload, encode, pack_frame, unpack_payload

PAYLOAD = encode([2, "record"])


def test_frame_gives_its_payload_back() -> None:
    """A payload is read where its frame begins."""
    assert unpack_payload(b"xyz" + pack_frame(PAYLOAD), 3) == PAYLOAD


@pytest.mark.parametrize("cut", [1, 5, FRAME.size, len(PAYLOAD)])
def test_torn_frame_has_no_payload(cut: int) -> None:
    """A frame of which the end is missing is not taken."""
    assert unpack_payload(pack_frame(PAYLOAD)[:-cut], 0) is None


@pytest.mark.parametrize("bit", range(0, (FRAME.size + len(PAYLOAD)) * 8, 3))
def test_flipped_bit_is_noticed(bit: int) -> None:
    """A frame of which one bit differs is not taken."""
    frame = bytearray(pack_frame(PAYLOAD))
    frame[bit // 8] ^= 1 << bit % 8
    assert unpack_payload(bytes(frame), 0) is None


def test_giant_length_is_not_believed() -> None:
    """A length above the limit is not taken, whatever the checksum says."""
    assert unpack_payload(pack_frame(b"\x92\x02" + bytes(MAX_PAYLOAD)), 0) is None


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x92",
        encode({"a": 1}),
        encode([]),
        encode(["START", 1]),
        encode([True, 1]),
        b"\x91" * 5000 + b"\x00",
        b"\xdd\xff\xff\xff\xff",
        b"\x92\x02\x81\x81\x01\x02\x03",  # a map as the key of a map
        b"\x92\x02\xc7\x0c\xff" + b"\xff" * 12,  # a moment that no calendar has
    ],
)
def test_what_is_no_record_is_none(payload: bytes) -> None:
    """Bytes that are no array beginning with a kind are no record, and no error."""
    assert decode_payload(payload) is None
