"""Access control: every request needs a valid Host and Origin, and a token if other machines have access."""

import asyncio
import ipaddress
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from uvicorn.protocols.http.h11_impl import H11Protocol

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "gaussian-neurons-token"
NEEDS_TOKEN = 4401  # code with which a WebSocket is closed
DOCUMENT = "/"
REQUEST_TIMEOUT = 10.0  # seconds for a whole request
MAX_CONNECTIONS = 100  # open at the same time
ADDRESS = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+?)\.?)(?::[0-9]{1,5})?", re.IGNORECASE)


class Guard:
    """An ASGI application that forwards permitted requests to another.

    Another page in the same browser can send requests to this server, but it cannot choose the headers Host
    and Origin. DNS rebinding does not help it either: the name in Host is then not one of this server.

    Parameters
    ----------
    app : the protected application
    host : the address that the server listens on
    token : the required token, or None if only this machine has access
    """

    def __init__(self, app: App, host: str, token: str | None) -> None:
        self.app, self.token = app, token
        self.host = host.strip("[]").lower()
        self.is_local = self.host in LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it with the reason."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is not None:
            await _refuse(scope, receive, send, 403, problem)
        elif self.token is None or (self._has_cookie(scope) and not self._has_token(scope)):
            await self.app(scope, receive, _with_headers(send, _header(scope, b"host")))
        elif scope["type"] == "websocket":  # accepted first: otherwise the page cannot read the code
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": NEEDS_TOKEN, "reason": "the token is missing"})
        else:  # also with a cookie, so that the token is removed from the address
            await self._exchange_token(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        """What is wrong with the origin or the destination of a request, None if both are permitted."""
        host = _header(scope, b"host")
        if not self._is_own_name(_host_name(host)):
            return f"{host[:80]!r} is not a name of this server. Use the address that the server printed."
        origin = _header(scope, b"origin")
        if (scope["type"] == "websocket" or origin) and origin not in (f"http://{host}", f"https://{host}"):
            return f"pages from {origin[:80]!r} have no access to this server."
        site = _header(scope, b"sec-fetch-site")
        if scope.get("path") != DOCUMENT and site not in ("", "none", "same-origin"):
            return "pages from other sites have no access to this server."
        return None

    def _is_own_name(self, name: str) -> bool:
        if name in LOOPBACK or (name and name == self.host):
            return True
        if self.is_local:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            own = socket.gethostname().lower()
            return name in (own, f"{own}.local", own.split(".")[0])
        return True

    def _has_cookie(self, scope: Scope) -> bool:
        cookies = (cookie.strip().partition("=") for cookie in _header(scope, b"cookie").split(";"))
        wanted = _cookie_name(scope)
        return any(name == wanted and self._is_token(value) for name, _, value in cookies)

    def _has_token(self, scope: Scope) -> bool:
        """Whether the address contains the valid token."""
        return scope.get("path") == DOCUMENT and any(
            name == "token" and self._is_token(value) for name, value in _query(scope)
        )

    def _is_token(self, text: str) -> bool:
        return self.token is not None and secrets.compare_digest(text.encode(), self.token.encode())

    async def _exchange_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Move the token from the address into a cookie, or refuse the request."""
        query = _query(scope)
        if self._has_token(scope):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            location = f"{DOCUMENT}?{rest}" if rest else DOCUMENT
            cookie = f"{_cookie_name(scope)}={self.token}; HttpOnly; SameSite=Lax; Path=/"
            headers = [(b"location", location.encode("latin-1")), (b"set-cookie", cookie.encode())]
            await _respond(send, 303, "", headers)
            return
        what = "is wrong" if any(name == "token" for name, _ in query) else "is missing"
        await _refuse(
            scope,
            receive,
            send,
            401,
            f"the token {what}. Open the address that gaussian-neurons live printed in its terminal; it ends "
            f"with ?token=...",
        )


class Connection(H11Protocol):
    """An HTTP connection that times out, and is closed if there are too many: they would block new clients.

    `REQUEST_TIMEOUT` holds for a whole request, even if parts of it arrive. If there are more than
    `MAX_CONNECTIONS`, the one that waits longest for a request is closed; if all have one, the oldest of
    these. WebSockets stay open.
    """

    _timer: asyncio.TimerHandle  # started when the connection began to wait for the last request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer, and close another connection if there are too many."""
        super().connection_made(transport)
        self._restart_timer()
        opened = [one for one in self.connections if not one.transport.is_closing()]
        if len(opened) > MAX_CONNECTIONS:
            min((one for one in opened if one is not self), key=_rank).transport.abort()

    def on_response_complete(self) -> None:
        """Restart the timer for the next request."""
        self._restart_timer()  # before super: the next request may be there already and become a WebSocket
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._timer.cancel()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop the timer: a WebSocket stays open and has its own timeouts."""
        self._timer.cancel()
        super().handle_websocket_upgrade(event)

    def _restart_timer(self) -> None:
        if hasattr(self, "_timer"):
            self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_TIMEOUT, self._time_out)

    def _time_out(self) -> None:
        if not self.is_busy:
            self.transport.close()

    @property
    def is_busy(self) -> bool:
        """Whether a request was received and its response is not complete."""
        return self.cycle is not None and not self.cycle.response_complete


def _rank(connection: Any) -> tuple[int, float]:
    """The order in which connections are closed if there are too many."""
    if isinstance(connection, Connection):
        return int(connection.is_busy), connection._timer.when()
    return 0 if connection.close_sent else 2, 0.0  # a WebSocket


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(18)


def _header(scope: Scope, name: bytes) -> str:
    """A header, empty if missing. Repeated headers are joined, which makes them invalid."""
    return b"; ".join(value for key, value in scope["headers"] if key.lower() == name).decode("latin-1")


def _cookie_name(scope: Scope) -> str:
    """The name of the cookie. It contains the port, because cookies are shared between ports."""
    port = _header(scope, b"host").rpartition(":")[2]
    return f"{COOKIE}-{port}" if port.isdecimal() else COOKIE


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _host_name(host: str) -> str:
    """The name in name:port or [address]:port, empty if it is neither."""
    found = ADDRESS.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why[:100]})
        return
    await _respond(send, status, f"Refused: {why}\n")


async def _respond(send: Send, status: int, text: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    kept = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": [*kept, *_SECURITY]})
    await send({"type": "http.response.body", "body": text.encode()})


def _with_headers(send: Send, host: str) -> Send:
    """Add a content security policy to every response: the page may use this server only."""
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        f"connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors 'none'"
    )

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            added = [*message.get("headers", ()), *_SECURITY, (b"content-security-policy", policy.encode())]
            message = {**message, "headers": added}
        await send(message)

    return sending


_SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
