// The controls: data, presets, classes, and one field for each of the paper's numbers.

import { Chips } from "./chips.js";
import { Field } from "./field.js";
import { isSameStart } from "./frames.js";
import { capital } from "./states.js";

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
const SETTLED = 400; // ms until the number of neurons is told beside K: a new K takes a moment

export class Controls {
  /** send(message) to the server; onProblem(text) for what cannot be sent. */
  constructor({ send, onProblem }) {
    this.send = send;
    this.dataSelect = document.querySelector("#data");
    this.presetSelect = document.querySelector("#preset");
    this.fields = FIELDS.map((spec) => new Field({ ...spec, onProblem }, (name, value) => this.set(spec, value)));
    for (const { element } of this.fields) element.hidden = true; // until the first scene gives them values
    document.querySelector("#fields").append(...this.fields.map((field) => field.element));
    const ask = (message) => send(message) || this.restore(); // without a connection nothing was chosen
    this.dataSelect.addEventListener("change", () => ask({ do: "start", setup: { data: this.dataSelect.value } }));
    this.presetSelect.addEventListener("change", () => ask({ do: "preset", name: this.presetSelect.value }));
    this.chips = new Chips(document.querySelector("#classes"), send);
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
    const isNew = !isSameStart(scene, this.scene);
    this.scene = scene;
    this.dataSelect.value = scene.setup.data;
    this.presetSelect.value = scene.preset ?? "";
    for (const field of this.fields) {
      const { name, mode, adaptive } = field.spec;
      const value = scene.setup[name];
      const shown = (!mode || mode === scene.mode) && (!adaptive || scene.setup.eta_sigma > 0) && value !== undefined;
      field.element.hidden = !shown || (value === null && name !== "speed");
      if (field.element.hidden) continue;
      if (isNew) field.forget(); // what was asked for before is void
      field.show(value, scene.ranges[name]);
    }
    this.chips.setScene(scene, isNew);
  }

  /** Who removes or adds by hand leaves K as it is: it counts at the next start. */
  showCount(count) {
    const { K } = this.scene.setup;
    const told = count === K ? null : `${count} ${count === 1 ? "is" : "are"} there now; a new start has ${K}.`;
    if (told === this.counted) return;
    this.counted = told;
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.fields[0].explain(told), told ? SETTLED : 0);
  }

  /** Every control shows the truth again; what is being typed stays. */
  restore() {
    if (!this.scene) return;
    for (const field of this.fields) if (!field.element.hidden && !field.dirty) field.restore();
    this.chips.asked.forget();
    this.setScene(this.scene);
  }
}

function dataOption({ name, label, available, why }) {
  const option = new Option(available ? label : `${label} (not here)`, name);
  option.disabled = !available;
  if (why) option.title = why; // a sentence: too long for the menu itself
  return option;
}

function presetOption({ name, label, title }) {
  const option = new Option(title ? `${label}: ${capital(title)}` : label, name);
  option.title = title ?? "";
  option.dataset.preset = name;
  return option;
}
