"""How rows look to people: as text, and as a table in a notebook."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

#: The most rows of a table in a notebook.
HTML_ROWS = 50
#: The most rows of a table of text.
TEXT_ROWS = 20
_CHARACTERS = 60
#: Behind rows that just came: to be seen on light and on dark.
_CAME = "background:rgba(60,180,90,.3)"


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], below: str) -> str:
    """Columns as wide as they need to be, numbers to the right."""
    texts = [[_text(value) for value in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(columns, *texts, strict=True)]
    lines = ["  ".join(_pad(name, width) for name, width in zip(columns, widths, strict=True))]
    lines.append("  ".join("─" * width for width in widths))
    for row, values in zip(texts, rows, strict=True):
        cells = zip(row, widths, values, strict=True)
        lines.append("  ".join(_pad(text, width, _is_number(value)) for text, width, value in cells))
    return "\n".join([line.rstrip() for line in lines] + [below])


def html_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], below: str, came: Collection[int] = ()
) -> str:
    """The same as HTML; the rows at the places `came` are marked."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        f'<tr style="{_CAME}">{_cells(row)}</tr>' if place in came else f"<tr>{_cells(row)}</tr>"
        for place, row in enumerate(rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(below)}</p>"


def counted(shown: int, count: int) -> str:
    """How many rows there are, and how many of them are shown."""
    text = f"{count} row{'' if count == 1 else 's'}"
    return text if shown == count else f"{shown} of {text}"


def _cells(row: Sequence[Any]) -> str:
    return "".join(f"<td>{html.escape(_text(value))}</td>" for value in row)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")
    text = str(value).replace("\n", "⏎")
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _pad(text: str, width: int, right: bool = False) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
