"""The table of `make peers-live`: facts come and go, and each engine tells what changes of an answer.

Every engine has the same two processors, the same facts and the same changes, in a process of its own. A step is timed
from before its commit until what has changed is known; for our engine that includes reading the program of the commit.
`anew` is our engine without anything that is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import analyses
import generate
import numpy as np
from engines import ENVIRONMENT, ROOT, RUST, TARGET
from generate import SEED, Table
from in_stratalog import PROGRAMS
from peer import NOT_EXPRESSED
from run import machine

HERE = Path(__file__).parent
DBSP = TARGET / "peers" / "dbsp"

ONE_WAY = ("+one_way(X, Y) <- edge(X, Y), !edge(Y, X)", "?one_way(X, Y)")
#: The rule is not asked for: every program has one.
TOTAL = ("+unused(I) <- order(I, I, I, I)", "?count<I>, sum<Q>, max<Q> <- order(I, C, P, Q)")
#: Rules and the question about them.
ALL = {**PROGRAMS, "one-way": ONE_WAY, "total": TOTAL}

#: What a step changes: a row that may not be there, drawn with a look at those that are.
Draw = Callable[[np.random.Generator, Table], tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """A program, its facts, and what changes of them."""

    name: str
    program: str
    facts: Callable[[], dict[str, Table]]
    relation: str
    draw: Draw
    #: Rows that change in a step, and how many steps there are.
    sizes: tuple[tuple[int, int], ...] = ((1, 300), (10, 100), (100, 30))


def _edge(nodes: int) -> Draw:
    return lambda rng, _: (int(rng.integers(nodes)), int(rng.integers(nodes)))


def _order(count: int) -> Draw:
    return lambda rng, _: (
        count + int(rng.integers(1 << 20)),
        int(rng.integers(count // 100)),
        int(rng.integers(count // 1_000)),
        int(rng.integers(1, 1_000)),
    )


def _near(rng: np.random.Generator, table: Table) -> tuple[int, ...]:
    """A row with the value of another one in one place."""
    row, other = (table[int(rng.integers(len(table)))] for _ in range(2))
    place = int(rng.integers(len(row)))
    return tuple(int(other[column] if column == place else value) for column, value in enumerate(row))


CASES = [
    Case("closure-2000-4000", "closure", lambda: generate.random_graph(2_000, 4_000), "edge", _edge(2_000)),
    Case("closure-dag", "closure", lambda: generate.scale_free_dag(50_000, 150_000), "edge", _edge(50_000)),
    Case("two-steps", "two-steps", lambda: generate.random_graph(200_000, 1_000_000), "edge", _edge(200_000)),
    Case("one-way", "one-way", lambda: generate.random_graph(200_000, 1_000_000), "edge", _edge(200_000)),
    Case("unreachable", "unreachable", lambda: generate.reachable(200_000, 1_000_000), "edge", _edge(200_000)),
    Case("virtual-calls", "virtual-calls", lambda: analyses.objects(6_000), "allocated", _near),
    Case("group-sum", "group-sum", lambda: generate.orders(1_000_000), "order", _order(1_000_000)),
    Case("total", "total", lambda: generate.orders(1_000_000), "order", _order(1_000_000)),
    Case("shortest-paths", "shortest-paths", lambda: generate.weighted_graph(200_000, 1_000_000), "weighted", _near),
]


def changes(case: Case, facts: dict[str, Table], size: int, steps: int) -> Table:
    """As many rows go as come, each that goes being one that is there then."""
    rng = np.random.default_rng([SEED, size, steps])
    there = [tuple(map(int, row)) for row in facts[case.relation]]
    known, lines = set(there), []
    for step in range(steps):
        taken: set[tuple[int, ...]] = set()
        for number in range(size):
            if (step + number) % 2 == 0:
                place = int(rng.integers(len(there)))
                there[place], there[-1] = there[-1], there[place]
                row = there.pop()
                known.remove(row)
                lines.append((step, 0, *row))
            else:
                row = case.draw(rng, facts[case.relation])
                while row in known or row in taken:
                    row = case.draw(rng, facts[case.relation])
                lines.append((step, 1, *row))
            taken.add(row)
        for _, comes, *came in lines[-size:]:
            if comes:
                there.append(tuple(came))
                known.add(tuple(came))
    return np.array(lines, dtype=np.int64)


def builds() -> list[list[str]]:
    """What is to be built."""
    cargo = [os.environ.get("CARGO", "cargo"), "build", "--release", "--locked"]
    return [
        [*cargo, "--workspace", "--example", "changes", "--manifest-path", str(ROOT / "Cargo.toml")],
        [
            *(*cargo, "--bin", "differential_live", "--manifest-path", str(HERE / "rust" / "Cargo.toml")),
            *("--target-dir", str(RUST)),
        ],
        [*cargo, "--manifest-path", str(HERE / "dbsp" / "Cargo.toml"), "--target-dir", str(DBSP)],
    ]


def commands(case: Case, facts: Path, changed: Path) -> dict[str, list[str]]:
    """The engines."""
    rules, question = ALL[case.program]
    ours = [str(TARGET / "release" / "examples" / "changes"), str(facts), str(changed), rules, question]
    peer = [case.program, str(facts), str(changed)]
    return {
        "ours": ours,
        "anew": [*ours, "anew"],
        "differential": [str(RUST / "release" / "differential_live"), *peer],
        "dbsp": [str(DBSP / "release" / "stratalog-peer-dbsp"), *peer],
    }


def run(command: list[str], limit: float) -> dict[str, Any] | str:
    """What a process tells, or why it tells nothing."""
    try:
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"> {limit:.0f} s"
    if done.returncode == NOT_EXPRESSED:
        return "n/a"
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return f"exit {done.returncode}"
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def cell(told: dict[str, Any] | str) -> str:
    """First answer, median and 99th of a hundred steps, memory."""
    if isinstance(told, str):
        return told
    return f"{told['first_ms']:.0f} / {told['p50_ms']:.2f} / {told['p99_ms']:.1f} / {told['peak_mb']}"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="names of the table's lines; all if there are none")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a process may take")
    arguments = parser.parse_args()
    for build in builds():
        subprocess.run(build, check=True)
    print(machine())
    names = list(commands(CASES[0], HERE, HERE))
    print("Milliseconds of the first answer / of a step, median / 99th of a hundred / MB.\n")
    print(f"| case | rows a step | told | {' | '.join(names)} |")
    print("|---" * (len(names) + 3) + "|")
    agree = True
    for case in CASES:
        if arguments.cases and case.name not in arguments.cases:
            continue
        facts = case.facts()
        place = TARGET / "peers" / "live" / case.name
        shutil.rmtree(place, ignore_errors=True)
        generate.write(facts, place / "facts")
        for size, steps in case.sizes:
            changed = place / f"changes-{size}"
            generate.write({case.relation: changes(case, facts, size, steps)}, changed)
            found = {
                name: run(each, arguments.limit) for name, each in commands(case, place / "facts", changed).items()
            }
            told = {(each["rows"], each["told"]) for each in found.values() if not isinstance(each, str)}
            agree &= len(told) <= 1
            said = f"{next(iter(told))[1] / steps:.0f}" if len(told) == 1 else f"**{told}**"
            print(f"| {case.name} | {size} | {said} | {' | '.join(map(cell, found.values()))} |", flush=True)
    return 0 if agree else 1


if __name__ == "__main__":
    raise SystemExit(main())
