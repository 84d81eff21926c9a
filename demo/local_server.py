"""`LocalServer`: a server executable that this process started, on a free port of 127.0.0.1."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

_LISTENING = re.compile(r"listening on http://(127\.0\.0\.1:\d+)")
_START_SECONDS = 60.0
_STOP_SECONDS = 40.0


class LocalServer:
    """Starts with the object, and stops with `stop`, by its process id."""

    def __init__(
        self, executable: Path, data: Path, password: str, settings: dict[str, str] | None = None
    ) -> None:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("SERVICE_")}
        environment = inherited | {"SERVICE_ADMIN_PASSWORD": password} | (settings or {})
        # A session of its own: Ctrl-C at the terminal reaches us, and we decide when the server stops.
        self._process = subprocess.Popen(
            [str(executable), "--host", "127.0.0.1", "--port", "0", "--data-dir", str(data)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        #: What the server has written, line by line.
        self.log: list[str] = []
        self._address: str | None = None
        self._announced = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        if not self._announced.wait(_START_SECONDS) or self._address is None:
            self.stop()
            raise RuntimeError("the server did not start:\n" + "\n".join(self.log))

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

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self.log.append(line.rstrip())
                if (found := _LISTENING.search(line)) is not None:
                    self._address = found[1]
                    self._announced.set()
        # The end of its output is the end of the server: nobody needs to wait any longer.
        self._announced.set()
