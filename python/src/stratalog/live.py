"""Live queries: an answer as it changes, to iterate over.

`Live` and `AsyncLive` have a connection of their own, so they never come between a request and its answer,
and connect again by themselves. The server tells which rows came and went since the version that is known
here, so nothing is missed or told twice.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from . import errors
from .extras import extra
from .protocol import Answer, Call, Protocol
from .result import Result

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from .aio_connection import AsyncConnection
    from .connection import Connection

#: How long to wait before connecting again: first, and at most.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_SLICE_SECONDS = 0.5

#: The first column of what travels: 1 for a row that came, -1 for one that went.
_DIFF = "_diff"


@dataclass(frozen=True, slots=True)
class Change:
    """The rows that came and went."""

    #: The version of the graph at which the answer is what it is now.
    version: int
    #: Whether `added` are all rows, and those of before are of no use.
    reset: bool
    #: Rows that were not there.
    added: list[tuple[Any, ...]]
    #: Rows that are not there any more.
    removed: list[tuple[Any, ...]]
    #: The names of the columns.
    columns: list[str]
    _parts: list[bytes] = field(repr=False)

    def to_polars(self) -> polars.DataFrame:
        """A Polars DataFrame, whose first column `_diff` is 1 for added rows and -1 for removed ones."""
        with extra("polars"):
            import polars as pl

        return pl.concat([part.to_polars() for part in self._results()], how="vertical_relaxed")

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame, whose first column `_diff` is 1 for added rows and -1 for removed ones."""
        with extra("pandas"):
            import pandas as pd

        return pd.concat([part.to_pandas() for part in self._results()], ignore_index=True)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table, whose first column `_diff` is 1 for added rows and -1 for removed ones."""
        with extra("arrow"):
            import pyarrow as pa

        return pa.concat_tables([part.to_arrow() for part in self._results()], promote_options="permissive")

    def _results(self) -> Iterator[Result]:
        for part in self._parts:
            yield Result(Answer([_DIFF, *self.columns], arrow=part))


class _Subscription:
    """What is asked, and how much of the answer is known here."""

    def __init__(
        self, query: str, params: Mapping[str, Any] | None, resume: str | None, options: dict[str, bool]
    ) -> None:
        self.query = query
        self.params = params
        self.options = options
        self.columns: list[str] = []
        self.version = 0
        self.told = 0
        self._resume: dict[str, Any] | None = None
        if resume is not None:
            token, _, version = resume.rpartition("@")
            if not token or not version.isdigit():
                raise ValueError("`resume` is the `token` of a live query, and this is none")
            self._resume = {"token": token, "version": int(version)}
        #: By what they look like: 1, 1.0 and True are three rows.
        self.rows: dict[str, tuple[Any, ...]] = {}
        self._parts: list[bytes] = []

    @property
    def token(self) -> str:
        if self._resume is None:
            raise errors.ConnectionLost("the live query has no first answer yet")
        return f"{self._resume['token']}@{self._known}"

    @property
    def _known(self) -> int:
        """The version up to which the rows are known; that of the last change, or of what was told since."""
        return max(self.told, self._resume["version"]) if self._resume is not None else 0

    def again(self) -> _Subscription:
        """The same question, of which nothing is known yet."""
        return _Subscription(
            self.query, self.params, None, dict.fromkeys(self.options, False) | {"keep": True}
        )

    def request(self, protocol: Protocol) -> tuple[Call, str]:
        self._parts = []
        if self._resume is not None:
            self._resume["version"] = self._known
        return protocol.subscribe(self.query, self.params, self._resume, self.options)

    def begin(self, answer: Answer) -> None:
        """The server has agreed. What is known stays, if it is `resumed`."""
        self.columns = list(answer.columns)
        known = self._resume["version"] if self._resume is not None and answer.extra.get("resumed") else 0
        self._resume = {"token": str(answer.extra["token"]), "version": known}
        self.version = self.told = known

    def take(self, message: Mapping[str, Any]) -> Change | None:
        """A change that is complete with this message."""
        match message["type"]:
            case "progress":
                self.told = int(message["version"])
            case "unsubscribed":
                raise errors.from_message(message["error"], self.query)
            case "delta":
                self._parts.append(message["frame"])
                if message["last"]:
                    return self._change(message)
        return None

    def _change(self, message: Mapping[str, Any]) -> Change:
        reset, version = bool(message.get("reset")), int(message["version"])
        if not reset and message["from"] != self.version:
            raise errors.InvalidMessage(
                f"the server tells what came after version {message['from']}; known is version {self.version}"
            )
        parts, self._parts = self._parts, []
        change = Change(version, reset, [], [], self.columns, parts)
        for part in change._results():
            for diff, *values in part:
                (change.added if diff > 0 else change.removed).append(tuple(values))
        if self.options["keep"]:
            if reset:
                self.rows.clear()
            for row in change.removed:
                self.rows.pop(repr(row), None)
            self.rows.update((repr(row), row) for row in change.added)
        self.version = version
        self.told = max(self.told, version)
        if self._resume is not None:
            self._resume["version"] = version
        return change


class _Shown:
    """What both kinds tell."""

    _subscription: _Subscription

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._subscription.columns

    @property
    def version(self) -> int:
        """The version of the last change; 0 before the first one."""
        return self._subscription.version

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The answer after the changes that were taken, in no particular order; nothing with `keep=False`."""
        return list(self._subscription.rows.values())

    @property
    def token(self) -> str:
        """What `db.live(query, resume=token)` goes on with, after the last change that was taken."""
        return self._subscription.token


