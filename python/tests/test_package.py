"""The wheel that users install: what is in it, and that it needs no more than it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

PYTHON = Path(__file__).resolve().parents[1]


def build(target: str, folder: Path, **environment: str) -> Path:
    """What users get: of what `make` has built, so nothing is compiled here."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=PYTHON, check=True, capture_output=True, env={**os.environ, **environment})
    (found,) = folder.glob("stratalog-*")
    return found


def run(*command: str | Path, **options: Any) -> str:
    """What a program prints that complains of nothing."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which nothing but the wheel was installed."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return folder


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as held:
        return set(held.namelist())


def sources() -> set[str]:
    source = PYTHON / "src"
    paths = [path for path in (source / "stratalog").rglob("*") if path.suffix in (".py", ".pyi", ".typed")]
    return {path.relative_to(source).as_posix() for path in paths}


def test_the_wheel_holds_the_package_its_types_and_the_executables(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as held:
        names = set(held.namelist())
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        needs = re.findall(r"^Requires-Dist: ([\w.-]+)[^;\n]*$", held.read(metadata).decode(), re.MULTILINE)
    scripts = {
        f"stratalog-{stratalog.__version__}.data/scripts/{name}" for name in ("stratalog", "stratalog-server")
    }
    native = {"stratalog/_native.abi3.so"}
    assert {name for name in names if ".dist-info/" not in name} == sources() | scripts | native
    assert "stratalog/py.typed" in names
    assert needs == ["nanoarrow", "websockets"]
    assert re.search(r"-cp311-abi3-\w+\.whl$", wheel.name)


def test_everything_works_where_nothing_but_the_wheel_is_installed(installed: Path, tmp_path: Path) -> None:
    environment = {"PATH": str(installed / "bin"), "HOME": str(tmp_path)}
    page = (PYTHON.parent / "docs/embedded.md").read_text()
    (code, printed) = re.findall(
        r"^```python\n(.*?)^```\n```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE
    )[0]
    assert run(installed / "bin/python", "-c", code, env=environment, cwd=tmp_path) == printed
    for name in ("stratalog", "stratalog-server"):
        assert run(name, "--version", env=environment).startswith(f"{name} {stratalog.__version__}")


def test_without_the_native_part_it_runs_anywhere_and_asks_servers(tmp_path: Path) -> None:
    pure = build("wheel", tmp_path, STRATALOG_PURE="1")
    assert pure.name.endswith("-py3-none-any.whl")
    assert {name for name in names_in(pure) if ".dist-info/" not in name} == sources()
    code = f"""
import sys
sys.path.insert(0, {str(pure)!r})
import stratalog
try:
    stratalog.open()
except ImportError as problem:
    print(problem)
"""
    assert "no native module" in run(sys.executable, "-c", code)


def test_the_source_distribution_has_all_that_cargo_needs(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as held:
        held.extractall(tmp_path / "sources", filter="data")
    (root,) = (tmp_path / "sources").iterdir()
    # It reads every manifest, and fails if something is missing.
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    found = json.loads(run(*command, cwd=root / "rust"))
    members = {package["name"] for package in found["packages"] if package["source"] is None}
    assert {"stratalog-python", "stratalog-server", "stratalog-engine"} <= members
    assert (root / "hatch_build.py").exists()


def test_the_crates_can_be_published(tmp_path: Path) -> None:
    """Packed as `cargo publish` does it; `make crates` compiles what is in them, too."""
    root = PYTHON.parent
    listed = json.loads(run("cargo", "metadata", "--format-version", "1", "--no-deps", "--offline", cwd=root))
    # Null: for any registry.
    names = [package["name"] for package in listed["packages"] if package["publish"] is None]
    assert sorted(names) == [
        f"stratalog-{name}" for name in ("client", "engine", "language", "protocol", "server")
    ]
    chosen = [argument for name in names for argument in ("-p", name)]
    packs = ["cargo", "package", "--quiet", "--locked", "--offline", "--no-verify", "--allow-dirty", *chosen]
    run(*packs, "--target-dir", tmp_path, cwd=root)
    for name in names:
        with tarfile.open(tmp_path / f"package/{name}-{stratalog.__version__}.crate") as held:
            files = set(held.getnames())
        assert {f"{name}-{stratalog.__version__}/{file}" for file in ("Cargo.toml", "src/lib.rs")} <= files


def test_the_debian_package_installs_and_its_server_starts(tmp_path: Path) -> None:
    """Into a folder: nothing of this machine is touched."""
    root = PYTHON.parent
    package = run(root / "packaging/deb/build", tmp_path, cwd=root).strip()
    system = tmp_path / "system"
    for folder in ("updates", "info", "triggers"):
        (system / "var/lib/dpkg" / folder).mkdir(parents=True)
    for name in ("status", "available"):
        (system / "var/lib/dpkg" / name).touch()
    # What it depends on is installed on this machine, and not in there.
    options = [f"--root={system}", "--force-script-chrootless", "--force-not-root", "--force-depends"]
    subprocess.run(["dpkg", *options, "--install", package], check=True, capture_output=True)
    needs = run("dpkg-deb", "--field", package, "Depends")
    assert {"libc6", "libstdc++6"} <= set(re.findall(r"[\w.+-]+(?= \()", needs))
    assert "stratalog" in run("dpkg", f"--root={system}", "--list", "stratalog")
    assert (system / "usr/share/man/man1/stratalog.1.gz").exists()
    unit = (system / "usr/lib/systemd/system/stratalog.service").read_text()
    assert "ExecStart=/usr/bin/stratalog-server --config /etc/stratalog/server.toml" in unit
    with LocalServer(system / "usr/bin/stratalog-server", tmp_path / "data", PASSWORD) as server:
        asked = ["--url", server.url, "--csv", "-q", "-c", "one(1)\n?one(X)"]
        environment = {"STRATALOG_PASSWORD": PASSWORD}
        assert run(system / "usr/bin/stratalog", *asked, env=environment) == "X\n1\n"
    shown = run(
        system / "usr/bin/stratalog-server",
        "--config",
        system / "etc/stratalog/server.toml",
        "--print-config",
    )
    assert "127.0.0.1" in shown
    subprocess.run(["dpkg", *options, "--purge", "stratalog"], check=True, capture_output=True)
    assert not (system / "usr/bin/stratalog").exists()


def test_the_readme_runs_from_the_wheel_alone(installed: Path, server: LocalServer) -> None:
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (PYTHON / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    code = code.replace("ws://127.0.0.1:8080", server.url).replace('password="..."', f'password="{PASSWORD}"')
    code = code.replace("    # Programs", "    db.create_kg('readme')\n    # Programs")
    lines = [code, f"assert stratalog.__file__.startswith({str(installed)!r})"]
    assert run(installed / "bin/python", "-c", "\n".join(lines)).splitlines()[-2:] == ["acme", "bolts"]


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
