// How many filters stand side by side, and how large.

const SMALLEST = 20; // px; below it a filter cannot be hit, and the stage scrolls instead
const LARGEST = 300;
const EDGE = 7; // px around the grid: frames are drawn outside of their filters
const ROOMY = { gap: 14, number: 18 };
const TIGHT = { gap: 5, number: 11 };
const TIGHT_FROM = 120; // filters
const RAGGED = 0.8; // what a grid with gaps in its last row counts
const SQUARE = 0.2; // the power of height over width: how much a long grid is shunned
const FIXED_HEIGHT = matchMedia("(min-width: 1100px)"); // as in style.css: there the stage has the window's height

/** {columns, side in px, small}: the largest square filters of which `count` fit into `room`. */
export function bestGrid(room, count, patch) {
  const small = count > TIGHT_FROM;
  const { gap, number } = small ? TIGHT : ROOMY;
  const width = room.clientWidth - 2 * EDGE;
  const height = FIXED_HEIGHT.matches ? room.clientHeight - 2 * EDGE : window.innerHeight * (window.innerHeight > 480 ? 0.58 : 0.62);
  let best = { columns: 1, side: 0, score: 0, small };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const across = (width - gap * (columns - 1)) / columns;
    const down = (height - gap * (rows - 1)) / rows - number;
    const side = Math.min(across, down);
    // A full last row and a square are worth smaller filters: sixteen are four by four, as in the paper.
    const full = count / (rows * columns);
    const shape = (full === 1 ? 1 : RAGGED * full) * (Math.min(rows, columns) / Math.max(rows, columns)) ** SQUARE;
    const score = Math.min(side, LARGEST) * shape;
    if (score > best.score) best = { columns, side, score, small };
  }
  if (best.side < SMALLEST) {
    best.columns = Math.max(1, Math.floor((width + gap) / (SMALLEST + gap)));
    best.side = SMALLEST;
  }
  best.side = sharp(Math.min(LARGEST, best.side), patch);
  return best;
}

/** Pixels of the patch should all be as large as each other: a whole number of device pixels each, where it costs little. */
function sharp(side, [height, width]) {
  const pixels = Math.max(height, width);
  const ratio = window.devicePixelRatio || 1;
  const whole = (Math.floor((side * ratio) / pixels) * pixels) / ratio;
  return whole > side * 0.85 ? whole : Math.floor(side);
}
