"""Which relation is derived from which, as data, as text, and drawn in a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_USE = re.compile(r"(!?)\s*\b([^\W\d]\w*)\s*\(")
_AGGREGATE = re.compile(r"\w\s*<[^-=<>]*>")


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation is read by a rule of another one."""

    source: str
    target: str
    #: What must not be there.
    negated: bool = False
    #: What is read as a whole, for an aggregate.
    aggregated: bool = False


@dataclass(frozen=True)
class RuleGraph:
    """Relations and what they are derived from. A notebook draws it."""

    #: The derived relations, and those that their rules read.
    nodes: tuple[str, ...]
    #: Those of them that rules derive.
    derived: frozenset[str]
    edges: tuple[Edge, ...]

    def groups(self) -> list[list[str]]:
        """The relations in an order to work them out; those in one list depend on each other."""
        return _components(self.nodes, {(edge.target, edge.source) for edge in self.edges})

    def __str__(self) -> str:
        lines = []
        for group in self.groups():
            for name in (each for each in group if each in self.derived):
                reads = [
                    f"{'!' if edge.negated else ''}{edge.source}"
                    for edge in self.edges
                    if edge.target == name
                ]
                lines.append(
                    f"{name} <- {', '.join(reads)}" + (" (recursive)" if self.recursive(name) else "")
                )
        return "\n".join(lines)

    __repr__ = __str__

    def recursive(self, name: str) -> bool:
        """Whether a relation depends on itself."""
        group = next(group for group in self.groups() if name in group)
        return len(group) > 1 or any(edge.source == name == edge.target for edge in self.edges)

    def _repr_svg_(self) -> str:
        from .drawing import draw

        return draw(self)


def rule_graph(clauses: Mapping[str, Iterable[str]], relations: Iterable[str]) -> RuleGraph:
    """The graph of these clauses. What they call and is no relation is a function."""
    known = {*relations, *clauses}
    edges: dict[Edge, None] = {}
    for target, texts in clauses.items():
        for text in texts:
            head, _, body = _TEXT.sub('""', text).partition("<-")
            aggregated = _AGGREGATE.search(head) is not None
            for negation, name in _USE.findall(body):
                if name in known:
                    edges[Edge(name, target, bool(negation), aggregated)] = None
    nodes = dict.fromkeys([*clauses, *(edge.source for edge in edges)])
    return RuleGraph(tuple(nodes), frozenset(clauses), tuple(edges))


def _components(nodes: Iterable[str], needs: set[tuple[str, str]]) -> list[list[str]]:
    """Strongly connected components, what is needed first (Tarjan), without recursion of our own."""
    below: dict[str, list[str]] = {node: [] for node in nodes}
    for node, need in sorted(needs):
        below[node].append(need)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    found: list[list[str]] = []
    for root in below:
        if root in index:
            continue
        work = [(root, iter(below[root]))]
        index[root] = low[root] = len(index)
        open_.append(root)
        while work:
            node, rest = work[-1]
            if (following := next(rest, None)) is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    start = open_.index(node)
                    found.append(sorted(open_[start:]))
                    del open_[start:]
            elif following not in index:
                index[following] = low[following] = len(index)
                open_.append(following)
                work.append((following, iter(below[following])))
            elif following in open_:
                low[node] = min(low[node], index[following])
    return found
