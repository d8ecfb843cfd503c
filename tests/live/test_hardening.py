"""What somebody might try against the server: odd headers, floods, a disk that is full."""

import functools
import itertools
import json
import threading
import time

import numpy as np
import pytest
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed

from gaussian_neurons.cli import app
from gaussian_neurons.live import guard, run
from gaussian_neurons.live import server as serving
from tests.live.serving import MIXTURE, STRIPES, asked, served
from tests.waiting import wait_for

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def guarded():
    token = guard.new_token()
    with served(STRIPES, host="0.0.0.0", token=token) as one:
        one.token = token
        yield one


# ---- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost:1@evil.example", "[::1]evil.example", "localhost:1; script-src *", "localhost:\xe9"]
)
def test_a_host_is_a_name_and_a_port_and_nothing_else(stripes, host):
    assert asked(stripes, Host=host)[0] == 403


def headed(*headers):
    return {"type": "http", "path": "/script.py", "headers": [(b"host", b"localhost"), *headers]}


def test_headers_that_are_there_twice_are_no_right_ones():
    trouble = guard.Guard(None, "127.0.0.1", None)._trouble
    ours, theirs, cross = b"http://localhost", b"http://evil.example", b"cross-site"
    assert trouble(headed((b"origin", ours))) is None
    assert trouble(headed((b"origin", theirs), (b"origin", theirs)))
    assert trouble(headed((b"origin", ours), (b"origin", theirs)))
    assert trouble(headed((b"sec-fetch-site", cross), (b"sec-fetch-site", cross)))
    assert trouble(headed((b"host", b"localhost")))


def test_no_host_is_nobodys_even_where_all_addresses_are_listened_on():
    assert guard.Guard(None, "", "token")._trouble({"type": "http", "path": "/", "headers": []})


def test_cookies_of_others_do_not_hide_the_token(guarded):
    for others in ('{{"a": 1}}; {}', "a b; c[0]=1; {}; k=\xe9", "é={{; {}; ="):
        assert (
            asked(guarded, Cookie=others.format(f"{guard.COOKIE}-{guarded.port}={guarded.token}"))[0] == 200
        )


def test_a_token_in_the_address_is_taken_out_of_it_even_where_it_is_known(guarded):
    known = f"{guard.COOKIE}-{guarded.port}={guarded.token}"
    status, headers, _ = asked(guarded, f"/?K=3&token={guarded.token}", Cookie=known)
    assert (status, headers["location"]) == (303, "/?K=3")
    assert asked(guarded, "/?K=3", Cookie=known)[0] == 200


@pytest.mark.parametrize("token", ["%ff%e9", "%ed%a0%80", "%00", ""])
def test_a_token_of_any_letters_is_only_wrong(guarded, token):
    assert asked(guarded, f"/?token={token}")[0] == 401
    assert asked(guarded, Cookie=f"{guard.COOKIE}=\xe9\xff")[0] == 401


# ---- floods ---------------------------------------------------------------------------------------


def slowed(monkeypatch, wait):
    """Commands that change K wait; each is noted when it begins."""
    change, begun = run.COMMANDS["set"], []

    def slow(*arguments, **named):
        begun.append(named)
        wait()
        change(*arguments, **named)

    monkeypatch.setitem(run.COMMANDS, "set", slow)
    return begun


def flood(tab, end):
    def read():
        try:
            for _ in tab.socket:
                pass
        except ConnectionClosed:
            pass

    def send():
        try:
            for count in itertools.cycle((1, 40)):
                if end.is_set():
                    break
                tab.socket.send(json.dumps({"do": "set", "name": "K", "value": count}))
        except ConnectionClosed:
            pass

    threads = [threading.Thread(target=work) for work in (read, send)]
    for thread in threads:
        thread.start()
    return threads


def test_a_tab_that_floods_keeps_nobody_else_waiting(monkeypatch):
    slowed(monkeypatch, functools.partial(time.sleep, 0.01))
    end = threading.Event()
    with served(MIXTURE) as one, one.tab() as loud:
        threads = flood(loud, end)
        try:
            wait_for(lambda: one.page.run._queue.qsize() >= run.MOST_WAITING - 1)
            with one.tab() as other:
                assert other.next("welcome")
                seen = other.frame()["seen"]
                assert other.frame(where=lambda frame: frame["seen"] > seen)  # learning goes on
                other.send("pause")
                assert other.frame(where=lambda frame: frame["state"] == "paused")
        finally:
            end.set()
            loud.close()
            for thread in threads:
                thread.join()


def test_the_end_does_not_wait_for_commands_that_wait(monkeypatch):
    ending = threading.Event()
    begun = slowed(monkeypatch, ending.wait)
    with served(MIXTURE) as one, one.tab() as tab:
        tab.next("scene")
        for count in range(run.MOST_WAITING):
            tab.send("set", name="K", value=1 + count)
        wait_for(lambda: one.page.run._queue.qsize() > run.MOST_WAITING // 2)
        stopping = threading.Thread(target=one.stop)
        stopping.start()
        wait_for(lambda: one.page.run._ending)
        ending.set()
        stopping.join()
        assert len(begun) == 1
        assert one.page.run._queue.qsize() > 0


def test_a_pause_is_shown_at_once_however_long_showing_takes():
    with served(STRIPES) as one, one.tab() as tab:
        tab.frame()
        one.ask(lambda trial: setattr(one.page.run, "_showing", 100.0))
        tab.send("pause")  # where learning went on, the next frame would be ten minutes away
        tab.frame(where=lambda frame: frame["state"] == "paused")


def test_the_address_has_a_name_where_all_are_listened_on():
    bound = serving.listen("", 0)
    assert not serving.address(bound, "", "token").startswith("http://:")
    bound.close()


# ---- files ----------------------------------------------------------------------------------------


def test_a_model_that_cannot_be_written_is_said(stripes, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gaussian_neurons.live.run.tempfile.TemporaryDirectory", full)
    status, _, body = asked(stripes, "/model.safetensors")
    assert status == 503
    assert body == b"The model cannot be saved: No space left on device.\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"nan,nan\nnan,nan\n", "has no row that could be read"),
        ("a.npy", b"", "is no NPY file of numbers"),
        ("a.npy", b"\x80\x04 no array", "is no NPY file of numbers"),
    ],
)
def test_a_file_without_numbers_is_said_in_words(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    found = CliRunner().invoke(app, ["live", "--no-browser", "--port", "0", "--data", str(tmp_path / name)])
    assert found.exit_code == 1
    assert said in " ".join(found.output.split())


def test_a_file_of_objects_is_said_in_words(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}, 1], object))
    found = CliRunner().invoke(
        app, ["live", "--no-browser", "--port", "0", "--data", str(tmp_path / "a.npy")]
    )
    assert found.exit_code == 1
    assert "is no NPY file of numbers" in " ".join(found.output.split())
