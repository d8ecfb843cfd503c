// The guided tour: steps that drive the run, each with a sentence, a symbol and its equation.

import { reducedMotion } from "./canvas_theme.js";
import { readStorage, writeStorage } from "./storage.js";

const LEFT = "gaussian-neurons-tour"; // storage key: the tour was left
const READING = 62; // ms for a character of text
const LEAST = 5000; // ms for a step
const PLANE = { data: "mixture", K: 16, sigma: 0.012, lambda: 0.5, eta: 0.0012, seed: 4, speed: 12 };
const STAY = 1500; // ms after what a step describes has happened, unless the step says another time
// name: of the equation in the paper; text: the equation.
const COST = { name: "Cost F of the paper", text: "F = Σᵢ ( −fᵢ(x) + λ Σⱼ fⱼ(μᵢ) ), i = 1, …, K" };
const RESPONSE = { name: "Response in the paper", text: "fᵢ(x) = exp(−‖x − μᵢ‖² / σ)" };
const STEP = { name: "Equation 1 (equal σ)", text: "Δμᵢ = η/σ ( fᵢ(x) (x − μᵢ) − 2λ Σⱼ fᵢ(μⱼ) (μⱼ − μᵢ) )" };

/** The learned neuron whose removal another neuron answers soonest: an unlearned one is nearest to it. */
function replaceable({ ids, centers, learned }) {
  let [best, least] = [null, Infinity];
  for (let i = 0; i < ids.length; i++) {
    for (let j = 0; j < ids.length && learned[i] === 1; j++) {
      const distance = Math.hypot(centers[2 * i] - centers[2 * j], centers[2 * i + 1] - centers[2 * j + 1]);
      if (learned[j] === 0 && distance < least) [best, least] = [ids[i], distance];
    }
  }
  return best;
}

const set = (name, value) => ({ do: "set", name, value });

/**
 * symbol, equation, text; steps: what the plane shows of the next step; enter(frame): messages to the server;
 * until(frame, event): whether what the text describes has happened; stay: ms to look at it; most: ms to wait for it;
 * action: text and messages of an extra button.
 */
const STEPS = [
  {
    symbol: "K",
    equation: COST,
    text: "16 neurons start at random places in a plane with some clusters, whose number is not given.",
    steps: [],
    enter: () => [{ do: "pause" }, { do: "start", setup: PLANE }],
  },
  {
    symbol: "f(x)",
    equation: RESPONSE,
    text: "A sample x arrives, and each neuron responds: with 1 if x is at its center, with 1/e on its circle, with almost 0 far away.",
    steps: ["answer", "numbers"],
  },
  {
    symbol: "Δμ",
    equation: STEP,
    text: "The neurons that respond are pulled toward x in proportion to their response; the arrows are the steps that the library computes.",
    steps: ["answer", "numbers", "pull"],
  },
  {
    symbol: "λ",
    equation: STEP,
    text: "At the same time, neurons that are close push each other away, so that no two of them learn the same cluster.",
    steps: ["answer", "pull", "push"],
  },
  {
    symbol: "η",
    equation: STEP,
    text: "Both together make one small step, and then the next sample arrives: here are a hundred, slowly.",
    steps: ["answer", "total"],
    enter: () => [set("speed", 12), { do: "resume" }],
    until: ({ seen }) => seen >= 100,
  },
  {
    symbol: "η",
    equation: STEP,
    text: "Now faster: each cluster draws one neuron into its middle, and a neuron that has learned is framed.",
    steps: [],
    enter: () => [set("speed", 400), { do: "resume" }],
    until: ({ learnedCount, seen }) => learnedCount >= 4 && seen > 2500,
  },
  {
    symbol: "K",
    equation: STEP,
    text: "The surplus neurons are pushed off the clusters, leave the domain and are dimmed; those that stay are counted as clusters.",
    steps: [],
    enter: () => [set("speed", 2000), { do: "resume" }],
    until: ({ learnedCount, seen }) => learnedCount >= 6 && seen > 12_000,
  },
  {
    symbol: "μ",
    equation: STEP,
    text: "One learned neuron is removed: its samples now pull a neuron that waited beside the clusters, which takes the empty place.",
    steps: [],
    enter(frame) {
      const neuron = replaceable(frame);
      return [set("speed", 700), { do: "resume" }, ...(neuron === null ? [] : [{ do: "remove", neuron }])];
    },
    until: (frame, event) => event === "relearned",
    stay: 6000,
    most: 25_000,
  },
  {
    symbol: "x",
    equation: STEP,
    text: "The same rule with patches of digits: each tile is the center of a neuron, and neurons that learn a stroke are framed.",
    steps: [],
    enter: () => [{ do: "preset", name: "figure2a" }, set("speed", 20_000), { do: "resume" }],
    until: ({ learnedCount }) => learnedCount >= 2,
    stay: 4000,
  },
  {
    symbol: "η",
    equation: STEP,
    text: "It is yours now: remove a tile, change λ or σ, undo, choose other data, or learn millions of samples a second.",
    steps: ["answer", "pull", "push"],
    action: ["Full speed", () => [set("speed", null), { do: "resume" }]],
    last: true,
  },
];

