// Contour lines of a grid of numbers (marching squares). No DOM.

/** Calls segment(x0, y0, x1, y1), in cells, for each segment of the lines at multiples of `step`. */
export function contours(values, nx, ny, step, segment) {
  if (!(step > 0)) return;
  const crossing = new Float64Array(8);
  for (let row = 0; row + 1 < ny; row++) {
    for (let column = 0; column + 1 < nx; column++) {
      const k = row * nx + column;
      const a = values[k];
      const b = values[k + 1];
      const c = values[k + nx + 1];
      const d = values[k + nx];
      const low = Math.min(a, b, c, d);
      const high = Math.max(a, b, c, d);
      for (let n = Math.ceil(low / step); n * step < high; n++) {
        const count = crossings(crossing, n * step, a, b, c, d, column, row);
        for (let at = 0; at + 1 < count; at += 2) {
          segment(crossing[2 * at], crossing[2 * at + 1], crossing[2 * at + 2], crossing[2 * at + 3]);
        }
      }
    }
  }
}

/** Finds where a level crosses the sides of a cell. Returns the number of crossings: 0, 2, or 4 at a saddle. */
function crossings(found, level, a, b, c, d, column, row) {
  let count = 0;
  if (a < level !== b < level) count = put(found, count, column + (level - a) / (b - a), row);
  if (b < level !== c < level) count = put(found, count, column + 1, row + (level - b) / (c - b));
  if (d < level !== c < level) count = put(found, count, column + (level - d) / (c - d), row + 1);
  if (a < level !== d < level) count = put(found, count, column, row + (level - a) / (d - a));
  return count;
}

function put(found, count, x, y) {
  found[2 * count] = x;
  found[2 * count + 1] = y;
  return count + 1;
}
