// Arrows on the border for neurons outside the view, at a distance from each other.

import { drawOutlined } from "./plane_marks.js";

const INSET = 11; // px from the edge to the middle of an arrow
const APART = 17; // px between two arrows along the border
const MAX_NUMBERS = 80;

/**
 * Neurons outside the view: [{index, x, y, angle, inward}], with x and y on the border in pixels, and the unit vector
 * inward. edges: {left, bottom}, pixels of the view that the ticks use.
 */
export function borderArrows(view, neurons, edges = { left: 0, bottom: 0 }) {
  const border = borderOf(view, edges);
  const found = [];
  for (let i = 0; i < neurons.count; i++) {
    const x = view.x(neurons.places[2 * i]);
    const y = view.y(neurons.places[2 * i + 1]);
    const inside = x >= 0 && y >= 0 && x <= view.width && y <= view.height;
    if (inside || !Number.isFinite(x + y)) continue;
    const dx = x - (border.left + border.wide / 2);
    const dy = y - (border.top + border.high / 2);
    const far = Math.max(Math.abs(dx) / (border.wide / 2), Math.abs(dy) / (border.high / 2));
    const at = along(border, border.wide / 2 + dx / far, border.high / 2 + dy / far);
    found.push({ index: i, at, angle: Math.atan2(dy, dx) });
  }
  found.sort((a, b) => a.at - b.at);
  spread(found, 2 * (border.wide + border.high));
  for (const arrow of found) Object.assign(arrow, onBorder(border, arrow.at));
  return found;
}

/** The rectangle of the arrows. */
function borderOf(view, { left, bottom }) {
  const [wide, high] = [view.width - left - 2 * INSET, view.height - bottom - 2 * INSET];
  return { left: left + INSET, top: INSET, wide, high };
}

/** The position of an arrow's number. */
export const numberPlace = ({ x, y, inward }) => [x + 15 * inward[0], y + 13 * inward[1]];

/** Pixels that arrows and their numbers use. */
export const arrowSpots = (arrows) => arrows.flatMap((arrow) => [[arrow.x, arrow.y], numberPlace(arrow)]);

/** Moves neighbours apart as little as needed, evenly to both sides. */
function spread(found, around) {
  const apart = Math.min(APART, around / Math.max(found.length, 1));
  for (let turn = 0; turn < 12; turn++) {
    let moved = false;
    for (let k = 0; k + 1 < found.length; k++) {
      const lack = apart - (found[k + 1].at - found[k].at);
      if (lack <= 0.01) continue;
      found[k].at -= lack / 2;
      found[k + 1].at += lack / 2;
      moved = true;
    }
    if (!moved) break;
  }
}

/** A point on the border as a length, clockwise from the upper left corner. */
function along({ wide, high }, x, y) {
  if (y < 0.5) return x;
  if (x > wide - 0.5) return wide + y;
  if (y > high - 0.5) return wide + high + (wide - x);
  return 2 * wide + high + (high - y);
}

function onBorder({ left, top, wide, high }, at) {
  const around = 2 * (wide + high);
  let rest = ((at % around) + around) % around;
  if (rest < wide) return { x: left + rest, y: top, inward: [0, 1] };
  rest -= wide;
  if (rest < high) return { x: left + wide, y: top + rest, inward: [-1, 0] };
  rest -= high;
  if (rest < wide) return { x: left + wide - rest, y: top + high, inward: [0, -1] };
  return { x: left, y: top + high - (rest - wide), inward: [1, 0] };
}

/** Draws arrows with their numbers, unless a number would cover the center of another neuron. */
export function drawArrows(context, view, theme, neurons, arrows, selected) {
  context.font = `${11 * theme.size}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const arrow of arrows) {
    const { index, x, y, angle } = arrow;
    const isSelected = neurons.ids[index] === selected;
    const colour = neurons.learned[index] ? theme.accent : theme.pushed;
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.beginPath();
    context.moveTo(7, 0);
    context.lineTo(-4, -5);
    context.lineTo(-1.5, 0);
    context.lineTo(-4, 5);
    context.closePath();
    context.strokeStyle = isSelected ? theme.ink : theme.card;
    context.lineWidth = isSelected ? 4 : 3;
    context.stroke();
    context.fillStyle = colour;
    context.fill();
    context.restore();
    if (!isSelected && (arrows.length > MAX_NUMBERS || isOnCenter(view, neurons, numberPlace(arrow)))) continue;
    drawOutlined(context, theme, neurons.ids[index], ...numberPlace(arrow), isSelected ? theme.ink : colour);
  }
}

function isOnCenter(view, neurons, [x, y]) {
  for (let i = 0; i < neurons.count; i++) {
    const [dx, dy] = [view.x(neurons.places[2 * i]) - x, view.y(neurons.places[2 * i + 1]) - y];
    if (Math.abs(dx) < 12 && Math.abs(dy) < 10) return true;
  }
  return false;
}
