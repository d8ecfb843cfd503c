"""Access control, and the files that the server serves."""

import socket

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gaussian_neurons.live import guard
from gaussian_neurons.live import server as serving
from tests.live.serving import STRIPES, Tab, request, served
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def protected():
    token = guard.new_token()
    assert len(token) >= 20
    with served(STRIPES, host="0.0.0.0", token=token) as one:
        one.token, one.cookie = token, f"{guard.COOKIE}-{one.port}={token}"
        yield one


# ---- Host and Origin ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "10.0.0.7", "a@b"),
        *("localhost:1@evil.example", "[::1]evil.example", "localhost:1; script-src *", "localhost:\xe9"),
    ],
)
def test_a_request_with_another_host_is_refused(stripes, host):
    status, _, body = request(stripes, Host=host)
    assert status in (400, 403)
    assert b"127.0.0.1" not in body.replace(host.encode("latin-1"), b"") or not host
    if host.isascii():
        with pytest.raises(InvalidStatus):
            Tab(stripes.port, headers={"Host": host}, origin=f"http://{host}")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_names_of_this_machine_are_accepted_with_any_port(stripes, name):
    """A port may be forwarded."""
    assert request(stripes, Host=f"{name}:{stripes.port}")[0] == 200
    assert request(stripes, Host=f"{name}:9")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}", "file://"]
)
def test_a_page_from_another_origin_is_refused(stripes, origin):
    with pytest.raises(InvalidStatus) as refused:
        Tab(stripes.port, origin=origin.format(port=stripes.port))
    assert refused.value.response.status_code == 403
    assert request(stripes, "/script.py", Origin=origin.format(port=stripes.port))[0] == 403


def test_a_websocket_without_an_origin_is_refused(stripes):
    with socket.create_connection(("127.0.0.1", stripes.port), timeout=PATIENCE) as raw:
        raw.sendall(
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{stripes.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b"403" in raw.recv(1000).split(b"\r\n")[0]


def test_another_site_cannot_read_files(stripes):
    for path in ("/model.safetensors", "/script.py", "/page/main.js"):
        assert request(stripes, path, Sec_Fetch_Site="cross-site")[0] == 403
        assert request(stripes, path, Sec_Fetch_Site="same-origin")[0] == 200
    assert request(stripes, "/", Sec_Fetch_Site="cross-site")[0] == 200  # a link to the page


def with_headers(*headers):
    return {"type": "http", "path": "/script.py", "headers": [(b"host", b"localhost"), *headers]}


def test_repeated_headers_are_invalid():
    problem = guard.Guard(None, "127.0.0.1", None)._problem
    own, other, cross = b"http://localhost", b"http://evil.example", b"cross-site"
    assert problem(with_headers((b"origin", own))) is None
    assert problem(with_headers((b"origin", other), (b"origin", other)))
    assert problem(with_headers((b"origin", own), (b"origin", other)))
    assert problem(with_headers((b"sec-fetch-site", cross), (b"sec-fetch-site", cross)))
    assert problem(with_headers((b"host", b"localhost")))


def test_a_missing_host_is_invalid_on_all_addresses():
    assert guard.Guard(None, "", "token")._problem({"type": "http", "path": "/", "headers": []})


# ---- files ----------------------------------------------------------------------------------------


def test_responses_have_security_headers(stripes):
    status, headers, _ = request(stripes)
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
def test_only_files_of_the_page_are_served(stripes, path):
    assert request(stripes, path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get_is_allowed(stripes, method):
    assert request(stripes, "/", method)[0] == 405


def test_an_error_while_saving_the_model_is_reported(stripes, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gaussian_neurons.live.run.tempfile.TemporaryDirectory", full)
    status, _, body = request(stripes, "/model.safetensors")
    assert status == 503
    assert b"No space left on device" in body


# ---- token ----------------------------------------------------------------------------------------


def test_a_token_is_required_on_other_addresses(protected):
    for path in ("/", "/model.safetensors", "/script.py", "/page/main.js", "/?token=wrong", "/?token="):
        status, _, body = request(protected, path)
        assert status == 401, path
        assert protected.token.encode() not in body
    with Tab(protected.port, greet=False) as stranger, pytest.raises(ConnectionClosed) as closed:
        stranger.socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == guard.NEEDS_TOKEN
    status, headers, _ = request(protected, f"/?K=3&token={protected.token}")
    assert (status, headers["location"]) == (303, "/?K=3")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert cookie.split(";")[0] == protected.cookie
    assert request(protected, Cookie=protected.cookie)[0] == 200
    assert request(protected, Cookie=f"{guard.COOKIE}=wrong")[0] == 401
    assert request(protected, Cookie=protected.cookie, Host="evil.example")[0] == 403
    assert request(protected, Cookie=protected.cookie, Host=f"192.168.1.5:{protected.port}")[0] == 200
    with Tab(protected.port, headers={"Cookie": protected.cookie}) as friend:
        assert friend.next("welcome")
    with pytest.raises(InvalidStatus):
        Tab(protected.port, headers={"Cookie": protected.cookie}, origin="http://evil.example")


def test_other_cookies_do_not_matter(protected):
    for others in ('{{"a": 1}}; {}', "a b; c[0]=1; {}; k=\xe9", "é={{; {}; ="):
        assert request(protected, Cookie=others.format(protected.cookie))[0] == 200
    assert request(protected, Cookie="\xff;;=")[0] == 401


def test_a_token_is_removed_from_the_address_also_with_a_cookie(protected):
    status, headers, _ = request(protected, f"/?K=3&token={protected.token}", Cookie=protected.cookie)
    assert (status, headers["location"]) == (303, "/?K=3")
    assert request(protected, "/?K=3", Cookie=protected.cookie)[0] == 200


@pytest.mark.parametrize("token", ["%ff%e9", "%ed%a0%80", "%00", ""])
def test_a_token_of_any_characters_is_refused(protected, token):
    assert request(protected, f"/?token={token}")[0] == 401
    assert request(protected, Cookie=f"{guard.COOKIE}=\xe9\xff")[0] == 401


# ---- addresses ------------------------------------------------------------------------------------


def test_a_port_in_use_is_reported_or_the_next_is_used():
    with served(STRIPES) as first, pytest.raises(OSError, match=f"port {first.port}.*--port"):
        serving.listen("127.0.0.1", first.port)
    with pytest.raises(OSError, match=r"192\.0\.2\.1 port 8765.*--host"):
        serving.listen("192.0.2.1", None)
    one = serving.listen("127.0.0.1", None)
    other = serving.listen("127.0.0.1", None)
    assert one.getsockname()[1] != other.getsockname()[1]
    one.close()
    other.close()


def test_the_address_has_a_name_if_the_server_listens_on_all_addresses():
    bound = serving.listen("", 0)
    assert not serving.address(bound, "", "token").startswith("http://:")
    bound.close()
