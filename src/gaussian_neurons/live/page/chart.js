// One small chart: a line over the samples seen, its limits as numbers, marks, and the value at the pointer.

import { watchSize } from "./canvas_theme.js";
import { niceStep, samples, short } from "./numbers.js";

const EDGE = { top: 8, bottom: 19 };
const FONT = 11;
const EARLY = 0.02; // first part of a curve that does not count for the limits: a steep start would flatten the rest

export class Chart {
  /** kind: {column, step, zero, peak, text(value, unit), name} */
  constructor(canvas, kind, onChange) {
    Object.assign(this, { canvas, kind });
    this.context = canvas.getContext("2d");
    this.size = null;
    this.pointed = null; // x of the pointer
    canvas.setAttribute("role", "img");
    watchSize(canvas, (width, height, ratio) => {
      this.size = { width, height, ratio };
      onChange();
    });
    const point = (x) => {
      this.pointed = x;
      onChange();
    };
    canvas.addEventListener("pointermove", (event) => point(event.offsetX));
    canvas.addEventListener("pointerleave", () => point(null));
  }

  /** margins: {left, right} of all charts, from `measure`. */
  draw(points, marks, margins) {
    if (!this.size) return;
    const { context, size } = this;
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    context.font = `${FONT}px ${this.theme.font}`;
    const last = this.markedOf(points);
    this.describe(last);
    if (!this.limits) return this.drawEmpty();
    this.place(margins);
    this.drawAxes();
    this.drawMarks(marks);
    this.drawLine(points);
    this.drawLast(last);
    if (this.pointed !== null) this.drawPointed(points, marks);
  }

  /** The point with a dot and its number: the last one, or the highest. */
  markedOf(points) {
    if (!this.kind.peak) return points.at(-1);
    return points.reduce((best, point) => (best && best[1] >= point[1] ? best : point), undefined);
  }

  /** A value with as many decimals as distinguish the limits. */
  text(value) {
    return this.kind.text(value, this.limits?.unit ?? 1);
  }

  drawEmpty() {
    const { context, size, theme } = this;
    context.font = `italic 15px ${getComputedStyle(this.canvas).getPropertyValue("--serif")}`;
    context.fillStyle = theme.muted;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText("No data yet", 0, size.height / 2 - 4);
  }

  describe(last) {
    const value = last?.[this.kind.column];
    const known = () => (this.kind.peak ? `highest for ${last[0]} groups` : `${this.text(value)} after ${short(last[0])} ${samples(last[0])}`);
    const text = Number.isFinite(value) ? known() : "no value yet";
    if (text === this.described) return;
    this.described = text;
    this.canvas.setAttribute("aria-label", `${this.kind.name}: ${text}`);
  }

  /** Finds the limits of both axes. Returns the margins that their numbers need, null without data. */
  measure(points) {
    const { column, step, zero } = this.kind;
    const known = points.filter((point) => Number.isFinite(point[column]));
    this.limits = null;
    if (!this.size || !known.length) return null;
    const since = this.kind.step ? 0 : EARLY * known.at(-1)[0];
    let low = zero ? 0 : Infinity;
    let high = step ? 1 : -Infinity;
    for (const point of known) {
      if (point[0] < since) continue;
      low = Math.min(low, point[column]);
      high = Math.max(high, point[column]);
    }
    const flat = high - low < 1e-9 * Math.max(1, Math.abs(high));
    const unit = 10 ** Math.floor(Math.log10((flat ? Math.abs(high) : high - low) / 20 || 1)); // of the numbers
    this.limits = { low, high, flat, unit, seen: Math.max(points.at(-1)[0], 1) };
    this.context.font = `600 13px ${this.theme.font}`;
    const last = this.context.measureText(this.text(known.at(-1)[column])).width;
    this.context.font = `${FONT}px ${this.theme.font}`;
    const labels = [low, high].map((value) => this.context.measureText(this.text(value)).width);
    return { left: 7 + Math.ceil(Math.max(...labels, 37)), right: Math.ceil(Math.max(58, 14 + last)) };
  }

  /** Defines the conversion from numbers to pixels. */
  place(margins) {
    const { low, high, flat } = this.limits;
    const [bottom, top] = flat ? [low - 0.5, high + 0.5] : [low, high];
    const { width, height } = this.size;
    this.left = margins.left;
    this.right = width - margins.right;
    this.x = (seen) => this.left + (seen / this.limits.seen) * (this.right - this.left);
    this.y = (value) => EDGE.top + ((top - value) / (top - bottom)) * (height - EDGE.top - EDGE.bottom);
  }

