"""Measures a frame on its way through a database in the same process, beside DuckDB and Polars.

    python python/tools/embedded.py --rows 10000000

Sales, customers with their districts, and districts inside of districts: what was sold in each district,
those inside of it included. Polars has no recursion, so the pairs of districts are joined until there are no
more. Each runs in a process of its own, so that its peak of memory is its own; frames count in it, as they
are there before anything else.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

FRAMES = """
import json, sys, time
import numpy as np
import polars as pl
rows, customers, districts = int(sys.argv[1]), int(sys.argv[1]) // 20, 10_000
random = np.random.default_rng(7)
sale = pl.DataFrame({
    "sale": np.arange(rows),
    "customer": random.integers(0, customers, rows),
    "product": random.integers(0, 5_000, rows),
    "amount": random.integers(1, 1_000, rows),
})
lives = pl.DataFrame({"customer": np.arange(customers), "district": random.integers(0, districts, customers)})
inside = pl.DataFrame({"district": np.arange(1, districts), "of": (np.arange(1, districts) - 1) // 4})
begin = time.perf_counter()
"""
END = """
seconds = time.perf_counter() - begin
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps([seconds, peak, found.height, int(found["sold"].sum())]))
"""
WAYS = {
    "Stratalog, in memory": """
import stratalog
with stratalog.open(threads=2) as db:
    db.insert("sale", sale)
    db.insert("lives", lives)
    db.insert("inside", inside)
    print(json.dumps(time.perf_counter() - begin), file=sys.stderr)
    found = db.query('''
within(D, D) <- lives(_, D)
within(D, A) <- within(D, B), inside(B, A)
sold_to(C, sum<A>) <- sale(S, C, P, A)
sold_in(D, sum<S>) <- sold_to(C, S), lives(C, D)
total(A, sum<S>) <- sold_in(D, S), within(D, A)
?total(District, Sold)
''').to_polars().rename({"Sold": "sold"})
""",
    "DuckDB": """
import duckdb
duck = duckdb.connect()
duck.execute("SET threads = 2")
found = duck.sql('''
    WITH RECURSIVE within(district, a) AS (
        SELECT DISTINCT district, district FROM lives
        UNION SELECT within.district, inside."of" FROM within JOIN inside ON inside.district = within.a
    ), per AS (
        SELECT lives.district, sum(amount) AS s FROM sale JOIN lives USING (customer) GROUP BY ALL
    )
    SELECT a, sum(s)::BIGINT AS sold FROM per JOIN within USING (district) GROUP BY a
''').pl()
""",
    "Polars": """
new = within = lives.select("district").unique().with_columns(a="district")
while new.height:
    new = new.join(inside, left_on="a", right_on="district").select("district", a="of")
    new = new.unique().join(within, on=["district", "a"], how="anti")
    within = pl.concat([within, new])
per = sale.lazy().join(lives.lazy(), on="customer").group_by("district").agg(pl.col("amount").sum())
found = per.join(within.lazy(), on="district").group_by("a").agg(sold=pl.col("amount").sum()).collect()
""",
}


def main() -> None:
    """Runs each way some times, and writes a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'':24} {'seconds':>8} {'peak MB':>8}")
    answers = set()
    for name, way in WAYS.items():
        measured = []
        for _ in range(arguments.runs):
            command = [sys.executable, "-c", FRAMES + way + END, str(arguments.rows)]
            environment = {"POLARS_MAX_THREADS": "2", "PATH": "/usr/bin:/bin"}
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
            measured.append(json.loads(done.stdout))
        seconds = statistics.median(run[0] for run in measured)
        peak = statistics.median(run[1] for run in measured)
        answers |= {tuple(run[2:]) for run in measured}
        print(f"{name:24} {seconds:8.2f} {peak:8.0f}", flush=True)
    assert len(answers) == 1, answers


if __name__ == "__main__":
    main()
