// Where the plane's ticks are and what they say. No DOM.

import { grouped, niceStep, tickText } from "./numbers.js";

const DIGITS = 5; // of a tick; numbers that need more are told from a round one nearby
const LETTER = 6.2; // px of a name's letters, about
const LONGEST = 24; // letters of a name: a column may be called anything

/** {x, y}: each with its ticks [[value, text], ...] and a name, empty where there is nothing to say. */
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
  const short = name.length > LONGEST ? `${name.slice(0, LONGEST - 1).trimEnd()}…` : name;
  return { ticks, name: base ? `${short || "value"} ${sign} ${text}` : short };
}

/** 0, or the roundest number within the axis where all of its numbers look alike; and how it is written. */
function baseOf(from, to, step) {
  if (Math.max(Math.abs(from), Math.abs(to)) < step * 10 ** DIGITS) return { base: 0, text: "" };
  let power = Math.ceil(Math.log10(to - from));
  if (Math.floor(to / 10 ** power) * 10 ** power < from) power--; // the span is more than one such part
  const decimals = Math.max(0, -power);
  const base = Number((Math.floor(to / 10 ** power) * 10 ** power).toFixed(Math.min(decimals, 20)));
  return { base, text: grouped(Math.abs(base), decimals) };
}

/** Pixels along the left and the lower edge where ticks stand, and nothing else is written. */
export function margins({ y }) {
  const letters = Math.max(0, ...y.ticks.map(([, text]) => text.length));
  return { left: 14 + LETTER * letters, bottom: 20 };
}

/** Where the names end (x, lower right) and begin (y, upper left): the baseline, further in where arrowheads stand. */
export function namePlaces(view, scales, arrows) {
  const { left, bottom } = margins(scales);
  const low = view.height - bottom;
  const [from, to] = [left + 8, view.width - 24];
  const [endY, startX] = [from + LETTER * scales.y.name.length, to - LETTER * scales.x.name.length];
  const below = arrows.some((arrow) => arrow.y > low - 30 && arrow.x > startX - 10);
  const above = arrows.some((arrow) => arrow.y < 30 && arrow.x < endY + 10);
  return { x: [to, low - (below ? 41 : 6)], y: [from, above ? 42 : 16] };
}

/** Pixels that the names have, for others to keep away from. */
export function nameSpots(view, scales, arrows) {
  const places = namePlaces(view, scales, arrows);
  const row = (name, [x, y], way) => {
    return Array.from({ length: Math.ceil((name.length * LETTER) / 12) }, (_, k) => [x + 12 * way * (k + 0.5), y - 4]);
  };
  return [...row(scales.x.name, places.x, -1), ...row(scales.y.name, places.y, 1)];
}
