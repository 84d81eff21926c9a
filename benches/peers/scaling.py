"""The plot of `make scaling`: how our time of evaluation grows with the answer, from 4 sizes of each workload.

Sizes grow by tens. The exponent is the slope of a line through the points on logarithmic axes, where the time is long
enough to be measured; 1 means that the time grows as the answer does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import generate
import matplotlib as mpl
import numpy as np
from engines import ROOT, TARGET, engines
from generate import Table
from measure import Measured, measure
from peer import THREADS
from workloads import facts

mpl.use("svg")
# The same figures give the same file, and its text is text.
mpl.rcParams.update({"svg.hashsalt": "stratalog", "svg.fonttype": "none"})
import matplotlib.pyplot as plt  # noqa: E402

#: Below this, what does not grow with the facts is most of the time.
MEASURABLE_S = 0.001


@dataclass(frozen=True)
class Series:
    """One workload in sizes that grow by tens."""

    name: str
    program: str
    #: What the work grows with, and how much of it there is at each size.
    axis: str
    sizes: list[int]
    facts: Callable[[int], dict[str, Table]]


SERIES = [
    # Three edges a node: the answer grows with the square of the nodes, so these grow by roots of ten.
    Series(
        "closure",
        "closure",
        "rows",
        [100, 316, 1_000, 3_162],
        lambda nodes: generate.random_graph(nodes, 3 * nodes),
    ),
    Series("points-to", "points-to", "rows", [1_800, 18_000, 180_000, 1_800_000], generate.points_to),
    Series("three-way join", "three-way-join", "rows", [10_000, 100_000, 1_000_000, 10_000_000], generate.orders),
    Series("star aggregate", "star-sum", "orders", [10_000, 100_000, 1_000_000, 10_000_000], generate.orders),
]


@dataclass(frozen=True)
class Point:
    """One size: how much work, and the median of its evaluations."""

    amount: int
    seconds: float


def points(series: Series, folder: Path, rounds: int, limit: float) -> list[Point]:
    """Runs the sizes in turn, each in processes of its own."""
    [ours] = engines(["ours"])
    [command] = ours.ways.values()
    found = []
    for size in series.sizes:
        kind = "orders" if series.facts is generate.orders else series.program
        place = facts(f"{kind}-{size}", partial(series.facts, size), folder)
        measured = Measured()
        for _ in range(rounds):
            measure(command, series.program, place, limit, measured)
        if measured.without:
            print(f"{series.name} of {size:,}: {measured.without}, left out", flush=True)
            break
        [rows] = measured.rows
        found.append(Point(rows if series.axis == "rows" else size, statistics.median(measured.evaluation_s)))
    return found


def exponent(found: list[Point]) -> float:
    """The slope on logarithmic axes."""
    long = [point for point in found if point.seconds >= MEASURABLE_S]
    fitted = long if len(long) > 1 else found
    amounts = np.log([point.amount for point in fitted])
    times = np.log([point.seconds for point in fitted])
    return float(np.polyfit(amounts, times, 1)[0])


def draw(lines: dict[str, list[Point]], axes: dict[str, str], path: Path) -> None:
    figure, plot = plt.subplots(figsize=(7, 4.5))
    for name, found in lines.items():
        label = f"{name}: {axes[name]}, exponent {exponent(found):.2f}"
        plot.loglog([p.amount for p in found], [p.seconds for p in found], marker="o", label=label)
    plot.set_xlabel("rows of the answer (star aggregate: orders)")
    plot.set_ylabel("seconds of evaluation")
    plot.grid(which="major", alpha=0.3)
    plot.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=TARGET / "peers", help="for facts and figures")
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "scaling.svg")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds that a process may take")
    arguments = parser.parse_args()
    [ours] = engines(["ours"])
    subprocess.run(ours.build, check=True)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])

    lines: dict[str, list[Point]] = {}
    for series in SERIES:
        lines[series.name] = points(series, arguments.folder / "scaling", arguments.rounds, arguments.limit)
        told = ", ".join(f"{point.amount:,} in {point.seconds:.4f} s" for point in lines[series.name])
        print(f"{series.name}: exponent {exponent(lines[series.name]):.2f}; {series.axis} {told}", flush=True)
    figures = {name: [(point.amount, point.seconds) for point in found] for name, found in lines.items()}
    (arguments.folder / "scaling.json").write_text(json.dumps(figures, indent=1) + "\n")
    draw(lines, {series.name: series.axis for series in SERIES}, arguments.plot)


if __name__ == "__main__":
    main()
