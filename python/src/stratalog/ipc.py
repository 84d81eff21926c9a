"""Cuts an Arrow IPC stream that arrives in frames into its messages, so that each batch can be read when it
is there.

A message is a marker (0xFFFFFFFF), the length of its metadata, the metadata, which is a flatbuffer, and a
body whose length the metadata tells. Only that length and the kind of the message are looked at here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_MARKER = b"\xff\xff\xff\xff"
_END = _MARKER + b"\0\0\0\0"
_SCHEMA, _BATCH = 1, 3
# Fields of the flatbuffer table `Message`.
_KIND_FIELD, _BODY_LENGTH_FIELD = 1, 3


class Batches:
    """Takes frames, and gives each record batch as a stream of its own: schema, batch, end."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._schema = b""
        self._any = False

    @property
    def begun(self) -> bool:
        """Whether the schema has come."""
        return bool(self._schema)

    @property
    def rest(self) -> bytes | None:
        """At the end, a stream without rows in place of batches, if there was none."""
        return self._schema + _END if self._schema and not self._any else None

    def feed(self, frame: bytes) -> Iterator[bytes]:
        """The batches that are complete with this frame."""
        self._buffer += frame
        while (message := self._message()) is not None:
            kind, data = message
            if kind == _SCHEMA:
                self._schema = data
            elif kind == _BATCH:
                self._any = True
                yield self._schema + data + _END
            else:
                raise ValueError(f"an Arrow message of the kind {kind}, which the server does not send")

    def _message(self) -> tuple[int, bytes] | None:
        """The next message, if all of it is there."""
        buffer = self._buffer
        if len(buffer) < 8 or buffer[:4] != _MARKER:
            if len(buffer) >= 4 and buffer[:4] != _MARKER:
                raise ValueError("not an Arrow IPC stream")
            return None
        (metadata,) = struct.unpack_from("<i", buffer, 4)
        if metadata == 0 or len(buffer) < 8 + metadata:
            return None
        kind, body = _kind_and_body(bytes(buffer[8 : 8 + metadata]))
        whole = 8 + metadata + body
        if len(buffer) < whole:
            return None
        data = bytes(buffer[:whole])
        del buffer[:whole]
        return kind, data


def _kind_and_body(metadata: bytes) -> tuple[int, int]:
    """What kind of message this is, and how long its body."""
    (table,) = struct.unpack_from("<I", metadata, 0)
    (back,) = struct.unpack_from("<i", metadata, table)
    fields = table - back

    def place(number: int) -> int | None:
        (size,) = struct.unpack_from("<H", metadata, fields)
        at = 4 + 2 * number
        if at >= size:
            return None
        (offset,) = struct.unpack_from("<H", metadata, fields + at)
        return table + offset if offset else None

    kind, length = place(_KIND_FIELD), place(_BODY_LENGTH_FIELD)
    return (
        metadata[kind] if kind is not None else 0,
        struct.unpack_from("<q", metadata, length)[0] if length is not None else 0,
    )
