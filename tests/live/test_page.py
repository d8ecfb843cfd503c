"""The page in a real browser: it loads, it shows learning, every control does what it says, it comes back."""

import functools
import http.server
import re
import threading

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import places
from gaussian_neurons.live import guard
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Sources, defaults
from gaussian_neurons.theory import cost_surface
from tests.live.serving import MIXTURE, STRIPES, served, wait_for

pytest.importorskip("playwright.sync_api")

SOON = 20_000  # milliseconds


@pytest.fixture(scope="module")
def stripes():
    with served(STRIPES) as one:
        yield one


@pytest.fixture
def tabs(browser):
    """Opens pages that note what they complain of and ask for."""
    yield from opener(browser)


@pytest.fixture(scope="module")
def lasting_tabs(browser):
    """The same, for pages that several tests use."""
    yield from opener(browser)


def opener(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 860}, accept_downloads=True)

    def opened(url, **options):
        tab = context.new_page()
        tab.trouble, tab.asked = [], []
        tab.on("console", lambda message: tab.trouble.append(message.text))
        tab.on("pageerror", lambda error: tab.trouble.append(str(error)))
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.on("websocket", lambda socket: tab.asked.append(socket.url))
        tab.set_default_timeout(SOON)
        tab.goto(url)
        if options.get("wait", True):
            become(tab, "gaussianNeurons.frame !== null")
        return tab

    yield opened
    context.close()


@pytest.fixture(scope="module")
def lasting_tab(lasting_tabs, stripes):
    return lasting_tabs(stripes.url)


@pytest.fixture
def tab(lasting_tab, stripes):
    """A page on stripes, as they begin."""
    start(lasting_tab, stripes, STRIPES)
    yield lasting_tab
    assert lasting_tab.trouble == []


@pytest.fixture(scope="module")
def mixed():
    with served(MIXTURE) as one:
        yield one


@pytest.fixture(scope="module")
def lasting_plane(lasting_tabs, mixed):
    return lasting_tabs(mixed.url)


@pytest.fixture
def plane(lasting_plane, mixed):
    start(lasting_plane, mixed, MIXTURE)
    yield lasting_plane
    assert lasting_plane.trouble == []


def start(tab, served, setup):
    """Begin anew with a setup, running."""
    generation = served.page.run.generation
    served.page.run.order(0, ("start", {"setup": setup.told()}))
    become(
        tab, "g => gaussianNeurons.scene?.generation > g && gaussianNeurons.frame !== null", arg=generation
    )
    become(tab, "K => gaussianNeurons.frame.ids.length === K", arg=setup.n_neurons)


def again(tab, button="#again"):
    """Start again, and wait for the first frame."""
    generation = tab.evaluate("gaussianNeurons.scene.generation")
    tab.locator(button).click()
    become(tab, "g => gaussianNeurons.scene.generation > g && gaussianNeurons.frame !== null", arg=generation)


def become(tab, what, arg=None):
    """Wait until something holds in the page. (Playwright's own way needs eval, which the page forbids.)"""
    wait_for(lambda: tab.evaluate(what, arg))


def setup_of(served):
    return served.page.run.ask(lambda trial: trial.setup).result(10)


def until(served, what):
    """Wait until the trial is as wanted."""
    return wait_for(lambda: served.page.run.ask(what).result(10))


def seen(tab):
    return tab.evaluate("gaussianNeurons.frame.seen")


def pictures(tab):
    return tab.evaluate("[...document.querySelectorAll('.filter canvas')].map(it => it.toDataURL())")


# ---- it loads, and shows learning -----------------------------------------------------------------


def test_it_loads_without_a_complaint_and_asks_nobody_else(tab, stripes):
    assert tab.trouble == []
    here = (stripes.url, stripes.url.replace("http", "ws"), "data:", "blob:")
    assert [url for url in tab.asked if not url.startswith(here)] == []
    assert len(tab.asked) > 10
    assert tab.locator(".filter").count() == 6
    assert tab.locator("#state").inner_text() == "Running"


