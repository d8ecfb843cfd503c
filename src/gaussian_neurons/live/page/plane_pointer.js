// Pointer and keys on the plane: dragging, painting, selecting, adding and removing.

import { ellipseOf, scaledDistance } from "./plane_ellipses.js";

const MOVE_EVERY = 33; // ms between two moves that are sent
const PAINT_EVERY = 40; // ms between two batches
const PAINT_COUNT = 9; // points per batch
const BRUSH = 0.025; // standard deviation of the scatter, as a part of the view
const SLACK = 4; // px that the pointer may move during a click
const NEAR = { mouse: 14, pen: 16, touch: 24 }; // px around a center in which the neuron is hit
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const HELP =
  "Plane with samples and neurons. Left and right bracket select a neuron, arrow keys move it, " +
  "Delete removes it, plus adds one, Escape clears the selection.";

export class PlanePointer {
  constructor(plane, canvas, handlers) {
    Object.assign(this, { plane, canvas, handlers });
    this.tool = "drag";
    this.hovered = null;
    this.at = null; // position of the pointer in pixels
    this.grabbed = null; // {id, pointer, from, offset, moved}
    this.painting = null; // {pointer, last, timer}
    this.sentAt = this.sendTimer = 0;
    this.keysHeld = false;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", HELP);
    canvas.style.touchAction = "none";
    this.listen();
  }

  listen() {
    const events = {
      pointerdown: this.down,
      pointermove: this.move,
      pointerenter: this.move, // Safari sends leave and enter after each click
      pointerup: this.up,
      pointercancel: this.up,
      lostpointercapture: this.up,
      pointerleave: this.leave,
      dblclick: this.doubled,
      keydown: this.keyDown,
      keyup: this.keyUp,
      blur: this.blurred,
    };
    for (const [name, handle] of Object.entries(events)) this.canvas.addEventListener(name, handle.bind(this));
    document.addEventListener("keydown", (event) => this.pageKeyDown(event));
  }

  setTool(tool) {
    this.tool = tool;
    this.stop();
    this.showCursor();
    this.plane.change();
  }

  /** The neuron that the pointer or the arrow keys hold; null: none. */
  get held() {
    return this.grabbed?.id ?? this.plane.neurons.held?.id ?? null;
  }

  get brush() {
    return BRUSH * this.plane.view.extent();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const { width, height } = this.plane.view;
    const [x, y] = [event.clientX - box.left - this.canvas.clientLeft, event.clientY - box.top - this.canvas.clientTop];
    return [Math.max(0, Math.min(width, x)), Math.max(0, Math.min(height, y))];
  }

  down(event) {
    if (event.button > 0 || this.grabbed || this.painting) return;
    this.at = this.place(event);
    this.canvas.setPointerCapture(event.pointerId);
    if (this.tool === "paint") {
      this.painting = { pointer: event.pointerId, last: this.at, timer: setInterval(() => this.paint(), PAINT_EVERY) };
      this.paint();
      return;
    }
    const hit = this.find(this.at, NEAR[event.pointerType] ?? NEAR.mouse);
    if (!hit) return this.inspect(null);
    const [x, y] = this.plane.view.toData(...this.at);
    // An ellipse keeps its distance from the pointer. The neuron of an arrow moves to the pointer.
    const offset = hit.isArrow ? [0, 0] : [hit.x - x, hit.y - y];
    this.grabbed = { id: hit.id, pointer: event.pointerId, from: this.at, offset, moved: false };
    this.showCursor();
  }

  move(event) {
    this.at = this.place(event);
    const { plane, grabbed } = this;
    if (grabbed?.pointer === event.pointerId) {
      grabbed.moved ||= Math.hypot(this.at[0] - grabbed.from[0], this.at[1] - grabbed.from[1]) > SLACK;
      if (grabbed.moved) this.drag();
    } else if (this.tool === "drag") {
      const hit = this.find(this.at, NEAR.mouse);
      if ((hit?.id ?? null) !== this.hovered) {
        this.hovered = hit?.id ?? null;
        this.showCursor();
        plane.change();
      }
    } else {
      plane.change(); // to move the brush
    }
  }

