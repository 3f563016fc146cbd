"""The bytes of a journal: frames around msgpack payloads, and the kinds of payload.

A frame is a magic, the payload's length and checksum, the payload. A torn or damaged frame fails its
checksum; the magic lets a reader find the next intact one. docs/design.md has the table of payloads.
"""

import re
from enum import IntEnum
from struct import Struct
from typing import Any
from zlib import crc32

import msgspec

FORMAT = 1
FORMATS = (1,)  # what a reader takes: this one and, once there is one, the one before
MAGIC = b"OT"
FRAME = Struct("<2sII")
MAX_PAYLOAD = 512 * 1024
SUFFIX = ".seg"
# Every payload is a short array whose first element is a kind: where a frame may begin.
FRAME_BEGIN = re.compile(MAGIC + rb".{8}[\x91-\x9f][\0-\x7f]", re.DOTALL)

encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode
_unpack = FRAME.unpack_from
_HEAD = FRAME.size
_ARRAY_HEADS = frozenset(range(0x91, 0xA0))


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
    begin = offset + _HEAD
    if begin > len(data):
        return None
    magic, length, checksum = _unpack(data, offset)
    if magic != MAGIC or not 1 < length <= MAX_PAYLOAD:
        return None
    payload = data[begin : begin + length]
    if len(payload) != length or crc32(payload) != checksum or payload[0] not in _ARRAY_HEADS:
        return None
    return payload


def decode_payload(payload: bytes) -> list[Any] | None:
    """Give the record in a payload, None if it is no record."""
    try:
        record = _decode(payload)
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        return None
    return record if type(record) is list and record and type(record[0]) is int else None
