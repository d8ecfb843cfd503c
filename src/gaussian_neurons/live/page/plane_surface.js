// The surface of F below the plane: an animated heat map, contours, and the lowest position.

import { contours } from "./contours.js";
import { STEPS, heatColour, heatScale, heatStep, heatTable } from "./heat.js";
import { niceStep, subscript } from "./numbers.js";
import { costWithout, lowest, strongest, surface } from "./surface.js";

const CELLS = 96; // along the longer side
const GLIDE = { sample: 80, recent: 260 }; // ms
const LEVELS = 9;
const BAR_STEPS = 40;
const STAR = 13; // px
const STAR_WAIST = 0.46;

export class SurfaceLayer {
  constructor() {
    this.mode = "off";
    this.canvas = document.createElement("canvas");
    this.clear();
  }

  setMode(mode) {
    this.mode = mode;
    this.clear();
  }

  setTheme(theme) {
    this.theme = theme;
    this.table = heatTable(theme);
    this.painted = false;
  }

  clear() {
    this.key = "";
    this.goal = this.values = null;
    this.neuron = null; // number of the neuron of this surface
    this.moving = this.painted = false;
  }

  /** Computes the surface again if anything that it depends on has changed. */
  update({ view, neurons, samples, selected, lambda }) {
    const places = this.mode === "recent" ? samples.recent : samples.current;
    if (this.mode === "off" || !places?.length || !neurons.count) {
      if (this.values) this.clear();
      return;
    }
    const key = `${view.version} ${neurons.version} ${samples.version} ${selected} ${lambda}`;
    if (key === this.key) return;
    this.key = key;
    const chosen = neurons.indexOf(selected);
    const index = chosen >= 0 ? chosen : this.choose(neurons, places);
    const box = view.box();
    const jump = !this.values || this.viewVersion !== view.version;
    this.viewVersion = view.version;
    this.neuron = neurons.ids[index];
    this.setGrid(box, CELLS);
    const { nx, ny } = this;
    const { targets, covariances } = neurons;
    this.goalRest = costWithout(targets, covariances, index, places, lambda);
    this.goal = surface(targets, covariances, index, places, lambda, box, nx, ny, this.goal, this.goalRest);
    this.level = niceStep(spread(this.goal), LEVELS);
    if (jump) this.finish();
    this.moving = true;
  }

