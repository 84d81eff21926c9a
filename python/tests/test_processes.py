"""Clients where processes begin and end: in forked children, and when Python ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import stratalog
from conftest import ENDLESS, PASSWORD, is_running, wait_until
from local_server import LocalServer

BEGIN = f"""
import asyncio, atexit, multiprocessing, os, sys, time
import stratalog
LONG = {ENDLESS!r}
"""
#: Longer than anything here takes, and shorter than what never ends.
MOST_SECONDS = 60


class Scripts:
    """Runs programs of Python that connect to the graph of a test."""

    def __init__(self, server: LocalServer, db: stratalog.Client) -> None:
        self._kg = str(db.kg)
        self._environment = {
            **os.environ,
            "STRATALOG_URL": server.url,
            "STRATALOG_USER": "admin",
            "STRATALOG_PASSWORD": PASSWORD,
        }

    def run(self, script: str, begin: str = BEGIN) -> tuple[list[str], str, float]:
        """What it prints, what it complains of, and how long it takes."""
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", begin + script.replace("KG", repr(self._kg))],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
        return done.stdout.splitlines(), done.stderr, time.monotonic() - start


@pytest.fixture
def scripts(server: LocalServer, db: stratalog.Client) -> Scripts:
    db.insert("start", [1])
    db.insert("number", range(1000))
    return Scripts(server, db)


def test_parent_and_child_ask_over_connections_of_their_own(scripts: Scripts) -> None:
    out, problems, _ = scripts.run("""
db = stratalog.connect(kg=KG)
session = db.session.session_id
child = os.fork()
for n in range(200):
    assert db.query("?number(X), X = $n", {"n": n}).rows() == [(n,)]
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert db.query("?number(X), X < 2").rows() == [(0,), (1,)]
print("same" if db.session.session_id == session else "other")
""")
    assert (sorted(out), problems.count("Traceback")) == (["other", "same"], 0), problems


def test_children_that_end_leave_the_connection_alone(scripts: Scripts) -> None:
    out, problems, _ = scripts.run("""
db = stratalog.connect(kg=KG, reconnect=0)
db.execute("own(1)")
for n in range(30):
    if (child := os.fork()) == 0:
        if n % 2:
            db.close()
        sys.exit(0)
    os.waitpid(child, 0)
print(db.query("?own(X)").rows())
""")
    assert out == ["[(1,)]"], problems
    assert "Traceback" not in problems


def test_a_pool_of_processes_uses_an_inherited_client(scripts: Scripts) -> None:
    out, problems, _ = scripts.run("""
db = stratalog.connect(kg=KG)
def ask(n):
    return db.query("?number(X), X = $n", {"n": n}).scalar()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(ask, range(20)) == list(range(20)))
print(db.query("?start(X)").scalar())
""")
    assert out == ["True", "1"], problems


def test_what_a_child_cannot_go_on_with_is_refused(scripts: Scripts, db: stratalog.Client) -> None:
    out, problems, _ = scripts.run("""
db = stratalog.connect(kg=KG)
db.execute("own(1)")
stream = db.stream("?number(X), number(Y)")
batches = iter(stream)
transaction = db.transaction()
transaction.insert("written", [(os.getpid(),)])

def attempt(what):
    try:
        what()
    except Exception as problem:
        print(type(problem).__name__, "forked" in str(problem), flush=True)

if (child := os.fork()) == 0:
    attempt(lambda: list(batches))
    attempt(lambda: transaction.__exit__(None, None, None))
    attempt(lambda: db.query("?number(X)"))
    print(len(db.query("?number(X)")), flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print(sum(map(len, batches)), flush=True)
transaction.__exit__(None, None, None)
""")
    assert out == ["ConnectionLost True", "RuntimeError True", "SessionLost False", "1000", "1000000"], (
        problems
    )
    assert len(db.query("?written(X)")) == 1


def test_a_child_begins_while_another_thread_asks(scripts: Scripts) -> None:
    out, problems, _ = scripts.run("""
import threading
db = stratalog.connect(kg=KG)
thread = threading.Thread(target=lambda: db.query(LONG, timeout=1), daemon=True)
thread.start()
time.sleep(0.3)
if (child := os.fork()) == 0:
    print(db.query("?start(X)").scalar(), flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1])
