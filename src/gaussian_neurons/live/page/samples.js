// The strip of samples arriving: the newest at the right, slow enough to be watched.

import { paint } from "./colours.js";

const EVERY = 200; // ms between two pictures: samples come by the million, and a strip that strobes shows nothing
const GAP = 0.16; // between patches, as a part of their width

export class SampleStrip {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.patchCanvas = document.createElement("canvas");
    this.drawnAt = -Infinity;
    this.width = 0;
    this.height = 0;
    // Sizes are read when they change only, not for every frame.
    new ResizeObserver(([entry]) => {
      this.width = entry.contentRect.width;
      this.height = entry.contentRect.height;
      this.drawnAt = -Infinity;
    }).observe(canvas);
  }

  /** Colours have changed: they are read again for the next picture, which comes at once. */
  forgetColours() {
    this.colour = null;
    this.drawnAt = -Infinity;
  }

  show(frame, patch, now) {
    if (now - this.drawnAt < EVERY || !this.width || !frame.samples) return;
    this.drawnAt = now;
    this.resize();
    const ratio = window.devicePixelRatio || 1;
    const [height, width] = patch;
    const down = this.canvas.height;
    const across = Math.round((down * width) / height);
    const step = Math.round(across * (1 + GAP));
    const size = height * width * (patch[2] ?? 1);
    const count = Math.min(frame.samples.length / size, Math.ceil(this.canvas.width / step));
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.context.imageSmoothingEnabled = false;
    for (let back = 0; back < count; back++) {
      const at = frame.samples.length / size - 1 - back;
      this.draw(frame.samples.subarray(at * size, (at + 1) * size), patch);
      const left = this.canvas.width - across - back * step;
      // Older ones fade towards the left, so that the eye finds the newest.
      this.context.globalAlpha = back === 0 ? 1 : Math.max(0.25, 0.92 - (0.75 * back) / count);
      this.context.drawImage(this.patchCanvas, left, 0, across, down);
    }
    this.context.globalAlpha = 1;
    this.frameNewest(across, down, ratio);
  }

  draw(u1, patch) {
    const [height, width] = patch;
    if (this.patchCanvas.width !== width || this.patchCanvas.height !== height || !this.image) {
      this.patchCanvas.width = width;
      this.patchCanvas.height = height;
      this.image = this.patchCanvas.getContext("2d").createImageData(width, height);
    }
    paint(u1, patch, this.image);
    this.patchCanvas.getContext("2d").putImageData(this.image, 0, 0);
  }

  frameNewest(across, down, ratio) {
    this.colour ??= getComputedStyle(this.canvas).getPropertyValue("--marked");
    this.context.strokeStyle = this.colour;
    this.context.lineWidth = 2 * ratio;
    this.context.strokeRect(this.canvas.width - across + ratio, ratio, across - 2 * ratio, down - 2 * ratio);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.width * ratio);
    const height = Math.round(this.height * ratio);
    if (this.canvas.width === width && this.canvas.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
  }
}
