"""Pages in a real browser."""

from contextlib import contextmanager

from tests.waiting import wait_for

TIMEOUT = 60_000  # milliseconds
SIZE = {"width": 1280, "height": 860}
PLANE = "document.querySelector('#plane').plane"


def opener(browser):
    """A generator of one function that opens pages, which collect console messages and requested URLs."""
    context = browser.new_context(viewport=SIZE, accept_downloads=True)

    def opened(url, wait=True, clock=False):
        """clock: whether the test advances the time of the page, with page.clock."""
        page = context.new_page()
        if clock:
            page.clock.install()
        page.problems, page.requested = [], []
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("request", lambda request: page.requested.append(request.url))
        page.on("websocket", lambda socket: page.requested.append(socket.url))
        page.set_default_timeout(TIMEOUT)
        page.goto(url)
        if wait:
            until(page, "gaussianNeurons.frame !== null")
        return page

    yield opened
    context.close()


def until(page, condition, arg=None):
    """Wait for a condition in the page. (Playwright's own function needs eval, which the page forbids.)"""
    return wait_for(lambda: page.evaluate(condition, arg))


def start(page, setup, size=SIZE):
    """Start a trial that runs, and wait for its first frame."""
    page.bring_to_front()  # browsers draw other tabs once a second
    page.evaluate("document.querySelectorAll('.toast button').forEach(it => it.click())")
    if size is not None and page.viewport_size != size:
        resize(page, **size)
    generation = page.served.run.generation
    for command in (("resume", {}), ("start", {"setup": setup.as_json()})):
        page.served.run.submit(0, command)
    until(
        page,
        "([g, K]) => gaussianNeurons.scene?.generation > g && gaussianNeurons.frame?.ids.length === K",
        arg=[generation, setup.n_neurons],
    )


def rest(page):
    """Leave the processor to other tests."""
    page.served.run.submit(0, ("pause", {}))


def restart(page, button="#again"):
    """Press a restart button and wait for the first frame."""
    generation = page.evaluate("gaussianNeurons.scene.generation")
    page.locator(button).click()
    until(page, "g => gaussianNeurons.scene.generation > g && gaussianNeurons.frame !== null", arg=generation)


def pause(page):
    page.locator("#pause").click()
    until(page, "gaussianNeurons.frame.state === 'paused'")


def enter(page, name, value):
    """Type a value into a field."""
    page.locator(f"#{name}").fill(str(value))
    page.locator(f"#{name}").press("Enter")


def resize(page, width, height):
    """Resize the window, and wait until the page has adapted to it."""
    page.set_viewport_size({"width": width, "height": height})
    until(page, "([w, h]) => innerWidth === w && innerHeight === h", arg=[width, height])
    drawn(page)


def drawn(page):
    """Wait until the page has drawn what it has received."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def choose(page, kind, name):
    """Choose data or a preset by its picture."""
    page.locator("#choose").click()
    page.locator(f"#gallery [data-{kind}='{name}']").click()


def choose_surface(page, choice):
    """Choose a surface in the plane, and wait until it is painted."""
    page.locator("#surface").select_option(choice)
    until(
        page,
        f"shown => {PLANE}.surface.shown === shown && {PLANE}.surface.painted === shown",
        arg=choice != "off",
    )


def seen(page):
    return page.evaluate("gaussianNeurons.frame.seen")


def pictures(page):
    return page.evaluate("[...document.querySelectorAll('.filter canvas')].map(it => it.toDataURL())")


@contextmanager
def recorded(page, name):
    """A list that gets the calls of a method of canvases: the arguments, then {strokeStyle, globalAlpha}."""
    page.evaluate(
        """name => {
             const canvas = CanvasRenderingContext2D.prototype;
             const method = canvas[name];
             window.calls = [];
             window.stopRecording = () => { canvas[name] = method; return window.calls; };
             canvas[name] = function (...given) {
               const { strokeStyle, globalAlpha } = this;
               const plain = given.map(it => typeof it === 'object' ? null : it);
               window.calls.push([...plain, { strokeStyle, globalAlpha }]);
               return method.apply(this, given);
             };
           }""",
        name,
    )
    calls = []
    try:
        yield calls
    finally:
        calls += page.evaluate("stopRecording()")
