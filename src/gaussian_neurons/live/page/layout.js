// The number of columns and the size of the filters.

const SMALLEST = 20; // px; smaller filters are hard to click, so the grid scrolls instead
const LARGEST = 300;
const EDGE = 7; // px around the grid: frames are drawn outside their filters
const WIDE = { gap: 14, number: 18 };
const TIGHT = { gap: 5, number: 11 };
const TIGHT_FROM = 120; // filters
const RAGGED = 0.8; // factor of the score if the last row is not full
const SQUARE = 0.2; // exponent of the aspect ratio in the score
const FIXED_HEIGHT = matchMedia("(min-width: 1100px)"); // as in layout.css: the stage has the height of the window

/** {columns, side in px, small}: the grid of `count` square filters with the best score in `container`. */
export function bestGrid(container, count, patch) {
  const small = count > TIGHT_FROM;
  const { gap, number } = small ? TIGHT : WIDE;
  const width = container.clientWidth - 2 * EDGE;
  const height = FIXED_HEIGHT.matches
    ? container.clientHeight - 2 * EDGE
    : window.innerHeight * (window.innerHeight > 480 ? 0.55 : 0.62);
  let best = { columns: 1, side: 0, score: 0, small };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const across = (width - gap * (columns - 1)) / columns;
    const down = (height - gap * (rows - 1)) / rows - number;
    const side = Math.min(across, down);
    // Full rows and a square grid are preferred to larger filters: 16 are 4 by 4, as in the paper.
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

/** Rounds the side down to a whole number of device pixels per pixel of the patch, unless that costs more than 15 %. */
function sharp(side, [height, width]) {
  const pixels = Math.max(height, width);
  const ratio = window.devicePixelRatio || 1;
  const whole = (Math.floor((side * ratio) / pixels) * pixels) / ratio;
  return whole > side * 0.85 ? whole : Math.floor(side);
}
