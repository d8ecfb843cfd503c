// Plane mode: samples and neurons of two dimensions on a canvas, drawn only when something changed.

import { calm, readTheme, watchSize, watchTheme } from "./canvas_theme.js";
import { isSameStart } from "./frames.js";
import { planeSVG, svgToPNG } from "./pictures.js";
import { arrowSpots, beyond, drawBeyond } from "./plane_border.js";
import { drawBar, isUnder, plateOf, plateSpots } from "./plane_bar.js";
import { axes, margins, nameSpots } from "./plane_axes.js";
import { Labels } from "./plane_labels.js";
import { drawGrid, drawNeurons, drawPaths, drawTicks, radiusOf } from "./plane_marks.js";
import { NeuronSet } from "./plane_neurons.js";
import { PlanePointer } from "./plane_pointer.js";
import { PointLayer } from "./plane_points.js";
import { Samples } from "./plane_samples.js";
import { SurfaceLayer } from "./plane_surface.js";
import { View } from "./plane_view.js";

const SPACING = 0.006; // between two points of a path, as a part of the view
const FOLLOWED = 30; // samples a second
const LONGEST = 100; // ms; after a pause of the browser nothing jumps farther than this

export class Plane {
  constructor(canvas, handlers) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.view = new View();
    this.neurons = new NeuronSet();
    this.samples = new Samples();
    this.layer = new PointLayer();
    this.surface = new SurfaceLayer();
    this.labels = new Labels();
    this.numbers = []; // where they stand, as last drawn
    this.isPainted = false; // whether any points were added by hand
    this.arrows = []; // neurons beyond the border, as last drawn
    this.marks = document.querySelector(".marks");
    this.legend = document.querySelectorAll(".marks [data-mark]");
    this.scene = null;
    this.frame = null;
    this.selected = null;
    this.about = null; // whose surface is asked for; null: as the surface likes
    this.changed = true;
    this.asked = 0;
    this.last = 0;
    this.themeChanged();
    watchTheme(() => this.themeChanged());
    watchSize(canvas, (width, height, ratio) => {
      this.view.setSize(width, height, ratio);
      this.change();
      this.draw(); // at once: a canvas of another size is empty
    });
    this.pointer = new PlanePointer(this, canvas, handlers);
    canvas.plane = this; // for the console and for tests
  }

  setTool(tool) {
    this.pointer.setTool(tool);
  }

  setSurface(mode) {
    this.surface.setMode(mode);
    this.change();
  }

  setScene(scene) {
    const before = this.scene;
    this.scene = scene;
    if (!scene.domain) return; // image mode: nothing to show
    const isNew = !isSameStart(scene, before);
    if (isNew) {
      this.neurons.clear();
      this.samples.clear();
      this.surface.forget();
      this.labels.clear();
      this.pointer.forget();
      this.selected = this.about = null; // numbers begin anew: 3 is somebody else now
    }
    const same = before?.domain?.every((end, k) => end === scene.domain[k]);
    if (!same || isNew) this.view.setDomain(scene.domain);
    this.change();
  }

  /** Other data has come while the pointer may still be down. */
  letGo() {
    this.pointer.forget();
  }

  setPoints(points) {
    this.layer.setPoints(points);
    this.isPainted = this.layer.painted.includes(1);
    this.change();
  }

  setFrame(frame) {
    if (this.scene && frame.generation !== this.scene.generation) return;
    this.frame = frame;
    this.neurons.setFrame(frame, SPACING * this.view.extent(), !calm());
    this.samples.setFrame(frame, performance.now(), calm());
    const { held } = this.pointer;
    if (held !== null && this.neurons.indexOf(held) < 0) this.pointer.forget(); // somebody else has removed it
    if (!this.pointer.grabbed) this.view.keep(this.neurons); // not while the ground would move under the pointer
    if (calm() && this.view.moving) this.view.arrive();
    this.change();
  }

  select(id) {
    if (!this.pointer.grabbed) this.showSurfaceOf(id);
    if (id === this.selected) return;
    this.selected = id;
    this.change();
  }

  /** Not while dragging: who pushes a neuron around wants to see how the surface of another one gives way. */
  showSurfaceOf(id) {
    this.about = id;
    this.change();
  }

  /** Reads the colours again. */
  themeChanged() {
    this.theme = readTheme(this.canvas);
    this.surface.setTheme(this.theme);
    this.layer.forget();
    this.change();
  }

  /** Something is to be drawn: asks for a frame by itself, so that nobody has to call draw(). */
  change() {
    this.changed = true;
    if (!this.asked) this.asked = requestAnimationFrame(() => this.draw());
  }

  /** Draws if something changed or still moves. */
  draw() {
    if (!this.changed) return;
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    if (!this.scene?.domain || !this.canvas.clientWidth) return; // hidden: later
    this.changed = false;
    const now = performance.now();
    const passed = Math.min(now - this.last, LONGEST);
    this.last = now;
    if (this.advance(now, passed)) this.change();
    this.paint(now);
  }

  /** Everything that glides or fades goes one step; whether any of it goes on. */
  advance(now, passed) {
    const { view, neurons, samples, surface, about } = this;
    const still = calm();
    let moving = view.step(passed);
    moving = neurons.step(still ? 1e9 : passed, 0.15 / view.scale) || moving;
    moving = samples.step(now, still) || moving;
    surface.update({ view, neurons, samples, selected: about, lambda: this.scene.setup.lambda });
    moving = surface.step(passed, still) || moving;
    return moving;
  }

  paint(now) {
    const { context, view, theme, neurons, samples, surface, selected } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.fillStyle = theme.card;
    context.fillRect(0, 0, view.width, view.height);
    surface.draw(context, view);
    const scales = axes(view, this.scene.axes);
    drawGrid(context, view, theme, scales);
    this.layer.draw(context, view, theme);
    samples.draw(context, view, theme, now);
    drawPaths(context, view, theme, neurons);
    surface.drawLowest(context, view);
    const x = this.tellsX() && samples.current;
    const star = surface.lowestPlace();
    this.explain({ x, star, painted: this.isPainted });
    const { hovered } = this.pointer;
    const edges = margins(scales);
    this.arrows = beyond(view, neurons, edges);
    const bar = surface.bar();
    const plate = bar && plateOf(context, view, theme, bar);
    const taken = [...nameSpots(view, scales, this.arrows), ...arrowSpots(this.arrows), ...(plate ? plateSpots(plate) : [])];
    // Of one sample, x and the star hop: numbers that kept away from them would hop, too.
    if (star && surface.mode === "recent") taken.push([view.x(star[0]), view.y(star[1])]);
    const numbers = this.labels.place(view, neurons, [selected, hovered], taken, edges);
    this.numbers = plate ? numbers.filter(({ middle }) => !isUnder(plate, middle)) : numbers;
    if (x) samples.drawCurrent(context, view, theme, now, this.taken());
    const surfaceOf = surface.shown ? surface.neuron : null;
    drawNeurons(context, view, theme, neurons, this.numbers, { selected, hovered, surfaceOf });
    drawTicks(context, view, theme, scales, this.arrows);
    drawBeyond(context, view, theme, neurons, this.arrows, selected);
    if (bar) drawBar(context, view, theme, bar, plate);
    this.pointer.draw(context, theme);
    if (this.canvas.matches(":focus-visible")) this.drawFocus();
  }

  /**
   * Which sample is x matters to the surface of one sample, and where one can follow them; in a flood it would only
   * hop about, and beside the surface of many it would look as if that were about it.
   */
  tellsX() {
    if (this.surface.mode !== "off") return this.surface.mode === "sample" && this.surface.shown;
    return this.frame?.state !== "running" || this.frame.rate <= FOLLOWED;
  }

  /** The legend tells of marks that are in the picture, in its colours. */
  explain(marks) {
    const mode = this.surface.shown ? this.surface.mode : "off";
    if (this.marks.dataset.surface !== mode) this.marks.dataset.surface = mode;
    for (const item of this.legend) {
      const seen = String(Boolean(marks[item.dataset.mark]));
      if (item.dataset.seen !== seen) item.dataset.seen = seen;
    }
  }

  /** Pixels where x must not write its name: neurons, where their circles come closest, numbers and the star. */
  taken() {
    const { view, neurons, samples, surface } = this;
    const [sampleX, sampleY] = [view.x(samples.current[0]), view.y(samples.current[1])];
    const found = this.numbers.map(({ middle }) => middle);
    for (let i = 0; i < neurons.count; i++) {
      const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
      const part = radiusOf(view, neurons, i) / (Math.hypot(sampleX - x, sampleY - y) || 1);
      found.push([x, y], [x + part * (sampleX - x), y + part * (sampleY - y)]);
    }
    const star = surface.lowestPlace();
    if (star) found.push([view.x(star[0]), view.y(star[1])]);
    return found;
  }

  drawFocus() {
    const { context, view, theme } = this;
    context.strokeStyle = theme.link;
    context.lineWidth = 2.5;
    context.beginPath();
    context.roundRect(1.5, 1.5, view.width - 3, view.height - 3, 12);
    context.stroke();
  }

  toSVG() {
    return planeSVG(this);
  }

  toPNG() {
    return svgToPNG(planeSVG(this), 2);
  }
}
