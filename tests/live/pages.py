"""A page in a real browser: opened, and waited for."""

from tests.waiting import wait_for

SOON = 60_000  # milliseconds
PLANE = "document.querySelector('#plane').plane"


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


def start(tab, served, setup):
    """Begin anew with a setup, running."""
    tab.bring_to_front()  # a tab behind others is drawn once a second
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


def drawn(tab):
    """Wait until what the page has heard of is on the screen."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def choose_surface(plane, choice):
    """A kind of surface in the plane, and wait until it is painted."""
    plane.locator("#surface").select_option(choice)
    become(
        plane,
        f"shown => {PLANE}.surface.shown === shown && {PLANE}.surface.painted === shown",
        arg=choice != "off",
    )


def setup_of(served):
    return served.ask(lambda trial: trial.setup)


def until(served, what):
    """Wait until the trial is as wanted."""
    return wait_for(lambda: served.ask(what))


def seen(tab):
    return tab.evaluate("gaussianNeurons.frame.seen")


def pictures(tab):
    return tab.evaluate("[...document.querySelectorAll('.filter canvas')].map(it => it.toDataURL())")
