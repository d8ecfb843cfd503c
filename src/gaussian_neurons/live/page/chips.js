// The buttons that select the classes of the samples.

import { Pending } from "./pending.js";

const LONG_PRESS = 450; // ms after which a touch toggles the class instead of selecting it alone
const SHORT = 3; // characters of a name that fit into a chip of equal width
const PER_LINE = { some: 7, many: 12 }; // such chips at most, in a narrow and in a wide card
const CHIP_HELP = "Only this class. Shift-click or long touch: add or remove this class.";

export class Chips {
  /** send(message) to the server: false without a connection. */
  constructor(element, send) {
    Object.assign(this, { element, send });
    this.pending = new Pending();
    this.listen();
  }

  listen() {
    const nameOf = (event) => event.target.closest("[data-class]")?.dataset.class;
    let timer = null;
    let held = false; // a long touch has toggled the class: ignore its click
    const cancel = () => clearTimeout(timer);
    this.element.addEventListener("click", (event) => {
      if (nameOf(event) === undefined || held) return (held = false);
      if (event.shiftKey || event.ctrlKey || event.metaKey) this.toggle(nameOf(event));
      else this.only(nameOf(event));
    });
    this.element.addEventListener("pointerdown", (event) => {
      held = false;
      cancel();
      if (event.pointerType !== "touch" || nameOf(event) === undefined) return;
      timer = setTimeout(() => {
        held = true;
        this.toggle(nameOf(event));
      }, LONG_PRESS);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) this.element.addEventListener(end, cancel);
    this.element.addEventListener("contextmenu", (event) => held && event.preventDefault());
  }

  setScene(scene, isNew) {
    this.classes = (scene.classes ?? []).map(({ value }) => value);
    this.current = scene.setup.classes; // null: all
    if (isNew) this.pending.clear(); // it concerned the previous trial
    const known = JSON.stringify(scene.classes ?? []);
    this.element.hidden = !this.classes.length;
    if (known !== this.known) {
      this.known = known;
      const all = this.classes.length ? [{ value: "all", name: "all" }, ...scene.classes] : [];
      this.element.replaceChildren(...all.map(chipFor));
      this.align(all);
    }
    this.show();
  }

  /** Short names get chips of equal width in lines of equal length. */
  align(all) {
    this.element.classList.toggle("short", all.every(({ name }) => name.length <= SHORT));
    for (const [space, most] of Object.entries(PER_LINE)) {
      this.element.style.setProperty(`--${space}`, Math.ceil(all.length / Math.ceil(all.length / most)) || 1);
    }
  }

  /** The selected classes, null: all. Until the server confirms, the classes that were sent last. */
  get chosen() {
    return this.pending.remaining(this.current) > 0 ? this.pending.value : this.current;
  }

  show() {
    const { chosen } = this;
    for (const chip of this.element.children) {
      const { class: name } = chip.dataset;
      const pressed = chosen ? chosen.some((value) => String(value) === name) : name === "all";
      chip.setAttribute("aria-pressed", pressed);
    }
    clearTimeout(this.later);
    const wait = this.pending.remaining(this.current);
    if (wait > 0) this.later = setTimeout(() => this.show(), wait);
  }

  /** Selects this class alone, or all. */
  only(name) {
    this.choose(this.classes.filter((value) => String(value) === name));
  }

  /** Adds or removes one class. */
  toggle(name) {
    if (name === "all") return this.choose([]);
    const before = this.chosen ?? [];
    const isOn = before.some((value) => String(value) === name);
    this.choose(this.classes.filter((value) => (String(value) === name ? !isOn : before.includes(value))));
  }

  /** Selects classes; none means all. */
  choose(classes) {
    const every = classes.length === 0 || classes.length === this.classes.length;
    const value = every ? null : classes;
    if (!this.send({ do: "set", name: "classes", value })) return;
    this.pending.set(value);
    this.show();
  }
}

function chipFor({ value, name }) {
  const chip = document.createElement("button");
  chip.type = "button";
  chip.className = "chip";
  chip.dataset.class = value;
  chip.textContent = name;
  chip.title = value === "all" ? "All classes" : CHIP_HELP;
  return chip;
}
