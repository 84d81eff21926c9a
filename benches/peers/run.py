"""The table of `make peers`: every workload through every engine, interleaved, in processes of their own.

All engines have two threads and the same files. An engine's time is that of the evaluation alone, with facts
loaded, the faster of two in one process; the table has the median over the processes. Engines that disagree
on the number of rows end the run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import generate
from workloads import WORKLOADS, Workload

HERE = Path(__file__).parent


@dataclass
class Engine:
    """How to run a workload; `None` where the engine cannot express it."""

    name: str
    command: Callable[[Workload, Path], list[str] | None]


@dataclass
class Measured:
    """What the processes of one engine said of one workload."""

    answers: set[int] = field(default_factory=set)
    seconds: list[float] = field(default_factory=list)
    megabytes: list[int] = field(default_factory=list)
    failure: str | None = None


def stratalog(binary: Path) -> Engine:
    return Engine(
        "stratalog",
        lambda w, folder: [str(binary), str(folder), w.rules.strip(), w.question],
    )


def duckdb() -> Engine:
    def command(w: Workload, folder: Path) -> list[str] | None:
        if w.sql is None:
            return None
        named = [f"{table}={columns}" for table, columns in w.schema.items()]
        return [sys.executable, str(HERE / "duck.py"), str(folder), w.sql, *named]

    return Engine("duckdb", command)


def measure(command: list[str], timeout: float, into: Measured) -> None:
    """Runs one process to its end, at most so many seconds."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        into.failure = f"over {timeout:.0f} s"
        return
    if done.returncode != 0:
        into.failure = "failed"
        print(done.stderr, file=sys.stderr)
        return
    said = json.loads(done.stdout)
    into.answers.add(said["answer"])
    into.seconds.append(min(said["evaluate_s"], said["again_s"]))
    into.megabytes.append(said["peak_mb"])


def facts(workload: Workload, folder: Path) -> Path:
    """The folder with the workload's files, written if they are not there."""
    place = folder / workload.name
    done = place / ".done"
    if not done.exists():
        for _ in generate.write(workload.facts(), place):
            pass
        done.touch()
    return place


def compare(
    workload: Workload, engines: list[Engine], folder: Path, rounds: int, timeout: float
) -> str:
    """One line of the table."""
    place = facts(workload, folder)
    found = {engine.name: Measured() for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            command = engine.command(workload, place)
            if command and not found[engine.name].failure:
                measure(command, timeout, found[engine.name])
    answers = set[int]().union(*(measured.answers for measured in found.values()))
    if len(answers) > 1:
        told = {name: measured.answers for name, measured in found.items()}
        raise SystemExit(f"{workload.name}: the engines do not agree: {told}")
    cells = [workload.name, f"{answers.pop():,}" if answers else "-"]
    medians = {
        name: statistics.median(m.seconds)
        for name, m in found.items()
        if m.seconds and not m.failure
    }
    for engine in engines:
        measured = found[engine.name]
        if engine.name in medians:
            cells.append(f"{medians[engine.name]:.4f} s, {max(measured.megabytes)} MB")
        else:
            cells.append(measured.failure or "-")
    peers = [seconds for name, seconds in medians.items() if name != "stratalog"]
    ours = medians.get("stratalog")
    ratio = f"{ours / min(peers):.3f}" if ours and peers else "-"
    return " | ".join([*cells, ratio, f"{workload.goal}"])


def main() -> None:
    """Prints the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--binary", type=Path, required=True, help="our example `workload`"
    )
    parser.add_argument(
        "--facts", type=Path, required=True, help="where facts are kept"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument(
        "names", nargs="*", help="only workloads whose names contain one of these"
    )
    arguments = parser.parse_args()
    engines = [stratalog(arguments.binary), duckdb()]
    print(
        " | ".join(
            [
                "workload",
                "answer",
                *(engine.name for engine in engines),
                "ratio",
                "goal",
            ]
        )
    )
    print(" | ".join(["---"] * (len(engines) + 4)))
    for workload in WORKLOADS:
        if arguments.names and not any(
            name in workload.name for name in arguments.names
        ):
            continue
        print(
            compare(
                workload, engines, arguments.facts, arguments.rounds, arguments.timeout
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
