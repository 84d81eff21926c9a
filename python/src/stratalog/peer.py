"""What a client talks to: a server, or a database that is open in this process (`embedded.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, Self

from .address import without_graph
from .arrow import Batch, Collect, frames


class Frames(Protocol):
    """What is sent of an insert, each frame with the number of rows that are complete with it."""

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Made while they are sent."""
        ...

    def close(self) -> None:
        """The insert is over, whatever has become of it."""
        ...


class Peer(Protocol):
    """The other end of every connection of a client."""

    @property
    def url(self) -> str:
        """What addresses are made of."""
        ...

    @property
    def login(self) -> Mapping[str, str]:
        """The first message."""
        ...

    def without_graph(self) -> Self:
        """The same, for a client that names its graph itself."""
        ...

    def shown(self, address: str) -> str:
        """How people are told where that is."""
        ...

    def options(self) -> dict[str, Any]:
        """What websockets needs to know to open a connection, beside its address."""
        ...

    def frames(self, batches: Iterable[Batch]) -> Frames:
        """What is sent of an insert of these."""
        ...

    @property
    def collect(self) -> Collect | None:
        """Takes rows that stay where they are, by the frame that names them; None if all rows travel."""
        ...

    def check(self) -> None:
        """Raises if no connection can be opened, now or later."""
        ...


class Server:
    """A server somewhere."""

    def __init__(self, url: str, login: Mapping[str, str]) -> None:
        self.url = url
        self.login = login

    def without_graph(self) -> Self:
        """The address may name one."""
        return type(self)(without_graph(self.url), self.login)

    def shown(self, address: str) -> str:
        """Its address."""
        return address

    def options(self) -> dict[str, Any]:
        """Nothing: it is found by its address."""
        return {}

    def frames(self, batches: Iterable[Batch]) -> Frames:
        """An Arrow stream."""
        return frames(batches)

    @property
    def collect(self) -> Collect | None:
        """All rows travel."""
        return None

    def check(self) -> None:
        """It may come back at any time."""
