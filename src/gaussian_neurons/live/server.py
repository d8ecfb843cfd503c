"""The server: hands out the page, passes messages to the run, and what the run tells to every tab."""

import asyncio
import errno
import itertools
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from gaussian_neurons.live import messages
from gaussian_neurons.live.guard import Guard, Impatient
from gaussian_neurons.live.presets import presets
from gaussian_neurons.live.run import Run, Told, saved
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Sources
from gaussian_neurons.live.trial import Trial

MOST_CLIENTS = 24
MOST_EVENTS, MOST_BYTES = 256, 8 << 20  # that wait for a tab; one that is so far behind has to begin anew
STALLED = 20.0  # seconds in which a tab takes nothing: it may be there, but nobody is looking
GREETING = 10.0  # seconds until a tab has said hello
TOO_MANY_CLIENTS, BEHIND = 4429, 1013  # why a WebSocket is closed
SENT_AHEAD = 256 * 1024  # bytes
PORT = 8765
NEXT_PORTS = 20  # tried in turn where nobody asked for a certain one
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class Client:
    """What waits for one tab: the newest frame only, and everything else in its order."""

    def __init__(self) -> None:
        self.frame: bytes | None = None
        self.events: deque[str | bytes] = deque()
        self.waiting = 0  # bytes of events
        self.wake = asyncio.Event()
        self.behind = False
        self.greeted = False

    def tell(self, data: str | bytes, is_frame: bool) -> None:
        """Have it sent, when its turn comes."""
        if is_frame:
            assert isinstance(data, bytes)
            self.frame = data
        elif len(self.events) >= MOST_EVENTS or self.waiting + len(data) > MOST_BYTES:
            self.behind = True
        elif not self.events or self.events[-1] != data:
            self.events.append(data)
            self.waiting += len(data)
        self.wake.set()

    def next(self) -> str | bytes | None:
        """What is to be sent next, None where nothing waits."""
        if self.events:
            data = self.events.popleft()
            self.waiting -= len(data)
            return data
        frame, self.frame = self.frame, None
        return frame

    def refuse(self, why: str) -> None:
        """Say what was wrong with a message."""
        self.tell(json.dumps({"type": "notice", "level": "error", "text": why}), is_frame=False)


