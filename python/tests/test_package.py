"""The wheel that users install: what is in it, and that it needs no more than it says."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import PASSWORD
from local_server import LocalServer

PYTHON = Path(__file__).resolve().parents[1]
#: Everything that some function uses if it is there.
OPTIONAL = ["pyarrow", "pandas", "polars", "duckdb", "numpy", "pyoxigraph", "tqdm", "IPython"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=PYTHON, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_its_types(wheel: Path) -> None:
    source = PYTHON / "src"
    paths = [path for path in (source / "stratalog").rglob("*") if path.suffix in (".py", ".typed")]
    sources = {path.relative_to(source).as_posix() for path in paths}
    with zipfile.ZipFile(wheel) as held:
        names = set(held.namelist())
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        needs = re.findall(r"^Requires-Dist: ([\w.-]+)[^;\n]*$", held.read(metadata).decode(), re.MULTILINE)
    assert {name for name in names if ".dist-info/" not in name} == sources
    assert "stratalog/py.typed" in names
    assert needs == ["nanoarrow", "websockets"]


def test_the_readme_runs_from_the_wheel_alone(wheel: Path, server: LocalServer) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (PYTHON / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    code = code.replace("ws://127.0.0.1:8080", server.url).replace('password="..."', f'password="{PASSWORD}"')
    code = code.replace("    # Programs", "    db.create_kg('readme')\n    # Programs")
    lines = [
        "import sys",
        f"sys.path.insert(0, {str(wheel)!r})",
        *[f"sys.modules[{name!r}] = None" for name in OPTIONAL],
        code,
        f"assert stratalog.__file__.startswith({str(wheel)!r})",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-2:] == ["acme", "bolts"]


def test_what_is_not_installed_is_named_with_the_extra_that_brings_it() -> None:
    code = """
import sys
import pandas
sys.modules["polars"] = sys.modules["pyarrow"] = None
from stratalog.live import Change
from stratalog.protocol import Answer
from stratalog.result import Result
from stratalog.arrow import plain
result = Result(Answer(["X"]))
change = Change(1, False, [], [], ["X"], [])
tries = [result.to_polars, result.to_arrow, result.to_pandas, change.to_polars, change.to_arrow]
for needed in [*tries, lambda: plain._stream_of(pandas.DataFrame({"x": [1]}))]:
    try:
        needed()
    except ImportError as problem:
        print(problem)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    said = "{} is needed for that: pip install 'stratalog[{}]'"
    expected = [("polars", "polars"), ("pyarrow", "arrow"), ("pyarrow", "pandas")]
    expected += [*expected[:2], expected[2]]
    assert done.stdout.splitlines() == [said.format(*names) for names in expected]
