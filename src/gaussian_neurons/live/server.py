"""The server: it serves the page, forwards messages to the run, and sends the run's messages to every tab."""

import asyncio
import errno
import itertools
import socket
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.resources import files

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from gaussian_neurons.live import commands
from gaussian_neurons.live.guard import Connection, Guard
from gaussian_neurons.live.presets import presets
from gaussian_neurons.live.run import Outgoing, Run, model_file
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Sources
from gaussian_neurons.live.trial import Trial

MAX_CLIENTS = 24
MAX_BYTES = 8 << 20  # that wait for a client; if exceeded, it must reconnect
SEND_TIMEOUT = 20.0  # seconds for one message
HELLO_TIMEOUT = 10.0  # seconds from the connection to hello
TOO_MANY_CLIENTS, OVERFLOW, NO_HELLO = 4429, 1013, 1008  # codes with which a WebSocket is closed
SEND_BUFFER = 256 * 1024  # bytes, half a second of frames: older frames are of no use to a slow client
BACKLOG = 32  # connections that may wait to be accepted; more could exhaust the file descriptors
PORT = 8765
PORT_TRIES = 20  # ports that are tried if none is given
PAGE = files("gaussian_neurons.live.page")
MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "png": "image/png"}


class Client:
    """The outgoing messages of one tab: all events in their order, then the newest frame."""

    def __init__(self) -> None:
        self.frame: bytes | None = None
        self.events: deque[str | bytes] = deque()
        self.waiting = 0  # bytes of events
        self.wake = asyncio.Event()
        self.overflow = False

    def put(self, data: str | bytes, is_frame: bool) -> None:
        """Queue a message."""
        if is_frame:
            assert isinstance(data, bytes)
            self.frame = data
        elif self.waiting + len(data) > MAX_BYTES:
            self.overflow = True
        else:
            self.events.append(data)
            self.waiting += len(data)
        self.wake.set()

    def get(self) -> str | bytes | None:
        """The next message, None if none waits."""
        if self.events:
            data = self.events.popleft()
            self.waiting -= len(data)
            return data
        frame, self.frame = self.frame, None
        return frame


class Application:
    """The web application: one run, and the tabs that show it."""

    def __init__(self, sources: Sources, setup: Setup) -> None:
        self.clients: dict[int, Client] = {}
        self._numbers = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.run = Run(sources, setup, presets(sources), self._send)
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

    def _send(self, message: Outgoing) -> None:
        """Hand a message from the thread of the run to the event loop."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._distribute, message)

    def _distribute(self, message: Outgoing) -> None:
        for number, client in self.clients.items():
            if message.to in (None, number):
                client.put(message.data, message.is_frame)

    # ---- files ------------------------------------------------------------------------------------

    async def _file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        file, media_type = PAGE / name, MEDIA_TYPES.get(name.rpartition(".")[2])  # a name contains no slash
        if media_type is None or not file.is_file():
            return PlainTextResponse("Not found.\n", 404)
        return Response(file.read_bytes(), media_type=media_type, headers={"cache-control": "no-cache"})

    async def _model(self, request: Request) -> Response:
        try:
            data = await asyncio.wrap_future(self.run.query(model_file))
        except OSError as error:
            return PlainTextResponse(f"The model cannot be saved: {error.strerror or error}.\n", 503)
        return _download(data, "application/octet-stream", "model.safetensors")

    async def _script(self, request: Request) -> Response:
        text = await asyncio.wrap_future(self.run.query(Trial.script))
        return _download(text, "text/x-python", "gaussian_neurons_run.py")

    # ---- tabs -------------------------------------------------------------------------------------

    async def _live(self, socket: WebSocket) -> None:
        await socket.accept()
        hello = None
        with suppress(TimeoutError, ValueError):
            hello = await asyncio.wait_for(_command(socket), HELLO_TIMEOUT)
        if hello is None or hello[0] != "hello":
            await socket.close(NO_HELLO, "the first message must be hello")
            return
        if len(self.clients) >= MAX_CLIENTS:
            await socket.close(TOO_MANY_CLIENTS, f"{MAX_CLIENTS} tabs are connected")
            return
        number, client = next(self._numbers), Client()
        self.clients[number] = client
        self.run.submit(number, hello)
        tasks = [
            asyncio.create_task(one) for one in (_send_all(socket, client), self._receive(socket, number))
        ]
        try:
            with suppress(asyncio.CancelledError):  # the server stops
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self.clients[number]
            self.run.submit(number, ("disconnect", {}))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self, socket: WebSocket, number: int) -> None:
        """Execute the commands of a client, each after the one before it."""
        while True:
            try:
                command = await _command(socket)
            except ValueError as error:
                self.run.notice(number, error)
            else:
                if command is None:
                    return
                await asyncio.wrap_future(self.run.submit(number, command))
            await asyncio.sleep(0)  # one tab must not block the others


async def _command(socket: WebSocket) -> commands.Command | None:
    """The next command of a client, None if it has disconnected."""
    message = await socket.receive()
    return commands.parse(message.get("text") or "") if message["type"] == "websocket.receive" else None


async def _send_all(socket: WebSocket, client: Client) -> None:
    """Send the messages of a client, as fast as it receives them."""
    with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        while not client.overflow:
            await client.wake.wait()
            client.wake.clear()
            while not client.overflow and (data := client.get()) is not None:
                send = socket.send_text if isinstance(data, str) else socket.send_bytes
                await asyncio.wait_for(send(data), SEND_TIMEOUT)  # type: ignore[arg-type]
                await asyncio.sleep(0)  # lets the loop notice a disconnection before the next message
        await asyncio.wait_for(socket.close(OVERFLOW, "too many messages are waiting"), SEND_TIMEOUT)


def _download(data: bytes | str, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(data, media_type=media_type, headers=headers)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on an address. Without a port, the first free one from `PORT` is used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tries = range(PORT, PORT + PORT_TRIES) if port is None else (port,)
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
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does not, for this socket
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # closes connections that never read
                bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * SEND_TIMEOUT))
            return bound
    raise AssertionError


def make_server(application: Application, host: str, token: str | None) -> uvicorn.Server:
    """A server of the application, to be run with a socket."""
    config = uvicorn.Config(
        Guard(application.app, host, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        http=Connection,
        ws="websockets-sansio",
        ws_max_size=commands.MAX_LENGTH,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
        backlog=BACKLOG,
    )
    return uvicorn.Server(config)


def address(bound: socket.socket, host: str, token: str | None) -> str:
    """The URL of the page."""
    port = bound.getsockname()[1]
    name = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name and not name.startswith("[") else name
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def serve(application: Application, bound: socket.socket, host: str, token: str | None) -> None:
    """Serve until Ctrl-C."""
    running = make_server(application, host, token)

    def stop(sig: int, frame: object) -> None:
        running.should_exit = True  # a second Ctrl-C must not interrupt the shutdown

    running.handle_exit = stop  # type: ignore[method-assign]
    with suppress(KeyboardInterrupt):
        running.run(sockets=[bound])
