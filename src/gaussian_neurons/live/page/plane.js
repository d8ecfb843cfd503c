// Plane mode: samples and neurons with two dimensions on a canvas, drawn only after changes.

import { LIGHT, readTheme, reducedMotion, watchSize, watchTheme } from "./canvas_theme.js";
import { isSameTrial } from "./frames.js";
import { arrowSpots, borderArrows, drawArrows } from "./plane_border.js";
import { drawBar, isUnder, plateOf, plateSpots } from "./plane_bar.js";
import { axes, margins, nameSpots } from "./plane_axes.js";
import { Labels } from "./plane_labels.js";
import { ellipseOf } from "./plane_ellipses.js";
import { drawGrid, drawNeurons, drawPaths, drawTicks } from "./plane_marks.js";
import { NeuronSet } from "./plane_neurons.js";
import { PlanePointer } from "./plane_pointer.js";
import { PointLayer } from "./plane_points.js";
import { Samples } from "./plane_samples.js";
import { SurfaceLayer } from "./plane_surface.js";
import { drawArrowsOfSteps, drawResponseNumbers, drawResponses, stepsOf } from "./plane_steps.js";
import { View } from "./plane_view.js";

const SPACING = 0.006; // between two points of a path, as a part of the view
const MAX_STEP = 100; // ms of animation per frame, after a pause of the browser

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
    this.numbers = []; // their positions, as last drawn
    this.hasPainted = false; // whether there are painted points or noise
    this.arrows = []; // of neurons outside the view, as last drawn
    this.marks = document.querySelector(".marks");
    this.legend = document.querySelectorAll(".marks [data-mark]");
    this.scene = null;
    this.frame = null;
    this.selected = null;
    this.steps = ["answer", "pull", "push"]; // parts of the next step that are shown
    this.changed = true;
    this.request = 0;
    this.last = 0;
    this.themeChanged();
    watchTheme(() => this.themeChanged());
    watchSize(canvas, (width, height, ratio) => {
      this.view.setSize(width, height, ratio);
      this.change();
      this.draw(); // resizing clears a canvas
    });
    this.pointer = new PlanePointer(this, canvas, handlers);
    canvas.plane = this; // for the console and for tests
  }

  setTool(tool) {
    this.pointer.setTool(tool);
  }

  /** parts: of the next step, some of "answer", "numbers", "pull", "push" and "total". */
  showSteps(parts) {
    this.steps = parts;
    this.change();
  }

  setSurface(mode) {
    this.surface.setMode(mode);
    this.change();
  }

  setScene(scene) {
    const before = this.scene;
    this.scene = scene;
    if (!scene.domain) return; // image mode
    const isNew = !isSameTrial(scene, before);
    if (isNew) {
      this.neurons.clear();
      this.samples.clear();
      this.surface.clear();
      this.labels.clear();
      this.pointer.cancel();
      this.selected = null; // numbers belong to one trial
    }
    const same = before?.domain?.every((end, k) => end === scene.domain[k]);
    if (!same || isNew) this.view.setDomain(scene.domain);
    this.change();
  }

  /** Ends a drag or a brush stroke, because the data has changed. */
  cancelPointer() {
    this.pointer.cancel();
  }

  setPoints(points) {
    this.layer.setPoints(points);
    this.hasPainted = this.layer.painted.includes(1);
    this.change();
  }

  setFrame(frame) {
    if (this.scene && frame.generation !== this.scene.generation) return;
    this.frame = frame;
    this.neurons.setFrame(frame, SPACING * this.view.extent(), !reducedMotion());
    this.samples.setFrame(frame, performance.now(), reducedMotion());
    const { held } = this.pointer;
    if (held !== null && this.neurons.indexOf(held) < 0) this.pointer.cancel(); // removed by another tab
    if (!this.pointer.grabbed) this.view.fit(this.neurons); // not during a drag
    if (reducedMotion() && this.view.moving) this.view.finish();
    this.change();
  }

  /** Selects a neuron, null: none. It is inspected, and the surface is that of this neuron. */
  select(id) {
    if (id === this.selected) return;
    this.selected = id;
    this.change();
  }

  /** Reads the colours again. */
  themeChanged() {
    this.useTheme(readTheme(this.canvas));
    this.change();
  }

  /** Requests a drawing. */
  change() {
    this.changed = true;
    if (!this.request) this.request = requestAnimationFrame(() => this.draw());
  }

  /** Draws after changes and during animations. */
  draw() {
    if (!this.changed) return;
    cancelAnimationFrame(this.request);
    this.request = 0;
    if (!this.scene?.domain || !this.canvas.clientWidth) return; // hidden
    this.changed = false;
    const now = performance.now();
    const elapsed = Math.min(now - this.last, MAX_STEP);
    this.last = now;
    if (this.advance(now, elapsed)) this.change();
    this.paint(now);
  }

  /** Advances all animations. Returns whether any continues. */
  advance(now, elapsed) {
    const { view, neurons, samples, surface, selected } = this;
    const reduced = reducedMotion();
    let moving = view.step(elapsed);
    moving = neurons.step(reduced ? 1e9 : elapsed, 0.15 / view.scale) || moving;
    moving = samples.step(now, reduced) || moving;
    surface.update({ view, neurons, samples, selected, lambda: this.scene.setup.lambda });
    moving = surface.step(elapsed, reduced) || moving;
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
    const next = this.showsX() && this.frame?.x && this.frame.ids.length === neurons.count ? this.frame : null;
    if (next && this.steps.includes("answer")) drawResponses(context, view, theme, neurons, next, this.steps.includes("numbers"));
    if (!neurons.clusters) drawPaths(context, view, theme, neurons); // others are moved to where samples need them
    surface.drawLowest(context, view);
    const x = this.showsX() && samples.current;
    const star = surface.lowestPlace();
    const shown = (part) => next && this.steps.includes(part);
    this.updateLegend({ x, star, painted: this.hasPainted, joined: neurons.links.length > 0, pull: shown("pull") && next.pull, push: shown("push") && next.push, total: shown("total") && next.pull });
    const { hovered } = this.pointer;
    const edges = margins(scales);
    this.arrows = borderArrows(view, neurons, edges);
    const bar = surface.bar();
    const plate = bar && plateOf(context, view, theme, bar);
    const occupied = [...nameSpots(view, scales, this.arrows), ...arrowSpots(this.arrows), ...(plate ? plateSpots(plate) : [])];
    // For one sample, x and the star move often. Numbers do not avoid them, because they would move, too.
    if (star && surface.mode === "recent") occupied.push([view.x(star[0]), view.y(star[1])]);
    const numbers = this.labels.place(view, neurons, [selected, hovered], occupied, edges);
    this.numbers = plate ? numbers.filter(({ middle }) => !isUnder(plate, middle)) : numbers;
    if (x) samples.drawCurrent(context, view, theme, now, this.occupied());
    const surfaceOf = surface.shown ? surface.neuron : null;
    drawNeurons(context, view, theme, neurons, this.numbers, { selected, hovered, surfaceOf });
    if (next?.pull) this.drawSteps(next);
    drawTicks(context, view, theme, scales, this.arrows);
    drawArrows(context, view, theme, neurons, this.arrows, selected);
    if (bar) drawBar(context, view, theme, bar, plate);
    this.pointer.draw(context, theme);
  }

  drawSteps(next) {
    const { context, view, theme, neurons } = this;
    const steps = stepsOf(next, view);
    this.factor = steps.factor;
    const colours = { push: theme.muted, pull: theme.marked, total: theme.ink };
    for (const [part, colour] of Object.entries(colours)) {
      if (this.steps.includes(part)) drawArrowsOfSteps(context, view, theme, neurons, steps[part], steps.factor, colour);
    }
    if (this.steps.includes("numbers")) drawResponseNumbers(context, view, theme, neurons, next);
  }

  /**
   * Whether x is marked: with the surface of one sample, or without a surface if samples are slow enough to follow.
   * The surface of many samples does not belong to x.
   */
  showsX() {
    if (this.surface.mode !== "off") return this.surface.mode === "sample" && this.surface.shown;
    return Boolean(this.frame?.x);
  }

  /** The legend lists the marks in the picture, in their colours. */
  updateLegend(marks) {
    const mode = this.surface.shown ? this.surface.mode : "off";
    if (this.marks.dataset.surface !== mode) this.marks.dataset.surface = mode;
    for (const item of this.legend) {
      const visible = String(Boolean(marks[item.dataset.mark]));
      if (item.dataset.visible !== visible) item.dataset.visible = visible;
      const factor = item.querySelector(".factor");
      if (factor) factor.textContent = this.factor > 1 ? `, ${this.factor} times as long` : "";
    }
  }

  /** Pixels that the name of x must avoid: centers, numbers and the star. */
  occupied() {
    const { view, neurons, surface } = this;
    const found = this.numbers.map(({ middle }) => middle);
    for (let i = 0; i < neurons.count; i++) found.push([view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])]);
    const star = surface.lowestPlace();
    return star ? [...found, [view.x(star[0]), view.y(star[1])]] : found;
  }

  /** A position of the data on the page: {x, y, radius} in pixels. */
  pixelOf([x, y], radius = 0) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: left + this.canvas.clientLeft + this.view.x(x), y: top + this.canvas.clientTop + this.view.y(y), radius };
  }

  /** The center and the extent of a neuron, null if there is none. */
  pixelOfNeuron(id) {
    const i = this.neurons.indexOf(id);
    if (i < 0) return null;
    const { wide, high } = ellipseOf(this.view, this.neurons, i);
    return this.pixelOf(this.neurons.places.subarray(2 * i, 2 * i + 2), Math.max(wide, high) + 6);
  }

  /** A canvas with the picture in the light theme, with so many pixels for one of the page. */
  drawn(ratio) {
    const { context, theme, view } = this;
    const before = view.ratio;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [view.width * ratio, view.height * ratio];
    this.context = canvas.getContext("2d");
    view.setSize(view.width, view.height, ratio);
    this.useTheme(LIGHT);
    this.paint(performance.now());
    this.context = context;
    view.setSize(view.width, view.height, before);
    this.useTheme(theme);
    this.change();
    return canvas;
  }

  useTheme(theme) {
    this.theme = theme;
    this.layer.redraw();
    this.surface.setTheme(theme);
  }
}
