// The page's colours as a canvas needs them: CSS variables read once for each change of the theme.

const NAMES = ["paper", "card", "ink", "muted", "line", "accent", "pushed", "below", "above", "marked", "link"];

/** The light theme: what pictures that leave the page are drawn in, and what stands in for a missing variable. */
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
  font: "system-ui, sans-serif",
});

export function readTheme(element) {
  const style = getComputedStyle(element);
  const theme = { ...LIGHT, font: style.fontFamily || LIGHT.font };
  for (const name of NAMES) {
    const value = style.getPropertyValue(`--${name}`).trim();
    if (value) theme[name] = value;
  }
  const [r, g, b] = toRGB(theme.card);
  theme.dark = 0.299 * r + 0.587 * g + 0.114 * b < 128;
  return theme;
}

let pixel = null;

/** Any CSS colour -> [r, g, b] of 0..255: the browser itself is the parser. */
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

/** Calls `changed()` when the page (<html data-theme>) turns to other colours. */
export function watchTheme(changed) {
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/** Calls `resized(width, height, ratio)`, in CSS pixels, now and whenever the canvas or the screen's ratio changes. */
export function watchSize(canvas, resized) {
  let last = "";
  const measure = () => {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    const now = `${width} ${height} ${ratio}`;
    if (now === last) return;
    last = now;
    if (!width || !height) return; // hidden; it will be drawn anew when it is shown again
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    resized(width, height, ratio);
  };
  new ResizeObserver(measure).observe(canvas);
  window.addEventListener("resize", measure); // zooming changes the ratio, not always the size
  measure();
}

/** Whether the reader asked for less motion; asks again each time, since it may change. */
const still = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
export const calm = () => Boolean(still?.matches);
