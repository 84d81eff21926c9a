"""Databases that are open in this process: what is kept, who may open them, and what becomes of them."""

from __future__ import annotations

import asyncio
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import stratalog
from conftest import ENDLESS, PASSWORD, executable, is_running, wait_until
from local_server import LocalServer

#: Longer than anything here takes, and shorter than what never ends.
MOST_SECONDS = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A program of its own."""
    return subprocess.run(
        [sys.executable, "-c", f"import os, stratalog, sys, time\n{script}", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def test_a_folder_keeps_what_was_committed(folder: Path) -> None:
    with stratalog.open(folder) as db:
        assert (db.session.role, str(db.kg), db.url) == ("admin", "default", str(folder))
        db.insert("edge", [(1, 2), (2, 3)])
        db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
        db.create_kg("lab")
        db.insert("here", [("x",)])
    with stratalog.open(str(folder)) as db:
        assert sorted(db.query("?path(1, Y)").rows()) == [(1, 2), (1, 3)]
        with db.kg("lab") as lab:
            assert lab.query("?here(X)").rows() == [("x",)]


def test_who_waits_is_told_how_far_the_query_is() -> None:
    with stratalog.open() as db:
        db.insert("start", [1])
        told: list[stratalog.Working] = []
        with pytest.raises(stratalog.QueryTimeout):
            db.query(ENDLESS, timeout=2, progress=told.append)
        assert len(told) >= 2
        assert told[0].rounds < told[1].rounds


def test_databases_in_memory_are_apart_and_leave_nothing() -> None:
    with stratalog.open() as one, stratalog.open(":memory:") as other:
        one.insert("edge", [(1, 2)])
        assert other.query(".rel").rows() == []
        assert (one.url, repr(other)) == (":memory:", "<stratalog.Client :memory: kg='default'>")
    with stratalog.open() as again:
        assert again.query(".rel").rows() == []


def test_server_and_program_use_the_same_folder_one_after_the_other(tmp_path: Path) -> None:
    with stratalog.open(tmp_path / "data") as db:
        db.create_kg("lab")
        db.insert("edge", [(1, 2)])
    with LocalServer(executable(), tmp_path, PASSWORD) as server:
        with stratalog.connect(server.url, user="admin", password=PASSWORD, kg="lab") as db:
            assert db.query("?edge(X, Y)").rows() == [(1, 2)]
            db.users.create("ada", "a-long-password", role="editor")
            db.insert("edge", [(2, 3)])
        with pytest.raises(stratalog.StorageUnavailable, match="in use by another server or program"):
            stratalog.open(tmp_path / "data")
    with stratalog.open(tmp_path / "data", kg="lab") as db:
        assert sorted(db.query("?edge(X, Y)").rows()) == [(1, 2), (2, 3)]
    with (
        LocalServer(executable(), tmp_path, PASSWORD) as server,
        stratalog.connect(server.url, user="ada", password="a-long-password", kg="default") as db,
    ):
        assert db.session.role == "editor"


def test_a_folder_is_open_once(folder: Path) -> None:
    with stratalog.open(folder) as db:
        db.insert("edge", [(1, 2)])
        with pytest.raises(stratalog.StorageUnavailable, match="in use by another server or program"):
            stratalog.open(folder)
        other = run("stratalog.open(sys.argv[1])", folder)
        assert "StorageUnavailable" in other.stderr
        assert "in use by another server or program" in other.stderr
        assert db.query("?edge(X, Y)").rows() == [(1, 2)]


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(stratalog.StorageUnavailable, match="file"):
        stratalog.open(tmp_path / "file")
    with pytest.raises(ValueError, match="at least one"):
        stratalog.open(threads=0)
    with pytest.raises(stratalog.NotFound):
        stratalog.open(tmp_path / "data", kg="nowhere")
    with stratalog.open(tmp_path / "data", threads=1) as db:
        assert db.query("one(1)\n?one(X)").rows() == [(1,)]


@pytest.mark.parametrize(
    "command",
    [
        ".user list",
        ".user create ada a-long-password viewer",
        ".apikey list",
        ".apikey create ci",
        ".kg acl list default",
        ".kg acl grant default ada viewer",
    ],
)
def test_there_are_no_users(embedded: stratalog.Client, command: str) -> None:
    with pytest.raises(stratalog.AccessDenied, match="no users here") as refused:
        embedded.execute(command)
    assert refused.value.help is not None
    assert "stratalog-server" in refused.value.help


def test_closing_it_closes_every_client_of_it(folder: Path) -> None:
    before = threads()
    db = stratalog.open(folder)
    db.insert("edge", [(1, 2)])
    lab = db.kg("default")
    assert lab.query("?edge(X, Y)").rows() == [(1, 2)]
    db.close()
    db.close()
    for client in (db, lab):
        begin = time.monotonic()
        with pytest.raises(stratalog.ConnectionLost, match="is closed"):
            client.query("?edge(X, Y)")
        assert time.monotonic() - begin < 5
    lab.close()
    with stratalog.open(folder) as db:
        assert db.query("?edge(X, Y)").rows() == [(1, 2)]
    wait_until(lambda: threads() <= before)


def test_another_client_goes_on_when_one_is_closed() -> None:
    with stratalog.open() as db:
        db.insert("edge", [(1, 2)])
        with db.kg("default") as other:
            assert other.query("?edge(X, Y)").rows() == [(1, 2)]
        assert db.query("?edge(X, Y)").rows() == [(1, 2)]


def test_a_program_that_closes_nothing_ends_and_loses_nothing(folder: Path) -> None:
    done = run(
        "db = stratalog.open(sys.argv[1])\n"
        "db.insert('edge', [(1, 2)])\n"
        "lab = db.kg('default')\n"
        "live = lab.live('?edge(X, Y)')\n"
        "print(live.next().added)\n"
        "print(stratalog.open().query('one(1)\\n?one(X)').rows())",
        folder,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[(1, 2)]\n[(1,)]\n", "")
    with stratalog.open(folder) as db:
        assert db.query("?edge(X, Y)").rows() == [(1, 2)]


def test_what_was_acknowledged_outlives_a_kill(folder: Path) -> None:
    script = (
        "db = stratalog.open(sys.argv[1])\n"
        "n = 0\n"
        "while True:\n"
        "    db.insert('n', [(n,)])\n"
        "    print(n, flush=True)\n"
        "    n += 1\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", f"import stratalog, sys\n{script}", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(50)]
        writer.kill()
        told += [int(line) for line in writer.stdout if line.endswith("\n")]
    with stratalog.open(folder) as db:
        kept = {n for (n,) in db.query("?n(X)").rows()}
    assert set(told) <= kept
    assert len(kept) - len(told) <= 1


def test_a_forked_process_is_told_that_it_cannot_use_it(folder: Path) -> None:
    done = run(
        """
