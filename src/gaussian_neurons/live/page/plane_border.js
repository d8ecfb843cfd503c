// Arrowheads on the border for neurons beyond it, kept apart from each other.

import { haloed } from "./plane_marks.js";

const INSET = 11; // px from the edge to an arrowhead's middle
const APART = 17; // px between two of them along the border
const MOST_NUMBERS = 80;

/** Who is beyond the view: [{index, x, y, angle}], x and y on the border in pixels. */
export function beyond(view, neurons) {
  const found = [];
  for (let i = 0; i < neurons.count; i++) {
    const x = view.x(neurons.places[2 * i]);
    const y = view.y(neurons.places[2 * i + 1]);
    const inside = x >= 0 && y >= 0 && x <= view.width && y <= view.height;
    if (inside || !Number.isFinite(x + y)) continue;
    const dx = x - view.width / 2;
    const dy = y - view.height / 2;
    const far = Math.max(Math.abs(dx) / (view.width / 2 - INSET), Math.abs(dy) / (view.height / 2 - INSET));
    const at = along(view, view.width / 2 + dx / far, view.height / 2 + dy / far);
    found.push({ index: i, at, angle: Math.atan2(dy, dx), x: 0, y: 0 });
  }
  found.sort((a, b) => a.at - b.at);
  spread(found, length(view));
  for (const arrow of found) [arrow.x, arrow.y] = onBorder(view, arrow.at);
  return found;
}

/** Moves neighbours apart, as little as needed and evenly to both sides. */
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

const length = (view) => 2 * (view.width + view.height - 4 * INSET);

/** A place on the border as a length, clockwise from its upper left corner. */
function along(view, x, y) {
  const [wide, high] = [view.width - 2 * INSET, view.height - 2 * INSET];
  const [px, py] = [x - INSET, y - INSET];
  if (py < 0.5) return px;
  if (px > wide - 0.5) return wide + py;
  if (py > high - 0.5) return wide + high + (wide - px);
  return 2 * wide + high + (high - py);
}

function onBorder(view, at) {
  const [wide, high] = [view.width - 2 * INSET, view.height - 2 * INSET];
  const around = 2 * (wide + high);
  let left = ((at % around) + around) % around;
  if (left < wide) return [INSET + left, INSET];
  left -= wide;
  if (left < high) return [INSET + wide, INSET + left];
  left -= high;
  if (left < wide) return [INSET + wide - left, INSET + high];
  return [INSET, INSET + high - (left - wide)];
}

export function drawBeyond(context, view, theme, neurons, arrows, selected) {
  context.font = `11px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { index, x, y, angle } of arrows) {
    const chosen = neurons.ids[index] === selected;
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
    context.strokeStyle = chosen ? theme.ink : theme.card;
    context.lineWidth = chosen ? 4 : 3;
    context.stroke();
    context.fillStyle = colour;
    context.fill();
    context.restore();
    if (arrows.length > MOST_NUMBERS && !chosen) continue;
    const [nx, ny] = inward(view, x, y);
    haloed(context, theme, neurons.ids[index], x + 15 * nx, y + 13 * ny, chosen ? theme.ink : colour);
  }
}

/** Straight away from the nearest edge: numbers stand in a row beside their arrowheads. */
export function inward(view, x, y) {
  if (y <= INSET + 0.5) return [0, 1];
  if (y >= view.height - INSET - 0.5) return [0, -1];
  return x < view.width / 2 ? [1, 0] : [-1, 0];
}
