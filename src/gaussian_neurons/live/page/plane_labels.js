// Where the numbers of neurons stand: beside their centers, off the circles and numbers of others. No DOM.

import { radiusOf } from "./plane_marks.js";

const CORNERS = [[1, -1], [-1, -1], [1, 1], [-1, 1]]; // up to the right, where nothing is in the way
const MOST_NUMBERS = 100; // of neurons that are not learned: more are a fog, and slow
const MOST_PLACED = 60; // among more than so many there is no free place to look for
const ENOUGH = 6; // px between a number and what must not cross it
const BETTER = 3; // px that another corner must gain: a number that hops from corner to corner cannot be read
const DIGIT = 8; // px

export class Labels {
  constructor() {
    this.clear();
  }

  clear() {
    this.corners = new Map(); // by number of the neuron: the corner that it had
  }

  /**
   * [{index, x, y, align}]: where to write, the baseline's y; and middle, [x, y], which others keep away from.
   * strong: numbers that are written in any case; taken: [[x, y], ...], pixels that something else has; edges:
   * {left, bottom}, where no number stands.
   */
  place(view, neurons, strong, taken, edges = { left: 0, bottom: 0 }) {
    const room = { left: edges.left, right: view.width, bottom: view.height - edges.bottom };
    const seen = inside(view, neurons);
    const search = seen.length <= MOST_PLACED;
    const found = [];
    const marks = taken.slice();
    for (const i of seen) {
      const id = neurons.ids[i];
      if (!neurons.learned[i] && neurons.count > MOST_NUMBERS && !strong.includes(id)) continue;
      const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
      const spot = { i, x, y, half: (DIGIT / 2) * String(id).length, room };
      const corner = search ? this.choose(view, neurons, spot, seen, marks) : CORNERS[0];
      const label = written(spot, corner);
      marks.push(label.middle);
      found.push(label);
    }
    return found;
  }

  choose(view, neurons, spot, seen, marks) {
    const room = (corner) => roomAt(view, neurons, spot, written(spot, corner).middle, seen, marks);
    const id = neurons.ids[spot.i];
    let best = this.corners.get(id) ?? CORNERS[0];
    let most = room(best);
    if (most < ENOUGH) {
      for (const corner of CORNERS) {
        const here = room(corner);
        if (here > most + BETTER) [best, most] = [corner, here];
      }
    }
    this.corners.set(id, best);
    return best;
  }
}

/** Indices of those whose centers are seen, learned ones first: they have the first choice. */
function inside(view, neurons) {
  const found = [];
  for (let i = 0; i < neurons.count; i++) {
    const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
    if (x >= 0 && y >= 0 && x <= view.width && y <= view.height) found.push(i);
  }
  return found.sort((a, b) => Boolean(neurons.learned[b]) - Boolean(neurons.learned[a]));
}

/** A number in a corner of its neuron, but within the room in any case. */
function written({ i, x, y, half, room }, [right, down]) {
  const wanted = [x + (9 + half) * right, down < 0 ? y - 13 : y + 14];
  const middle = [
    Math.max(room.left + half, Math.min(wanted[0], room.right - half - 2)),
    Math.max(8, Math.min(wanted[1], room.bottom - 8)),
  ];
  return { index: i, x: middle[0] - half * right, y: middle[1] + 5, align: right > 0 ? "left" : "right", middle };
}

/** How many pixels a number there would be away from circles, centers, marks and the edge; below 0: over one. */
function roomAt(view, neurons, { i, x: ownX, y: ownY, half, room: all }, [x, y], seen, marks) {
  let room = Math.min(x - half - all.left, all.right - x - half, y - 7, all.bottom - y - 7) * 2;
  room = Math.min(room, Math.hypot(ownX - x, ownY - y) - half - 5); // pushed in from an edge
  for (const [px, py] of marks) room = Math.min(room, Math.hypot(px - x, py - y) - half - 8);
  for (const j of seen) {
    if (j === i) continue;
    const distance = Math.hypot(view.x(neurons.places[2 * j]) - x, view.y(neurons.places[2 * j + 1]) - y);
    room = Math.min(room, distance - half - 6, Math.abs(distance - radiusOf(view, neurons, j)) - half);
  }
  return room;
}