  drawAxes() {
    const { context, theme, limits, kind } = this;
    const base = this.size.height - EDGE.bottom;
    context.font = `${FONT}px ${theme.font}`;
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    for (const value of limits.flat ? [limits.low] : [limits.low, limits.high]) {
      const y = Math.round(this.y(value)) + 0.5;
      context.moveTo(this.left, y);
      context.lineTo(this.right, y);
    }
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    context.textAlign = "center";
    const step = Math.max(1, niceStep(limits.seen, Math.max(2, (this.right - this.left) / 70)));
    for (let n = 0; n * step <= limits.seen; n++) {
      const x = Math.round(this.x(n * step)) + 0.5;
      context.moveTo(x, base);
      context.lineTo(x, base + 3);
      if (x < this.right - 2 || n === 0) context.fillText(short(n * step), x, base + 6);
    }
    context.stroke();
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(this.text(limits.low), this.left - 5, this.y(limits.low));
    if (!limits.flat) context.fillText(this.text(limits.high), this.left - 5, this.y(limits.high));
  }

  drawLine(points) {
    const { context, theme, kind } = this;
    const trace = () => {
      let before = NaN;
      for (const point of points) {
        const value = point[kind.column];
        if (!Number.isFinite(value)) {
          before = NaN; // a gap
          continue;
        }
        const x = this.x(point[0]);
        if (Number.isNaN(before)) context.moveTo(x, this.y(value));
        else if (kind.step && value !== before) context.lineTo(x, this.y(before));
        context.lineTo(x, this.y(value));
        before = value;
      }
    };
    context.strokeStyle = kind.step ? theme.accent : theme.ink;
    context.globalAlpha = kind.step ? 1 : 0.72;
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    context.save();
    context.beginPath();
    context.rect(0, EDGE.top - 1, this.size.width, this.size.height - EDGE.top - EDGE.bottom + 2);
    context.clip();
    context.beginPath();
    trace();
    context.stroke();
    context.restore();
    context.globalAlpha = 1;
  }

  drawLast(last) {
    const { context, theme, kind } = this;
    const value = last[kind.column];
    if (!Number.isFinite(value)) return;
    context.fillStyle = kind.step ? theme.accent : theme.ink;
    const y = this.y(value);
    context.beginPath();
    context.arc(this.x(last[0]), y, 2.75, 0, 2 * Math.PI);
    context.fill();
    context.font = `600 13px ${theme.font}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const [left, text] = kind.peak ? [this.x(last[0]) + 8, `${last[0]} groups`] : [this.right + 8, this.text(value)];
    context.fillText(text, left, Math.max(8, Math.min(y, this.size.height - EDGE.bottom - 4)));
  }

  drawMarks(marks) {
    const { context, theme } = this;
    context.strokeStyle = theme.marked;
    context.globalAlpha = 0.45;
    context.lineWidth = 1;
    context.beginPath();
    let before = -Infinity;
    for (const [seen] of marks) {
      const x = Math.round(this.x(seen)) + 0.5;
      if (x > this.right || x - before < 5) continue; // close marks share one line
      before = x;
      context.moveTo(x, EDGE.top);
      context.lineTo(x, this.size.height - EDGE.bottom);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Shows the value at the pointer, or the text of a mark near it. */
  drawPointed(points, marks) {
    const x = Math.max(this.left, Math.min(this.right, this.pointed));
    const near = nearest(marks, (mark) => Math.abs(this.x(mark[0]) - x));
    if (near && Math.abs(this.x(near[0]) - x) <= 6) {
      this.label(near[1], this.x(near[0]), EDGE.top + 6, this.theme.marked);
      return;
    }
    const point = nearest(points, (candidate) => Math.abs(this.x(candidate[0]) - x));
    const value = point[this.kind.column];
    if (!Number.isFinite(value)) return;
    const { context, theme, kind } = this;
    context.fillStyle = theme.ink;
    context.beginPath();
    const y = Math.max(EDGE.top, Math.min(this.y(value), this.size.height - EDGE.bottom));
    context.arc(this.x(point[0]), y, 3, 0, 2 * Math.PI);
    context.fill();
    this.label(`${this.text(value)} ${kind.peak ? "for" : "at"} ${short(point[0])}`, this.x(point[0]), y - 14, theme.ink);
  }

  label(text, x, y, colour) {
    const { context, theme, size } = this;
    context.font = `${FONT}px ${theme.font}`;
    const width = context.measureText(text).width + 12;
    const left = Math.max(this.left + 1, Math.min(size.width - width - 1, x - width / 2));
    const top = Math.max(1, Math.min(size.height - 19, y - 9));
    context.fillStyle = theme.card;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(left + 0.5, top + 0.5, width, 18, 4);
    context.fill();
    context.stroke();
    context.fillStyle = colour;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, left + 6, top + 10);
  }
}

function nearest(items, distance) {
  let best = null;
  let least = Infinity;
  for (const item of items) {
    const d = distance(item);
    if (d < least) [best, least] = [item, d];
  }
  return best;
}
