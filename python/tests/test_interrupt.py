"""Ctrl-C in a real process: the query ends on the server, and the client goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

import stratalog
from conftest import ENDLESS, PASSWORD, wait_until
from local_server import LocalServer

#: What the interrupted process does while it is interrupted; each prints `ready` first.
WAITS = {
    "query": "db.query(program)",
    "stream": "next(iter(db.stream(program)))",
    "insert": "db.insert('sink', endless())",
}

SCRIPT = """
import itertools, sys
import stratalog

def endless():
    # Said when more than one batch of rows is on its way.
    for n in itertools.count():
        if n == 200_000:
            print("sent", flush=True)
        yield n

url, password, kg, program = sys.argv[1:]
with stratalog.connect(url, user="admin", password=password, kg=kg, timeout=60) as db:
    print("ready", flush=True)
    try:
        {what}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    sys.stdin.readline()
    print(db.query("?start(X)").scalar(), flush=True)
"""


@pytest.mark.parametrize("what", sorted(WAITS))
def test_ctrl_c_ends_the_request_on_the_server(server: LocalServer, db: stratalog.Client, what: str) -> None:
    db.insert("start", [1])
    command = [sys.executable, "-c", SCRIPT.replace("{what}", WAITS[what])]
    with subprocess.Popen(
        [*command, server.url, PASSWORD, str(db.kg), ENDLESS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background may ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if what == "insert":
            assert process.stdout.readline() == "sent\n"
        else:
            wait_until(lambda: len(running(db)) == 1)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert running(db) == []
        # The same connection goes on.
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1\n"
        assert process.wait(120) == 0
    assert "sink" not in {relation.name for relation in db.relations.all()}


def running(db: stratalog.Client) -> list[str]:
    """The requests of others on this graph."""
    return [
        request.program
        for request in db.requests.all()
        if request.knowledge_graph == db.kg and request.session != db.session.session_id
    ]
