"""Links, saved files, several tabs, and a server that stops and starts again."""

import functools
import http.server
import re
import threading

import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.live import guard
from gaussian_neurons.live.setup import Setup
from tests.live.pages import PLANE, choose, enter, pause, recorded, until
from tests.live.serving import STRIPES, served

pytest.importorskip("playwright.sync_api")


def test_a_link_holds_all_settings(shared_page):
    setup = Setup("mixture", 7, 0.25, classes=(1, 2), speed=12.5, covariance_type="diag")
    found = shared_page.evaluate(
        """async ([setup, other]) => {
             const { readLink, writeLink } = await import('/page/link.js');
             const link = writeLink(setup, 'figure2b', 'recent');
             const wrong = '?K=many&what=ever&sigma=-3&seed=-1&classes=1,,2&speed=<b>&lambda=0.2&surface=x'
               + '&covariance_type=a1';
             return [readLink(link), readLink(writeLink(other)), readLink(wrong), readLink('')];
           }""",
        [setup.as_json(), Setup().as_json()],
    )
    full, plain, wrong, empty = found
    assert Setup().changed(full["setup"]) == setup
    assert (full["preset"], full["surface"], full["problems"]) == ("figure2b", "recent", [])
    assert Setup().changed(plain["setup"]) == Setup()  # full speed, all classes
    assert wrong["setup"] == {"sigma": -3, "lambda": 0.2}  # the server checks the bounds
    assert [text.split()[0] for text in wrong["problems"]] == [
        "K",
        "seed",
        "classes",
        "speed",
        "covariance_type",
    ]
    assert (wrong["preset"], wrong["surface"]) == (None, None)
    assert empty["setup"] is None


def test_a_page_uses_the_settings_in_its_address_and_keeps_its_run_when_reloaded(open_page):
    with served(STRIPES) as one:
        page = open_page(f"{one.url}?lambda=-1&K=3&size=x", wait=False)  # messages disappear after 9 s
        for name in ("λ", "size"):  # invalid settings are reported and ignored
            page.locator(".toast[data-level=error]", has_text=re.compile(f"^{name} ")).wait_for()
        until(page, "gaussianNeurons.scene.setup.K === 3")
        until(page, "gaussianNeurons.frame?.seen > 0")
        seen, generation = one.query(lambda trial: trial.seen), one.run.generation
        enter(page, "sigma", 0.7)
        until(page, "gaussianNeurons.scene.setup.sigma === 0.7")
        page.reload()  # before the address is updated
        until(page, "window.gaussianNeurons?.frame")
        assert one.query(lambda trial: trial.setup.width) == 0.7
        assert one.run.generation == generation
        assert one.query(lambda trial: trial.seen) > seen
        choose(page, "preset", "figure2b")  # several figures have these settings
        until(page, "location.search.includes('figure=2b')")
        enter(page, "lambda", 0.4)
        until(page, "location.search.includes('lambda=0.4') && location.search.includes('figure=2b')")
        assert page.problems == []


def test_the_address_holds_the_surface_unless_it_is_the_default(plane):
    until(plane, "!location.search.includes('surface')")  # the address follows a little later
    plane.locator("#surface").select_option("recent")
    until(plane, "location.search.includes('surface=recent')")
    plane.reload()
    until(plane, "window.gaussianNeurons?.frame && document.querySelector('#surface').value === 'recent'")
    until(plane, f"{PLANE}.surface.shown")
    choose(plane, "preset", "figure1")
    until(plane, "document.querySelector('#surface').value === 'sample'")
    until(plane, "location.search.includes('figure=1') && !location.search.includes('surface')")
    plane.locator("#surface").select_option("off")
    until(plane, "location.search.includes('surface=off')")


def test_two_tabs_show_one_run_and_a_link_asks_before_it_restarts_it(page, open_page):
    other = open_page(f"{page.served.url}?K=4")
    other.locator("#question-dialog").wait_for()
    assert page.served.query(lambda trial: len(trial.ids)) == 6
    other.keyboard.press("Escape")
    pause(page)
    until(other, "gaussianNeurons.frame.state === 'paused'")
    other.locator(".filter[data-neuron='4']").click()
    until(page, "gaussianNeurons.frame.ids.length === 5")
    enter(other, "lambda", 0.3)
    until(page, "document.querySelector('#lambda').value === '0.3'")
    until(page, "location.search.includes('lambda=0.3')")
    question = {"type": "question", "setup": {"K": 4}, "preset": None}
    page.served.run.send_json(max(page.served.run.clients), **question)  # as for the link
    other.locator("#question-dialog button[value=use]").click()
    page.served.until(lambda trial: trial.setup.n_neurons == 4)
    until(page, "gaussianNeurons.frame?.ids.length === 4")
    assert other.problems == []


