"""`LocalServer`: a server executable that this process started, on a free port of 127.0.0.1."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_LISTENING = re.compile(r"listening on http://(127\.0\.0\.1:\d+)\s")
_START_SECONDS = 60.0
_STOP_SECONDS = 40.0


class LocalServer:
    """Starts with the object, and stops with `stop`, by its process id.

    Data and log lie in `folder`. The log is a file, so that a server which outlives us can go on writing it.
    """

    def __init__(
        self,
        executable: Path,
        folder: Path,
        password: str,
        settings: dict[str, str] | None = None,
        port: int = 0,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "server.log"
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("SERVICE_")}
        environment = inherited | {"SERVICE_ADMIN_PASSWORD": password} | (settings or {})
        with self._log.open("wb") as log:
            # A session of its own: Ctrl-C at the terminal reaches us, and we decide when the server stops.
            self._process = subprocess.Popen(
                [
                    str(executable),
                    *f"--host 127.0.0.1 --port {port} --data-dir".split(),
                    str(folder / "data"),
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._address = self._announced()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        return f"ws://{self._address}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> int:
        """Stops the server in order; its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        return self._process.returncode

    def kill(self) -> None:
        """Ends the server at once, as a crash would."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def log(self) -> str:
        """What the server has written."""
        return self._log.read_text(errors="replace")

    def _announced(self) -> str:
        """Waits for the line that tells the port."""
        deadline = time.monotonic() + _START_SECONDS
        while (found := _LISTENING.search(self.log)) is None:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{self.log}")
            time.sleep(0.01)
        return found[1]
