// Plane mode: samples and neurons of two dimensions on a canvas, drawn only when something changed.

import { calm, readTheme, watchSize, watchTheme } from "./canvas_theme.js";
import { planeSVG, svgToPNG } from "./pictures.js";
import { beyond, drawBeyond } from "./plane_border.js";
import { drawGrid, drawNeurons, drawPaths, drawTicks } from "./plane_marks.js";
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
    this.arrows = []; // neurons beyond the border, as last drawn
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
    const isNew = before?.generation !== scene.generation || before.run !== scene.run;
    if (isNew) {
      this.neurons.clear();
      this.samples.clear();
      this.surface.forget();
    }
    const same = before?.domain?.every((end, k) => end === scene.domain[k]);
    if (!same || isNew) this.view.setDomain(scene.domain);
    this.change();
  }

  setPoints(points) {
    this.layer.setPoints(points);
    this.change();
  }

  setFrame(frame) {
    if (this.scene && frame.generation !== this.scene.generation) return;
    this.frame = frame;
    this.neurons.setFrame(frame, SPACING * this.view.extent(), !calm());
    this.samples.setFrame(frame, performance.now(), calm());
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
    drawGrid(context, view, theme);
    this.layer.draw(context, view, theme);
    samples.draw(context, view, theme, now);
    drawPaths(context, view, theme, neurons);
    surface.drawLowest(context, view);
    if (this.tellsX()) samples.drawCurrent(context, view, theme, now, this.taken());
    const surfaceOf = surface.shown ? surface.neuron : null;
    drawNeurons(context, view, theme, neurons, { selected, hovered: this.pointer.hovered, surfaceOf });
    this.arrows = beyond(view, neurons);
    drawTicks(context, view, theme, this.arrows);
    drawBeyond(context, view, theme, neurons, this.arrows, selected);
    surface.drawBar(context, view);
    this.pointer.draw(context, theme);
    if (this.canvas.matches(":focus-visible")) this.drawFocus();
  }

  /** Which sample is x matters to the surface, and where one can follow them; in a flood it would only hop about. */
  tellsX() {
    return this.surface.shown || this.frame?.state !== "running" || this.frame.rate <= FOLLOWED;
  }

  /** Pixels where x must not write its name: the numbers of neurons and the star. */
  taken() {
    const { view, neurons, surface } = this;
    const found = [];
    for (let i = 0; i < neurons.count; i++) {
      const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
      found.push([x, y], [x + 14, y - 10]);
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
