"""Links, saved files, several tabs, and a server that goes and comes back."""

import functools
import http.server
import re
import threading

import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.live import guard
from gaussian_neurons.live.setup import Setup
from tests.live.pages import PLANE, become, setup_of, start, until
from tests.live.serving import STRIPES, served
from tests.waiting import wait_for

pytest.importorskip("playwright.sync_api")


def leave(stripes, *pages):
    """Leave the server to whoever comes next."""
    for page in pages:
        page.goto("about:blank")
    wait_for(lambda: not stripes.page.run.watching)


def test_every_state_is_a_link(tabs, stripes, lasting_tab):
    leave(stripes, lasting_tab)
    tab = tabs(stripes.url)
    start(tab, stripes, STRIPES)
    tab.locator("#sigma").fill("0.7")
    tab.locator("#sigma").press("Enter")
    tab.locator("[data-class='1']").click()
    become(tab, "location.search.includes('classes=1') && location.search.includes('sigma=0.7')")
    link = tab.url
    tab.close()
    wait_for(lambda: not stripes.page.run.watching)
    other = tabs(stripes.url)
    start(other, stripes, STRIPES)
    leave(stripes, other)
    other.goto(link)
    until(stripes, lambda trial: (trial.setup.width, trial.setup.classes) == (0.7, (1,)))
    assert other.trouble == []
    other.close()
    lasting_tab.goto(stripes.url)
    become(lasting_tab, "gaussianNeurons.frame !== null")


def test_a_page_that_is_loaded_again_goes_on_as_it_was(tabs):
    with served(STRIPES) as one:
        tab = tabs(one.url)
        become(tab, "gaussianNeurons.frame.seen > 50000")
        for value in ("0.6", "0.7"):
            seen, generation = one.page.run.trial.seen, one.page.run.generation
            tab.locator("#sigma").fill(value)
            tab.locator("#sigma").press("Enter")
            become(tab, "v => gaussianNeurons.scene.setup.sigma == v", arg=value)
            tab.reload()  # before the address was written
            become(tab, "gaussianNeurons.frame !== null")
            assert setup_of(one).width == float(value)
            assert one.page.run.generation == generation
            assert one.page.run.trial.seen > seen


def test_a_link_says_which_figure_it_is_where_several_begin_alike(tabs, stripes, lasting_tab):
    leave(stripes, lasting_tab)
    tab = tabs(stripes.url)
    tab.locator("#preset").select_option("figure2b")
    become(tab, "location.search.includes('figure=2b')")
    link = tab.url
    stripes.page.run.chosen = None  # as another server
    leave(stripes, tab)
    tab.goto(link)
    become(tab, "document.querySelector('#story-title').textContent.startsWith('Figure 2b')")
    tab.locator("#lambda").fill("0.4")
    tab.locator("#lambda").press("Enter")
    become(tab, "!location.search.includes('figure')")  # it is no more
    assert tab.trouble == []
    lasting_tab.goto(stripes.url)
    become(lasting_tab, "gaussianNeurons.frame !== null")


def test_a_link_has_the_surface(plane, mixed):
    assert "surface" not in plane.url
    plane.locator("#surface").select_option("recent")
    become(plane, "location.search.includes('surface=recent')")
    plane.reload()
    become(plane, "window.gaussianNeurons?.frame && document.querySelector('#surface').value === 'recent'")
    become(plane, f"{PLANE}.surface.shown")
    plane.locator("#preset").select_option("figure1")
    become(plane, "document.querySelector('#surface').value === 'sample'")
    become(plane, "location.search.includes('figure=1') && !location.search.includes('surface')")  # as it is
    plane.locator("#surface").select_option("off")
    become(plane, "location.search.includes('surface=off')")


def test_a_link_with_nonsense_is_told_of(tabs, stripes):
    tab = tabs(f"{stripes.url}?K=many&what=ever&sigma=-3&seed=<script>alert(1)</script>", wait=False)
    tab.locator("#toasts").get_by_text("K").first.wait_for()
    become(tab, "gaussianNeurons.frame !== null")
    assert tab.trouble == []


