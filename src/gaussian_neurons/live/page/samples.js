// The strip of the newest samples, the last one at the right.

import { reducedMotion } from "./canvas_theme.js";
import { PatchCanvas } from "./colours.js";

const EVERY = 320; // ms between two changes, unless samples come one by one
const EVERY_REDUCED = 1500;
const FOLLOWED = 10; // samples per second that are all shown
const SHOWN = 8;

export class SampleStrip {
  constructor(element) {
    this.emptyText = document.querySelector("#no-samples");
    this.pictures = Array.from({ length: SHOWN }, () => new PatchCanvas());
    element.append(...this.pictures.map(({ canvas }) => canvas));
  }

  /** Shows the last samples of a frame. */
  show(frame, patch, now) {
    this.emptyText.hidden = frame.state !== "paused" || frame.seen > 0;
    const wait = frame.state === "running" && frame.rate > FOLLOWED ? (reducedMotion() ? EVERY_REDUCED : EVERY) : 0;
    const isNew = frame.generation !== this.generation;
    if (!isNew && (frame.seen === this.seen || now - this.shownAt < wait)) return;
    Object.assign(this, { generation: frame.generation, seen: frame.seen, shownAt: now });
    const size = patch.reduce((product, side) => product * side, 1);
    const count = frame.samples.length / size;
    this.pictures.forEach((picture, k) => {
      const at = count - SHOWN + k;
      picture.canvas.hidden = at < 0;
      if (at >= 0) picture.show(frame.samples.subarray(at * size, (at + 1) * size), patch);
    });
  }
}
