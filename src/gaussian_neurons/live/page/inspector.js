// Facts about the neuron that is looked at, its filter, and the patches that it responds to most.

import { PatchCanvas } from "./colours.js";
import { isSameStart } from "./frames.js";
import { brief, coordinate, measured, percent, plain } from "./numbers.js";
import { capital, stateOf } from "./states.js";

const FACTS_EVERY = 200; // ms: numbers that change faster cannot be read
const ASK_EVERY = 330; // ms between questions for the strongest patches
const PATCHES = 6;

export class Inspector {
  /** onAsk(id): the strongest patches are wanted; onRemove(id), onClose(): the buttons were pressed. */
  constructor(root, { onAsk, onRemove, onClose }) {
    this.root = root;
    this.onAsk = onAsk;
    this.id = null;
    this.factsAt = 0;
    this.askedAt = 0;
    this.filter = new PatchCanvas(root.querySelector("#inspector-filter"));
    this.fields = Object.fromEntries([...root.querySelectorAll("[data-fact]")].map((e) => [e.dataset.fact, e]));
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
    if (!isSameStart(scene, this.scene)) this.look(null);
    this.scene = scene;
    this.root.dataset.mode = scene.mode;
  }

  /** Tells about another neuron; null: about none. */
  look(id) {
    if (id === this.id) return;
    this.id = id;
    this.factsAt = 0;
    this.askedAt = 0;
    this.root.classList.toggle("empty", id === null);
    for (const { item } of this.patches) item.hidden = true;
  }

  show(frame, now) {
    const k = this.id === null ? -1 : frame.ids.indexOf(this.id);
    if (k < 0) return this.look(null);
    if (this.scene.mode === "image") {
      const size = frame.centers.length / frame.ids.length;
      this.filter.show(frame.centers.subarray(k * size, (k + 1) * size), this.scene.patch);
      if (now - this.askedAt > ASK_EVERY && (this.askedAt === 0 || frame.state === "running")) {
        this.askedAt = now;
        this.onAsk(this.id);
      }
    }
    if (now - this.factsAt > FACTS_EVERY) this.tell(frame, k, now);
  }

  tell(frame, k, now) {
    this.factsAt = now;
    this.root.dataset.learned = frame.learned[k];
    const facts = {
      number: this.id,
      state: capital(stateOf(frame, k)),
      width: plain(frame.widths[k], 3),
      distance: measured(frame.distance[k]),
      cosine: measured(frame.cosine[k]),
      share: percent(frame.share[k]),
      response: measured(frame.response[k]),
    };
    if (this.scene.mode === "plane") {
      const [x0, y0, x1, y1] = this.scene.domain;
      const [x, y] = frame.centers.subarray(2 * k, 2 * k + 2);
      facts.place = `${coordinate(x, x1 - x0)}; ${coordinate(y, y1 - y0)}`;
    }
    for (const [name, value] of Object.entries(facts)) {
      if (this.fields[name].textContent !== String(value)) this.fields[name].textContent = value;
    }
  }

  /** The server's answer to a question for the strongest patches. */
  showPatches(answer) {
    if (answer.neuron !== this.id || answer.generation !== this.scene?.generation || this.scene.mode !== "image") return;
    const size = answer.responses.length ? answer.patches.length / answer.responses.length : 0;
    this.patches.forEach(({ item, response, picture }, m) => {
      item.hidden = m >= answer.responses.length;
      if (item.hidden) return;
      picture.show(answer.patches.subarray(m * size, (m + 1) * size), this.scene.patch);
      response.textContent = brief(answer.responses[m]);
    });
  }
}
