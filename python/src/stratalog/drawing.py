"""Draws a rule graph as SVG: what is given on top, each derived relation below what it is derived from.

The usual way: relations get rows, a line that passes rows gets a *bend* in each of them, as if it were a
relation there, and then each row is put in the order in which few lines cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise

from .rule_graph import Edge, RuleGraph

_CHARACTER, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 8, 28, 28, 52, 16
_BEND_WIDTH = 4
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class _Bend:
    """Where a line passes a row."""

    edge: Edge
    row: int


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


_Place = str | _Bend


def draw(graph: RuleGraph) -> str:
    """Dashed is what must not be there, bold what an aggregate reads, framed twice what is recursive."""
    rows, lines = _rows(graph)
    rows = _ordered(rows, lines)
    boxes, width = _boxes(rows)
    height = _MARGIN * 2 + len(rows) * _HEIGHT + (len(rows) - 1) * _GAP_Y
    edges = "".join(_line(edge, [boxes[place] for place in places]) for edge, places in lines.items())
    nodes = "".join(_node(name, boxes[name], graph) for name in graph.nodes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
        f'height="{height}" font-family="monospace" font-size="13"><defs>'
        '<marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="#666"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#fff"/>{edges}{nodes}</svg>'
    )


def _rows(graph: RuleGraph) -> tuple[list[list[_Place]], dict[Edge, list[_Place]]]:
    """Each relation a row below the lowest that it needs; those that need each other share one.

    And the places that the line of each edge goes through.
    """
    row: dict[str, int] = {}
    for group in graph.groups():
        needed = [row[e.source] for e in graph.edges if e.target in group and e.source not in group]
        for name in group:
            row[name] = max(needed, default=-1) + 1
    rows: list[list[_Place]] = [[] for _ in range(max(row.values(), default=0) + 1)]
    for name in graph.nodes:
        rows[row[name]].append(name)
    lines: dict[Edge, list[_Place]] = {}
    for edge in graph.edges:
        if edge.source != edge.target:
            bends = [_Bend(edge, passed) for passed in range(row[edge.source] + 1, row[edge.target])]
            lines[edge] = [edge.source, *bends, edge.target]
            for bend in bends:
                rows[bend.row].append(bend)
    return rows, lines


def _ordered(rows: list[list[_Place]], lines: dict[Edge, list[_Place]]) -> list[list[_Place]]:
    """Within a row, each place near the middle of those that it is connected with."""
    near: dict[_Place, list[_Place]] = {place: [] for row in rows for place in row}
    for places in lines.values():
        for one, other in pairwise(places):
            near[one].append(other)
            near[other].append(one)
    for _ in range(_SWEEPS):
        at = {place: (number + 0.5) / len(row) for row in rows for number, place in enumerate(row)}
        middle = {
            place: sum(at[other] for other in others) / len(others) if others else at[place]
            for place, others in near.items()
        }
        rows = [sorted(row, key=lambda place: middle[place]) for row in rows]
    return rows


def _boxes(rows: list[list[_Place]]) -> tuple[dict[_Place, _Box], float]:
    """Where each place is, and the width of the picture."""
    widths = [
        [len(place) * _CHARACTER + 20 if isinstance(place, str) else _BEND_WIDTH for place in row]
        for row in rows
    ]
    totals = [sum(row) + _GAP_X * (len(row) - 1) for row in widths]
    whole = max(totals, default=0)
    boxes: dict[_Place, _Box] = {}
    for number, (row, sizes, total) in enumerate(zip(rows, widths, totals, strict=True)):
        x = _MARGIN + (whole - total) / 2
        for place, size in zip(row, sizes, strict=True):
            boxes[place] = _Box(x, _MARGIN + number * (_HEIGHT + _GAP_Y), size)
            x += size + _GAP_X
    return boxes, whole + 2 * _MARGIN


def _node(name: str, box: _Box, graph: RuleGraph) -> str:
    frames = [0, 3] if name in graph.derived and graph.recursive(name) else [0]
    fill = "#e8f0fe" if name in graph.derived else "#f4f4f4"
    shape = "".join(
        f'<rect x="{box.x + inset:g}" y="{box.y + inset:g}" width="{box.width - 2 * inset:g}" '
        f'height="{_HEIGHT - 2 * inset}" rx="5" fill="{fill}" stroke="#666"/>'
        for inset in frames
    )
    return (
        f'<g>{shape}<text x="{box.middle:g}" y="{box.y + _HEIGHT / 2 + 4:g}" text-anchor="middle">'
        f"{escape(name)}</text></g>"
    )


def _line(edge: Edge, boxes: list[_Box]) -> str:
    """From the lower edge of the first to the upper edge of the last, or over the row that they share."""
    first, last = boxes[0], boxes[-1]
    if first.y == last.y:
        over = first.y - _GAP_Y / 2
        path = f"M{first.middle:g} {first.y:g} Q{(first.middle + last.middle) / 2:g} {over:g} "
        path += f"{last.middle:g} {last.y:g}"
    else:
        path = f"M{first.middle:g} {first.y + _HEIGHT:g}"
        for above, below in pairwise(boxes):
            bend = (above.y + _HEIGHT + below.y) / 2
            path += f" C{above.middle:g} {bend:g} {below.middle:g} {bend:g} {below.middle:g} {below.y:g}"
            if below is not last:
                path += f" V{below.y + _HEIGHT:g}"
    dashes = ' stroke-dasharray="5 3"' if edge.negated else ""
    weight = 2 if edge.aggregated else 1
    return (
        f'<path d="{path}" fill="none" stroke="#666" stroke-width="{weight}"{dashes} marker-end="url(#to)"/>'
    )
