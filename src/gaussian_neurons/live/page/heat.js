// The colours of F: the background where the neuron has no influence, blue where F is lower, rose where it is higher.

import { toRGB } from "./canvas_theme.js";

export const STEPS = 256;
const MIDDLE = (STEPS - 1) / 2;

// The ends: equal steps of F look equal, the hues differ for the colour-blind, and neither is the orange of the neurons.
const ENDS = {
  light: { low: "oklch(0.6 0.135 248)", high: "oklch(0.8 0.085 335)" },
  dark: { low: "oklch(0.6 0.14 245)", high: "oklch(0.39 0.085 335)" },
};

/** STEPS colours, each RGBA in one Uint32; the middle one is the background. */
export function heatTable(theme) {
  const { low, high } = theme.dark ? ENDS.dark : ENDS.light;
  const bytes = new Uint8ClampedArray(4 * STEPS).fill(255);
  for (let k = 0; k < STEPS; k++) {
    const away = (100 * Math.abs(k - MIDDLE)) / MIDDLE;
    bytes.set(toRGB(`color-mix(in oklab, ${k < MIDDLE ? low : high} ${away}%, ${theme.card})`), 4 * k);
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
