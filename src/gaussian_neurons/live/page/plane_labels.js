// The positions of neuron numbers: beside their centers, away from other ellipses and numbers. No DOM.

import { ellipseOf, lineDistance } from "./plane_ellipses.js";

const CORNERS = [[1, -1], [-1, -1], [1, 1], [-1, 1]]; // the first one is preferred
const MAX_NUMBERS = 100; // of neurons that are not learned
const MAX_SEARCHED = 60; // among more neurons, no free position is searched
const ENOUGH = 6; // px of clearance around a number
const BETTER = 3; // px of clearance that another corner must gain: numbers should not move often
const DIGIT = 8; // px

export class Labels {
  constructor() {
    this.clear();
  }

  clear() {
    this.corners = new Map(); // number of a neuron -> its last corner
  }

  /**
   * [{index, x, y, align, middle}]: the position of the text, with y of the baseline, and its middle [x, y].
   * always: numbers that are shown in any case; occupied: [[x, y], ...], pixels to avoid; edges: {left, bottom},
   * pixels without numbers.
   */
  place(view, neurons, always, occupied, edges = { left: 0, bottom: 0 }) {
    const area = { left: edges.left, right: view.width, bottom: view.height - edges.bottom };
    const visible = inside(view, neurons);
    const search = visible.length <= MAX_SEARCHED;
    const ellipses = new Map(search ? visible.map((i) => [i, ellipseOf(view, neurons, i)]) : []);
    const found = [];
    const marks = occupied.slice();
    for (const i of visible) {
      const id = neurons.ids[i];
      if (!neurons.learned[i] && neurons.count > MAX_NUMBERS && !always.includes(id)) continue;
      const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
      const spot = { i, x, y, half: (DIGIT / 2) * String(id).length, area };
      const corner = search ? this.choose(neurons, spot, ellipses, marks) : CORNERS[0];
      const label = labelAt(spot, corner);
      marks.push(label.middle);
      found.push(label);
    }
    return found;
  }

  choose(neurons, spot, ellipses, marks) {
    const clearance = (corner) => clearanceAt(spot, labelAt(spot, corner).middle, ellipses, marks);
    const id = neurons.ids[spot.i];
    let best = this.corners.get(id) ?? CORNERS[0];
    let most = clearance(best);
    if (most < ENOUGH) {
      for (const corner of CORNERS) {
        const other = clearance(corner);
        if (other > most + BETTER) [best, most] = [corner, other];
      }
    }
    this.corners.set(id, best);
    return best;
  }
}

/** Indices of the neurons with visible centers, learned ones first. */
function inside(view, neurons) {
  const found = [];
  for (let i = 0; i < neurons.count; i++) {
    const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
    if (x >= 0 && y >= 0 && x <= view.width && y <= view.height) found.push(i);
  }
  return found.sort((a, b) => Boolean(neurons.learned[b]) - Boolean(neurons.learned[a]));
}

/** The label in a corner of its neuron, moved into the area if necessary. */
function labelAt({ i, x, y, half, area }, [right, down]) {
  const wanted = [x + (9 + half) * right, down < 0 ? y - 13 : y + 14];
  const middle = [
    Math.max(area.left + half, Math.min(wanted[0], area.right - half - 2)),
    Math.max(8, Math.min(wanted[1], area.bottom - 8)),
  ];
  return { index: i, x: middle[0] - half * right, y: middle[1] + 5, align: right > 0 ? "left" : "right", middle };
}

/** The distance in px of a number at [x, y] from ellipses, centers, marks and the edge; negative if it overlaps. */
function clearanceAt({ i, x: ownX, y: ownY, half, area }, [x, y], ellipses, marks) {
  let clearance = Math.min(x - half - area.left, area.right - x - half, y - 7, area.bottom - y - 7) * 2;
  clearance = Math.min(clearance, Math.hypot(ownX - x, ownY - y) - half - 5); // moved in from an edge
  for (const [px, py] of marks) clearance = Math.min(clearance, Math.hypot(px - x, py - y) - half - 8);
  for (const [j, ellipse] of ellipses) {
    if (j === i) continue;
    const distance = Math.hypot(ellipse.x - x, ellipse.y - y);
    clearance = Math.min(clearance, distance - half - 6, lineDistance(ellipse, x, y) - half);
  }
  return clearance;
}
