"""Turns a Debian package index into the relations of the demo: one Parquet file each.

    python demo/extract_packages.py /var/lib/apt/lists/*bookworm_main_binary-amd64_Packages.lz4

The index may be plain, .gz, .xz or .lz4 (read through apt's own helper). One row a fact, no row twice.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

DATA = Path(__file__).parent / "data"
#: A package name; what follows it is a version, an architecture, or a build profile.
_NAME = re.compile(r"\s*([a-z0-9][a-z0-9+.-]*)")
#: Relation → the index fields that it comes from.
LINKS = {
    "depends": ("Pre-Depends", "Depends"),
    "recommends": ("Recommends",),
    "suggests": ("Suggests",),
    "conflicts": ("Conflicts", "Breaks"),
    "provides": ("Provides",),
}

Stanza = dict[str, str]


def main() -> None:
    """Reads the index named on the command line and writes the files."""
    parser = argparse.ArgumentParser(description="Extract the demo's relations from a Debian package index.")
    parser.add_argument("index", type=Path, help="a Packages file: plain, .gz, .xz or .lz4")
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write to (default: demo/data)")
    arguments = parser.parse_args()
    relations = extract(read_index(arguments.index))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, frame in relations.items():
        path = arguments.out / f"{name}.parquet"
        frame.write_parquet(path, compression="zstd", compression_level=19)
        print(f"{name:12} {frame.height:>8,} rows {path.stat().st_size / 1024:>8,.0f} KiB")


def read_index(path: Path) -> str:
    """The text of an index, however it is compressed."""
    match path.suffix:
        case ".gz":
            return gzip.decompress(path.read_bytes()).decode()
        case ".xz":
            return lzma.decompress(path.read_bytes()).decode()
        case ".lz4":
            command = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
            return subprocess.run(command, check=True, capture_output=True).stdout.decode()
        case _:
            return path.read_text(encoding="utf-8")


def extract(text: str) -> dict[str, pl.DataFrame]:
    """The relations of an index. A package with several versions counts with the first that is listed."""
    packages: dict[str, Stanza] = {}
    for stanza in stanzas(text):
        packages.setdefault(stanza["Package"], stanza)
    frames = {"package": _packages(packages)}
    for relation, fields in LINKS.items():
        second = "virtual" if relation == "provides" else "other" if relation == "conflicts" else "on"
        rows = _pairs(packages, fields, every=relation in ("conflicts", "provides"))
        frames[relation] = pl.DataFrame(
            rows, schema={"package": pl.String, second: pl.String}, orient="row"
        ).unique(maintain_order=True)
    essential = [name for name, stanza in packages.items() if stanza.get("Essential") == "yes"]
    frames["essential"] = pl.DataFrame({"package": essential}, schema={"package": pl.String})
    return frames


def stanzas(text: str) -> Iterator[Stanza]:
    """The paragraphs of an index; folded lines are joined to their field."""
    for paragraph in text.split("\n\n"):
        stanza: Stanza = {}
        field = ""
        for line in paragraph.splitlines():
            if line.startswith((" ", "\t")):
                stanza[field] += line
            else:
                field, _, value = line.partition(":")
                stanza[field] = value.strip()
        if "Package" in stanza:
            yield stanza


def first_alternatives(field: str) -> list[str]:
    """`a (>= 1) | b, c:any` → `a`, `c`."""
    return [found[1] for clause in field.split(",") if (found := _NAME.match(clause))]


def all_names(field: str) -> list[str]:
    """Every name of a field, alternatives too."""
    return first_alternatives(field.replace("|", ","))


def _packages(packages: dict[str, Stanza]) -> pl.DataFrame:
    rows = [
        (
            name,
            stanza["Version"],
            stanza["Section"],
            int(stanza.get("Installed-Size", "0")),
            stanza["Maintainer"],
            # Without a Source field the source has the package's name; a version may follow in brackets.
            stanza.get("Source", name).split(" ")[0],
            stanza["Priority"],
        )
        for name, stanza in packages.items()
    ]
    schema = {
        "name": pl.String,
        "version": pl.String,
        "section": pl.String,
        "installed_kib": pl.Int64,
        "maintainer": pl.String,
        "source": pl.String,
        "priority": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _pairs(packages: dict[str, Stanza], fields: Iterable[str], *, every: bool) -> list[tuple[str, str]]:
    names = all_names if every else first_alternatives
    return [
        (package, other)
        for package, stanza in packages.items()
        for field in fields
        for other in names(stanza.get(field, ""))
    ]


if __name__ == "__main__":
    main()
