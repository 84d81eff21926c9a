"""Makes the pictures of docs/console.md: the console on the demo's graph.

make screenshots
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

import stratalog

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "demo"))

from demo import bring_questions, define, load  # noqa: E402
from local_server import LocalServer  # noqa: E402
from questions import CONSOLE_QUESTIONS, FALLS, PACKAGE  # noqa: E402

SIZE: ViewportSize = {"width": 1280, "height": 800}
#: Until layouts and animations stand still.
STILL_MS = 2500

BASH = next(program for _, title, program, _ in CONSOLE_QUESTIONS if "bash" in title)
LARGEST = next(program for _, title, program, _ in CONSOLE_QUESTIONS if "largest" in title)


def main() -> None:
    """Starts a server, loads the graph, and goes from view to view."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs/console")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    password = secrets.token_urlsafe(12)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalServer(arguments.server.resolve(), Path(folder), password) as server,
        stratalog.connect(server.url, user="admin", password=password, timeout=300) as db,
        sync_playwright() as playwright,
    ):
        load(db)
        define(db)
        db.execute(FALLS, atomic=True)
        bring_questions(db)
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        log_in(page, server, password)
        for name, place, values in (
            ("ask", "ask/table", {"q": LARGEST}),
            ("graph", "ask/graph", {"q": BASH}),
            ("why", "why/row", {"q": '?needs("gnome", "libc6")'}),
            ("rules", "rules", {}),
            ("plan", "plan", {"q": '?needs("gnome", P), package(P, _, "web", _, _, _, _)', "measured": "1"}),
            ("live", "live", {"q": "?falls(Package)"}),
            ("server", "admin/metrics", {}),
        ):
            go(page, place, values)
            if name == "live":
                # Something that falls, while one looks.
                expect(page.get_by_role("gridcell").first).to_be_visible()
                db.execute(f"-{PACKAGE} <- {PACKAGE}", {"name": "gnome-shell"})
                page.wait_for_timeout(1000)
            elif name == "server":
                ask_much(db, page)
            else:
                page.wait_for_timeout(STILL_MS)
            if name == "ask":
                page.get_by_role("gridcell").first.click()
            page.screenshot(path=arguments.folder / f"{name}.png")
        browser.close()


def log_in(page: Page, server: LocalServer, password: str) -> None:
    """As a person does."""
    page.goto(server.url.replace("ws:", "http:") + "/console#/default/ask")
    page.get_by_label("User", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".state")).to_have_text("connected")


def go(page: Page, place: str, values: dict[str, str]) -> None:
    """To a place of the page."""
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in values.items())
    page.evaluate("fragment => { location.hash = fragment }", f"#/default/{place}?{query}")


def ask_much(db: stratalog.Client, page: Page) -> None:
    """Something for the metrics to show."""
    for _ in range(6):
        for _ in range(100):
            db.query("?needs($package, Q)", {"package": "bash"})
        page.wait_for_timeout(4000)


if __name__ == "__main__":
    main()