def test_filters_change_while_it_learns_and_pause_really_pauses(tab):
    again(tab)
    tab.wait_for_timeout(100)  # until the first frame is drawn
    before = pictures(tab)
    become(tab, "gaussianNeurons.frame?.seen > 50000")
    after = pictures(tab)
    assert len(before) == len(after) == 6
    assert before != after
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    tab.wait_for_timeout(100)  # until the last frame is drawn
    still = seen(tab), pictures(tab)
    tab.wait_for_timeout(500)
    assert (seen(tab), pictures(tab)) == still
    tab.locator("#step").click()
    become(tab, "n => gaussianNeurons.frame.seen === n", arg=still[0] + 1)
    tab.keyboard.press(" ")  # the button has the focus: the same as a click on it
    tab.keyboard.press(".")
    tab.locator("#pause").click()
    become(tab, "n => gaussianNeurons.frame.seen > n + 1000", arg=still[0])


def test_learned_ones_are_framed_and_the_others_dimmed(tab):
    become(tab, "gaussianNeurons.frame.seen > 100000")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    tab.wait_for_timeout(100)
    learned = tab.evaluate("[...gaussianNeurons.frame.learned]")
    shown = tab.evaluate("[...document.querySelectorAll('.filter')].map(it => Number(it.dataset.learned))")
    assert learned == shown
    assert 0 < sum(it == 1 for it in learned) < 6
    assert f"{sum(it == 1 for it in learned)} of 6" in tab.locator("#status-learned").inner_text()
    tab.locator("#pause").click()


def test_a_neuron_that_is_looked_at_tells_its_facts(tab):
    become(tab, "gaussianNeurons.frame.seen > 20000")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    tab.locator(".filter[data-neuron='3']").hover()
    become(tab, "document.querySelector('[data-fact=number]').textContent === '3'")
    facts = tab.evaluate(
        """Object.fromEntries([...document.querySelectorAll('[data-fact]')]
             .map(it => [it.dataset.fact, it.textContent]))"""
    )
    frame = tab.evaluate(
        "(f => [f.widths[2], f.distance[2], f.cosine[2], f.share[2]])(gaussianNeurons.frame)"
    )
    told = [
        float(re.sub(r"[^\d.e−-]", "", facts[name]).replace("−", "-"))
        for name in ("width", "distance", "cosine", "share")
    ]
    assert told == pytest.approx([*frame[:3], 100 * frame[3]], rel=0.05, abs=0.06)
    become(tab, "document.querySelectorAll('#inspector-patches li:not([hidden])').length === 6")
    tab.locator("#pause").click()


def test_a_click_removes_and_a_button_adds(tab, stripes):
    tab.locator(".filter[data-neuron='2']").click()
    become(tab, "gaussianNeurons.frame.ids.length === 5")
    tab.locator(".filter[data-neuron='2']").wait_for(state="detached")  # after the frame
    tab.locator("#add").click()
    become(tab, "gaussianNeurons.frame.ids.length === 6")
    tab.locator(".filter[data-neuron='7']").wait_for()
    assert setup_of(stripes).n_neurons == 6


def test_removing_a_filter_of_figure_2a_is_followed_by_its_being_learned_again(tabs):
    """In most tries, whichever learned filter it is; the moment of the click is nobody's choice."""
    sources = Sources()
    sources._absent |= {"mnist": "not here"}
    setup = defaults("mnist-sample", sources.load("mnist-sample", 0))
    with served(setup, sources) as one:
        tab = tabs(one.url)
        tab.locator("#preset").select_option("figure2a")
        become(tab, "gaussianNeurons.scene.preset === 'figure2a' && gaussianNeurons.frame !== null")
        relearned = []
        for turn in range(8):
            again(tab, "#new-seed" if turn == 4 else "#again")
            become(tab, "gaussianNeurons.frame?.seen > 400000")  # null while the preset starts
            centers, learned, ids = _filters(tab)
            which = learned[turn % len(learned)]
            tab.locator(f".filter[data-neuron='{ids[which]}']").click()
            become(tab, "id => !gaussianNeurons.frame.ids.includes(id)", arg=int(ids[which]))
            become(tab, "n => gaussianNeurons.frame.seen > n + 1000000", arg=seen(tab))
            after, still, _ = _filters(tab)
            relearned.append(bool(places.same(after[still], centers[which]).any()))
        assert tab.trouble == []
    assert sum(relearned) > len(relearned) / 2, relearned