class Live(_Shown):
    """One live query. Close it, or use it in a `with` statement.

    A notebook shows a table that is kept current, and takes no change from who iterates.
    """

    def __init__(self, connect: Callable[[], Connection], subscription: _Subscription) -> None:
        self._connect = connect
        self._subscription = subscription
        self._closed = threading.Event()
        self._link: Connection | None = None
        #: The same query where a notebook shows it.
        self._shown: list[Live] = []
        # What is wrong with the query is told at once.
        self._open()

    @property
    def closed(self) -> bool:
        """Whether it is closed: then no change comes any more."""
        return self._closed.is_set()

    def next(self, timeout: float | None = None) -> Change | None:
        """The next change, the first of which has all rows.

        None if there is none within so many seconds, or the live query is closed.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while not self._closed.is_set():
            rest = _SLICE_SECONDS if deadline is None else min(_SLICE_SECONDS, deadline - time.monotonic())
            try:
                message = self._open().pushed(max(0.0, rest))
                if message is not None and (change := self._subscription.take(message)) is not None:
                    return change
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

    def wait(self, version: int, timeout: float | None = None) -> bool:
        """Takes changes until the answer at this version or a later one is known; whether it is, in time.

        It takes `progress=True`, as a version that changes nothing is not told. Every result of a write has
        its `version`.
        """
        if not self._subscription.options["progress"]:
            raise ValueError("wait() is for a live query with progress=True")
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._subscription.told < version:
            rest = _SLICE_SECONDS if deadline is None else min(_SLICE_SECONDS, deadline - time.monotonic())
            if rest <= 0 or self._closed.is_set():
                return False
            self.next(rest / 10)
        return True

    def close(self) -> None:
        """Ends it, also for a thread that waits for the next change."""
        self._closed.set()
        if self._link is not None:
            self._link.close()
        for live in self._shown:
            live.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "live"
        return f"<Live {self._subscription.query!r}: {state}, version {self.version}, {len(self.rows)} rows>"

    def _ipython_display_(self) -> None:
        from .live_display import show

        show(self)

    def _again(self) -> Live:
        """The same query on another connection, which is closed with this one."""
        live = Live(self._connect, self._subscription.again())
        self._shown.append(live)
        return live

    def _open(self) -> Connection:
        if self._link is None:
            link = self._connect()
            try:
                self._subscription.begin(link.ask(self._subscription.request).answer())
            except BaseException:
                link.close()
                raise
            self._link = link
            if self._closed.is_set():
                # By another thread, meanwhile.
                link.close()
        return self._link

    def _lost(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
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


class AsyncLive(_Shown):
    """One live query for asyncio. Use it in an `async with` statement, or close it."""

    def __init__(
        self, connect: Callable[[], Awaitable[AsyncConnection]], subscription: _Subscription
    ) -> None:
        self._connect = connect
        self._subscription = subscription
        import asyncio

        self._closed = asyncio.Event()
        self._link: AsyncConnection | None = None

    async def close(self) -> None:
        """Ends it, also for a task that waits for the next change."""
        self._closed.set()
        if self._link is not None:
            await self._link.close()

    async def _open(self) -> AsyncConnection:
        if self._link is None:
            link = await self._connect()
            try:
                self._subscription.begin((await link.ask(self._subscription.request)).answer())
            except BaseException:
                await link.close()
                raise
            self._link = link
        return self._link

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        pause = _FIRST_PAUSE
        while not self._closed.is_set():
            try:
                if (change := self._subscription.take(await (await self._open()).pushed())) is not None:
                    return change
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


def subscription(
    query: str,
    params: Mapping[str, Any] | None,
    resume: str | None,
    *,
    keep: bool,
    every_version: bool,
    progress: bool,
) -> _Subscription:
    """What both clients ask for."""
    options = {"keep": keep, "every_version": every_version, "progress": progress}
    return _Subscription(query, params, resume, options)
