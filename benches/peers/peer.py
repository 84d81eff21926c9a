"""What the peers in Python share: `in_NAME.py PROGRAM FOLDER [check]` prints what `run.py` wants to know as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

#: The exit code that says that this peer cannot express the program.
NOT_EXPRESSED = 3
#: Engines may use this many threads.
THREADS = 2
#: A row's share in the checksum of an answer is the sum of column times factor, modulo `MODULUS`: it fits 64 bits,
#: every engine can compute it, and their sum does not depend on the order of rows.
FACTORS = (1_000_003, 998_244_353, 16_777_619)
MODULUS = 2_147_483_647

#: The columns of relations that have names of their own.
NAMES = {
    "order": ("i", "c", "p", "q"),
    "customer": ("c", "r"),
    "product": ("p", "g"),
    "granted": ("g", "d", "a", "n"),
    "connection": ("x", "y", "d", "a"),
}

Loaded = TypeVar("Loaded")
Program = TypeVar("Program")


def peak_mb() -> int:
    """The most memory that this process has had."""
    status = Path("/proc/self/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) // 1024


def relations(folder: Path) -> dict[str, Path]:
    """The files of facts by the names of relations."""
    return {path.stem: path for path in sorted(folder.glob("*.tsv"))}


def columns(path: Path) -> tuple[str, ...]:
    """The names of the columns in a file of facts."""
    with path.open() as file:
        width = file.readline().count("\t") + 1
    return NAMES.get(path.stem, ("x", "y", "w"))[:width]


def run(
    programs: Mapping[str, Program],
    load: Callable[[Path], Loaded],
    evaluate: Callable[[Loaded, Program], int],
    checksum: Callable[[Loaded, Program], int] | None = None,
) -> None:
    """The whole of a peer: loads the facts, evaluates the program against the clock, and tells the number of rows."""
    name, folder, *options = sys.argv[1:]
    if name not in programs:
        sys.exit(NOT_EXPRESSED)
    loaded = load(Path(folder))
    start = time.perf_counter()
    rows = evaluate(loaded, programs[name])
    seconds = time.perf_counter() - start
    print(json.dumps({"rows": rows, "evaluate_s": seconds, "peak_mb": peak_mb()}), flush=True)
    if checksum and "check" in options:
        print(json.dumps({"checksum": checksum(loaded, programs[name])}))
