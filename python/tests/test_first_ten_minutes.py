"""The first ten minutes of somebody new: executables and wheel in an empty home, then README and tutorial.

Nothing of this environment is used but the index of packages: a fresh virtual environment, an empty home, a
`PATH` with the executables; the prompt runs in a real terminal.

Then two small projects (`projects/`), whose answers are computed again here in plain Python and NumPy.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import stratalog
from conftest import PASSWORD, cli, executable, wait_until
from local_server import LocalServer
from projects import beneficial_owners, retrieval

REPOSITORY = Path(__file__).resolve().parents[2]
#: How long a person waits for something to happen.
PATIENCE = 30.0


class Newcomer:
    """An empty home with the executables, a virtual environment, and a server as the README starts it."""

    def __init__(self, home: Path, wheel: Path, server: LocalServer) -> None:
        self.home = home
        self.wheel = wheel
        self.server = server
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        kept |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        self.variables = kept | {
            "HOME": str(home),
            "PATH": f"{home / 'bin'}:{home / 'venv/bin'}:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "STRATALOG_URL": server.url,
            "STRATALOG_PASSWORD": PASSWORD,
        }

    def run(self, *words: str | Path, **variables: str) -> str:
        """What a command writes to standard output; it must succeed."""
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.home,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    for path in (executable(), cli()):
        shutil.copy(path, home / "bin" / path.name)
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=REPOSITORY / "python", check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with LocalServer(home / "bin" / executable().name, home / "server", PASSWORD) as server:
        newcomer = Newcomer(home, wheel, server)
        newcomer.run(sys.executable, "-m", "venv", home / "venv")
        newcomer.run("pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        yield newcomer


class Terminal:
    """The prompt in a terminal of its own."""

    def __init__(self, newcomer: Newcomer) -> None:
        self.seen = ""
        self._pid, self._master = pty.fork()
        if self._pid == 0:
            os.chdir(newcomer.home)
            os.execvpe("stratalog", ["stratalog"], newcomer.variables)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))

    def type(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\r")

    def wait(self, expected: str) -> str:
        """Reads until this is on the screen; what came up to there."""
        deadline = time.monotonic() + PATIENCE
        while expected not in self.seen:
            assert time.monotonic() < deadline, f"{expected!r} does not show up in\n{self.seen}"
            if select.select([self._master], [], [], 0.1)[0]:
                self._take(os.read(self._master, 4096))
        before, self.seen = self.seen.split(expected, 1)
        return before

    def _take(self, data: bytes) -> None:
        if b"\x1b[6n" in data:
            os.write(self._master, b"\x1b[1;1R")  # the prompt asks where the cursor is
        text = data.decode(errors="replace")
        self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Za-z0-9]?|\r", "", text)

    def leave(self) -> int:
        os.write(self._master, b"\x04")
        deadline = time.monotonic() + PATIENCE
        while True:
            if select.select([self._master], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self._take(os.read(self._master, 4096))
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                os.close(self._master)
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                os.kill(self._pid, signal.SIGKILL)
                raise AssertionError(f"the prompt does not end:\n{self.seen}")


def blocks(language: str) -> list[str]:
    text = (REPOSITORY / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_readme_starts_a_server_and_talks_to_it(newcomer: Newcomer) -> None:
    start, talk = blocks("console")
    assert "SERVICE_ADMIN_PASSWORD=secret" in start
    assert "listening on http://127.0.0.1" in (newcomer.home / "server/server.log").read_text()
    lines = [line.removeprefix("default> ") for line in talk.splitlines() if line.startswith("default> ")]
    expected = [
        "inserted 3 facts into parent",
        "registered a rule for ancestor",
        "registered a rule for ancestor",
        "(3 rows, ",
    ]
    terminal = Terminal(newcomer)
    terminal.wait("Ctrl-D leaves.")
    terminal.wait("default>")
    shown = ""
    for line, answer in zip(lines, expected, strict=True):
        terminal.type(line)
        shown = terminal.wait(answer)
        terminal.wait("default>")
    for row in ("│ ada │ bob   │", "│ ada │ cleo  │", "│ ada │ dan   │"):
        assert row in shown
    assert terminal.leave() == 0
    history = newcomer.home / ".local/state/stratalog/history"
    assert "?ancestor" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600


def test_the_readme_talks_from_python(newcomer: Newcomer) -> None:
    embedded, code = blocks("python")
    assert "3 rows" in newcomer.run("python", "-c", embedded)
    code = code.replace("ws://127.0.0.1:8080", newcomer.server.url).replace('"secret"', f'"{PASSWORD}"')
    code = code.replace("    db.insert", "    db.create_kg('python')\n    db.insert")
    printed = newcomer.run("python", "-c", code)
    assert sorted(printed.splitlines()) == [
        "ada is an ancestor of dan",
        "bob is an ancestor of dan",
        "cleo is an ancestor of dan",
    ]
    assert newcomer.run(
        "stratalog", "-c", '?ancestor(X:asc, "dan")', "--kg", "python", "--csv"
    ).splitlines() == [
        "X,B",
        "ada,dan",
        "bob,dan",
        "cleo,dan",
    ]


def test_the_command_line_checks_completes_and_helps(newcomer: Newcomer) -> None:
    (newcomer.home / "p.dl").write_text("+edge[(1, 2)]\n+path(X, Y) <- edge(X, Y)\n?path(1, X)\n")
    assert newcomer.run("stratalog", "check", "p.dl") == ""
    assert newcomer.run("stratalog", "run", "p.dl", "--kg", "default") == "A\tX\n1\t2\n"
    assert "complete" in newcomer.run("stratalog", "completions", "bash")
    assert "stratalog" in newcomer.run("stratalog", "--help")
    assert newcomer.run("stratalog", "--version").startswith("stratalog 0.")


#: Runs the cells of a notebook as IPython does; prints what each printed, and how it shows its last value.
RUN_CELLS = textwrap.dedent(
    """
    import contextlib, io, json, os, sys
    from IPython.core.interactiveshell import InteractiveShell
    notebook, folder = sys.argv[1:]
    cells = [cell for cell in json.load(open(notebook))["cells"] if cell["cell_type"] == "code"]
    os.chdir(folder)
    shell = InteractiveShell()
    hook = type(shell.displayhook)
    hook.write_output_prompt = hook.finish_displayhook = lambda self: None
    hook.write_format_data = lambda self, *_: None
    outputs = []
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            outcome = shell.run_cell("".join(cell["source"]))
        outcome.raise_error()
        result = outcome.result
        shown = "" if result is None else shell.display_formatter.format(result)[0]["text/plain"]
        outputs.append([printed.getvalue(), shown])
    shell.history_manager.end_session()
    print(json.dumps(outputs))
    """
)

#: What differs from one run to the next: addresses, estimates.
_VARIES = re.compile(r"ws://[\d.:]+|\d+ rows expected|expected \d+|\(\d+ rows\)")


def test_the_tutorial_shows_what_is_printed_in_it(newcomer: Newcomer) -> None:
    extras = f"{newcomer.wheel}[arrow,polars,notebook]"
    newcomer.run("pip", "install", "--quiet", "--disable-pip-version-check", extras)
    notebook = REPOSITORY / "docs/tutorial.ipynb"
    outputs = json.loads(newcomer.run("python", "-c", RUN_CELLS, notebook, notebook.parent).splitlines()[-1])
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    compared = 0
    for cell, (printed, shown) in zip(cells, outputs, strict=True):
        streams = [output for output in cell["outputs"] if output["output_type"] == "stream"]
        results = [output for output in cell["outputs"] if output["output_type"] == "execute_result"]
        expected = "".join("".join(output["text"]) for output in streams)
        assert printed == expected, cell["source"]
        if results:
            plain = "".join(results[0]["data"]["text/plain"])
            assert _VARIES.sub("", shown) == _VARIES.sub("", plain), cell["source"]
            compared += 1
    assert compared > 8


def as_script(name: str, server: LocalServer) -> list[str]:
    """What a project prints as a program of its own, which closes nothing and must end all the same."""
    variables = {**os.environ, "STRATALOG_URL": server.url, "STRATALOG_PASSWORD": PASSWORD}
    variables.pop("SERVICE_API_KEY", None)
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "error", str(Path(__file__).parent / f"projects/{name}.py")],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - started < 60
    return done.stdout.splitlines()


def final_shares(
    person: pd.DataFrame, holding: pd.DataFrame, threshold: float
) -> dict[tuple[str, str], float]:
    """By walking every way that goes through nothing twice."""
    held = defaultdict(list)
    for owner, company, share in holding.itertuples(index=False):
        held[owner].append((company, share))
    found: defaultdict[tuple[str, str], float] = defaultdict(float)

    def walk(start: str, here: str, product: float, seen: frozenset[str]) -> None:
        for company, share in held[here]:
            if company not in seen:
                found[start, company] += product * share
                walk(start, company, product * share, seen | {company})

    for name in person["name"]:
        walk(name, name, 1.0, frozenset({name}))
    return {pair: share for pair, share in found.items() if share >= threshold}


def shares(frame: pd.DataFrame) -> dict[tuple[str, str], float]:
    assert list(frame.columns) == ["Person", "Company", "Share"]
    return {(person, company): share for person, company, share in frame.itertuples(index=False)}


@pytest.mark.parametrize(("companies", "seed"), [(10, 1), (40, 2), (60, 3)])
def test_beneficial_owners_are_those_that_plain_python_finds(
    db: stratalog.Client, companies: int, seed: int
) -> None:
    person, holding = beneficial_owners.register(companies=companies, seed=seed)
    beneficial_owners.load(db, person, holding)
    # The frames' names and types are the relations'; a frame in another order finds its columns.
    assert db.column_types("holding") == {"owner": "string", "company": "string", "share": "float"}
    again = db.insert("holding", holding[["share", "company", "owner"]])
    assert (again.inserted, again.duplicates) == (0, len(holding))
    answers = {}
    # Rules that are edited and run again take the place of the old ones: the answer shrinks and grows.
    for threshold in (0.25, 0.5, 0.1, 0.25):
        beneficial_owners.define(db, threshold)
        assert len(db.rules.clauses("beneficial_owner")) == 1
        assert len(db.rules.clauses("way")) == 2
        frame = beneficial_owners.beneficial_owners(db)
        assert shares(frame) == final_shares(person, holding, threshold)
        answers[threshold] = len(frame)
    assert 0 < answers[0.5] < answers[0.25] < answers[0.1]


def test_ways_with_one_share_count_each_and_circles_end(db: stratalog.Client) -> None:
    holding = pd.DataFrame(
        [
            *[("ada", "left", 0.5), ("ada", "right", 0.5), ("left", "shop", 0.25), ("right", "shop", 0.25)],
            *[("shop", "left", 0.5), ("shop", "shop", 0.5), ("bob", "shop", 0.125), ("bob", "bank", 0.25)],
        ],
        columns=["owner", "company", "share"],
    )
    person = pd.DataFrame({"name": ["ada", "bob"], "country": ["NO", None]})
    beneficial_owners.load(db, person, holding)
    beneficial_owners.define(db, 0.25)
    # Two ways of an eighth each; what shop holds of left counts on the way through right, of itself never.
    assert shares(beneficial_owners.beneficial_owners(db)) == {
        ("ada", "left"): 0.5 + 0.5 * 0.25 * 0.5,
        ("ada", "right"): 0.5,
        ("ada", "shop"): 0.125 + 0.125,
        ("bob", "bank"): 0.25,
    }
    polars = db.query("?beneficial_owner(Person:asc, Company:asc, Share), Share < 0.5").to_polars()
    assert polars.equals(
        pl.DataFrame({"Person": ["ada", "bob"], "Company": ["shop", "bank"], "Share": [0.25, 0.25]})
    )


def test_beneficial_owners_run_as_a_script(own_server: LocalServer) -> None:
    printed = as_script("beneficial_owners", own_server)
    frame = pd.read_csv(io.StringIO("\n".join(printed)))
    assert shares(frame) == final_shares(*beneficial_owners.register(), 0.25)


def allowed_chunks(books: retrieval.Library, agent: str, entity: str) -> set[int]:
    """Chunks that an agent may read and that mention an entity, or a part of it, in plain Python."""
    collections = {where for who, where in books.clearance.iter_rows() if who == agent}
    documents = {number for number, _, where in books.document.iter_rows() if where in collections}
    whole = dict(books.part_of.iter_rows())

    def wholes(entity: str) -> Iterator[str]:
        seen = set()
        while entity not in seen:
            seen.add(entity)
            yield entity
            entity = whole.get(entity, entity)

    about = {chunk for chunk, mentioned in books.mentions.iter_rows() if entity in wholes(mentioned)}
    return {chunk for chunk in about if chunk // 5 in documents}


def brute_force(
    books: retrieval.Library, question: retrieval.Vectors, allowed: set[int]
) -> list[tuple[int, float]]:
    """The ten nearest of these, by NumPy."""
    ids = np.array(sorted(allowed))
    distances = 1.0 - books.vectors[ids].astype(np.float64) @ question.astype(np.float64)
    order = np.argsort(distances, kind="stable")[:10]
    return list(zip(ids[order].tolist(), distances[order].tolist(), strict=True))


ALL_NEAREST = '?hnsw_nearest("chunk_vectors", $question, 10, Chunk, Distance)'


@pytest.mark.parametrize(("documents", "dimensions"), [(100, 8), (400, 64), (150, 384)])
def test_what_is_nearest_is_what_numpy_finds(db: stratalog.Client, documents: int, dimensions: int) -> None:
    books = retrieval.library(documents, dimensions)
    retrieval.load(db, books)
    wait_until(lambda: db.indexes.state("chunk_vectors").waiting == 0)
    found_all = expected_all = 0
    for agent in ("clerk", "counsel"):
        for entity in ("entity 0", "entity 1", "entity 30"):
            allowed = allowed_chunks(books, agent, entity)
            for question in books.vectors[:: len(books.vectors) // 7]:
                found = retrieval.nearest(db, agent, question, entity)
                assert found.columns == ["Chunk", "Distance", "Doc", "Text", "Title"]
                expected = brute_force(books, question, allowed)
                assert len(found) == len(expected)
                # The nearest come first, each is allowed, and its distance and document are its own.
                assert found["Distance"].is_sorted()
                assert set(found["Chunk"]) <= allowed
                for chunk, distance, document, text, title in found.iter_rows():
                    exact = 1.0 - float(books.vectors[chunk].astype(np.float64) @ question.astype(np.float64))
                    assert distance == pytest.approx(exact, abs=1e-5)
                    assert (document, text, title) == (chunk // 5, f"chunk {chunk}", f"document {chunk // 5}")
                expected_all += len(expected)
                found_all += len(set(found["Chunk"]) & {chunk for chunk, _ in expected})
    for question in books.vectors[::31]:
        found = db.query(ALL_NEAREST, {"question": question}).to_polars()
        assert found["Distance"].is_sorted()
        expected = brute_force(books, question, set(range(len(books.vectors))))
        expected_all += len(expected)
        found_all += len(set(found["Chunk"]) & {chunk for chunk, _ in expected})
    # The index is approximate where nothing but it decides.
    assert found_all >= 0.95 * expected_all > 0
    assert retrieval.nearest(db, "visitor", books.vectors[0], "entity 1").is_empty()


def test_an_agent_sees_its_graph_and_changes_nothing(db: stratalog.Client, server: LocalServer) -> None:
    books = retrieval.library(50, 16)
    retrieval.load(db, books)
    name = str(db.kg)
    db.users.create(f"clerk_{name}", "lace-lace", "viewer")
    db.access.grant(name, f"clerk_{name}", "viewer")
    db.graphs.create(f"{name}_board")
    db.insert("secret", [("merger",)])
    with stratalog.connect(server.url, user=f"clerk_{name}", password="lace-lace", kg=name) as clerk:
        found = retrieval.nearest(clerk, "clerk", books.vectors[0], "entity 0")
        assert set(found["Chunk"]) <= allowed_chunks(books, "clerk", "entity 0")
        assert not found.is_empty()
        with pytest.raises(stratalog.AccessDenied):
            clerk.insert("clearance", [("clerk", "board")])
        # A graph that one may not see is as if there were none.
        assert f"{name}_board" not in {graph.name for graph in clerk.graphs.all()}
        with pytest.raises(stratalog.NotFound):
            clerk.kg(f"{name}_board").query("?secret(X)")
    db.users.drop(f"clerk_{name}")


def test_retrieval_runs_as_a_script(own_server: LocalServer) -> None:
    printed = as_script("retrieval", own_server)
    books = retrieval.library()
    agents = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in printed}
    for agent in ("clerk", "counsel"):
        expected = brute_force(books, books.vectors[0], allowed_chunks(books, agent, "entity 1"))
        assert agents[agent] == [chunk for chunk, _ in expected]
    assert agents["visitor"] == []
