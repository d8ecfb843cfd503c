// The colours of the page for canvases: CSS variables, read once per change of the theme.

const NAMES = ["paper", "card", "ink", "muted", "line", "accent", "pushed", "below", "above", "marked", "link"];

/** The light theme, used for saved pictures and for missing variables. */
export const LIGHT = Object.freeze({
  paper: "#ffffff",
  card: "#ffffff",
  ink: "#1e293b",
  muted: "#64748b",
  line: "#e2e8f0",
  accent: "#c2410c",
  pushed: "#64748b",
  below: "#3b82f6",
  above: "#ef4444",
  marked: "#0f766e",
  link: "#1d4ed8",
  dark: false,
  size: 1, // of the type
  font: "system-ui, sans-serif",
});

export function readTheme(element) {
  const style = getComputedStyle(element);
  const theme = { ...LIGHT, font: style.fontFamily || LIGHT.font, size: Number(style.getPropertyValue("--type")) || 1 };
  for (const name of NAMES) {
    const value = style.getPropertyValue(`--${name}`).trim();
    if (value) theme[name] = value;
  }
  const [r, g, b] = toRGB(theme.card);
  theme.dark = 0.299 * r + 0.587 * g + 0.114 * b < 128;
  return theme;
}

/** The colour of a cluster, as rgb(...); neighbouring numbers have different hues. */
export function clusterColour(theme, number) {
  return `rgb(${toRGB(`oklch(${theme.dark ? 0.78 : 0.55} 0.15 ${(40 + 137.5 * number) % 360})`).join(", ")})`;
}

let pixel = null;

/** Converts any CSS colour to [r, g, b] of 0..255; the browser parses it. */
export function toRGB(colour) {
  if (!pixel) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    pixel = canvas.getContext("2d", { willReadFrequently: true });
  }
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  return pixel.getImageData(0, 0, 1, 1).data.slice(0, 3);
}

/** Calls `changed()` when the theme of the page, or the size of its type, changes: <html data-theme data-size>. */
export function watchTheme(changed) {
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["data-theme", "data-size"] });
}

/** Calls `resized(width, height, ratio)`, in CSS pixels, now and when the size or the pixel ratio changes. */
export function watchSize(canvas, resized) {
  let last = "";
  const measure = () => {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    const now = `${width} ${height} ${ratio}`;
    if (now === last) return;
    last = now;
    if (!width || !height) return; // hidden: it is drawn when it is shown again
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    resized(width, height, ratio);
  };
  new ResizeObserver(measure).observe(canvas);
  window.addEventListener("resize", measure); // zooming changes the ratio, but not always the size
  measure();
}

/** Whether the user prefers less motion. Evaluated at every call, because it may change. */
const preference = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
export const reducedMotion = () => Boolean(preference?.matches);
