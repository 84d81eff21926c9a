"""Users and API keys: logging in with a key, what is refused, and what becomes of a client whose key goes."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import stratalog
from conftest import PASSWORD, cli
from local_server import LocalServer

_REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def admin(server: LocalServer) -> Iterator[stratalog.Client]:
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as client:
        yield client


@pytest.fixture
def key(admin: stratalog.Client) -> Iterator[str]:
    """A key of admin, while the test runs."""
    created = admin.query(".apikey create ci")
    assert created.columns == ["api_key", "label"]
    yield str(created.rows()[0][0])
    if any(row[0] == "ci" for row in admin.query(".apikey list").rows()):
        admin.execute(".apikey revoke ci")


def test_a_key_logs_in(server: LocalServer, key: str) -> None:
    with stratalog.connect(server.url, api_key=key) as db:
        assert db.session.role == "admin"
        assert ("admin", "admin") in db.query(".user list").rows()


def test_the_key_may_come_from_the_environment(
    server: LocalServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", key)
    with stratalog.connect(server.url) as db:
        assert db.session.role == "admin"


def test_the_asynchronous_client_takes_a_key(server: LocalServer, key: str) -> None:
    async def role() -> str:
        async with await stratalog.connect_async(server.url, api_key=key) as db:
            return db.session.role

    assert asyncio.run(role()) == "admin"


def test_a_wrong_key_is_refused(server: LocalServer) -> None:
    with pytest.raises(stratalog.AuthError):
        stratalog.connect(server.url, api_key="0" * 64)


def test_a_revoked_key_ends_its_session(server: LocalServer, admin: stratalog.Client, key: str) -> None:
    with stratalog.connect(server.url, api_key=key) as robot:
        robot.query(".kg list")
        admin.execute(".apikey revoke ci")
        with pytest.raises(stratalog.Error, match="revoked"):
            robot.query(".kg list")
    with pytest.raises(stratalog.AuthError):
        stratalog.connect(server.url, api_key=key)


def test_rights_are_errors_of_their_own_class(server: LocalServer, admin: stratalog.Client) -> None:
    admin.execute(".user create ada lace viewer")
    try:
        with stratalog.connect(server.url, user="ada", password="lace") as ada:
            with pytest.raises(stratalog.AccessDenied):
                ada.insert("p", [1])
            with pytest.raises(stratalog.AccessDenied):
                ada.create_kg("lab")
            with pytest.raises(stratalog.NotFound):
                ada.use("lab")
    finally:
        admin.execute(".user drop ada")


def test_an_error_does_not_show_the_password(admin: stratalog.Client) -> None:
    for program in (".user create ada s3cret king", "?p(X)\n.USER create\n  ada s3cret\n  king"):
        with pytest.raises(stratalog.ParseError) as caught:
            admin.execute(program)
        assert "s3cret" not in str(caught.value)
        assert "ada ******" in str(caught.value) or "****" in str(caught.value)


@pytest.mark.parametrize("by_variable", [True, False])
def test_the_command_line_takes_a_key(server: LocalServer, key: str, by_variable: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STRATALOG_")}
    command = [str(cli()), "--url", server.url, "--format", "csv", "--no-header", "-c", ".user list"]
    if by_variable:
        environment["SERVICE_API_KEY"] = key
    else:
        command += ["--api-key", key]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()[0]) == (0, "admin,admin"), done.stderr
    environment["SERVICE_API_KEY"] = "0" * 64
    done = subprocess.run(command[:8], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "invalid API key" in done.stderr
