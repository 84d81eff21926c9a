"""What the wheel and the source distribution have beside the sources of Python.

A wheel has the native module and the executables, which Cargo builds first, and is one for its platform and
every Python from 3.11 on; with STRATALOG_PURE=1 it has neither, runs anywhere, and only asks servers.
A source distribution has the sources of all of that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

#: The Rust workspace in a source distribution.
RUST = "rust"
#: What it consists of; the rest of the repository is no part of it.
SOURCES = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "engine",
    "language",
    "protocol",
    "server",
    "client",
    "python/native",
    "editors/tree-sitter-stratalog",
    "tests",
    "benches",
]
NOT_SOURCES = [":!benches/peers", ":!tests/validators"]
#: Together and for all packages, as `make` does it: else features of libraries differ, and all is built anew.
BUILD = ["cargo", "build", "--release", "--locked", "--workspace", "--lib", "--bins"]
EXECUTABLES = ["stratalog", "stratalog-server"]


class Native(BuildHookInterface[Any]):
    """Adds what is not Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before files are gathered."""
        root = Path(self.root)
        if self.target_name == "sdist":
            build_data["force_include"].update(_rust_sources(root))
        elif version != "editable" and not os.environ.get("STRATALOG_PURE"):
            self._build(root, build_data)

    def _build(self, root: Path, build_data: dict[str, Any]) -> None:
        unpacked = root / RUST
        workspace = unpacked if unpacked.is_dir() else root.parent
        subprocess.run(BUILD, cwd=workspace, check=True, stdout=sys.stderr)
        built = workspace / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
        stripped = Path(self.directory) / "stripped"
        stripped.mkdir(parents=True, exist_ok=True)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{next(platform_tags())}"
        library = built / f"libstratalog_native.{'dylib' if sys.platform == 'darwin' else 'so'}"
        build_data["force_include"][_strip(library, stripped)] = "stratalog/_native.abi3.so"
        for name in EXECUTABLES:
            build_data["shared_scripts"][_strip(built / name, stripped)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when it is built."""
        shutil.rmtree(Path(self.directory) / "stripped", ignore_errors=True)


def _strip(path: Path, folder: Path) -> str:
    """A copy without what only debuggers read, where there is a tool for that."""
    copy = folder / path.name
    shutil.copy(path, copy)
    if tool := shutil.which("strip"):
        subprocess.run([tool, "-x" if sys.platform == "darwin" else "--strip-unneeded", copy], check=True)
    return str(copy)


def _rust_sources(root: Path) -> dict[str, str]:
    """Each file of the workspace, and where it is in the distribution."""
    unpacked = root / RUST
    if unpacked.is_dir():
        return {str(path): str(path.relative_to(root)) for path in unpacked.rglob("*") if path.is_file()}
    command = ["git", "ls-files", "-z", "--", *SOURCES, *NOT_SOURCES]
    listed = subprocess.run(command, cwd=root.parent, check=True, capture_output=True, text=True).stdout
    return {str(root.parent / name): f"{RUST}/{name}" for name in listed.split("\0") if name}
