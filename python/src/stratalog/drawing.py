"""Draws a rule graph as SVG: what is given on top, each derived relation below what it is derived from."""

from __future__ import annotations

from html import escape

from .rule_graph import Edge, RuleGraph

_CHARACTER, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 8, 28, 28, 56, 16


def draw(graph: RuleGraph) -> str:
    """Dashed is what must not be there, bold what an aggregate reads, framed twice what is recursive."""
    rows = _ordered(_layers(graph), graph)
    boxes, width = _boxes(rows)
    height = _MARGIN * 2 + len(rows) * _HEIGHT + (len(rows) - 1) * _GAP_Y
    edges = "".join(_edge(edge, boxes) for edge in graph.edges if edge.source != edge.target)
    nodes = "".join(_node(name, boxes[name], graph) for row in rows for name in row)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="monospace" font-size="13"><defs>'
        '<marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#666"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#fff"/>{edges}{nodes}</svg>'
    )


def _layers(graph: RuleGraph) -> list[list[str]]:
    """Each relation one row below the lowest that it needs; what depends on each other shares a row."""
    row: dict[str, int] = {}
    for group in graph.groups():
        needed = [row[e.source] for e in graph.edges if e.target in group and e.source not in group]
        for name in group:
            row[name] = max(needed, default=-1) + 1
    layers: list[list[str]] = [[] for _ in range(max(row.values(), default=0) + 1)]
    for name in graph.nodes:
        layers[row[name]].append(name)
    return layers


def _ordered(layers: list[list[str]], graph: RuleGraph) -> list[list[str]]:
    """Within a row, each relation near those that it is connected with, so that few lines cross."""
    near: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for edge in graph.edges:
        near[edge.source].append(edge.target)
        near[edge.target].append(edge.source)
    for _ in range(4):
        place = {name: n / max(1, len(row)) for row in layers for n, name in enumerate(row)}
        layers = [
            sorted(row, key=lambda name: sum(place[o] for o in near[name]) / max(1, len(near[name])))
            for row in layers
        ]
    return layers


def _boxes(rows: list[list[str]]) -> tuple[dict[str, tuple[float, float, float]], int]:
    """For each relation left edge, upper edge and width; and the width of the picture."""
    widths = [[len(name) * _CHARACTER + 20 for name in row] for row in rows]
    totals = [sum(row) + _GAP_X * (len(row) - 1) for row in widths]
    whole = max(totals, default=0)
    boxes: dict[str, tuple[float, float, float]] = {}
    for number, (row, sizes, total) in enumerate(zip(rows, widths, totals, strict=True)):
        x = _MARGIN + (whole - total) / 2
        y = _MARGIN + number * (_HEIGHT + _GAP_Y)
        for name, size in zip(row, sizes, strict=True):
            boxes[name] = (x, y, size)
            x += size + _GAP_X
    return boxes, whole + 2 * _MARGIN


def _node(name: str, box: tuple[float, float, float], graph: RuleGraph) -> str:
    x, y, width = box
    derived = name in graph.derived
    fill = "#e8f0fe" if derived else "#f4f4f4"
    shape = (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_HEIGHT}" rx="5" fill="{fill}" stroke="#666"/>'
    )
    if derived and graph.recursive(name):
        shape += (
            f'<rect x="{x + 3:g}" y="{y + 3:g}" width="{width - 6:g}" height="{_HEIGHT - 6}" rx="3" '
            'fill="none" stroke="#666"/>'
        )
    return (
        f'<g><title>{escape(name)}</title>{shape}<text x="{x + width / 2:g}" y="{y + _HEIGHT / 2 + 4:g}" '
        f'text-anchor="middle">{escape(name)}</text></g>'
    )


def _edge(edge: Edge, boxes: dict[str, tuple[float, float, float]]) -> str:
    (x1, y1, w1), (x2, y2, w2) = boxes[edge.source], boxes[edge.target]
    style = ' stroke-dasharray="5 3"' if edge.negated else ""
    weight = 2 if edge.aggregated else 1
    if y1 == y2:
        middle = (x1 + w1 / 2 + x2 + w2 / 2) / 2
        path = f"M{x1 + w1 / 2:g} {y1:g} Q{middle:g} {y1 - _GAP_Y / 2:g} {x2 + w2 / 2:g} {y2:g}"
    else:
        start, bend = y1 + _HEIGHT, (y1 + _HEIGHT + y2) / 2
        from_x, to_x = x1 + w1 / 2, x2 + w2 / 2
        path = f"M{from_x:g} {start:g} C{from_x:g} {bend:g} {to_x:g} {bend:g} {to_x:g} {y2:g}"
    return (
        f'<path d="{path}" fill="none" stroke="#666" stroke-width="{weight}"{style} marker-end="url(#to)"/>'
    )
