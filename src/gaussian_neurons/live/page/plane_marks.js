// Draws grid, ticks, paths and neurons on the plane.

import { clusterColour } from "./canvas_theme.js";
import { margins, namePlaces } from "./plane_axes.js";
import { ellipseOf, isHidden } from "./plane_ellipses.js";

const FADES = 6; // shades of a path
const FULL = 2 * Math.PI;

/** Very light lines at round numbers. */
export function drawGrid(context, view, theme, { x, y }) {
  drawDomain(context, view, theme);
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.globalAlpha = theme.dark ? 0.14 : 0.12;
  context.beginPath();
  for (const [value] of x.ticks) {
    const at = Math.round(view.x(value)) + 0.5;
    context.moveTo(at, 0);
    context.lineTo(at, view.height);
  }
  for (const [value] of y.ticks) {
    const at = Math.round(view.y(value)) + 0.5;
    context.moveTo(0, at);
    context.lineTo(view.width, at);
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** The box of the data, in which neurons start. */
function drawDomain(context, view, theme) {
  const [x0, y0, x1, y1] = view.domain;
  context.strokeStyle = theme.muted;
  context.lineWidth = 1.5;
  context.globalAlpha = 0.5;
  context.setLineDash([7, 5]);
  context.strokeRect(view.x(x0), view.y(y1), (x1 - x0) * view.scale, (y1 - y0) * view.scale);
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/**
 * Drawn after everything else, so that no point covers the text. The numbers use the edge without its corners, the
 * names a line beside the numbers.
 */
export function drawTicks(context, view, theme, { x, y }, arrows) {
  context.font = `${11 * theme.size}px ${theme.font}`;
  context.lineJoin = "round";
  context.textBaseline = "alphabetic";
  const { left, bottom } = margins({ x, y });
  dimEdges(context, view, theme, left, bottom);
  const places = namePlaces(view, { x, y }, arrows);
  context.textAlign = "right";
  if (x.name) drawOutlined(context, theme, x.name, ...places.x, theme.ink);
  context.textAlign = "left";
  if (y.name) drawOutlined(context, theme, y.name, ...places.y, theme.ink);
  context.textAlign = "center";
  for (const [value, text] of x.ticks) {
    const at = view.x(value);
    if (at > left && at < view.width - 18) drawOutlined(context, theme, text, at, view.height - 6, theme.muted);
  }
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const [value, text] of y.ticks) {
    const at = view.y(value);
    if (at > (y.name ? places.y[1] + 14 : 14) && at < view.height - bottom - 6) drawOutlined(context, theme, text, 8, at, theme.muted);
  }
}

/** Dims what is below the ticks. */
function dimEdges(context, view, theme, left, bottom) {
  context.fillStyle = theme.card;
  context.globalAlpha = 0.75;
  context.fillRect(0, 0, left, view.height - bottom);
  context.fillRect(0, view.height - bottom, view.width, bottom);
  context.globalAlpha = 1;
}

/** Text with a thin outline in the background colour. */
export function drawOutlined(context, theme, text, x, y, colour) {
  context.globalAlpha = 0.8;
  context.lineWidth = 3;
  context.strokeStyle = theme.card;
  context.strokeText(text, x, y);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** All paths, the oldest parts faintest. One stroke per shade is faster than one per path. */
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
 * Ellipses where the response is 1/e. Learned neurons are above the others, the selected one above all, and numbers
 * above every ellipse. A halo marks the neuron of the surface.
 */
export function drawNeurons(context, view, theme, neurons, labels, { selected, hovered, surfaceOf }) {
  const height = (i) => (neurons.ids[i] === selected ? 2 : neurons.learned[i] ? 1 : 0);
  const order = Array.from({ length: neurons.count }, (_, i) => i).sort((a, b) => height(a) - height(b));
  const other = surfaceOf === null ? theme.pushed : theme.ink; // grey is hard to see on the surface
  const colour = (i) => (neurons.learned[i] ? colourOf(theme, neurons, i) : other);
  drawLinks(context, view, theme, neurons);
  for (const i of order) {
    const id = neurons.ids[i];
    if (id === selected || id === surfaceOf) drawHalo(context, view, theme, neurons, i);
    drawNeuron(context, view, theme, neurons, i, { colour: colour(i), strong: id === hovered || id === selected });
  }
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  for (const { index, x, y, align } of labels) {
    context.font = `${neurons.learned[index] ? 600 : 400} ${(neurons.learned[index] ? 14 : 12) * theme.size}px ${theme.font}`;
    context.textAlign = align;
    drawOutlined(context, theme, neurons.ids[index], x, y, colour(index));
  }
}

/** The colour of a neuron that has learned. */
const colourOf = (theme, neurons, i) => (neurons.clusters ? clusterColour(theme, neurons.clusters[i]) : theme.accent);

/** Lines between neurons that are joined to a cluster. */
function drawLinks(context, view, theme, neurons) {
  const { links, places } = neurons;
  context.lineCap = "round";
  context.globalAlpha = 0.55;
  context.lineWidth = 6;
  for (let k = 0; k < links.length; k += 2) {
    context.strokeStyle = colourOf(theme, neurons, links[k]);
    context.beginPath();
    for (const i of links.subarray(k, k + 2)) context.lineTo(view.x(places[2 * i]), view.y(places[2 * i + 1]));
    context.stroke();
  }
  context.globalAlpha = 1;
}

function drawHalo(context, view, theme, neurons, i) {
  const colour = neurons.learned[i] ? colourOf(theme, neurons, i) : theme.pushed;
  context.strokeStyle = context.fillStyle = colour;
  context.beginPath();
  traceEllipse(context, ellipseOf(view, neurons, i));
  context.globalAlpha = 0.08;
  context.fill();
  context.globalAlpha = 0.28;
  context.lineWidth = 8;
  context.stroke();
  context.globalAlpha = 1;
}

function drawNeuron(context, view, theme, neurons, i, { colour, strong }) {
  const ellipse = ellipseOf(view, neurons, i);
  if (isHidden(view, ellipse)) return;
  const { x, y } = ellipse;
  const state = neurons.learned[i];
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = (state === 1 ? 2.25 : 1.1) + (strong ? 1 : 0);
  context.globalAlpha = state || strong ? 1 : neurons.outside[i] ? 0.4 : 0.75;
  if (state === 2) context.setLineDash([5, 4]); // a twin of a learned neuron
  context.beginPath();
  traceEllipse(context, ellipse);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
  if (x < 0 || y < 0 || x > view.width || y > view.height) return; // its arrow has the number
  if (state) drawDot(context, theme, x, y, colour);
  else drawCross(context, theme, x, y, colour);
}

function traceEllipse(context, { x, y, long, short, angle, cos, sin }) {
  context.moveTo(x + long * cos, y + long * sin);
  context.ellipse(x, y, long, short, angle, 0, FULL);
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
    for (const side of [1, -1]) {
      context.moveTo(x - 3.5 * side, y - 3.5);
      context.lineTo(x + 3.5 * side, y + 3.5);
    }
    context.stroke();
  }
}
