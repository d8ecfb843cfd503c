// The classes of images: which of them the samples come from.

import { Asked } from "./asked.js";

const HELD_FOR = 450; // ms until a finger on a class means one more, not this one alone
const SHORT = 3; // letters: so many fit into a chip of a line of equal ones
const IN_LINE = { some: 7, many: 12 }; // such chips at most, where there is some room, and where there is much
const CHIP_HELP = "Only this class. Shift-click, or hold with a finger: this one too, or not";

export class Chips {
  /** send(message) to the server: false where there is no connection. */
  constructor(element, send) {
    Object.assign(this, { element, send });
    this.asked = new Asked();
    this.listen();
  }

  listen() {
    const nameOf = (event) => event.target.closest("[data-class]")?.dataset.class;
    let timer = null;
    let held = false; // a finger stayed long enough: its click was meant already
    const letGo = () => clearTimeout(timer);
    this.element.addEventListener("click", (event) => {
      if (nameOf(event) === undefined || held) return (held = false);
      if (event.shiftKey || event.ctrlKey || event.metaKey) this.toggle(nameOf(event));
      else this.only(nameOf(event));
    });
    this.element.addEventListener("pointerdown", (event) => {
      held = false;
      letGo();
      if (event.pointerType !== "touch" || nameOf(event) === undefined) return;
      timer = setTimeout(() => {
        held = true;
        this.toggle(nameOf(event));
      }, HELD_FOR);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) this.element.addEventListener(end, letGo);
    this.element.addEventListener("contextmenu", (event) => held && event.preventDefault());
  }

  setScene(scene, isNew) {
    this.classes = (scene.classes ?? []).map(({ value }) => value);
    this.told = scene.setup.classes; // null: all
    if (isNew) this.asked.forget(); // what was asked for before is void
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

  /** Short names stand in lines of the same length; words take what they need. */
  align(all) {
    this.element.classList.toggle("short", all.every(({ name }) => name.length <= SHORT));
    for (const [room, most] of Object.entries(IN_LINE)) {
      this.element.style.setProperty(`--${room}`, Math.ceil(all.length / Math.ceil(all.length / most)) || 1);
    }
  }

  /** Those chosen, null: all. A click may come before the server's answer, and means what was asked for last. */
  get chosen() {
    return this.asked.wait(this.told) > 0 ? this.asked.value : this.told;
  }

  show() {
    const { chosen } = this;
    for (const chip of this.element.children) {
      const { class: name } = chip.dataset;
      const pressed = chosen ? chosen.some((value) => String(value) === name) : name === "all";
      chip.setAttribute("aria-pressed", pressed);
    }
    clearTimeout(this.later);
    const wait = this.asked.wait(this.told);
    if (wait > 0) this.later = setTimeout(() => this.show(), wait);
  }

  /** This class alone, or all of them. */
  only(name) {
    this.choose(this.classes.filter((value) => String(value) === name));
  }

  /** Turns one class on or off, and leaves the others. */
  toggle(name) {
    if (name === "all") return this.choose([]);
    const before = this.chosen ?? [];
    const isOn = before.some((value) => String(value) === name);
    this.choose(this.classes.filter((value) => (String(value) === name ? !isOn : before.includes(value))));
  }

  /** None at all means all of them. */
  choose(classes) {
    const every = classes.length === 0 || classes.length === this.classes.length;
    const value = every ? null : classes;
    if (!this.send({ do: "set", name: "classes", value })) return;
    this.asked.ask(value);
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
