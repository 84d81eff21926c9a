"""`GraphName`: the name of the graph in use, which leads to other graphs too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .aio import AsyncClient
    from .client import Client


class GraphName(str):
    """A name; called with another one, it gives a client of that graph, with a session of its own."""

    __slots__ = ("_open",)
    _open: Callable[[str], Client]

    def __new__(cls, name: str, open: Callable[[str], Client]) -> GraphName:  # noqa: A002 - what it does
        made = super().__new__(cls, name)
        made._open = open
        return made

    def __call__(self, name: str) -> Client:
        return self._open(name)


class AsyncGraphName(str):
    """The same for asyncio."""

    __slots__ = ("_open",)
    _open: Callable[[str], Awaitable[AsyncClient]]

    def __new__(cls, name: str, open: Callable[[str], Awaitable[AsyncClient]]) -> AsyncGraphName:  # noqa: A002
        made = super().__new__(cls, name)
        made._open = open
        return made

    async def __call__(self, name: str) -> AsyncClient:
        return await self._open(name)
