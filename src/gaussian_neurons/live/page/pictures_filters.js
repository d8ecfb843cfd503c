// The filters as SVG: patches with their numbers, learned ones framed.

import { LIGHT } from "./canvas_theme.js";
import { DIMMED, PatchCanvas } from "./colours.js";
import { measured, whole } from "./numbers.js";
import { isPushedOut } from "./states.js";
import { caption, captionText, learnedCount, picture, tag, text, wrapped } from "./svg.js";

const SIDE = 76; // of a filter
const GAP = 28; // between filters, for the number
const EDGE = 24;
const HEAD = 92; // the title's two lines
const FOOT = 34; // above the caption
const LINE = 15; // of the caption
const CHARACTER = 5.7; // px of a character of the caption
const BAR = 74; // space for the colour bar

/** slots: the number of the neuron in each slot of the page, null if it is empty. */
export function filtersSVG(frame, scene, columns, slots = Array.from(frame.ids)) {
  const [, , channels = 1] = scene.patch;
  const count = slots.length;
  const across = Math.max(1, Math.min(columns || Math.ceil(Math.sqrt(count)), count));
  const down = Math.ceil(count / across);
  const grey = channels === 1;
  const wide = across * (SIDE + GAP) - GAP;
  const high = down * (SIDE + GAP) - GAP;
  const lines = title(frame, scene);
  const inner = Math.max(wide + (grey ? BAR : 0), 9 * lines[0].length);
  const small = wrapped(caption(scene, frame), Math.floor(inner / CHARACTER));
  const total = 2 * EDGE + inner;
  const cells = slots.map((id, at) => {
    const k = frame.ids.indexOf(id);
    const x = EDGE + (at % across) * (SIDE + GAP);
    const y = HEAD + Math.floor(at / across) * (SIDE + GAP);
    return k < 0 ? "" : cell(frame, scene, k, x, y);
  });
  const content = [
    text(lines[0], { x: EDGE, y: 34, "font-size": 17, fill: LIGHT.ink }),
    text(lines[1], { x: EDGE, y: 57, "font-size": 17, fill: LIGHT.ink }),
    ...cells,
    grey ? colourBar(EDGE + wide + 28, HEAD, Math.min(high, 330)) : "",
    ...small.map((line, k) => captionText(line, { x: EDGE, y: HEAD + high + FOOT + k * LINE })),
  ];
  const bottom = HEAD + high + FOOT + small.length * LINE;
  return picture(total, bottom, `${lines[0]}; ${lines[1]}`, content.join("\n"));
}

function title(frame, scene) {
  const [height, width] = scene.patch;
  const learned = learnedCount(frame);
  const rest = frame.ids.length - learned;
  const neurons = frame.ids.length === 1 ? "1 neuron" : `${frame.ids.length} neurons`;
  return [
    `${neurons} after ${whole(frame.seen)} patches of ${height} × ${width}`,
    `${learned} learned (framed), ${rest} ${rest === 1 ? "other" : "others"}`,
  ];
}

function cell(frame, { patch, setup }, i, x, y) {
  const [height, width, channels = 1] = patch;
  const size = height * width * channels;
  const patchCanvas = new PatchCanvas();
  patchCanvas.show(frame.centers.subarray(i * size, (i + 1) * size), patch);
  const state = frame.learned[i];
  const colour = state ? LIGHT.accent : LIGHT.pushed;
  const scale = SIDE / Math.max(width, height);
  const [wide, high] = [width * scale, height * scale];
  const frameWidth = state === 1 ? 2 : 1;
  const out = frameWidth / 2;
  const widthAt = { x: x + wide, y: y - 6, "text-anchor": "end", "font-size": 11, fill: LIGHT.ink };
  const drawn = embedded(patchCanvas.canvas, x, y, wide, high);
  return [
    setup.eta_sigma > 0 ? text(`σ ${measured(frame.widths[i])}`, widthAt) : "",
    text(frame.ids[i], { x, y: y - 6, "data-neuron": String(frame.ids[i]), "font-size": 12, fill: colour, "font-weight": state === 1 ? 600 : null }),
    tag("g", { opacity: isPushedOut(frame, i) ? (DIMMED / 255).toFixed(2) : null }, drawn),
    tag("rect", {
      x: x - out,
      y: y - out,
      width: wide + frameWidth,
      height: high + frameWidth,
      fill: "none",
      stroke: colour,
      "stroke-width": frameWidth,
      "stroke-dasharray": state === 2 ? "4 3" : null,
    }),
  ].join("");
}

/** A PNG in the SVG, already enlarged without smoothing, because some viewers smooth images. */
function embedded(small, x, y, wide, high) {
  const times = Math.max(1, Math.ceil((3 * SIDE) / Math.max(small.width, small.height)));
  const large = document.createElement("canvas");
  large.width = times * small.width;
  large.height = times * small.height;
  const context = large.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, large.width, large.height);
  return tag("image", { x, y, width: wide, height: high, href: large.toDataURL() });
}

/** From −0.5 (blue) through the domain [0, 1] to 1.5 (red). */
function colourBar(x, y, high) {
  const stops = [[0, LIGHT.above], [25, "#ffffff"], [75, "#000000"], [100, LIGHT.below]];
  const gradient = stops.map(([at, colour]) => tag("stop", { offset: `${at}%`, "stop-color": colour })).join("");
  const numbers = [["1.5", 0], ["1", 0.25], ["0", 0.75], ["−0.5", 1]];
  const ticks = numbers.map(([value, part]) => text(value, { x: x + 17, y: y + 9 + part * (high - 9) }));
  return [
    tag("defs", {}, tag("linearGradient", { id: "values", x1: 0, y1: 0, x2: 0, y2: 1 }, gradient)),
    tag("rect", { x, y, width: 11, height: high, fill: "url(#values)", stroke: LIGHT.line }),
    tag("g", { "font-size": 11, fill: LIGHT.ink }, ticks.join("")),
  ].join("");
}
