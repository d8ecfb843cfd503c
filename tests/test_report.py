"""The report: numbers over the seeds by hand; the page in a real browser; the document."""

import re
import shutil
from dataclasses import replace

import pytest

from gaussian_neurons.experiments import data, reproduction
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, chosen
from gaussian_neurons.experiments.experiment import Claim, Quantity
from gaussian_neurons.experiments.report import document, page
from gaussian_neurons.experiments.report.origin import origin
from gaussian_neurons.experiments.report.strip import strip
from gaussian_neurons.experiments.report.summary import Spread, Standing, Summary, Verdict, seeds_in_words
from tests.test_experiments import DATA

# ---- numbers over the seeds -----------------------------------------------------------------------


def spread(published, *values, digits=0):
    quantity = Quantity("filters", lambda result: None, published, digits)
    return Spread(quantity, dict(enumerate(values)), len(values))


def test_a_quantity_over_the_seeds():
    it = spread(7, 5, 7, 8)
    assert (it.published, it.ours, it.place) == ("7", "7 (5 to 8)", "ours: 1 below it, 1 equal, 1 above")
    assert spread(7, 4, 5).place == "the paper is above all 2"
    assert spread(7, 4, 5).ours == "4.5 (4 to 5)"
    assert spread(3, 4, 5).place == "the paper is below all 2"
    assert spread(3, 3, 3).place == "the same in all 2"
    assert spread(3, 3).place == "the same"
    assert spread(3, 4).place == "differs"
    assert spread(None, 4).published == "–"
    assert spread(None).ours == "–"
    assert spread(4.6, 4.56, 4.64, digits=1).place == "the same in all 2"
    assert spread(-0.1, -0.12, digits=1).ours == "−0.1"
    assert spread(None, -0.01, digits=1).ours == "0.0"
    some = Spread(spread(5.0, digits=1).quantity, {0: 5.0, 3: 5.0}, seeds=5)
    assert some.ours == "5.0, in 2 of 5 seeds"


@pytest.mark.parametrize(
    ("tries", "standing", "words"),
    [
        ([[True], [True]], Standing.holds, "holds in 2 of 2 seeds"),
        ([[True], [True], [False]], Standing.partly, "holds in 2 of 3 seeds"),
        ([[True], [False], [False], [False], [False]], Standing.seldom, "holds in 1 of 5 seeds"),
        ([[True, False], [True, True]], Standing.mostly, "holds in 3 of 4 cases over 2 seeds"),
        ([[False, True, False, False]], Standing.partly, "holds in 1 of 4 cases"),
        ([[True]], Standing.holds, "holds"),
        ([[False]], Standing.seldom, "does not hold"),
        ([[], []], Standing.unknown, "not tested by these results"),
        ([[True], [], []], Standing.holds, "holds in 1 of 1 seeds; 2 of 3 seeds do not tell"),
    ],
)
def test_a_claim_over_the_seeds(tries, standing, words):
    claim = Claim("It is so.", lambda result: result["tries"])
    experiment = replace(EXPERIMENTS["figure2a"], quantities=(), claims=(claim,))
    (verdict,) = Summary(experiment, {seed: {"tries": it} for seed, it in enumerate(tries)}).verdicts
    assert isinstance(verdict, Verdict)
    assert (verdict.standing, verdict.how_often) == (standing, words)


def test_what_is_still_to_be_compared_with():
    experiment = EXPERIMENTS["figure5c"]
    assert experiment.compares_with == ("figure5d", "figure5e")

    def missing(*results):
        return Summary(experiment, dict(enumerate(results))).missing

    assert missing({}) == ["figure5d", "figure5e"]
    assert missing({}, {"compared": {"with": ["figure5d"]}}) == ["figure5e"]
    assert missing({"compared": {"with": ["figure5d", "figure5e"]}}) == []


def test_a_strip_has_a_dot_for_each_seed_and_a_line_for_the_paper():
    drawn = strip(spread(7, 5, 7, 7, 9))
    places = [float(x) for x in re.findall(r'<circle class="ours" cx="([\d.]+)"', drawn)]
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawn)]
    assert len(places) == 4
    assert places[1] == places[2] == (places[0] + places[3]) / 2
    assert heights[1] != heights[2]  # equal ones on top of each other
    assert f'class="paper" x1="{places[1]}"' in drawn
    assert strip(spread(7, 5)) == ""
    assert "paper" not in strip(spread(None, 1, 2)).split(">", 1)[1]


def test_seeds_are_told_shortly():
    assert seeds_in_words([]) == ""
    assert seeds_in_words([3]) == "3"
    assert seeds_in_words([9, 0, 1, 2, 4]) == "0–2, 4, 9"


# ---- the page -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All experiments with two seeds at toy size, with report and document."""
    out = tmp_path_factory.mktemp("reproduction")
    before = dict(data._loaded)
    data._loaded.update({(name, data.FULL, None): it for name, it in DATA.items() if name})
    plan = reproduction.Plan(chosen(["all"]), (0, 1), out, 2e-4, jobs=1)
    assert reproduction.reproduce(plan, reproduction.Audience()) == []
    summaries = [Summary(EXPERIMENTS[name], some) for name, some in reproduction.collected(plan).items()]
    data._loaded.clear()
    data._loaded.update(before)
    where = origin(summaries, data.SAMPLE, 2e-4)
    page.write(out / "report.html", summaries, where)
    document.write(out / "doc" / "reproduction.md", summaries, where, out)
    return out