def _filters(tab):
    """Centers (K, D), which of them are learned, and their numbers."""
    frame = tab.evaluate("(f => [[...f.centers], [...f.learned], [...f.ids]])(gaussianNeurons.frame)")
    centers = np.array(frame[0]).reshape(len(frame[2]), -1) / 255 * 2 - 0.5
    return centers, np.flatnonzero(np.array(frame[1]) == 1), frame[2]


# ---- every control does what it says --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("K", 9, "n_neurons"),
        ("sigma", 0.5, "width"),
        ("lambda", 0.25, "inhibition"),
        ("eta", 0.05, "learning_rate"),
        ("eta_sigma", 0.2, "width_learning_rate"),
        ("size", 3, "size"),
        ("speed", 1234, "speed"),
    ],
)
def test_a_number_that_is_typed_is_taken(tab, stripes, name, value, field):
    tab.locator(f"#{name}").fill(str(value))
    tab.locator(f"#{name}").press("Enter")
    until(stripes, lambda trial: getattr(trial.setup, field) == value)
    become(tab, "([n, v]) => new URLSearchParams(location.search).get(n) == v", arg=[name, value])
    if name == "K":
        until(stripes, lambda trial: len(trial.ids) == 9)
    elif name == "sigma":
        until(stripes, lambda trial: (trial.model.widths_ == 0.5).all())
    elif name in ("lambda", "eta", "eta_sigma"):
        until(stripes, lambda trial: getattr(trial.model, field) == value)
    elif name == "size":
        assert tab.evaluate("gaussianNeurons.scene.patch") == [3, 3, 1]


@pytest.mark.parametrize(
    ("name", "field"),
    [("K", "n_neurons"), ("sigma", "width"), ("lambda", "inhibition"), ("eta", "learning_rate"),
     ("eta_sigma", "width_learning_rate"), ("size", "size"), ("speed", "speed")],
)  # fmt: skip
def test_a_slider_moves_its_number(tab, stripes, name, field):
    before = getattr(setup_of(stripes), field)
    slider = tab.locator(f"#{name}-slider")
    slider.focus()
    key = "ArrowLeft" if name == "speed" else "ArrowRight"
    for _ in range(3):
        slider.press(key)
    until(stripes, lambda trial: getattr(trial.setup, field) != before)
    now = getattr(setup_of(stripes), field)
    assert now < before if name == "speed" else now > before


def test_noise_is_for_widths_that_are_learned(tab, stripes):
    assert tab.locator("#noise").is_hidden()
    tab.locator("#eta_sigma").fill("0.1")
    tab.locator("#eta_sigma").press("Enter")
    tab.locator("#noise").fill("0.3")
    tab.locator("#noise").press("Enter")
    until(stripes, lambda trial: trial.setup.noise == 0.3)


def test_a_number_that_is_refused_is_told_and_the_truth_shown_again(tab, stripes):
    tab.locator("#K").fill("1000000")
    tab.locator("#K").press("Enter")
    tab.locator("#toasts").get_by_text("400").first.wait_for()
    become(tab, "document.querySelector('#K').value === '6'")
    assert setup_of(stripes).n_neurons == 6


def test_chips_change_the_stream_as_it_runs(tab, stripes):
    tab.locator("[data-class='1']").click()
    until(stripes, lambda trial: trial.setup.classes == (1,))
    generation = tab.evaluate("gaussianNeurons.scene.generation")
    tab.locator("[data-class='0']").click()
    until(stripes, lambda trial: trial.setup.classes in (None, (0, 1)))
    tab.locator("[data-class='1']").click()
    tab.locator("[data-class='all']").click()
    until(stripes, lambda trial: trial.setup.classes is None)
    assert tab.evaluate("gaussianNeurons.scene.generation") == generation


def test_presets_start_the_papers_figures(tab, stripes):
    known = stripes.page.run.presets
    assert tab.locator("#preset option[data-preset]").count() == len(known) == 17
    for name in ("figure2d", "figure5d", "figure4", "figure1"):
        tab.locator("#preset").select_option(name)
        until(stripes, lambda trial, name=name: trial.setup.same_as(known[name].setup))
        become(tab, "name => gaussianNeurons.scene.preset === name", arg=name)
        assert known[name].hint[:30] in tab.locator("#story").inner_text()
    tab.locator("#plane").wait_for()


