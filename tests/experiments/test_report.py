"""The report: numbers over the seeds worked out by hand, the page in a browser, the document."""

import re
import shutil
from dataclasses import replace

import pytest

from gaussian_neurons.experiments import data, reproduction
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, select
from gaussian_neurons.experiments.experiment import Claim, Quantity
from gaussian_neurons.experiments.report import document, page
from gaussian_neurons.experiments.report.origin import origin
from gaussian_neurons.experiments.report.strip import strip
from gaussian_neurons.experiments.report.summary import Spread, Summary, Support, format_seeds
from tests.experiments.test_experiments import DATA

# ---- numbers over the seeds -----------------------------------------------------------------------


def spread(published, *values, digits=0):
    quantity = Quantity("filters", lambda result: None, published, digits)
    return Spread(quantity, dict(enumerate(values)), len(values))


def test_a_quantity_over_the_seeds():
    it = spread(7, 5, 7, 8)
    assert (it.published, it.ours) == ("7", "7 (5 to 8)")
    # Wilson's interval for 1 of 3: (1/3 + z²/6 ± z √(1/3 · 2/3 / 3 + z²/36)) / (1 + z²/3), with z = 1.96
    assert it.reached == "33 % (6 % to 79 %) of 3 seeds; 7 or more: 67 % (21 % to 94 %)"
    assert spread(7, 4, 5).ours == "4.5 (4 to 5)"
    assert spread(7, 4, 5).reached == "0 % (0 % to 66 %) of 2 seeds"
    assert spread(3, 3, 3).reached == "100 % (34 % to 100 %) of 2 seeds"
    assert spread(3, 3).reached == "equal"
    assert spread(3, 4).reached == "different"
    assert spread(None, 4, 5).reached == ""
    assert spread(None, 4).published == "–"
    assert spread(None).ours == "–"
    assert spread(4.6, 4.56, 4.64, 4.7, digits=1).reached.startswith("67 %")
    assert "or more" not in spread(4.6, 4.56, 4.64, 4.7, digits=1).reached
    assert spread(-0.1, -0.12, digits=1).ours == "−0.1"
    assert spread(None, -0.01, digits=1).ours == "0.0"
    some = Spread(spread(5.0, digits=1).quantity, {0: 5.0, 3: 5.0}, seeds=5)
    assert some.ours == "5.0, in 2 of 5 seeds"
    assert some.reached.startswith("40 %")  # a seed without the number does not reach it


def test_the_headline_is_the_first_published_number_or_the_first_claim():
    result = {"learned": 7, "cases": [True]}
    claim = Claim("A claim.", lambda result: result["cases"])
    numbers = (Quantity("other filters", lambda result: 3), Quantity("filters", lambda r: r["learned"], 7))
    experiment = replace(EXPERIMENTS["figure2a"], quantities=numbers, claims=(claim,))
    assert Summary(experiment, {0: result}).headline == ("7 filters", "equal")
    experiment = replace(experiment, quantities=numbers[:1])
    assert Summary(experiment, {0: result}).headline == ("A claim.", "holds")


@pytest.mark.parametrize(
    ("cases", "support", "words"),
    [
        ([[True], [True]], Support.always, "holds in 2 of 2 seeds: 100 % (34 % to 100 %)"),
        ([[True], [True], [False]], Support.sometimes, "holds in 2 of 3 seeds: 67 % (21 % to 94 %)"),
        (
            [[True], [False], [False], [False], [False]],
            Support.rarely,
            "holds in 1 of 5 seeds: 20 % (4 % to 62 %)",
        ),
        ([[True, False], [True, True]], Support.mostly, "holds in 3 of 4 cases over 2 seeds"),
        ([[False, True, False, False]], Support.sometimes, "holds in 1 of 4 cases"),
        ([[True]], Support.always, "holds"),
        ([[False]], Support.rarely, "does not hold"),
        ([[], []], Support.untested, "not tested by these results"),
        (
            [[True], [], []],
            Support.always,
            "holds in 1 of 1 seeds: 100 % (21 % to 100 %); not tested by 2 of 3 seeds",
        ),
    ],
)
def test_a_claim_over_the_seeds(cases, support, words):
    claim = Claim("A claim.", lambda result: result["cases"])
    experiment = replace(EXPERIMENTS["figure2a"], quantities=(), claims=(claim,))
    (verdict,) = Summary(experiment, {seed: {"cases": it} for seed, it in enumerate(cases)}).verdicts
    assert (verdict.support, verdict.how_often) == (support, words)


