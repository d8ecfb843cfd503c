// Image mode: the grid of filters. Each is a button, so that mouse, touch and keyboard all reach it.

import { PatchCanvas } from "./colours.js";
import { bestGrid } from "./layout.js";
import { measured } from "./numbers.js";

const LABELS_EVERY = 1000; // ms: more often a screen reader would never come to an end
const WIDTHS_EVERY = 250; // ms
const STATES = ["pushed out", "learned", "twin of a learned one"];
const AT_ONCE = 128; // filters painted for one frame
const MANY = 8; // when more go at once (K was lowered), nobody needs to see each one fade
const LEAVING_FOR = 1500; // ms until a filter that the server kept is shown as before

export class Filters {
  /** onLook(id) when one is pointed at or focused, onRemove(id) when one is to go. */
  constructor(grid, room, { onLook, onRemove }) {
    Object.assign(this, { grid, room, onLook, onRemove });
    this.cells = new Map(); // id -> cell
    this.order = []; // ids as they are shown
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
      else this.remove(id);
    });
    this.grid.addEventListener("keydown", (event) => idOf(event) && this.onKey(event, idOf(event)));
  }

  onKey(event, id) {
    const at = this.order.indexOf(id);
    const last = this.order.length - 1;
    const row = at - (at % this.columns);
    const targets = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at - this.columns,
      ArrowDown: at + this.columns,
      Home: event.ctrlKey ? 0 : row,
      End: event.ctrlKey ? last : Math.min(last, row + this.columns - 1),
    };
    if (event.key === "Delete" || event.key === "Backspace") {
      this.remove(id);
    } else if (event.key in targets) {
      const to = this.order[targets[event.key]];
      if (to !== undefined) this.cells.get(to).button.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  remove(id) {
    const cell = this.cells.get(id);
    if (!cell) return;
    cell.button.classList.add("leaving");
    setTimeout(() => cell.button.classList.remove("leaving"), LEAVING_FOR);
    this.onRemove(id);
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
    const shape = String(scene.patch);
    if (scene.generation === this.generation && shape === String(this.patch)) return;
    this.generation = scene.generation;
    this.patch = scene.patch;
    this.fit();
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
      const dimmed = frame.learned[k] === 0 && id !== this.lookedAt;
      const patch = frame.centers.subarray(k * size, (k + 1) * size);
      if (k % turns === this.turn || id === this.lookedAt) cell.picture.show(patch, this.patch, dimmed);
      if (cell.learned === frame.learned[k]) return;
      cell.learned = frame.learned[k];
      cell.button.dataset.learned = cell.learned;
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
      const text = `Filter ${id}, ${STATES[cell.learned]}, wins ${share} % of samples. Activate to remove.`;
      if (cell.text === text) return;
      cell.text = text;
      cell.button.setAttribute("aria-label", text);
    });
  }

  /** Makes the buttons those of the frame's neurons; true where any came or went. */
  arrange(ids) {
    if (ids.length === this.order.length && this.order.every((id, k) => id === ids[k])) return false;
    const staying = new Set(ids);
    const gone = this.order.filter((id) => !staying.has(id));
    const focusedAt = this.order.indexOf(Number(document.activeElement?.dataset?.neuron));
    const fresh = this.order.length > 0;
    for (const id of gone) {
      const { button } = this.cells.get(id);
      if (gone.length <= MANY) this.fade(button);
      button.remove();
      this.cells.delete(id);
    }
    ids.forEach((id, k) => {
      if (!this.cells.has(id)) this.cells.set(id, this.newCell(id, fresh));
      const { button } = this.cells.get(id);
      if (this.grid.children[k] !== button) this.grid.insertBefore(button, this.grid.children[k] ?? null);
    });
    this.order = Array.from(ids);
    if (!staying.has(this.current)) this.makeCurrent(this.order[Math.min(Math.max(0, focusedAt), ids.length - 1)]);
    // Who removes with the keyboard goes on from the neighbour.
    if (focusedAt >= 0 && !this.grid.contains(document.activeElement)) this.cells.get(this.current)?.button.focus();
    this.fit();
    return true;
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
    return { button, picture, width, learned: 0, text: "" };
  }

  /** A picture of the removed filter that shrinks away where it was, while the others close up. */
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
    if (!this.order.length || this.grid.hidden) return;
    const { columns, side, small } = bestGrid(this.room, this.order.length, this.patch);
    this.columns = columns;
    this.grid.style.setProperty("--columns", columns);
    this.grid.style.setProperty("--side", `${side}px`);
    this.grid.classList.toggle("small", small);
    this.grid.classList.toggle("narrow", side < 58);
  }
}
