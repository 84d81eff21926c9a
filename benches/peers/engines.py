"""The engines of the table: how each is built, and what runs a program on it."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import in_stratalog
from peer import THREADS

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TARGET = ROOT / "target"
RUST = TARGET / "peers" / "rust"
OURS = TARGET / "release" / "examples" / "workload"

#: What keeps libraries that ask for it to the same number of threads.
ENVIRONMENT = {**os.environ, "RAYON_NUM_THREADS": str(THREADS), "POLARS_MAX_THREADS": str(THREADS)}

#: The command for a program and the folder with its facts.
Command = Callable[[str, Path], list[str]]


@dataclass(frozen=True)
class Engine:
    """A column of the table. Where there is more than one way to run it, the table has the best."""

    name: str
    version: str
    ways: dict[str, Command]
    build: list[str] = field(default_factory=list)


def _cargo(*arguments: str) -> list[str]:
    return [os.environ.get("CARGO", "cargo"), "build", "--release", "--locked", *arguments]


def _ours() -> Engine:
    def command(program: str, folder: Path) -> list[str]:
        return in_stratalog.command(OURS, program, folder)

    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    version = manifest["workspace"]["package"]["version"]
    # All packages are chosen: else libraries are built again with other features.
    build = _cargo("--workspace", "--example", "workload", "--manifest-path", str(ROOT / "Cargo.toml"))
    return Engine("ours", version, {"": command}, build)


def _rust(name: str, crate: str, ways: tuple[str, ...] = ()) -> Engine:
    """An engine that is a crate, with a program of the folder `rust` around it."""

    def way(*options: str) -> Command:
        return lambda program, folder: [str(RUST / "release" / name), *options, program, str(folder)]

    manifest = HERE / "rust" / "Cargo.toml"
    locked = tomllib.loads(manifest.with_name("Cargo.lock").read_text())["package"]
    version = max(package["version"] for package in locked if package["name"] == crate)
    build = _cargo("--bin", name, "--manifest-path", str(manifest), "--target-dir", str(RUST))
    return Engine(name, version, {option: way(option) for option in ways} or {"": way()}, build)


def _python(name: str, package: str) -> Engine:
    """An engine that comes as a package of Python."""

    def command(program: str, folder: Path) -> list[str]:
        return [sys.executable, str(HERE / f"in_{name}.py"), program, str(folder)]

    return Engine(name, metadata.version(package), {"": command})


def engines(names: list[str]) -> list[Engine]:
    """The engines with these names, ours first; all of them if there are none."""
    every = [
        _ours(),
        _rust("ascent", "ascent", ("serial", "parallel")),
        _rust("flowlog", "flowlog-build"),
        _rust("differential", "differential-dataflow"),
        _python("duckdb", "duckdb"),
        _python("cozo", "cozo-embedded"),
        _python("kuzu", "kuzu"),
        _python("polars", "polars"),
    ]
    known = [engine.name for engine in every]
    if unknown := set(names) - set(known):
        raise SystemExit(f"no engine {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [engine for engine in every if not names or engine.name in names]
