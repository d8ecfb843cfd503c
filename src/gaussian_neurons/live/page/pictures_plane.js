// The plane as SVG, in the light theme: points, paths, neurons and the surface.

import { LIGHT } from "./canvas_theme.js";
import { whole } from "./numbers.js";
import { axes } from "./plane_axes.js";
import { borderArrows, numberPlace } from "./plane_border.js";
import { ellipseOf, isHidden } from "./plane_ellipses.js";
import { pointOpacity } from "./plane_points.js";
import { freeCorner } from "./plane_samples.js";
import { STAR, STAR_WAIST } from "./plane_surface.js";
import { caption, captionText, learnedCount, picture, round, tag, text } from "./svg.js";

const EDGE = 46; // around the plane, for the ticks
const HEAD = 62; // the title, and the name of an axis below it
const FOOT = 72;
const SERIF = { "font-family": "Georgia, serif", "font-style": "italic", fill: LIGHT.ink };
const BAR = 46; // space for the colour bar

export function planeSVG(plane) {
  const { view, scene, frame } = plane;
  const [wide, high] = [view.width, view.height];
  const scales = axes(view, scene.axes);
  const under = [surfaceOf(plane), contourLines(plane), grid(view, scales), points(plane), paths(plane)];
  const inside = [...under, lowestPlace(plane), current(plane), neurons(plane)];
  const clip = tag("clipPath", { id: "plane" }, tag("rect", { width: wide, height: high }));
  const [title, about] = titleOf(plane);
  const line = frame ? caption(scene, frame) : "";
  const head = HEAD + (about ? 20 : 0);
  const content = [
    tag("defs", {}, clip),
    text(title, { x: 0, y: 34 - head, "font-size": 17, fill: LIGHT.ink }),
    text(about, { x: 0, y: 55 - head, "font-size": 13, fill: LIGHT.ink }),
    tag("g", { "clip-path": "url(#plane)" }, inside.join("\n")),
    tag("rect", { width: wide, height: high, fill: "none", stroke: LIGHT.muted, "stroke-opacity": 0.5 }),
    ticks(view, scales),
    arrowheads(plane),
    colourBar(plane),
    captionText(line, { x: 0, y: high + 52 }),
  ];
  const needed = Math.max(wide + (plane.surface.shown ? BAR : 0), 5.8 * line.length, 9.5 * title.length);
  const moved = tag("g", { transform: `translate(${EDGE} ${head})` }, content.join("\n"));
  return picture(needed + 1.5 * EDGE, high + head + FOOT, about ? `${title}; ${about}` : title, moved);
}

