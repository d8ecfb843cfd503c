// Plane mode: samples and neurons with two dimensions on a canvas, drawn only after changes.

import { readTheme, reducedMotion, watchSize, watchTheme } from "./canvas_theme.js";
import { isSameTrial } from "./frames.js";
import { planeSVG, svgToPNG } from "./pictures.js";
import { arrowSpots, borderArrows, drawArrows } from "./plane_border.js";
import { drawBar, isUnder, plateOf, plateSpots } from "./plane_bar.js";
import { axes, margins, nameSpots } from "./plane_axes.js";
import { Labels } from "./plane_labels.js";
import { ellipseOf, scaledDistance } from "./plane_ellipses.js";
import { drawGrid, drawNeurons, drawPaths, drawTicks } from "./plane_marks.js";
import { NeuronSet } from "./plane_neurons.js";
import { PlanePointer } from "./plane_pointer.js";
import { PointLayer } from "./plane_points.js";
import { Samples } from "./plane_samples.js";
import { SurfaceLayer } from "./plane_surface.js";
import { View } from "./plane_view.js";

const SPACING = 0.006; // between two points of a path, as a part of the view
const FOLLOWED = 30; // samples per second up to which x is shown
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
    this.surfaceNeuron = null; // number of the neuron for the surface; null: chosen automatically
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
      this.selected = this.surfaceNeuron = null; // numbers belong to one trial
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

  select(id) {
    if (!this.pointer.grabbed) this.showSurfaceOf(id);
    if (id === this.selected) return;
    this.selected = id;
    this.change();
  }

  /** Selects the neuron for the surface. During a drag it stays, to show the influence of the dragged neuron. */
  showSurfaceOf(id) {
    this.surfaceNeuron = id;
    this.change();
  }

  /** Reads the colours again. */
  themeChanged() {
    this.theme = readTheme(this.canvas);
    this.surface.setTheme(this.theme);
    this.layer.redraw();
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
    const { view, neurons, samples, surface, surfaceNeuron } = this;
    const reduced = reducedMotion();
    let moving = view.step(elapsed);
    moving = neurons.step(reduced ? 1e9 : elapsed, 0.15 / view.scale) || moving;
    moving = samples.step(now, reduced) || moving;
    surface.update({ view, neurons, samples, selected: surfaceNeuron, lambda: this.scene.setup.lambda });
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
    drawPaths(context, view, theme, neurons);
    surface.drawLowest(context, view);
    const x = this.showsX() && samples.current;
    const star = surface.lowestPlace();
    this.updateLegend({ x, star, painted: this.hasPainted });
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
    drawTicks(context, view, theme, scales, this.arrows);
    drawArrows(context, view, theme, neurons, this.arrows, selected);
    if (bar) drawBar(context, view, theme, bar, plate);
    this.pointer.draw(context, theme);
    if (this.canvas.matches(":focus-visible")) this.drawFocus();
  }

  /**
   * Whether x is marked: with the surface of one sample, or without a surface if samples are slow enough to follow.
   * The surface of many samples does not belong to x.
   */
  showsX() {
    if (this.surface.mode !== "off") return this.surface.mode === "sample" && this.surface.shown;
    return this.frame?.state !== "running" || this.frame.rate <= FOLLOWED;
  }

  /** The legend lists the marks in the picture, in their colours. */
  updateLegend(marks) {
    const mode = this.surface.shown ? this.surface.mode : "off";
    if (this.marks.dataset.surface !== mode) this.marks.dataset.surface = mode;
    for (const item of this.legend) {
      const visible = String(Boolean(marks[item.dataset.mark]));
      if (item.dataset.visible !== visible) item.dataset.visible = visible;
    }
  }

  /** Pixels that the name of x must avoid: centers, the points of ellipses in its direction, numbers and the star. */
  occupied() {
    const { view, neurons, samples, surface } = this;
    const [sampleX, sampleY] = [view.x(samples.current[0]), view.y(samples.current[1])];
    const found = this.numbers.map(({ middle }) => middle);
    for (let i = 0; i < neurons.count; i++) {
      const ellipse = ellipseOf(view, neurons, i);
      const { x, y } = ellipse;
      const part = 1 / (scaledDistance(ellipse, sampleX, sampleY) || Infinity);
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
