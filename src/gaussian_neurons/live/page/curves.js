// Three calm curves over the samples seen: neurons learned, cost, samples per second.

import { readTheme, watchTheme } from "./canvas_theme.js";
import { Chart } from "./chart.js";
import { counted, short } from "./numbers.js";

const MOST = 1000; // points; over it every second one goes
const MOST_MARKS = 200;
const KINDS = {
  learned: { column: 1, step: true, zero: true, text: (value) => String(Math.round(value)), name: "Neurons learned" },
  cost: { column: 2, text: costText, name: "Cost" },
  rate: { column: 3, zero: true, text: counted, name: "Samples per second" },
};

/** Always two decimals, so that the number at the end of the line stands still. */
function costText(value) {
  if (Math.abs(value) < 0.005) return "0.00"; // no minus before it
  return Math.abs(value) < 100 ? value.toFixed(2).replace("-", "−") : short(value);
}

export class Curves {
  /** canvases: {learned, cost, rate} */
  constructor(canvases) {
    this.points = []; // [seen, learned, cost, rate]
    this.marks = []; // [seen, text]
    this.changed = true;
    this.charts = Object.entries(KINDS).map(([name, kind]) => new Chart(canvases[name], kind, () => this.change()));
    this.themeChanged();
    watchTheme(() => this.themeChanged());
  }

  reset(points = [], marks = []) {
    this.points = points.map((point) => point.slice());
    this.marks = marks.slice(-MOST_MARKS);
    while (this.points.length > MOST) this.thin();
    this.change();
  }

  add(seen, learned, cost, rate) {
    const last = this.points.at(-1);
    if (last && seen < last[0]) this.reset(); // a run that began anew
    if (last && seen === last[0]) this.points.pop();
    this.points.push([seen, learned, cost, rate]);
    if (this.points.length > MOST) this.thin();
    this.change();
  }

  /** Every second point goes; the newest stays. */
  thin() {
    const odd = (this.points.length - 1) % 2;
    this.points = this.points.filter((_, k) => k % 2 === odd);
  }

  /** A mark; `replaces`: it takes the place of the last one, as a stroke of the brush goes on. */
  mark(seen, text, replaces = false) {
    if (replaces) this.marks.pop();
    this.marks.push([seen, text]);
    if (this.marks.length > MOST_MARKS) this.marks.shift();
    this.change();
  }

  themeChanged() {
    for (const chart of this.charts) chart.theme = readTheme(chart.canvas);
    this.change();
  }

  /** Asks for a frame by itself: pointing at a chart changes it, and nobody else knows. */
  change() {
    this.changed = true;
    this.asked ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.changed) return;
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    this.changed = false;
    const rooms = this.charts.map((chart) => chart.measure(this.points)).filter(Boolean);
    const widest = (side) => Math.max(0, ...rooms.map((room) => room[side]));
    const room = { left: widest("left"), right: widest("right") }; // one for all: the same samples lie below each other
    for (const chart of this.charts) chart.draw(this.points, this.marks, room);
  }
}
