// Image mode: the grid of filters. Each is a button, so that mouse, touch and keyboard all reach it.

import { PatchCanvas } from "./colours.js";
import { bestGrid } from "./layout.js";
import { measured } from "./numbers.js";
import { Slots } from "./slots.js";
import { isOut, stateOf } from "./states.js";

const LABELS_EVERY = 1000; // ms: more often a screen reader would never come to an end
const WIDTHS_EVERY = 250; // ms
const AT_ONCE = 128; // filters painted for one frame
const MANY = 8; // when more go at once (K was lowered), nobody needs to see each one fade
const LEAVING_FOR = 1500; // ms until a filter that the server kept is shown again

export class Filters {
  /** onLook(id) when one is pointed at or focused, onRemove(id) when one is to go: it should call leave(id). */
  constructor(grid, room, { onLook, onRemove }) {
    Object.assign(this, { grid, room, onLook, onRemove });
    this.cells = new Map(); // id -> cell
    this.slots = new Slots();
    this.leaving = new Set(); // ids that were removed here, and that the server may not know of yet
    this.columns = 1;
    this.patch = [1, 1, 1];
    this.labelledAt = 0;
    this.current = null; // the one filter that the tab key reaches
    this.touched = false;
    this.turn = 0;
    new ResizeObserver(() => this.fit()).observe(room);
    window.addEventListener("resize", () => this.fit());
    this.listen();
  }