def test_of_a_link_only_what_cannot_be_is_left_out(tabs, stripes, lasting_tab):
    leave(stripes, lasting_tab)
    tab = tabs(f"{stripes.url}?sigma=1e-300&K=3&lambda=-1")
    become(tab, "gaussianNeurons.scene.setup.K === 3 && gaussianNeurons.frame !== null")
    for name in ("σ", "λ"):
        tab.locator("#toasts").get_by_text(re.compile(f"^{name} .* It was left out")).wait_for()
    leave(stripes, tab)
    tab.goto(f"{stripes.url}?data=mixture&classes=1,2")
    become(tab, "gaussianNeurons.scene?.mode === 'plane' && !location.search.includes('classes')")
    leave(stripes, tab)
    lasting_tab.goto(stripes.url)
    become(lasting_tab, "gaussianNeurons.frame !== null")


def test_a_link_that_others_would_suffer_from_asks_first(tab, tabs, stripes):
    second = tabs(f"{stripes.url}?K=4")
    second.locator("#question-dialog").wait_for()
    assert len(stripes.page.run.trial.ids) == 6
    second.keyboard.press("Escape")
    third = tabs(f"{stripes.url}?K=4")
    third.locator("#question-dialog button[value=use]").click()
    until(stripes, lambda trial: trial.setup.n_neurons == 4)


