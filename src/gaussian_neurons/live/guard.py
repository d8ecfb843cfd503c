"""Who may talk to the server: the right Host, the right Origin, and where it is asked for, the token."""

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
NEEDS_TOKEN = 4401  # why a WebSocket is closed
DOCUMENT = "/"
PATIENCE = 10.0  # seconds for a whole request
ADDRESS = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+?)\.?)(?::[0-9]{1,5})?", re.IGNORECASE)


class Guard:
    """An ASGI application in front of another, which gets to see only what may pass.

    Another page in the same browser can send requests here, but it cannot choose what the browser writes
    into Host and Origin. A name that was made to point here (DNS rebinding) is no name of ours.

    Parameters
    ----------
    app : the application behind
    host : the address that is listened on
    token : what must be known, or None where only this machine can ask
    """

    def __init__(self, app: App, host: str, token: str | None) -> None:
        self.app, self.token = app, token
        self.host = host.strip("[]").lower()
        self.only_here = self.host in LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        trouble = self._trouble(scope)
        if trouble is not None:
            await _refuse(scope, receive, send, 403, trouble)
        elif self.token is None or (self._knows(scope) and not self._given(scope)):
            await self.app(scope, receive, _with_headers(send, _header(scope, b"host")))
        elif scope["type"] == "websocket":  # accepted, since a page can read only then why it was closed
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": NEEDS_TOKEN, "reason": "the token is missing"})
        else:  # one that is known already is taken out of the address all the same
            await self._ask_for_token(scope, receive, send)

    def _trouble(self, scope: Scope) -> str | None:
        """What is wrong with where a request comes from or goes to."""
        host = _header(scope, b"host")
        if not self._is_ours(_name_of(host)):
            return f"{host[:80]!r} is no name of this server. Use the address that it printed."
        origin = _header(scope, b"origin")
        if (scope["type"] == "websocket" or origin) and origin not in (f"http://{host}", f"https://{host}"):
            return f"a page from {origin[:80]!r} may not talk to this server."
        site = _header(scope, b"sec-fetch-site")
        if scope.get("path") != DOCUMENT and site not in ("", "none", "same-origin"):
            return "another page may not ask for this."
        return None

    def _is_ours(self, name: str) -> bool:
        if name in LOOPBACK or (name and name == self.host):
            return True
        if self.only_here:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            own = socket.gethostname().lower()
            return name in (own, f"{own}.local", own.split(".")[0])
        return True

    def _knows(self, scope: Scope) -> bool:
        cookies = (cookie.strip().partition("=") for cookie in _header(scope, b"cookie").split(";"))
        wanted = _cookie_of(scope)
        return any(name == wanted and self._is_token(value) for name, _, value in cookies)

    def _given(self, scope: Scope) -> bool:
        """Whether the address has the token in it, where it is kept from then on."""
        return scope.get("path") == DOCUMENT and any(
            name == "token" and self._is_token(value) for name, value in _query(scope)
        )

    def _is_token(self, text: str) -> bool:
        return self.token is not None and secrets.compare_digest(text.encode(), self.token.encode())

    async def _ask_for_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the token out of the address and keep it in a cookie, or say where it is to be found."""
        query = _query(scope)
        given = [value for name, value in query if name == "token"]
        if scope["path"] == DOCUMENT and any(map(self._is_token, given)):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            where = f"{DOCUMENT}?{rest}" if rest else DOCUMENT
            cookie = f"{_cookie_of(scope)}={self.token}; HttpOnly; SameSite=Lax; Path=/"
            headers = [(b"location", where.encode("latin-1")), (b"set-cookie", cookie.encode())]
            await _respond(send, 303, "", headers)
            return
        what = "is not the one that it printed" if given else "is missing"
        await _refuse(
            scope,
            receive,
            send,
            401,
            f"the token {what}. Open the address that gaussian-neurons live printed in its terminal, with "
            f"?token=... at its end.",
        )


class Impatient(H11Protocol):
    """HTTP that hangs up on whoever takes more than `PATIENCE` seconds for a request, however often a letter
    of it arrives: a few hundred that never end would keep everybody else out."""

    _waiting: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._wait()  # first: the next may be here already, and become a WebSocket
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._waiting.cancel()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Wait no more: a WebSocket stays open, and has rules of its own."""
        self._waiting.cancel()
        super().handle_websocket_upgrade(event)

    def _wait(self) -> None:
        if hasattr(self, "_waiting"):
            self._waiting.cancel()
        self._waiting = self.loop.call_later(PATIENCE, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(18)


def _header(scope: Scope, name: bytes) -> str:
    """A header, empty where it is missing; one that is there twice is all of it, and so no right one."""
    return b"; ".join(value for key, value in scope["headers"] if key.lower() == name).decode("latin-1")


def _cookie_of(scope: Scope) -> str:
    """What the cookie is called: browsers tell ports apart by nothing else."""
    port = _header(scope, b"host").rpartition(":")[2]
    return f"{COOKIE}-{port}" if port.isdecimal() else COOKIE


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def _name_of(host: str) -> str:
    """The name in name:port or [address]:port; empty where it is neither."""
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
    """Let every answer say what the page may do: load from here, connect to here, and nothing else."""
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        f"connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors 'none'"
    )

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = [*message.get("headers", ()), *_SECURITY, (b"content-security-policy", policy.encode())]
            message = {**message, "headers": own}
        await send(message)

    return sending


_SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
