"""The manual as a site, in a real browser."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make site` builds it: a link that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    settings = REPOSITORY / "packaging/site/mkdocs.yml"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", settings, "-d", folder],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_of_the_manual_is_there(site: Path) -> None:
    pages = {path.stem for path in (REPOSITORY / "docs").glob("*.md")}
    assert pages <= {path.stem for path in site.glob("*.html")}
    # Those that no menu leads to are lost.
    menu = (site / "index.html").read_text()
    assert {page for page in pages if f'href="{page}.html"' not in menu} <= {"index"}


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Quiet(SimpleHTTPRequestHandler):
    """Logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


def test_it_is_read_and_searched(address: str, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/index.html")
    expect(page.locator("h1").first).to_contain_text("Stratalog")
    expect(page.get_by_text("+controls(X, Y) <- owns(X, Y, Share), Share > 0.5").first).to_be_visible()
    page.get_by_placeholder("Search").click()
    page.get_by_placeholder("Search").press_sequentially("reciprocal rank fusion")
    found = page.locator(".md-search-result__item a", has_text="reciprocal rank fusion")
    found = found.filter(visible=True).first
    expect(found).to_be_visible(timeout=30_000)
    found.click()
    expect(page).to_have_url(re.compile("language|functions|indexes"))
    # Nothing is fetched from elsewhere.
    assert all(url.startswith((address, "data:", "blob:")) for url in asked), asked
    page.close()
