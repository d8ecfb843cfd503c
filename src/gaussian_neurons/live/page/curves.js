// Curves over the samples seen: neurons learned, cost, how far neurons moved; and the score of each number of groups.

import { readTheme, watchTheme } from "./canvas_theme.js";
import { Chart } from "./chart.js";
import { tickText } from "./numbers.js";

const MAX_POINTS = 1000; // if exceeded, every second point is dropped
const MAX_MARKS = 200;
const KINDS = {
  learned: { column: 1, step: true, zero: true, text: (value) => String(Math.round(value)), name: "Neurons learned" },
  cost: { column: 2, text: tickText, name: "Cost" },
  moved: { column: 3, zero: true, text: tickText, name: "Mean distance from the start" },
  scores: { column: 1, text: tickText, peak: true, name: "Score" }, // over the number of groups, not the samples
};

export class Curves {
  /** canvases: {learned, cost, moved, scores} */
  constructor(canvases) {
    this.points = []; // [seen, learned, cost, moved]
    this.marks = []; // [seen, text]
    this.scores = []; // [groups, score]
    this.changed = true;
    this.charts = Object.entries(KINDS).map(([name, kind]) => new Chart(canvases[name], kind, () => this.change()));
    this.themeChanged();
    watchTheme(() => this.themeChanged());
  }

  reset(points = [], marks = []) {
    this.points = points.map((point) => point.slice());
    this.marks = marks.slice(-MAX_MARKS);
    this.open = false;
    while (this.points.length > MAX_POINTS) this.thin();
    this.change();
  }

  /** Adds a point. The next one replaces it unless it stays. */
  add(point, stays) {
    const last = this.points.at(-1);
    if (last && (this.open || last[0] === point[0])) this.points.pop();
    this.points.push(point);
    this.open = !stays;
    if (this.points.length > MAX_POINTS) this.thin();
    this.change();
  }

  /** Drops every second point and keeps the newest. */
  thin() {
    const odd = (this.points.length - 1) % 2;
    this.points = this.points.filter((_, k) => k % 2 === odd);
  }

  /** scores: of 1, 2, ... groups. */
  setScores(scores) {
    this.scores = Array.from(scores, (score, k) => [k + 1, score]);
    this.change();
  }

  /** Adds a mark; `replaces`: it replaces the last one, for example while a brush stroke continues. */
  mark(seen, text, replaces = false) {
    if (replaces) this.marks.pop();
    this.marks.push([seen, text]);
    if (this.marks.length > MAX_MARKS) this.marks.shift();
    this.change();
  }

  themeChanged() {
    for (const chart of this.charts) chart.theme = readTheme(chart.canvas);
    this.change();
  }

  /** Requests a drawing: pointing at a chart changes it, too. */
  change() {
    this.changed = true;
    this.request ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.changed) return;
    cancelAnimationFrame(this.request);
    this.request = 0;
    this.changed = false;
    const pointsOf = ({ kind }) => (kind.peak ? this.scores : this.points);
    const needed = this.charts.map((chart) => chart.measure(pointsOf(chart))).filter(Boolean);
    const widest = (side) => Math.max(0, ...needed.map((margins) => margins[side]));
    const margins = { left: widest("left"), right: widest("right") }; // equal, so that all charts have the same x-axis
    for (const chart of this.charts) chart.draw(pointsOf(chart), chart.kind.peak ? [] : this.marks, margins);
  }
}
