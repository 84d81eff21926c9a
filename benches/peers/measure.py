"""One process of one engine, from its start to its end."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engines import ENVIRONMENT, Command
from peer import NOT_EXPRESSED


@dataclass
class Measured:
    """What the processes of an engine said of a workload."""

    rows: set[int] = field(default_factory=set)
    checksums: set[int] = field(default_factory=set)
    evaluation_s: list[float] = field(default_factory=list)
    process_s: list[float] = field(default_factory=list)
    peak_mb: list[int] = field(default_factory=list)
    #: Why there are no figures.
    without: str | None = None

    @property
    def timed(self) -> bool:
        """Whether there are figures, and from all rounds."""
        return bool(self.evaluation_s) and self.without is None

    @property
    def evaluation(self) -> float:
        """The median of the evaluations."""
        return statistics.median(self.evaluation_s)

    def cell(self) -> str:
        """What the table says: seconds of the evaluation and of the whole process, and memory."""
        if not self.timed:
            return self.without or "-"
        process = statistics.median(self.process_s)
        return f"{seconds(self.evaluation)} / {seconds(process)} / {max(self.peak_mb)}"

    def figures(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {name: sorted(value) if isinstance(value, set) else value for name, value in asdict(self).items()}


def seconds(value: float) -> str:
    """Two or three digits that count."""
    return f"{value:.{4 if value < 0.01 else 3 if value < 1 else 1}f}"


def check(command: Command, program: str, folder: Path, limit: float, into: Measured) -> None:
    """A first process: has the engine the program, is it fast enough, and what is its answer? It is not timed."""
    said, _ = _run([*command(program, folder), "check"], limit, into)
    if "rows" in said:
        into.rows.add(said["rows"])
    if said.get("checksum") is not None:
        into.checksums.add(said["checksum"])


def measure(command: Command, program: str, folder: Path, limit: float, into: Measured) -> None:
    """A process against the clock."""
    said, whole = _run(command(program, folder), limit, into)
    if into.without is None:
        into.rows.add(said["rows"])
        into.evaluation_s.append(said["evaluate_s"])
        into.process_s.append(whole)
        into.peak_mb.append(said["peak_mb"])


def _run(command: list[str], limit: float, into: Measured) -> tuple[dict[str, Any], float]:
    """What a process said, and how long it took."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            # Whoever has evaluated the program was only not done with the checksum.
            if not output:
                into.without = f"> {limit:.0f} s"
        else:
            if process.returncode == NOT_EXPRESSED:
                into.without = "n/a"
            elif process.returncode != 0:
                into.without = "failed"
                print(errors, file=sys.stderr)
    whole = time.perf_counter() - start
    said: dict[str, Any] = {}
    for line in output.splitlines():
        said.update(json.loads(line))
    return said, whole
