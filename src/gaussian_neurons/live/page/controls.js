// The controls: data, presets, classes, and one field for each of the paper's numbers.

import { Field } from "./field.js";

const FIELDS = [
  { name: "K", symbol: "K", label: "Neurons", why: "The most patterns that can be found.", whole: true },
  { name: "sigma", symbol: "σ", label: "Width", why: "How far a neuron reaches, squared." },
  { name: "lambda", symbol: "λ", label: "Inhibition", why: "How strongly neurons push apart.", zero: true },
  { name: "eta", symbol: "η", below: "μ", label: "Learning rate", why: "How far a center moves per sample.", zero: true },
  { name: "eta_sigma", symbol: "η", below: "σ", label: "Width learning", why: "0 keeps all widths; above it they adapt.", zero: true },
  { name: "noise", label: "Pixel noise", why: "On each neighbour of a patch.", zero: true, mode: "image", adaptive: true },
  { name: "sample_width", symbol: "σ", below: "x", label: "Sample width", why: "The width that each sample carries.", mode: "plane", adaptive: true },
  { name: "size", label: "Patch size", why: "Side of a patch in pixels. Starts again.", whole: true, mode: "image", startsAnew: true },
  { name: "speed", label: "Speed", why: "Samples per second, or full.", open: true },
];
const USUAL = {
  K: [1, 400], sigma: [0.001, 100], lambda: [0.01, 10], eta: [1e-4, 0.1], eta_sigma: [1e-4, 1],
  noise: [0.01, 1], sample_width: [0.001, 10], size: [1, 28], speed: [1, 1e6],
};

export class Controls {
  /** send(message) to the server; onProblem(text) for what cannot be sent. */
  constructor({ send, onProblem }) {
    this.send = send;
    this.dataSelect = document.querySelector("#data");
    this.presetSelect = document.querySelector("#preset");
    this.chips = document.querySelector("#classes");
    this.fields = FIELDS.map((spec) => new Field({ ...spec, onProblem }, (name, value) => this.set(spec, value)));
    for (const { element } of this.fields) element.hidden = true; // until the first scene gives them values
    document.querySelector("#fields").append(...this.fields.map((field) => field.element));
    this.dataSelect.addEventListener("change", () => send({ do: "start", setup: { data: this.dataSelect.value } }));
    this.presetSelect.addEventListener("change", () => send({ do: "preset", name: this.presetSelect.value }));
    this.chips.addEventListener("click", (event) => {
      const chip = event.target.closest("[data-class]");
      if (chip) this.toggle(chip.dataset.class);
    });
  }

  set(spec, value) {
    const message = spec.startsAnew
      ? { do: "start", setup: { [spec.name]: value } }
      : { do: "set", name: spec.name, value };
    // Without a connection nothing was changed, and the control should say so.
    if (!this.send(message)) this.restore();
  }

  setWelcome({ datasets, presets }) {
    this.dataSelect.replaceChildren(...datasets.map(dataOption));
    const own = new Option("Own settings", "");
    own.disabled = true;
    own.hidden = true;
    this.presetSelect.replaceChildren(own, ...presets.map(presetOption));
  }

  setScene(scene) {
    this.scene = scene;
    this.dataSelect.value = scene.setup.data;
    this.presetSelect.value = scene.preset ?? "";
    for (const field of this.fields) {
      const { name, mode, adaptive } = field.spec;
      const value = scene.setup[name];
      const shown = (!mode || mode === scene.mode) && (!adaptive || scene.setup.eta_sigma > 0) && value !== undefined;
      field.element.hidden = !shown || (value === null && name !== "speed");
      if (!field.element.hidden) field.show(value, scene.ranges?.[name] ?? USUAL[name]);
    }
    this.showClasses(scene);
  }

  /** Every control shows the truth again; what is being typed stays. */
  restore() {
    if (!this.scene) return;
    for (const field of this.fields) if (!field.element.hidden && !field.dirty) field.restore();
    this.setScene(this.scene);
  }

  showClasses(scene) {
    const known = JSON.stringify(scene.classes ?? []);
    this.chips.hidden = !scene.classes?.length;
    if (known !== this.known) {
      this.known = known;
      const all = scene.classes?.length ? [{ value: "all", name: "all" }, ...scene.classes] : [];
      this.chips.replaceChildren(...all.map(chipFor));
    }
    const chosen = scene.setup.classes;
    for (const chip of this.chips.children) {
      const { class: name } = chip.dataset;
      const pressed = chosen ? chosen.some((value) => String(value) === name) : name === "all";
      chip.setAttribute("aria-pressed", pressed);
    }
  }

  /** Turns one class on or off; none at all means all of them. */
  toggle(name) {
    const all = this.scene.classes.map(({ value }) => value);
    const before = this.scene.setup.classes ?? [];
    const isOn = before.some((value) => String(value) === name);
    const after = all.filter((value) => (String(value) === name ? !isOn : before.includes(value)));
    const every = name === "all" || after.length === 0 || after.length === all.length;
    const value = every ? null : after;
    // The next click may come before the server's answer, and means what is asked for now.
    if (this.send({ do: "set", name: "classes", value })) this.scene.setup.classes = value;
  }
}

function dataOption({ name, label, available, why }) {
  const option = new Option(available ? label : `${label} (${why ?? "not here"})`, name);
  option.disabled = !available;
  if (why) option.title = why;
  return option;
}

function presetOption({ name, label, title }) {
  const option = new Option(title ? `${label}: ${title}` : label, name);
  option.title = title ?? "";
  option.dataset.preset = name;
  return option;
}

function chipFor({ value, name }) {
  const chip = document.createElement("button");
  chip.type = "button";
  chip.className = "chip";
  chip.dataset.class = value;
  chip.textContent = name;
  return chip;
}
