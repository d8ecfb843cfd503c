// The controls: data, presets, classes, and one field per setting.

import { Chips } from "./chips.js";
import { Field } from "./field.js";
import { isSameTrial } from "./frames.js";

const FIELDS = [
  { name: "K", symbol: "K", label: "Neurons", help: "Upper limit of the patterns found.", whole: true },
  { name: "sigma", given: true, symbol: "σ", label: "Width", help: "Reach of a neuron, as a squared length." },
  { name: "lambda", given: true, symbol: "λ", label: "Inhibition", help: "How strongly neurons repel each other.", zero: true },
  { name: "eta", given: true, symbol: "η", below: "μ", label: "Rate", help: "How far a sample moves a center.", zero: true },
  { name: "eta_sigma", given: true, symbol: "η", below: "σ", label: "Width rate", help: "0 keeps widths and covariances fixed.", zero: true },
  { name: "noise", data: true, label: "Pixel noise", help: "Of the neighbouring patches.", zero: true, mode: "image", adaptive: true },
  { name: "sample_width", data: true, symbol: "σ", below: "x", label: "Sample width", help: "Width of every sample.", mode: "plane", adaptive: true },
  { name: "size", data: true, label: "Patch size", help: "Pixels per side. Restarts the run.", whole: true, mode: "image", restarts: true },
  { name: "speed", data: true, label: "Speed", help: "Samples per second, or full.", open: true },
];
const LOCAL_SHAPE = "Mean width of a sample. Its shape is that of the points around it.";
const SHAPES = ["compact", "any"]; // of clusters, with an automatic width
const SETTLE = 400; // ms before a number of neurons that differs from K is shown: a new K takes effect with a delay

export class Controls {
  /** send(message) to the server; onProblem(text) shows an error. */
  constructor({ send, onProblem }) {
    this.send = send;
    this.shapeSelect = document.querySelector("#shape");
    this.fields = FIELDS.map((spec) => new Field({ ...spec, onProblem }, (name, value) => this.set(spec, value)));
    for (const { element } of this.fields) element.hidden = true; // until the first scene arrives
    for (const { spec, element } of this.fields) document.querySelector(spec.data ? "#data-fields" : "#neuron-fields").append(element);
    this.shapeSelect.addEventListener("change", ({ target }) => {
      const name = SHAPES.includes(target.value) ? "clusters" : "covariance_type";
      if (!send({ do: "start", setup: { [name]: target.value } })) this.restore();
    });
    this.chips = new Chips(document.querySelector("#classes"), send);
  }

  set(spec, value) {
    const message = spec.restarts
      ? { do: "start", setup: { [spec.name]: value } }
      : { do: "set", name: spec.name, value };
    if (!this.send(message)) this.restore();
  }

  setScene(scene) {
    const isNew = !isSameTrial(scene, this.scene);
    this.scene = scene;
    this.shapeSelect.value = scene.setup.clusters ?? scene.setup.covariance_type;
    for (const field of this.fields) {
      const { name, mode, adaptive, given } = field.spec;
      const value = scene.setup[name];
      const shown = (!mode || mode === scene.mode) && (!adaptive || scene.setup.eta_sigma > 0) && !(given && scene.setup.clusters) && value !== undefined;
      field.element.hidden = !shown || (value === null && name !== "speed");
      if (field.element.hidden) continue;
      if (isNew) field.clearPending(); // it concerned the previous trial
      field.show(value, scene.ranges[name]);
      if (name === "sample_width") field.describeAs(scene.setup.covariance_type === "spherical" ? null : LOCAL_SHAPE);
    }
    this.chips.setScene(scene, isNew);
  }

  /** Shows the number of neurons if it differs from K: removing or adding single neurons does not change K. */
  showCount(count) {
    const { K } = this.scene.setup;
    const text = count === K ? null : `Now ${count}; a restart has ${K}.`;
    if (text === this.countText) return;
    this.countText = text;
    clearTimeout(this.countTimer);
    this.countTimer = setTimeout(() => this.fields[0].describeAs(text), text ? SETTLE : 0);
  }

  /** Every control shows the server's value again, except while the user types. */
  restore() {
    if (!this.scene) return;
    for (const field of this.fields) if (!field.element.hidden && !field.dirty) field.restore();
    this.chips.pending.clear();
    this.setScene(this.scene);
  }
}