def test_a_restarted_server_gets_the_settings_of_an_open_page(open_page):
    with served(STRIPES) as first:
        page = open_page(first.url)
        choose(page, "preset", "figure2f")
        until(page, "gaussianNeurons.scene.preset === 'figure2f'")
        enter(page, "lambda", 0.4)
        until(page, "location.search.includes('lambda=0.4')")
        until(page, "document.querySelectorAll('.filter').length === 16")
        title = page.locator("#figure-title").inner_text()
        assert title.startswith("Figure 2f, changed.")
        port = first.port
    page.locator("#banner").wait_for()
    assert page.evaluate("document.body.dataset.state") == "lost"
    assert page.locator(".filter").count() == 16
    choose(page, "preset", "figure4")
    assert page.locator("#gallery").is_visible()  # nothing was chosen
    page.keyboard.press("Escape")
    page.locator("#save summary").click()
    page.locator("#save-model").click()
    page.locator(".toast[data-level=error]").wait_for()
    with served(STRIPES, port=port) as second:
        page.locator("#banner").wait_for(state="hidden")
        until(page, "gaussianNeurons.connection === 'open' && gaussianNeurons.frame?.seen > 100")
        until(page, "document.body.dataset.state === 'running'")
        setup = second.query(lambda trial: trial.setup)
        assert (setup.data, setup.classes, setup.inhibition) == ("mnist-sample", (1,), 0.4)
        assert page.locator("#figure-title").inner_text() == title
    assert [text for text in page.problems if "WebSocket" not in text and "ERR_CONNECTION" not in text] == []


def test_another_site_in_the_same_browser_has_no_access(open_page, stripes, tmp_path):
    (tmp_path / "index.html").write_text("<title>other</title>")
    handler = functools.partial(_Silent, directory=tmp_path)
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        page = open_page(f"http://localhost:{other.server_port}/", wait=False)
        outcome = page.evaluate(
            """url => new Promise(done => {
                 const socket = new WebSocket(url);
                 socket.onopen = () => { socket.send('{"do":"hello"}'); };
                 socket.onmessage = () => done('message');
                 socket.onclose = () => done('closed');
               })""",
            stripes.url.replace("http", "ws") + "live",
        )
        assert outcome == "closed"
        fetched = "url => fetch(url).then(answer => answer.text()).then(() => 'read', () => 'refused')"
        assert page.evaluate(fetched, stripes.url + "script.py") == "refused"
        assert page.evaluate(fetched, stripes.url) == "refused"
    finally:
        other.shutdown()
        other.server_close()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_a_token_is_moved_from_the_address_into_a_cookie(open_page):
    token = guard.new_token()
    with served(STRIPES, host="0.0.0.0", token=token) as one:
        page = open_page(f"{one.url}?K=5&token={token}")
        assert "token" not in page.url
        assert one.query(lambda trial: len(trial.ids)) == 5
        assert page.problems == []


# ---- saved files ----------------------------------------------------------------------------------


def test_model_pictures_and_script_are_saved(page, tmp_path):
    until(page, "gaussianNeurons.frame.seen > 20000")
    found = {}
    for name in ("model", "png"):
        page.locator("#save summary").click()
        with page.expect_download() as download:
            page.locator(f"#save-{name}").click()
        found[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(found[name])
        if page.locator("#save[open]").count():
            page.locator("#save summary").click()
    assert len(GaussianNeurons.load(found["model"]).centers_) == 6
    assert found["png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    page.locator("#save summary").click()
    page.locator("#show-script").click()
    until(page, "document.querySelector('#script').textContent.includes('GaussianNeurons(')")
    compile(page.locator("#script").text_content(), "script", "exec")
    page.keyboard.press("Escape")


def test_a_saved_picture_has_the_order_of_the_page(page):
    page.locator(".filter[data-neuron='2']").click()
    until(page, "gaussianNeurons.frame.ids.length === 5")
    for _ in range(2):
        page.keyboard.press("+")
    until(page, "document.querySelectorAll('.filter').length === 7")
    page.locator("#save summary").click()
    with recorded(page, "fillText") as texts, page.expect_download():
        page.locator("#save-png").click()
    shown = page.evaluate("[...document.querySelectorAll('.filter')].map(it => it.dataset.neuron)")
    assert [str(text) for text, *_ in texts if isinstance(text, int)] == shown == list("1734568")
    caption = " · ".join(text for text, *_ in texts if not isinstance(text, int))
    assert " · K = 7 · σ = 1 · λ = 0.5 · η_μ = 0.1 · " in f" · {caption}"
    assert " learned · file, seed 0" in caption  # the curves may draw their texts meanwhile


def test_a_saved_picture_of_filters(page):
    draw = """async () => {
                const { filtersPicture } = await import('/page/pictures.js');
                const { frame, scene } = gaussianNeurons;
                const states = { learned: [1, 0, 0, 2, 1, 0], outside: [0, 1, 0, 1, 1, 1] };
                const setup = { ...scene.setup, sigma: 6, eta_sigma: 0.1, noise: 0.2 };
                filtersPicture({ ...frame, ...states }, { ...scene, setup }, 3);
              }"""
    with recorded(page, "drawImage") as drawn:
        page.evaluate(draw)
    opacities = [round(call[-1]["globalAlpha"], 2) for call in drawn]
    assert opacities == [1, 0.25, 1, 1, 1, 0.25]  # pushed out, as on the page
    with recorded(page, "fillText") as texts:
        page.evaluate(draw)
    text = " · ".join(str(one) for one, *_ in texts)
    assert "σ = 6 at the start" in text
    assert "noise = 0.2" in text
    assert text.count("σ 1.00") == 6
