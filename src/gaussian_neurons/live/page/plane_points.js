// The data's points as soft dots, drawn once into a picture of their own and copied from there.

import { toRGB } from "./canvas_theme.js";

const MOST = 20_000;
const DOT = 1.7; // radius in CSS pixels
const PARTS = 4; // a dot may lie at so many places within a pixel, each way

export class PointLayer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.points = new Float64Array(0);
    this.painted = new Uint8Array(0);
    this.drawn = null; // what the canvas shows: its view, and how many of the points
  }

  /** All points, or those that follow the `first` ones that are here already. */
  setPoints({ first = 0, points, painted }) {
    if (first > this.count) return; // some between never came: without them these would be at the wrong place
    const known = { points: this.points, painted: this.painted };
    this.points = joined(known.points, 2 * first, points, 2 * MOST);
    this.painted = joined(known.painted, first, painted, MOST);
    if (!continues(known.points, this.points) || !continues(known.painted, this.painted)) this.drawn = null;
  }

  get count() {
    return this.points.length / 2;
  }

  /** Other colours: everything is drawn again. */
  forget() {
    this.drawn = null;
  }

  draw(context, view, theme) {
    if (!this.count) return;
    const settled = this.drawn && this.drawn.version === view.version;
    // While the view glides the old picture is stretched: dots of a slightly wrong size, but 60 frames a second
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
    const look = { dots: makeDots(DOT * ratio), colours, opacities };
    this.drawn = { width, height, ratio, scale, version, middle: view.middle.slice(), image, look, count: 0 };
  }

  /** Draws only what came after: painting adds a few points to thousands, many times a second. */
  continue() {
    const { width, height, ratio, scale, middle, image, look, count: first } = this.drawn;
    for (let n = first; n < this.count; n++) {
      const x = (width / 2 + (this.points[2 * n] - middle[0]) * scale) * ratio;
      const y = (height / 2 - (this.points[2 * n + 1] - middle[1]) * scale) * ratio;
      const kind = this.painted[n] ? 1 : 0;
      stamp(image, look.dots, x, y, look.colours[kind], look.opacities[kind]);
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.drawn.count = this.count;
  }
}

/** Many points are fainter each, so that density can be seen. */
export function pointOpacity(count, theme) {
  const opacity = Math.max(0.22, Math.min(0.75, 0.75 - 0.16 * Math.log10(Math.max(count, 1) / 300)));
  return theme.dark ? opacity * 0.9 : opacity;
}

/** How much a soft dot covers of each pixel around it, for each place of its middle within a pixel. */
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

/** One dot over what is there. By hand: 20,000 calls of drawImage take ten times as long where no GPU helps. */
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

/** The first `kept` numbers of one array, then another; `most` at most. */
function joined(before, kept, after, most) {
  const all = new before.constructor(Math.min(kept + after.length, most));
  all.set(before.subarray(0, kept));
  all.set(after.subarray(0, all.length - kept), kept);
  return all;
}

/** Whether `after` begins with all that `before` is. */
function continues(before, after) {
  if (after.length < before.length) return false;
  for (let k = 0; k < before.length; k++) if (before[k] !== after[k]) return false;
  return true;
}
