// The surface of F underneath the plane: a heat map that glides from sample to sample, contours, the lowest place.

import { LIGHT } from "./canvas_theme.js";
import { contours } from "./contours.js";
import { STEPS, heatColour, heatScale, heatStep, heatTable } from "./heat.js";
import { niceStep, subscript } from "./numbers.js";
import { costWithout, lowest, strongest, surface } from "./surface.js";

const MOST = 96; // places along the longer side
const FEWER = 64; // of MANY neurons
const MANY = 100;
const GLIDE = { sample: 80, recent: 260 }; // ms
const LEVELS = 9;
const BAR_STEPS = 40;
export const STAR = 13; // px
export const STAR_WAIST = 0.46;

export class SurfaceLayer {
  constructor() {
    this.mode = "off";
    this.canvas = document.createElement("canvas");
    this.forget();
  }

  setMode(mode) {
    this.mode = mode;
    this.forget();
  }

  setTheme(theme) {
    this.theme = theme;
    this.table = heatTable(theme);
    this.painted = false;
  }

  forget() {
    this.key = "";
    this.goal = this.values = null;
    this.neuron = null; // id of the neuron whose surface this is
    this.moving = this.painted = false;
  }

  /** Works out the surface anew if anything that it depends on has changed. */
  update({ view, neurons, samples, selected, lambda }) {
    const places = this.mode === "recent" ? samples.recent : samples.current;
    if (this.mode === "off" || !places?.length || !neurons.count) {
      if (this.values) this.forget();
      return;
    }
    const key = `${view.version} ${neurons.version} ${samples.version} ${selected} ${lambda}`;
    if (key === this.key) return;
    this.key = key;
    const chosen = neurons.indexOf(selected);
    const index = chosen >= 0 ? chosen : this.choose(neurons, places);
    const box = view.box();
    const jump = !this.values || this.seen !== view.version;
    this.seen = view.version;
    this.neuron = neurons.ids[index];
    this.place(box, neurons.count > MANY ? FEWER : MOST);
    const { nx, ny } = this;
    const { targets, widths } = neurons;
    this.goalRest = costWithout(targets, widths, index, places, lambda);
    this.goal = surface(targets, widths, index, places, lambda, box, nx, ny, this.goal, this.goalRest);
    this.level = niceStep(spread(this.goal), LEVELS);
    if (jump) this.arrive();
    this.moving = true;
  }

  /** A grid of about square cells; a grid of another shape starts anew. */
  place(box, most) {
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
   * Where none is selected: who responds most to x, or, to recent ones, who does in most cases. It is kept as long as
   * it is there, and for recent ones learned: a map that is about another neuron each time cannot be read.
   */
  choose(neurons, places) {
    const before = neurons.indexOf(this.neuron);
    if (before >= 0 && (this.mode === "sample" || neurons.learned[before])) return before;
    if (places.length === 2) return strongest(neurons.targets, neurons.widths, places[0], places[1]);
    const wins = new Map();
    for (let n = 0; n < places.length; n += 2) {
      const winner = strongest(neurons.targets, neurons.widths, places[n], places[n + 1]);
      wins.set(winner, (wins.get(winner) ?? 0) + 1);
    }
    return [...wins].reduce((best, win) => (win[1] > best[1] ? win : best))[0];
  }

  arrive() {
    this.values = this.goal.slice();
    this.rest = this.goalRest;
    this.painted = false;
  }

  /** One step of the glide toward the goal; false once there. */
  step(passed, calm) {
    if (!this.moving || !this.goal) return false;
    if (!this.values || calm) this.arrive();
    const { values, goal } = this;
    const part = 1 - Math.exp(-passed / GLIDE[this.mode]);
    let farthest = Math.abs(this.goalRest - this.rest);
    for (let k = 0; k < values.length; k++) {
      const way = goal[k] - values[k];
      farthest = Math.max(farthest, way < 0 ? -way : way);
      values[k] += way * part;
    }
    this.rest += (this.goalRest - this.rest) * part;
    this.painted = false;
    this.moving = farthest > 1e-3;
    if (!this.moving) this.arrive();
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
    this.fill(this.pixels, this.table);
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
    this.painted = true;
  }

  fill(pixels, table) {
    const { nx, ny, values } = this;
    const { rest, down, up } = this.scale;
    const middle = (STEPS - 1) / 2;
    for (let row = 0; row < ny; row++) {
      const to = (ny - 1 - row) * nx; // the grid goes up, images go down
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
    context.lineWidth = 1 / view.ratio; // a hairline: the cheapest there is
    context.lineCap = "butt";
    context.beginPath();
    this.eachLine(view, (x0, y0, x1, y1) => {
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
    });
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Calls piece(x0, y0, x1, y1), in pixels, for each piece of the contour lines. */
  eachLine(view, piece) {
    if (!this.shown) return;
    const [across, up] = [view.width / this.nx, view.height / this.ny];
    contours(this.values, this.nx, this.ny, this.level, (x0, y0, x1, y1) => {
      piece((x0 + 0.5) * across, view.height - (y0 + 0.5) * up, (x1 + 0.5) * across, view.height - (y1 + 0.5) * up);
    });
  }

  /** The heat map in the light colours as a data URI, for pictures; null where none is shown. */
  lightImage() {
    if (!this.shown || !this.painted) return null;
    const canvas = document.createElement("canvas");
    canvas.width = this.nx;
    canvas.height = this.ny;
    const context = canvas.getContext("2d");
    const image = context.createImageData(this.nx, this.ny);
    this.fill(new Uint32Array(image.data.buffer), heatTable(LIGHT));
    context.putImageData(image, 0, 0);
    return canvas.toDataURL("image/png");
  }

  /** Where F is lowest: [x, y] in data units, or null where that is not within the view. */
  lowestPlace() {
    const at = this.shown ? lowest(this.values, this.nx, this.ny) : null;
    if (!at) return null;
    const [x0, y0, x1, y1] = this.box;
    return [x0 + ((at[0] + 0.5) / this.nx) * (x1 - x0), y0 + ((at[1] + 0.5) / this.ny) * (y1 - y0)];
  }

  /** A star at the lowest place, so large that a neuron which has come there is seen within. */
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

  /** What a colour bar shows, from its top: colours, numbers [text, part of the way down], the name; or null. */
  bar(theme = this.theme) {
    if (!this.shown || !this.painted) return null;
    const { least, most, rest, scale } = this;
    const table = theme === this.theme ? this.table : heatTable(theme);
    const span = most - least || 1;
    const colours = Array.from({ length: BAR_STEPS }, (_, k) => {
      return heatColour(table, heatStep(most - (span * k) / (BAR_STEPS - 1), scale));
    });
    const number = (value) => value.toFixed(span > 20 ? 0 : span > 2 ? 1 : 2).replace("-", "−");
    const numbers = [[number(most), 0], [number(least), 1]];
    const far = (most - rest) / span; // F far away from everything
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