db = stratalog.open(sys.argv[1])
db.insert("edge", [(1, 2)])
if (child := os.fork()) == 0:
    begin = time.monotonic()
    try:
        db.query("?edge(X, Y)")
    except stratalog.ConnectionLost as lost:
        print(lost.message, flush=True)
    db.close()
    try:
        stratalog.open(sys.argv[1])
    except stratalog.StorageUnavailable as refused:
        print(refused.message, flush=True)
    try:
        stratalog.open()
    except stratalog.StorageUnavailable as refused:
        print(refused, time.monotonic() - begin < 5, flush=True)
    sys.exit()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), db.query("?edge(X, Y)").rows())
""",
        folder,
    )
    assert done.stdout.splitlines() == [
        "the database was opened by the process that this one was forked from, and is of no use here",
        "this process was forked from one that had a database open, and cannot open any",
        "this process was forked from one that had a database open, and cannot open any",
        "  = help: start the process by spawn, open after the fork, or use a server: stratalog.connect True",
        "0 [(1, 2)]",
    ]
    assert done.stderr == ""


def test_ctrl_c_stops_a_query_and_the_client_goes_on() -> None:
    script = f"""
import stratalog
db = stratalog.open()
db.insert("start", [1])
print("begun", flush=True)
try:
    db.query({ENDLESS!r})
