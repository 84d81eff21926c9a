"""`new_file`: a file that appears under its name when it is complete, and otherwise not at all.

Its bytes go to another file of the same folder, which takes the name at the end, and the rights of the file
that had the name before. What is no regular file (a device, a pipe) is written to as it is; a link stays a
link.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

#: Whoever redirects to a file, and names the redirection, has a place in that file.
_REDIRECTED = ("/dev/std", "/dev/fd/", "/proc/")


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """What the bytes of the file are written to."""
    if str(path).startswith(_REDIRECTED):
        with path.open("ab") as place:
            yield place
        return
    try:
        # Opened to find out whether it may be written to, and what it is; nothing happens to it yet.
        found = os.open(path, os.O_WRONLY)
    except FileNotFoundError:
        target, mode = path.resolve(), None
    else:
        with os.fdopen(found, "wb") as there:
            about = os.fstat(there.fileno())
            if not stat.S_ISREG(about.st_mode):
                yield there
                return
        target, mode = path.resolve(strict=True), stat.S_IMODE(about.st_mode)
    partial, opened = _partial(target)
    try:
        with opened as out:
            if mode is not None:
                partial.chmod(mode)
            yield out
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _partial(target: Path) -> tuple[Path, BinaryIO]:
    """A file that was not there before, with the rights of every new file; `tempfile` lets nobody else in."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
        try:
            return partial, os.fdopen(os.open(partial, flags, 0o666), "wb")
        except FileExistsError:
            continue
        except FileNotFoundError as problem:
            problem.filename = str(target)
            raise