def test_data_is_chosen_and_what_is_not_here_cannot_be(tab, stripes):
    assert tab.locator("#data option[value='mnist']").is_disabled()
    tab.locator("#data").select_option("mixture")
    until(stripes, lambda trial: trial.mode == "plane")
    tab.locator("#plane").wait_for()
    assert tab.locator("#filters").is_hidden()
    tab.locator("#data").select_option("file")
    tab.locator(".filter").first.wait_for()


def test_start_again_and_a_new_seed(tab, stripes):
    become(tab, "gaussianNeurons.frame.seen > 1000")
    tab.locator("#again").click()
    become(tab, "gaussianNeurons.scene.generation > 1")
    assert setup_of(stripes).seed == 0
    tab.locator("#new-seed").click()
    until(stripes, lambda trial: trial.setup.seed == 1)
    become(tab, "document.querySelector('#seed').textContent === '1'")


def test_keys_do_what_buttons_do(tab, stripes):
    tab.locator("body").click(position={"x": 5, "y": 5})
    tab.keyboard.press(" ")
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    count = seen(tab)
    tab.keyboard.press(".")
    become(tab, "n => gaussianNeurons.frame.seen === n", arg=count + 1)
    tab.keyboard.press("n")
    until(stripes, lambda trial: trial.setup.seed == 1)
    tab.keyboard.press("+")
    until(stripes, lambda trial: len(trial.ids) == 7)
    tab.keyboard.press("?")
    assert tab.locator("#keys-dialog").is_visible()
    tab.keyboard.press("Escape")
    tab.locator(".filter[data-neuron='1']").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Delete")
    until(stripes, lambda trial: 2 not in trial.ids)
    tab.locator("#K").focus()
    tab.keyboard.press(".")  # typed, not obeyed
    assert seen(tab) == 0
    tab.locator("body").click(position={"x": 5, "y": 5})
    tab.keyboard.press(" ")
    become(tab, "gaussianNeurons.frame.state === 'running'")


def test_learned_widths_stand_on_the_grid(tab):
    assert set(tab.locator(".filter .width").all_text_contents()) == {""}
    tab.locator("#eta_sigma").fill("0.05")
    tab.locator("#eta_sigma").press("Enter")
    become(tab, "document.querySelector('.filter .width').textContent.startsWith('σ ')")


def test_the_story_stays_while_its_run_goes_on(tabs, stripes):
    tab = tabs(stripes.url)
    start(tab, stripes, STRIPES)
    assert tab.locator("#story").is_hidden()
    tab.locator("#preset").select_option("figure1")
    tab.locator("#story").wait_for()
    tab.locator("#lambda").fill("0.4")  # as stories ask for
    tab.locator("#lambda").press("Enter")
    become(tab, "gaussianNeurons.scene.preset === null && gaussianNeurons.scene.setup.lambda === 0.4")
    assert tab.locator("#story").is_visible()
    assert tab.trouble == []


def test_a_mark_may_take_the_place_of_the_last(tab):
    marks = tab.evaluate(
        """async () => {
             const { Curves } = await import('/page/curves.js');
             const canvas = () => document.createElement('canvas');
             const curves = new Curves({ learned: canvas(), cost: canvas(), rate: canvas() });
             curves.mark(10, 'μ₅ removed');
             curves.mark(20, '3 points painted');
             curves.mark(20, '6 points painted', true);
             return curves.marks;
           }"""
    )
    assert marks == [[10, "μ₅ removed"], [20, "6 points painted"]]


def test_numbers_are_written_for_people(tab):
    written = tab.evaluate(
        """async () => {
             const { counted, editable, measured, short } = await import('/page/numbers.js');
             return [
               ...[0, 9999, 9999.7, 1e6, 123456].map(counted), ...[5000, 0.25, -1.5e6].map(short),
               ...[9.9996, 0, 0.581, 123.4, 1e-5].map(value => measured(value)),
               ...[5.3e11, 0.0074].map(editable),
             ].map(text => text.replace('\u00a0', ' '));
           }"""
    )
    wanted = "0|9,999|10.0 k|1.00 M|123 k|5 k|0.25|−1.5 M|10.0|0.000|0.581|123|1e−5|5.3e11|0.0074"
    assert written == wanted.split("|")