def test_missing_comparisons():
    experiment = EXPERIMENTS["figure5c"]
    assert experiment.compares_with == ("figure5d", "figure5e")

    def missing(*results):
        return Summary(experiment, dict(enumerate(results))).missing

    assert missing({}) == ["figure5d", "figure5e"]
    assert missing({}, {"compared": {"with": ["figure5d"]}}) == ["figure5e"]
    assert missing({"compared": {"with": ["figure5d", "figure5e"]}}) == []


def test_a_strip_plot_has_a_dot_for_each_seed_and_a_line_for_the_paper():
    drawn = strip(spread(7, 5, 7, 7, 9))
    positions = [float(x) for x in re.findall(r'<circle class="ours" cx="([\d.]+)"', drawn)]
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawn)]
    assert len(positions) == 4
    assert positions[1] == positions[2] == (positions[0] + positions[3]) / 2
    assert heights[1] != heights[2]  # equal values are stacked
    assert f'class="paper" x1="{positions[1]}"' in drawn
    assert strip(spread(7, 5)) == ""
    assert "paper" not in strip(spread(None, 1, 2)).split(">", 1)[1]


def test_seeds_are_formatted_with_ranges():
    assert format_seeds([]) == ""
    assert format_seeds([9, 0, 1, 2, 4]) == "0–2, 4, 9"


# ---- the page -------------------------------------------------------------------------------------


