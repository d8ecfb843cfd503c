// One control: a number field and a slider for the same setting, and a description.

import { Pending } from "./pending.js";
import { editable, short } from "./numbers.js";

const STEPS = 1000; // positions of a slider
const SEND_EVERY = 100; // ms while sliding
const NUDGE = 1.1; // factor of an arrow key
const THOUSANDS = /^\d{1,3}(,\d{3})+$/; // 1,000, as the page writes it
const REST = 700; // ms after sliding in which the server's value does not move the slider

/**
 * Converts positions 0..STEPS of a slider to values and back, on a logarithmic scale. `zero`: the left end is 0;
 * `open`: the right end is null, no limit.
 */
export function scale([lowest, highest], { whole = false, zero = false, open = false }) {
  const last = open ? STEPS - 1 : STEPS;
  const first = zero ? 1 : 0;
  const round = (value) => (whole ? Math.round(value) : Number(value.toPrecision(2)));
  return {
    valueAt(position) {
      if (open && position > last) return null;
      if (position < first) return 0;
      const part = (position - first) / (last - first);
      return round(lowest * (highest / lowest) ** part);
    },
    positionOf(value) {
      if (value === null) return STEPS;
      if (first && value <= 0) return 0;
      const within = Math.min(highest, Math.max(lowest, value));
      const part = Math.log(within / lowest) / Math.log(highest / lowest);
      return Math.round(first + part * (last - first)) || 0;
    },
    /** The value after an arrow key, up (1) or down (-1), also beyond the ends of the slider. */
    next(value, direction) {
      if (whole) return Math.max(lowest, value + direction);
      if (value === null) return direction > 0 ? null : round(highest);
      if (open && direction > 0 && value >= highest) return null;
      if (value <= 0) return direction > 0 ? round(lowest) : 0;
      return zero && direction < 0 && value <= lowest ? 0 : round(value * NUDGE ** direction);
    },
  };
}

export class Field {
  /** spec: an entry of controls.js; onSet(name, value) sends a value. */
  constructor(spec, onSet) {
    Object.assign(this, { spec, onSet });
    this.value = null;
    this.slidAt = -Infinity;
    this.pending = new Pending();
    this.element = document.querySelector("#field").content.firstElementChild.cloneNode(true);
    this.input = this.element.querySelector("input[type=text]");
    this.slider = this.element.querySelector("input[type=range]");
    this.describe();
    this.listen();
  }

  describe() {
    const { name, symbol, below, label, help } = this.spec;
    this.element.dataset.field = name;
    this.input.id = name;
    this.slider.id = `${name}-slider`;
    this.slider.max = STEPS;
    const heading = this.element.querySelector("label");
    heading.htmlFor = name;
    const letter = heading.querySelector("i");
    letter.textContent = symbol ?? "";
    letter.hidden = !symbol;
    if (below) letter.append(Object.assign(document.createElement("sub"), { textContent: below }));
    heading.querySelector("span").textContent = label;
    const text = this.element.querySelector(".description");
    text.textContent = help;
    text.id = `${name}-description`;
    this.element.title = help;
    this.slider.setAttribute("aria-label", `${label}, slider`);
    for (const control of [this.input, this.slider]) control.setAttribute("aria-describedby", text.id);
  }

  listen() {
    this.slider.addEventListener("input", () => this.slide());
    this.slider.addEventListener("change", () => this.slid());
    this.input.addEventListener("change", () => this.typed());
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("mousedown", (event) => this.clicked(event));
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.typed();
      if (event.key === "Escape") this.restore();
      if (event.key === "ArrowUp" || event.key === "ArrowDown") this.nudge(event);
    });
    // The slider's own step is too small for a key: rounding would undo it.
    this.slider.addEventListener("keydown", (event) => event.key.startsWith("Arrow") && this.nudge(event));
  }

  /** The first click selects the whole number. Without this, Safari puts the caret where the click ends. */
  clicked(event) {
    if (document.activeElement === this.input) return;
    event.preventDefault();
    this.input.focus();
  }

  slide() {
    this.slidAt = performance.now();
    const value = this.scale.valueAt(Number(this.slider.value));
    this.write(value);
    if (this.spec.restarts) return; // only the last position is sent
    if (this.timer) return;
    this.send(value);
    // The position at the end of each interval is sent, and therefore always the last one.
    this.timer = setTimeout(() => {
      this.timer = null;
      const last = this.scale.valueAt(Number(this.slider.value));
      if (last !== this.pending.value) this.slide();
    }, SEND_EVERY);
  }

  slid() {
    clearTimeout(this.timer);
    this.timer = null;
    const value = this.scale.valueAt(Number(this.slider.value));
    if (value !== this.pending.value || this.spec.restarts) this.send(value);
  }

  /** Whether typed text is not sent yet. */
  get dirty() {
    return this.input.value !== this.input.defaultValue;
  }

  typed() {
    if (!this.dirty) return;
    const value = this.read();
    if (value === undefined) return this.refuse(this.input.value.trim());
    this.write(value); // as it was read
    this.send(value);
  }

  /** An arrow key: the next whole number, or a factor of NUDGE. */
  nudge(event) {
    event.preventDefault();
    const direction = event.key === "ArrowUp" || event.key === "ArrowRight" ? 1 : -1;
    const now = this.read();
    if (now === undefined) return;
    const value = this.scale.next(now, direction);
    if (value === now) return;
    this.slider.value = this.scale.positionOf(value);
    this.write(value);
    this.send(value);
  }

  /** The number in the text field, null for no limit, undefined if it is invalid. */
  read() {
    const typed = this.input.value.trim().replace("−", "-");
    const text = THOUSANDS.test(typed) ? typed.replaceAll(",", "") : typed.replace(",", ".");
    if (this.spec.open && /^(full|)$/i.test(text)) return null;
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  }

  /** Shows another description; null: the usual one. */
  describeAs(text) {
    const description = this.element.querySelector(".description");
    description.textContent = text ?? this.spec.help;
    description.toggleAttribute("data-said", text !== null);
  }

  refuse(text) {
    this.restore();
    const { symbol, below, label } = this.spec;
    const name = symbol ? `${symbol}${below ? `_${below}` : ""} (${label.toLowerCase()})` : label;
    if (text !== "") this.spec.onProblem(`${name} must be a number, got “${text.slice(0, 40)}”.`);
  }

  send(value) {
    this.pending.set(value);
    this.onSet(this.spec.name, value);
  }

  /** Shows the server's value, unless the user is typing or sliding. */
  show(value, range) {
    this.value = value;
    if (range && String(range) !== this.range) {
      this.range = String(range);
      this.scale = scale(range, this.spec);
    }
    const wait = Math.max(this.slidAt + REST - performance.now(), this.pending.remaining(value));
    clearTimeout(this.later);
    if (wait > 0) this.later = setTimeout(() => this.show(this.value), wait);
    else this.restore(false);
  }

  /** Stops waiting for a confirmation. */
  clearPending() {
    this.slidAt = -Infinity;
    this.pending.clear();
  }

  /** Shows the server's value again, after it has refused another. */
  restore(force = true) {
    if (force) this.clearPending();
    if (force || !this.dirty) this.write(this.value);
    this.slider.value = this.scale.positionOf(this.value);
    this.decorate();
  }

  write(value) {
    const text = value === null ? "full" : editable(value);
    this.input.value = this.input.defaultValue = text;
    this.slider.setAttribute("aria-valuetext", value === null ? "full" : short(value));
    this.decorate();
  }

  decorate() {
    this.slider.style.setProperty("--part", `${(this.slider.value / STEPS) * 100}%`);
  }
}
