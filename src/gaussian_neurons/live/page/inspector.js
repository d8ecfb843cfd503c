// Facts about the inspected neuron: its filter, its numbers, and the patches with the strongest responses.

import { PatchCanvas } from "./colours.js";
import { isSameTrial } from "./frames.js";
import { brief, coordinate, measured, percent } from "./numbers.js";
import { axesOf } from "./plane_ellipses.js";
import { capital, stateOf } from "./states.js";

const REQUEST_EVERY = 330; // ms between requests for the strongest patches
const PATCHES = 6;

export class Inspector {
  /** onRequest(id) requests the strongest patches; onRemove(id), onClose() handle the buttons. */
  constructor(root, { onRequest, onRemove, onClose }) {
    this.root = root;
    this.onRequest = onRequest;
    this.id = null;
    this.requestedAt = 0;
    this.filter = new PatchCanvas(root.querySelector("#inspector-filter"));
    this.fields = Object.fromEntries([...root.querySelectorAll("[data-fact]")].map((e) => [e.dataset.fact, e]));
    this.axes = root.querySelector("#inspector-axes");
    this.patches = this.makePatches(root.querySelector("#inspector-patches"));
    root.querySelector("#inspector-remove").addEventListener("click", () => this.id !== null && onRemove(this.id));
    root.querySelector("#inspector-close").addEventListener("click", onClose);
  }

  makePatches(list) {
    return Array.from({ length: PATCHES }, () => {
      const item = document.createElement("li");
      const response = document.createElement("span");
      const picture = new PatchCanvas();
      item.hidden = true;
      item.append(picture.canvas, response);
      list.append(item);
      return { item, response, picture };
    });
  }

  setScene(scene) {
    if (!isSameTrial(scene, this.scene)) this.inspect(null);
    this.scene = scene;
    this.root.dataset.mode = scene.mode;
    this.axes.hidden = scene.setup.covariance_type === "spherical";
  }

  /** Inspects another neuron; null: none. */
  inspect(id) {
    if (id === this.id) return;
    this.id = id;
    this.requestedAt = 0;
    this.root.classList.toggle("empty", id === null);
    for (const { item } of this.patches) item.hidden = true;
    this.fields.axes.textContent = "";
  }

  show(frame, now) {
    const k = this.id === null ? -1 : frame.ids.indexOf(this.id);
    if (k < 0) return this.inspect(null);
    if (this.scene.mode === "image") {
      const size = frame.centers.length / frame.ids.length;
      this.filter.show(frame.centers.subarray(k * size, (k + 1) * size), this.scene.patch);
      if (now - this.requestedAt > REQUEST_EVERY && (this.requestedAt === 0 || frame.state === "running")) {
        this.requestedAt = now;
        this.onRequest(this.id);
      }
    }
    this.showFacts(frame, k);
  }

  showFacts(frame, k) {
    this.root.dataset.learned = frame.learned[k];
    const facts = {
      number: this.id,
      state: capital(stateOf(frame, k)),
      width: measured(frame.widths[k]),
      distance: measured(frame.distance[k]),
      cosine: measured(frame.cosine[k]),
      share: percent(frame.share[k]),
      response: measured(frame.response[k]),
    };
    if (this.scene.mode === "plane") {
      const [x0, y0, x1, y1] = this.scene.domain;
      const [x, y] = frame.centers.subarray(2 * k, 2 * k + 2);
      const { long, short, angle } = axesOf(frame.covariances, k);
      const turn = Math.round((angle * 180) / Math.PI) % 180;
      facts.axes = `${measured(long)} × ${measured(short)}, ${turn}°`;
      facts.position = `${coordinate(x, x1 - x0)}; ${coordinate(y, y1 - y0)}`;
    }
    for (const [name, value] of Object.entries(facts)) {
      if (this.fields[name].textContent !== String(value)) this.fields[name].textContent = value;
    }
  }

  /** Shows the strongest patches that the server sent. */
  showPatches(message) {
    if (message.neuron !== this.id || message.generation !== this.scene?.generation || this.scene.mode !== "image") return;
    const size = message.responses.length ? message.patches.length / message.responses.length : 0;
    this.patches.forEach(({ item, response, picture }, m) => {
      item.hidden = m >= message.responses.length;
      if (item.hidden) return;
      picture.show(message.patches.subarray(m * size, (m + 1) * size), this.scene.patch);
      response.textContent = brief(message.responses[m]);
    });
    this.fields.axes.textContent = Array.from(message.axes, (length) => measured(length)).join(" … ");
  }
}
