"""Measures a Parquet file on its way through Python into a server and back, beside DuckDB on the same file.

    python python/tools/roundtrip.py --server target/release/stratalog-server --rows 10000000

Each step runs in a process of its own, so that its peak of memory is its own. DuckDB reads the file into a
table of a database file and writes it again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "demo"))

from local_server import LocalServer

PASSWORD = "correct-horse"
#: In a child process: what it does; then it says how long that took, and its peak of memory.
STEPS = {
    "insert from Parquet": "counts = db.insert('t', path)\nassert counts.inserted == rows",
    "stream, row count only": "assert sum(len(batch) for batch in db.stream(query)) == rows",
    "stream to Parquet": "assert db.stream(query).write(out) == rows",
    "to Polars": "import polars\nassert polars.DataFrame(db.stream(query)).height == rows",
    "DuckDB: Parquet to a table": (
        "import duckdb\nduck = duckdb.connect(out + '.duckdb')\nduck.execute('SET threads = 2')\n"
        "duck.execute(f\"CREATE TABLE t AS SELECT * FROM '{path}'\")"
    ),
    "DuckDB: table to Parquet": (
        "import duckdb\nduck = duckdb.connect(out + '.duckdb')\nduck.execute('SET threads = 2')\n"
        "duck.execute(f\"COPY t TO '{out}.duck.parquet' (COMPRESSION zstd)\")"
    ),
    "DuckDB: table to Polars": (
        "import duckdb\nduck = duckdb.connect(out + '.duckdb')\nduck.execute('SET threads = 2')\n"
        "assert duck.table('t').pl().height == rows"
    ),
}
CHILD = """
import json, sys, time
import stratalog
url, password, path, out, rows, code = sys.argv[1:]
rows, query = int(rows), "?t(A, B, C)"
with stratalog.connect(url, user="admin", password=password) as db:
    start = time.perf_counter()
    exec(code)
    seconds = time.perf_counter() - start
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps([seconds, peak]))
"""


def main() -> None:
    """Makes the file, runs the steps, and writes a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stratalog-roundtrip-") as name:
        folder = Path(name)
        path = folder / "facts.parquet"
        subprocess.run([sys.executable, "-c", _MAKE, str(path), str(arguments.rows)], check=True)
        print(f"{arguments.rows:,} rows, {path.stat().st_size >> 20} MiB of Parquet\n")
        limits = {"SERVICE_LIMITS__QUERY_TIMEOUT_MS": "600000"}
        with LocalServer(arguments.server.resolve(), folder / "server", PASSWORD, limits) as server:
            print("| step | seconds | rows a second | peak of the client, MiB | peak of the server, MiB |")
            print("|---|---|---|---|---|")
            for step, code in STEPS.items():
                words = [
                    server.url,
                    PASSWORD,
                    str(path),
                    str(folder / "back.parquet"),
                    str(arguments.rows),
                    code,
                ]
                done = subprocess.run(
                    [sys.executable, "-c", CHILD, *words], stdout=subprocess.PIPE, text=True, check=True
                )
                seconds, peak = json.loads(done.stdout.splitlines()[-1])
                held = "" if step.startswith("DuckDB") else str(_peak(server))
                rate = arguments.rows / seconds
                print(f"| {step} | {seconds:.1f} | {rate:,.0f} | {peak} | {held} |", flush=True)


def _peak(server: LocalServer) -> int:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


_MAKE = """
import sys, polars as pl
path, rows = sys.argv[1], int(sys.argv[2])
n = pl.int_range(rows, eager=True)
names = "name " + (n % 500000).cast(pl.String)
pl.DataFrame({"a": n, "b": (n * 7919 % 1000003) / 8, "c": names}).write_parquet(path)
"""


if __name__ == "__main__":
    main()