class Page:
    """The application: one run, and the tabs that watch it."""

    def __init__(self, sources: Sources, setup: Setup) -> None:
        self.clients: dict[int, Client] = {}
        self._numbers = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.run = Run(sources, setup, presets(sources), self._told)
        self.app = Starlette(
            routes=[
                Route("/", self._file),
                Route("/page/{name}", self._file),
                Route("/model.safetensors", self._model),
                Route("/script.py", self._script),
                WebSocketRoute("/live", self._live),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self.run.start()
        try:
            yield
        finally:
            await asyncio.to_thread(self.run.stop)

    def _told(self, told: Told) -> None:
        """Called in the run's thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._pass_on, told)

    def _pass_on(self, told: Told) -> None:
        for number, client in self.clients.items():
            if client.greeted and told.to in (None, number):
                client.tell(told.data, told.is_frame)

    # ---- files ------------------------------------------------------------------------------------

    async def _file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        found = {file.name: file for file in files("gaussian_neurons.live.page").iterdir() if file.is_file()}
        kind = KINDS.get(name.rpartition(".")[2])
        if name not in found or kind is None:
            return PlainTextResponse("There is no such page.\n", 404)
        text = found[name].read_text(encoding="utf-8")
        return Response(text, media_type=kind, headers={"cache-control": "no-cache"})

    async def _model(self, request: Request) -> Response:
        try:
            data = await asyncio.wrap_future(self.run.ask(saved))
        except OSError as error:
            return PlainTextResponse(f"The model cannot be saved: {error.strerror or error}.\n", 503)
        return _download(data, "application/octet-stream", "model.safetensors")

    async def _script(self, request: Request) -> Response:
        text = await asyncio.wrap_future(self.run.ask(Trial.script))
        return _download(text, "text/x-python", "gaussian_neurons_run.py")

    # ---- tabs -------------------------------------------------------------------------------------

    async def _live(self, socket: WebSocket) -> None:
        await socket.accept()
        if len(self.clients) >= MOST_CLIENTS:
            await socket.close(TOO_MANY_CLIENTS, f"{MOST_CLIENTS} tabs are open already")
            return
        number, client = next(self._numbers), Client()
        self.clients[number] = client
        sending = asyncio.create_task(_send(socket, client))
        listening = asyncio.create_task(self._listen(socket, number, client))
        try:
            with suppress(asyncio.CancelledError):  # the server ends
                await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self.clients[number]
            self.run.left(number)
            for task in (sending, listening):
                task.cancel()
            await asyncio.gather(sending, listening, return_exceptions=True)

    async def _listen(self, socket: WebSocket, number: int, client: Client) -> None:
        while True:
            patience = None if client.greeted else GREETING
            message = await asyncio.wait_for(socket.receive(), patience)
            if message["type"] != "websocket.receive":
                return
            try:
                self._hear(message.get("text"), number, client)
            except ValueError as error:
                client.refuse(str(error))
            await asyncio.sleep(0)  # a tab that talks without end is not heard alone

    def _hear(self, text: str | None, number: int, client: Client) -> None:
        if text is None:
            raise ValueError("a message must be text.")
        if len(text) > messages.LONGEST:
            raise ValueError(f"a message may have {messages.LONGEST:,} characters, got {len(text):,}.")
        do, arguments = messages.read(text)
        if (do == "hello") == client.greeted:
            raise ValueError("hello comes first, and once.")
        if not self.run.order(number, (do, arguments)):
            raise ValueError(f"too much is asked for at once: {do} was left out.")
        client.greeted = True


async def _send(socket: WebSocket, client: Client) -> None:
    """Send what waits, as fast as the tab takes it; of frames the newest."""
    with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        while not client.behind:
            await client.wake.wait()
            client.wake.clear()
            while not client.behind and (data := client.next()) is not None:
                send = socket.send_text if isinstance(data, str) else socket.send_bytes
                await asyncio.wait_for(send(data), STALLED)  # type: ignore[arg-type]
                await asyncio.sleep(0)  # a tab that is gone is found out before the next
        await asyncio.wait_for(socket.close(BEHIND, "too far behind"), STALLED)


def _download(data: bytes | str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(data, media_type=kind, headers=headers)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on that address; where no port is asked for, the usual one or one of the next that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tries = range(PORT, PORT + NEXT_PORTS) if port is None else (port,)
    for number in tries:
        try:
            bound = socket.create_server((host.strip("[]"), number), family=family)
        except OSError as error:
            taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
            if not taken or number == tries[-1]:
                why, option = error.strerror or str(error), "--port" if taken else "--host"
                raise OSError(
                    f"cannot listen on {host} port {number}: {why}. Choose another with {option}."
                ) from None
        else:
            # What the system holds for a slow tab is old when it comes: half a second of frames is enough
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENT_AHEAD)
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # who takes nothing keeps no connection
                bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * STALLED))
            return bound
    raise AssertionError


def server(page: Page, host: str, token: str | None) -> uvicorn.Server:
    """A server of the page, to be run with a socket."""
    config = uvicorn.Config(
        Guard(page.app, host, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        http=Impatient,
        ws="websockets-sansio",
        ws_max_size=messages.LONGEST,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
        limit_concurrency=200,
    )
    return uvicorn.Server(config)


def address(bound: socket.socket, host: str, token: str | None) -> str:
    """Where the page is to be found."""
    port = bound.getsockname()[1]
    name = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name and not name.startswith("[") else name
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def serve(page: Page, bound: socket.socket, host: str, token: str | None, ready: Callable[[], Any]) -> None:
    """Serve until Ctrl-C; `ready` is called once somebody can come."""
    running = server(page, host, token)
    startup = running.startup

    async def started(sockets: Any = None) -> None:
        await startup(sockets=sockets)
        ready()

    def end(sig: int, frame: object) -> None:
        running.should_exit = True  # a second Ctrl-C finds it on its way

    running.startup = started  # type: ignore[method-assign]
    running.handle_exit = end  # type: ignore[method-assign]
    with suppress(KeyboardInterrupt):
        running.run(sockets=[bound])
