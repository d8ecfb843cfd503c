// The step that the next sample will cause, computed by the library: responses, attraction and repulsion.

import { ellipseOf } from "./plane_ellipses.js";

const LONGEST = 0.16; // of the longest arrow, as a part of the view
const SHORTEST = 2; // px; shorter arrows are not drawn
const SCALES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const LABELLED = 0.01; // least response with a label

/** {factor, pull, push, total}: how many times as long as the steps the arrows are drawn, and the steps. */
export function stepsOf(frame, view) {
  const { pull, push } = frame;
  const total = pull.map((part, k) => part + push[k]);
  let longest = 0;
  for (const steps of [pull, push]) {
    for (let k = 0; k < steps.length; k += 2) longest = Math.max(longest, Math.hypot(steps[k], steps[k + 1]));
  }
  const most = (LONGEST * view.extent()) / longest;
  return { factor: SCALES.findLast((scale) => scale <= most) ?? 1, pull, push, total };
}

/** Fills each neuron in proportion to its response to x, and joins x with those that respond. */
export function drawResponses(context, view, theme, neurons, { x, answer }, labels) {
  const [sampleX, sampleY] = [view.x(x[0]), view.y(x[1])];
  context.fillStyle = context.strokeStyle = theme.accent;
  for (let i = 0; i < neurons.count; i++) {
    const { x: left, y: top, long, short, angle } = ellipseOf(view, neurons, i);
    context.globalAlpha = 0.45 * answer[i];
    context.beginPath();
    context.ellipse(left, top, long, short, angle, 0, 2 * Math.PI);
    context.fill();
    if (!labels || answer[i] < LABELLED) continue;
    context.globalAlpha = 0.35;
    context.lineWidth = 1 + 3 * answer[i];
    context.setLineDash([3, 5]);
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(sampleX, sampleY);
    context.stroke();
    context.setLineDash([]);
  }
  context.globalAlpha = 1;
}

/** Writes f_i(x) below the neurons that respond. */
export function drawResponseNumbers(context, view, theme, neurons, { answer }) {
  context.font = `600 ${Math.round(14 * theme.size)}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = 0; i < neurons.count; i++) {
    if (answer[i] < LABELLED) continue;
    const { x, y, high } = ellipseOf(view, neurons, i);
    context.lineWidth = 4;
    context.strokeStyle = theme.card;
    context.fillStyle = theme.accent;
    const text = `f = ${answer[i].toFixed(2)}`;
    context.strokeText(text, x, y + high + 12 * theme.size);
    context.fillText(text, x, y + high + 12 * theme.size);
  }
}

/** An arrow from the center of each neuron along its step, `factor` times as long. */
export function drawArrowsOfSteps(context, view, theme, neurons, steps, factor, colour) {
  const width = 2.5 * theme.size;
  context.lineCap = "round";
  for (let i = 0; i < neurons.count; i++) {
    const [dx, dy] = [steps[2 * i] * factor * view.scale, -steps[2 * i + 1] * factor * view.scale];
    const length = Math.hypot(dx, dy);
    if (length < SHORTEST) continue;
    const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
    const head = Math.min(4 * width, length);
    const angle = Math.atan2(dy, dx);
    for (const [stroke, extra] of [[theme.card, 3], [colour, 0]]) {
      context.strokeStyle = stroke;
      context.lineWidth = width + extra;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + dx, y + dy);
      for (const side of [2.6, -2.6]) {
        context.moveTo(x + dx, y + dy);
        context.lineTo(x + dx + head * Math.cos(angle + side), y + dy + head * Math.sin(angle + side));
      }
      context.stroke();
    }
  }
}
