"""How far an insert or a program has come, for those who want to see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .protocol import Watch, Working

#: Told how many rows are sent, and of how many (None if that is not known).
Progress = Callable[[int, int | None], None]


class Bar:
    """What the user wants to see: a function of their own is told, or a bar of tqdm if that is installed."""

    def __init__(self, wanted: bool | Progress | None, title: str, total: int | None) -> None:
        self._total = total
        self._call: Progress | None = wanted if callable(wanted) else None
        self._bar: Any = None
        if wanted is True:
            self._bar = _bar(desc=title, total=total)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, rows: int) -> None:
        """So many rows are sent."""
        if self._call is not None:
            self._call(rows, self._total)
        if self._bar is not None:
            self._bar.update(rows - self._bar.n)

    def after(self, rows: int) -> Callable[[int], None]:
        """The same for what comes after so many rows."""
        return lambda more: self.advance(rows + more)

    def complete(self) -> None:
        """All rows are there."""
        if self._total is not None:
            self.advance(self._total)


@contextmanager
def watching(wanted: bool | Watch) -> Iterator[Watch | None]:
    """Who is told how far a program is: a function of the user's, or a line of tqdm if that is installed.

    Nobody knows how many rounds a recursion takes, so the line has no end.
    """
    if wanted is not True:
        yield wanted if callable(wanted) else None
        return
    bar: Any = None

    def show(working: Working) -> None:
        nonlocal bar
        # What is answered soon has no line.
        if bar is None and (bar := _bar(desc="rows found", leave=False)) is None:
            return
        megabytes = f"{working.memory_bytes / 1e6:,.0f} MB"
        bar.set_postfix_str(f"{working.state}, {working.rounds:,} rounds, {megabytes}", refresh=False)
        bar.n = working.rows
        bar.refresh()

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()


def _bar(**options: Any) -> Any:
    """A bar of tqdm; None where that is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(unit=" rows", unit_scale=True, **options)
