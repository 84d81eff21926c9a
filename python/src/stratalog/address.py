"""Where the server is and who we are: from arguments, or from the environment."""

from __future__ import annotations

import os
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from . import errors

DEFAULT_URL = "ws://127.0.0.1:8080/ws"


def server_url(url: str | None) -> str:
    """The URL as given, or from STRATALOG_URL, or the local server."""
    return url or os.environ.get("STRATALOG_URL") or DEFAULT_URL


def address(url: str, kg: str, last_seq: int | str | None = None) -> str:
    """The WebSocket address for any form of URL that a person may write.

    With `last_seq`, notifications after that number come first; with an empty one the greeting tells the
    number.
    """
    if "://" not in url:
        url = f"ws://{url}"
    parts = urlsplit(url)
    scheme = {"ws": "ws", "http": "ws", "wss": "wss", "https": "wss"}.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as ws://127.0.0.1:8080/ws or http://127.0.0.1:8080")
    query = dict(parse_qsl(parts.query))
    query.setdefault("kg", kg)
    if last_seq is not None:
        query["last_seq"] = str(last_seq)
    path = parts.path if parts.path.strip("/") else "/ws"
    return urlunsplit((scheme, parts.netloc, path, urlencode(query), ""))


def session_address(url: str, session_id: str, last_seq: int | None) -> str:
    """Another way into a session that exists; `url` is where it was opened."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/ws") + f"/sessions/{session_id}/ws"
    query = urlencode({"last_seq": "" if last_seq is None else last_seq})
    return urlunsplit(parts._replace(path=path, query=query))


def without_graph(url: str) -> str:
    """The address, for a connection to another graph."""
    parts = urlsplit(url if "://" in url else f"ws://{url}")
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("kg", "last_seq")]
    return urlunsplit(parts._replace(query=urlencode(query)))


def credentials(user: str | None, password: str | None, api_key: str | None) -> dict[str, str]:
    """The first message. What is given wins over the environment, and there a key wins over a password."""
    if user is not None and api_key is not None:
        raise errors.AuthError("give either user and password, or api_key")
    if user is None and password is None:
        api_key = api_key or os.environ.get("SERVICE_API_KEY")
        if api_key:
            return {"type": "authenticate", "api_key": api_key}
        user = os.environ.get("STRATALOG_USER")
    password = password if password is not None else os.environ.get("STRATALOG_PASSWORD")
    if password is not None:
        return {"type": "login", "username": user or "admin", "password": password}
    if user is not None:
        raise errors.AuthError(f"no password given for the user {user!r}")
    raise errors.AuthError(
        "no credentials",
        help="give user and password, or api_key, or set the environment variable SERVICE_API_KEY, or "
        "STRATALOG_USER and STRATALOG_PASSWORD",
    )


def graph_name(name: str) -> str:
    """A name that can stand in a command: commands are split at blanks."""
    return word(name, "of a graph")


def word(text: str, what: str) -> str:
    """A word of a command."""
    if not text or any(char.isspace() or not char.isprintable() for char in text):
        raise ValueError(f"{text!r} cannot be the name {what}: it must not be empty or hold blanks")
    return text