  /** Sets a grid of about square cells. A new shape discards the old values. */
  setGrid(box, most) {
    const [wide, high] = [box[2] - box[0], box[3] - box[1]];
    const nx = Math.max(8, Math.round(wide >= high ? most : (most * wide) / high));
    const ny = Math.max(8, Math.round(wide >= high ? (most * high) / wide : most));
    this.box = box;
    if (nx === this.nx && ny === this.ny && this.goal) return;
    Object.assign(this, { nx, ny, goal: null, values: null });
    this.canvas.width = nx;
    this.canvas.height = ny;
    this.image = this.canvas.getContext("2d").createImageData(nx, ny);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /**
   * The neuron if none is selected: the one with the strongest response to x, or to most of the recent samples. It
   * stays until it is removed, or, with recent samples, no longer learned: the map should not change its neuron often.
   */
  choose(neurons, places) {
    const before = neurons.indexOf(this.neuron);
    if (before >= 0 && (this.mode === "sample" || neurons.learned[before])) return before;
    if (places.length === 2) return strongest(neurons.targets, neurons.covariances, places[0], places[1]);
    const wins = new Map();
    for (let n = 0; n < places.length; n += 2) {
      const winner = strongest(neurons.targets, neurons.covariances, places[n], places[n + 1]);
      wins.set(winner, (wins.get(winner) ?? 0) + 1);
    }
    return [...wins].reduce((best, win) => (win[1] > best[1] ? win : best))[0];
  }

  finish() {
    this.values = this.goal.slice();
    this.rest = this.goalRest;
    this.painted = false;
  }

  /** Advances the animation. Returns false when it ends. */
  step(elapsed, reduced) {
    if (!this.moving || !this.goal) return false;
    if (!this.values || reduced) this.finish();
    const { values, goal } = this;
    const part = 1 - Math.exp(-elapsed / GLIDE[this.mode]);
    let farthest = Math.abs(this.goalRest - this.rest);
    for (let k = 0; k < values.length; k++) {
      const distance = goal[k] - values[k];
      farthest = Math.max(farthest, Math.abs(distance));
      values[k] += distance * part;
    }
    this.rest += (this.goalRest - this.rest) * part;
    this.painted = false;
    this.moving = farthest > 1e-3;
    if (!this.moving) this.finish();
    return this.moving;
  }

  paint() {
    this.least = Infinity;
    this.most = -Infinity;
    for (const value of this.values) {
      if (value < this.least) this.least = value;
      if (value > this.most) this.most = value;
    }
    this.scale = heatScale(this.least, this.rest, this.most);
    this.fill();
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
    this.painted = true;
  }

  fill() {
    const { nx, ny, values, pixels, table } = this;
    const { rest, down, up } = this.scale;
    const middle = (STEPS - 1) / 2;
    for (let row = 0; row < ny; row++) {
      const to = (ny - 1 - row) * nx; // rows of the grid go up, rows of images go down
      for (let column = 0; column < nx; column++) {
        const away = values[row * nx + column] - rest;
        pixels[to + column] = table[(middle + away * (away < 0 ? down : up) + 0.5) | 0];
      }
    }
  }

  get shown() {
    return this.mode !== "off" && this.values !== null;
  }

  draw(context, view) {
    if (!this.shown) return;
    if (!this.painted) this.paint();
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "low"; // bilinear
    context.drawImage(this.canvas, 0, 0, view.width, view.height);
    context.strokeStyle = this.theme.ink;
    context.globalAlpha = this.theme.dark ? 0.26 : 0.22;
    context.lineWidth = 1 / view.ratio; // the fastest line
    context.lineCap = "butt";
    context.beginPath();
    const [across, up] = [view.width / this.nx, view.height / this.ny];
    contours(this.values, this.nx, this.ny, this.level, (x0, y0, x1, y1) => {
      context.moveTo((x0 + 0.5) * across, view.height - (y0 + 0.5) * up);
      context.lineTo((x1 + 0.5) * across, view.height - (y1 + 0.5) * up);
    });
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The position with the lowest F: [x, y] in data units, or null if it is not in the view. */
  lowestPlace() {
    const at = this.shown ? lowest(this.values, this.nx, this.ny) : null;
    if (!at) return null;
    const [x0, y0, x1, y1] = this.box;
    return [x0 + ((at[0] + 0.5) / this.nx) * (x1 - x0), y0 + ((at[1] + 0.5) / this.ny) * (y1 - y0)];
  }

  /** A star at the lowest position, larger than the center of a neuron. */
  drawLowest(context, view) {
    const place = this.lowestPlace();
    if (!place) return;
    star(context, view.x(place[0]), view.y(place[1]), STAR);
    context.lineJoin = "round";
    context.lineWidth = 5;
    context.strokeStyle = this.theme.card;
    context.stroke();
    context.fillStyle = this.theme.ink;
    context.fill();
  }

  /** The colour bar from its top: colours, numbers [text, relative position], the name; null without a surface. */
  bar() {
    if (!this.shown || !this.painted) return null;
    const { least, most, rest, scale, table } = this;
    const span = most - least || 1;
    const colours = Array.from({ length: BAR_STEPS }, (_, k) => {
      return heatColour(table, heatStep(most - (span * k) / (BAR_STEPS - 1), scale));
    });
    const number = (value) => value.toFixed(span > 20 ? 0 : span > 2 ? 1 : 2).replace("-", "−");
    const numbers = [[number(most), 0], [number(least), 1]];
    const far = (most - rest) / span; // F at a large distance
    if (far > 0.2 && far < 0.8) numbers.push([number(rest), far]);
    return { colours, numbers, name: `F(μ${subscript(this.neuron)})` };
  }
}

function star(context, x, y, radius) {
  context.beginPath();
  for (let k = 0; k < 10; k++) {
    const angle = (k / 5 - 0.5) * Math.PI;
    const r = k % 2 ? STAR_WAIST * radius : radius;
    context.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  context.closePath();
}

function spread(values) {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most - least;
}
