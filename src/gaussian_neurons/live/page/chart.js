// One small chart: a thin line over the samples seen, its ends as numbers, marks, and the value under the pointer.

import { watchSize } from "./canvas_theme.js";
import { niceStep, short, tickText } from "./numbers.js";

const EDGE = { top: 8, bottom: 19 };
const FONT = 11;

export class Chart {
  /** kind: {column, step, zero, text, name} */
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

  draw(points, marks) {
    if (!this.size) return;
    const { context, size } = this;
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    context.font = `${FONT}px ${this.theme.font}`;
    const last = points.at(-1);
    this.describe(last);
    if (!last) return;
    this.measure(points);
    this.drawAxes();
    this.drawMarks(marks);
    this.drawLine(points);
    this.drawLast(last);
    if (this.pointed !== null) this.drawPointed(points, marks);
  }

  describe(last) {
    const value = last?.[this.kind.column];
    const text = Number.isFinite(value) ? `${this.kind.text(value)} after ${short(last[0])} samples` : "no value yet";
    if (text === this.described) return;
    this.described = text;
    this.canvas.setAttribute("aria-label", `${this.kind.name}: ${text}`);
  }

  /** The ends of both axes, and how they become pixels. */
  measure(points) {
    const { column, zero } = this.kind;
    let low = zero ? 0 : Infinity;
    let high = zero ? 1 : -Infinity;
    for (const point of points) {
      const value = point[column];
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (!(high >= low)) [low, high] = [0, 1];
    const flat = high - low < 1e-9 * Math.max(1, Math.abs(high));
    const [bottom, top] = flat ? [low - 0.5, high + 0.5] : [low, high];
    const { width, height } = this.size;
    this.context.font = `600 13px ${this.theme.font}`;
    const room = 14 + this.context.measureText(this.kind.text(points.at(-1)[column] ?? 0)).width;
    this.right = width - Math.max(58, room); // the number at the line's end needs room
    this.context.font = `${FONT}px ${this.theme.font}`;
    const labels = [low, high].map((value) => this.context.measureText(this.kind.text(value)).width);
    this.left = 7 + Math.ceil(Math.max(...labels, 37)); // the same for all charts, as long as numbers are short
    this.ends = { low, high, flat, seen: Math.max(points.at(-1)[0], 1) };
    this.x = (seen) => this.left + (seen / this.ends.seen) * (this.right - this.left);
    this.y = (value) => EDGE.top + ((top - value) / (top - bottom)) * (height - EDGE.top - EDGE.bottom);
  }

  drawAxes() {
    const { context, theme, ends, kind } = this;
    const base = this.size.height - EDGE.bottom;
    context.font = `${FONT}px ${theme.font}`;
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    for (const value of ends.flat ? [ends.low] : [ends.low, ends.high]) {
      const y = Math.round(this.y(value)) + 0.5;
      context.moveTo(this.left, y);
      context.lineTo(this.right, y);
    }
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    context.textAlign = "center";
    const step = niceStep(ends.seen, Math.max(2, (this.right - this.left) / 70));
    for (let n = 0; n * step <= ends.seen; n++) {
      const x = Math.round(this.x(n * step)) + 0.5;
      context.moveTo(x, base);
      context.lineTo(x, base + 3);
      const text = step >= 1 ? short(n * step) : tickText(n * step, step);
      if (x < this.right - 2 || n === 0) context.fillText(text, x, base + 6);
    }
    context.stroke();
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(kind.text(ends.low), this.left - 5, this.y(ends.low));
    if (!ends.flat) context.fillText(kind.text(ends.high), this.left - 5, this.y(ends.high));
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
    context.beginPath();
    trace();
    context.stroke();
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
    context.fillText(kind.text(value), this.right + 8, Math.max(8, Math.min(y, this.size.height - EDGE.bottom - 4)));
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
      if (x > this.right || x - before < 5) continue; // many at one place are one line, not a wall
      before = x;
      context.moveTo(x, EDGE.top);
      context.lineTo(x, this.size.height - EDGE.bottom);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The value where the pointer is; a mark nearby tells its text instead. */
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
    const { context, theme } = this;
    context.fillStyle = theme.ink;
    context.beginPath();
    context.arc(this.x(point[0]), this.y(value), 3, 0, 2 * Math.PI);
    context.fill();
    this.label(`${this.kind.text(value)} at ${short(point[0])}`, this.x(point[0]), this.y(value) - 14, theme.ink);
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