except KeyboardInterrupt:
    print(db.query("?start(X)").rows(), db.requests.all()[0].program, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline() == "begun\n"
        time.sleep(0.5)
        begin = time.monotonic()
        asking.send_signal(signal.SIGINT)
        assert asking.stdout.readline().startswith("[(1,)] ")
        assert asking.wait(MOST_SECONDS) == 0
        assert time.monotonic() - begin < 10


def test_python_goes_on_while_a_query_runs() -> None:
    with stratalog.open() as db:
        db.insert("start", [1])

        def ask() -> None:
            with pytest.raises(stratalog.Cancelled):
                db.query(ENDLESS)

        asking = threading.Thread(target=ask)
        asking.start()
        with db.kg("default") as other:
            wait_until(lambda: is_running(other, "n(Y)"))
        count, begin = 0, time.monotonic()
        while time.monotonic() - begin < 0.2:
            count += 1
        assert count > 1000
        assert db.cancel()
        asking.join(MOST_SECONDS)
        assert not asking.is_alive()


def test_asyncio_opens_one_too(folder: Path) -> None:
    async def main() -> None:
        async with await stratalog.open_async(folder) as db:
            await db.insert("edge", [(1, 2)])
            async with db.live("?edge(X, Y)") as live:
                assert (await anext(live)).added == [(1, 2)]
                await db.insert("edge", [(2, 3)])
                assert (await anext(live)).added == [(2, 3)]
            async with await db.kg("default") as other:
                answers = await asyncio.gather(*(other.query("?edge(X, Y)") for _ in range(10)))
                assert {answer.row_count for answer in answers} == {2}
        with pytest.raises(stratalog.StorageUnavailable):
            await stratalog.open_async("/dev/null/nowhere")

    asyncio.run(main())
    with stratalog.open(folder) as db:
        assert db.query("?edge(X, Y)").row_count == 2


#: What is told of the process differs, and when an index is ready.
TELLS_OF_THE_PROCESS = re.compile(r"^\.(status|index\s+(list|stats))\b", re.MULTILINE | re.IGNORECASE)


def golden() -> Iterator[tuple[str, list[tuple[str, dict[str, object]]]]]:
    """The programs of each golden file, with their parameters."""
    import json

    root = Path(__file__).resolve().parents[2] / "tests/golden"
    for path in sorted(root.glob("*/*.dl")):
        programs = []
        for block in path.read_text().split("\n\n"):
            lines = [line for line in block.strip("\n").split("\n") if not line.startswith("#")]
            params = {
                name[1:].strip(): json.loads(value)
                for name, _, value in (line.partition("=") for line in lines if line.startswith("$"))
            }
            text = "\n".join(line for line in lines if not line.startswith("$"))
            program, found, _ = text.partition("\n---")
            if found and not TELLS_OF_THE_PROCESS.search(program):
                programs.append((program, params))
        yield f"{path.parent.name}/{path.stem}", programs


def outcome(db: stratalog.Client, program: str, params: dict[str, object]) -> object:
    """Everything that can be compared of an answer."""
    try:
        found = db.query(program, params)
    except stratalog.Error as problem:
        places = [(each.code, each.message, each.help, each.span) for each in problem.diagnostics]
        return type(problem), problem.message, places
    rows = [repr(row) for row in found.rows()]
    return found.columns, found.types, sorted(rows), found.total_count, found.truncated, found.warnings


def test_golden_programs_have_the_same_answers_as_on_a_server(own_server: LocalServer) -> None:
    compared = 0
    with (
        stratalog.connect(own_server.url, user="admin", password=PASSWORD, timeout=60) as there,
        stratalog.open(timeout=60) as here,
    ):
        for number, (name, programs) in enumerate(golden()):
            for db in (there, here):
                db.create_kg(f"golden_{number}")
            for program, params in programs:
                assert outcome(here, program, params) == outcome(there, program, params), (name, program)
                compared += 1
    assert compared > 1000


def test_frames_are_read_where_they_lie(embedded: stratalog.Client) -> None:
    import polars as pl
    import pyarrow as pa

    with embedded.kg("default") as db:
        db.create_kg("frames")
        frame = pl.DataFrame({"n": range(100_000), "t": [f"row {n % 7}" for n in range(100_000)]})
        assert db.insert("t", frame) == (100_000, 0)
        assert db.insert("t", frame.slice(99_990, 10)) == (0, 10)
        # They stay their owner's, who may change or drop them afterwards.
        del frame
        assert db.query('?count<N> <- t(N, "row 3")').rows() == [(14_286,)]
        with pytest.raises(stratalog.ArityMismatch):
            db.insert("t", pl.DataFrame({"n": [1]}))
        db.execute("+typed(n: int)")
        with pytest.raises(stratalog.TypeMismatch):
            db.insert("typed", pl.DataFrame({"n": ["a"]}))
        # What only claims to be text is refused, as it is where it travels.
        broken = pa.array([b"\xff\xfe", b"a"]).view(pa.string())
        with pytest.raises((ValueError, stratalog.InvalidMessage)):
            db.insert("broken", pa.table({"x": broken}))
        assert db.query("?typed(N)").rows() == []
        assert db.insert("none", pl.DataFrame({"n": pl.Series([], dtype=pl.Int64)})) == (0, 0)


def test_the_rows_of_an_answer_outlive_the_database() -> None:
    with stratalog.open() as db:
        db.insert("name", [(n, f"number {n}") for n in range(100_000)])
        result = db.query("?name(N, Text)")
        db.execute("-name(N, T) <- name(N, T), N >= 10\n.compact")
        db.insert("name", [(n, f"another {n}") for n in range(100_000)])
    assert sorted(result)[::50_000] == [(0, "number 0"), (50_000, "number 50000")]
    frame = result.to_polars()
    assert (frame.height, frame["N"].sum()) == (100_000, sum(range(100_000)))
    again = pickle.loads(pickle.dumps(result))
    assert again.rows() == result.rows()
    assert (again.columns, again.types) == (result.columns, ["int", "string"])


def test_threads_read_the_rows_of_one_answer_at_once() -> None:
    with stratalog.open() as db:
        db.insert("name", [(n, f"number {n}") for n in range(50_000)])
        result = db.query("?name(N, Text)")
        heights: list[int] = []

        def read() -> None:
            heights.append(result.to_polars().height)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert heights == [50_000] * 4


def test_a_forked_process_reads_the_rows_that_its_parent_has() -> None:
    done = run(
        """
import os, sys, stratalog
db = stratalog.open()
db.insert("name", [(n, f"number {n}") for n in range(300_000)])
result = db.query("?name(N, Text)")
if (child := os.fork()) == 0:
    print(len(result.rows()), flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), result.row_count)
"""
    )
    assert done.stdout.splitlines() == ["300000", "0 300000"]


def test_answers_come_where_they_are_with_every_kind_of_column() -> None:
    with stratalog.open() as db:
        db.execute(
            "+v(n: int, x: float, t: string, b: bool, at: timestamp, v: vector(2), w: list, a: any)\n"
            '+v(1, 1.5, "a", true, t"2024-01-01", [1.0, 2.0], list("x", 1), 7)\n'
            '+v(9223372036854775807, -0.5, null, false, null, null, null, "seven")'
        )
        result = db.query("?v(N, X, T, B, At, V, W, A)")
        assert sorted(result, key=lambda row: row[0])[1][0] == 2**63 - 1
        assert result.types == ["int", "float", "string", "bool", "timestamp", "vector", "list", "any"]
        db.execute("own(2)")
        own = db.query("?own(X)")
        assert (own.rows(), own.provenance) == ([(2,)], ["ephemeral"])
        assert db.query("?own(99)").rows() == []
        assert db.query("?v(N, _, _, _, _, _, _, _)", limit=1).truncated


def test_files_are_attached_where_they_are(embedded: stratalog.Client, tmp_path: Path) -> None:
    """In whatever folder: whoever opens a database in a process reads what the process may read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for part in range(2):
        numbers = pa.table({"n": range(10 * part, 10 * part + 10), "text": ["same"] * 10})
        pq.write_table(numbers, tmp_path / f"part {part}.parquet")
    found = embedded.relations.attach("numbers", str(tmp_path / "*.parquet"))
    assert found == "attached numbers(n: int, text: string): 20 rows in 2 files"
    assert embedded.query("?count<N>, sum<N> <- numbers(N, _)").rows() == [(20, 190)]
    assert next(each.kind for each in embedded.relations.all() if each.name == "numbers") == "attached"
    with pytest.raises(stratalog.AttachedRelation):
        embedded.insert("numbers", [(1, "other")])
    (tmp_path / "part 1.parquet").unlink()
    with pytest.raises(stratalog.FilesUnavailable, match=r"part 1\.parquet"):
        embedded.query("?numbers(N, _)")
    with pytest.raises(ValueError, match="no place of files"):
        embedded.relations.attach("numbers", 'a"b')


def test_files_are_attached_however_they_are_compressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.table({"n": range(1000), "text": [f"number {n}" for n in range(1000)]})
    readable = ("none", "snappy", "gzip", "lz4", "zstd")
    for codec in (*readable, "brotli"):
        pq.write_table(rows, tmp_path / f"{codec}.parquet", compression=codec)
    with stratalog.open() as db:
        for codec in readable:
            db.relations.attach(codec, str(tmp_path / f"{codec}.parquet"))
            assert db.query(f"?{codec}(7, Text)").rows() == [(7, "number 7")]
            assert db.query(f"?count<N> <- {codec}(N, _)").scalar() == 1000
        # From where one is.
        monkeypatch.chdir(tmp_path)
        for here in ("none.parquet", "./none.parquet", "non*.parquet"):
            db.relations.attach("here", here)
            assert db.query("?count<N> <- here(N, _)").scalar() == 1000
        with pytest.raises(stratalog.InvalidParameter, match=r"`\.\.`"):
            db.relations.attach("here", "../none.parquet")
        # And not when somebody asks for them, who has not attached them.
        with pytest.raises(stratalog.FilesUnavailable, match="compressed by Brotli"):
            db.relations.attach("brotli", str(tmp_path / "brotli.parquet"))
