// The colour bar of the surface, on a plate in the upper right corner of the plane.

import { drawOutlined } from "./plane_marks.js";

const WIDE = 9; // px
const TOP = 64; // px, below the arrows and their numbers
const RIGHT = 49;
const SPOTS = 15; // px between the spots that represent the plate
const NAME_FONT = `italic 600 14px Georgia, "Times New Roman", serif`;

/** {left, top, right, bottom} of the plate, as wide as its text. bar: from SurfaceLayer.bar(). */
export function plateOf(context, view, theme, { name, numbers }) {
  context.font = NAME_FONT;
  const widths = [context.measureText(name).width];
  context.font = `${11 * theme.size}px ${theme.font}`;
  for (const [text] of numbers) widths.push(context.measureText(text).width + WIDE + 6);
  const right = view.width - RIGHT + 9;
  return { left: right - Math.max(...widths) - 18, top: TOP - 28, right, bottom: TOP + highOf(view) + 10 };
}

const highOf = (view) => Math.min(110, view.height / 5);

/** Pixels that the plate uses. */
export function plateSpots({ left, top, right, bottom }) {
  const spots = [];
  for (let x = left + 5; x < right; x += SPOTS) for (let y = top + 5; y < bottom; y += SPOTS) spots.push([x, y]);
  return spots;
}

/** Whether the plate would cut a number around [x, y]. */
export function isUnder({ left, top, right, bottom }, [x, y]) {
  return x > left - 10 && x < right + 10 && y > top - 6 && y < bottom + 6;
}

/** Drawn above circles and numbers. */
export function drawBar(context, view, theme, bar, plate) {
  drawPlate(context, theme, plate);
  const [left, high] = [view.width - RIGHT - WIDE, highOf(view)];
  const step = high / bar.colours.length;
  bar.colours.forEach((colour, k) => {
    context.fillStyle = colour;
    context.fillRect(left, TOP + k * step, WIDE, k < bar.colours.length - 1 ? step + 0.5 : step);
  });
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.globalAlpha = 0.6;
  context.strokeRect(left - 0.5, TOP - 0.5, WIDE + 1, high + 1);
  context.globalAlpha = 1;
  context.font = `${11 * theme.size}px ${theme.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [text, part] of bar.numbers) drawOutlined(context, theme, text, left - 6, TOP + 4 + part * (high - 8), theme.ink);
  context.font = NAME_FONT;
  drawOutlined(context, theme, bar.name, left + WIDE, TOP - 14, theme.ink);
}

function drawPlate(context, theme, { left, top, right, bottom }) {
  context.beginPath();
  context.roundRect(left, top, right - left, bottom - top, 8);
  context.fillStyle = theme.card;
  context.globalAlpha = 0.88;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.stroke();
}
