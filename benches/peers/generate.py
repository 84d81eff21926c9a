"""The facts of every workload, from fixed seeds, as tab-separated files that every engine can read."""

from __future__ import annotations

from collections.abc import Iterator
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
    """Each node points to earlier ones, drawn by how often they were pointed to (preferential attachment)."""
    rng = np.random.default_rng([SEED, nodes, edges, 1])
    each = edges // nodes
    targets: list[int] = [0]
    pairs: set[tuple[int, int]] = set()
    for node in range(1, nodes):
        for choice in rng.random(each):
            target = targets[int(choice * len(targets))]
            pairs.add((node, target))
            targets.append(target)
        targets.append(node)
    return {"edge": np.array(sorted(pairs), dtype=np.int64)}


def chain(nodes: int) -> dict[str, Table]:
    here = np.arange(nodes, dtype=np.int64)
    return {"edge": np.stack([here, here + 1], axis=1)}


def tree(nodes: int) -> dict[str, Table]:
    """(child, parent), where the parent is drawn evenly among the nodes before."""
    rng = np.random.default_rng([SEED, nodes, 2])
    children = np.arange(1, nodes, dtype=np.int64)
    return {
        "parent": np.stack(
            [children, (rng.random(nodes - 1) * children).astype(np.int64)], axis=1
        )
    }


def generations(nodes: int, edges: int) -> dict[str, Table]:
    return {
        "parent": _edges(np.random.default_rng([SEED, nodes, edges, 3]), nodes, edges)
    }


def points_to(variables: int, facts: int) -> dict[str, Table]:
    """Andersen's constraints of a made-up program: clusters of variables, with some traffic between them."""
    rng = np.random.default_rng([SEED, variables, facts, 4])

    def near(count: int) -> Table:
        source = rng.integers(0, variables, count, dtype=np.int64)
        step = rng.geometric(0.02, count) * rng.choice(np.array([-1, 1]), count)
        return np.stack([(source + step) % variables, source], axis=1)

    heaps = variables // 2
    new = np.stack(
        [
            rng.integers(0, variables, facts // 4, dtype=np.int64),
            rng.integers(0, heaps, facts // 4, dtype=np.int64),
        ],
        axis=1,
    )
    return {
        "new": np.unique(new, axis=0),
        "assign": np.unique(near(facts // 2), axis=0),
        "load": np.unique(near(facts // 8), axis=0),
        "store": np.unique(near(facts // 8), axis=0),
    }


def value_flow(variables: int, assigns: int, dereferences: int) -> dict[str, Table]:
    """Assignments and dereferences, as in Graspan's and Soufflé's alias analyses."""
    rng = np.random.default_rng([SEED, variables, assigns, 5])
    target = rng.integers(0, variables, assigns, dtype=np.int64)
    source = (target + rng.geometric(0.05, assigns)) % variables
    pointer = rng.integers(0, variables, dereferences, dtype=np.int64)
    value = rng.integers(0, variables, dereferences, dtype=np.int64)
    return {
        "assign": np.unique(np.stack([target, source], axis=1), axis=0),
        "dereference": np.unique(np.stack([pointer, value], axis=1), axis=0),
    }


def weighted_graph(nodes: int, edges: int) -> dict[str, Table]:
    pairs = _edges(np.random.default_rng([SEED, nodes, edges, 6]), nodes, edges)
    weights = np.random.default_rng([SEED, nodes, 7]).integers(
        1, 100, (edges, 1), dtype=np.int64
    )
    return {"edge": pairs, "weighted": np.concatenate([pairs, weights], axis=1)}


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
        drawn = (nodes * rng.random((edges, 2)) ** 2.2).astype(np.int64)
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        pairs = np.unique(np.concatenate([pairs, np.sort(drawn, axis=1)]), axis=0)
    return {"edge": rng.permutation(pairs)[:edges]}


def orders(count: int) -> dict[str, Table]:
    rng = np.random.default_rng([SEED, count, 10])
    customers, products = 100_000, 10_000
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


def write(facts: dict[str, Table], folder: Path) -> Iterator[Path]:
    """Writes one file a relation, unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in facts.items():
        path = folder / f"{name}.tsv"
        np.savetxt(path, table, fmt="%d", delimiter="\t")
        yield path
