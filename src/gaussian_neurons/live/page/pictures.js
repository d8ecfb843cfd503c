// Saved pictures: what the page shows, in the light theme, with its settings below, as PNG.

import { LIGHT } from "./canvas_theme.js";
import { DIMMED, PatchCanvas } from "./colours.js";
import { measured, plain, whole } from "./numbers.js";
import { isPushedOut } from "./states.js";

const SCALE = 2; // pixels of the picture for one of the page
const SIDE = 76; // of a filter
const GAP = 28; // between filters, for the number
const EDGE = 24;
const LINE = 16; // of the caption
const FONT = "12px system-ui, sans-serif";

/** Saves a picture under a name. */
export async function save(canvas, name) {
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("it is too large");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // immediately is too early for some browsers
}

export function planePicture(plane, frame, scene) {
  const { width, height } = plane.view;
  return framed(width, height, frame, scene, (context) => context.drawImage(plane.drawn(SCALE), 0, 0, width, height));
}

/** slots: the number of the neuron in each slot of the page, null if it is empty. */
export function filtersPicture(frame, scene, columns, slots = Array.from(frame.ids)) {
  const across = Math.min(columns, slots.length);
  const lengthOf = (count) => count * (SIDE + GAP) - GAP;
  const high = GAP + lengthOf(Math.ceil(slots.length / across));
  return framed(lengthOf(across), high, frame, scene, (context) => {
    context.imageSmoothingEnabled = false;
    slots.forEach((id, at) => {
      const k = frame.ids.indexOf(id);
      const place = [(at % across) * (SIDE + GAP), GAP + Math.floor(at / across) * (SIDE + GAP)];
      if (k >= 0) drawFilter(context, frame, scene, k, ...place);
    });
  });
}

/** A canvas with a drawing above the settings. */
function framed(width, height, frame, scene, draw) {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  context.font = FONT;
  const lines = wrapped(caption(frame, scene), (line) => context.measureText(line).width <= width);
  canvas.width = SCALE * (width + 2 * EDGE);
  canvas.height = SCALE * (height + 2 * EDGE + LINE * lines.length);
  context.scale(SCALE, SCALE);
  context.fillStyle = LIGHT.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.translate(EDGE, EDGE);
  draw(context);
  context.font = FONT;
  context.fillStyle = LIGHT.muted;
  context.textAlign = "left";
  lines.forEach((line, k) => context.fillText(line, 0, height + LINE * (k + 1.2)));
  return canvas;
}

function drawFilter(context, frame, { patch, setup }, k, x, y) {
  const [height, width, channels = 1] = patch;
  const size = height * width * channels;
  const { canvas } = new PatchCanvas().show(frame.centers.subarray(k * size, (k + 1) * size), patch);
  const state = frame.learned[k];
  const [wide, high] = [width, height].map((side) => (SIDE * side) / Math.max(width, height));
  context.globalAlpha = isPushedOut(frame, k) ? DIMMED / 255 : 1;
  context.drawImage(canvas, x, y, wide, high);
  context.globalAlpha = 1;
  context.strokeStyle = context.fillStyle = state ? LIGHT.accent : LIGHT.pushed;
  context.lineWidth = state === 1 ? 2 : 1;
  context.setLineDash(state === 2 ? [4, 3] : []);
  context.strokeRect(x - context.lineWidth / 2, y - context.lineWidth / 2, wide + context.lineWidth, high + context.lineWidth);
  context.textAlign = "left";
  context.fillText(frame.ids[k], x, y - 6);
  context.textAlign = "right";
  if (setup.eta_sigma > 0) context.fillText(`σ ${measured(frame.widths[k])}`, x + wide, y - 6);
}

/** Settings and state, enough to reproduce the picture. */
export function caption(frame, { mode, setup }) {
  const parts = [`K = ${frame.ids.length}`];
  if (setup.clusters) {
    parts.push(`automatic width, ${setup.clusters === "any" ? "clusters of any shape" : "compact clusters"}`);
  } else {
    if (setup.covariance_type !== "spherical") parts.push(`${setup.covariance_type} covariances`);
    const samples = mode === "image" ? `noise = ${plain(setup.noise)}` : `σ_x = ${plain(setup.sample_width)}`;
    const learned = ` at the start · η_σ = ${plain(setup.eta_sigma)} · ${samples}`;
    parts.push(`σ = ${plain(setup.sigma)}${setup.eta_sigma > 0 ? learned : ""}`);
    parts.push(`λ = ${plain(setup.lambda)}`, `η_μ = ${plain(setup.eta)}`);
  }
  parts.push(`${whole(frame.seen)} samples seen`, `${frame.learnedCount} ${setup.clusters ? "clusters" : "learned"}`);
  return [...parts, `${setup.data}, seed ${setup.seed}`].join(" · ");
}

/** Breaks a line between its parts into lines that fit. */
function wrapped(line, fits) {
  const lines = [];
  for (const part of line.split(" · ")) {
    const longer = lines.length ? `${lines.at(-1)} · ${part}` : part;
    if (lines.length && fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}
