"""Users' code and the package itself under the two type checkers that users have."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "typing"
CODE, MISTAKES = HERE / "user_code.py", HERE / "user_mistakes.py"
PACKAGE = Path(__file__).parents[1] / "src/stratalog"
WRONG = {
    number for number, line in enumerate(MISTAKES.read_text().splitlines(), 1) if line.endswith("# wrong")
}

#: The lines in which a checker finds something, by file.
Findings = dict[Path, set[int]]


def mypy() -> Findings:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--output", "json"]
    done = subprocess.run([*command, CODE, MISTAKES], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    found: Findings = {}
    for each in map(json.loads, done.stdout.splitlines()):
        if each["severity"] == "error":
            found.setdefault(Path(each["file"]).resolve(), set()).add(each["line"])
    return found


def pyright() -> Findings:
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, CODE, MISTAKES, PACKAGE], capture_output=True, text=True, check=False)
    found: Findings = {}
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        if each["severity"] == "error":
            found.setdefault(Path(each["file"]).resolve(), set()).add(each["range"]["start"]["line"] + 1)
    return found


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_users_code_and_package_are_clean_and_mistakes_are_found(checker: Callable[[], Findings]) -> None:
    assert checker() == {MISTAKES: WRONG}
