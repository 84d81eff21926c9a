"""Events: what changes on the server, as something to iterate over.

`Events` and `AsyncEvents` have a connection of their own, so they never come between a request and its
answer, and connect again by themselves. The server numbers events, so nothing is told twice, and what was
missed is told as a `Gap`.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from . import errors

if TYPE_CHECKING:
    from .aio_connection import AsyncConnection
    from .connection import Connection

#: How long to wait before connecting again: first, and at most.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_SLICE_SECONDS = 0.5

#: The field that says what an event is about, by its type.
_SUBJECTS = {
    "persistent_update": "relation",
    "rule_change": "rule_name",
    "kg_change": "knowledge_graph",
    "schema_change": "entity",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something has changed."""

    #: `persistent_update`, `rule_change`, `kg_change` or `schema_change`.
    type: str
    #: The number of the event; later ones have greater ones.
    seq: int
    #: The graph.
    kg: str
    #: The relation, rule or graph; `multiple` for an update.
    name: str
    #: `insert`, `delete`, `update`, `registered`, `declared`, `created` or `dropped`.
    operation: str
    #: How many facts were inserted or deleted; 0 for everything else.
    count: int
    #: When, by the server's clock.
    time: datetime
    #: The session that made the change, if it is known.
    session_id: str | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Events were perhaps missed. What they could be about has to be read again."""

    #: The first number that was missed.
    first: int | None
    #: The last.
    last: int | None


def read(message: Mapping[str, Any]) -> Event | Gap | None:
    """A pushed message as an event; None if it is of a type that this version does not know."""
    if "gap" in message:
        return Gap(int(message["gap"]["from"]), int(message["gap"]["to"]))
    subject = _SUBJECTS.get(message["type"])
    if subject is None:
        return None
    return Event(
        type=message["type"],
        seq=int(message["seq"]),
        kg=str(message["knowledge_graph"]),
        name=str(message[subject]),
        operation=str(message["operation"]),
        count=int(message.get("count", 0)),
        time=datetime.fromtimestamp(message["timestamp_ms"] / 1000, UTC),
        session_id=message.get("session_id"),
    )


class _Place:
    """Where a reader is: the last number seen, at first the one that the server tells at login."""

    def __init__(self, last_seq: int | None) -> None:
        self.last_seq = last_seq

    def begin(self, greeted: int | None) -> None:
        """A connection is open; the server has told the number before it."""
        if self.last_seq is None:
            self.last_seq = greeted

    def take(self, message: Mapping[str, Any]) -> Event | Gap | None:
        found = read(message)
        if isinstance(found, Event):
            self.last_seq = found.seq
        elif isinstance(found, Gap) and found.first is not None and found.last is not None:
            # Numbers from the future are taken back: the server goes on below them.
            future = self.last_seq is not None and self.last_seq >= found.last
            self.last_seq = found.first - 1 if future else found.last
        return found


class Events:
    """Events of one graph, as they come. Close it, or use it in a `with` statement."""

    def __init__(self, connect: Callable[[int | None], Connection], last_seq: int | None) -> None:
        self._connect = connect
        self._place = _Place(last_seq)
        self._closed = threading.Event()
        self._link: Connection | None = None
        self._open()

    @property
    def last_seq(self) -> int | None:
        """The number of the last event; give it to `events` to go on from there."""
        return self._place.last_seq

    def next(self, timeout: float | None = None) -> Event | Gap | None:
        """The next event; None if there is none within so many seconds, or the events are closed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while not self._closed.is_set():
            rest = _SLICE_SECONDS if deadline is None else min(_SLICE_SECONDS, deadline - time.monotonic())
            try:
                message = self._open().pushed(max(0.0, rest))
                if message is not None and (found := self._place.take(message)) is not None:
                    return found
                pause = _FIRST_PAUSE
            except (errors.ConnectionLost, errors.Overloaded):
                self._lost()
                if self._closed.is_set():
                    break
                self._closed.wait(min(pause, max(0.0, rest)) * random.uniform(0.5, 1.0))
                pause = min(pause * 2, _LONGEST_PAUSE)
            if deadline is not None and time.monotonic() >= deadline:
                break
        return None

    def close(self) -> None:
        """Ends the events, also for a thread that waits for the next."""
        self._closed.set()
        if self._link is not None:
            self._link.close()

    def _open(self) -> Connection:
        if self._link is None:
            self._link = self._connect(self._place.last_seq)
            self._place.begin(self._link.protocol.last_seq)
        return self._link

    def _lost(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event | Gap:
        found = self.next()
        if found is None:
            raise StopIteration
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncEvents:
    """Events of one graph for asyncio. Close it, or use it in an `async with` statement."""

    def __init__(
        self, connect: Callable[[int | None], Awaitable[AsyncConnection]], last_seq: int | None
    ) -> None:
        self._connect = connect
        self._place = _Place(last_seq)
        import asyncio

        self._closed = asyncio.Event()
        self._link: AsyncConnection | None = None

    @property
    def last_seq(self) -> int | None:
        """The number of the last event; give it to `events` to go on from there."""
        return self._place.last_seq

    async def close(self) -> None:
        """Ends the events, also for a task that waits for the next."""
        self._closed.set()
        if self._link is not None:
            await self._link.close()

    async def _open(self) -> AsyncConnection:
        if self._link is None:
            self._link = await self._connect(self._place.last_seq)
            self._place.begin(self._link.protocol.last_seq)
        return self._link

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event | Gap:
        pause = _FIRST_PAUSE
        while not self._closed.is_set():
            try:
                if (found := self._place.take(await (await self._open()).pushed())) is not None:
                    return found
            except (errors.ConnectionLost, errors.Overloaded):
                if self._link is not None:
                    link, self._link = self._link, None
                    await link.close()
                if self._closed.is_set():
                    break
                import asyncio

                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(pause * 2, _LONGEST_PAUSE)
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
