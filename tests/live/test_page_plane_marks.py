"""What stands on the plane and what tells of it: the legend, numbers, ticks, arrowheads, the colour bar."""

import pytest

from tests.live.pages import PLANE, become, choose_surface, drawn

pytest.importorskip("playwright.sync_api")


LEGEND = """() => {
  const seen = it => it.checkVisibility({ visibilityProperty: true });
  const all = [...document.querySelectorAll('.marks li')].filter(seen);
  const boxes = all.map(it => it.getBoundingClientRect());
  boxes.sort((a, b) => a.top - b.top || a.left - b.left);
  const gap = (box, before) => box.top > before.top ? null : box.left - before.right;
  const { color } = getComputedStyle(document.querySelector('.marks .other'));
  return [boxes.slice(1).map((box, k) => gap(box, boxes[k])), color.match(/[0-9]+/g).map(Number)];
}"""


def test_the_legend_has_no_holes_and_the_colours_of_the_picture(plane):
    plane.locator("#pause").click()
    become(plane, f"gaussianNeurons.frame.state === 'paused' && {PLANE}.samples.current !== null")
    for choice, name in (("off", "pushed"), ("sample", "ink"), ("recent", "ink")):
        choose_surface(plane, choice)
        drawn(plane)
        gaps, colour = plane.evaluate(LEGEND)
        within = [gap for gap in gaps if gap is not None]
        assert max(within) - min(within) < 0.5
        wanted = plane.evaluate(
            f"import('/page/canvas_theme.js').then(it => [...it.toRGB({PLANE}.theme.{name})])"
        )
        assert colour == wanted
    plane.locator("#surface").select_option("off")


@pytest.mark.parametrize(("width", "lines"), [(1100, 2), (1280, 2), (1440, 1), (1920, 1)])
def test_no_entry_of_the_legend_stands_alone(plane, width, lines):
    plane.set_viewport_size({"width": width, "height": 860})
    plane.locator("#pause").click()
    become(plane, f"gaussianNeurons.frame.state === 'paused' && {PLANE}.samples.current !== null")
    for choice in ("off", "sample", "recent"):
        choose_surface(plane, choice)
        drawn(plane)
        gaps, _ = plane.evaluate(LEGEND)
        counts = [1]
        for gap in gaps:
            counts[-1:] = [counts[-1], 1] if gap is None else [counts[-1] + 1]
        assert len(counts) <= lines
        assert min(counts) > 1
    plane.locator("#surface").select_option("off")
    plane.set_viewport_size({"width": 1280, "height": 860})


CROWD = """async () => {
  const { Labels } = await import('/page/plane_labels.js');
  const { arrowSpots, beyond } = await import('/page/plane_border.js');
  const view = { width: 360, height: 300, scale: 1, x: x => x, y: y => y };
  const places = [];
  for (let x = -40; x <= 400; x += 44) for (let y = -30; y <= 330; y += 45) places.push(x, y);
  const count = places.length / 2;
  const ids = Array.from({ length: count }, (_, k) => k + 1);
  const neurons = { count, ids, learned: ids.map(k => k % 2), widths: ids.map(() => 100), places };
  const edges = { left: 40, bottom: 20 };
  const arrows = beyond(view, neurons, edges);
  const labels = new Labels().place(view, neurons, [], arrowSpots(arrows), edges);
  const spans = labels.map(({ index, x, y, align }) => {
    const wide = 7 * String(ids[index]).length;
    return align === 'left' ? [x, x + wide, y] : [x - wide, x, y];
  });
  return [spans, arrowSpots(arrows), count];
}"""


def test_the_edge_belongs_to_the_ticks(plane):
    spans, spots, count = plane.evaluate(CROWD)
    assert len(spans) + len(spots) // 2 == count
    for left, right, baseline in spans:
        assert 39 <= left < right <= 360
        assert 10 <= baseline <= 300 - 20
    for x, y in spots:
        assert 40 < x < 360
        assert 0 < y < 300 - 20


def test_no_tick_is_lost_to_an_arrowhead(plane):
    plain, crowded = plane.evaluate(
        """async () => {
             const { drawTicks } = await import('/page/plane_marks.js');
             const { axes } = await import('/page/plane_axes.js');
             const places = { x: x => 400 * x, y: y => 300 - 400 * y };
             const view = { width: 400, height: 300, box: () => [0, 0, 1, 0.75], ...places };
             const written = arrows => {
               const texts = [];
               const context = { fillText: text => texts.push(text), strokeText() {}, fillRect() {} };
               drawTicks(context, view, { font: 'serif' }, axes(view, null), arrows);
               return texts;
             };
             const crowd = Array.from({ length: 40 }, (_, k) => ({ x: 10 * k, y: 269 }));
             return [written([]), written(crowd)];
           }"""
    )
    assert plain == crowded
    assert len(plain) > 5


def test_no_number_is_cut_by_the_plate_of_the_colour_bar(plane):
    choose_surface(plane, "recent")
    drawn(plane)
    numbers, plate = plane.evaluate(
        f"""async () => {{
             const {{ plateOf }} = await import('/page/plane_bar.js');
             const {{ context, view, theme, surface }} = {PLANE};
             const plate = plateOf(context, view, theme, surface.bar());
             return [{PLANE}.numbers.map(it => it.middle), plate];
           }}"""
    )
    assert plate["right"] < plane.evaluate(f"{PLANE}.view.width") - 30
    assert 34 <= plate["top"] < plate["bottom"]
    for x, y in numbers:
        within = plate["left"] < x < plate["right"] and plate["top"] < y < plate["bottom"]
        assert not within
    plane.locator("#surface").select_option("off")
