// The points of the data as dots. They are drawn once into a separate canvas.

const MAX_POINTS = 20_000;
const DOT = 1.5; // radius in CSS pixels

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
    const opacity = pointOpacity(this.count, theme);
    const styles = [[theme.muted, opacity], [theme.marked, Math.min(1, 1.5 * opacity)]];
    this.drawn = { width, height, ratio, scale, version, middle: view.middle.slice(), styles, count: 0 };
  }

  /** Draws only new points: painting adds a few points to thousands, many times per second. */
  continue() {
    const { width, height, ratio, scale, middle, styles, count: first } = this.drawn;
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (let n = first; n < this.count; n++) {
      const x = width / 2 + (this.points[2 * n] - middle[0]) * scale;
      const y = height / 2 - (this.points[2 * n + 1] - middle[1]) * scale;
      [context.fillStyle, context.globalAlpha] = styles[this.painted[n]];
      context.beginPath();
      context.arc(x, y, DOT, 0, 2 * Math.PI);
      context.fill(); // one by one, so that overlapping points are darker
    }
    this.drawn.count = this.count;
  }
}

/** The more points, the fainter each, so that density is visible. */
function pointOpacity(count, theme) {
  const opacity = Math.max(0.22, Math.min(0.75, 0.75 - 0.16 * Math.log10(Math.max(count, 1) / 300)));
  return theme.dark ? opacity * 0.9 : opacity;
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
