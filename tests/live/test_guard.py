"""Who may talk to the server, and what it hands out."""

import socket

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gaussian_neurons.live import guard
from gaussian_neurons.live import server as serving
from tests.live.serving import STRIPES, Tab, asked, served
from tests.waiting import PATIENCE


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "10.0.0.7", "a@b"]
)
def test_a_host_that_is_not_ours_is_refused(stripes, host):
    status, _, body = asked(stripes, Host=host)
    assert status in (400, 403)
    assert b"127.0.0.1" not in body.replace(host.encode(), b"") or not host
    with pytest.raises(InvalidStatus):
        Tab(stripes.port, headers={"Host": host}, origin=f"http://{host}")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_names_of_this_machine_are_ours_at_any_port(stripes, name):
    """A port may be forwarded."""
    assert asked(stripes, Host=f"{name}:{stripes.port}")[0] == 200
    assert asked(stripes, Host=f"{name}:9")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}", "file://"]
)
def test_a_page_from_elsewhere_cannot_connect(stripes, origin):
    with pytest.raises(InvalidStatus) as refused:
        Tab(stripes.port, origin=origin.format(port=stripes.port))
    assert refused.value.response.status_code == 403
    assert asked(stripes, "/script.py", Origin=origin.format(port=stripes.port))[0] == 403


def test_without_an_origin_nobody_connects(stripes):
    with socket.create_connection(("127.0.0.1", stripes.port), timeout=PATIENCE) as raw:
        raw.sendall(
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{stripes.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b"403" in raw.recv(1000).split(b"\r\n")[0]


def test_another_page_cannot_fetch_what_was_learned(stripes):
    for path in ("/model.safetensors", "/script.py", "/page/main.js"):
        assert asked(stripes, path, Sec_Fetch_Site="cross-site")[0] == 403
        assert asked(stripes, path, Sec_Fetch_Site="same-origin")[0] == 200
    assert asked(stripes, "/", Sec_Fetch_Site="cross-site")[0] == 200  # a link may lead here


def test_every_answer_says_what_the_page_may_do(stripes):
    status, headers, _ = asked(stripes)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/page/../run.py",
        "/page/..%2frun.py",
        "/page/%2e%2e/run.py",
        "/page/",
        "/run.py",
        "/page/a%00b",
        "//etc/passwd",
    ],
)
def test_only_the_page_is_handed_out(stripes, path):
    assert asked(stripes, path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_sent_but_messages(stripes, method):
    assert asked(stripes, "/", method)[0] == 405


def test_a_token_is_asked_for_at_other_addresses():
    token = guard.new_token()
    assert len(token) >= 20
    with served(STRIPES, host="0.0.0.0", token=token) as open_to_others:
        for path in ("/", "/model.safetensors", "/script.py", "/page/main.js", "/?token=wrong", "/?token="):
            status, _, body = asked(open_to_others, path)
            assert status == 401, path
            assert token.encode() not in body
            assert b"gaussian-neurons live printed" in body
        with Tab(open_to_others.port, greet=False) as stranger, pytest.raises(ConnectionClosed) as closed:
            stranger.socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 4401
        status, headers, _ = asked(open_to_others, f"/?K=3&token={token}")
        assert (status, headers["location"]) == (303, "/?K=3")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        known = cookie.split(";")[0]
        assert asked(open_to_others, Cookie=known)[0] == 200
        assert asked(open_to_others, Cookie=f"{guard.COOKIE}=wrong")[0] == 401
        assert asked(open_to_others, Cookie="\xff;;=")[0] == 401
        assert asked(open_to_others, Cookie=known, Host="evil.example")[0] == 403
        assert asked(open_to_others, Cookie=known, Host=f"192.168.1.5:{open_to_others.port}")[0] == 200
        with Tab(open_to_others.port, headers={"Cookie": known}) as friend:
            assert friend.next("welcome")
        with pytest.raises(InvalidStatus):
            Tab(open_to_others.port, headers={"Cookie": known}, origin="http://evil.example")


def test_a_port_that_is_taken_is_said_and_the_next_is_tried():
    with served(STRIPES) as first, pytest.raises(OSError, match=f"port {first.port}.*--port"):
        serving.listen("127.0.0.1", first.port)
    with pytest.raises(OSError, match=r"192\.0\.2\.1 port 8765.*--host"):
        serving.listen("192.0.2.1", None)
    one = serving.listen("127.0.0.1", None)
    other = serving.listen("127.0.0.1", None)
    assert one.getsockname()[1] != other.getsockname()[1]
    one.close()
    other.close()
