// The strip of the newest samples. They enter one by one at the right, slowly enough to be seen.

import { reducedMotion } from "./canvas_theme.js";
import { paint } from "./colours.js";

const EVERY = 320; // ms between two samples; the others are not shown
const EVERY_REDUCED = 1500;
const SHOWN = 8;
const GAP = 6; // px

export class SampleStrip {
  constructor(canvas) {
    this.canvas = canvas;
    this.emptyText = document.querySelector("#no-samples");
    this.context = canvas.getContext("2d");
    this.patchCanvas = document.createElement("canvas");
    this.patches = []; // shown, newest last
    this.seen = -1; // samples seen when the newest one was added
    this.addedAt = -Infinity;
    this.changed = true;
    this.width = 0;
    // Reading the size for every frame is slow. The redraw is needed because no frames arrive during a pause.
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width === this.width) return;
      this.width = entry.contentRect.width;
      this.changed = true;
      requestAnimationFrame(() => this.changed && this.width && this.patch && this.draw(this.patch));
    }).observe(canvas);
  }

  /** Reads the colours again before the next drawing. */
  resetColours() {
    this.colours = null;
    this.changed = true;
  }

  show(frame, patch, now) {
    const isEmpty = frame.state === "paused" && frame.seen === 0;
    if (this.emptyText.hidden === isEmpty) this.emptyText.hidden = !isEmpty;
    if (!this.width || !frame.samples) return;
    this.patch = patch;
    this.take(frame, patch, now);
    if (this.changed) this.draw(patch);
  }

  /** Adds all new samples if they are few, otherwise only the newest. */
  take(frame, patch, now) {
    const size = patch.reduce((product, side) => product * side, 1);
    const count = frame.samples.length / size;
    const isNew = frame.generation !== this.generation || frame.seen < this.seen;
    if (isNew) Object.assign(this, { generation: frame.generation, patches: [], seen: -1, addedAt: -Infinity });
    const many = frame.seen - this.seen > SHOWN;
    if (frame.seen === this.seen || now - this.addedAt < (reducedMotion() ? EVERY_REDUCED : EVERY)) return;
    const fresh = this.patches.length < SHOWN ? SHOWN : many ? 1 : frame.seen - this.seen;
    for (let at = Math.max(0, count - fresh); at < count; at++) {
      this.patches.push(frame.samples.slice(at * size, (at + 1) * size));
    }
    this.patches = this.patches.slice(-SHOWN);
    this.seen = frame.seen;
    this.addedAt = now;
    this.changed = true;
  }

  draw(patch) {
    this.changed = false;
    const ratio = window.devicePixelRatio || 1;
    const gap = Math.round(GAP * ratio);
    const across = Math.floor((Math.round(this.width * ratio) - gap * (SHOWN - 1)) / SHOWN) - 2;
    const [high, wide] = patch;
    const down = Math.round((across * high) / wide);
    this.resize(Math.round(this.width * ratio), down + 4, ratio);
    this.colours ??= this.readColours();
    const { context } = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.imageSmoothingEnabled = false;
    const empty = SHOWN - this.patches.length;
    this.patches.forEach((u1, k) => {
      const left = 1 + (empty + k) * (across + 2 + gap);
      const newest = k === this.patches.length - 1;
      this.fill(u1, patch);
      // The edge separates black patches from a dark page and white ones from a light page.
      context.fillStyle = newest ? this.colours.newest : this.colours.edge;
      const edge = newest ? 2 : 1;
      context.fillRect(left - edge + 1, 2 - edge, across + 2 * edge, down + 2 * edge);
      context.drawImage(this.patchCanvas, left + 1, 2, across, down);
    });
  }

  /** Draws one patch in its own resolution, to be enlarged. */
  fill(u1, [height, width, channels]) {
    if (this.patchCanvas.width !== width || this.patchCanvas.height !== height || !this.image) {
      this.patchCanvas.width = width;
      this.patchCanvas.height = height;
      this.image = this.patchCanvas.getContext("2d").createImageData(width, height);
    }
    paint(u1, [height, width, channels], this.image);
    this.patchCanvas.getContext("2d").putImageData(this.image, 0, 0);
  }

  readColours() {
    const style = getComputedStyle(this.canvas);
    return { edge: style.getPropertyValue("--pushed"), newest: style.getPropertyValue("--marked") };
  }

  resize(width, height, ratio) {
    if (this.canvas.width === width && this.canvas.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.style.height = `${height / ratio}px`;
  }
}
