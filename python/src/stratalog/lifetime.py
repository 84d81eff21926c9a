"""What becomes of connections where a process begins and ends: in a forked child, and when Python ends.

A forked child has the sockets of its parent, but not the threads that read them. What it sent would come
between the requests of the parent, so a connection is the parent's alone. When Python ends, its threads stand
still, and whoever waits for them waits for ever.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import weakref
from typing import Protocol


class Forked(Protocol):
    """Something that holds a socket or a lock."""

    def forked(self) -> None:
        """This is a child, and the parent goes on with what it has."""


class Ended(Protocol):
    """Something that a program may leave open when it ends."""

    def close(self, patience: float) -> None:
        """Hangs up, while the threads that take part in that still run."""


_forked: weakref.WeakSet[Forked] = weakref.WeakSet()
_ended: weakref.WeakSet[Ended] = weakref.WeakSet()


def tell_of_fork(thing: Forked) -> None:
    """It is told in a forked child that it is there."""
    _forked.add(thing)


def close_at_end(thing: Ended) -> None:
    """It is closed when the program ends."""
    _ended.add(thing)


@atexit.register
def _end() -> None:
    for thing in list(_ended):
        with contextlib.suppress(Exception):
            thing.close(0)


def _in_child() -> None:
    for thing in list(_forked):
        with contextlib.suppress(Exception):
            thing.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def check_running() -> None:
    """Refuses to wait for threads that stand still."""
    if sys.is_finalizing():
        raise RuntimeError(
            "Python is ending: its threads stand still, so no connection can be used or opened"
        )


class Process:
    """The process that something was begun in."""

    def __init__(self) -> None:
        self._id = os.getpid()

    def check(self, what: str) -> None:
        """Refuses to go on with it in a forked child: the parent does."""
        if os.getpid() != self._id:
            raise RuntimeError(
                f"{what} was begun by the process from which this one was forked, which goes on with it: "
                "begin another"
            )
