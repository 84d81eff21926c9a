"""The table of `make peers`: every workload through every engine, in processes of their own.

All engines have the same two processors and the same files. A first process of each checks that all agree on the
answer; then each runs three times, the engines in turn. The table has medians of the seconds of the evaluation, with
facts loaded, and of the whole process, and the most memory that a process had.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from engines import TARGET, Engine, engines
from measure import Measured, check, measure
from peer import THREADS
from workloads import Workload, facts, named

#: The figures of each engine, for each way to run it.
Figures = dict[str, dict[str, Measured]]


def compare(workload: Workload, compared: list[Engine], place: Path, rounds: int, limit: float) -> Figures:
    """Runs one workload through all engines."""
    found: Figures = {engine.name: {way: Measured() for way in engine.ways} for engine in compared}
    ways = [(command, found[engine.name][way]) for engine in compared for way, command in engine.ways.items()]
    for command, measured in ways:
        check(command, workload.program, place, limit, measured)
    for _ in range(rounds):
        for command, measured in ways:
            if measured.without is None:
                measure(command, workload.program, place, limit, measured)
    return found


def disagreement(found: Figures) -> str | None:
    """What the engines say of the answer if they do not all say the same."""
    every = [(f"{name} {way}", measured) for name, ways in found.items() for way, measured in ways.items()]
    rows = set[int]().union(*(measured.rows for _, measured in every))
    checksums = set[int]().union(*(measured.checksums for _, measured in every))
    if len(rows) <= 1 and len(checksums) <= 1:
        return None
    return "; ".join(f"{name}: rows {measured.rows}, checksum {measured.checksums}" for name, measured in every)


def best(ways: dict[str, Measured]) -> tuple[str, Measured]:
    """The way with the fastest evaluation, or any where none has one."""
    return min(ways.items(), key=lambda way: way[1].evaluation if way[1].timed else math.inf)


def row(workload: Workload, compared: list[Engine], found: Figures) -> str:
    """A line of the table."""
    answers = [rows for ways in found.values() for measured in ways.values() for rows in measured.rows]
    cells = [workload.name, f"{answers[0]:,}" if answers else "-"]
    fastest: dict[str, float] = {}
    for engine in compared:
        way, measured = best(found[engine.name])
        cells.append(measured.cell() + (f" ({way})" if way and measured.timed else ""))
        if measured.timed:
            fastest[engine.name] = measured.evaluation
    ours = fastest.pop("ours", None)
    if ours is not None and fastest:
        peer = min(fastest, key=fastest.__getitem__)
        ratio = ours / fastest[peer]
        missed = " **missed**" if ratio > workload.goal else ""
        cells.append(f"{ratio:.3f} of {peer}{missed}")
    else:
        cells.append("-")
    return f"| {' | '.join([*cells, f'{workload.goal}'])} |"


def machine() -> str:
    """On what the figures were taken."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    return f"{processor}, {THREADS} threads, {platform.system()} {platform.release()}; load average at the start {load}"


def main() -> None:
    """Prints the table, a line as soon as it is known, and keeps it with the raw figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only workloads whose names contain one of these")
    parser.add_argument("--engines", nargs="*", default=[], help="only these engines")
    parser.add_argument("--folder", type=Path, default=TARGET / "peers", help="for facts, table and figures")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds that a process may take")
    arguments = parser.parse_args()
    chosen = list(named(arguments.names))
    if not chosen:
        raise SystemExit(f"no workload is called {' or '.join(arguments.names)}")
    compared = engines(arguments.engines)
    for engine in compared:
        if engine.build:
            subprocess.run(engine.build, check=True)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])

    kept: dict[str, Any] = {
        "machine": machine(),
        "versions": {engine.name: engine.version for engine in compared},
        "workloads": {},
    }
    columns = ["workload", "rows", *(f"{e.name} {e.version}" for e in compared), "ratio", "goal"]
    table = [
        f"{kept['machine']}. Cells: seconds of evaluation / of the whole process / peak MB.",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    print("\n".join(table), flush=True)
    for workload in chosen:
        place = facts(workload.name, workload.facts, arguments.folder / "facts")
        found = compare(workload, compared, place, arguments.rounds, arguments.limit)
        kept["workloads"][workload.name] = {
            name: {way: measured.figures() for way, measured in ways.items()} for name, ways in found.items()
        }
        table.append(row(workload, compared, found))
        print(table[-1], flush=True)
        (arguments.folder / "table.md").write_text("\n".join(table) + "\n")
        (arguments.folder / "figures.json").write_text(json.dumps(kept, indent=1) + "\n")
        if told := disagreement(found):
            raise SystemExit(f"{workload.name}: the engines do not agree: {told}")


if __name__ == "__main__":
    main()
