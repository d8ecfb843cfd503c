// Draws what stands on the plane: grid and ticks, the paths of neurons, the neurons themselves.

import { niceStep, subscript, tickText } from "./numbers.js";

const FADES = 6; // a path fades in so many pieces
const MOST_NUMBERS = 100; // of neurons that are not learned
const FULL = 2 * Math.PI;

/** Very light lines at round numbers, the numbers at the edges. */
export function drawGrid(context, view, theme) {
  const [x0, y0, x1, y1] = view.box();
  const step = niceStep(x1 - x0, Math.max(3, view.width / 95));
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.globalAlpha = theme.dark ? 0.14 : 0.12;
  context.beginPath();
  for (let n = Math.ceil(x0 / step); n * step <= x1; n++) {
    const x = Math.round(view.x(n * step)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, view.height);
  }
  for (let n = Math.ceil(y0 / step); n * step <= y1; n++) {
    const y = Math.round(view.y(n * step)) + 0.5;
    context.moveTo(0, y);
    context.lineTo(view.width, y);
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** Numbers come last, so that no dot hides them; they keep out of the corners and of arrowheads. */
export function drawTicks(context, view, theme, arrows) {
  const [x0, y0, x1, y1] = view.box();
  const step = niceStep(x1 - x0, Math.max(3, view.width / 95));
  context.font = `11px ${theme.font}`;
  context.lineJoin = "round";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  for (let n = Math.ceil(x0 / step); n * step <= x1; n++) {
    const [x, y] = [view.x(n * step), view.height - 7];
    if (x < 34 || x > view.width - 24 || !free(arrows, x, y - 4)) continue;
    haloed(context, theme, tickText(n * step, step), x, y, theme.muted);
  }
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (let n = Math.ceil(y0 / step); n * step <= y1; n++) {
    const y = view.y(n * step);
    if (y < 16 || y > view.height - 26 || !free(arrows, 11, y)) continue;
    haloed(context, theme, tickText(n * step, step), 7, y, theme.muted);
  }
}

const free = (arrows, x, y) => arrows.every((arrow) => Math.abs(arrow.x - x) > 22 || Math.abs(arrow.y - y) > 16);

/** Text with a thin edge of the background, readable on anything. */
export function haloed(context, theme, text, x, y, colour) {
  context.globalAlpha = 0.8;
  context.lineWidth = 3;
  context.strokeStyle = theme.card;
  context.strokeText(text, x, y);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** All paths, oldest pieces faintest; one stroke for each shade, not for each path. */
export function drawPaths(context, view, theme, neurons) {
  context.lineJoin = context.lineCap = "round";
  for (const learned of [false, true]) {
    context.strokeStyle = learned ? theme.accent : theme.pushed;
    context.lineWidth = learned ? 1.5 : 1;
    for (let fade = 0; fade < FADES; fade++) {
      context.globalAlpha = (learned ? 0.75 : 0.5) * ((fade + 1) / FADES) ** 1.6;
      context.beginPath();
      for (let i = 0; i < neurons.count; i++) {
        if (Boolean(neurons.learned[i]) === learned) tracePiece(context, view, neurons, i, fade);
      }
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

function tracePiece(context, view, neurons, i, fade) {
  const path = neurons.paths.get(neurons.ids[i]);
  if (!path || path.length === 0) return;
  const first = Math.floor(((path.length - 1) * fade) / FADES);
  const last = Math.floor(((path.length - 1) * (fade + 1)) / FADES);
  const { points } = path;
  const newest = fade === FADES - 1;
  if (first === last && !newest) return;
  context.moveTo(view.x(points[2 * first]), view.y(points[2 * first + 1]));
  for (let k = first + 1; k <= last; k++) context.lineTo(view.x(points[2 * k]), view.y(points[2 * k + 1]));
  if (newest) context.lineTo(view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1]));
}

/**
 * Circles of radius sqrt(sigma): learned ones over all others, the selected one over all. Where there is a surface,
 * a halo tells whose it is, and names are those of its colour bar: μ₁.
 */
export function drawNeurons(context, view, theme, neurons, { selected, hovered, surfaceOf }) {
  const order = Array.from({ length: neurons.count }, (_, i) => i);
  const height = (i) => (neurons.ids[i] === selected ? 2 : neurons.learned[i] ? 1 : 0);
  order.sort((a, b) => height(a) - height(b));
  const name = (id) => (surfaceOf === null ? id : `μ${subscript(id)}`);
  for (const i of order) {
    const id = neurons.ids[i];
    if (id === selected || id === surfaceOf) drawHalo(context, view, theme, neurons, i);
    const strong = id === hovered || id === selected;
    drawNeuron(context, view, theme, neurons, i, { name: name(id), strong, onSurface: surfaceOf !== null });
  }
}

export function radiusOf(view, neurons, i) {
  return Math.min(Math.sqrt(neurons.widths[i]) * view.scale, 1e5) || 0;
}

function drawHalo(context, view, theme, neurons, i) {
  const x = view.x(neurons.places[2 * i]);
  const y = view.y(neurons.places[2 * i + 1]);
  const colour = neurons.learned[i] ? theme.accent : theme.pushed;
  context.strokeStyle = context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, radiusOf(view, neurons, i), 0, FULL);
  context.globalAlpha = 0.08;
  context.fill();
  context.globalAlpha = 0.28;
  context.lineWidth = 8;
  context.stroke();
  context.globalAlpha = 1;
}

function drawNeuron(context, view, theme, neurons, i, { name, strong, onSurface }) {
  const x = view.x(neurons.places[2 * i]);
  const y = view.y(neurons.places[2 * i + 1]);
  const radius = radiusOf(view, neurons, i);
  if (x < -radius || y < -radius || x > view.width + radius || y > view.height + radius) return;
  const state = neurons.learned[i];
  const colour = state ? theme.accent : onSurface ? theme.ink : theme.pushed; // grey would drown in the map's colours
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = (state === 1 ? 2.25 : 1.1) + (strong ? 1 : 0);
  context.globalAlpha = state || strong ? 1 : 0.75;
  if (state === 2) context.setLineDash([5, 4]); // a twin of a learned one
  context.beginPath();
  context.arc(x, y, radius, 0, FULL);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
  if (x < 0 || y < 0 || x > view.width || y > view.height) return; // its arrowhead has the number
  if (state) drawDot(context, theme, x, y, colour);
  else drawCross(context, theme, x, y, colour);
  if (!state && !strong && neurons.count > MOST_NUMBERS) return; // a hundred numbers are a fog, and slow
  context.font = `${state ? 600 : 400} ${state ? 14 : 12}px ${theme.font}`;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  haloed(context, theme, name, x + 9, y - 8, colour);
}

function drawDot(context, theme, x, y, colour) {
  context.fillStyle = theme.card;
  context.beginPath();
  context.arc(x, y, 5.5, 0, FULL);
  context.fill();
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, 4, 0, FULL);
  context.fill();
}

function drawCross(context, theme, x, y, colour) {
  context.lineCap = "round";
  for (const [stroke, width] of [[theme.card, 4], [colour, 1.75]]) {
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x - 3.5, y - 3.5);
    context.lineTo(x + 3.5, y + 3.5);
    context.moveTo(x - 3.5, y + 3.5);
    context.lineTo(x + 3.5, y - 3.5);
    context.stroke();
  }
}
