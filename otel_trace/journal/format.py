"""The bytes of a journal: frames around msgpack payloads, and the kinds of payload.

A frame is a magic, the payload's length and checksum, the payload. A torn or damaged frame fails its
checksum; the magic lets a reader find the next intact one. docs/design.md has the table of payloads.
"""

from enum import IntEnum
from struct import Struct
from typing import Any
from zlib import crc32

import msgspec

FORMAT = 1
MAGIC = b"OT"
FRAME = Struct("<2sII")
MAX_PAYLOAD = 512 * 1024
SUFFIX = ".seg"

encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class Kind(IntEnum):
    """What a payload says; its first element."""

    HEADER = 0
    DEFINITION = 1
    START = 2
    END = 3
    EVENT = 4
    TALLY = 5
    LINK = 6


def pack_frame(payload: bytes) -> bytes:
    """Give the frame that carries a payload."""
    return FRAME.pack(MAGIC, len(payload), crc32(payload)) + payload


def unpack_payload(data: bytes, offset: int) -> bytes | None:
    """Give the payload of the frame at `offset`, None if there is no intact one."""
    if offset + FRAME.size > len(data):
        return None
    magic, length, checksum = FRAME.unpack_from(data, offset)
    if magic != MAGIC or not 0 < length <= MAX_PAYLOAD:
        return None
    begin = offset + FRAME.size
    payload = data[begin : begin + length]
    return payload if len(payload) == length and crc32(payload) == checksum else None


def decode_payload(payload: bytes) -> list[Any] | None:
    """Give the record in a payload, None if it is no record."""
    try:
        record = _decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return record if isinstance(record, list) and record and type(record[0]) is int else None
