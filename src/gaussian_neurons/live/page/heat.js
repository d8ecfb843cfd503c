// The colours of F: the background where the neuron has no influence, blue where F is lower, rose where it is higher.

import { toRGB } from "./canvas_theme.js";

export const STEPS = 256;
const MIDDLE = (STEPS - 1) / 2;

// Ends in OKLCH (lightness, chroma, hue): equal steps of F look equal, the hues differ for the colour-blind, and
// neither is the orange of the neurons.
const ENDS = {
  light: { low: [0.6, 0.135, 248], high: [0.8, 0.085, 335] },
  dark: { low: [0.6, 0.14, 245], high: [0.39, 0.085, 335] },
};

/** STEPS colours, each RGBA in one Uint32; the middle one is the background. */
export function heatTable(theme) {
  const ends = theme.dark ? ENDS.dark : ENDS.light;
  const middle = fromRGB(toRGB(theme.card));
  const low = fromPolar(ends.low);
  const high = fromPolar(ends.high);
  const bytes = new Uint8ClampedArray(4 * STEPS);
  for (let k = 0; k < STEPS; k++) {
    const away = Math.abs(k - MIDDLE) / MIDDLE;
    const end = k < MIDDLE ? low : high;
    const mixed = middle.map((from, axis) => from + (end[axis] - from) * away);
    bytes.set(toBytes(mixed), 4 * k);
    bytes[4 * k + 3] = 255;
  }
  return new Uint32Array(bytes.buffer);
}

/** One colour of the table as "rgb(...)". */
export function heatColour(table, step) {
  const value = table[Math.max(0, Math.min(STEPS - 1, Math.round(step)))];
  return `rgb(${value & 255}, ${(value >> 8) & 255}, ${(value >> 16) & 255})`;
}

/** The scale from F to steps. Both sides of `rest` have their own scale, but their ratio is limited. */
export function heatScale(least, rest, most) {
  const down = Math.max(rest - least, 0.12 * (most - rest), 1e-9);
  const up = Math.max(most - rest, 0.12 * (rest - least), 1e-9);
  return { rest, down: MIDDLE / down, up: MIDDLE / up };
}

export function heatStep(value, scale) {
  const away = value - scale.rest;
  return MIDDLE + away * (away < 0 ? scale.down : scale.up);
}

function fromPolar([lightness, chroma, hue]) {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

// Björn Ottosson's OKLab, https://bottosson.github.io/posts/oklab/
function fromRGB(rgb) {
  const [r, g, b] = Array.from(rgb, (byte) => {
    const v = byte / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function toBytes([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((v) => 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
}
