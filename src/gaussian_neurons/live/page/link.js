// Converts settings to the parameters of a link and back. The server checks their bounds.

const HIGHEST_SEED = 2 ** 32 - 1;
export const NAMES = [
  "data", "K", "sigma", "lambda", "eta", "eta_sigma", "size", "noise", "sample_width", "classes", "seed", "speed",
  "covariance_type", "clusters",
];

const FIGURE = "figure"; // of the paper; several have the same settings
const SURFACE = "surface"; // the surface of F in the plane
const SURFACES = ["off", "sample", "recent"];

const whole = (text) => (/^\d+$/.test(text) ? Number(text) : undefined);
const number = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined);
const word = (text) => (/^[a-z]{1,40}$/.test(text) ? text : undefined);
const READERS = {
  data: (text) => (/^[\w-]{1,40}$/.test(text) ? text : undefined),
  covariance_type: word,
  clusters: word,
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
  covariance_type: "spherical, diag or full",
  clusters: "compact or any",
  K: "a whole number",
  size: "a whole number",
  seed: `a whole number from 0 to ${HIGHEST_SEED}`,
  speed: "a number or full",
  classes: "labels separated by commas, such as 1,2",
};

/** {setup, preset, surface, tour, problems}. Unknown parameters are ignored; unreadable ones are listed in `problems`. */
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
      problems.push(`${name} in the link must be ${EXPECTED[name] ?? "a number"}, got “${shown}”. It is ignored.`);
    } else {
      setup[name] = value;
    }
  }
  return {
    setup: Object.keys(setup).length ? setup : null,
    preset: /^\w{1,9}$/.test(figure ?? "") ? `figure${figure}` : null,
    surface: SURFACES.includes(surface) ? surface : null,
    tour: parameters.has("tour"),
    problems,
  };
}

/** The query of a link ("?data=...") with a setup, the name of a preset and the surface, if any. */
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

/** Keeps the address up to date, with a delay, because browsers limit how often it may change. */
export class Address {
  constructor(delay = 300) {
    this.delay = delay;
    this.timer = null;
    this.shown = null; // arguments of writeLink
  }

  /** surface: null if it is the default. */
  show(setup, preset, surface) {
    this.shown = [setup, preset, surface];
    this.timer ??= setTimeout(() => this.write(), this.delay);
  }

  write() {
    clearTimeout(this.timer);
    this.timer = null;
    const search = writeLink(...this.shown);
    if (search !== location.search) history.replaceState(null, "", `${location.pathname}${search}${location.hash}`);
  }

  /** The link that "Copy link" copies. */
  link() {
    return `${location.origin}${location.pathname}${this.shown ? writeLink(...this.shown) : location.search}`;
  }
}