  drag() {
    const { id, offset } = this.grabbed;
    const [x, y] = this.plane.view.toData(...this.at);
    this.plane.neurons.hold(id, x + offset[0], y + offset[1]);
    this.plane.change();
    this.sendTimer ||= setTimeout(() => this.sendMove(), MOVE_EVERY - (performance.now() - this.sentAt));
  }

  /** Sends the position of the held neuron, also after the pointer has stopped. */
  sendMove() {
    clearTimeout(this.sendTimer);
    this.sendTimer = 0;
    this.sentAt = performance.now();
    const { held } = this.plane.neurons;
    if (this.grabbed && held) this.handlers.onMove?.(held.id, [held.x, held.y]);
  }

  up(event) {
    if (event.pointerId === (this.grabbed ?? this.painting)?.pointer) this.stop();
    if (event.pointerType === "touch" && event.type !== "lostpointercapture") this.at = null;
    this.plane.change();
  }

  /** Ends a drag or a brush stroke. The last position of a neuron is sent first. */
  stop() {
    if (this.grabbed?.moved) {
      this.sendMove();
      this.plane.neurons.release();
      this.handlers.onRelease?.();
    } else if (this.grabbed) {
      this.inspect(this.grabbed.id); // a click; a drag leaves the selection, and shows its influence on that
    }
    if (this.painting) clearInterval(this.painting.timer);
    this.grabbed = this.painting = null;
    this.showCursor();
  }

  /** Ends a drag or a brush stroke without a message, because the neuron or the data no longer exists. */
  cancel() {
    if (this.painting) clearInterval(this.painting.timer);
    this.grabbed = this.painting = this.hovered = null;
    this.keysHeld = false;
    this.plane.neurons.release();
    this.showCursor();
  }

  leave() {
    if (this.grabbed || this.painting) return;
    this.at = this.hovered = null;
    this.plane.change();
  }

  doubled() {
    if (this.tool !== "drag" || !this.at || this.find(this.at, NEAR.mouse)) return;
    this.handlers.onAdd?.(this.plane.view.toData(...this.at));
  }

  /** Paints a batch of points, scattered around the path of the pointer since the last batch. */
  paint() {
    const { view, samples } = this.plane;
    const { last } = this.painting;
    const points = [];
    for (let n = 0; n < PAINT_COUNT; n++) {
      const part = Math.random();
      const [x, y] = view.toData(last[0] + (this.at[0] - last[0]) * part, last[1] + (this.at[1] - last[1]) * part);
      const distance = this.brush * Math.sqrt(-2 * Math.log(1 - Math.random()));
      const angle = 2 * Math.PI * Math.random();
      points.push([x + distance * Math.cos(angle), y + distance * Math.sin(angle)]);
      samples.flash(...points[n], performance.now(), true); // shown before the server confirms
    }
    this.painting.last = this.at;
    this.handlers.onPaint?.(points);
    this.plane.change();
  }

  /** The neuron at a pixel: {id, x, y, isArrow} or null. The nearest center near it, or inside its ellipse, or an arrow. */
  find([px, py], near) {
    const { view, neurons, arrows } = this.plane;
    let best = null;
    let least = Infinity;
    for (let i = 0; i < neurons.count; i++) {
      const [x, y] = [neurons.places[2 * i], neurons.places[2 * i + 1]];
      const ellipse = ellipseOf(view, neurons, i);
      const distance = Math.hypot(ellipse.x - px, ellipse.y - py);
      const inside = scaledDistance(ellipse, px, py) <= 1 + near / 2 / ellipse.short;
      const score = distance <= near ? distance : inside ? near + distance : Infinity;
      if (score < least) [best, least] = [{ id: neurons.ids[i], x, y, isArrow: false }, score];
    }
    for (const arrow of arrows) {
      const distance = Math.hypot(arrow.x - px, arrow.y - py);
      if (distance > near || distance >= least) continue;
      [best, least] = [{ id: neurons.ids[arrow.index], x: 0, y: 0, isArrow: true }, distance];
    }
    return best;
  }

