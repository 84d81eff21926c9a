"""`AsyncConnection`: one socket and the conversation over it, for asyncio.

One task reads the socket; whoever waits is woken when something has come. A cancelled task takes its request
back on the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Any, Self, TypeAlias, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.protocol import State

from . import connection, errors
from .connection import (
    GRACE_SECONDS,
    OPEN_SECONDS,
    SILENT,
    Advance,
    Build,
    cannot_connect,
    closed_text,
    no_answer,
    socket_options,
)
from .peer import Peer
from .protocol import Call, Protocol

T = TypeVar("T")
#: What follows a request: frames, each with the rows that are complete with it.
Frames: TypeAlias = Iterable[tuple[bytes, int]] | AsyncIterable[tuple[bytes, int]]

#: How many notifications, and how many frames of a stream, wait at most for the one who takes them.
_PUSHED_AHEAD = 1000
_FRAMES_AHEAD = 16


class AsyncConnection:
    """Made by `open`."""

    def __init__(
        self, url: str, peer: Peer, socket: ClientConnection, before: AsyncConnection | None
    ) -> None:
        self.url = url
        self.protocol: Protocol = Protocol(before.protocol if before else None, peer.collect)
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._changed = asyncio.Event()
        #: Whether somebody takes notifications, and which call's frames somebody takes: then nothing is read
        #: faster than they do.
        self._listened = False
        self._streaming: Call | None = None
        self._taken = asyncio.Event()
        #: Whether reading was held up since the last ping.
        self._held_up = False
        self._reader = asyncio.create_task(self._read())
        self._keeper = asyncio.create_task(self._keep())

    @classmethod
    async def open(
        cls,
        url: str,
        peer: Peer,
        timeout: float | None,
        before: AsyncConnection | None = None,
    ) -> Self:
        """Opens the socket and logs in; what was seen on the connection `before` goes on here."""
        seconds = OPEN_SECONDS if timeout is None else timeout
        try:
            socket = await open_socket(url, open_timeout=seconds, **socket_options(url, peer))
        except (OSError, InvalidHandshake, ConnectionClosed, ValueError) as problem:
            raise cannot_connect(url, problem) from problem
        made = cls(url, peer, socket, before)
        try:
            (await made.ask(lambda protocol: protocol.authenticate(peer.login), seconds)).answer()
        except BaseException:
            await made.close()
            raise
        return made

    def check_loop(self) -> None:
        """Refuses to wait in another event loop than the one that reads the socket: nothing would come."""
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError(
                "this client belongs to another event loop, that of the asyncio.run in which it was "
                "connected: connect another one in this"
            )

    @property
    def alive(self) -> bool:
        """Whether a request can be sent, as far as we know."""
        return self._socket.state is State.OPEN and self.protocol.ending is None

    async def last_words(self) -> str:
        """Why the connection ended, once it is no longer alive; what still lies unread may say it."""
        await self._until(Call(-1), GRACE_SECONDS, lambda: self.protocol.ending is not None)
        return self.protocol.ending or "the connection is closed"

    # Requests

    async def ask(self, build: Build, seconds: float | None = None) -> Call:
        """Sends a request and waits for its end. The call knows what came of it, also if it is lost."""
        call = await self.send(build)
        await self._finish(call, seconds)
        return call

    async def upload(self, build: Build, frames: Frames, advance: Advance, seconds: float | None) -> Call:
        """The same for a request that is followed by binary frames."""
        call = await self.send(build, frames, advance)
        await self._finish(call, seconds)
        return call

    async def send(self, build: Build, frames: Frames = (), advance: Advance | None = None) -> Call:
        """Sends a request, and does not wait for its answer."""
        self.check_loop()
        async with self._sending:
            call, text = build(self.protocol)
            if call.streamed:
                self._streaming = call
            # Whoever waits behind a stream makes the rest of it be read.
            self._taken.set()
            try:
                await self._socket.send(text)
                async for frame, rows in _read_by_us(frames):
                    call.follow(frame)
                    await self._socket.send(frame)
                    if advance is not None:
                        advance(rows)
                    if call.done:
                        break
            except (ConnectionClosed, OSError):
                # Why may still lie unread: then the call's outcome says it.
                await self._until(call, GRACE_SECONDS, lambda: False)
                self._lost("the connection is closed")
            except _Data as problem:
                await self._take_back(call)
                raise problem.reason from None
            except BaseException:
                # It is not complete and never will be.
                await self._take_back(call)
                raise
        return call

    async def header(self, call: Call, seconds: float | None) -> None:
        """Waits until the first of a streamed call is there, or its end."""
        await self._finish(call, seconds, lambda: call.header is not None)

    async def frame(self, call: Call, seconds: float | None) -> bytes | None:
        """The next binary frame of a streamed call; None after the last."""
        self.check_loop()
        self._taken.set()
        await self._finish(call, seconds, lambda: bool(call.frames))
        return call.frames.popleft() if call.frames else None

    async def drop(self, call: Call) -> None:
        """Ends a request whose answer nobody wants any more."""
        self.check_loop()
        async with self._sending:
            await self._take_back(call)

    async def cancel(self) -> bool:
        """Stops the request that is running; whether there was one to stop."""
        target = self.protocol.running()
        if target is None:
            return False
        call = await self.ask(lambda protocol: protocol.cancel(target))
        return bool(call.answer().rows[0][0])

    async def pushed(self) -> dict[str, Any]:
        """The next message that answers nothing."""
        self.check_loop()
        self._listened = True
        self._taken.set()
        while not self.protocol.notifications:
            if self.protocol.ending is not None:
                raise errors.ConnectionLost(self.protocol.ending)
            await self._change(None)
        return self.protocol.notifications.popleft()

    async def close(self) -> None:
        """Hangs up. Calls that wait in other tasks fail."""
        if asyncio.get_running_loop() is not self._loop:
            # Nobody could take part in a polite end.
            self._lost("the client is closed")
            return
        # Nobody takes any more: the reader goes on to the end.
        self._listened = False
        self._streaming = None
        self._taken.set()
        await self._socket.close()
        with suppress(asyncio.CancelledError):
            await self._reader
        self._lost("the client is closed")

    # How a request runs

    async def _finish(
        self, call: Call, seconds: float | None, enough: Callable[[], bool] = lambda: False
    ) -> None:
        """Waits for the end of a call, or until it is enough; takes it back when the time is over."""
        try:
            if not await self._until(call, None if seconds is None else seconds + GRACE_SECONDS, enough):
                await self.drop(call)
                call.outcome = no_answer(call, seconds)
        except BaseException:
            await self.drop(call)
            raise

    async def _take_back(self, call: Call) -> None:
        """Cancels a request and waits until the server has let go of it; hangs up if it does not.

        What stands behind another request cannot end before that, and is not waited for.
        """
        call.abandoned = True
        call.frames.clear()
        self._taken.set()
        if call.done:
            return
        _, text = self.protocol.cancel(call)
        with suppress(ConnectionClosed, OSError):
            await self._socket.send(text)
        is_over = await self._until(call, GRACE_SECONDS, lambda: False)
        if not is_over and not self.protocol.stands_behind(call):
            await self.close()

    async def _until(self, call: Call, seconds: float | None, enough: Callable[[], bool]) -> bool:
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        while not (call.done or enough()):
            call.tell()
            rest = None if deadline is None else deadline - asyncio.get_running_loop().time()
            if rest is not None and rest <= 0:
                return False
            await self._change(rest)
        return True

    async def _change(self, seconds: float | None) -> None:
        """Waits until something has come."""
        changed = self._changed
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), seconds)

    async def _read(self) -> None:
        try:
            async for frame in self._socket:
                self.protocol.receive(frame)
                self._wake()
                while self._ahead():
                    self._held_up = True
                    self._taken.clear()
                    await self._taken.wait()
            self._lost("the connection is closed")
        except (ConnectionClosed, OSError, errors.InvalidMessage) as problem:
            self._lost(closed_text(problem))
        except asyncio.CancelledError:
            # Who cancels all tasks ends the event loop. Nothing is read any more, so nobody shall wait for
            # it, and the server shall not go on with what nobody waits for.
            self._socket.transport.abort()
            self._lost("the event loop has ended")
            raise
        finally:
            self._keeper.cancel()

    async def _keep(self) -> None:
        """Shows the server that we are there, and hangs up when it is not."""
        silence = 0.0
        with suppress(ConnectionClosed, OSError):
            pong = asyncio.ensure_future(await self._socket.ping())
            while True:
                self._held_up = self._ahead()
                await asyncio.sleep(connection.KEEP_SECONDS)
                sent = asyncio.ensure_future(await self._socket.ping())
                if pong.done() or self._held_up:
                    pong, silence = sent, 0.0
                    continue
                silence += connection.KEEP_SECONDS
                if silence >= connection.SILENCE_SECONDS:
                    self._lost(SILENT)
                    self._socket.transport.abort()
                    return

    def _ahead(self) -> bool:
        """Whether more has been read than is taken. Frames that others wait behind are read in any case."""
        if self._listened and len(self.protocol.notifications) >= _PUSHED_AHEAD:
            return True
        streaming = self._streaming
        return (
            streaming is not None
            and not streaming.done
            and len(streaming.frames) >= _FRAMES_AHEAD
            and self.protocol.open_calls() == 1
        )

    def _lost(self, reason: str) -> None:
        self.protocol.lost(reason)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class _Data(Exception):
    """The data to send could not be read."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


async def _read_by_us(frames: Frames) -> AsyncIterator[tuple[bytes, int]]:
    """The frames; what goes wrong with them is told apart from what goes wrong with the connection."""
    try:
        if isinstance(frames, AsyncIterable):
            async for frame in frames:
                yield frame
        else:
            for frame in frames:
                yield frame
    except Exception as problem:
        raise _Data(problem) from problem


async def on_thread(made: Iterable[T]) -> AsyncIterator[T]:
    """What is made, each on a thread: reading a file must not keep other tasks waiting."""
    iterator = iter(made)
    end: Any = object()
    while (found := await to_thread(lambda: next(iterator, end))) is not end:
        yield found


async def at_once(made: Iterable[T]) -> AsyncIterator[T]:
    """What is made here."""
    for found in made:
        yield found


async def to_thread(work: Callable[[], T]) -> T:
    """Does something on a thread. A task that is cancelled meanwhile ends when that is done."""
    done = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise
