"""The facts of every workload, from fixed seeds, as tab-separated files that every engine can read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.int64]

SEED = 20_261_120


def _edges(rng: np.random.Generator, nodes: int, edges: int) -> Table:
    """Distinct edges between nodes drawn evenly."""
    pairs = np.empty((0, 2), dtype=np.int64)
    while len(pairs) < edges:
        more = rng.integers(0, nodes, size=(edges + edges // 8 + 16, 2), dtype=np.int64)
        pairs = np.unique(np.concatenate([pairs, more]), axis=0)
    return rng.permutation(pairs)[:edges]


def random_graph(nodes: int, edges: int) -> dict[str, Table]:
    return {"edge": _edges(np.random.default_rng([SEED, nodes, edges]), nodes, edges)}


def scale_free_dag(nodes: int, edges: int) -> dict[str, Table]:
    """Earlier nodes point to each node, drawn by how many edges they have (Barabási and Albert)."""
    rng = np.random.default_rng([SEED, nodes, edges, 1])
    each = edges // nodes
    ends = [0] * each
    pairs: set[tuple[int, int]] = set()
    for node in range(1, nodes):
        for choice in rng.random(each):
            earlier = ends[int(choice * len(ends))]
            pairs.add((earlier, node))
            ends.append(earlier)
        ends.extend([node] * each)
    return {"edge": np.array(sorted(pairs), dtype=np.int64)}


def chain(nodes: int) -> dict[str, Table]:
    here = np.arange(nodes, dtype=np.int64)
    return {"edge": np.stack([here, here + 1], axis=1)}


def tree(nodes: int) -> dict[str, Table]:
    """(child, parent), where the parent is drawn evenly among the nodes before."""
    rng = np.random.default_rng([SEED, nodes, 2])
    children = np.arange(1, nodes, dtype=np.int64)
    return {"parent": np.stack([children, (rng.random(nodes - 1) * children).astype(np.int64)], axis=1)}


def generations(nodes: int, edges: int) -> dict[str, Table]:
    return {"parent": _edges(np.random.default_rng([SEED, nodes, edges, 3]), nodes, edges)}


def functions(rng: np.random.Generator, variables: int, size: int) -> tuple[Table, Table]:
    """The functions of a made-up program: for each variable, the first one of its function and the first one after it.

    A function's variables follow each other; its size has an exponential distribution with the given mean.
    """
    cuts = np.sort(rng.permutation(variables - 1)[: variables // size - 1]) + 1
    starts = np.concatenate([[0], cuts, [variables]]).astype(np.int64)
    function = np.searchsorted(starts, np.arange(variables), side="right")
    return starts[function - 1], starts[function]


def _distinct(count: int, draw: Callable[[int], Table]) -> Table:
    """So many distinct rows of those that are drawn."""
    rows = draw(2 * count)
    _, first = np.unique(rows, axis=0, return_index=True)
    return rows[np.sort(first)[:count]]


def _shuffled_names(rng: np.random.Generator, variables: int, module: int) -> Table:
    """New numbers for variables, drawn among those of the same module: what is close stays close, but not in order."""
    within = np.arange(variables) // module + rng.random(variables) * 0.999
    return np.argsort(np.argsort(within)).astype(np.int64)


def points_to(facts: int) -> dict[str, Table]:
    """Andersen's constraints of a made-up C program, where objects are variables too.

    Statements stay within their function, copies run forward in it; one copy of two thousand passes an argument to, or
    a result from, a function that was defined a little earlier. A quarter of the statements takes an address, half
    copy, the rest loads and stores.
    """
    variables, size = facts // 2, 80
    rng = np.random.default_rng([SEED, facts, 4])
    first, after = functions(rng, variables, size)
    name = _shuffled_names(rng, variables, 512)

    def local(count: int) -> Table:
        """Two variables of one function."""
        one = (rng.random(count) * variables).astype(np.int64)
        other = first[one] + (rng.random(count) * (after - first)[one]).astype(np.int64)
        return np.stack([one, other], axis=1)

    def copies(count: int) -> Table:
        pairs = np.sort(local(count), axis=1)[:, ::-1]
        calls = rng.random(count) < 0.0005
        callee = np.maximum(pairs[:, 0] - 40 * size * rng.random(count), 0).astype(np.int64)
        returns = rng.random(count) < 0.3
        pairs[calls & ~returns, 0] = first[callee][calls & ~returns]
        pairs[calls & returns, 1] = after[callee][calls & returns] - 1
        distinct: Table = pairs[pairs[:, 0] != pairs[:, 1]]
        return distinct

    return {
        "new": name[_distinct(facts // 4, local)],
        "assign": name[_distinct(facts * 9 // 16, copies)],
        "load": name[_distinct(facts * 3 // 32, local)],
        "store": name[_distinct(facts * 3 // 32, local)],
    }


def value_flow(facts: int) -> dict[str, Table]:
    """Assignments and dereferences of a made-up C program, as Graspan's analysis of aliases reads them.

    Each statement stays within its function, and values are assigned forward, to a variable a little further on. There
    are three dereferences, (pointer, what it points to), for each assignment.
    """
    variables, size, reach = facts, 36, 12
    rng = np.random.default_rng([SEED, facts, 5])
    first, after = functions(rng, variables, size)
    name = _shuffled_names(rng, variables, 512)

    def assigned(count: int) -> Table:
        target = (rng.random(count) * variables).astype(np.int64)
        source = target - (1 + rng.random(count) ** 2 * reach).astype(np.int64)
        return np.stack([target, source], axis=1)[source >= first[target]]

    def dereferenced(count: int) -> Table:
        pointer = (rng.random(count) * variables).astype(np.int64)
        value = first[pointer] + (rng.random(count) * (after - first)[pointer]).astype(np.int64)
        return np.stack([pointer, value], axis=1)

    return {
        "assign": name[_distinct(facts * 3 // 13, assigned)],
        "dereference": name[_distinct(facts * 10 // 13, dereferenced)],
    }


def weighted_graph(nodes: int, edges: int) -> dict[str, Table]:
    rng = np.random.default_rng([SEED, nodes, edges, 6])
    pairs = _edges(rng, nodes, edges)
    weights = rng.integers(1, 100, (edges, 1), dtype=np.int64)
    return {"weighted": np.concatenate([pairs, weights], axis=1)}


def from_node(node: int, facts: dict[str, Table]) -> dict[str, Table]:
    """The same facts, with a node that is asked about."""
    return {**facts, "start": np.array([[node]], dtype=np.int64)}


def reachable(nodes: int, edges: int) -> dict[str, Table]:
    return {
        "edge": _edges(np.random.default_rng([SEED, nodes, edges, 8]), nodes, edges),
        "node": np.arange(nodes, dtype=np.int64).reshape(-1, 1),
        "start": np.zeros((1, 1), dtype=np.int64),
    }


def power_law(nodes: int, edges: int) -> dict[str, Table]:
    """Edges from lower to higher numbers whose ends are drawn by a power law."""
    rng = np.random.default_rng([SEED, nodes, edges, 9])
    pairs = np.empty((0, 2), dtype=np.int64)
    while len(pairs) < edges:
        drawn = (nodes * rng.random((edges, 2)) ** 2.8).astype(np.int64)
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        pairs = np.unique(np.concatenate([pairs, np.sort(drawn, axis=1)]), axis=0)
    return {"edge": rng.permutation(pairs)[:edges]}


def orders(count: int) -> dict[str, Table]:
    rng = np.random.default_rng([SEED, count, 10])
    customers, products = count // 100, count // 1_000
    return {
        "order": np.stack(
            [
                np.arange(count, dtype=np.int64),
                rng.integers(0, customers, count, dtype=np.int64),
                rng.integers(0, products, count, dtype=np.int64),
                rng.integers(1, 1_000, count, dtype=np.int64),
            ],
            axis=1,
        ),
        "customer": np.stack(
            [
                np.arange(customers, dtype=np.int64),
                rng.integers(0, 25, customers, dtype=np.int64),
            ],
            axis=1,
        ),
        "product": np.stack(
            [
                np.arange(products, dtype=np.int64),
                rng.integers(0, 20, products, dtype=np.int64),
            ],
            axis=1,
        ),
    }


def two_sets(count: int) -> dict[str, Table]:
    rng = np.random.default_rng([SEED, count, 11])
    values = rng.permutation(count + count // 2).astype(np.int64)
    return {
        "left": values[:count].reshape(-1, 1),
        "right": values[count // 2 :].reshape(-1, 1),
    }


def write(facts: dict[str, Table], folder: Path) -> None:
    """Writes one file a relation."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in facts.items():
        np.savetxt(folder / f"{name}.tsv", table, fmt="%d", delimiter="\t")
