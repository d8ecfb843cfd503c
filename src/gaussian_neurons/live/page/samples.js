// The strip of samples arriving: the newest comes in at the right, one by one, slow enough to be watched.

import { calm } from "./canvas_theme.js";
import { paint } from "./colours.js";

const EVERY = 320; // ms between two arrivals: of a million a second some are enough to see what they look like
const EVERY_CALM = 1500;
const SHOWN = 8;
const GAP = 6; // px

export class SampleStrip {
  constructor(canvas) {
    this.canvas = canvas;
    this.nothing = document.querySelector("#no-samples");
    this.context = canvas.getContext("2d");
    this.patchCanvas = document.createElement("canvas");
    this.patches = []; // what is shown, newest last
    this.seen = -1; // samples seen when the newest of them was
    this.arrivedAt = -Infinity;
    this.changed = true;
    this.width = 0;
    // Sizes are read when they change only, not for every frame; at rest no frame may come.
    new ResizeObserver(([entry]) => {
      if (entry.contentRect.width === this.width) return;
      this.width = entry.contentRect.width;
      this.changed = true;
      requestAnimationFrame(() => this.changed && this.width && this.patch && this.draw(this.patch));
    }).observe(canvas);
  }

  /** Colours have changed: they are read again for the next picture. */
  forgetColours() {
    this.colours = null;
    this.changed = true;
  }

  show(frame, patch, now) {
    const isEmpty = frame.state === "paused" && frame.seen === 0;
    if (this.nothing.hidden === isEmpty) this.nothing.hidden = !isEmpty;
    if (!this.width || !frame.samples) return;
    this.patch = patch;
    this.take(frame, patch, now);
    if (this.changed) this.draw(patch);
  }

  /** Few new ones are all shown; of many the newest comes in alone, and the others move up by one. */
  take(frame, patch, now) {
    const size = patch.reduce((product, side) => product * side, 1);
    const here = frame.samples.length / size;
    const isNew = frame.generation !== this.generation || frame.seen < this.seen;
    if (isNew) Object.assign(this, { generation: frame.generation, patches: [], seen: -1, arrivedAt: -Infinity });
    const many = frame.seen - this.seen > SHOWN;
    if (frame.seen === this.seen || now - this.arrivedAt < (calm() ? EVERY_CALM : EVERY)) return;
    const fresh = this.patches.length < SHOWN ? SHOWN : many ? 1 : frame.seen - this.seen;
    for (let at = Math.max(0, here - fresh); at < here; at++) {
      this.patches.push(frame.samples.slice(at * size, (at + 1) * size));
    }
    this.patches = this.patches.slice(-SHOWN);
    this.seen = frame.seen;
    this.arrivedAt = now;
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
      // An edge around each: black ones are seen on a dark page, white ones on a light one.
      context.fillStyle = newest ? this.colours.newest : this.colours.edge;
      const edge = newest ? 2 : 1;
      context.fillRect(left - edge + 1, 2 - edge, across + 2 * edge, down + 2 * edge);
      context.drawImage(this.patchCanvas, left + 1, 2, across, down);
    });
  }

  /** One patch in its own pixels, to be drawn larger. */
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
