// SVG as text: elements, escaping, and the caption of saved pictures. No DOM.

import { plain, whole } from "./numbers.js";

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

export function escapeXML(text) {
  // XML does not allow control characters, even escaped
  const allowed = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "");
  return allowed.replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

/** A number with at most two decimals. */
export const round = (value) => String(Math.round(value * 100) / 100);

/** tag("rect", {x: 1}, "") -> <rect x="1"/>; null attributes are omitted. */
export function tag(name, attributes, content = "") {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? round(value) : escapeXML(value)}"`)
    .join("");
  return content === "" ? `<${name}${list}/>` : `<${name}${list}>${content}</${name}>`;
}

export const text = (content, attributes) => tag("text", attributes, escapeXML(content));

/** The whole picture; screen readers read `title`. */
export function picture(width, height, title, content) {
  const attributes = {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `0 0 ${round(width)} ${round(height)}`,
    role: "img",
    "font-family": "system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif",
  };
  return tag("svg", attributes, `\n<title>${escapeXML(title)}</title>\n${content}\n`) + "\n";
}

/** Settings and state in one line, enough to reproduce the picture. */
export function caption(scene, frame) {
  const { setup } = scene;
  const parts = [
    `K = ${frame.ids.length}`,
    ...(setup.eta_sigma > 0 ? learnedWidths(scene) : [`σ = ${plain(setup.sigma)}`]),
    `λ = ${plain(setup.lambda)}`,
    `η_μ = ${plain(setup.eta)}`,
    `${whole(frame.seen)} samples seen`,
    `${learnedCount(frame)} learned`,
    `${setup.data}, seed ${setup.seed}`,
  ];
  return parts.join(" · ");
}

/** The settings of learned widths: start, learning rate, and widths of the samples. */
function learnedWidths({ mode, setup }) {
  const samples = mode === "image" ? `noise = ${plain(setup.noise)}` : `σ_x = ${plain(setup.sample_width)}`;
  const shape = setup.covariance_type === "spherical" ? [] : [`${setup.covariance_type} covariances`];
  return [...shape, `σ = ${plain(setup.sigma)} at the start`, `η_σ = ${plain(setup.eta_sigma)}`, samples];
}

/** Breaks a line between its parts into lines of at most `most` characters. */
export function wrapped(line, most) {
  const lines = [];
  for (const part of line.split(" · ")) {
    const longer = lines.length ? `${lines.at(-1)} · ${part}` : part;
    if (lines.length && longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/** The caption as an element, with subscripts. */
export function captionText(line, attributes) {
  const subscript = '<tspan dy="3" font-size="8">$1</tspan><tspan dy="-3"> =</tspan>';
  return tag("text", { "font-size": 11, fill: "#64748b", ...attributes }, escapeXML(line).replace(/_([μσx]) =/g, subscript));
}

/** The number of learned neurons, without twins. */
export function learnedCount(frame) {
  if (Number.isFinite(frame.learnedCount)) return frame.learnedCount;
  return frame.learned.reduce((sum, state) => sum + (state === 1), 0);
}
