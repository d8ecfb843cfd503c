// Image mode: the grid of filters. Each is a button, for mouse, touch and keyboard.

import { PatchCanvas } from "./colours.js";
import { bestGrid } from "./layout.js";
import { measured } from "./numbers.js";
import { Slots } from "./slots.js";
import { isPushedOut, stateOf } from "./states.js";

const LABELS_EVERY = 1000; // ms; a screen reader cannot follow faster changes

export class Filters {
  /** onInspect(id): pointed at or focused; onRemove(id): clicked or deleted. */
  constructor(grid, container, { onInspect, onRemove }) {
    Object.assign(this, { grid, container, onInspect, onRemove });
    this.cells = new Map(); // id -> cell
    this.slots = new Slots();
    this.columns = 1;
    this.patch = [1, 1, 1];
    this.labelledAt = 0;
    this.current = null; // the filter that the tab key reaches
    this.touched = false;
    new ResizeObserver(() => this.fit()).observe(container);
    window.addEventListener("resize", () => this.fit());
    this.listen();
  }

  listen() {
    const idOf = (event) => Number(event.target.closest?.(".filter")?.dataset.neuron) || null;
    this.grid.addEventListener("pointerdown", (event) => (this.touched = event.pointerType === "touch"));
    this.grid.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch" && idOf(event)) this.onInspect(idOf(event));
    });
    this.grid.addEventListener("focusin", (event) => {
      if (!idOf(event)) return;
      this.makeCurrent(idOf(event));
      this.onInspect(idOf(event));
    });
    this.grid.addEventListener("click", (event) => {
      const id = idOf(event);
      if (!id) return;
      // A tap only inspects the filter, because touch has no hover. The inspector has a button to remove it.
      if (this.touched && event.detail > 0) this.onInspect(id);
      else this.onRemove(id);
    });
    this.grid.addEventListener("keydown", (event) => idOf(event) && this.onKey(event, idOf(event)));
  }

  onKey(event, id) {
    const at = this.slots.ids.indexOf(id);
    const row = at - (at % this.columns);
    const end = Math.min(this.slots.ids.length, row + this.columns);
    const targets = {
      ArrowLeft: [at, -1],
      ArrowRight: [at, 1],
      ArrowUp: [at, -this.columns],
      ArrowDown: [at, this.columns],
      Home: [event.ctrlKey ? -1 : row - 1, 1],
      End: [event.ctrlKey ? this.slots.ids.length : end, -1],
    };
    const removes = event.key === "Delete" || event.key === "Backspace";
    // A held key must remove one filter only.
    if (event.repeat && (removes || event.key === "Enter")) return event.preventDefault();
    if (removes) this.onRemove(id);
    else if (event.key in targets) this.cells.get(this.slots.from(...targets[event.key]))?.button.focus();
    else return;
    event.preventDefault();
  }

  /** The slot of a neuron, also of a removed one: {x, y, radius} in pixels, or null. */
  slotOf(id) {
    const box = this.grid.children[this.slots.of(id)]?.getBoundingClientRect();
    if (!box) return null;
    const side = box.width / 2;
    return { x: box.left + side, y: box.bottom - side, radius: side * Math.SQRT2 + 4 };
  }

  /** Highlights the inspected filter. */
  highlight(id) {
    if (id === this.inspected) return;
    this.inspected = id;
    this.grid.querySelector(".inspected")?.classList.remove("inspected");
    this.cells.get(id)?.button.classList.add("inspected");
  }

  makeCurrent(id) {
    if (this.cells.has(this.current)) this.cells.get(this.current).button.tabIndex = -1;
    this.current = id;
    if (this.cells.has(id)) this.cells.get(id).button.tabIndex = 0;
  }

  setScene(scene) {
    this.adaptive = scene.setup.eta_sigma > 0;
    const { K } = scene.setup;
    const trial = `${scene.run} ${scene.generation} ${scene.patch}`;
    if (trial !== this.trial) {
      this.slots.restart(K);
      this.slots.shrinkTo(null);
    } else if (K !== this.K) {
      this.slots.shrinkTo(K < this.K ? K : null);
    }
    Object.assign(this, { trial, K, patch: scene.patch });
  }

  /** If widths are learned, every filter shows its own. */
  showWidths(frame) {
    frame.ids.forEach((id, k) => {
      const { width } = this.cells.get(id);
      const text = this.adaptive ? `σ ${measured(frame.widths[k])}` : "";
      if (width.textContent !== text) width.textContent = text;
    });
  }

  /** Draws a frame; called from requestAnimationFrame only. */
  show(frame) {
    const size = frame.centers.length / frame.ids.length;
    let relabel = this.arrange(frame.ids);
    frame.ids.forEach((id, k) => {
      const cell = this.cells.get(id);
      const state = stateOf(frame, k);
      const dimmed = isPushedOut(frame, k) && id !== this.inspected;
      cell.picture.show(frame.centers.subarray(k * size, (k + 1) * size), this.patch, dimmed);
      if (cell.state === state) return;
      cell.state = state;
      cell.button.dataset.learned = frame.learned[k];
      relabel = true;
    });
    const now = performance.now();
    this.showWidths(frame);
    if (relabel || now - this.labelledAt > LABELS_EVERY) this.label(frame, now);
  }

  label(frame, now) {
    this.labelledAt = now;
    frame.ids.forEach((id, k) => {
      const cell = this.cells.get(id);
      const share = Math.round(frame.share[k] * 100);
      const text = `Filter ${id}, ${cell.state}, strongest response to ${share} % of the samples. Press to remove.`;
      if (cell.text === text) return;
      cell.text = text;
      cell.button.setAttribute("aria-label", text);
    });
  }

  /** Adds and removes buttons as needed for a frame. Returns whether there were any. */
  arrange(ids) {
    const fresh = this.cells.size > 0;
    if (!this.slots.take(ids)) return false;
    const staying = new Set(ids);
    for (const id of this.cells.keys()) if (!staying.has(id)) this.cells.delete(id);
    for (const id of ids) if (!this.cells.has(id)) this.cells.set(id, this.newCell(id, fresh));
    this.place();
    this.fit();
    return true;
  }

  /** Puts every button into its slot, and a placeholder into empty slots. */
  place() {
    const focused = document.activeElement?.closest?.(".filter");
    const at = focused ? [...this.grid.children].indexOf(focused) : -1;
    const byKeyboard = focused?.matches(":focus-visible");
    const wanted = this.slots.ids.map((id, k) => {
      if (id !== null) return this.cells.get(id).button;
      const present = this.grid.children[k];
      return present?.classList.contains("empty-slot") ? present : emptySlot();
    });
    const staying = new Set(wanted);
    wanted.forEach((element, k) => {
      const present = this.grid.children[k];
      if (present === element) return;
      // Buttons that stay are not moved in the DOM, because that removes the focus.
      if (present && !staying.has(present)) present.replaceWith(element);
      else this.grid.insertBefore(element, present ?? null);
    });
    while (this.grid.children.length > wanted.length) this.grid.lastChild.remove();
    const near = at < 0 ? this.slots.from(-1, 1) : (this.slots.from(at - 1, 1) ?? this.slots.from(at, -1));
    if (!this.cells.get(this.current)?.button.isConnected) this.makeCurrent(near);
    // After a removal with the keyboard, the neighbour gets the focus.
    if (!byKeyboard || document.activeElement === focused) return;
    (focused.isConnected ? focused : this.cells.get(near)?.button)?.focus();
  }

  newCell(id, fresh) {
    const button = document.createElement("button");
    const number = document.createElement("span");
    const width = document.createElement("span");
    const picture = new PatchCanvas();
    number.textContent = id;
    number.className = "number";
    width.className = "width";
    button.type = "button";
    button.className = fresh ? "filter arriving" : "filter";
    button.dataset.neuron = id;
    button.dataset.learned = 0;
    button.tabIndex = -1;
    button.append(number, width, picture.canvas);
    return { button, picture, width, state: "", text: "" };
  }

  /** Chooses columns and size so that all filters fit into the container. */
  fit() {
    if (!this.slots.ids.length || this.grid.hidden) return;
    const { columns, side, small } = bestGrid(this.container, this.slots.ids.length, this.patch);
    this.columns = columns;
    this.grid.style.setProperty("--columns", columns);
    this.grid.style.setProperty("--side", `${side}px`);
    this.grid.classList.toggle("small", small);
    this.grid.classList.toggle("narrow", side < 58);
  }
}

function emptySlot() {
  const slot = document.createElement("i");
  slot.className = "empty-slot";
  slot.setAttribute("aria-hidden", "true");
  return slot;
}
