// The ticks and names of the axes. No DOM.

import { grouped, niceStep, tickText } from "./numbers.js";

const DIGITS = 5; // of a tick; longer numbers are shown relative to a round base
const CHARACTER = 6.2; // px, approximately
const MAX_NAME = 24; // characters

/** {x, y}, each with ticks [[value, text], ...] and a name, which may be empty. */
export function axes(view, names) {
  const [x0, y0, x1, y1] = view.box();
  const step = niceStep(x1 - x0, Math.max(3, view.width / 95));
  return { x: axis(x0, x1, step, names?.[0]), y: axis(y0, y1, step, names?.[1]) };
}

function axis(from, to, step, name = "") {
  const { base, text } = baseOf(from, to, step);
  const ticks = [];
  for (let n = Math.ceil((from - base) / step); base + n * step <= to; n++) {
    ticks.push([base + n * step, tickText(n * step, step)]);
  }
  const sign = base < 0 ? "+" : "−";
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1).trimEnd()}…` : name;
  return { ticks, name: base ? `${short || "value"} ${sign} ${text}` : short };
}

/** The base of the ticks and its text: 0, or the roundest number on the axis if all numbers share their first digits. */
function baseOf(from, to, step) {
  if (Math.max(Math.abs(from), Math.abs(to)) < step * 10 ** DIGITS) return { base: 0, text: "" };
  let power = Math.ceil(Math.log10(to - from));
  if (Math.floor(to / 10 ** power) * 10 ** power < from) power--; // no multiple of that power is on the axis
  const decimals = Math.max(0, -power);
  const base = Number((Math.floor(to / 10 ** power) * 10 ** power).toFixed(Math.min(decimals, 20)));
  return { base, text: grouped(Math.abs(base), decimals) };
}

/** Pixels along the left and the lower edge that the ticks use. */
export function margins({ y }) {
  const letters = Math.max(0, ...y.ticks.map(([, text]) => text.length));
  return { left: 14 + CHARACTER * letters, bottom: 20 };
}

/** The end of the x name (lower right) and the start of the y name (upper left), farther in if there are arrows. */
export function namePlaces(view, scales, arrows) {
  const { left, bottom } = margins(scales);
  const low = view.height - bottom;
  const [from, to] = [left + 8, view.width - 24];
  const [endY, startX] = [from + CHARACTER * scales.y.name.length, to - CHARACTER * scales.x.name.length];
  const below = arrows.some((arrow) => arrow.y > low - 30 && arrow.x > startX - 10);
  const above = arrows.some((arrow) => arrow.y < 30 && arrow.x < endY + 10);
  return { x: [to, low - (below ? 41 : 6)], y: [from, above ? 42 : 16] };
}

/** Pixels that the names use. */
export function nameSpots(view, scales, arrows) {
  const places = namePlaces(view, scales, arrows);
  const row = (name, [x, y], direction) => {
    return Array.from({ length: Math.ceil((name.length * CHARACTER) / 12) }, (_, k) => [x + 12 * direction * (k + 0.5), y - 4]);
  };
  return [...row(scales.x.name, places.x, -1), ...row(scales.y.name, places.y, 1)];
}
