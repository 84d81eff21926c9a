"""How far an insert has come, for those who want to see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Told how many rows are sent, and of how many (None if that is not known).
Progress = Callable[[int, int | None], None]


class Bar:
    """What the user wants to see: a function of their own is told, or a bar of tqdm if that is installed."""

    def __init__(self, wanted: bool | Progress | None, title: str, total: int | None) -> None:
        self._total = total
        self._call: Progress | None = wanted if callable(wanted) else None
        self._bar: Any = None
        if wanted is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, desc=title, unit=" rows", unit_scale=True)

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
