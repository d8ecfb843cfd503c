// The part of a canvas context that the plane uses, as SVG: a saved picture is drawn like the page.

import { escapeXML, round, tag } from "./svg.js";

const DEFAULTS = { lineWidth: 1, lineCap: "butt", lineJoin: "miter", globalAlpha: 1, textAlign: "start", textBaseline: "alphabetic" };
const ANCHORS = { left: null, start: null, center: "middle", right: "end" };
const BASELINES = { middle: 0.35, top: 0.8, alphabetic: 0 }; // of the size of the font

export class SVGContext {
  /** measure: a canvas context, for the widths of texts. */
  constructor(measure) {
    Object.assign(this, DEFAULTS, { measure, parts: [], stack: [], dash: [], transform: null });
    this.beginPath();
  }

  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  setTransform() {} // of the resolution
  setLineDash(dash) { this.dash = dash; }
  save() { this.stack.push(this.transform); }
  restore() { this.transform = this.stack.pop(); }
  translate(x, y) { this.transform = `${this.transform ?? ""}translate(${round(x)} ${round(y)})`; }
  rotate(angle) { this.transform = `${this.transform ?? ""}rotate(${round((angle * 180) / Math.PI)})`; }

  beginPath() { Object.assign(this, { path: [], shapes: [] }); }
  moveTo(x, y) { this.path.push(`M${round(x)} ${round(y)}`); }
  lineTo(x, y) { this.path.push(`${this.path.length ? "L" : "M"}${round(x)} ${round(y)}`); }
  closePath() { this.path.push("Z"); }
  arc(x, y, r) { this.shapes.push(["circle", { cx: x, cy: y, r }]); }
  ellipse(x, y, rx, ry, angle) {
    const transform = `rotate(${round((angle * 180) / Math.PI)} ${round(x)} ${round(y)})`;
    this.shapes.push(["ellipse", { cx: x, cy: y, rx, ry, transform }]);
  }
  roundRect(x, y, width, height, rx) { this.shapes.push(["rect", { x, y, width, height, rx }]); }

  /** The parts of the path; a move without a line draws nothing. */
  get drawn() {
    const d = this.path.join("").replace(/(M[^MLZ]*)+(?=M|$)/g, "");
    return d ? [...this.shapes, ["path", { d }]] : this.shapes;
  }

  add(shapes, style) {
    for (const [name, place] of shapes) this.parts.push(tag(name, { ...style, ...place, transform: place.transform ?? this.transform }));
  }

  get line() {
    const { strokeStyle: stroke, lineWidth, globalAlpha, lineCap, lineJoin, dash } = this;
    return {
      fill: "none", stroke, "stroke-width": lineWidth, "stroke-opacity": globalAlpha === 1 ? null : globalAlpha,
      "stroke-linecap": lineCap === "butt" ? null : lineCap, "stroke-linejoin": lineJoin === "miter" ? null : lineJoin,
      "stroke-dasharray": dash.length ? dash.join(" ") : null,
    };
  }

  get area() {
    return { fill: this.fillStyle, "fill-opacity": this.globalAlpha === 1 ? null : this.globalAlpha };
  }

  stroke() { this.add(this.drawn, this.line); }
  fill() { this.add(this.drawn, this.area); }
  fillRect(x, y, width, height) { this.add([["rect", { x, y, width, height }]], this.area); }
  strokeRect(x, y, width, height) { this.add([["rect", { x, y, width, height }]], this.line); }
  fillText(text, x, y) { this.write(text, x, y, this.area); }
  strokeText(text, x, y) { this.write(text, x, y, this.line); }

  write(text, x, y, style) {
    const size = Number(/([\d.]+)px/.exec(this.font)[1]);
    const place = { x, y: y + BASELINES[this.textBaseline] * size, style: `font:${this.font}`, "text-anchor": ANCHORS[this.textAlign] };
    this.parts.push(tag("text", { ...style, ...place, transform: this.transform }, escapeXML(text)));
  }

  drawImage(canvas, x, y, width, height) {
    this.parts.push(tag("image", { href: canvas.toDataURL(), x, y, width, height, preserveAspectRatio: "none" }));
  }
}
