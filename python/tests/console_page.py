"""The console in a real browser, as its tests use it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from conftest import PASSWORD
from local_server import LocalServer

#: A loaded machine takes its time.
expect.set_options(timeout=30_000)

CONSOLE = Path(__file__).resolve().parents[2] / "console"


class Console:
    """A page of its own, which knows what has gone wrong in it."""

    def __init__(
        self, browser: Browser, server: LocalServer, width: int = 1280, scheme: Any = "light"
    ) -> None:
        self.server = server
        self.address = server.url.replace("ws:", "http:")
        self.context: BrowserContext = browser.new_context(
            permissions=["clipboard-read", "clipboard-write"],
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(20_000)
        # While one works on the console: built files of a folder in the place of those in the binary.
        if folder := os.environ.get("STRATALOG_CONSOLE_FILES"):
            self.context.route(
                re.compile(r"/console/[^/]+\.(js|css)$"),
                lambda route: route.fulfill(path=Path(folder) / route.request.url.rsplit("/", 1)[1]),
            )
        self.page: Page = self.context.new_page()
        self.faults: list[str] = []
        self.asked: set[str] = set()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self._said(message.type, message.text))
        self.page.on("request", lambda request: self.asked.add(request.url))

    def _said(self, kind: str, text: str) -> None:
        # A server that is away shows as an error of the network, which is no fault of the page.
        if kind == "error" and "WebSocket connection" not in text and "net::ERR" not in text:
            self.faults.append(text)

    def open(
        self, fragment: str = "", user: str = "admin", password: str = PASSWORD, *, keep: bool = False
    ) -> None:
        """Logs in, and is where the fragment says."""
        self.page.goto(f"{self.address}/console{fragment}")
        self.page.get_by_label("User", exact=True).fill(user)
        self.page.get_by_label("Password", exact=True).fill(password)
        if keep:
            self.page.get_by_label("Stay logged in").check()
        self.page.get_by_role("button", name="Log in").click()
        expect(self.page.locator(".state")).to_have_text("connected")

    def open_by_key(self, key: str, fragment: str = "") -> None:
        """The same with an API key."""
        self.page.goto(f"{self.address}/console{fragment}")
        self.page.get_by_label("an API key").check()
        self.page.get_by_label("API key", exact=True).fill(key)
        self.page.keyboard.press("Enter")
        expect(self.page.locator(".state")).to_have_text("connected")

    def go(self, graph: str, view: str, **values: str) -> None:
        """Goes to a place of the page, as an address that somebody has been sent would."""
        query = "&".join(f"{name}={encoded(value)}" for name, value in values.items())
        self.page.evaluate(
            "fragment => { location.hash = fragment }", f"#/{graph}/{view}" + ("?" + query if query else "")
        )
        expect(self.page.get_by_label("Knowledge graph")).to_have_value(graph)

    def write(self, program: str, label: str = "Program") -> None:
        """Puts a program into an editor, in place of what is there."""
        field = self.page.get_by_role("textbox", name=label)
        field.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(program)
        # An offer that stands open would take the next key.
        self.page.keyboard.press("Escape")

    def ask(self, program: str) -> None:
        """Runs a program."""
        self.write(program)
        self.page.keyboard.press("Control+Enter")

    def rows(self, name: str = "Answer") -> list[list[str]]:
        """The rows of a table that can be seen, without their numbers."""
        return [
            [cell.inner_text() for cell in row.get_by_role("gridcell").all()]
            for row in self.page.get_by_role("grid", name=name).get_by_role("row").all()[1:]
        ]

    def axe(self) -> list[str]:
        """What axe-core finds."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate((CONSOLE / "node_modules/axe-core/axe.min.js").read_text())
        found = self.page.evaluate("axe.run({ resultTypes: ['violations'] })")
        return [
            f"{each['id']}: {each['help']} {[node['html'][:200] for node in each['nodes'][:3]]}"
            for each in found["violations"]
        ]

    def fits(self) -> bool:
        """Whether nothing is wider than the window."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    def close(self) -> None:
        """Ends it; nothing may have gone wrong."""
        # Before it has gone anywhere, it may not even ask.
        is_open = self.page.url.startswith("http")
        kept = (
            str(self.page.evaluate("JSON.stringify([{...localStorage}, document.cookie])")) if is_open else ""
        )
        self.context.close()
        assert self.faults == [], self.faults
        assert all(
            url.startswith((self.address, self.address.replace("http:", "ws:"), "data:", "blob:"))
            for url in self.asked
        ), self.asked
        assert not any(PASSWORD in url for url in self.asked), self.asked
        assert PASSWORD not in kept


def encoded(text: str) -> str:
    """For a fragment."""
    return re.sub(
        r"[^\w.~-]",
        lambda sign: "".join(f"%{byte:02X}" for byte in sign.group().encode()),
        text,
        flags=re.ASCII,
    )


def json_of(text: str) -> Any:
    """A JSON text."""
    return json.loads(text)