# ---- links, saving --------------------------------------------------------------------------------


def test_every_state_is_a_link(tabs, stripes, lasting_tab):
    lasting_tab.goto("about:blank")  # nobody else watches
    wait_for(lambda: not stripes.page.run.watching)
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
    other.goto(link)
    until(stripes, lambda trial: (trial.setup.width, trial.setup.classes) == (0.7, (1,)))
    assert other.trouble == []
    other.close()
    lasting_tab.goto(stripes.url)
    become(lasting_tab, "gaussianNeurons.frame !== null")


def test_a_link_with_nonsense_is_told_of(tabs, stripes):
    tab = tabs(f"{stripes.url}?K=many&what=ever&sigma=-3&seed=<script>alert(1)</script>")
    tab.locator("#toasts").get_by_text("K").first.wait_for()
    become(tab, "gaussianNeurons.frame !== null")
    assert tab.trouble == []


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
    tab.locator("#show-script").click()
    become(tab, "document.querySelector('#script').textContent.includes('GaussianNeurons(')")
    compile(tab.locator("#script").text_content(), "script", "exec")
    tab.keyboard.press("Escape")


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


def test_closing_every_tab_stops_the_work(tabs, mixed, lasting_plane):
    tab = tabs(mixed.url)
    become(tab, "gaussianNeurons.frame.seen > 100")
    lasting_plane.goto("about:blank")
    tab.close()
    wait_for(lambda: not mixed.page.run.learning)
    lasting_plane.goto(mixed.url)
    wait_for(lambda: mixed.page.run.learning)
    become(lasting_plane, "gaussianNeurons.frame !== null")


def test_a_server_that_was_killed_and_comes_back_is_found_again(tabs):
    with served(STRIPES) as first:
        tab = tabs(first.url)
        start(tab, first, Setup("file", 5, 0.8, size=4))
        become(tab, "location.search.includes('sigma=0.8')")
        port = first.port
    tab.locator("#banner").wait_for()
    assert "lost" in tab.locator("#banner").inner_text().lower()
    assert tab.locator("#state").text_content() == "Not connected"
    assert tab.locator(".filter").count() == 5  # still there to look at
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
        assert again.locator(".filter").count() == 5


# ---- the plane ------------------------------------------------------------------------------------


def test_the_surface_is_the_papers(plane):
    random = np.random.default_rng(1)
    for count, samples in ((1, 1), (2, 1), (5, 1), (9, 7)):
        centers, widths = random.random((count, 2)), random.uniform(0.05, 0.4, count)
        x, which = random.random((samples, 2)), int(random.integers(count))
        found = plane.evaluate(
            """async ([centers, widths, which, samples, inhibition, box, nx, ny]) => {
                 const { surface } = await import('/page/surface.js');
                 const numbers = [centers, widths, samples].map(it => Float32Array.from(it));
                 return [...surface(numbers[0], numbers[1], which, numbers[2], inhibition, box, nx, ny)];
               }""",
            [centers.ravel().tolist(), widths.tolist(), which, x.ravel().tolist(), 0.3, [0, 0, 1, 1], 8, 6],
        )
        grid = np.stack(np.meshgrid((np.arange(8) + 0.5) / 8, (np.arange(6) + 0.5) / 6), axis=-1).reshape(
            -1, 2
        )
        order = np.r_[which, np.delete(np.arange(count), which)]
        wanted = np.mean(
            [cost_surface(grid, centers[order[1:]], one, widths[order], 0.3) for one in x], axis=0
        )
        assert np.abs(np.array(found) - wanted).max() < 1e-5