# one of each kind of picture: closed forms, grids in grey and colour, panels, a table
NAMES = ("figure1", "figure2a", "table1", "figure2e", "width-equation", "figure4", "figure5c", "figure5d")
SHOWN = {experiment.name: experiment for experiment in select(NAMES)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Some experiments with two seeds at toy size, with report and document."""
    out = tmp_path_factory.mktemp("reproduction")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "_loaded", {(name, data.FULL, None): it for name, it in DATA.items() if name})
        patch.setattr(reproduction, "DPI", 40)
        plan = reproduction.Plan(select(NAMES), (0, 1), out, 2e-4, jobs=1)
        assert reproduction.reproduce(plan, reproduction.Listener()) == []
        found = reproduction.current_results(plan)
    summaries = [Summary(EXPERIMENTS[name], by_seed) for name, by_seed in found.items()]
    source = origin(summaries, data.SAMPLE, 2e-4)
    page.write(out / "report.html", summaries, source)
    document.write(out / "doc" / "reproduction.md", summaries, source, out)
    return out


@pytest.fixture(scope="module")
def tab(browser, folder):
    """A tab with the page, which records messages and requests."""
    view = browser.new_page(viewport={"width": 1100, "height": 900})
    view.set_default_timeout(60_000)
    view.messages, view.requests = [], []
    view.on("console", lambda message: view.messages.append(message.text))
    view.on("pageerror", lambda error: view.messages.append(str(error)))
    view.on("request", lambda request: view.requests.append(request.url))
    view.goto((folder / "report.html").as_uri())
    yield view
    view.close()


@pytest.fixture
def opened(tab):
    """The page as it is at first."""
    tab.set_viewport_size({"width": 1100, "height": 900})
    tab.emulate_media(media="screen", color_scheme="light")
    return tab


def test_the_page_has_every_experiment_with_its_picture(opened):
    assert opened.messages == []
    assert opened.locator("section").count() == len(SHOWN)
    for name, experiment in SHOWN.items():
        section = opened.locator(f"section#{name}")
        picture = section.locator("figure > svg").first
        assert picture.is_visible()
        box = picture.bounding_box()
        assert box["width"] > 200, name
        assert box["height"] > 150, name
        assert section.locator("table.numbers tbody tr").count() == len(experiment.quantities)
        assert section.locator("ul.claims li").count() == len(experiment.claims)
    opened.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    images = opened.locator("img")
    # two seeds and one in the first table; figure1 and the width equation have neither
    assert images.count() == 3 * (len(SHOWN) - 2)
    assert opened.evaluate("[...document.images].every(it => it.complete && it.naturalWidth > 20)")


def test_the_page_needs_no_other_files(opened, folder, browser, tmp_path):
    assert [url for url in opened.requests if not url.startswith("data:")] == [
        (folder / "report.html").as_uri()
    ]
    shutil.copyfile(folder / "report.html", tmp_path / "moved.html")
    alone = browser.new_page()
    failed = []
    alone.on("requestfailed", lambda request: failed.append(request.url))
    alone.goto((tmp_path / "moved.html").as_uri())
    assert failed == []
    assert alone.locator("figure > svg").count() == len(SHOWN)
    alone.close()


def test_links_have_targets(opened, folder):
    targets = opened.evaluate("[...document.querySelectorAll('a')].map(it => it.getAttribute('href'))")
    assert len(targets) > 20
    for target in targets:
        if target.startswith("#"):
            assert opened.locator(f"section{target}").count() == 1, target
        else:
            assert (folder / target).is_file(), target
    opened.locator("nav a", has_text="Figure 5d").click()
    assert opened.url.endswith("#figure5d")
    assert opened.locator("section#figure5d h2").is_visible()


def test_ids_in_the_page_are_unique(opened):
    """Inline pictures must not use the clips and markers of each other."""
    ids = opened.evaluate("[...document.querySelectorAll('[id]')].map(it => it.id)")
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"""(?:url\(|href=")#([^)"]+)""", opened.content()))
    assert used <= set(ids)


def test_the_page_fits_on_all_screens(opened):
    opened.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
    for width in (320, 390, 768, 1400):
        opened.set_viewport_size({"width": width, "height": 800})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_has_light_text_also_in_pictures(opened):
    def luminance(colour):
        return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3

    ink = "getComputedStyle(document.querySelector('{}')).{}"
    texts = {"body": "color", "section#table1 figure > svg text": "fill"}
    for scheme, bright in (("light", False), ("dark", True)):
        opened.emulate_media(color_scheme=scheme)
        for source, what in texts.items():
            assert (luminance(opened.evaluate(ink.format(source, what))) > 150) == bright, source
        assert (luminance(opened.evaluate(ink.format("body", "backgroundColor"))) < 100) == bright


def test_print_has_a_white_background(opened):
    opened.emulate_media(media="print", color_scheme="dark")
    assert opened.locator("nav").is_visible()
    assert opened.locator("section#figure2a figure > svg").is_visible()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_page_names_data_scale_and_backend(opened):
    notes = " ".join(opened.locator(".note").all_inner_texts())
    assert "bundled digits" in notes
    assert "0.0002" in notes
    facts = dict(
        zip(*(opened.locator(f"header {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True)
    )
    assert "synthetic, 20 images" in facts["data"]
    assert facts["backend"] == "auto"


def test_small_pictures_show_different_seeds(opened):
    for name in ("figure2a", "figure4"):
        figures = opened.locator(f"section#{name} .seeds figure")
        sources = [figures.nth(k).locator("img").get_attribute("src") for k in range(2)]
        assert sources[0] != sources[1]
        assert "seed 1" in figures.nth(1).locator("img").get_attribute("alt")


def test_experiments_without_results_are_named():
    some = [Summary(EXPERIMENTS[name], {None: {"seed": None}}) for name in ("figure1",)]
    assert page._scope(some) == "1 of the 25 figures, tables and claims"
    assert "figure2a, table1" in page._not_run(some)
    assert "figure1" not in page._not_run(some)


def test_the_document_has_all_pictures_and_claims(folder):
    text = (folder / "doc" / "reproduction.md").read_text()
    for name, experiment in SHOWN.items():
        assert f"(reproduction/{name}.png)" in text
        assert (folder / "doc" / "reproduction" / f"{name}.png").is_file()
        for claim in experiment.claims:
            assert claim.text in text
    anchors = {
        re.sub(r"[^\w -]", "", it.lower()).replace(" ", "-") for it in re.findall(r"^## (.+)$", text, re.M)
    }
    linked = re.findall(r"\]\(#([^)]+)\)", text)
    assert len(linked) == len(SHOWN)
    assert set(linked) <= anchors
    assert "commit" in text
    assert "*holds*" in text