  inspect(id) {
    this.plane.select(id);
    this.handlers.onInspect?.(id);
  }

  showCursor() {
    const drag = this.grabbed ? "grabbing" : this.hovered !== null ? "grab" : "default";
    this.canvas.style.cursor = this.tool === "paint" ? "crosshair" : drag;
  }

  keyDown(event) {
    const act = bracketStep(event) ? () => this.selectNext(bracketStep(event)) : this.keyAction(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
    this.plane.change();
  }

  /** Brackets select a neuron from anywhere except text fields. The plane gets the focus, for the arrow keys. */
  pageKeyDown(event) {
    const { target } = event;
    const step = bracketStep(event);
    if (!step || event.defaultPrevented || !this.canvas.clientWidth || document.querySelector("dialog[open]")) return;
    if (target.isContentEditable || target.matches?.("select, textarea, input:not([type=range])")) return;
    event.preventDefault();
    this.canvas.focus({ preventScroll: true, focusVisible: true });
    this.selectNext(step);
  }

  keyAction(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    const { plane, handlers } = this;
    const { selected } = plane;
    const once = (act) => (event.repeat ? () => {} : act);
    if (event.key === "+" || event.key === "=") return once(() => handlers.onAdd?.()); // the server chooses the center
    if (event.key === "Escape" && selected !== null) return () => this.inspect(null);
    if (plane.neurons.indexOf(selected) < 0) return null;
    if (event.key === "Delete" || event.key === "Backspace") return once(() => this.remove(selected));
    const direction = ARROWS[event.key];
    return direction ? () => this.nudge(selected, direction, event.shiftKey ? 0.05 : 0.01) : null;
  }

  selectNext(step) {
    const { neurons, selected } = this.plane;
    if (!neurons.count) return;
    const at = neurons.indexOf(selected);
    const next = at < 0 ? (step > 0 ? 0 : neurons.count - 1) : (at + step + neurons.count) % neurons.count;
    this.inspect(neurons.ids[next]);
  }

  remove(id) {
    this.handlers.onRemove?.(id);
    this.inspect(null);
  }

  nudge(id, [dx, dy], part) {
    const { neurons, view } = this.plane;
    const i = neurons.indexOf(id);
    const step = part * view.extent();
    const x = neurons.targets[2 * i] + dx * step;
    const y = neurons.targets[2 * i + 1] + dy * step;
    neurons.hold(id, x, y);
    this.keysHeld = true;
    this.handlers.onMove?.(id, [x, y]);
  }

  keyUp(event) {
    if (this.keysHeld && ARROWS[event.key]) this.releaseKeys();
  }

  blurred() {
    if (this.keysHeld) this.releaseKeys();
  }

  releaseKeys() {
    this.keysHeld = false;
    this.plane.neurons.release();
    this.handlers.onRelease?.();
    this.plane.change();
  }

  /** Draws the brush as a circle of two standard deviations. */
  draw(context, theme) {
    if (this.tool !== "paint" || !this.at) return;
    context.strokeStyle = theme.marked;
    context.lineWidth = 1.5;
    context.globalAlpha = this.painting ? 1 : 0.7;
    context.beginPath();
    context.arc(...this.at, 2 * this.brush * this.plane.view.scale, 0, 2 * Math.PI);
    context.stroke();
    context.globalAlpha = 1;
  }
}

/** 1 or -1 for a bracket key, otherwise 0. Many keyboards need Alt, or Ctrl and Alt, for brackets. */
function bracketStep({ key, ctrlKey, altKey, metaKey }) {
  const step = { "[": -1, "]": 1 }[key] ?? 0;
  return metaKey || (ctrlKey && !altKey) ? 0 : step;
}
