"""Loads Debian's package graph into a fresh server, defines rules, and asks questions.

    make demo                # start, load, ask, stop
    make demo-keep           # the same, and leave the server running

Each question is asked twice: through the Python client and through the command line.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import polars as pl

import stratalog
from expected import bound_packages
from local_server import LocalServer
from questions import (
    BOUND,
    BOUND_TIMES,
    CONSOLE_QUESTIONS,
    CONSOLE_SCHEMA,
    FALLS,
    PACKAGE,
    QUESTIONS,
    RULES,
    SCHEMAS,
    TAKEN,
)

DATA = Path(__file__).parent / "data"
SHOWN_ROWS = 10


def main() -> int:
    """The whole demo; 0 only if everything worked."""
    parser = argparse.ArgumentParser(description="Debian's package graph on a Stratalog server.")
    parser.add_argument("--server", type=Path, required=True, help="the server executable")
    parser.add_argument("--cli", type=Path, required=True, help="the command line executable")
    parser.add_argument("--keep", action="store_true", help="leave the server running at the end")
    arguments = parser.parse_args()
    password = secrets.token_urlsafe(12)
    with ExitStack() as cleanup:
        if arguments.keep:
            folder = Path(tempfile.mkdtemp(prefix="stratalog-demo-"))
        else:
            folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="stratalog-demo-")))
        title(f"Starting {arguments.server.name}")
        # On a slow machine the full closure may take longer than the usual limit for a query.
        settings = {"SERVICE_LIMITS__QUERY_TIMEOUT_MS": "300000"}
        server = LocalServer(arguments.server.resolve(), folder, password, settings)
        stop = cleanup.enter_context(ExitStack())
        stop.callback(server.stop)
        print(f"{server.url}  (process {server.pid}, data in {folder})")
        with stratalog.connect(server.url, user="admin", password=password, timeout=300) as db:
            load(db)
            define(db)
            ask(db)
            ask_often(db)
            take_away(db)
            explain(db)
            bring_questions(db)
        ask_by_command_line(arguments.cli.resolve(), server.url, password)
        say_memory(server)
        if arguments.keep:
            stop.pop_all()
            say_how_to_go_on(arguments.cli, server, password, folder)
            return 0
        title("Stopping the server")
        if (status := server.stop()) != 0:
            print(f"The server ended with status {status}:\n" + server.log[-2000:])
            return 1
        print("Stopped. To keep it running and go on from here: make demo-keep")
        print("\nWhat to try next then:")
        for line in IDEAS:
            print(f"  {line}")
    return 0


def load(db: stratalog.Client) -> None:
    """Every Parquet file becomes a relation."""
    title("Loading Debian's package graph")
    start = time.perf_counter()
    total = 0
    for relation, schema in SCHEMAS.items():
        db.execute(schema)
        frame = pl.read_parquet(DATA / f"{relation}.parquet")
        counts = db.insert(relation, frame, progress=True)
        if counts.inserted != frame.height:
            raise RuntimeError(f"{relation}: {counts.inserted} of {frame.height} rows were new")
        total += counts.inserted
    seconds = time.perf_counter() - start
    print(f"{total:,} facts in {seconds:.2f} s, {total / seconds:,.0f} facts a second")


def define(db: stratalog.Client) -> None:
    """The rules, as one transaction."""
    title("Defining rules")
    print(RULES)
    start = time.perf_counter()
    db.execute(RULES, atomic=True)
    print(f"{milliseconds(start):,.1f} ms")


def ask(db: stratalog.Client) -> None:
    """Every question, with its answer and its times."""
    for number, question in enumerate(QUESTIONS, 1):
        title(f"{number}. {question.text}")
        print(question.program, end="\n\n")
        start = time.perf_counter()
        result = db.query(question.program)
        rows = result.rows()
        took = milliseconds(start)
        show(result.columns, rows)
        print(f"{took:,.1f} ms at the client, {result.elapsed_ms:,} ms of it on the server")


def ask_often(db: stratalog.Client) -> None:
    """A bound question many times over: what one small answer costs."""
    title(f"The same bound question {BOUND_TIMES:,} times, for {BOUND_TIMES:,} different packages")
    print(BOUND, end="\n\n")
    names = [row[0] for row in db.query("?exists(P)")]
    times: list[float] = []
    rows = 0
    for package in bound_packages(names):
        start = time.perf_counter()
        rows += len(db.query(BOUND, {"package": package}).rows())
        times.append(milliseconds(start))
    cuts = statistics.quantiles(times, n=100)
    print(
        f"p50 {cuts[49]:.2f} ms   p99 {cuts[98]:.2f} ms   slowest {max(times):.2f} ms   "
        f"{rows:,} rows in all, {1000 * len(times) / sum(times):,.0f} questions a second"
    )


def take_away(db: stratalog.Client) -> None:
    """A live query is told what falls with a package, and that it stands again with it."""
    title("Take one package away, and see at once what falls")
    print(FALLS)
    db.execute(FALLS, atomic=True)
    with db.live("?falls(P)") as live:
        changes = iter(live)
        first = next(changes)
        print(f"?falls(P) is live: {len(first.added)} packages lack something as it is.\n")
        for name in TAKEN:
            package = db.query(f"?{PACKAGE}", {"name": name}).rows()
            start = time.perf_counter()
            db.execute(f"-{PACKAGE} <- {PACKAGE}", {"name": name})
            fallen = next(changes)
            told = milliseconds(start)
            start = time.perf_counter()
            db.insert("package", package)
            next(changes)
            back = milliseconds(start)
            print(
                f"Without {name:<12} {len(fallen.added):>6,} packages fall, told after {told:>6,.1f} ms; "
                f"put back, {len(live.rows):,} after {back:,.1f} ms"
            )


def explain(db: stratalog.Client) -> None:
    """Answers about answers: why, why not, and what would be."""
    title("Why gnome needs libc6, why libc6 does not need gnome, and what would fall without one package")
    start = time.perf_counter()
    why = db.why('?needs("gnome", "libc6")')
    took = milliseconds(start)
    print(f"{why}\n{took:,.1f} ms\n")
    start = time.perf_counter()
    missing = db.why_not('needs("libc6", "gnome")')
    took = milliseconds(start)
    print("\n".join([*missing.lines[:8], "…", missing.lines[-1]]) + f"\n{took:,.1f} ms\n")
    name = TAKEN[-1]
    start = time.perf_counter()
    fallen = db.what_if(f"-{PACKAGE} <- {PACKAGE}", "?falls(P)", {"name": name})
    took = milliseconds(start)
    print(f"Without {name}, {len(fallen):,} packages would fall ({took:,.1f} ms); nothing was taken away.")


def bring_questions(db: stratalog.Client) -> None:
    """What the console offers to whoever opens this graph: facts like any others."""
    db.execute(CONSOLE_SCHEMA)
    db.insert("console_question", CONSOLE_QUESTIONS)


def ask_by_command_line(cli: Path, url: str, password: str) -> None:
    """The same questions through the other client."""
    title("The same through the command line")
    environment = os.environ | {"STRATALOG_PASSWORD": password}
    for number, question in enumerate(QUESTIONS, 1):
        command = [str(cli), "query", question.program, "--url", url, "--user", "admin"]
        command += ["--format", "box", "--timing"]
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        took = milliseconds(start)
        if done.returncode != 0:
            raise RuntimeError(f"{cli.name} ended with status {done.returncode}:\n{done.stderr}")
        print(f"{number}. {question.text}")
        lines = done.stdout.rstrip().splitlines()
        print("\n".join(lines[: SHOWN_ROWS + 4]))
        if len(lines) > SHOWN_ROWS + 4:
            print("…")
        if done.stderr:
            print(done.stderr.rstrip())
        print(f"{took:,.1f} ms with the start of the program\n")


IDEAS = (
    '?needs("gnome", P), conflicts(P, Q), needs("gnome", Q)      conflicts inside gnome',
    '?recommends("gnome", P), !needs("gnome", P)                 what gnome only recommends',
    "+bare(P) <- exists(P), !needs_directly(P, _)                packages that need nothing; then ?bare(P)",
    '-depends(P, "perl") <- depends(P, "perl")                   a world without perl; then ask again',
    ".rel                                                        what there is; .rule def needs shows a rule",
)


def say_how_to_go_on(cli: Path, server: LocalServer, password: str, folder: Path) -> None:
    """What one may do with a server that was left running."""
    title("The server goes on running")
    console = server.url.replace("ws://", "http://").removesuffix("/ws") + "/console"
    print(f"  {console}   in a browser: log in as admin with the password {password}")
    print(f"  {server.url}   for clients\n")
    print(f"  export STRATALOG_PASSWORD={password}")
    print(f"  {cli} --url {server.url} --user admin\n")
    for line in IDEAS:
        print(f"  {line}")
    print(f"\nTo end it: kill {server.pid}    Its data: {folder}")


def say_memory(server: LocalServer) -> None:
    """The most memory that the server held, where the system tells (Linux)."""
    status = Path(f"/proc/{server.pid}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                print(f"\nThe server's memory at its peak: {int(line.split()[1]) // 1024:,} MiB")


def title(text: str) -> None:
    """A heading."""
    sys.stdout.flush()
    print(f"\n── {text} {'─' * max(3, 96 - len(text))}")


def show(columns: list[str], rows: list[tuple[object, ...]]) -> None:
    """The first rows as a table."""
    if not rows:
        print("(no rows)")
        return
    texts = [[cell(value) for value in row] for row in rows[: max(SHOWN_ROWS, 20 if len(rows) <= 20 else 0)]]
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    print("  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip())
    print("  ".join("─" * width for width in widths))
    for row, values in zip(texts, rows, strict=False):
        cells = [
            text.rjust(width) if isinstance(value, int) else text.ljust(width)
            for text, width, value in zip(row, widths, values, strict=True)
        ]
        print("  ".join(cells).rstrip())
    if len(rows) > len(texts):
        print(f"… {len(rows) - len(texts):,} more rows")


def cell(value: object) -> str:
    """A value as it stands in a table."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def milliseconds(start: float) -> float:
    """Since `start`."""
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