def test_a_neuron_is_dragged_and_painted_points_are_learned(plane, mixed):
    plane.locator("#pause").click()
    become(plane, "gaussianNeurons.frame.state === 'paused'")
    box = plane.locator("#plane").bounding_box()
    assert box["width"] > 400
    before = len(mixed.page.run.trial.points()["points"])
    plane.locator("#tool-paint").click()
    plane.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    plane.mouse.down()
    for k in range(10):
        plane.mouse.move(box["x"] + box["width"] / 2 + 3 * k, box["y"] + box["height"] / 2)
        plane.wait_for_timeout(30)
    plane.mouse.up()
    until(mixed, lambda trial: len(trial.points()["points"]) > before)
    plane.locator("#noise-points").click()
    until(mixed, lambda trial: len(trial.points()["points"]) >= before + 200)
    plane.locator("#unpaint").click()
    until(mixed, lambda trial: len(trial.points()["points"]) == before)
    plane.locator("#tool-drag").click()
    plane.locator("#add").click()
    until(mixed, lambda trial: len(trial.ids) == 9)


def test_the_plane_is_worked_with_the_keyboard(plane, mixed):
    plane.locator("#pause").click()
    become(plane, "gaussianNeurons.frame.state === 'paused'")
    plane.locator("#plane").focus()
    plane.keyboard.press("]")
    become(plane, "document.querySelector('[data-fact=number]').textContent !== ''")
    number = int(plane.locator("[data-fact=number]").text_content())
    place = mixed.page.run.ask(lambda trial: trial.model.centers_[trial.index(number)].copy()).result(10)
    plane.keyboard.press("ArrowRight")
    until(mixed, lambda trial: trial.model.centers_[trial.index(number)][0] > place[0])
    plane.keyboard.press("Delete")
    until(mixed, lambda trial: number not in trial.ids)


def test_the_surface_is_drawn_or_not(plane):
    become(plane, "gaussianNeurons.frame.seen > 200")
    sizes = {choice: _picture_size(plane, choice) for choice in ("off", "sample", "recent")}
    assert min(sizes["sample"], sizes["recent"]) > 1.2 * sizes["off"], sizes


def _picture_size(plane, choice):
    """How many bytes the plane takes as a picture, with one kind of surface."""
    plane.locator("#surface").select_option(choice)
    plane.wait_for_timeout(600)
    return len(plane.evaluate("document.querySelector('#plane').toDataURL()"))


# ---- made well ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["tab", "plane"])
def test_nothing_sticks_out_on_any_screen(request, mode):
    tab = request.getfixturevalue(mode)
    for width in (320, 390, 768, 1100, 1600):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.wait_for_timeout(100)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        stage = tab.locator(".filter").first if mode == "tab" else tab.locator("#plane")
        assert stage.bounding_box()["width"] > 20
        assert tab.locator("#pause").is_visible()
    tab.set_viewport_size({"width": 1280, "height": 860})


CONTRAST = """() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const under = element => {
    for (let it = element; it; it = it.parentElement) {
      const colour = parse(getComputedStyle(it).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(it => it.nodeType === 3 && it.textContent.trim());
    if (!own || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest('svg') || element.closest('[disabled]')) continue;
    const both = [parse(getComputedStyle(element).color), under(element)].map(light).sort((x, y) => y - x);
    const contrast = (both[0] + 0.05) / (both[1] + 0.05);
    if (contrast < 4.5) poor.push([element.outerHTML.slice(0, 100), contrast]);
  }
  return poor;
}"""


def test_chosen_colours_are_there_before_the_page_is(tabs, stripes):
    tab = tabs(stripes.url)
    tab.evaluate("localStorage.setItem('gaussian-neurons-theme', 'dark')")
    tab.route("**/page/main.js", lambda route: route.abort())
    tab.goto(stripes.url)
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("mode", ["tab", "plane"])
def test_words_can_be_read_in_light_and_dark(request, mode):
    tab = request.getfixturevalue(mode)
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_timeout(300)
        assert tab.evaluate(CONTRAST) == []
        red = tab.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
        assert (red < 100) == (scheme == "dark")


def test_every_control_has_a_name(tab):
    nameless = tab.evaluate(
        """() => [...document.querySelectorAll('button, input, select, summary, a[href]')]
             .filter(it => it.checkVisibility())
             .filter(it => !(it.getAttribute('aria-label') || it.textContent.trim() || it.title
                             || (it.labels && it.labels.length) || it.getAttribute('aria-labelledby')))
             .map(it => it.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