/** The title, and a line about the surface if there is one. */
function titleOf({ neurons: set, frame, surface }) {
  const many = (count, what) => `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
  const known = frame ? ` after ${many(frame.seen, "sample")}, ${learnedCount(frame)} learned` : "";
  const over = surface.mode === "recent" ? "the mean over the recent samples" : "for the sample x";
  const about = surface.shown ? `The map is F over the positions of neuron ${surface.neuron}, ${over}` : "";
  return [many(set.count, "neuron") + known, about];
}

function surfaceOf({ surface, view }) {
  const href = surface.lightImage();
  if (!href) return "";
  return tag("image", { x: 0, y: 0, width: view.width, height: view.height, preserveAspectRatio: "none", href });
}

function contourLines({ surface, view }) {
  const pieces = [];
  surface.eachSegment(view, (...ends) => {
    const [x0, y0, x1, y1] = ends.map(round);
    pieces.push(`M${x0} ${y0}L${x1} ${y1}`);
  });
  if (!pieces.length) return "";
  const line = { fill: "none", stroke: LIGHT.ink, "stroke-opacity": 0.22, "stroke-width": 0.75 };
  return tag("path", { d: pieces.join(""), ...line });
}

function grid(view, { x, y }) {
  const lines = [
    ...x.ticks.map(([value]) => `M${round(view.x(value))} 0V${round(view.height)}`),
    ...y.ticks.map(([value]) => `M0 ${round(view.y(value))}H${round(view.width)}`),
  ];
  return tag("path", { d: lines.join(""), stroke: LIGHT.muted, "stroke-opacity": 0.14, fill: "none" });
}

function ticks(view, { x, y }) {
  const numbers = [
    ...x.ticks.map(([value, label]) => {
      return text(label, { x: view.x(value), y: view.height + 17, "text-anchor": "middle" });
    }),
    ...y.ticks.map(([value, label]) => text(label, { x: -7, y: view.y(value) + 4, "text-anchor": "end" })),
    text(x.name, { x: view.width, y: view.height + 31, "text-anchor": "end", fill: LIGHT.ink }),
    text(y.name, { x: 0, y: -8, fill: LIGHT.ink }),
  ];
  return tag("g", { "font-size": 11, fill: LIGHT.muted }, numbers.join(""));
}

function points(plane) {
  const opacity = pointOpacity(plane.layer.count, LIGHT);
  const painted = { fill: LIGHT.marked, "fill-opacity": Math.min(1, 1.5 * opacity) };
  return [
    tag("g", { fill: LIGHT.muted, "fill-opacity": opacity }, dots(plane, 0) || " "),
    tag("g", painted, dots(plane, 1) || " "),
  ].join("\n");
}

function dots({ layer, view }, painted) {
  const found = [];
  for (let n = 0; n < layer.count; n++) {
    const x = view.x(layer.points[2 * n]);
    const y = view.y(layer.points[2 * n + 1]);
    const seen = x > -2 && y > -2 && x < view.width + 2 && y < view.height + 2;
    if (seen && layer.painted[n] === painted) found.push(`<circle cx="${round(x)}" cy="${round(y)}" r="1.4"/>`);
  }
  return found.join("");
}

function paths({ neurons: set, view }) {
  const found = [];
  for (let i = 0; i < set.count; i++) {
    const path = set.paths.get(set.ids[i]);
    if (!path || path.length < 2) continue;
    const places = [];
    for (let k = 0; k < path.length; k++) places.push(pair(view, path.points, k));
    places.push(pair(view, set.places, i));
    found.push(pieces(places, set.learned[i] ? LIGHT.accent : LIGHT.pushed));
  }
  const style = { fill: "none", "stroke-width": 1.3, "stroke-linejoin": "round", "stroke-linecap": "round" };
  return tag("g", style, found.join("\n") || " ");
}

const pair = (view, numbers, k) => `${round(view.x(numbers[2 * k]))},${round(view.y(numbers[2 * k + 1]))}`;

/** A path in three parts, the oldest faintest. */
function pieces(places, stroke) {
  return [0, 1, 2].map((piece) => {
    const from = Math.floor(((places.length - 1) * piece) / 3);
    const to = Math.floor(((places.length - 1) * (piece + 1)) / 3);
    if (from === to) return "";
    const points = places.slice(from, to + 1).join(" ");
    return tag("polyline", { points, stroke, "stroke-opacity": 0.15 + 0.2 * piece });
  }).join("");
}

/** Learned neurons are above the others, and numbers above all. */
function neurons({ neurons: set, view, surface, numbers }) {
  const colour = (i) => (set.learned[i] ? LIGHT.accent : surface.shown ? LIGHT.ink : LIGHT.pushed);
  const order = Array.from({ length: set.count }, (_, i) => i);
  order.sort((a, b) => Boolean(set.learned[a]) - Boolean(set.learned[b]));
  const labels = numbers.map(({ index, x, y, align }) => {
    const font = set.learned[index] ? { "font-size": 14, "font-weight": 600 } : { "font-size": 12 };
    return number(set.ids[index], x, y, colour(index), { ...font, "text-anchor": align === "right" ? "end" : null });
  });
  return [...order.map((i) => neuron(set, view, i, colour(i))), ...labels].join("\n");
}

function neuron(set, view, i, colour) {
  const ellipse = ellipseOf(view, set, i);
  if (isHidden(view, ellipse)) return "";
  const { x, y, long, short, angle } = ellipse;
  const state = set.learned[i];
  const line = {
    cx: x,
    cy: y,
    rx: long,
    ry: short,
    transform: `rotate(${round((angle * 180) / Math.PI)} ${round(x)} ${round(y)})`,
    fill: "none",
    stroke: colour,
    "stroke-width": state === 1 ? 2.25 : 1.1,
    "stroke-dasharray": state === 2 ? "5 4" : null,
  };
  if (x < 0 || y < 0 || x > view.width || y > view.height) return tag("ellipse", line); // the arrow shows the rest
  const cross = `M${round(x - 3.5)} ${round(y - 3.5)}l7 7M${round(x - 3.5)} ${round(y + 3.5)}l7 -7`;
  const middle = state
    ? tag("circle", { cx: x, cy: y, r: 4, fill: colour, stroke: "#ffffff", "stroke-width": 1.5 })
    : [["#ffffff", 4], [colour, 1.75]]
        .map(([stroke, thick]) => tag("path", { d: cross, stroke, "stroke-width": thick, "stroke-linecap": "round" }))
        .join("");
  return tag("ellipse", line) + middle;
}

/** A number with a white outline. */
function number(id, x, y, colour, more) {
  const edge = { stroke: "#ffffff", "stroke-width": 3, "stroke-opacity": 0.8, "stroke-linejoin": "round" };
  return text(id, { x, y, ...edge, fill: "none", ...more }) + text(id, { x, y, fill: colour, ...more });
}

/** Arrows exactly on the border, because the ticks are outside it here. */
function arrowheads({ neurons: set, view }) {
  return borderArrows(view, set)
    .map((arrow) => {
      const { index, x, y, angle } = arrow;
      const fill = set.learned[index] ? LIGHT.accent : LIGHT.pushed;
      const turn = `translate(${round(x)} ${round(y)}) rotate(${round((angle * 180) / Math.PI)})`;
      const [left, low] = numberPlace(arrow);
      const place = { "font-size": 11, "text-anchor": "middle" };
      const head = tag("path", { d: "M7 0L-4 -5L-1.5 0L-4 5Z", transform: turn, fill, stroke: "#ffffff" });
      return head + number(set.ids[index], left, low + 4, fill, place);
    })
    .join("\n");
}

/** The colour bar of the surface, with the limits of F and its value at a large distance. */
function colourBar({ surface, view }) {
  const bar = surface.bar(LIGHT);
  if (!bar) return "";
  const [x, high] = [view.width + 14, Math.min(160, view.height / 2)];
  const part = 1 / (bar.colours.length - 1);
  const stops = bar.colours.map((colour, k) => tag("stop", { offset: (k * part).toFixed(4), "stop-color": colour }));
  const numbers = bar.numbers.map(([value, down]) => text(value, { x: x + 15, y: 28 + down * high }));
  return [
    tag("defs", {}, tag("linearGradient", { id: "cost", x1: 0, y1: 0, x2: 0, y2: 1 }, stops.join(""))),
    text(bar.name, { x, y: 10, ...SERIF, "font-size": 13 }),
    tag("rect", { x, y: 24, width: 10, height: high, fill: "url(#cost)", stroke: LIGHT.muted, "stroke-opacity": 0.5 }),
    tag("g", { "font-size": 11, fill: LIGHT.ink }, numbers.join("")),
  ].join("");
}

function lowestPlace({ surface, view }) {
  const place = surface.lowestPlace();
  if (!place) return "";
  const corners = Array.from({ length: 10 }, (_, k) => {
    const angle = (k / 5 - 0.5) * Math.PI;
    const r = k % 2 ? STAR_WAIST * STAR : STAR;
    return `${round(view.x(place[0]) + r * Math.cos(angle))},${round(view.y(place[1]) + r * Math.sin(angle))}`;
  });
  const edge = { stroke: "#ffffff", "stroke-width": 1.5, "paint-order": "stroke" };
  return tag("polygon", { points: corners.join(" "), fill: LIGHT.ink, ...edge });
}

function current(plane) {
  const { samples, view } = plane;
  if (!samples.current || !plane.showsX()) return "";
  const [x, y] = [view.x(samples.current[0]), view.y(samples.current[1])];
  const line = { fill: "none", stroke: LIGHT.ink, "stroke-width": 1.75 };
  const ring = tag("circle", { cx: x, cy: y, r: 8, ...line });
  const cross = tag("path", { d: `M${round(x - 3.5)} ${round(y)}h7M${round(x)} ${round(y - 3.5)}v7`, ...line });
  const [nameX, nameY] = freeCorner(x, y, plane.occupied());
  const name = text("x", { x: nameX, y: nameY + 5, ...SERIF, "font-size": 16, "text-anchor": "middle" });
  return ring + cross + name;
}