@pytest.fixture
def opened(browser, folder):
    """The page, and everything that it complained of or asked for."""
    view = browser.new_page(viewport={"width": 1100, "height": 900})
    view.set_default_timeout(60_000)
    view.trouble, view.asked = [], []
    view.on("console", lambda message: view.trouble.append(message.text))
    view.on("pageerror", lambda error: view.trouble.append(str(error)))
    view.on("request", lambda request: view.asked.append(request.url))
    view.goto((folder / "report.html").as_uri())
    yield view
    view.close()


def test_the_page_has_every_experiment_with_its_picture(opened):
    assert opened.trouble == []
    assert opened.locator("section").count() == 20
    for name in EXPERIMENTS:
        section = opened.locator(f"section#{name}")
        picture = section.locator("figure > svg").first
        assert picture.is_visible()
        box = picture.bounding_box()
        assert box["width"] > 200, name
        assert box["height"] > 150, name
        assert section.locator("table.numbers tbody tr").count() == len(EXPERIMENTS[name].quantities)
        assert section.locator("ul.claims li").count() == len(EXPERIMENTS[name].claims)
    opened.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    images = opened.locator("img")
    assert images.count() == 18 * 2  # two seeds of all but figure1 and the width equation
    assert opened.evaluate("[...document.images].every(it => it.complete && it.naturalWidth > 20)")


def test_the_page_needs_nothing_but_itself(opened, folder, browser, tmp_path):
    assert [url for url in opened.asked if not url.startswith("data:")] == [(folder / "report.html").as_uri()]
    shutil.copyfile(folder / "report.html", tmp_path / "moved.html")
    alone = browser.new_page()
    failed = []
    alone.on("requestfailed", lambda request: failed.append(request.url))
    alone.goto((tmp_path / "moved.html").as_uri())
    assert failed == []
    assert alone.locator("figure > svg").count() == 20
    alone.close()


def test_links_lead_somewhere(opened, folder):
    targets = opened.evaluate("[...document.querySelectorAll('a')].map(it => it.getAttribute('href'))")
    assert len(targets) > 60
    for target in targets:
        if target.startswith("#"):
            assert opened.locator(f"section{target}").count() == 1, target
        else:
            assert (folder / target).is_file(), target
    opened.locator("nav a", has_text="figure5f").click()
    assert opened.url.endswith("#figure5f")
    assert opened.locator("section#figure5f h2").is_visible()


def test_names_in_the_page_are_used_once(opened):
    """Pictures drawn apart must not take each other's clips and markers."""
    names = opened.evaluate("[...document.querySelectorAll('[id]')].map(it => it.id)")
    assert len(names) == len(set(names))
    used = set(re.findall(r"""(?:url\(|href=")#([^)"]+)""", opened.content()))
    assert used <= set(names)


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_nothing_sticks_out_on_any_screen(opened, width):
    opened.set_viewport_size({"width": width, "height": 800})
    opened.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_in_the_dark_words_are_light_also_in_pictures(opened):
    def luminance(colour):
        return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3

    ink = "getComputedStyle(document.querySelector('{}')).{}"
    texts = {"body": "color", "section#table1 figure > svg text": "fill"}
    for scheme, bright in (("light", False), ("dark", True)):
        opened.emulate_media(color_scheme=scheme)
        for where, what in texts.items():
            assert (luminance(opened.evaluate(ink.format(where, what))) > 150) == bright, where
        assert (luminance(opened.evaluate(ink.format("body", "backgroundColor"))) < 100) == bright


def test_on_paper_it_is_black_on_white(opened):
    opened.emulate_media(media="print", color_scheme="dark")
    assert opened.locator("nav").is_visible()
    assert opened.locator("section#figure2a figure > svg").is_visible()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_page_says_what_the_data_is(opened):
    notes = " ".join(opened.locator(".note").all_inner_texts())
    assert "not the paper's data" in notes
    assert "0.0002 of the paper's samples" in notes
    assert "made up, 20 images" in opened.locator("header").inner_text()


def test_small_pictures_are_each_of_its_own_seed(opened):
    for name in ("figure2a", "figure4"):
        figures = opened.locator(f"section#{name} .seeds figure")
        sources = [figures.nth(k).locator("img").get_attribute("src") for k in range(2)]
        assert sources[0] != sources[1]
        assert "seed 1" in figures.nth(1).locator("img").get_attribute("alt")


def test_what_was_not_run_is_told(folder):
    some = [Summary(EXPERIMENTS[name], {None: {"seed": None}}) for name in ("figure1",)]
    assert page._how_many(some) == "1 of the 20 figures and tables"
    assert "figure2a, table1" in page._left_out(some)
    assert "figure1" not in page._left_out(some)


def test_the_document_shows_the_same(folder):
    text = (folder / "doc" / "reproduction.md").read_text()
    for name, experiment in EXPERIMENTS.items():
        assert f"(reproduction/{name}.png)" in text
        assert (folder / "doc" / "reproduction" / f"{name}.png").is_file()
        for claim in experiment.claims:
            assert claim.text in text
    anchors = {
        re.sub(r"[^\w -]", "", it.lower()).replace(" ", "-") for it in re.findall(r"^## (.+)$", text, re.M)
    }
    linked = re.findall(r"\]\(#([^)]+)\)", text)
    assert len(linked) == 20
    assert set(linked) <= anchors
    assert "commit" in text
    assert "*holds*" in text
