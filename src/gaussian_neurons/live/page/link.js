// What is shown as the parameters of a link, and back. Bounds are the server's matter; here a value must only be readable.

const HIGHEST_SEED = 2 ** 32 - 1;
export const NAMES = [
  "data", "K", "sigma", "lambda", "eta", "eta_sigma", "size", "noise", "sample_width", "classes", "seed", "speed",
];

const FIGURE = "figure"; // which of the paper's this is: several begin alike
const SURFACE = "surface"; // of F, in the plane
const SURFACES = ["off", "sample", "recent"];

const whole = (text) => (/^\d+$/.test(text) ? Number(text) : undefined);
const number = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined);
const READERS = {
  data: (text) => (/^[\w-]{1,40}$/.test(text) ? text : undefined),
  K: whole,
  size: whole,
  seed: (text) => (whole(text) <= HIGHEST_SEED ? whole(text) : undefined),
  speed: (text) => (text === "full" ? null : number(text)),
  classes: (text) => {
    const labels = text.split(",").map((label) => label.trim());
    return labels.every(Boolean) ? labels.map((label) => whole(label) ?? label) : undefined;
  },
};
const EXPECTED = {
  data: "the name of a data set",
  K: "a whole number",
  size: "a whole number",
  seed: `a whole number from 0 to ${HIGHEST_SEED}`,
  speed: "a number or full",
  classes: "labels with commas between them, like 1,2",
};

/** {setup, preset, surface, problems}: what is not known is ignored, what cannot be read is told and left out. */
export function readLink(search) {
  const setup = {};
  const problems = [];
  const parameters = new URLSearchParams(search);
  const figure = parameters.get(FIGURE);
  const surface = parameters.get(SURFACE);
  for (const [name, text] of parameters) {
    if (!NAMES.includes(name)) continue;
    const value = (READERS[name] ?? number)(text.trim());
    if (value === undefined) {
      const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
      problems.push(`${name} in the link must be ${EXPECTED[name] ?? "a number"}, got “${shown}”. It was left out.`);
    } else {
      setup[name] = value;
    }
  }
  return {
    setup: Object.keys(setup).length ? setup : null,
    preset: /^\w{1,9}$/.test(figure) ? `figure${figure}` : null,
    surface: SURFACES.includes(surface) ? surface : null,
    problems,
  };
}

/** The search part of a link ("?data=...") that brings back this setup, a preset's name and the surface, if any. */
export function writeLink(setup, preset = null, surface = null) {
  const parts = [];
  for (const name of NAMES) {
    const value = setup[name];
    if (name === "speed" && value === null) parts.push("speed=full");
    if (value === null || value === undefined) continue;
    const text = Array.isArray(value) ? value.map(encodeURIComponent).join(",") : encodeURIComponent(value);
    parts.push(`${name}=${text}`);
  }
  if (preset) parts.push(`${FIGURE}=${preset.replace("figure", "")}`);
  if (surface) parts.push(`${SURFACE}=${surface}`);
  return parts.length ? `?${parts.join("&")}` : "";
}

/** Keeps the address equal to what is shown; a little late, since browsers limit how often it may change. */
export class Address {
  constructor(wait = 300) {
    this.wait = wait;
    this.timer = null;
    this.shown = null; // what writeLink takes
  }

  /** surface: null where it is as it would be anyway. */
  show(setup, preset, surface) {
    this.shown = [setup, preset, surface];
    this.timer ??= setTimeout(() => this.write(), this.wait);
  }

  write() {
    clearTimeout(this.timer);
    this.timer = null;
    const search = writeLink(...this.shown);
    if (search !== location.search) history.replaceState(null, "", `${location.pathname}${search}${location.hash}`);
  }

  /** What "Copy link" copies. */
  link() {
    return `${location.origin}${location.pathname}${this.shown ? writeLink(...this.shown) : location.search}`;
  }
}
