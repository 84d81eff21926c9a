"""Users' code under the two type checkers that users have."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "typing"
WRONG = {
    number
    for number, line in enumerate((HERE / "user_mistakes.py").read_text().splitlines(), 1)
    if line.endswith("# wrong")
}


def mypy(name: str) -> set[int]:
    """The lines in which mypy --strict finds something."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file="]
    done = subprocess.run(
        [*command, "--hide-error-context", "--no-error-summary", "--output", "json", str(HERE / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    own = [each for each in found if each["severity"] == "error"]
    assert {Path(each["file"]).name for each in own} <= {name}, own
    return {each["line"] for each in own}


def pyright(name: str) -> set[int]:
    """The lines in which pyright finds something."""
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        str(HERE / name),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_users_code_is_clean(checker: Callable[[str], set[int]]) -> None:
    assert checker("user_code.py") == set()


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_mistakes_are_found(checker: Callable[[str], set[int]]) -> None:
    assert checker("user_mistakes.py") == WRONG


def test_the_package_itself_is_clean_for_pyright() -> None:
    package = Path(__file__).parents[1] / "src/stratalog"
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