""")
    assert out == ["1", "0"], problems


#: What is done when Python ends, and what is printed there.
ENDS = {
    "before": ("import atexit\natexit.register(lambda: print(db.query('?start(X)').scalar()))\n", "", "1"),
    "after": (BEGIN, "atexit.register(lambda: print(db.query('?start(X)').scalar()))", "1"),
    "object": (
        BEGIN,
        "class A:\n    def __del__(self): attempt(lambda: db.query('?start(X)'))\na = A()",
        "ending",
    ),
    "connects": (BEGIN, "class A:\n    def __del__(self): attempt(stratalog.connect)\na = A()", "ending"),
    "events": (
        BEGIN,
        "e = db.events()\nclass A:\n    def __del__(self): attempt(e.next)\na = A()",
        "ending",
    ),
    "stream": (
        BEGIN,
        "s = db.stream('?number(X), number(Y)')\n"
        "class A:\n    def __del__(self): attempt(lambda: list(s))\na = A()",
        "ending",
    ),
    "generator": (
        BEGIN,
        "def made():\n    try: yield 1\n    finally: attempt(lambda: db.execute('+at_the_end(1)'))\n"
        "it = made()\nnext(it)",
        "ending",
    ),
}

ATTEMPT = """
import stratalog
db = stratalog.connect(kg=KG)
def attempt(what, write=print):
    try:
        write(what())
    except RuntimeError as problem:
        write("ending" if "Python is ending" in str(problem) else repr(problem))
"""


@pytest.mark.parametrize("what", sorted(ENDS))
def test_python_ends_whatever_uses_a_client_there(scripts: Scripts, what: str) -> None:
    begin, script, printed = ENDS[what]
    out, problems, seconds = scripts.run(ATTEMPT + script, begin)
    assert out == [printed], problems
    assert seconds < MOST_SECONDS / 4


def test_an_event_loop_ends_with_what_waits_in_it(scripts: Scripts, db: stratalog.Client) -> None:
    out, problems, _ = scripts.run("""
async def main():
    global pending
    db = await stratalog.connect_async(kg=KG)
    pending = [asyncio.create_task(db.query(LONG)) for _ in range(2)]
    await asyncio.sleep(0.5)
start = time.monotonic()
asyncio.run(main())
print(time.monotonic() - start < 3)
assert all(task.cancelled() for task in pending), pending
""")
    assert out == ["True"], problems
    assert "Traceback" not in problems
    wait_until(lambda: not is_running(db, "start(X)"), 10)


def test_an_async_client_belongs_to_its_event_loop(scripts: Scripts) -> None:
    out, problems, _ = scripts.run("""
async def begin():
    db = await stratalog.connect_async(kg=KG)
    events = db.events()
    async with db.transaction() as t:
        await t.insert("p", [1])
    return db, await db.stream("?number(X), number(Y)"), await events.__aenter__()
db, stream, events = asyncio.run(begin())

async def again(what):
    try:
        await what()
    except RuntimeError as problem:
        print("another event loop" in str(problem))

asyncio.run(again(lambda: db.query("?start(X)")))
asyncio.run(again(lambda: db.insert("p", [1])))
asyncio.run(again(lambda: db.stream("?start(X)")))
asyncio.run(again(lambda: anext(aiter(stream))))
asyncio.run(again(lambda: anext(events)))
asyncio.run(events.close())
asyncio.run(stream.close())
asyncio.run(db.close())
""")
    assert out == ["True"] * 5, problems
    assert "Traceback" not in problems
