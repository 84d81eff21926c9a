"""The first ten minutes of somebody new: executables and wheel in an empty home, then README and tutorial.

Nothing of this environment is used but the index of packages: a fresh virtual environment, an empty home, a
`PATH` with the executables; the prompt runs in a real terminal.
"""

from __future__ import annotations

import contextlib
import fcntl
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
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PASSWORD, executable
from local_server import LocalServer

REPOSITORY = Path(__file__).resolve().parents[2]
#: How long a person waits for something to happen.
PATIENCE = 30.0


def command_line() -> Path:
    return Path(os.environ.get("STRATALOG_CLI") or REPOSITORY / "target/release/stratalog").resolve()


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
    for path in (executable(), command_line()):
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
    (code,) = blocks("python")
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
