"""The lines of the table: a program, the facts that it runs on, and what we aim at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import analyses
import generate
import ontologies
import organizations
from generate import Table


@dataclass(frozen=True)
class Workload:
    """One line of the table."""

    name: str
    #: What each engine has a program for.
    program: str
    facts: Callable[[], dict[str, Table]]
    #: Our time of evaluation as a share of the best peer's, at most.
    goal: float


WORKLOADS = [
    Workload("closure-2000-4000", "closure", lambda: generate.random_graph(2_000, 4_000), 0.05),
    Workload("closure-1000-10000", "closure", lambda: generate.random_graph(1_000, 10_000), 0.05),
    Workload("closure-10000-30000", "closure", lambda: generate.random_graph(10_000, 30_000), 0.02),
    Workload("closure-dag", "closure", lambda: generate.scale_free_dag(50_000, 150_000), 0.1),
    Workload("closure-chain", "closure", lambda: generate.chain(3_000), 0.1),
    Workload("same-generation-graph", "same-generation", lambda: generate.generations(2_000, 6_000), 0.1),
    Workload("same-generation-tree", "same-generation", lambda: generate.tree(8_000), 0.15),
    Workload("points-to", "points-to", lambda: generate.points_to(180_000), 0.2),
    Workload("value-flow", "value-flow", lambda: generate.value_flow(156_000), 0.2),
    Workload("reach", "reach", lambda: generate.reachable(1_000_000, 5_000_000), 0.33),
    Workload("unreachable", "unreachable", lambda: generate.reachable(1_000_000, 5_000_000), 0.33),
    Workload("components", "components", lambda: generate.random_graph(200_000, 1_000_000), 0.5),
    Workload("shortest-paths", "shortest-paths", lambda: generate.weighted_graph(200_000, 1_000_000), 0.5),
    Workload("triangles", "triangles", lambda: generate.power_law(100_000, 1_000_000), 0.33),
    Workload("triangles-counted", "triangles-counted", lambda: generate.power_law(100_000, 1_000_000), 0.25),
    Workload("two-steps", "two-steps", lambda: generate.random_graph(200_000, 1_600_000), 0.33),
    Workload("star-sum", "star-sum", lambda: generate.orders(10_000_000), 1.0),
    Workload("group-sum", "group-sum", lambda: generate.orders(10_000_000), 1.0),
    Workload("group-sum-fine", "group-sum-fine", lambda: generate.orders(10_000_000), 1.0),
    Workload("difference", "difference", lambda: generate.two_sets(1_000_000), 0.5),
    Workload("bound-2000-4000", "bound", lambda: generate.from_node(7, generate.random_graph(2_000, 4_000)), 0.25),
    Workload("bound-dag", "bound", lambda: generate.from_node(0, generate.scale_free_dag(50_000, 150_000)), 0.25),
    Workload("virtual-calls", "virtual-calls", lambda: analyses.objects(6_000), 0.33),
    Workload("borrow-checker", "borrow-checker", lambda: analyses.borrows(40_000), 0.33),
    Workload("triples", "triples", lambda: ontologies.triples(80_000), 0.33),
    Workload("classification", "classification", lambda: ontologies.terminology(30_000), 0.33),
    Workload("dyck", "dyck", lambda: analyses.fields(60_000, 30), 0.33),
    Workload("access-control", "access-control", lambda: organizations.permissions(20_000, 50_000), 0.33),
    Workload("timed-paths", "timed-paths", lambda: organizations.timetable(2_000, 150, 150), 0.33),
    Workload("earliest-arrival", "earliest-arrival", lambda: organizations.timetable(4_000, 400, 1_000), 0.33),
    Workload("bill-of-materials", "bill-of-materials", lambda: organizations.parts(12_000, 4_000), 0.33),
]


def named(words: list[str]) -> Iterator[Workload]:
    """The workloads whose names contain one of the words; all of them if there are none."""
    return (w for w in WORKLOADS if not words or any(word in w.name for word in words))


def facts(name: str, make: Callable[[], dict[str, Table]], folder: Path) -> Path:
    """The folder with the files of a workload, written if they are not there."""
    place = folder / name
    done = place / ".done"
    if not done.exists():
        generate.write(make(), place)
        done.touch()
    return place