export class Tour {
  /** send(message) to the server; showSteps(parts) of the plane. */
  constructor(card, { send, showSteps }) {
    Object.assign(this, { card, send, showSteps, at: -1, frame: null });
    this.parts = Object.fromEntries([...card.querySelectorAll("[data-tour]")].map((part) => [part.dataset.tour, part]));
    this.parts.next.addEventListener("click", () => this.go(this.at + 1));
    this.parts.leave.addEventListener("click", () => this.leave());
    this.parts.action.addEventListener("click", () => STEPS[this.at].action[1]().forEach(send));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  get active() {
    return this.at >= 0;
  }

  /** Whether to start on a fresh page: unless it was left before. */
  static get isNew() {
    return readStorage("localStorage", LEFT) === null;
  }

  start() {
    document.body.classList.add("touring");
    this.card.hidden = false;
    this.go(0);
    this.parts.next.focus({ preventScroll: true });
  }

  leave() {
    if (!this.active) return;
    this.at = -1;
    clearTimeout(this.timer);
    writeStorage("localStorage", LEFT, "left");
    document.body.classList.remove("touring");
    this.card.hidden = true;
    this.showSteps(STEPS.at(-1).steps);
    document.querySelector("#pause").focus({ preventScroll: true });
  }

  key(event) {
    if (!this.active || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.leave();
    else if (event.key === "ArrowRight" && !event.target.matches?.("input, select, #plane, .filter")) this.go(this.at + 1);
    else return;
    event.preventDefault();
  }

  go(at) {
    if (at >= STEPS.length) return this.leave();
    this.at = at;
    this.event = this.doneAt = null;
    this.since = performance.now();
    const step = STEPS[at];
    for (const message of step.enter?.(this.frame) ?? []) this.send(message);
    this.showSteps(step.steps);
    const { parts } = this;
    parts.symbol.textContent = step.symbol;
    parts.text.textContent = step.text;
    parts.count.textContent = `${at + 1} of ${STEPS.length}`;
    parts.source.textContent = step.equation.name;
    parts.equation.textContent = step.equation.text;
    parts.action.hidden = !step.action;
    parts.action.textContent = step.action?.[0] ?? "";
    parts.next.textContent = step.last ? "Done" : "Next";
    this.card.style.setProperty("--part", `${(100 * (at + 1)) / STEPS.length}%`);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.advance(), this.reading);
  }

  /** ms that a step takes at least. */
  get reading() {
    return Math.max(LEAST, READING * STEPS[this.at].text.length);
  }

  /** Goes on by itself when the text is read and what it describes has happened, unless motion is reduced. */
  advance() {
    if (!this.active || reducedMotion() || STEPS[this.at].last) return;
    const { until, stay = STAY, most = Infinity } = STEPS[this.at];
    const now = performance.now();
    if (!until || (this.frame && until(this.frame, this.event))) this.doneAt ??= now - (until ? 0 : stay);
    const isSeen = this.doneAt !== null && now - this.doneAt >= stay;
    if (now - this.since >= this.reading && (isSeen || now - this.since > most)) this.go(this.at + 1);
  }

  /** Takes every frame, and the name of an event. */
  show(frame, event = null) {
    this.frame = frame;
    this.event = event ?? this.event;
    if (this.active) this.advance();
  }
}