  listen() {
    const idOf = (event) => Number(event.target.closest?.(".filter")?.dataset.neuron) || null;
    this.grid.addEventListener("pointerdown", (event) => (this.touched = event.pointerType === "touch"));
    this.grid.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch" && idOf(event)) this.onLook(idOf(event));
    });
    this.grid.addEventListener("focusin", (event) => {
      if (!idOf(event)) return;
      this.makeCurrent(idOf(event));
      this.onLook(idOf(event));
    });
    this.grid.addEventListener("click", (event) => {
      const id = idOf(event);
      if (!id) return;
      // A finger cannot point without touching: its tap only looks, and the inspector has a button to remove.
      if (this.touched && event.detail > 0) this.onLook(id);
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
    // A key that is held must not take one filter after the other.
    if (event.repeat && (removes || event.key === "Enter")) return event.preventDefault();
    if (removes) this.onRemove(id);
    else if (event.key in targets) this.cells.get(this.next(...targets[event.key]))?.button.focus();
    else return;
    event.preventDefault();
  }

  /** The next filter that is shown, from a place on. */
  next(at, step) {
    return this.slots.from(at, step, (id) => this.leaving.has(id));
  }

  /** Empties a place at once, before the server has answered; if it keeps the neuron, that is shown again. */
  leave(id) {
    if (!this.cells.has(id) || this.leaving.has(id) || this.shownCount() === 1) return;
    this.leaving.add(id);
    setTimeout(() => this.cells.has(id) && this.comeBack(id), LEAVING_FOR);
    this.fade(this.cells.get(id).button);
    this.place();
  }

  /** What was not removed after all is shown again: one, or all. */
  comeBack(id = null) {
    if (id === null) this.leaving.clear();
    else this.leaving.delete(id);
    this.place();
  }

  shownCount() {
    return this.cells.size - this.leaving.size;
  }

  /** Shows which filter the inspector tells about. */
  mark(id) {
    if (id === this.lookedAt) return;
    this.lookedAt = id;
    this.grid.querySelector(".looked-at")?.classList.remove("looked-at");
    this.cells.get(id)?.button.classList.add("looked-at");
  }

  makeCurrent(id) {
    if (this.cells.has(this.current)) this.cells.get(this.current).button.tabIndex = -1;
    this.current = id;
    if (this.cells.has(id)) this.cells.get(id).button.tabIndex = 0;
  }

  setScene(scene) {
    this.adaptive = scene.setup.eta_sigma > 0;
    this.widthsAt = -Infinity;
    const { K } = scene.setup;
    const start = `${scene.run} ${scene.generation} ${scene.patch}`;
    if (start !== this.start) {
      this.slots.beginAnew(K);
      this.slots.closeUp(null);
      this.leaving.clear();
    } else if (K !== this.asked) {
      this.slots.closeUp(K < this.asked ? K : null);
    }
    Object.assign(this, { start, asked: K, patch: scene.patch });
  }

  /** Where widths are learned each filter tells its own; elsewhere all have the one that the settings show. */
  showWidths(frame, now) {
    if (now - this.widthsAt < WIDTHS_EVERY) return;
    this.widthsAt = now;
    frame.ids.forEach((id, k) => {
      const { width } = this.cells.get(id);
      const text = this.adaptive ? `σ ${measured(frame.widths[k])}` : "";
      if (width.textContent !== text) width.textContent = text;
    });
  }

  /** Draws the frame; called from requestAnimationFrame only. */
  show(frame) {
    const changed = this.arrange(frame.ids);
    const size = frame.centers.length / frame.ids.length;
    let relabel = changed;
    // Hundreds take turns, so that no frame takes long; what is paused or new is drawn whole.
    const turns = changed || frame.state !== "running" ? 1 : Math.ceil(frame.ids.length / AT_ONCE);
    this.turn = (this.turn + 1) % turns || 0;
    frame.ids.forEach((id, k) => {
      const cell = this.cells.get(id);
      const state = stateOf(frame, k);
      const dimmed = isOut(frame, k) && id !== this.lookedAt;
      const patch = frame.centers.subarray(k * size, (k + 1) * size);
      if (k % turns === this.turn || id === this.lookedAt) cell.picture.show(patch, this.patch, dimmed);
      if (cell.state === state) return;
      cell.state = state;
      cell.button.dataset.learned = frame.learned[k];
      relabel = true;
    });
    const now = performance.now();
    if (changed) this.widthsAt = -Infinity;
    this.showWidths(frame, now);
    if (relabel || now - this.labelledAt > LABELS_EVERY) this.label(frame, now);
  }

  label(frame, now) {
    this.labelledAt = now;
    frame.ids.forEach((id, k) => {
      const cell = this.cells.get(id);
      const share = Math.round(frame.share[k] * 100);
      const text = `Filter ${id}, ${cell.state}, wins ${share} % of samples. Activate to remove.`;
      if (cell.text === text) return;
      cell.text = text;
      cell.button.setAttribute("aria-label", text);
    });
  }

  /** Makes the buttons those of the frame's neurons; true where any came or went. */
  arrange(ids) {
    const fresh = this.cells.size > 0;
    if (!this.slots.take(ids)) return false;
    const staying = new Set(ids);
    const gone = [...this.cells.keys()].filter((id) => !staying.has(id));
    for (const id of gone) {
      const { button } = this.cells.get(id);
      if (gone.length <= MANY && !this.leaving.has(id)) this.fade(button);
      this.leaving.delete(id);
      this.cells.delete(id);
    }
    for (const id of ids) if (!this.cells.has(id)) this.cells.set(id, this.newCell(id, fresh));
    this.place();
    this.fit();
    return true;
  }

  /** Every button at its place, and an empty frame where there is none. */
  place() {
    const focused = document.activeElement?.closest?.(".filter");
    const at = focused ? [...this.grid.children].indexOf(focused) : -1;
    const visibly = focused?.matches(":focus-visible");
    const wanted = this.slots.ids.map((id, k) => {
      if (id !== null && !this.leaving.has(id)) return this.cells.get(id).button;
      const there = this.grid.children[k];
      return there?.classList.contains("empty-slot") ? there : emptySlot();
    });
    const staying = new Set(wanted);
    wanted.forEach((element, k) => {
      const there = this.grid.children[k];
      if (there === element) return;
      // What goes makes room for what comes, and all others stay where they are: a button that moves loses the focus.
      if (there && !staying.has(there)) there.replaceWith(element);
      else this.grid.insertBefore(element, there ?? null);
    });
    while (this.grid.children.length > wanted.length) this.grid.lastChild.remove();
    const near = at < 0 ? this.next(-1, 1) : (this.next(at - 1, 1) ?? this.next(at, -1));
    if (!this.cells.get(this.current)?.button.isConnected) this.makeCurrent(near);
    // Who removes with the keyboard goes on from the neighbour; who clicks looks where the pointer is.
    if (!visibly || document.activeElement === focused) return;
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

  /** A picture of the removed filter that shrinks away where it was. */
  fade(button) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || !button.offsetParent) return;
    const from = button.querySelector("canvas");
    const ghost = document.createElement("canvas");
    ghost.className = "ghost";
    ghost.width = from.width;
    ghost.height = from.height;
    ghost.getContext("2d").drawImage(from, 0, 0);
    const box = from.getBoundingClientRect();
    const origin = this.room.getBoundingClientRect();
    ghost.style.left = `${box.left - origin.left + this.room.scrollLeft}px`;
    ghost.style.top = `${box.top - origin.top + this.room.scrollTop}px`;
    ghost.style.width = `${box.width}px`;
    ghost.style.height = `${box.height}px`;
    this.room.append(ghost);
    const frames = [
      { opacity: 1, transform: "none" },
      { opacity: 0, transform: "translateY(12px) scale(0.5)" },
    ];
    ghost.animate(frames, { duration: 450, easing: "ease-in" }).finished.finally(() => ghost.remove());
  }

  /** Columns and size such that all filters fit into the room, as large as it goes. */
  fit() {
    if (!this.slots.ids.length || this.grid.hidden) return;
    const { columns, side, small } = bestGrid(this.room, this.slots.ids.length, this.patch);
    this.columns = columns;
    this.grid.style.setProperty("--columns", columns);
    this.grid.style.setProperty("--side", `${side}px`);
    this.grid.classList.toggle("small", small);
    this.grid.classList.toggle("narrow", side < 58);
  }
}

function emptySlot() {
  const place = document.createElement("i");
  place.className = "empty-slot";
  place.setAttribute("aria-hidden", "true");
  return place;
}