def test_what_is_shown_can_be_saved(tab, tmp_path):
    become(tab, "gaussianNeurons.frame.seen > 20000")
    found = {}
    for name in ("model", "png", "svg"):
        tab.locator("#save summary").click()
        with tab.expect_download() as download:
            tab.locator(f"#save-{name}").click()
        found[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(found[name])
        if tab.locator("#save[open]").count():
            tab.locator("#save summary").click()
    assert len(GaussianNeurons.load(found["model"]).centers_) == 6
    assert found["png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    text = found["svg"].read_text()
    assert text.count("<rect") > 6 * 4  # equal pixels beside each other are one
    assert re.search(r"K.*= ?6", text)
    tab.locator("#save summary").click()
    assert "Python script" in tab.locator("#show-script").inner_text()
    tab.locator("#show-script").click()
    become(tab, "document.querySelector('#script').textContent.includes('GaussianNeurons(')")
    compile(tab.locator("#script").text_content(), "script", "exec")
    tab.keyboard.press("Escape")


def test_a_picture_of_learned_widths_says_where_they_began(tab):
    svg = tab.evaluate(
        """async () => {
             const { filtersSVG } = await import('/page/pictures.js');
             const { frame, scene } = gaussianNeurons;
             const setup = { ...scene.setup, sigma: 6, eta_sigma: 0.1, noise: 0.2 };
             return filtersSVG(frame, { ...scene, setup }, 3);
           }"""
    )
    words = re.sub(r"<[^>]*>", "", svg)
    assert "σ = 6 at the start" in words
    assert "noise = 0.2" in words
    width = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
    bar = max(float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*fill="url', svg))
    assert bar > 0.7 * width  # the rest of the picture is no empty paper


def test_in_a_picture_those_that_were_pushed_out_are_as_pale_as_on_the_page(tab):
    svg = tab.evaluate(
        """async () => {
             const { filtersSVG } = await import('/page/pictures.js');
             const { frame, scene } = gaussianNeurons;
             const told = { learned: [1, 0, 0, 2, 1, 0], outside: [0, 1, 0, 1, 1, 1] };
             return filtersSVG({ ...frame, ...told }, scene, 3);
           }"""
    )
    assert re.findall(r'opacity="([\d.]+)"', svg) == ["0.39", "0.39"]  # those that learned nothing


# ---- several tabs, a server that goes -------------------------------------------------------------


def test_two_tabs_see_the_same(tab, tabs, stripes):
    other = tabs(stripes.url)
    tab.locator("#pause").click()
    become(other, "gaussianNeurons.frame.state === 'paused'")
    other.locator(".filter[data-neuron='4']").click()
    become(tab, "gaussianNeurons.frame.ids.length === 5")
    other.locator("#lambda").fill("0.3")
    other.locator("#lambda").press("Enter")
    become(tab, "document.querySelector('#lambda').value === '0.3'")
    become(tab, "location.search.includes('lambda=0.3')")
    other.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'running'")
    assert other.trouble == []


def test_closing_every_tab_stops_the_work(tabs, mixed, plane):
    tab = tabs(mixed.url)
    become(tab, "gaussianNeurons.frame.seen > 100")
    plane.goto("about:blank")
    tab.close()
    wait_for(lambda: not mixed.page.run.learning)
    plane.goto(mixed.url)
    wait_for(lambda: mixed.page.run.learning)
    become(plane, "gaussianNeurons.frame !== null")


def test_a_server_that_was_killed_and_comes_back_is_found_again(tabs):
    with served(STRIPES) as first:
        tab = tabs(first.url)
        start(tab, first, Setup("file", 5, 0.8, size=4))
        become(tab, "location.search.includes('sigma=0.8')")
        port = first.port
    tab.locator("#banner").wait_for()
    assert "lost" in tab.locator("#banner").inner_text().lower()
    assert tab.locator("#state").text_content() == "Not connected"
    become(tab, "document.querySelectorAll('.filter').length === 5")  # still there to look at
    chosen = [tab.locator(name).input_value() for name in ("#preset", "#data")]
    tab.locator("#preset").select_option("figure4")
    tab.locator("#data").select_option("mixture")
    assert [tab.locator(name).input_value() for name in ("#preset", "#data")] == chosen  # nothing was chosen
    tab.locator("#save summary").click()
    tab.locator("#save-model").click()
    tab.locator("#toasts").get_by_text("The server cannot be reached").wait_for()
    with served(STRIPES, port=port) as second:
        tab.locator("#banner").wait_for(state="hidden")
        become(tab, "gaussianNeurons.connection === 'open' && gaussianNeurons.frame?.seen > 100")
        become(tab, "document.querySelector('#state').textContent === 'Running'")
        assert (setup_of(second).n_neurons, setup_of(second).width) == (5, 0.8)
        tab.locator("#pause").click()
        become(tab, "gaussianNeurons.frame.state === 'paused'")
    assert [text for text in tab.trouble if "WebSocket" not in text and "ERR_CONNECTION" not in text] == []


def test_another_site_in_the_same_browser_cannot_drive_it(tabs, stripes, tmp_path):
    (tmp_path / "index.html").write_text("<title>evil</title>")
    handler = functools.partial(_Silent, directory=tmp_path)
    elsewhere = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
    try:
        evil = tabs(f"http://localhost:{elsewhere.server_port}/", wait=False)
        outcome = evil.evaluate(
            """url => new Promise(done => {
                 const socket = new WebSocket(url);
                 socket.onopen = () => { socket.send('{"do":"hello"}'); };
                 socket.onmessage = () => done('heard');
                 socket.onclose = () => done('closed');
               })""",
            stripes.url.replace("http", "ws") + "live",
        )
        assert outcome == "closed"
        fetched = "url => fetch(url).then(answer => answer.text()).then(() => 'read', () => 'refused')"
        assert evil.evaluate(fetched, stripes.url + "script.py") == "refused"
        assert evil.evaluate(fetched, stripes.url) == "refused"
    finally:
        elsewhere.shutdown()
        elsewhere.server_close()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_token_opens_the_page_once_and_for_all(tabs):
    token = guard.new_token()
    with served(STRIPES, host="0.0.0.0", token=token) as one:
        stranger = tabs(one.url, wait=False)
        assert "gaussian-neurons live printed" in stranger.locator("body").inner_text()
        friend = tabs(f"{one.url}?K=5&token={token}")
        assert "token" not in friend.url
        assert len(one.page.run.trial.ids) == 5
        assert friend.trouble == []
        again = tabs(one.url)
        become(again, "document.querySelectorAll('.filter').length === 5")
