"""How a notebook shows a live query: a table that is kept current, whatever the cells do meanwhile.

It follows the same query on a connection of its own, so it takes no change from those who iterate. It goes on
until the live query is closed, its answer ends, or the cell runs again.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle

from . import errors
from .live import Change, Live
from .tables import HTML_ROWS, TEXT_ROWS, counted, html_table, text_table

#: How long a cell waits for the first answer; later ones are shown all the same.
_FIRST_SECONDS = 5.0
#: How often a table is drawn at most, and how soon a lost connection is told.
_DRAWN_SECONDS = 0.2
_TOLD_SECONDS = 1.0

_Row = tuple[Any, ...]


def show(live: Live) -> None:
    """Shows it below the cell. A terminal, where nothing can be drawn again, has its `repr`."""
    shell: Any = get_ipython()
    if live.closed or shell is None or "text/html" not in shell.display_formatter.active_types:
        raise NotImplementedError
    display = _Display(live)
    end_with_cell(shell, display)
    threading.Thread(target=display.keep, name="stratalog display", daemon=True).start()


class _Begun(Protocol):
    def close(self) -> None: ...


#: What cells have begun, by their id.
_of_cells: dict[str, list[_Begun]] = {}


def end_with_cell(shell: Any, begun: _Begun) -> None:
    """Closes it when the cell that runs now is run again.

    Only front ends that tell which cell it is have that: JupyterLab and VS Code do.
    """
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    if (cell := parent.get("metadata", {}).get("cellId")) is not None:
        _of_cells.setdefault(cell, []).append(begun)
        shell.events.register("pre_run_cell", _runs_again)


def _runs_again(info: Any) -> None:
    for begun in _of_cells.pop(info.cell_id, []):
        begun.close()


class _Display:
    """One place of a notebook, which a thread draws again and again."""

    def __init__(self, live: Live) -> None:
        self._live = live._again()
        self._order = _order(self._live._subscription.query)
        #: Rows that came and went since the table was drawn, by what they look like.
        self._came: dict[str, _Row] = {}
        self._went: set[str] = set()
        self._handle = DisplayHandle()
        if (first := self._live.next(_FIRST_SECONDS)) is not None:
            self._note(first)
        self._handle.display(self._drawn("live"), raw=True)

    def close(self) -> None:
        self._live.close()

    def keep(self) -> None:
        """Draws whenever something has changed, until the end, which is told too."""
        state = "live"
        try:
            while not self._live.closed:
                before = state
                changed = self._take()
                state = "live" if self._live._link is not None else "not connected, trying again"
                if changed or state != before:
                    self._draw(state)
            self._draw("closed")
        except Exception as problem:
            message = problem.message if isinstance(problem, errors.Error) else problem
            self._draw(f"ended, {type(problem).__name__}: {message}")
            self.close()

    def _take(self) -> bool:
        """Takes a change and what follows closely; whether there was one."""
        change = self._live.next(_TOLD_SECONDS)
        if change is None:
            return False
        self._came, self._went = {}, set()
        until = time.monotonic() + _DRAWN_SECONDS
        while change is not None:
            self._note(change)
            rest = until - time.monotonic()
            change = self._live.next(rest) if rest > 0 else None
        return True

    def _note(self, change: Change) -> None:
        if change.reset:
            # All rows are new here, which does not tell what is new there.
            self._came, self._went = {}, set()
            return
        for row in change.removed:
            if self._came.pop(repr(row), None) is None:
                self._went.add(repr(row))
        for row in change.added:
            if repr(row) in self._went:
                self._went.remove(repr(row))
            else:
                self._came[repr(row)] = row

    def _draw(self, state: str) -> None:
        self._handle.update(self._drawn(state), raw=True)

    def _drawn(self, state: str) -> dict[str, str]:
        if self._live.version == 0:
            return {"text/plain": f"{state}, no answer yet"}
        rows = _sorted(list(islice(self._rows(), HTML_ROWS)), self._order)
        came = {place for place, row in enumerate(rows) if repr(row) in self._came}
        return {
            "text/html": html_table(self._live.columns, rows, self._below(state, len(rows)), came),
            "text/plain": text_table(
                self._live.columns, rows[:TEXT_ROWS], self._below(state, min(len(rows), TEXT_ROWS))
            ),
        }

    def _rows(self) -> Iterator[_Row]:
        """Those that came are first: however many there are, they are among those that are shown."""
        yield from self._came.values()
        yield from (row for key, row in self._live._subscription.rows.items() if key not in self._came)

    def _below(self, state: str, shown: int) -> str:
        changes = ((len(self._came), "came"), (len(self._went), "went"))
        told = ", ".join(f"{count} {what}" for count, what in changes if count)
        count = len(self._live._subscription.rows)
        rows = counted(shown, count) + (f" ({told})" if told else "")
        return f"version {self._live.version}: {rows}, {state}"


#: What matters for where the arguments of a goal are, and which of them have an order.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|<-|[\[({\])},]|:\s*(asc|desc)\b')


def _order(query: str) -> list[tuple[int, bool]]:
    """The columns by which a query is ordered, and whether from the largest: changes come in no order."""
    # Columns stand in front of an arrow, or within the parentheses of a goal.
    depth = 0 if any(found[0] == "<-" for found in _TOKEN.finditer(query)) else -1
    order, column = [], 0
    for found in _TOKEN.finditer(query):
        if found[1] is not None:
            order.append((column, found[1] == "desc"))
        elif found[0] in "[({":
            depth += 1
        elif found[0] in "])}":
            depth -= 1
        elif found[0] == ",":
            column += depth == 0
        if found[0] == "<-" or depth < 0:
            break
    return order


def _sorted(rows: list[_Row], order: list[tuple[int, bool]]) -> list[_Row]:
    """In the order of the query; where that has none, by their values from the left."""
    rows.sort(key=_ranks)
    for column, descending in reversed(order):
        place = slice(column, column + 1)
        rows.sort(key=lambda row, place=place: _ranks(row[place]), reverse=descending)  # type: ignore[misc]
    return rows


def _ranks(row: _Row) -> list[tuple[int, Any]]:
    return [_rank(value) for value in row]


def _rank(value: Any) -> tuple[int, Any]:
    """The order of all values that the language has."""
    match value:
        case None:
            return 0, 0
        case bool():
            return 1, value
        case int() | float():
            return 2, value
        case datetime():
            return 3, value
        case str():
            return 4, value
        case _:
            return 5, repr(value)
