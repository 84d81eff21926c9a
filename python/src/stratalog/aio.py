"""`AsyncClient`: the client for asyncio, around the same protocol object. `connect_async` opens it.

One task reads the socket; every request awaits a future that this task completes. A cancelled task takes its
request back on the server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from . import errors
from .client import (
    GRACE_SECONDS,
    OPEN_SECONDS,
    Data,
    Inserted,
    Progress,
    closed_text,
    inserted,
    socket_options,
)
from .events import AsyncEvents
from .protocol import Call, Protocol, Session, address, credentials, graph_name, without_graph
from .result import Result
from .rows import plan

#: How many notifications wait at most for the one who takes them.
_PUSHED_AHEAD = 1000


async def connect_async(
    url: str = "ws://127.0.0.1:8080/ws",
    *,
    user: str | None = None,
    password: str | None = None,
    api_key: str | None = None,
    kg: str = "default",
    timeout: float | None = None,
) -> AsyncClient:
    """Connects and logs in, with the arguments of `stratalog.connect`."""
    return await _connect(url, credentials(user, password, api_key), kg, timeout, None)


async def _connect(
    url: str, login: Mapping[str, str], kg: str, timeout: float | None, last_seq: int | None
) -> AsyncClient:
    target = address(url, kg, last_seq)
    seconds = OPEN_SECONDS if timeout is None else timeout
    try:
        socket = await open_socket(target, open_timeout=seconds, **socket_options(target))
    except (OSError, InvalidHandshake, ValueError) as problem:
        raise errors.ConnectionLost(f"cannot connect to {target}: {problem}") from problem
    client = AsyncClient(target, socket, timeout)
    client._again = lambda kg, seen: _connect(without_graph(url), login, kg, timeout, seen)
    try:
        call = await client._ask(lambda: client._protocol.authenticate(login), seconds)
        call.answer()
    except BaseException:
        await client.close()
        raise
    return client


class AsyncClient:
    """A session on the server. Close it, or use it in an `async with` statement."""

    #: Connects anew, with the same credentials.
    _again: Callable[[str, int | None], Awaitable[AsyncClient]]

    def __init__(self, url: str, socket: ClientConnection, timeout: float | None) -> None:
        #: Where this client is connected to.
        self.url = url
        self._socket = socket
        self._timeout = timeout
        self._protocol = Protocol()
        self._waiting: dict[int, tuple[Call, asyncio.Future[None]]] = {}
        self._sending = asyncio.Lock()
        self._received = asyncio.Event()
        #: Set by whoever takes notifications: where there is somebody, nothing is read faster than they do.
        self._taken: asyncio.Event | None = None
        self._reader = asyncio.create_task(self._read())

    @property
    def session(self) -> Session:
        """What the server said at login."""
        if self._protocol.session is None:
            raise errors.ConnectionLost("not logged in")
        return self._protocol.session

    @property
    def kg(self) -> str:
        """The graph in use."""
        return self._protocol.knowledge_graph

    @property
    def notifications(self) -> list[dict[str, Any]]:
        """Takes the changes that the server told about since the last look."""
        found = list(self._protocol.notifications)
        self._protocol.notifications.clear()
        return found

    def events(self, last_seq: int | None = None) -> AsyncEvents:
        """What changes on the graph in use, as for `Client.events`, for `async for`.

        Inside of `async with` it is connected at once, else when the first event is asked for.
        """
        kg = self.kg
        return AsyncEvents(lambda seen: self._again(kg, seen), last_seq)

    async def _pushed(self) -> dict[str, Any]:
        """The next message that answers nothing."""
        if self._taken is None:
            self._taken = asyncio.Event()
        self._taken.set()
        while not self._protocol.notifications:
            if self._protocol.ending is not None:
                raise errors.ConnectionLost(self._protocol.ending)
            self._received.clear()
            await self._received.wait()
        return self._protocol.notifications.popleft()

    async def query(
        self,
        program: str,
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Runs a program that ends in a query."""
        return await self._execute(program, params, limit=limit, timeout=timeout)

    async def execute(
        self,
        program: str,
        params: Mapping[str, Any] | None = None,
        atomic: bool = False,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Runs any program. With `atomic` its writes happen all, or not at all."""
        return await self._execute(program, params, atomic=atomic, timeout=timeout)

    async def insert(
        self,
        relation: str,
        data: Data,
        *,
        scope: str = "persistent",
        columns: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> Inserted:
        """Inserts facts, all of them or none; `data` as for `Client.insert`."""
        how = plan(data, columns)
        async with self._sending:
            call, text = self._protocol.insert(relation, how.rows, scope=scope)
            future = self._expect(call)
            try:
                await self._transmit(text)
                for frame, rows in how.frames or ():
                    if call.done:
                        break
                    await self._transmit(frame)
                    if progress is not None:
                        progress(rows, how.total)
            except errors.ConnectionLost:
                raise
            except BaseException:
                await self._take_back(call)
                raise
        await self._finish(call, future, None)
        return inserted(call)

    async def use(self, kg: str) -> None:
        """Switches to another graph; facts and rules of the session are dropped."""
        await self.execute(f".kg use {graph_name(kg)}")

    async def create_kg(self, kg: str) -> None:
        """Creates a graph and switches to it."""
        await self.execute(f".kg create {graph_name(kg)}")

    async def ping(self) -> float:
        """Asks for a sign of life; the seconds that it took."""
        start = time.perf_counter()
        (await self._ask(self._protocol.ping)).answer()
        return time.perf_counter() - start

    async def cancel(self) -> bool:
        """Stops the request that is running; whether there was one to stop."""
        target = self._protocol.running()
        if target is None:
            return False
        call = await self._ask(lambda: self._protocol.cancel(target))
        return bool(Result(call.answer()).scalar())

    async def close(self) -> None:
        """Ends the session."""
        if (taken := self._taken) is not None:
            # Nobody takes any more: the reader goes on to the end.
            self._taken = None
            taken.set()
        await self._socket.close()
        with suppress(asyncio.CancelledError):
            await self._reader

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _execute(
        self,
        program: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None,
        limit: int | None = None,
        atomic: bool = False,
    ) -> Result:
        seconds = self._timeout if timeout is None else timeout

        def build() -> tuple[Call, str]:
            return self._protocol.execute(program, params, timeout=seconds, limit=limit, atomic=atomic)

        return Result((await self._ask(build, seconds)).answer())

    async def _ask(self, build: Callable[[], tuple[Call, str]], seconds: float | None = None) -> Call:
        async with self._sending:
            call, text = build()
            future = self._expect(call)
            await self._transmit(text)
        await self._finish(call, future, seconds)
        return call

    async def _finish(self, call: Call, future: asyncio.Future[None], seconds: float | None) -> None:
        try:
            await asyncio.wait_for(future, None if seconds is None else seconds + GRACE_SECONDS)
        except TimeoutError:
            await self._take_back(call)
            call.outcome = errors.QueryTimeout(f"no answer within {seconds} seconds", request_id=call.id)
        except asyncio.CancelledError:
            await self._take_back(call)
            raise

    async def _take_back(self, call: Call) -> None:
        """Cancels a request; hangs up if the server does not let go of it."""
        if call.done:
            return
        _, text = self._protocol.cancel(call)
        future = self._expect(call)
        await self._transmit(text)
        try:
            await asyncio.wait_for(future, GRACE_SECONDS)
        except TimeoutError:
            await self._socket.close()

    def _expect(self, call: Call) -> asyncio.Future[None]:
        future = asyncio.get_running_loop().create_future()
        self._waiting[call.id] = (call, future)
        return future

    async def _transmit(self, frame: str | bytes) -> None:
        try:
            await self._socket.send(frame)
        except (ConnectionClosed, OSError) as problem:
            raise errors.ConnectionLost(f"the connection is closed: {problem}") from problem

    async def _read(self) -> None:
        try:
            async for frame in self._socket:
                self._protocol.receive(frame)
                self._wake()
                while self._taken is not None and len(self._protocol.notifications) >= _PUSHED_AHEAD:
                    self._taken.clear()
                    await self._taken.wait()
            self._protocol.lost("the connection is closed")
        except (ConnectionClosed, OSError, errors.InvalidMessage) as problem:
            self._protocol.lost(closed_text(problem))
        self._wake()

    def _wake(self) -> None:
        self._received.set()
        for call, future in [entry for entry in self._waiting.values() if entry[0].done]:
            del self._waiting[call.id]
            if not future.done():
                future.set_result(None)
