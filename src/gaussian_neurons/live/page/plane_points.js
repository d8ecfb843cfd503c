// The points of the data as soft dots. They are drawn once into a separate canvas.

import { toRGB } from "./canvas_theme.js";

const MAX_POINTS = 20_000;
const DOT = 1.7; // radius in CSS pixels
const PARTS = 4; // subpixel positions of a dot in each direction

export class PointLayer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.points = new Float64Array(0);
    this.painted = new Uint8Array(0);
    this.drawn = null; // the view and the number of points that the canvas shows
  }

  /** Sets all points, or those from index `first`. */
  setPoints({ first = 0, points, painted }) {
    if (first > this.count) return; // points before these are missing
    const known = { points: this.points, painted: this.painted };
    this.points = appended(known.points, 2 * first, points, 2 * MAX_POINTS);
    this.painted = appended(known.painted, first, painted, MAX_POINTS);
    if (!continues(known.points, this.points) || !continues(known.painted, this.painted)) this.drawn = null;
  }

  get count() {
    return this.points.length / 2;
  }

  /** Draws everything again, in new colours. */
  redraw() {
    this.drawn = null;
  }

  draw(context, view, theme) {
    if (!this.count) return;
    const settled = this.drawn && this.drawn.version === view.version;
    // During an animation the old canvas is scaled. Dots have slightly wrong sizes, but it is fast.
    if (!this.drawn || (!settled && !view.moving)) this.begin(view, theme);
    if (this.drawn.count < this.count) this.continue();
    const { scale, middle, width, height } = this.drawn;
    const factor = view.scale / scale;
    const left = view.x(middle[0]) - (width / 2) * factor;
    const top = view.y(middle[1]) - (height / 2) * factor;
    context.drawImage(this.canvas, left, top, width * factor, height * factor);
  }

  begin(view, theme) {
    const { width, height, ratio, scale, version } = view;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const image = new ImageData(this.canvas.width, this.canvas.height);
    const colours = [toRGB(theme.muted), toRGB(theme.marked)];
    const opacity = pointOpacity(this.count, theme);
    const opacities = [opacity, Math.min(1, 1.5 * opacity)];
    const style = { dots: makeDots(DOT * ratio), colours, opacities };
    this.drawn = { width, height, ratio, scale, version, middle: view.middle.slice(), image, style, count: 0 };
  }

  /** Draws only new points: painting adds a few points to thousands, many times per second. */
  continue() {
    const { width, height, ratio, scale, middle, image, style, count: first } = this.drawn;
    for (let n = first; n < this.count; n++) {
      const x = (width / 2 + (this.points[2 * n] - middle[0]) * scale) * ratio;
      const y = (height / 2 - (this.points[2 * n + 1] - middle[1]) * scale) * ratio;
      const kind = this.painted[n] ? 1 : 0;
      stamp(image, style.dots, x, y, style.colours[kind], style.opacities[kind]);
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.drawn.count = this.count;
  }
}

/** The more points, the fainter each, so that density is visible. */
function pointOpacity(count, theme) {
  const opacity = Math.max(0.22, Math.min(0.75, 0.75 - 0.16 * Math.log10(Math.max(count, 1) / 300)));
  return theme.dark ? opacity * 0.9 : opacity;
}

/** The coverage of the pixels around a soft dot, for each subpixel position of its middle. */
function makeDots(radius) {
  const reach = Math.ceil(radius + 1);
  const side = 2 * reach + 1;
  const masks = Array.from({ length: PARTS * PARTS }, (_, place) => {
    const dx = ((place % PARTS) + 0.5) / PARTS - 0.5;
    const dy = (Math.floor(place / PARTS) + 0.5) / PARTS - 0.5;
    return Float32Array.from({ length: side * side }, (_, k) => {
      const distance = Math.hypot((k % side) - reach - dx, Math.floor(k / side) - reach - dy);
      return Math.max(0, Math.min(1, (radius - distance) / (0.45 * radius) + 0.2));
    });
  });
  return { masks, reach, side };
}

/** Blends one dot over the image. Without a GPU this is ten times as fast as drawImage. */
function stamp({ data, width, height }, { masks, reach, side }, x, y, colour, opacity) {
  const column = Math.floor(x);
  const row = Math.floor(y);
  if (!(column >= reach && row >= reach && column < width - reach && row < height - reach)) return;
  const mask = masks[Math.floor((y - row) * PARTS) * PARTS + Math.floor((x - column) * PARTS)];
  for (let down = 0, m = 0; down < side; down++) {
    let k = 4 * ((row + down - reach) * width + column - reach);
    for (let across = 0; across < side; across++, m++, k += 4) {
      const over = mask[m] * opacity;
      if (over === 0) continue;
      const under = (data[k + 3] / 255) * (1 - over);
      const both = over + under;
      data[k] = (colour[0] * over + data[k] * under) / both;
      data[k + 1] = (colour[1] * over + data[k + 1] * under) / both;
      data[k + 2] = (colour[2] * over + data[k + 2] * under) / both;
      data[k + 3] = 255 * both;
    }
  }
}

/** The first `kept` numbers of one array, followed by another, at most `most` numbers. */
function appended(before, kept, after, most) {
  const all = new before.constructor(Math.min(kept + after.length, most));
  all.set(before.subarray(0, kept));
  all.set(after.subarray(0, all.length - kept), kept);
  return all;
}

/** Whether `after` starts with `before`. */
function continues(before, after) {
  if (after.length < before.length) return false;
  for (let k = 0; k < before.length; k++) if (before[k] !== after[k]) return false;
  return true;
}
